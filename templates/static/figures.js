// The pictures of a page, drawn from the data that stand beside them: at any width, read by pointing and by keys, saved as SVG and PNG.
// Each kind has a file of its own in figures/, called as the kind, and is a function
//   (data, width, words, state) -> { svg, read(x, y) -> { x, y, title, rows } or null, points: [[x, y], …] for the arrow keys }
// where rows are { label, text, value, colour }: what is written, and the number in full; a mark stands at x, y.
// What a kind can do besides reading, such as showing a part, it says by: drag(from, to), zoom(factor, x), pan(side), whole().

const figures = (() => {
  const { DAY, HOUR, colours, measure } = draw;
  const kinds = {};
  const NARROW = 480; // pixels below which a picture has its narrow form
  const MOST_STEPS = 120; // so many presses of an arrow key lead over a picture at most
  const TIME_RIGHT = 16;

  // --- What kinds share ----------------------------------------------------------------------------

  const known = (values) => values.filter((value) => Number.isFinite(value));
  const least = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity);
  const most = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // Every so many of a list, with its first and its last.
  function thinned(list, count = MOST_STEPS) {
    if (list.length <= count) return list;
    return Array.from({ length: count }, (_, n) => list[Math.round(n * (list.length - 1) / (count - 1))]);
  }

  // Where a value stands in rising ones: the nearest, and the last that is not greater (-1 before the first).
  function nearest(xs, value) {
    const place = clamp(last(xs, value), 0, xs.length - 1);
    return place + 1 < xs.length && xs[place + 1] - value < value - xs[place] ? place + 1 : place;
  }

  function last(xs, value) {
    let [low, high] = [-1, xs.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] <= value) low = middle; else high = middle;
    }
    return low;
  }

  // The room for a drawing in a picture: under what it shows and what its lines are, over the words of its x axis.
  function room(width, { high, left, right = 14, xlabel = "", ylabel = "", items = [], ticks = true }) {
    let [top, body] = [0, ""];
    for (const words of ylabel ? draw.wrap(ylabel, width) : []) { top += 15; body += draw.text(0, top - 3, words); }
    const named = draw.legend(items, width, { y: top + 3 });
    body += named.body;
    top += named.height + 10;
    const bottom = top + high, axis = ticks ? 20 : 4;
    const below = xlabel ? draw.wrap(xlabel, width - right - 4) : [];
    below.forEach((words, n) => { body += draw.text(width - right, bottom + axis + 14 + 15 * n, words, { "text-anchor": "end" }); });
    return { width, left, right: width - right, top, bottom, height: bottom + axis + 15 * below.length + 4, body };
  }

  // What a kind returns: its drawing in a room, what is read in it, and where the keys lead.
  const picture = (at, body, read, points, more = {}) => ({ svg: draw.svg(at.width, at.height, at.body + body), height: at.height, at, read, points, ...more });

  function sideways(at, scale, ticks, { grid = false } = {}) {
    const labels = draw.apart(ticks, scale, { from: 0, to: at.width });
    return labels.map(([value, label]) => {
      const x = scale(value);
      return (grid ? draw.line(x, at.top, x, at.bottom) : draw.line(x, at.bottom, x, at.bottom + 4, { stroke: colours.muted }))
        + draw.text(x, at.bottom + 16, label, { "text-anchor": "middle", "font-size": 11 });
    }).join("") + draw.line(at.left, at.bottom, at.right, at.bottom, { stroke: colours.muted });
  }

  function upwards(at, scale, ticks) {
    return draw.apart(ticks, scale, { upright: true, gap: 4 }).map(([value, label]) => {
      const y = scale(value);
      return draw.line(at.left, y, at.right, y) + draw.text(at.left - 8, y + 4, label, { "text-anchor": "end", "font-size": 11 });
    }).join("");
  }

  // What is read of the values of a unit that stand under each other: *rows* of a label, a value, *more* text.
  function rows(all, unit) {
    const texts = draw.column(all.map(({ value }) => value), unit);
    return all.map(({ more = "", ...row }, n) => ({ ...row, text: (all.length > 1 ? texts[n] : draw.show(row.value, unit)) + more }));
  }

  // How much room labels need at the left of an axis.
  const margin = (labels) => Math.ceil(most([16, ...labels.map((label) => measure(label, 11))])) + 10;

  // The look of the line at a place, and its sample.
  const look = (place, width = 2) => ({ stroke: draw.colour(place), "stroke-width": width, "stroke-dasharray": draw.dash(place) });
  const sample = (place) => draw.lineSample(look(place));

  // A scale for values of any kind, with its ticks: logarithmic where asked for and possible, with a place for zero.
  function values(all, unit, log, range) {
    const [low, high] = [least(all), most(all)], positive = all.filter((value) => value > 0);
    if (!all.length) return { scale: draw.linear([0, 1], range), ticks: [] };
    if (!log || low < 0 || !positive.length || high <= 2 * low || high <= 0) {
      const extra = (high - low) * 0.02 || Math.abs(high) * 0.1 || 1;
      const ticks = draw.linearTicks(low, high, unit, Math.max(2, (range[1] - range[0]) / 90));
      return { scale: draw.linear([low - extra, high + extra], range), ticks };
    }
    const start = least(positive);
    const ticks = draw.logTicks(start, high, unit);
    if (low > 0) return { scale: draw.log([start, high], range), ticks };
    return { scale: draw.logWithZero([start, high > start ? high : 2 * start], range), ticks: [[0, "0"], ...ticks] };
  }

  // Heights of an axis from zero, or logarithmic, with a tick about every so many pixels.
  function heights(all, unit, log, range, each = 45) {
    const positive = log && all.length > 0 && least(all) > 0;
    const [low, high] = positive ? [least(all), most(all)] : [Math.min(0, least(all)), Math.max(0, most(all))];
    if (positive) {
      const top = Math.max(high, low * 1.001);
      return { scale: draw.log([low / 1.3, top * 1.3], range), ticks: draw.logTicks(low / 1.3, top * 1.3, unit) };
    }
    const top = Number.isFinite(high) && high > low ? high : (Number.isFinite(low) ? low : 0) + 1, bottom = Number.isFinite(low) ? low : 0;
    return { scale: draw.linear([bottom, top + (top - bottom) * 0.06], range), ticks: draw.linearTicks(bottom, top, unit, Math.max(2, Math.abs(range[1] - range[0]) / each)) };
  }

  // Cells in twelve strengths of one colour; by their logarithm where that is asked for, or a few are far above the others.
  function strengths(all, unit, asked = false) {
    const [low, high] = [Math.min(0, least(all)), most(all)], positive = all.filter((value) => value > 0).sort((a, b) => a - b);
    const middle = positive[Math.floor(positive.length / 2)];
    const skewed = positive.length > 4 && high > 12 * middle && high > 4 * positive[Math.floor(positive.length * 0.9)];
    const log = low >= 0 && positive.length > 0 && (asked || skewed);
    const begin = log ? positive[0] : low;
    const share = log
      ? (value) => value > 0 ? (high > begin ? Math.log(value / begin) / Math.log(high / begin) : 1) : 0
      : (value) => high > begin ? (value - begin) / (high - begin) : 1;
    const opacity = (strength) => Math.round((0.14 + 0.86 * strength) * 100) / 100;
    return {
      log, level: (value) => clamp(Math.round(share(value) * 11), 0, 11),
      fill: (level) => ({ fill: draw.colour(0), "fill-opacity": opacity(level / 11) }),
      legend(right, y, words, width) {
        const told = [0, 0.5, 1].map((part) => log ? begin * (high / begin) ** part : begin + (high - begin) * part).map((value) => draw.compact(Number(value.toPrecision(2)), unit));
        told[0] = draw.compact(begin, unit);
        told[2] = draw.compact(high, unit);
        const between = log ? told : [told[0], told[2]], box = 13;
        let [x, body] = [right, ""];
        const write = (content) => { body = draw.text(x, y + 9, content, { "text-anchor": "end", "font-size": 11 }) + body; x -= measure(content, 11) + 6; };
        const steps = (from, to) => { for (let level = to; level >= from; level--) { x -= box; body += draw.rect(x, y, box - 1, 11, this.fill(level)); } x -= 6; };
        write(between.at(-1));
        if (log) { steps(6, 11); write(between[1]); steps(0, 5); } else steps(0, 11);
        write(between[0]);
        if (log && x > width - right + 40 + measure(words.log, 11)) write(words.log);
        return { body, left: x };
      },
    };
  }

  // --- Time: the axes of one page have the same margins, and the same days where their times are nearly the same --------

  const times = new Map(); // what a picture over time shows, by its data
  let timeLeft = 0;

  function timed(data, from, to, labels) {
    if (to > from) times.set(data, [from, to]);
    timeLeft = Math.max(timeLeft, margin(labels), 44);
  }

  function span(data) {
    const own = times.get(data);
    if (!own) return [0, 1];
    const others = [...times].filter(([other]) => (other.zone ?? null) === (data.zone ?? null)).map(([, each]) => each);
    const all = [least(others.map(([from]) => from)), most(others.map(([, to]) => to))];
    return own[1] - own[0] >= 0.8 * (all[1] - all[0]) ? all : own;
  }

  // A part of the time that is seen closer: pictures with the clock of that which was dragged over show it together.
  const closeUps = new Map(); // from when to when, by zone

  const zoneOf = (data) => data.zone ?? "";
  const isTimed = (data) => times.has(data);

  // What a picture shows closer of its whole time; null where it shows all of it.
  function closeUp(data, [from, to]) {
    const asked = closeUps.get(zoneOf(data));
    return asked && asked[0] < to && asked[1] > from ? [Math.max(asked[0], from), Math.min(asked[1], to)] : null;
  }

  // Shows a part closer, or with null the whole again; without *data* in all pictures over time.
  function zoom(part, data = null) {
    for (const one of shown.values()) {
      if (!isTimed(one.data) || data && zoneOf(one.data) !== zoneOf(data)) continue;
      closeUps.set(zoneOf(one.data), part);
      if (one.data !== data) one.redraw();
    }
    if (data) document.dispatchEvent(new CustomEvent("zoomed"));
  }

  const zoomed = () => [...closeUps.values()].find(Boolean) ?? null;

  // The time that most pictures of the page show, where it has dates: what counts by months stands in it, too.
  function calendar() {
    const dated = [...times].filter(([data]) => data.zone).sort(([, one], [, other]) => other[1] - other[0] - one[1] + one[0]);
    return dated.length ? { span: span(dated[0][0]), clock: draw.time(dated[0][0].zone) } : null;
  }

  function timeWords(clock, from, to, words) {
    const told = clock.span(from, to);
    return clock.zone && Math.abs(to) < 8e12 ? words.zone.replace("{dates}", told).replace("{zone}", clock.zone) : told;
  }

  const timeRoom = (width, layout) => room(width, { left: timeLeft, right: TIME_RIGHT, ...layout });

  // --- One picture -----------------------------------------------------------------------------------

  function texts() {
    return { ...document.getElementById("words-figures").dataset };
  }

  const wideOf = (box) => Math.floor(box.getBoundingClientRect().width); // rounded up, letters would shrink

  function show(figure, data, number, words) {
    const box = figure.querySelector(".drawing");
    const kind = kinds[figure.dataset.plot];
    const state = { id: `drawing-${number}` };
    const said = made("tools-reading");
    const title = figure.dataset.title ?? figure.querySelector("h4").textContent;
    let [width, drawn, cursor, begin, chosen, own] = [0, null, null, null, null, null];

    function redraw(wide = wideOf(box)) {
      if (wide < 40) return; // folded
      width = wide;
      drawn = kind(data, width, words, state);
      box.querySelector(":scope > svg")?.remove();
      box.insertAdjacentHTML("afterbegin", drawn.svg);
      const svg = box.firstElementChild;
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", box.dataset.alt);
      svg.append(shape("g", { class: "mark" }));
      if (cursor) read(cursor.x, cursor.y);
      state.changed?.(drawn);
    }

    // What stands at a point: it is marked, and written beside it.
    function read(x, y) {
      const found = x === null ? null : drawn.read(x, y);
      cursor = found;
      const mark = box.querySelector(".mark");
      mark.replaceChildren();
      said.hidden = !found;
      said.replaceChildren();
      if (!found) return;
      const { line, frame } = found;
      if (line) mark.append(shape("path", { d: `M${found.x} ${line[0]}V${line[1]}`, stroke: colours.muted, "stroke-dasharray": "2 2" }));
      if (frame) mark.append(shape("rect", { x: frame[0], y: frame[1], width: frame[2], height: frame[3], fill: "none", stroke: colours.ink, "stroke-width": 1.5 }));
      for (const [px, py, colour] of found.dots ?? (frame ? [] : [[found.x, found.y, colours.ink]])) {
        if (Number.isFinite(py)) mark.append(shape("circle", { cx: px, cy: py, r: 4, fill: colour ?? colours.ink, stroke: colours.paper, "stroke-width": 1.5 }));
      }
      said.append(part("span", found.title || title, "title"), " ");
      for (const row of found.rows) {
        const item = part("span", "", "row"), worth = part("b", row.text);
        if (row.value !== undefined) worth.dataset.value = JSON.stringify(row.value);
        if (row.colour) { const key = part("i", ""); key.style.background = row.colour; item.append(key); }
        if (row.label) item.append(`${row.label} `);
        item.append(worth);
        said.append(item, " ");
      }
      const beside = found.x > width / 2;
      said.style.left = beside ? "" : `${found.x + 12}px`;
      said.style.right = beside ? `${box.clientWidth - found.x + 12}px` : "";
      said.style.maxWidth = `${Math.max(120, (beside ? found.x : width - found.x) - 16)}px`;
      said.style.top = `${clamp(found.y - said.offsetHeight - 10, 0, Math.max(0, drawn.height - said.offsetHeight))}px`;
    }

    const place = (event) => {
      const frame = box.firstElementChild.getBoundingClientRect();
      return [event.clientX - frame.left, event.clientY - frame.top];
    };

    function pointing() {
      box.addEventListener("pointermove", (event) => {
        if (!drawn || event.target.closest?.(".reading")) return;
        const [x, y] = place(event);
        if (begin !== null) choose(begin, x);
        read(x, y);
      });
      box.addEventListener("pointerdown", (event) => {
        if (!drawn) return;
        const [x, y] = place(event);
        read(x, y);
        box.focus({ preventScroll: true }); // what is read goes when something else is pointed at
        if (!drawn.drag || event.pointerType === "touch" || event.button) return; // a finger scrolls
        event.preventDefault();
        begin = x;
        box.setPointerCapture(event.pointerId);
      });
      box.addEventListener("pointerup", (event) => {
        const from = begin;
        stop();
        if (from === null) return;
        const [x] = place(event);
        if (Math.abs(x - from) > 8) { drawn.drag(Math.min(from, x), Math.max(from, x)); redraw(); }
      });
      box.addEventListener("pointercancel", stop);
      box.addEventListener("pointerleave", (event) => { if (begin === null && event.pointerType !== "touch") read(null); });
      box.addEventListener("blur", () => read(null));
    }

    function choose(from, to) {
      chosen ??= box.firstElementChild.appendChild(shape("rect", { class: "mark", fill: colours.accent, "fill-opacity": 0.15 }));
      const { top, bottom, left, right } = drawn.at;
      const [low, high] = [Math.min(from, to), Math.max(from, to)].map((x) => clamp(x, left, right));
      for (const [name, value] of Object.entries({ x: low, y: top, width: high - low, height: bottom - top })) chosen.setAttribute(name, value);
    }

    function stop() {
      begin = null;
      chosen?.remove();
      chosen = null;
    }

    function keys(event) {
      if (!drawn || event.altKey || event.ctrlKey || event.metaKey || event.target !== box) return;
      const side = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (side) step(side);
      else if (event.key === "Home" || event.key === "End") read(...(drawn.points.at(event.key === "Home" ? 0 : -1) ?? [null]));
      else if (event.key === "Escape") { cursor = null; drawn.whole?.(); redraw(); read(null); }
      else if (drawn.zoom && (event.key === "+" || event.key === "-")) { drawn.zoom(event.key === "+" ? 0.5 : 2, cursor?.x); redraw(); } else return;
      event.preventDefault();
    }

    // To the next point in a direction; where there is none, to the next of the list, or beyond what is shown.
    function step([across, down]) {
      const points = drawn.points;
      if (!points.length) return;
      if (!cursor) { read(...points[0]); return; }
      const ahead = ([x, y]) => across ? (x - cursor.x) * across : (y - cursor.y) * down;
      const aside = ([x, y]) => Math.abs(across ? y - cursor.y : x - cursor.x);
      const cost = (point) => ahead(point) + 4 * aside(point);
      const [sign, here] = [across + down, points.findIndex(([x, y]) => Math.abs(x - cursor.x) < 0.6 && Math.abs(y - cursor.y) < 0.6)];
      const next = points.filter((point) => ahead(point) > 0.5).reduce((best, point) => (best && cost(best) <= cost(point) ? best : point), null);
      if (next) read(...next);
      else if (across && drawn.pan?.(across)) { redraw(); read(...(drawn.points.at(across > 0 ? -1 : 0) ?? [null])); }
      else if (here >= 0) read(...points[clamp(here + sign, 0, points.length - 1)]);
    }

    said.hidden = true;
    box.append(said);
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${title} – ${kind.tools ? words.closer : words.help}`);
    box.addEventListener("keydown", keys);
    pointing();
    kind.tools?.(figure, data, state, redraw, () => drawn);
    // A change of width is drawn before it is shown; what is folded is drawn when it is opened.
    new ResizeObserver(() => { if (!printing && wideOf(box) !== width) redraw(); }).observe(box);
    return { figure, redraw, box, shown: () => width, replace };

    // Shows other values than those of the whole log: *fields* of its data, or none for its own again.
    function replace(fields) {
      own ??= { data: { ...data }, alt: box.dataset.alt };
      Object.assign(data, own.data, fields);
      state.lines = null;
      box.dataset.alt = fields ? title : own.alt;
      const caption = figure.querySelector("figcaption");
      if (caption) caption.hidden = Boolean(fields);
      redraw();
    }
  }

  const SVG = "http://www.w3.org/2000/svg";

  function shape(name, look) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(look)) made.setAttribute(key, value);
    return made;
  }

  function part(name, content, style) {
    const made = document.createElement(name);
    made.textContent = content;
    if (style) made.className = style;
    return made;
  }

  // --- Saving ----------------------------------------------------------------------------------------

  // The drawing as a file of its own: with its title and where it comes from, in fixed colours, on white.
  function fileOf(figure) {
    const svg = figure.querySelector(".drawing svg").cloneNode(true);
    for (const mark of svg.querySelectorAll(".mark")) mark.remove();
    const [, , wide, high] = svg.getAttribute("viewBox").split(" ").map(Number);
    const pad = 16, width = Math.max(wide, 320);
    const title = draw.wrap(figure.querySelector("h4").textContent.trim(), width, 15, 600);
    const source = draw.wrap(sourceOf(), width, 11);
    const top = pad + 20 * title.length + 6, height = top + high + 15 * source.length + pad + 4;
    for (const [name, value] of Object.entries({ x: pad, y: top })) svg.setAttribute(name, value);
    for (const name of ["role", "aria-label", "aria-labelledby"]) svg.removeAttribute(name);
    const inside = new XMLSerializer().serializeToString(svg);
    const head = title.map((words, n) => draw.text(pad, pad + 14 + 20 * n, words, { fill: colours.ink, "font-size": 15, "font-weight": 600 })).join("");
    const foot = source.map((words, n) => draw.text(pad, top + high + 16 + 15 * n, words, { "font-size": 11 })).join("");
    const ground = draw.rect(0, 0, width + 2 * pad, height, { fill: "#ffffff" });
    const text = draw.svg(width + 2 * pad, height, ground + head + inside + foot)
      .replace(/var\(--[\w-]+(?:, (#\w+))?\)/g, (_, colour) => colour || "none"); // what marks a part has none
    return { text, wide: width + 2 * pad, high: height };
  }

  // What a picture is of, when it has left the page: the heading, the time, the program.
  function sourceOf() {
    const lines = ["h1", ".subtitle", ".period"].map((one) => document.querySelector(`.head ${one}`)?.textContent.trim());
    return [...lines.filter(Boolean).map((line) => draw.cut(line, 400)), "gwa"].join(" · ");
  }

  // A picture of so many pixels, drawn at twice its size.
  function raster(text, wide, high, done) {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [wide * 2, high * 2];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(done, "image/png");
    };
    image.src = `data:image/svg+xml;base64,${btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))}`;
  }

  function saving(figure) {
    const name = figure.id.replace(/^figure-/, "").replace(/[^\w.-]+/g, "_");
    const title = figure.querySelector("h4");
    const head = part("div", "", "table-head");
    title.before(head);
    const tools = made("tools-figure");
    tools.addEventListener("click", (event) => {
      const kind = event.target.dataset.save;
      if (kind === "svg") download(`${name}.svg`, "image/svg+xml", fileOf(figure).text);
      if (kind === "png") {
        const { text, wide, high } = fileOf(figure);
        raster(text, wide, high, (blob) => download(`${name}.png`, "image/png", blob));
      }
    });
    head.append(title, tools);
  }

  // --- The page --------------------------------------------------------------------------------------

  const PAPER = 640; // pixels of a column on paper
  let printing = false;
  const shown = new Map(); // by the ids of the figures; those of answers have none

  function start() {
    document.querySelectorAll("figure.figure").forEach(saving);
    const words = texts();
    const places = [...document.querySelectorAll("[data-plot]")].filter((figure) => kinds[figure.dataset.plot]);
    const given = places.map((figure) => JSON.parse(figure.querySelector("script").textContent));
    places.forEach((figure, n) => kinds[figure.dataset.plot].before?.(given[n]));
    places.forEach((figure, n) => shown.set(figure.id || n, { ...show(figure, given[n], n, words), data: given[n] }));
    const paper = (figure) => figure.closest(".row.pair") ? (PAPER - 48) / 2 : PAPER; // a pair stays side by side
    addEventListener("beforeprint", () => {
      printing = true;
      for (const [n, one] of [...shown.values()].entries()) if (one.shown() > paper(places[n])) one.redraw(paper(places[n]));
    });
    addEventListener("afterprint", () => { printing = false; for (const one of shown.values()) one.redraw(); });
  }

  return {
    kinds, NARROW, start, shown, known, least, most, clamp, thinned, nearest, last,
    room, picture, sideways, upwards, margin, look, sample, rows, values, heights, strengths,
    timed, span, closeUp, zoom, zoomed, calendar, timeWords, timeRoom, raster,
  };
})();

document.addEventListener("DOMContentLoaded", figures.start);
