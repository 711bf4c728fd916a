// The curve of waits.

explorer.waits = (() => {
  const { view, margins, isWhole } = explorer;
  const { WAITS } = cells;

  // The share of jobs or core-hours that waited no longer than so long.
  function drawn(width) {
    const height = 240, top = 10, bottom = height - 40, weights = view.shown.waits[view.state.weigh], all = view.whole.waits[view.state.weigh];
    const last = Math.max(...[weights, all].map((one) => one.findLastIndex((value, code) => code && value)), 2);
    const high = Math.max(cells.least(last + 1, view.about.octaves), 120), x = draw.logWithZero([1, high], [margins.left, width - margins.right], 20), y = draw.linear([0, 1], [bottom, top]);
    const shares = (source) => {
      let below = 0;
      const sums = [...source].map((value, code) => code ? below += value : 0);
      return sums.map((value) => value / (below || 1));
    };
    const [mine, others] = [shares(weights), shares(all)];
    const places = [...Array(last).keys()].map((n) => n + 1);
    const course = (values) => draw.course([x(0), ...places.map((code) => x(code === 1 ? 1 : cells.least(code + 1, view.about.octaves)))], [y(values[1]), ...places.map((code) => y(values[code]))]);
    let body = "";
    for (const [value, label] of draw.linearTicks(0, 1, "fraction", 4)) body += draw.line(margins.left, y(value), width - margins.right, y(value)) + draw.text(margins.left - 6, y(value) + 4, label, { "text-anchor": "end" });
    for (const [value, label] of draw.apart([[0, "0"], ...draw.logTicks(1, high, "seconds")], x, { to: width - 4 })) body += draw.line(x(value), top, x(value), bottom) + draw.text(x(value), bottom + 16, label, { "text-anchor": "middle" });
    body += draw.text(margins.left, height - 6, view.words.waitedAtMost);
    if (!isWhole()) body += draw.path(course(others), { stroke: draw.colours.muted, "stroke-width": 1.5, "stroke-dasharray": "5 3" });
    const known = mine[WAITS - 1] > 0;
    body += known ? draw.path(course(mine), { stroke: draw.colours.accent, "stroke-width": 2 }) : draw.text(width / 2, (top + bottom) / 2, view.words.none, { "text-anchor": "middle" });
    return { svg: draw.svg(width, height, body, { "aria-hidden": "true" }), x, top, bottom, height, width, reading(at) {
      const seconds = x.invert(at), code = places.findLast((one) => (one === 1 ? 1 : cells.least(one, view.about.octaves)) <= seconds) ?? 1;
      const border = code === 1 ? 1 : cells.least(code + 1, view.about.octaves);
      const [own, whole] = draw.column([known ? mine[code] : null, others[code]], "fraction");
      return { x: x(border), title: `${view.words.within} ${draw.duration(border, 2)}`, rows: [[view.words.selection, own, draw.colours.accent], ...(isWhole() ? [] : [[view.words.whole, whole, draw.colours.muted]])] };
    } };
  }

  return { drawn };
})();
