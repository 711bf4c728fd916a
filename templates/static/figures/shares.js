// Lying bars of full width, divided into parts that have a word, each as thick as it weighs; words stand on them where they fit.

figures.kinds.shares = (() => {
  const THIN = 20, THICK = 64, GAP = 6;
  const COLOURS = {
    held: "#c9c2b0", unknown: "#dfe3e6", outage: "#8c2d19", full: "#1f4e79", gpu: "#3b7dbd",
    ceiling: "#b35806", unused: "#d8b365", larger: "#80a9d0", cycle: "#bbbbbb", open: "#e08214",
  };
  const DARK = new Set(["outage", "full", "gpu", "ceiling"]);
  const fill = (key) => COLOURS[key] ?? COLOURS.unknown;

  function shares(data, width) {
    const labels = data.bars.map(({ label }) => String(label)), thick = data.bars.map(({ weight }) => THIN + (THICK - THIN) * (weight ?? 0));
    const left = Math.min(Math.ceil(figures.most([24, ...labels.map((label) => draw.measure(label.slice(0, 80), 12))])) + 12, Math.max(70, width * 0.34));
    const tops = thick.map((_, n) => thick.slice(0, n).reduce((sum, one) => sum + one + GAP, 0));
    const at = figures.room(width, { high: thick.reduce((sum, one) => sum + one + GAP, 0), left, right: 2, ticks: false });
    const x = draw.linear([0, 1], [left, at.right]), top = (n) => at.top + tops[n];
    // Where each part begins and ends.
    const ends = data.bars.map(({ y }) => y.reduce((list, share) => [...list, list.at(-1) + (share ?? 0)], [0]));
    const body = data.bars.map((bar, n) => {
      const middle = top(n) + thick[n] / 2 + 4;
      const parts = data.parts.map(({ key, label }, part) => {
        const [from, to] = [x(ends[n][part]), x(ends[n][part + 1])], told = draw.percent(bar.y[part] ?? 0);
        const word = [`${told} ${label}`, told].find((text) => draw.measure(text, 12) + 12 < to - from);
        return draw.rect(from, top(n), Math.max(to - from, 0), thick[n], { fill: fill(key), "shape-rendering": "crispEdges" })
          + (word ? draw.text(from + 6, middle, word, { fill: DARK.has(key) ? "#ffffff" : "#1b1f24" }) : "");
      }).join("");
      return draw.text(left - 8, middle, draw.cut(labels[n], left - 10), { "text-anchor": "end", fill: draw.colours.ink }) + parts;
    }).join("");
    function read(px, py) {
      if (!labels.length) return null;
      const n = labels.reduce((best, _, each) => (top(each) <= py ? each : best), 0);
      const rows = data.parts.map(({ key, label }, part) => ({ label, value: data.bars[n].y[part], colour: fill(key) })).filter(({ value }) => value);
      return { x: x(0.5), y: top(n) + thick[n] / 2, frame: [left, top(n), at.right - left, thick[n]], title: labels[n], rows: figures.rows(rows, "fraction") };
    }
    return figures.picture(at, body, read, labels.map((_, n) => [x(0.5), top(n) + thick[n] / 2]));
  }

  return shares;
})();
