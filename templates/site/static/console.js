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
}

async function run() {
  element("run").disabled = true;
  say("Running …");
  const begin = performance.now();
  try {
    const table = await connection.query(element("query").value);
    const names = table.schema.fields.map((field) => field.name);
    const rows = table.toArray().map((row) => names.map((name) => row[name]));
    last = [names, rows];
    show(names, rows);
    const time = ((performance.now() - begin) / 1000).toFixed(2);
    say(`${rows.length} rows in ${time} s${rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} are shown; CSV has all` : ""}.`);
  } catch (error) {
    say(`That failed: ${String(error.message || error).split("\n")[0]}`);
  }
  element("run").disabled = false;
  element("csv").disabled = !last;
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

function plot(names, rows) {
  const values = rows.slice(0, 100).map((row) => Number(row[row.length - 1]));
  const most = Math.max(...values);
  if (names.length < 2 || values.length < 2 || !values.every((value) => Number.isFinite(value) && value >= 0) || !most) return [];
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const width = 720 / values.length;
  for (const [name, value] of Object.entries({ width: 720, height: 160, viewBox: "0 0 720 160", role: "img" })) svg.setAttribute(name, value);
  svg.setAttribute("aria-label", `Bars of ${names[names.length - 1]}; the table below has the values`);
  values.forEach((value, place) => {
    const bar = document.createElementNS(space, "rect");
    const height = 155 * value / most;
    const title = document.createElementNS(space, "title");
    title.textContent = `${plain(rows[place][0])}: ${plain(rows[place][names.length - 1])}`;
    for (const [name, one] of Object.entries({ x: place * width, y: 160 - height, width: Math.max(width * 0.85, 0.5), height })) bar.setAttribute(name, one);
    bar.append(title);
    svg.append(bar);
  });
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

function download() {
  const link = document.createElement("a");
  link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(csv(last))}`;
  link.download = "result.csv";
  link.click();
}

form.addEventListener("submit", (event) => { event.preventDefault(); if (connection) run(); });
element("csv").addEventListener("click", download);
form.addEventListener("click", (event) => {
  if (!event.target.dataset.query) return;
  element("query").value = event.target.dataset.query;
  if (connection) run();
});
start().catch((error) => say(`The console cannot start: ${String(error.message || error).split("\n")[0]}`));
