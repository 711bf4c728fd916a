// Cumulative distributions: which share of the values is at most so great.

figures.kinds.cdf = (data, width, words) => {
  const curves = data.curves.filter((curve) => curve.x.length);
  const items = curves.map(({ label }, place) => ({ label, sample: figures.sample(place) }));
  const quarters = [0, 0.25, 0.5, 0.75, 1].map((share) => [share, draw.percent(share)]);
  const at = figures.room(width, {
    high: width < figures.NARROW ? 210 : 260, left: figures.margin(quarters.map(([, label]) => label)),
    xlabel: data.xlabel, ylabel: data.ylabel, items: items.length > 1 ? items : [],
  });
  const { scale: x, ticks } = figures.values(figures.known(curves.flatMap((curve) => curve.x)), data.unit, data.log, [at.left + 2, at.right]);
  const y = draw.linear([0, 1.02], [at.bottom, at.top]);
  const lines = curves.map((curve, place) => {
    const end = Math.max(at.right, x(curve.x.at(-1))), across = curve.x.map(x), up = curve.y.map(y);
    return draw.path(draw.stairs([across[0], ...across, end], [y(0), ...up, up.at(-1)]), figures.look(place));
  });
  // The share that is at most a value, of each curve.
  const share = (curve, value) => { const n = figures.last(curve.x, value); return n < 0 ? 0 : curve.y[n]; };
  function read(px, py) {
    if (!curves.length) return null;
    const near = curves.map((curve) => curve.x[figures.nearest(curve.x, x.invert(px))]);
    const value = near.reduce((a, b) => Math.abs(x(b) - px) < Math.abs(x(a) - px) ? b : a);
    return {
      x: x(value), y: figures.clamp(py, at.top, at.bottom), line: [at.top, at.bottom], title: `${data.xlabel} ≤ ${draw.show(value, data.unit)}`,
      dots: curves.map((curve, place) => [x(value), y(share(curve, value)), draw.colour(place)]),
      rows: figures.rows(curves.map((curve, place) => ({
        label: curves.length > 1 || curve.label ? curve.label : data.ylabel, value: share(curve, value), colour: draw.colour(place),
      })), "fraction"),
    };
  }
  const points = figures.thinned([...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b)).map((value) => [x(value), (at.top + at.bottom) / 2]);
  const axes = figures.upwards(at, y, quarters) + figures.sideways(at, x, ticks, { grid: true });
  return figures.picture(at, axes + lines.join(""), read, points);
};
