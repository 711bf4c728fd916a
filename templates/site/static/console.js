/* SQL on a trace's own file, in the browser: DuckDB runs in a worker. It reads a store by ranges, and Parquet whole. */
"use strict";

const MOST_ROWS = 1000;
const LARGEST = 500e6;
/* Parquet is unpacked in memory, where it takes some ten times as much. */
const LARGEST_TABLE = 100e6;
const element = (id) => document.getElementById(id);
const form = element("console");
const say = (text) => { element("status").textContent = text; };
let connection = null;
let last = null;

const TIMES = /^(min|max|first|last)?\(?(submit|start|end|eligible)_time\)?$/;
const MISSING = /"([^"]+)" is not in the catalog, but it exists in the (\w+) extension/;
const MISSING_PARTS = /\b(icu|json)\b|extension/i;

/* What DuckDB says of a failure; its advice to install an extension is of no use here. */
function told(text) {
  const [, name, extension] = text.match(MISSING) || [];
  const instead = `Download ${form.dataset.file} and ask it on your machine: ${form.dataset.instead}`;
  if (name) return `${name} needs DuckDB's ${extension} extension, which this site does not have; it asks no other host. ${instead}`;
  if (!MISSING_PARTS.test(text)) return text;
  return `${text}\n\nTime zones, JSON, Parquet and other extensions of DuckDB are not part of this site. ${instead}`;
}

/* A moment in milliseconds as it is written; one that has a time zone is of UTC, as DuckDB gives it. */
function moment(value, zone) {
  const text = new Date(value).toISOString().replace("T", " ").replace(/(\.000)?Z$/, "");
  return zone ? `${text}+00` : text;
}

function clock(micros) {
  const seconds = Math.floor(Number(micros) / 1e6);
  return [seconds / 3600, seconds / 60 % 60, seconds % 60].map((one) => String(Math.floor(one)).padStart(2, "0")).join(":");
}

/* A number with a fixed point, which Arrow holds without its point. */
function fixed(value, scale) {
  const text = value.toString();
  const digits = text.replace("-", "").padStart(scale + 1, "0");
  const whole = scale ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
  const exact = text.startsWith("-") ? `-${whole}` : whole;
  return Math.abs(Number(exact)) < Number.MAX_SAFE_INTEGER ? Number(exact) : exact;
}

/* A value of the engine as one of JavaScript: times are texts, not seconds since 1970. */
function converted(value, type) {
  if (value === null || value === undefined) return null;
  const kinds = Arrow.Type;
  if (type.typeId === kinds.Decimal) return fixed(value, type.scale);
  if (type.typeId === kinds.Date) return moment(Number(value)).slice(0, 10);
  if (type.typeId === kinds.Timestamp) return moment(Number(value), type.timezone);
  if (type.typeId === kinds.Time) return clock(value);
  if (type.typeId === kinds.Interval) return "an interval: cast it to varchar";
  return value;
}

function plain(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "bigint") return value.toString();
  return typeof value === "object" ? JSON.stringify(value, (_, one) => typeof one === "bigint" ? one.toString() : one) : String(value);
}

/* How a value stands in the table: no more digits than matter; the downloads have all. */
function shownText(value) {
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(6)));
  return plain(value);
}

async function start() {
  if (location.protocol === "file:") return say("The console needs a server: open the site by http, or use gwa site serve.");
  if (!globalThis.WebAssembly || !globalThis.Worker) return say("This browser has no WebAssembly: the console cannot run here.");
  const isTable = form.dataset.file.endsWith(".parquet");
  if (Number(form.dataset.bytes) > (isTable ? LARGEST_TABLE : LARGEST)) return say("This trace is too large for a browser: download it and use gwa sql.");
  const home = new URL(form.dataset.engine, location.href);
  const url = new URL(form.dataset.file, location.href).href;
  const there = await fetch(url, { method: "HEAD" });
  if (!there.ok) return say(`The file of the trace cannot be had: the server said ${there.status}.`);
  const worker = new Worker(new URL("duckdb-worker.js", home));
  const engine = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
  await engine.instantiate(new URL("duckdb-eh.wasm", home).href);
  await engine.open({ filesystem: { reliableHeadRequests: true, allowFullHTTPReads: true, forceFullHTTPReads: false } });
  connection = await engine.connect();
  // No site has DuckDB's extensions, and nothing may be asked of another one.
  await connection.query("set autoinstall_known_extensions = false");
  await connection.query("set autoload_known_extensions = false");
  // DuckDB's own gives times with a zone, of which nearly every function needs the extension for ICU.
  await connection.query("create temp macro to_timestamp(seconds) as make_timestamp((seconds * 1000000)::bigint)");
  if (isTable) await load(home, url);
  else await attach(engine, url);
  element("run").disabled = false;
  say("Ready.");
  if (linked() || form.dataset.start) run();
}

