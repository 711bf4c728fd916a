// What several systems do over time, one under the other on one axis of time, stacked by kind; each has its own height.

figures.kinds.strips = (() => {
  const HIGH = 46, NAME = 22; // pixels of a strip, and of the name above it
  const COLOURS = { completed: "#4c8bb8", limit: "#e0a100", failed: "#a8321f", cancelled: "#cfaedd", running: "#5aa17f", unknown: "#a9b2bb" };
  const fill = (key) => COLOURS[key] ? `var(--outcome-${key}, ${COLOURS[key]})` : draw.colour(0);

  const total = (strip, n) => strip.y.reduce((sum, layer) => sum + (layer[n] ?? 0), 0);
  const highest = (strip) => Math.max(strip.level ?? 0, figures.most([0, ...strip.x.slice(1).map((_, n) => total(strip, n))])) || 1;

  function strips(data, width, words) {
    const shown = data.strips.filter((strip) => strip.x.length > 1), clock = draw.time(data.zone, words);
    const all = shown.flatMap((strip) => [strip.x[0], strip.x.at(-1)]), [from, to] = all.length ? [figures.least(all), figures.most(all)] : [0, 1];
    const items = data.layers.map(({ key, label }) => ({ label, sample: draw.boxSample({ fill: fill(key) }) }));
    const at = figures.room(width, {
      high: (HIGH + NAME) * shown.length, left: 1, right: 1, ylabel: data.ylabel, items: items.length > 1 ? items : [],
      xlabel: data.xlabel || figures.timeWords(clock, from, to, words),
    });
    const x = draw.linear([from, to], [at.left, at.right]), floor = (place) => at.top + (HIGH + NAME) * (place + 1);
    const body = shown.map((strip, place) => {
      const top = highest(strip), y = draw.linear([0, top], [floor(place), floor(place) - HIGH]), edges = strip.x.map(x);
      let low = strip.x.slice(1).map(() => 0);
      const layers = strip.y.map((values, layer) => {
        const high = low.map((value, n) => value + (values[n] ?? 0)), path = draw.band(edges, low.map(y), high.map(y));
        low = high;
        return draw.path(path, { fill: fill(data.layers[layer].key), "shape-rendering": "crispEdges" });
      }).join("");
      const told = draw.compact(top, strip.unit), name = draw.cut(strip.label, (width - draw.measure(told, 11) - 12) * 0.9); // bold letters are wider
      return draw.text(at.left, floor(place) - HIGH - 6, name, { fill: draw.colours.ink, "font-weight": 600 })
        + draw.text(at.right, floor(place) - HIGH - 6, told, { "text-anchor": "end", "font-size": 11 })
        + draw.line(at.left, y(top), at.right, y(top), { "stroke-dasharray": "4 3" }) + layers
        + draw.line(at.left, floor(place), at.right, floor(place), { stroke: draw.colours.muted });
    }).join("");

    function read(px, py) {
      if (!shown.length) return null;
      const place = figures.clamp(Math.floor((py - at.top) / (HIGH + NAME)), 0, shown.length - 1), strip = shown[place];
      const n = figures.clamp(figures.last(strip.x, x.invert(px)), 0, strip.x.length - 2), when = strip.x[n];
      const known = strip.y.some((layer) => layer[n] !== null), parts = data.layers.map(({ key, label }, layer) => ({ key, label, value: strip.y[layer][n] }));
      const rows = parts.filter(({ value }) => value).map(({ key, label, value }) => ({ label, value, colour: fill(key) }));
      const sum = known ? total(strip, n) : null;
      return {
        x: (x(when) + x(strip.x[n + 1])) / 2, y: floor(place) - HIGH, line: [at.top, at.bottom], dots: [], title: `${strip.label} · ${clock.iso(when)}`,
        rows: figures.rows(rows.length === 1 ? rows : [{ label: data.ylabel, value: sum }, ...rows], strip.unit),
      };
    }

    const points = shown.flatMap((strip, place) => figures.thinned(strip.x.slice(0, -1), 60).map((when, n, list) => [x(when) + (x(list[n + 1] ?? strip.x.at(-1)) - x(when)) / 2, floor(place) - HIGH / 2]));
    return figures.picture(at, body + figures.sideways(at, x, clock.ticks(from, to, at.right - at.left)), read, points);
  }

  return strips;
})();
