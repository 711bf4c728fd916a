// Something over time: lines with their bands, a level, what was shaded, and, hatched, what the log does not know.
// A part that is dragged over is seen closer; lines are averaged over weeks and months where that is asked for.

figures.kinds.series = (() => {
  const CLOSEST = 200; // a part is not less than a two hundredth of the whole
  const FAR = 4; // a level that is this many times as high as all that is drawn is only written
  const SPIKE = 3; // values this many times as high as nearly all others leave the drawing at its top

  const LEVEL = { stroke: draw.colours.ink, "stroke-dasharray": "5 3" };
  const HALO = { fill: draw.colours.ink, stroke: draw.colours.paper, "stroke-width": 3, "paint-order": "stroke" }; // over lines

  const valuesOf = (lines) => figures.known(lines.flatMap((line) => [...line.y, ...line.low ?? [], ...line.high ?? []]));

  // The least and the greatest of what is drawn; zero is between them. *peak* is the greatest of all where it is cut.
  function ends(data) {
    const all = valuesOf(data.lines).sort((a, b) => a - b);
    let [low, high] = [Math.min(0, all[0] ?? 0), Math.max(0, all.at(-1) ?? 0)];
    const reference = data.reference && !(high > 0 && high * FAR < data.reference[0]) ? data.reference[0] : null;
    const usual = all[Math.floor(0.98 * (all.length - 1))] ?? 0, cut = all.length > 60 && usual > 0 && high > SPIKE * usual;
    const peak = cut ? high : null;
    if (cut) high = 1.5 * usual;
    if (reference !== null && (peak === null || reference < 3 * high)) { high = Math.max(high, reference); low = Math.min(low, reference); }
    return { low, high: high > low ? high : low + 1, peak: peak !== null && peak > high ? peak : null, reference: reference !== null && reference <= high ? reference : null };
  }

  function series(data, width, words, state) {
    const clock = draw.time(data.zone, words), whole = figures.span(data), { low, high, peak, reference } = ends(data);
    const lines = state.lines ?? data.lines, close = figures.closeUp(data, whole), [from, to] = close ?? whole;
    // Jagged lines differ by how thick they are before they are dashed.
    const look = (place, thick) => ({ stroke: draw.colour(place), "stroke-width": place % 2 ? 1 : thick, "stroke-dasharray": place > 1 ? draw.dash(place) : "" });
    const items = [...lines.map(({ label }, place) => ({ label, sample: draw.lineSample(look(place, 2.4)) })), ...named(data, reference)];
    const at = figures.timeRoom(width, {
      high: width < figures.NARROW ? 170 : 210, ylabel: data.ylabel, xlabel: data.xlabel || figures.timeWords(clock, from, to, words),
      items: items.length > 1 ? items : [],
    });
    const x = draw.linear([from, to], [at.left, at.right]), y = draw.linear([low, high + (high - low) * (data.reference ? 0.1 : 0.05)], [at.bottom, at.top]);
    const box = { x: at.left, y: at.top, width: at.right - at.left, height: at.bottom - at.top };
    const clip = draw.tag("defs", {}, draw.tag("clipPath", { id: `${state.id}-clip` }, draw.rect(box.x, box.y, box.width, box.height)));
    const inside = (...parts) => clip + draw.group({ "clip-path": `url(#${state.id}-clip)` }, ...parts);
    const between = (a, b, fill, opacity) => {
      const [begin, end] = [x(Math.max(a, from)), x(Math.min(b, to))];
      return b > from && a < to ? draw.rect(begin, at.top, Math.max(end - begin, 1.5), box.height, { fill, "fill-opacity": opacity }) : "";
    };
    const outside = data.window ? [[from, Math.min(data.window[0], to)], [Math.max(data.window[1], from), to]].filter(([a, b]) => b > a) : [];
    const ground = draw.hatch(`${state.id}-out`, 0, draw.colours.muted, 0.35) + draw.hatch(`${state.id}-shade`, 1, draw.colour(1), 0.8)
      + outside.map(([a, b]) => between(a, b, `url(#${state.id}-out)`, 1)).join("")
      + (data.shaded ?? []).map(([a, b]) => between(a, b, draw.colour(1), 0.18) + between(a, b, `url(#${state.id}-shade)`, 1)).join("");
    const curves = lines.map((line, place) => {
      const across = line.x.map(x), up = line.y.map((value) => value === null ? NaN : y(value));
      const edge = (list) => list.map((value) => value === null ? NaN : y(value));
      return (line.low ? draw.path(draw.area(across, edge(line.low), edge(line.high)), { fill: draw.colour(place), "fill-opacity": 0.18 }) : "")
        + draw.path(draw.course(across, up), look(place, 1.6)) + (figures.known(up).length === 1 ? draw.marker(place, across[up.findIndex(Number.isFinite)], figures.known(up)[0]) : "");
    });
    const level = reference === null ? "" : draw.line(at.left, y(reference), at.right, y(reference), LEVEL);
    const body = figures.upwards(at, y, draw.linearTicks(low, high, data.unit, 4)) + inside(ground, ...curves) + level
      + figures.sideways(at, x, clock.ticks(from, to, box.width)) + (peak === null ? "" : peaks(data, at, x, peak));
    const longest = lines.reduce((a, b) => b.x.length > a.x.length ? b : a, { x: [] });
    const points = figures.thinned(longest.x.filter((when) => when >= from && when <= to)).map((when) => [x(when), (at.top + at.bottom) / 2]);

    function read(px, py) {
      const drawn = lines.filter((line) => line.x.length);
      if (!drawn.length) return null;
      const moment = x.invert(figures.clamp(px, at.left, at.right));
      const near = drawn.map((line) => line.x[figures.nearest(line.x, moment)]);
      const when = near.reduce((a, b) => Math.abs(b - moment) < Math.abs(a - moment) ? b : a);
      if (x(when) < at.left - 1 || x(when) > at.right + 1) return null;
      const found = drawn.map((line) => ({ line, place: lines.indexOf(line), n: figures.nearest(line.x, when) }));
      return {
        x: x(when), y: figures.clamp(py, at.top, at.bottom), line: [at.top, at.bottom], title: clock.stamp(when),
        dots: found.filter(({ line, n }) => line.y[n] !== null).map(({ line, place, n }) => [x(line.x[n]), Math.max(y(line.y[n]), at.top), draw.colour(place)]),
        rows: figures.rows(found.map(({ line, place, n }) => {
          const range = line.low && line.low[n] !== null ? ` (${draw.show(line.low[n], data.unit)} – ${draw.show(line.high[n], data.unit)})` : "";
          return { label: line.label, value: line.y[n], more: range, colour: draw.colour(place) };
        }), data.unit),
      };
    }

    function closer(start, end) {
      const wide = figures.clamp(end - start, (whole[1] - whole[0]) / CLOSEST, whole[1] - whole[0]);
      const begin = figures.clamp(start, whole[0], whole[1] - wide);
      figures.zoom(wide < whole[1] - whole[0] ? [begin, begin + wide] : null, data);
    }

    return figures.picture(at, body, read, points, {
      isClose: Boolean(close),
      drag: (a, b) => closer(x.invert(a), x.invert(b)),
      zoom: (factor, px) => { const middle = px === undefined ? (from + to) / 2 : x.invert(px); closer(middle - (to - from) * factor / 2, middle + (to - from) * factor / 2); },
      whole: () => figures.zoom(null, data),
      pan: (side) => {
        if (!close || (side < 0 ? from <= whole[0] : to >= whole[1])) return false;
        const step = side * (to - from) / 10;
        closer(from + step, to + step);
        return true;
      },
    });
  }

  // What the level is called, beside what lines are called; one that is too far up to be drawn, with how high it is.
  function named(data, reference) {
    if (!data.reference) return [];
    const [value, name] = data.reference;
    return [{ label: reference === null ? `↑ ${name}: ${draw.compact(value, data.unit)}` : name, sample: draw.lineSample(LEVEL) }];
  }

  // Where values leave the drawing at its top, how high the highest is.
  function peaks(data, at, x, peak) {
    const line = data.lines.find(({ y, high }) => y.includes(peak) || high?.includes(peak));
    const when = line && line.x[Math.max(line.y.indexOf(peak), line.high?.indexOf(peak) ?? -1)];
    if (when === undefined || x(when) < at.left || x(when) > at.right) return "";
    const told = `↑ ${draw.compact(peak, data.unit)}`, right = x(when) + draw.measure(told, 12) + 6 > at.right;
    return draw.text(x(when) + (right ? -6 : 4), at.top + 24, told, { "text-anchor": right ? "end" : "start", ...HALO });
  }

  // The number of the week or month of a moment: by the clock of the trace's zone, else 7 or 30 days of it.
  function interval(kind, zone, clock) {
    if (!zone) return (moment) => Math.floor(moment / (draw.DAY * (kind === "week" ? 7 : 30)));
    if (kind === "month") return (moment) => clock.iso(moment).slice(0, 7);
    return (moment) => Math.floor((Math.floor(clock.wall(moment) / draw.DAY) + 3) / 7);
  }

  // A line as the means of intervals, each at its middle; its band as their extremes.
  function averaged(line, number) {
    const places = new Map();
    line.x.forEach((x, n) => {
      if (line.y[n] === null) return;
      const key = number(x);
      if (places.has(key)) places.get(key).push(n); else places.set(key, [n]);
    });
    const groups = [...places.values()];
    const mean = (values) => (group) => group.reduce((sum, n) => sum + values[n], 0) / group.length;
    const found = { ...line, x: groups.map(mean(line.x)), y: groups.map(mean(line.y)) };
    if (!line.low) return found;
    const ends = (values, choose) => groups.map((group) => choose(figures.known(group.map((n) => values[n]))));
    return { ...found, low: ends(line.low, figures.least), high: ends(line.high, figures.most) };
  }

  series.before = (data) => {
    const moments = data.lines.flatMap((line) => line.x.filter((_, n) => line.y[n] !== null)), { low, high } = ends(data);
    figures.timed(data, figures.least(moments), figures.most(moments), draw.linearTicks(low, high, data.unit, 4).map(([, label]) => label));
  };

  // Buttons to see a part closer, and the choice of weeks and months where there are enough, and each has several values.
  series.tools = (figure, data, state, redraw, drawn) => {
    const whole = figures.span(data), tools = made("tools-series"), choice = tools.querySelector(".interval");
    const clock = draw.time(data.zone), days = (whole[1] - whole[0]) / draw.DAY;
    if (!data.lines.some((line) => line.x.length > 1)) return;
    for (const [kind, least] of [["week", 56], ["month", 180]]) {
      if (days < least || data.lines[0].x.length < days / 3.5) choice.querySelector(`[value=${kind}]`).remove();
    }
    choice.hidden = choice.options.length < 2;
    choice.addEventListener("change", () => {
      const number = choice.value && interval(choice.value, data.zone, clock);
      state.lines = number ? data.lines.map((line) => averaged(line, number)) : null;
      redraw();
    });
    tools.addEventListener("click", ({ target }) => {
      const factor = target.dataset.zoom;
      if (!factor) return;
      if (factor === "whole") drawn().whole(); else drawn().zoom(Number(factor));
      redraw();
    });
    state.changed = ({ isClose }) => { for (const button of tools.querySelectorAll("[data-zoom='2'], [data-zoom=whole]")) button.disabled = !isClose; };
    figure.querySelector("h4").after(tools);
  };

  return series;
})();