async function attach(engine, url) {
  await engine.registerFileURL(form.dataset.file, url, duckdb.DuckDBDataProtocol.HTTP, false);
  await connection.query(`attach '${form.dataset.file}' as trace (read_only)`);
  await connection.query("use trace");
}

/* Parquet becomes a table of DuckDB, which has no reader of it in browsers; views keep it as it was published. */
async function load(home, url) {
  say("Loading the trace …");
  const [parquet, file] = await Promise.all([import(new URL("parquet.js", home)), fetch(url)]);
  await parquet.default({ module_or_path: new URL("parquet.wasm", home) });
  const table = parquet.readParquet(new Uint8Array(await file.arrayBuffer()), { columns: form.dataset.columns.split(" ") });
  await connection.query("create schema published");
  await connection.insertArrowFromIPCStream(table.intoIPCStream(), { schema: "published", name: "jobs", create: true });
  await connection.query("create table published.header (position bigint, key varchar, value varchar)");
  const insert = await connection.prepare("insert into published.header values (?, ?, ?)");
  for (const [position, line] of JSON.parse(form.dataset.header).entries()) await insert.query(position, ...line);
  await insert.close();
  for (const name of ["jobs", "header"]) await connection.query(`create view ${name} as from published.${name}`);
}

/* The query that the address carries, as #q=…, or as the name of a ready question; nothing if there is none. */
function linked() {
  const place = location.hash.slice(1);
  const button = place && element(place);
  return button && button.dataset.query ? button.dataset.query : new URLSearchParams(place).get("q");
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

/* Mark the button of the question that is asked. */
function mark() {
  for (const button of form.querySelectorAll("[data-query]")) button.setAttribute("aria-pressed", button.dataset.query === element("query").value);
}

async function run() {
  mark();
  history.replaceState(null, "", link());
  element("run").disabled = true;
  say("Running …");
  const begin = performance.now();
  try {
    const table = await connection.query(element("query").value);
    const fields = table.schema.fields;
    const names = fields.map((field) => field.name);
    const vectors = fields.map((_, place) => table.getChildAt(place));
    const rows = Array.from({ length: table.numRows }, (_, row) => vectors.map((one, place) => converted(one.get(row), fields[place].type)));
    fail("");
    last = [names, rows];
    show(names, rows);
    const time = ((performance.now() - begin) / 1000).toFixed(2);
    say(`${rows.length} row${rows.length === 1 ? "" : "s"} in ${time} s${rows.length > MOST_ROWS ? `, the first ${MOST_ROWS} are shown; the downloads have all` : ""}.`);
  } catch (error) {
    const text = told(String(error.message || error));
    fail(text);
    say(`That failed: ${text.split("\n")[0]}`);
  }
  element("run").disabled = false;
  element("csv").disabled = element("json").disabled = !last;
}

function cell(tag, value, name) {
  const made = document.createElement(tag);
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const isMoment = isNumber && TIMES.test(name) && form.dataset.dated;
  made.textContent = isMoment ? moment(Number(value) * 1000).slice(0, 19) : shownText(value);
  if (isNumber) made.className = "number";
  if (isMoment || made.textContent !== plain(value)) made.title = plain(value);
  return made;
}

function line(tag, values, names) {
  const row = document.createElement("tr");
  row.append(...values.map((value, place) => cell(tag, value, names[place])));
  return row;
}

function show(names, rows) {
  const [head, body] = ["thead", "tbody"].map((tag) => document.createElement(tag));
  const heading = line("th", names, []);
  [...heading.cells].forEach((one, place) => { if (rows.length && ["number", "bigint"].includes(typeof rows[0][place])) one.className = "number"; });
  head.append(heading);
  body.append(...rows.slice(0, MOST_ROWS).map((row) => line("td", row, names)));
  element("result").replaceChildren(head, body);
  draw();
}

function draw() {
  if (!last) return;
  const total = Math.max(300, Math.min(900, element("plot").clientWidth));
  element("plot").replaceChildren(...plot(...last, total));
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

addEventListener("resize", draw);
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
  mark();
  if (connection) run();
});
if (linked()) element("query").value = linked();
start().catch((error) => say(`The console cannot start: ${String(error.message || error).split("\n")[0]}`));
