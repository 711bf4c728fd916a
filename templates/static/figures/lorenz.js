// How unevenly something is shared: the share of the holders, least first, and what they hold.

figures.kinds.lorenz = (data, width) => {
  const curves = data.curves.filter((curve) => curve.x.length > 1);
  const even = { stroke: draw.colours.muted, "stroke-dasharray": "2 3" };
  const items = [...curves.map(({ label }, place) => ({ label, sample: figures.sample(place) })), { label: data.even.label, sample: draw.lineSample(even) }];
  const quarters = [0, 0.25, 0.5, 0.75, 1].map((share) => [share, draw.percent(share)]);
  const at = figures.room(width, {
    high: width < figures.NARROW ? 230 : 280, left: figures.margin(quarters.map(([, label]) => label)), right: 22,
    xlabel: data.xlabel, ylabel: data.ylabel, items,
  });
  const x = draw.linear([0, 1], [at.left, at.right]), y = draw.linear([0, 1.02], [at.bottom, at.top]);
  const lines = curves.map((curve, place) => {
    const across = curve.x.map(x), up = curve.y.map(y);
    return draw.path(draw.area(across, up.map(() => at.bottom), up), { fill: draw.colour(place), "fill-opacity": 0.07 }) + draw.path(draw.course(across, up), figures.look(place));
  });
  function read(px, py) {
    if (!curves.length) return null;
    const near = curves.map((curve) => curve.x[figures.nearest(curve.x, x.invert(px))]);
    const value = near.reduce((a, b) => Math.abs(x(b) - px) < Math.abs(x(a) - px) ? b : a);
    const held = (curve) => curve.y[figures.nearest(curve.x, value)];
    return {
      x: x(value), y: figures.clamp(py, at.top, at.bottom), line: [at.top, at.bottom], title: `${data.xlabel}: ${draw.show(value, "fraction")}`,
      dots: curves.map((curve, place) => [x(value), y(held(curve)), draw.colour(place)]),
      rows: figures.rows(curves.map((curve, place) => ({ label: curve.label, value: held(curve), colour: draw.colour(place) })), "fraction"),
    };
  }
  const points = figures.thinned([...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b)).map((value) => [x(value), (at.top + at.bottom) / 2]);
  const axes = figures.upwards(at, y, quarters) + figures.sideways(at, x, quarters);
  return figures.picture(at, axes + draw.line(x(0), y(0), x(1), y(1), even) + lines.join(""), read, points);
};
