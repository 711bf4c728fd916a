// How one number depends on another; references are thin and grey.

figures.kinds.lines = (data, width) => {
  const shown = data.lines.filter((line) => line.x.length).sort((one, other) => Boolean(one.dashed) - Boolean(other.dashed));
  const first = shown.findIndex((line) => line.dashed);
  const reference = (place) => ({ stroke: draw.colours.muted, "stroke-width": 1.2, "stroke-dasharray": ["2 3", "8 4", "8 3 2 3", "14 4"][(place - first) % 4] });
  const look = (line, place) => line.dashed ? reference(place) : figures.look(place);
  const items = shown.map((line, place) => ({ label: line.label, sample: draw.lineSample(look(line, place)) }));
  const high = width < figures.NARROW ? 210 : 260;
  const all = figures.known(shown.flatMap((line) => line.y));
  const left = figures.margin(figures.heights(all, "", data.log[1], [high, 0]).ticks.map(([, label]) => label));
  const at = figures.room(width, { high, left, xlabel: data.xlabel, ylabel: data.ylabel, items: items.length > 1 ? items : [] });
  const { scale: x, ticks } = figures.values(figures.known(shown.flatMap((line) => line.x)), data.unit, data.log[0], [at.left + 4, at.right - 4]);
  const { scale: y, ticks: levels } = figures.heights(all, "", data.log[1], [at.bottom, at.top]);
  const paths = shown.map((line, place) => draw.path(draw.course(line.x.map(x), line.y.map(y)), look(line, place))
    + (line.x.length === 1 ? draw.marker(place, x(line.x[0]), y(line.y[0])) : ""));
  const points = shown.flatMap((line, place) => line.x.map((value, n) => ({ px: x(value), py: y(line.y[n]), line, n, place })))
    .filter(({ px, py }) => Number.isFinite(px) && Number.isFinite(py));
  function read(px, py) {
    if (!points.length) return null;
    const far = (point) => Math.hypot(point.px - px, (point.py - py) / 2);
    const point = points.reduce((a, b) => far(b) < far(a) ? b : a), value = point.line.x[point.n];
    // Beside it stand the other lines where they have a value at the same place.
    const found = shown.flatMap((line, place) => {
      const n = line === point.line ? point.n : figures.nearest(line.x, value);
      return line === point.line || Math.abs(x(line.x[n]) - point.px) < 3 ? [{ line, place, n }] : [];
    });
    const colour = ({ line, place }) => line.dashed ? draw.colours.muted : draw.colour(place);
    return {
      x: point.px, y: point.py, line: [at.top, at.bottom], title: `${data.xlabel}: ${draw.show(value, data.unit)}`,
      dots: found.map((one) => [x(one.line.x[one.n]), y(one.line.y[one.n]), colour(one)]),
      rows: figures.rows(found.map((one) => ({ label: one.line.label, value: one.line.y[one.n], colour: colour(one) }))),
    };
  }
  const axes = figures.upwards(at, y, levels) + figures.sideways(at, x, ticks, { grid: true });
  return figures.picture(at, axes + paths.join(""), read, figures.thinned(points, 240).map(({ px, py }) => [px, py]));
};
