// Small pictures without axes: a course, or a few bars with their names and values.

figures.kinds.spark = (() => {
  const WIDE = 220, HIGH = 44;
  const unit = (data) => data.unit ?? "";

  function spark(data, width) {
    return data.rows ? lying(data, Math.min(width, WIDE + 40)) : course(data, Math.min(width, WIDE));
  }

  function lying(data, width) {
    const each = 19, told = data.values.map((value) => draw.compact(value, unit(data)));
    const left = Math.min(figures.margin(data.rows), width * 0.45), right = figures.margin(told);
    const x = draw.linear([0, figures.most([0, ...figures.known(data.values)]) || 1], [left, width - right]);
    const body = data.values.map((value, n) => draw.text(left - 6, each * n + 14, draw.cut(data.rows[n], left - 6, 11), { "text-anchor": "end", "font-size": 11, fill: draw.colours.ink })
      + draw.rect(left, each * n + 4, x(value ?? 0) - left, each - 7, { fill: draw.colour(0) })
      + draw.text(x(value ?? 0) + 5, each * n + 14, told[n], { "font-size": 11, fill: draw.colours.ink }));
    const read = (_, py) => {
      const n = figures.clamp(Math.floor(py / each), 0, data.values.length - 1);
      const rows = [{ text: draw.show(data.values[n], unit(data)), value: data.values[n] }];
      return { x: x(data.values[n] ?? 0), y: each * (n + 0.5), frame: [0.5, each * n + 1, width - 1, each - 2], title: data.rows[n], rows };
    };
    const height = each * data.values.length + 2;
    return { svg: draw.svg(width, height, body.join("")), height, read, points: data.values.map((_, n) => [left, each * (n + 0.5)]) };
  }

  function course(data, width) {
    const known = figures.known(data.values), high = figures.most([0, ...known]) * 1.05 || 1, upright = data.shape === "bars";
    const count = Math.max(data.values.length, upright ? 6 : 2);
    const x = upright ? draw.linear([-0.5, count - 0.5], [1, width - 3]) : draw.linear([0, count - 1], [3, width - 5]), y = draw.linear([0, high], [HIGH - 2, 4]);
    const across = data.values.map((_, n) => x(n)), up = data.values.map((value) => value === null ? NaN : y(value));
    const body = upright
      ? draw.path(draw.boxes(data.values.map((value, n) => [x(n) - (x(1) - x(0)) * 0.36, y(value ?? 0), (x(1) - x(0)) * 0.72, y(0) - y(value ?? 0)])), { fill: draw.colour(0) })
      : draw.path(draw.area(across, up.map(() => y(0)), up), { fill: draw.colour(0), "fill-opacity": 0.18 })
        + draw.path(draw.course(across, up), { stroke: draw.colour(0), "stroke-width": 1.6 });
    const read = (px) => {
      if (!known.length) return null;
      const n = figures.clamp(Math.round(x.invert(px)), 0, data.values.length - 1);
      return { x: x(n), y: y(data.values[n] ?? 0), title: "", rows: [{ text: draw.show(data.values[n], unit(data)), value: data.values[n] }] };
    };
    const ground = draw.line(0, HIGH - 1.5, width, HIGH - 1.5, { stroke: draw.colours.grid });
    return { svg: draw.svg(width, HIGH, body + ground), height: HIGH, read, points: data.values.map((value, n) => [x(n), y(value ?? 0)]) };
  }

  return spark;
})();
