/* Pictures of the result of a query: bars of its last column by the first, or cells where there are three. */
"use strict";

const SPACE = "http://www.w3.org/2000/svg";
const MOST_BARS = 400;
const MOST_ROWS_DRAWN = 40;
const LETTER = 7;

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function cut(text, letters) {
  return text.length > letters ? `${text.slice(0, Math.max(letters - 1, 1))}…` : text;
}

/* A value as it stands at its bar: three digits, of whole numbers all. */
function shortText(value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(3)).toLocaleString("en") : Number(value).toLocaleString("en");
}

/* The day that all texts have, if they are times of one day, and the texts without it. */
function ofOneDay(texts) {
  if (!texts.every((text) => /^\d{4}-\d\d-\d\d /.test(text) && text.slice(0, 11) === texts[0].slice(0, 11))) return ["", texts];
  return [texts[0].slice(0, 10), texts.map((text) => text.slice(11))];
}

/* Steps of 1, 2 or 5 times a power of ten, about four up to the largest value. */
function ticks(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = power * [1, 2, 5, 10].find((times) => most / (power * times) <= 4);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, place) => Number((place * step).toPrecision(12)));
}

function picture(width, height, label) {
  const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.setAttribute("aria-label", `${label}; the table below has the values`);
  return svg;
}

/* Bars that lie, for names: each in a line of its own, with its value at its end. */
function lying(names, rows, values, most, total) {
  const texts = rows.map((row) => shownText(row[0]));
  const left = Math.min(total * 0.4, 12 + LETTER * Math.max(...texts.map((text) => text.length)));
  const line = 24;
  const svg = picture(total, 28 + line * rows.length, `Bars of ${names.at(-1)} by ${names[0]}`);
  svg.append(drawn("text", { x: 0, y: 12, class: "axis" }, names.at(-1)));
  rows.forEach((row, place) => {
    const y = 22 + line * place;
    const text = shortText(row.at(-1));
    const width = (total - left - LETTER * text.length - 14) * values[place] / most;
    svg.append(drawn("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, cut(texts[place], Math.floor((left - 8) / LETTER))));
    const bar = drawn("rect", { x: left, y: y + 2, width: Math.max(width, 0.5), height: line - 6 });
    bar.append(drawn("title", {}, `${texts[place]}: ${text}`));
    svg.append(bar, drawn("text", { x: left + width + 6, y: y + 14 }, text));
  });
  return svg;
}

/* Bars that stand, for numbers and times, along an axis. */
function standing(names, rows, values, most, total, of) {
  const [left, right, top, height] = [64, total - 8, 24, 260];
  const floor = height - 44;
  const width = (right - left) / values.length;
  const y = (value) => floor - (floor - top) * value / most;
  const svg = picture(total, height, `Bars of ${names.at(-1)} by ${names[0]}`);
  for (const tick of ticks(most)) {
    svg.append(drawn("line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    svg.append(drawn("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, tick.toLocaleString("en")));
  }
  values.forEach((value, place) => {
    const bar = drawn("rect", { x: left + place * width, y: y(value), width: Math.max(width * 0.85, 0.5), height: floor - y(value) });
    bar.append(drawn("title", {}, `${shownText(rows[place][0])}: ${shownText(rows[place].at(-1))}`));
    svg.append(bar);
  });
  const [day, texts] = ofOneDay(rows.map((row) => shownText(row[0])));
  const longest = Math.max(...texts.map((text) => text.length));
  const every = Math.ceil(values.length / Math.max(1, Math.floor((right - left) / (Math.min(longest, 19) * LETTER + 12))));
  texts.forEach((text, place) => {
    if (place % every === 0) svg.append(drawn("text", { x: left + (place + 0.42) * width, y: floor + 16, "text-anchor": "middle" }, cut(text, 19)));
  });
  svg.append(drawn("text", { x: 0, y: 12, class: "axis" }, names.at(-1)));
  const part = of > rows.length ? `the first ${rows.length} of ${of.toLocaleString("en")}` : "";
  svg.append(drawn("text", { x: right, y: height - 6, "text-anchor": "end", class: "axis" }, [names[0], day, part].filter(Boolean).join(", ")));
  return svg;
}

/* Cells: the first column down, the second across, the third as how dark a cell is. */
function cells(names, rows, values, most, total) {
  const [down, across] = [0, 1].map((place) => [...new Set(rows.map((row) => shownText(row[place])))]);
  const left = Math.min(total * 0.34, 12 + LETTER * Math.max(...down.map((text) => text.length)));
  const [width, line] = [(total - left - 4) / across.length, 26];
  const floor = 24 + line * down.length;
  const svg = picture(total, floor + 40, `${names[2]} by ${names[0]} and ${names[1]}`);
  svg.append(drawn("text", { x: 0, y: 12, class: "axis" }, `${names[2]}: the strongest is ${shownText(most)}`));
  down.forEach((text, place) => svg.append(drawn("text", { x: left - 8, y: 24 + line * place + 17, "text-anchor": "end" }, cut(text, Math.floor((left - 8) / LETTER)))));
  rows.forEach((row, place) => {
    const [y, x] = [24 + line * down.indexOf(shownText(row[0])), left + width * across.indexOf(shownText(row[1]))];
    const cell = drawn("rect", { x, y: y + 1, width: Math.max(width - 1, 0.5), height: line - 2, "fill-opacity": 0.06 + 0.94 * values[place] / most });
    cell.append(drawn("title", {}, `${shownText(row[0])}, ${shownText(row[1])}: ${shownText(row[2])}`));
    svg.append(cell);
  });
  const longest = Math.max(...across.map((text) => text.length));
  const every = Math.ceil(Math.min(longest, 9) * LETTER / width + 0.2);
  across.forEach((text, place) => {
    if (place % every === 0) svg.append(drawn("text", { x: left + width * (place + 0.5), y: floor + 16, "text-anchor": "middle" }, cut(text, 9)));
  });
  svg.append(drawn("text", { x: total - 4, y: floor + 34, "text-anchor": "end", class: "axis" }, names[1]));
  return svg;
}

/* Return the picture of a result in a list, which is empty where its last column is not of numbers from 0 on. */
function plot(names, all, total) {
  const values = all.map((row) => (row.at(-1) === null ? NaN : Number(row.at(-1))));
  const most = Math.max(...values);
  if (names.length < 2 || all.length < 2 || typeof all[0].at(-1) === "string" || !values.every((value) => Number.isFinite(value) && value >= 0) || !most) return [];
  const groups = new Set(all.map((row) => shownText(row[0]))).size;
  if (names.length === 3 && groups < all.length && groups <= MOST_ROWS_DRAWN) return [cells(names, all, values, most, total)];
  const rows = all.slice(0, MOST_BARS);
  const isNamed = rows.some((row) => typeof row[0] === "string" && !/^\d{4}-\d\d/.test(row[0]));
  const draw = isNamed && rows.length <= MOST_ROWS_DRAWN ? lying : standing;
  return [draw(names, rows, values.slice(0, MOST_BARS), most, total, all.length)];
}
