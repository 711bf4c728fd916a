// Time series: a value is read by pointing or with the arrow keys; a part that is dragged over is redrawn.

const SVG = "http://www.w3.org/2000/svg";
const STEPS = [60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
const CLOSEST = 200; // a part is not less than a two hundredth of the whole

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent.appendChild(made);
}

// A moment by the clock of the trace's zone, or counted from an unknown start.
function clock(zone, day) {
  if (!zone) {
    return (moment) => `${day} ${(moment / 86400).toLocaleString(undefined, { maximumFractionDigits: 2 })}`;
  }
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return (moment) => format.format(moment * 1000);
}

function numbers(unit) {
  return unit === "fraction"
    ? (value) => `${(100 * value).toLocaleString(undefined, { maximumFractionDigits: 1 })} %`
    : (value) => value.toLocaleString(undefined, { maximumSignificantDigits: 4 });
}

// The number of the week or month of a moment: by the clock of the trace's zone, else 7 or 30 days of it.
function interval(kind, zone, told) {
  if (!zone) return (moment) => Math.floor(moment / (86400 * (kind === "week" ? 7 : 30)));
  if (kind === "month") return (moment) => told(moment).slice(0, 7);
  return (moment) => Math.floor((Date.parse(told(moment).slice(0, 10)) / 86400000 + 3) / 7);
}

// A line as the means of intervals, each at its middle; its band as their extremes.
function averaged(line, number) {
  const places = new Map();
  line.x.forEach((x, n) => {
    if (line.y[n] !== null) places.set(number(x), [...places.get(number(x)) ?? [], n]);
  });
  const groups = [...places.values()];
  const mean = (values) => (group) => group.reduce((sum, n) => sum + values[n], 0) / group.length;
  const ends = (values, choose) => (group) => group.map((n) => values[n]).reduce((a, b) => choose(a, b));
  const found = { ...line, x: groups.map(mean(line.x)), y: groups.map(mean(line.y)) };
  if (!line.low) return found;
  return { ...found, low: groups.map(ends(line.low, Math.min)), high: groups.map(ends(line.high, Math.max)) };
}

// Where round times stand between two moments; in a zone they are round by its clock.
function roundTimes(from, to, told, zone) {
  const step = STEPS.find((one) => (to - from) / one <= 7) ?? STEPS.at(-1);
  const ahead = zone ? Date.parse(`${told(from).replace(" ", "T")}Z`) / 1000 - Math.floor(from / 60) * 60 : 0;
  const first = Math.ceil((from + ahead) / step) * step - ahead;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, n) => first + n * step);
}

function nearest(xs, moment) {
  let [low, high] = [0, xs.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] > moment) high = middle; else low = middle;
  }
  return moment - xs[low] <= xs[high] - moment ? low : high;
}

function colour(place) {
  return `var(--chart-${1 + place % 6})`;
}

// The lines, and the bands behind them, between two moments, as a drawing of the frame's size.
function curves(data, view, across, up, parent) {
  const path = (xs, ys) => {
    let pen = "M";
    return xs.map((x, n) => {
      if (ys[n] === null) { pen = "M"; return ""; }
      const point = `${pen}${across(x).toFixed(1)} ${up(ys[n]).toFixed(1)}`;
      pen = "L";
      return point;
    }).join("");
  };
  data.lines.forEach((line, place) => {
    if (line.low) {
      const band = [...line.low.entries()].filter(([n, value]) => value !== null && line.high[n] !== null);
      const edge = (values) => band.map(([n]) => `${across(line.x[n]).toFixed(1)} ${up(values[n]).toFixed(1)}`);
      const d = `M${[...edge(line.low), ...edge(line.high).reverse()].join("L")}Z`;
      if (band.length) shape("path", { d, fill: colour(place), "fill-opacity": 0.18 }, parent);
    }
    shape("path", { d: path(line.x, line.y), fill: "none", stroke: colour(place), "stroke-width": 1.2 }, parent);
  });
}

