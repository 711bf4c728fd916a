// A value for each cell of a grid, such as the hours of the days of a week.

figures.kinds.heatmap = (data, width, words) => {
  const rows = data.rows.map(String), columns = data.columns.map(String), all = figures.known(data.matrix.flat());
  const strength = figures.strengths(all.length ? all : [0], data.unit);
  const left = Math.min(figures.margin(rows.map((name) => name.slice(0, 80))), Math.max(60, width * 0.34)), right = 2;
  const wide = (width - left - right) / Math.max(columns.length, 1), high = figures.clamp(wide, 18, 26);
  const across = Math.min(wide, 90);
  const legend = strength.legend(width, 0, words, width), own = data.ylabel && draw.measure(data.ylabel, 12) > legend.left - 12;
  const at = figures.room(width, { high: high * rows.length, left, right: width - left - across * columns.length, ylabel: own ? data.ylabel : "", xlabel: "", items: [] });
  const top = at.top + 18, bottom = top + high * rows.length;
  const key = strength.legend(width, at.top - 8, words, width).body + (own || !data.ylabel ? "" : draw.text(0, at.top + 1, data.ylabel));
  const levels = Array.from({ length: 12 }, () => []);
  data.matrix.forEach((row, down) => row.forEach((value, n) => {
    const [w, h] = [across - (across > 6 ? 1 : 0), high - (high > 6 ? 1 : 0)];
    if (Number.isFinite(value)) levels[strength.level(value)].push([left + n * across, top + down * high, w, h]);
  }));
  const cells = levels.map((boxes, level) => draw.path(draw.boxes(boxes), strength.fill(level))).join("");
  const names = rows.map((name, n) => draw.text(left - 8, top + high * (n + 0.5) + 4, draw.cut(name, left - 10, 11), { "text-anchor": "end", "font-size": 11 })).join("");
  const x = draw.linear([0, columns.length], [left, left + across * columns.length]);
  const widest = figures.most([1, ...columns.map((name) => draw.measure(name.slice(0, 80), 11))]) + 8;
  const stride = [1, 2, 3, 4, 6, 12, 24, 48, 96].find((step) => step * across >= widest) ?? columns.length;
  // Of what can be counted on, such as months, every so many is named; other names are turned where they are too long.
  const turned = stride > 1 && across > 13 && !columns.every((name) => /\d/.test(name) && name.length < 11);
  const ticks = turned ? [] : columns.map((name, n) => [n + 0.5, name]).filter((_, n) => n % stride === 0);
  const labels = draw.apart(ticks, x, { from: 0, to: width, gap: 2 }).map(([n, label]) => draw.text(x(n), bottom + 15, label, { "text-anchor": "middle", "font-size": 11 })).join("");
  const long = columns.map((name, n) => draw.cut(name, Math.min(140, (x(n + 0.5) - 2) * 1.25), 11));
  const turn = (n) => `translate(${draw.px(x(n + 0.5) + 4)} ${draw.px(bottom + 12)}) rotate(-36)`;
  const slanted = turned ? long.map((name, n) => draw.text(0, 0, name, { "text-anchor": "end", "font-size": 11, transform: turn(n) })).join("") : "";
  const deep = turned ? Math.ceil(0.6 * figures.most(long.map((name) => draw.measure(name, 11)))) : 0;
  const under = bottom + 20 + deep, below = data.xlabel ? draw.wrap(data.xlabel, width - 4) : [];
  const axis = below.map((line, n) => draw.text(width - right, under + 14 + 15 * n, line, { "text-anchor": "end" })).join("");
  const height = under + 15 * below.length + 4;
  const place = (down, n) => [x(n + 0.5), top + high * (down + 0.5)];
  function read(px, py) {
    if (!rows.length || !columns.length) return null;
    const n = figures.clamp(Math.floor(x.invert(px)), 0, columns.length - 1), down = figures.clamp(Math.floor((py - top) / high), 0, rows.length - 1);
    const value = data.matrix[down][n], [cx, cy] = place(down, n);
    return {
      x: cx, y: cy, frame: [cx - across / 2, cy - high / 2, across, high], title: `${rows[down]} · ${columns[n]}`,
      rows: [{ label: data.ylabel, text: draw.show(value, data.unit), value }],
    };
  }
  const points = rows.flatMap((_, down) => columns.map((__, n) => place(down, n)));
  return { svg: draw.svg(width, height, at.body + key + cells + names + labels + slanted + axis), height, at: { ...at, top, bottom }, read, points };
};
