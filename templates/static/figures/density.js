// How much there is of each size and length: cells of a quarter of a power of ten by a factor of two.

figures.kinds.density = (data, width, words) => {
  const cells = data.cells, [columns, rows] = [0, 1].map((place) => cells.map((cell) => cell[place]));
  const strength = figures.strengths(cells.length ? cells.map((cell) => cell[2]) : [0], "count", true);
  const [first, end] = cells.length ? [figures.least(columns), Math.max(figures.most(columns), figures.least(columns) + 4) + 1] : [0, 4];
  const [low, top] = cells.length ? [figures.least(rows), figures.most(rows) + 1] : [0, 1];
  const across = (column) => 10 ** (column / 4), up = (row) => 2 ** row;
  const high = figures.clamp(34 * (top - low), 40, width < figures.NARROW ? 220 : 300);
  const levels = draw.logTicks(up(low), up(top), "").filter(([value]) => Number.isInteger(Math.log2(value)) || value === 1);
  const doubles = Array.from({ length: top - low + 1 }, (_, n) => [up(low + n), draw.compact(up(low + n))]);
  const left = figures.margin(doubles.map(([, label]) => label));
  const legend = strength.legend(width, 0, words, width), own = draw.measure(data.ylabel, 12) > legend.left - 12;
  const at = figures.room(width, { high: high + 14, left, right: 20, ylabel: own ? data.ylabel : "", xlabel: data.xlabel });
  const key = strength.legend(width, at.top - 8, words, width).body + (own ? "" : draw.text(0, at.top + 1, data.ylabel));
  const inside = { ...at, top: at.top + 14 };
  const x = draw.log([across(first), across(end)], [inside.left, inside.right]), y = draw.log([up(low), up(top)], [inside.bottom, inside.top]);
  const w = x(across(first + 1)) - x(across(first)), h = y(up(low)) - y(up(low + 1));
  const classes = Array.from({ length: 12 }, () => []);
  for (const [column, row, total] of cells) classes[strength.level(total)].push([x(across(column)), y(up(row + 1)), Math.max(1, w - 1), Math.max(1, h - 1)]);
  const drawn = classes.map((boxes, level) => draw.path(draw.boxes(boxes), strength.fill(level))).join("");
  const held = new Map(cells.map(([column, row, total]) => [`${column} ${row}`, total]));
  const middle = (column, row) => [x(across(column)) + w / 2, y(up(row)) - h / 2];
  function read(px, py) {
    if (!cells.length) return null;
    const column = figures.clamp(Math.floor(Math.log10(x.invert(px)) * 4 + 1e-9), first, end - 1), row = figures.clamp(Math.floor(Math.log2(y.invert(py)) + 1e-9), low, top - 1);
    const value = held.get(`${column} ${row}`) ?? 0, [cx, cy] = middle(column, row);
    const range = (from, to, unit) => `${draw.show(from, unit)} – ${draw.show(to, unit)}`;
    const size = row === 0 || up(row + 1) - up(row) <= 1 ? draw.show(up(row)) : range(up(row), up(row + 1) - 1, "");
    const [from, to] = [column, column + 1].map((edge) => Number(across(edge).toPrecision(3)));
    return {
      x: cx, y: cy, frame: [cx - w / 2, cy - h / 2, w, h], title: `${data.ylabel} ${size} · ${data.xlabel} ${range(from, to, data.unit)}`,
      rows: [{ label: data.label ?? "", text: draw.show(value, "count"), value }],
    };
  }
  const ticks = figures.upwards(inside, y, doubles.length > 9 ? levels.length > 2 ? levels : doubles : doubles) + figures.sideways(inside, x, draw.logTicks(across(first), across(end), data.unit));
  return figures.picture(inside, key + ticks + drawn, read, cells.map(([column, row]) => middle(column, row)));
};
