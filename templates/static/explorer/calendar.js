// The calendar of submissions.

explorer.calendar = (() => {
  const { view, margins, dayOf } = explorer;
  const { DAY } = draw;

  // Jobs by hour of the day, along the days: a calendar of when people work.
  function drawn(width) {
    const height = 250, top = 8, bottom = height - 46, { from, to, days } = view.columns;
    const x = draw.linear([dayOf(view.state.from), dayOf(view.state.to)], [margins.left, width - margins.right]);
    const h = (bottom - top) / 24, rate = (n) => view.shown.calendar[n] / days[Math.floor(n / 24)];
    const sorted = [...view.shown.calendar.keys()].map(rate).filter(Boolean).sort((a, b) => a - b);
    const most = sorted.length ? sorted[Math.floor(0.98 * (sorted.length - 1))] : 1, levels = [0, 1, 2, 3, 4, 5];
    const step = draw.nice(most / 3 || 1), limits = levels.slice(1).map((n) => step * [0.05, 0.2, 0.5, 1, 2][n - 1]);
    const boxes = levels.map(() => []);
    for (let n = 0; n < view.shown.calendar.length; n++) {
      if (!view.shown.calendar[n]) continue;
      const column = Math.floor(n / 24), left = x(from[column]), wide = x(to[column]) - left, level = limits.filter((limit) => rate(n) >= limit).length;
      boxes[level].push([left, top + (n % 24) * h, Math.max(wide - (wide > 6 ? 1 : 0), 0.8), h - (h > 6 ? 1 : 0)]);
    }
    let body = draw.rect(margins.left, top, width - margins.left - margins.right, bottom - top, { fill: "var(--empty)" });
    levels.forEach((level) => { body += draw.path(draw.boxes(boxes[level]), { fill: `var(--heat-${level})` }); });
    for (const hour of [0, 6, 12, 18]) body += draw.text(margins.left - 6, top + hour * h + 10, `${String(hour).padStart(2, "0")}:00`, { "text-anchor": "end" });
    // A column is a day at least: hours of a day stand upwards.
    const span = [dayOf(view.state.from), dayOf(view.state.to)], isWholeDay = (moment) => Number.isInteger(moment / DAY);
    const ticks = view.about.is_relative ? draw.linearTicks(...span, "", 6).map(([day, label]) => [day * DAY, label]) : view.time.ticks(span[0] * DAY, span[1] * DAY, x.range[1] - x.range[0]).filter(([moment]) => isWholeDay(moment));
    for (const [moment, label] of ticks) {
      const at = x(moment / DAY);
      body += draw.line(at, bottom, at, bottom + 4, { stroke: draw.colours.muted });
      if (at < width - margins.right - 20) body += draw.text(at + 3, bottom + 15, label);
    }
    let at = width - margins.right;
    for (const level of [...levels].reverse()) {
      const label = level ? `${level === 5 ? "≥ " : ""}${draw.compact(limits[level - 1])}` : `< ${draw.compact(limits[0])}`;
      at -= 22 + draw.measure(label, 12);
      body += draw.rect(at, height - 15, 11, 11, { fill: `var(--heat-${level})` }) + draw.text(at + 15, height - 5, label);
    }
    const isBeside = at - 8 - draw.measure(view.words.jobsAnHour, 12) >= 0; // else it stands in a line of its own
    body += draw.text(isBeside ? at - 8 : width - margins.right, isBeside ? height - 5 : height + 13, view.words.jobsAnHour, { "text-anchor": "end" });
    return { svg: draw.svg(width, height + (isBeside ? 0 : 18), body, { "aria-hidden": "true" }), x, top, bottom, height, width, reading(place, y = (top + bottom) / 2) {
      const day = x.invert(place), column = Math.max(0, from.findLastIndex((first) => first <= day)), hour = Math.max(0, Math.min(23, Math.floor((y - top) / h)));
      const named = view.about.is_relative ? `${view.words.day} ${from[column] + 1}` : view.time.day(from[column] * DAY, { weekday: to[column] - from[column] === 1 });
      const last = view.about.is_relative ? `${view.words.day} ${to[column]}` : view.time.day((to[column] - 1) * DAY);
      return { x: x((from[column] + to[column]) / 2), y: top + (hour + 0.5) * h, title: `${to[column] - from[column] > 1 ? `${named} – ${last}` : named}, ${String(hour).padStart(2, "0")}:00`,
        rows: [[view.words.jobs, draw.number(view.shown.calendar[column * 24 + hour], 15)], [view.words.jobsAnHour, draw.number(rate(column * 24 + hour), 3)]] };
    } };
  }

  // The columns of the calendar: days, weeks or months, so that each is wide enough to be seen.
  function columnsOf() {
    const days = dayOf(view.state.to) - dayOf(view.state.from), of = new Uint16Array(view.data.days.rows), from = [], to = [], length = [];
    const group = days <= 400 || view.about.is_relative && days <= 400 ? (day) => day : days <= 2800 ? (day) => Math.floor((day + 3) / 7)
      : (day) => { const date = new Date(day * DAY * 1000); return date.getUTCFullYear() * 12 + date.getUTCMonth(); };
    let before = null;
    for (let bin = view.state.from; bin < view.state.to; bin++) {
      const named = group(dayOf(bin));
      if (named !== before) { from.push(dayOf(bin)); to.push(dayOf(bin)); length.push(0); }
      before = named;
      of[bin] = from.length - 1;
      to[to.length - 1] = dayOf(bin + 1);
      length[length.length - 1] += dayOf(bin + 1) - dayOf(bin);
    }
    return { of, from, to, days: length, count: from.length };
  }

  return { drawn, columnsOf };
})();