// What lies outside the time in which the log knows all is grey.
function unknown(known, view, across, high, parent) {
  for (const [from, to] of [[view[0], known[0]], [known[1], view[1]]]) {
    const [x, end] = [across(Math.max(from, view[0])), across(Math.min(to, view[1]))];
    const look = { y: 0, height: high, fill: "var(--chart-muted)", "fill-opacity": 0.15 };
    if (end > x) shape("rect", { x, width: end - x, ...look }, parent);
  }
}

function exploring(figure, first) {
  const data = JSON.parse(figure.dataset.series);
  const known = data.lines.flatMap((line) => line.x.filter((_, n) => line.y[n] !== null));
  const whole = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
  if (!(whole[1] > whole[0])) return;
  const drawing = figure.querySelector("svg");
  const box = figure.querySelector(".drawing");
  const [left, top, wide, high] = data.frame;
  const tools = made("tools-series");
  const said = made("tools-reading");
  const [told, worth] = [clock(data.zone, said.dataset.day), numbers(data.unit)];
  const part = shape("g", { "font-size": 10 }, drawing);
  const mark = shape("g", {}, drawing);
  const lines = data.lines;
  const choice = tools.querySelector(".interval");
  let view = whole;
  let cursor = null;

  const across = (moment) => (moment - view[0]) / (view[1] - view[0]) * wide;
  const up = (value) => high - (value - data.low) / (data.high - data.low) * high;
  const moment = (event) => {
    const frame = drawing.getBoundingClientRect();
    const x = (event.clientX - frame.left) * drawing.viewBox.baseVal.width / frame.width - left;
    return view[0] + Math.min(Math.max(x / wide, 0), 1) * (view[1] - view[0]);
  };

  function read(where) {
    cursor = where;
    mark.replaceChildren();
    said.replaceChildren();
    if (where === null) { said.textContent = first ? said.dataset.help : ""; return; }
    const at = data.lines.map((line) => nearest(line.x, where));
    const there = data.lines[0].x[at[0]];
    const x = left + across(there);
    if (x < left - 1 || x > left + wide + 1) return;
    shape("path", { d: `M${x} ${top}V${top + high}`, stroke: "var(--chart-muted)", "stroke-dasharray": "2 2" }, mark);
    said.append(told(there));
    data.lines.forEach((line, place) => {
      const value = line.y[at[place]];
      if (value === null) return;
      shape("circle", { cx: left + across(line.x[at[place]]), cy: top + up(value), r: 3, fill: colour(place) }, mark);
      const range = line.low && line.low[at[place]] !== null
        ? ` (${worth(line.low[at[place]])} – ${worth(line.high[at[place]])})` : "";
      const word = document.createElement("b");
      word.style.color = colour(place);
      word.textContent = `${line.label} ${worth(value)}${range}`;
      said.append(" ", word);
    });
  }

  function look(from, to) {
    const width = Math.min(Math.max(to - from, (whole[1] - whole[0]) / CLOSEST), whole[1] - whole[0]);
    const start = Math.min(Math.max(from, whole[0]), whole[1] - width);
    const closer = width < whole[1] - whole[0];
    view = closer ? [start, start + width] : whole;
    for (const button of tools.querySelectorAll("[data-zoom='2'], [data-zoom=whole]")) button.disabled = !closer;
    part.replaceChildren();
    if (closer || choice.value) {
      shape("rect", { x: left - 1, y: top - 1, width: wide + 21, height: high + 8, fill: "var(--paper)" }, part);
      shape("rect", { x: left - 40, y: top + high + 7, width: wide + 60, height: 41, fill: "var(--paper)" }, part);
      for (const level of data.levels) {
        shape("path", { d: `M${left} ${top + up(level)}h${wide}`, stroke: "var(--chart-grid)" }, part);
      }
      if (data.reference) {
        const level = { d: `M${left} ${top + up(data.reference[0])}h${wide}`, stroke: "var(--chart-ink)" };
        shape("path", { ...level, "stroke-dasharray": "4 3" }, part);
      }
      for (const time of roundTimes(...view, told, data.zone)) {
        const x = left + across(time);
        shape("path", { d: `M${x} ${top}v${high}`, stroke: "var(--chart-grid)" }, part);
        const label = { x, y: top + high + 16, "text-anchor": "middle", fill: "var(--chart-muted)" };
        shape("text", label, part).textContent = told(time).replace(/ 00:00$/, "");
      }
      const frame = { x: left, y: top, width: wide, height: high, overflow: "hidden" };
      const inside = (data.shaded ?? []).filter(([from, to]) => to > view[0] && from < view[1]);
      for (const [from, to] of inside) {
        const [x, end] = [Math.max(across(from), 0), Math.min(across(to), wide)];
        shape("rect", { x: left + x, y: top, width: end - x, height: high, fill: colour(1), "fill-opacity": 0.3 }, part);
      }
      if (data.window) unknown(data.window, view, across, high, shape("svg", frame, part));
      curves(data, view, across, up, shape("svg", frame, part));
    }
    read(cursor);
  }

  function zoom(factor) {
    const middle = cursor ?? (view[0] + view[1]) / 2;
    const width = (view[1] - view[0]) * factor;
    look(middle - width / 2, middle + width / 2);
  }

  function dragging() {
    let begin = null;
    const chosen = shape("rect", { y: top, height: high, fill: "var(--accent)", "fill-opacity": 0.15 }, drawing);
    const choose = (x, width) => { chosen.setAttribute("x", x); chosen.setAttribute("width", width); };
    const end = () => { begin = null; choose(0, 0); };
    end();
    drawing.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button) return; // a finger scrolls
      event.preventDefault();
      begin = moment(event);
      drawing.setPointerCapture(event.pointerId);
    });
    drawing.addEventListener("pointermove", (event) => {
      const here = moment(event);
      read(here);
      if (begin !== null) choose(left + across(Math.min(begin, here)), Math.abs(across(here) - across(begin)));
    });
    drawing.addEventListener("pointerup", (event) => {
      const ends = begin === null ? [0, 0] : [begin, moment(event)].sort((a, b) => a - b);
      end();
      if (across(ends[1]) - across(ends[0]) > 8) look(...ends);
    });
    drawing.addEventListener("pointercancel", end);
    drawing.addEventListener("pointerleave", () => { if (begin === null) read(null); });
  }

  function keys(event) {
    const step = (view[1] - view[0]) / 100;
    const here = cursor ?? view[0];
    const moves = { ArrowLeft: here - step, ArrowRight: here + step, Home: view[0], End: view[1] };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in moves) {
      const to = Math.min(Math.max(moves[event.key], whole[0]), whole[1]);
      const width = view[1] - view[0];
      cursor = to;
      if (to < view[0]) look(to, to + width); else if (to > view[1]) look(to - width, to); else read(to);
    } else if (event.key === "+") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "Escape") { cursor = null; look(...whole); } else return;
    event.preventDefault();
  }

  // Weeks and months are offered where there are enough of them, and each has several values.
  const days = (whole[1] - whole[0]) / 86400;
  for (const [kind, least] of [["week", 56], ["month", 180]]) {
    if (days < least || lines[0].x.length < days / 3.5) choice.querySelector(`[value=${kind}]`).remove();
  }
  choice.hidden = choice.options.length < 2;
  choice.addEventListener("change", () => {
    const number = choice.value && interval(choice.value, data.zone, told);
    data.lines = number ? lines.map((line) => averaged(line, number)) : lines;
    look(...view);
  });
  tools.addEventListener("click", (event) => {
    const factor = event.target.dataset.zoom;
    if (factor === "whole") look(...whole); else if (factor) zoom(Number(factor));
  });
  const title = figure.querySelector("h4");
  title.after(tools);
  box.after(said);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${title.textContent}. ${said.dataset.help}`);
  box.addEventListener("keydown", keys);
  dragging();
  read(null);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("figure[data-series]").forEach((figure, place) => exploring(figure, place === 0));
});
