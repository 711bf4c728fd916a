// One value for each of a few names: lying, the first on top; upright where the names are times or numbers, or short enough.

figures.kinds.bars = (() => {
  const MONTH = /^\d{4}-\d{2}$/, WHEN = /^\d{4}(-\d{2}(-\d{2})?|-?W\d{2}|-?Q[1-4])?$/;
  const clock = draw.time("UTC");

  function bars(data, width) {
    const labels = data.labels.map(String), times = labels.length > 1 && labels.every((label) => WHEN.test(label));
    const room = (width - 60) / Math.max(labels.length, 1);
    const fits = labels.every((label) => draw.measure(label, 11) + 8 <= room);
    const rising = labels.length > 5 && labels.every((label, n) => /^\d[\d.,:]*$/.test(label) && (!n || parseFloat(label) > parseFloat(labels[n - 1])));
    return times || rising || !data.horizontal && labels.length > 1 && fits ? upright(data, labels, times, width) : lying(data, labels, width);
  }

  const row = (data, n) => ({ label: data.ylabel, text: draw.show(data.values[n], data.unit), value: data.values[n] });
  // The least and the greatest value; zero is between them.
  const ends = (data) => [figures.least([0, ...figures.known(data.values)]), figures.most([0, ...figures.known(data.values)])];

  function lying(data, labels, width) {
    const each = 23, told = data.values.map((value) => draw.compact(value, data.unit));
    const left = Math.min(Math.ceil(figures.most([24, ...labels.map((label) => draw.measure(label.slice(0, 80), 12))])) + 10, Math.max(70, width * 0.42));
    const right = Math.ceil(figures.most([24, ...told.map((label) => draw.measure(label, 12))])) + 10;
    const words = [data.ylabel, data.xlabel].filter(Boolean).join(" · ");
    const at = figures.room(width, { high: each * labels.length, left, right, ylabel: words, ticks: false });
    const [low, high] = ends(data), share = data.unit === "fraction" && low >= 0 && high > 0.1 && high <= 1; // against the whole
    const x = draw.linear([low, share ? 1 : high > low ? high : low + 1], [left, at.right]);
    const top = (n) => at.top + each * n;
    const body = data.values.map((value, n) => {
      const [from, to] = [x(Math.min(value ?? 0, 0)), x(Math.max(value ?? 0, 0))], middle = top(n) + each / 2 + 4;
      return draw.text(left - 8, middle, draw.cut(labels[n], left - 10), { "text-anchor": "end", fill: draw.colours.ink })
        + (share ? draw.rect(left, top(n) + 3, at.right - left, each - 7, { fill: draw.colours.grid, "fill-opacity": 0.6 }) : "")
        + draw.rect(from, top(n) + 3, value ? Math.max(to - from, 1) : 0, each - 7, { fill: draw.colour(0) })
        + draw.text((share ? at.right : to) + 6, middle, told[n], { fill: draw.colours.ink });
    });
    function read(px, py) {
      if (!labels.length) return null;
      const n = figures.clamp(Math.floor((py - at.top) / each), 0, labels.length - 1);
      return { x: Math.min(x(Math.max(data.values[n] ?? 0, 0)), at.right), y: top(n) + each / 2, frame: [1, top(n) + 1, width - 2, each - 3], title: labels[n], rows: [row(data, n)] };
    }
    const zero = draw.line(x(0), at.top, x(0), at.bottom, { stroke: draw.colours.muted });
    return figures.picture(at, body.join("") + zero, read, labels.map((_, n) => [x(0), top(n) + each / 2]));
  }

  function upright(data, labels, times, width) {
    const [low, high] = ends(data), levels = draw.linearTicks(low, high > low ? high : low + 1, data.unit, width < figures.NARROW ? 4 : 5);
    const layout = { high: width < figures.NARROW ? 180 : 210, xlabel: data.xlabel, ylabel: data.ylabel };
    const at = times ? figures.timeRoom(width, layout) : figures.room(width, { ...layout, left: figures.margin(levels.map(([, label]) => label)) });
    const months = times && monthsOf(labels), over = months && draw.linear(months.span, [at.left, at.right]);
    const even = draw.linear([-0.5, Math.max(labels.length, 3) - 0.5], [at.left, at.right]), half = 0.37 * (even(1) - even(0));
    // From where to where each bar goes: as long as its month, on a page that shows all of that time, else all alike.
    const sides = labels.map((_, n) => over ? months.ends[n].map(over) : [even(n) - half, even(n) + half]);
    const x = (n) => (sides[n][0] + sides[n][1]) / 2;
    const y = draw.linear([low, (high > low ? high : low + 1) * 1.05], [at.bottom, at.top]);
    const gap = over ? Math.min(3, (over.range[1] - over.range[0]) / labels.length / 6) : 0;
    const body = data.values.map((value, n) => {
      if (value === null) return "";
      const [top, bottom] = [y(Math.max(value, 0)), y(Math.min(value, 0))], wide = sides[n][1] - sides[n][0] - 2 * gap;
      return draw.rect(sides[n][0] + gap, top, Math.max(2, wide), Math.max(bottom - top, value ? 1 : 0), { fill: draw.colour(0) });
    });
    function read(px, py) {
      if (!labels.length) return null;
      const n = labels.reduce((best, _, each) => Math.abs(x(each) - px) < Math.abs(x(best) - px) ? each : best, 0);
      return { x: x(n), y: y(Math.max(data.values[n] ?? 0, 0)), title: [data.xlabel, labels[n]].filter(Boolean).join(": "), rows: [row(data, n)] };
    }
    const drawn = figures.upwards(at, y, levels) + (over ? figures.sideways(at, over, months.clock.ticks(...months.span, at.right - at.left))
      : figures.sideways(at, even, times ? named(labels) : counted(labels, even))) + body.join("");
    return figures.picture(at, drawn, read, labels.map((_, n) => [x(n), y(Math.max(data.values[n] ?? 0, 0))]));
  }

  // When each month begins and ends, on a page whose other pictures show the same time; else null.
  function monthsOf(labels) {
    const page = figures.calendar();
    if (!page || !labels.every((label) => MONTH.test(label))) return null;
    const [from, to] = page.span, start = (label, more) => page.clock.moment(Date.UTC(Number(label.slice(0, 4)), Number(label.slice(5)) - 1 + more) / 1000);
    const ends = labels.map((label) => [Math.max(start(label, 0), from), Math.min(start(label, 1), to)]);
    const near = (one, other) => Math.abs(one - other) < 32 * draw.DAY;
    return ends.every(([a, b]) => b > a) && near(ends[0][0], from) && near(ends.at(-1)[1], to) ? { ...page, ends } : null;
  }

  // Months by their names, Januaries and the first by their year: those matter most.
  function named(labels) {
    if (!labels.every((label) => MONTH.test(label))) return counted(labels);
    const ticks = labels.map((label, n) => [n, label.endsWith("-01") || !n ? label.slice(0, 4) : clock.month(Date.parse(`${label}-01T00:00Z`) / 1000)]);
    const first = ticks[0];
    if (labels.length < 13) first[1] = `${clock.month(Date.parse(`${labels[0]}-01T00:00Z`) / 1000)} ${labels[0].slice(0, 4)}`;
    const rank = ([n]) => labels[n].endsWith("-01") || !n ? 0 : labels[n].endsWith("-07") ? 1 : /-(04|10)$/.test(labels[n]) ? 2 : 3;
    return ticks.sort((one, other) => rank(one) - rank(other));
  }

  // Every so many, so that they stand evenly.
  function counted(labels, x) {
    const widest = figures.most(labels.map((label) => draw.measure(label, 11))) + 8;
    const stride = x ? Math.max(1, Math.ceil(widest / (x(1) - x(0)))) : 1;
    return labels.map((label, n) => [n, label]).filter(([n]) => n % stride === 0);
  }

  // Times have the margins of all axes of time.
  bars.before = (data) => {
    const [low, high] = ends(data);
    if (data.labels.length < 2 || !data.labels.every((label) => WHEN.test(label))) return;
    figures.timed(data, 0, 0, draw.linearTicks(low, high > low ? high : low + 1, data.unit).map(([, label]) => label));
  };
  return bars;
})();
