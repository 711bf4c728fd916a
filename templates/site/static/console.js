/* SQL on a trace's own file, in the browser: DuckDB runs in a worker and reads the file by ranges. */
"use strict";

const MOST_ROWS = 1000;
const LARGEST = 500e6;
const element = (id) => document.getElementById(id);
const form = element("console");
const say = (text) => { element("status").textContent = text; };
let connection = null;
let last = null;

function plain(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "bigint") return value.toString();
  return typeof value === "object" ? JSON.stringify(value, (_, one) => typeof one === "bigint" ? one.toString() : one) : String(value);
}

async function start() {
  if (location.protocol === "file:") return say("The console needs a server: open the site by http, or use gwa site serve.");
  if (!globalThis.WebAssembly || !globalThis.Worker) return say("This browser has no WebAssembly: the console cannot run here.");
  if (Number(form.dataset.bytes) > LARGEST) return say("This trace is too large for a browser: download it and use gwa sql.");
  const home = new URL(form.dataset.engine, location.href);
  const url = new URL(form.dataset.file, location.href).href;
  const there = await fetch(url, { method: "HEAD" });
  if (!there.ok) return say(`The file of the trace cannot be had: the server said ${there.status}.`);
  const worker = new Worker(new URL("duckdb-worker.js", home));
  const engine = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
  await engine.instantiate(new URL("duckdb-eh.wasm", home).href);
  await engine.open({ filesystem: { reliableHeadRequests: true, allowFullHTTPReads: true, forceFullHTTPReads: false } });
  await engine.registerFileURL(form.dataset.file, url, duckdb.DuckDBDataProtocol.HTTP, false);
  connection = await engine.connect();
  await connection.query(`attach '${form.dataset.file}' as trace (read_only)`);
  await connection.query("use trace");
  element("run").disabled = false;
  say("Ready.");
  if (linked()) run();
}

/* The query that the address carries, as #q=…, if there is one. */
function linked() {
  return new URLSearchParams(location.hash.slice(1)).get("q");
}

function link() {
  return `#${new URLSearchParams({ q: element("query").value })}`;
}

function fail(text) {
  last = null;
  element("result").replaceChildren();
  element("plot").replaceChildren();
  element("failure").textContent = text;
  element("failure").hidden = !text;
}

async function run() {
  history.replaceState(null, "", link());
  element("run").disabled = true;
  say("Running …");
  const begin = performance.now();
  try {
    const table = await connection.query(element("query").value);
    const names = table.schema.fields.map((field) => field.name);
    const rows = table.toArray().map((row) => names.map((name) => row[name]));
    fail("");
    last = [names, rows];
    show(names, rows);
    const time = ((performance.now() - begin) / 1000).toFixed(2);
    say(`${rows.length} rows in ${time} s${rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} are shown; the downloads have all` : ""}.`);
  } catch (error) {
    const text = String(error.message || error);
    fail(text);
    say(`That failed: ${text.split("\n")[0]}`);
  }
  element("run").disabled = false;
  element("csv").disabled = element("json").disabled = !last;
}

function line(tag, cells) {
  const row = document.createElement("tr");
  row.append(...cells.map((value) => {
    const cell = document.createElement(tag);
    cell.textContent = plain(value);
    if (typeof value === "number" || typeof value === "bigint") cell.className = "number";
    return cell;
  }));
  return row;
}

function show(names, rows) {
  const [head, body] = ["thead", "tbody"].map((tag) => document.createElement(tag));
  head.append(line("th", names));
  body.append(...rows.slice(0, MOST_ROWS).map((row) => line("td", row)));
  element("result").replaceChildren(head, body);
  element("plot").replaceChildren(...plot(names, rows));
}

const SPACE = "http://www.w3.org/2000/svg";
const MARGIN = { left: 64, right: 8, top: 24, bottom: 44 };
const HEIGHT = 240;

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/* Steps of 1, 2 or 5 times a power of ten, about four up to the largest value. */
function ticks(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = power * [1, 2, 5, 10].find((times) => most / (power * times) <= 4);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
}

function plot(names, rows) {
  const shown = rows.slice(0, 100);
  const values = shown.map((row) => Number(row[row.length - 1]));
  const most = Math.max(...values);
  if (names.length < 2 || values.length < 2 || !values.every((value) => Number.isFinite(value) && value >= 0) || !most) return [];
  const total = Math.max(300, Math.min(720, element("plot").clientWidth));
  const [first, last] = [names[0], names[names.length - 1]];
  const [left, right, top, floor] = [MARGIN.left, total - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const width = (right - left) / values.length;
  const y = (value) => floor - (floor - top) * value / most;
  const svg = drawn("svg", { width: total, height: HEIGHT, viewBox: `0 0 ${total} ${HEIGHT}`, role: "img" });
  svg.setAttribute("aria-label", `Bars of ${last} by ${first}; the table below has the values`);
  for (const tick of ticks(most)) {
    svg.append(drawn("line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    svg.append(drawn("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, tick.toLocaleString("en")));
  }
  values.forEach((value, place) => {
    const bar = drawn("rect", { x: left + place * width, y: y(value), width: Math.max(width * 0.85, 0.5), height: floor - y(value) });
    bar.append(drawn("title", {}, `${plain(shown[place][0])}: ${plain(shown[place][names.length - 1])}`));
    svg.append(bar);
  });
  const every = Math.ceil(values.length / Math.max(1, Math.floor((right - left) / 60)));
  shown.forEach((row, place) => {
    if (place % every) return;
    const text = plain(row[0]);
    svg.append(drawn("text", { x: left + (place + 0.42) * width, y: floor + 16, "text-anchor": "middle" }, text.length > 9 ? `${text.slice(0, 8)}…` : text));
  });
  svg.append(drawn("text", { x: 0, y: 12, class: "axis" }, last));
  svg.append(drawn("text", { x: right, y: HEIGHT - 6, "text-anchor": "end", class: "axis" }, first));
  return [svg];
}

function csv([names, rows]) {
  const cell = (value) => {
    let text = plain(value);
    if (typeof value === "string" && /^[\s]*[=+\-@|]/.test(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function json([names, rows]) {
  const value = (one) => (typeof one === "bigint" ? (Number.isSafeInteger(Number(one)) ? Number(one) : one.toString()) : one ?? null);
  const records = rows.map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])));
  return `${JSON.stringify(records, (_, one) => value(one), 1)}\n`;
}

function download(kind, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: kind === "csv" ? "text/csv" : "application/json" }));
  link.download = `result.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy() {
  const address = new URL(link(), location.href).href;
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    say("The link with this query is copied.");
  } catch {
    say("The address of this page carries the query now; copy it from there.");
  }
}

function insert(text) {
  const query = element("query");
  query.setRangeText(text, query.selectionStart, query.selectionEnd, "end");
  query.focus();
}

form.addEventListener("submit", (event) => { event.preventDefault(); if (connection && !element("run").disabled) run(); });
element("query").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit();
});
element("csv").addEventListener("click", () => download("csv", csv(last)));
element("json").addEventListener("click", () => download("json", json(last)));
element("copy").addEventListener("click", copy);
document.querySelector(".columns").addEventListener("click", (event) => {
  const button = event.target.closest("[data-insert]");
  if (button) insert(button.dataset.insert);
});
form.addEventListener("click", (event) => {
  if (!event.target.dataset.query) return;
  element("query").value = event.target.dataset.query;
  if (connection) run();
});
if (linked()) element("query").value = linked();
start().catch((error) => say(`The console cannot start: ${String(error.message || error).split("\n")[0]}`));
