// The first picture: amounts a day over time, which one drags over to choose a period.

explorer.strip = (() => {
  const { view, MARKS, NAMES, margins, dayOf, hasWindow, isCut, isWhole, markOf, periodInWords, scaled, step, swatch, told, total } = explorer;
  const { OUTCOMES } = cells;
  const { DAY } = draw;

  // Since which day the machine had how many processor-hours a day.
  const steps = () => (view.about.sizes.length ? view.about.sizes : view.about.cpus ? [[dayOf(0), view.about.cpus]] : []).map(([since, cpus]) => [since, cpus * 24]);

  // Amounts a day over time, stacked by outcome, before the whole log in grey.
  function drawn(width, look = {}) {
    const height = look.height ?? (width < 560 ? 190 : 220), top = 20, bottom = height - 24, unit = view.state.by;
    const days = view.data.days.rows, x = draw.linear([dayOf(0), dayOf(days)], [margins.left, width - margins.right]);
    const each = (x.range[1] - x.range[0]) / (dayOf(days) - dayOf(0)) * step();
    const grouped = [1, 7, 14, 28, 91, 182].find((n) => each * n >= 1.6) ?? 364;
    const edges = [], sums = [], behind = [], lengths = [];
    for (let bin = 0; bin < days; bin += grouped) {
      const end = Math.min(bin + grouped, days);
      edges.push(x(dayOf(bin)));
      const seconds = total("seconds", bin, end) || (dayOf(end) - dayOf(bin)) * DAY;
      lengths.push(seconds);
      const stack = (made) => NAMES.map((_, n) => {
        let found = 0;
        for (let at = bin; at < end; at++) found += made.time[unit][at * OUTCOMES + n];
        return scaled(found, unit) / seconds * DAY;
      });
      sums.push(stack(view.shown));
      behind.push(stack(view.whole).reduce((all, value) => all + value, 0));
    }
    edges.push(x(dayOf(days)));
    const tops = sums.map((stack) => stack.reduce((all, value) => all + value, 0));
    const stairs = unit === "cpu" ? steps() : [], capacity = stairs.length ? Math.max(...stairs.map(([, hours]) => hours)) : null, most = Math.max(...tops, 0);
    const fits = capacity && most > capacity / 4 && most < capacity * 2;
    const high = (fits ? Math.max(most, capacity) : isWhole() ? most : Math.max(most, Math.min(most * 4, Math.max(...behind)))) * 1.05 || 1;
    const y = draw.linear([0, high], [bottom, top]);
    let body = "";
    body += gaps(x, top, bottom);
    for (const [value, label] of draw.linearTicks(0, high, "", 4)) body += draw.line(margins.left, y(value), width - margins.right, y(value)) + draw.text(margins.left - 6, y(value) + 4, label, { "text-anchor": "end" });
    const base = tops.map(() => y(0));
    if (!isWhole()) body += draw.path(draw.band(edges, base, behind.map((value) => y(Math.min(value, high)))), { fill: "var(--behind)" });
    let below = tops.map(() => 0);
    NAMES.forEach((name, n) => {
      const above = below.map((value, at) => value + sums[at][n]);
      body += draw.path(draw.band(edges, below.map(y), above.map((value) => y(Math.min(value, high)))), { fill: `var(--outcome-${name})`, "shape-rendering": "crispEdges" });
      below = above;
    });
    const clock = view.about.is_relative ? null : view.time;
    const ticks = clock ? clock.ticks(dayOf(0) * DAY, dayOf(days) * DAY, x.range[1] - x.range[0], Math.min(100, width / 6)) : draw.linearTicks(dayOf(0), dayOf(days), "", 8).map(([day, label]) => [day * DAY, label]);
    for (const [moment, label] of ticks) {
      const at = x(moment / DAY);
      body += draw.line(at, bottom, at, bottom + 4, { stroke: draw.colours.muted });
      if (at < width - margins.right - 20) body += draw.text(at + 3, height - 8, label);
    }
    body += draw.line(margins.left, bottom, width - margins.right, bottom, { stroke: draw.colours.muted });
    if (fits) {
      const ends = [...stairs.slice(1).map(([since]) => x(since)), width - margins.right];
      body += draw.path(`M${margins.left} ${stairs.map(([, hours], n) => `${y(hours)}H${ends[n]}`).join("V")}`, { fill: "none", stroke: draw.colours.ink, "stroke-dasharray": "3 3" });
    }
    const named = `${view.words.perDay[unit]}${grouped * step() > 1 ? ` (${view.words.means.replace("{n}", grouped * step())})` : ""}`;
    const ceiling = capacity && view.words.capacity.replace("{n}", stairs.map(([, hours]) => draw.compact(Number(hours.toPrecision(3)))).join(" → "));
    const hasRoom = capacity && draw.measure(named) + draw.measure(ceiling) + 12 < x.range[1] - 4;
    if (hasRoom) body += draw.text(width - margins.right, top - 7, ceiling, { "text-anchor": "end", ...(fits && { fill: draw.colours.ink }) });
    body += draw.text(hasRoom ? margins.left : 4, top - 7, draw.cut(named, width - 8));
    if (isCut()) body += chosen(x, top, bottom, width);
    return { svg: draw.svg(width, height, body, { "aria-hidden": "true" }), x, y, top, bottom, height, width, reading };

    function reading(at) {
      const bin = binOf(x, at), sumOf = NAMES.map((name, n) => [n, scaled(view.shown.time[unit][bin * OUTCOMES + n], unit)]).filter(([, value]) => value);
      const all = sumOf.reduce((found, [, value]) => found + value, 0), room = capacity && stairs.findLast(([since], n) => !n || since <= dayOf(bin))[1] / DAY * (view.data.days.seconds[bin] || DAY);
      const title = step() > 1 ? periodInWords(bin, bin + 1) : view.about.is_relative ? told(bin) : told(bin, { weekday: true });
      const remarks = view.about.marks.filter((mark) => mark.since < dayOf(bin + 1) && mark.until > dayOf(bin)).map((mark) => view.words.marks[mark.kind]);
      if (hasWindow() && view.data.days.known_seconds[bin] < view.data.days.seconds[bin]) remarks.push(view.words.outside);
      const [sum, ...texts] = draw.column([all, ...sumOf.map(([, value]) => value)]);
      return {
        x: x((dayOf(bin) + dayOf(bin + 1)) / 2), title,
        rows: [[view.words.units[unit] + (room ? ` (${draw.percent(all / room)})` : ""), sum],
          ...sumOf.map(([n], at) => [view.words.outcomes[n], texts[at], swatch(n)]), ...new Set(remarks)].map((row) => Array.isArray(row) ? row : [row, ""]),
      };
    }
  }

  const binOf = (x, at) => {
    const day = x.invert(at);
    let bin = 0;
    while (bin + 1 < view.data.days.rows && dayOf(bin + 1) <= day) bin++;
    return bin;
  };
  // The edge of a bin that is nearest.
  const edgeAt = (x, at) => {
    const bin = binOf(x, at);
    return x.invert(at) - dayOf(bin) < dayOf(bin + 1) - x.invert(at) ? bin : bin + 1;
  };

  // What the log does not know, and outages.
  function gaps(x, top, bottom) {
    let body = draw.hatch("explorer-outside", 0), areas = [];
    for (let from = 0; hasWindow() && from < view.data.days.rows; from++) {
      if (view.data.days.known_seconds[from] > 0) continue;
      let to = from;
      while (to < view.data.days.rows && !(view.data.days.known_seconds[to] > 0)) to++;
      areas.push([x(dayOf(from)), top, x(dayOf(to)) - x(dayOf(from)), bottom - top]);
      from = to;
    }
    body += draw.path(draw.boxes(areas), { fill: "url(#explorer-outside)" });
    for (const look of MARKS) {
      const marks = view.about.marks.filter((mark) => markOf(mark) === look);
      const boxes = marks.map(({ since, until }) => [x(since), top, Math.max(1.5, x(until) - x(since)), bottom - top]);
      body += draw.path(draw.boxes(boxes), { fill: `var(--${look})` });
    }
    return body;
  }

  function chosen(x, top, bottom) {
    const [left, right] = [x(dayOf(view.state.from)), x(dayOf(view.state.to))];
    const veils = [[x.range[0], top, left - x.range[0], bottom - top], [right, top, x.range[1] - right, bottom - top]];
    return draw.path(draw.boxes(veils.filter(([, , wide]) => wide > 0)), { fill: "var(--veil)" })
      + [left, right].map((at) => draw.line(at, top, at, bottom, { stroke: draw.colours.accent, "stroke-width": 2 })).join("");
  }

  return { drawn, binOf, edgeAt };
})();
