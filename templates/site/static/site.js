/* What the pages of an archive can do beyond being read: theme, sorting, filtering, comparing. */
"use strict";

const byId = (id) => document.getElementById(id);

function keep(name, value) {
  try { value === undefined ? 0 : localStorage.setItem(name, value); return localStorage.getItem(name); } catch { return null; }
}

function theme() {
  const root = document.documentElement;
  const kept = keep("gwa-theme");
  if (kept) root.dataset.theme = kept;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "theme";
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; }; // what a click leads to
  name();
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    keep("gwa-theme", root.dataset.theme);
    name();
  });
  document.querySelector(".top").append(button);
}

function valueOf(cell) {
  return cell.dataset.value ? Number(cell.dataset.value) : null;
}

function sort(table, place, heading) {
  const numbers = heading.classList.contains("number");
  const before = heading.getAttribute("aria-sort");
  const down = before ? before === "ascending" : numbers;
  for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const compare = (a, b) => {
    if (!numbers) return a.cells[place].textContent.localeCompare(b.cells[place].textContent, "en");
    const [x, y] = [valueOf(a.cells[place]), valueOf(b.cells[place])];
    if (x === null || y === null) return (x === null) - (y === null) || 0;
    return x - y;
  };
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => row.className !== "group");
    const known = rows.filter((row) => !numbers || valueOf(row.cells[place]) !== null).sort((a, b) => (down ? -1 : 1) * compare(a, b));
    body.append(...known, ...rows.filter((row) => !known.includes(row)));
  }
}

function sortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, place) => {
    if (heading.tagName !== "TH") return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sort(table, place, heading));
  });
}

/* A field above a table that leaves the rows with all its words; the table says which words there are. */
function filterable(table) {
  const label = document.createElement("label");
  const field = document.createElement("input");
  const shown = document.createElement("p");
  const rows = [...table.tBodies[0].rows];
  field.type = "search";
  field.autocomplete = "off";
  field.placeholder = table.dataset.filter;
  label.append("Filter ", field);
  shown.setAttribute("role", "status");
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  field.addEventListener("input", show);
  const tools = document.createElement("div");
  tools.className = "tools filter";
  tools.append(label, shown);
  table.closest(".scroll").before(tools);
  show();
}

/* The front page: what is wanted filters table and map alike, and stands in the address, as does the open card. */
function front(form) {
  const rows = [...document.querySelectorAll("#traces tr[data-trace]")];
  const dots = [...document.querySelectorAll(".map a[data-trace]")];
  const cards = new Map([...document.querySelectorAll("[data-card]")].map((card) => [card.dataset.card, card]));
  const asked = new URLSearchParams(location.search);
  let open = cards.has(asked.get("trace")) ? asked.get("trace") : "";
  let opener = null;

  const address = () => {
    const said = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    if (open) said.set("trace", open);
    history.replaceState(null, "", `${said.size ? `?${said}` : location.pathname}${location.hash}`);
  };
  const show = () => {
    const data = new FormData(form);
    const [wanted, words, synthetic] = [data.get("for"), (data.get("q") || "").toLowerCase().split(/\s+/), data.get("synthetic")];
    const fits = (row) => (!wanted || row.dataset.for.split(" ").includes(wanted))
      && (row.dataset.kind !== "synthetic" || synthetic || only)
      && words.every((word) => row.textContent.toLowerCase().includes(word));
    for (const row of rows) row.hidden = !fits(row);
    const left = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.trace));
    for (const dot of dots) dot.classList.toggle("gone", !left.has(dot.dataset.trace));
    for (const dot of dots) dot.tabIndex = left.has(dot.dataset.trace) ? 0 : -1;
    for (const tick of document.querySelectorAll(".map .undated")) tick.classList.toggle("gone", !dots.some((dot) => "undated" in dot.dataset && left.has(dot.dataset.trace)));
    for (const body of byId("traces").querySelectorAll("tbody")) body.hidden = ![...body.rows].some((row) => row.dataset.trace && !row.hidden);
    byId("shown").textContent = `${left.size} of ${rows.length} trace${rows.length === 1 ? "" : "s"}`;
    address();
  };
  const turn = (id, from) => {
    open = id;
    opener = from || opener;
    for (const [name, card] of cards) card.hidden = name !== id;
    for (const one of [...dots, ...rows]) one.classList.toggle("chosen", one.dataset.trace === id);
    address();
    if (id && from) cards.get(id).querySelector("h2").focus({ preventScroll: true });
    if (id && from) cards.get(id).scrollIntoView({ block: "nearest" });
    if (!id && opener) opener.focus({ preventScroll: true });
  };
  // Where a model made all traces, none of them is hidden.
  const only = rows.every((row) => row.dataset.kind === "synthetic");

  form.hidden = false;
  for (const radio of form.querySelectorAll("[name=for]")) radio.checked = radio.value === (asked.get("for") || "");
  byId("filter").value = asked.get("q") || "";
  const box = form.querySelector("[name=synthetic]");
  if (box) box.checked = asked.has("synthetic");
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const dot of dots) {
    const point = () => { byId("hovered").textContent = dot.getAttribute("aria-label"); };
    dot.addEventListener("pointerenter", point);
    dot.addEventListener("focus", point);
    dot.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      turn(dot.dataset.trace, dot);
    });
  }
  byId("traces").addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-trace]");
    if (row && cards.has(row.dataset.trace) && !event.target.closest("a, input, button")) turn(row.dataset.trace, row.querySelector("th a"));
  });
  byId("cards").addEventListener("click", (event) => { if (event.target.closest(".close")) turn(""); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && open) turn(""); });
  byId("compare").hidden = rows.every((row) => row.dataset.kind === "fetch");
  const ticked = () => { byId("compare").disabled = !byId("traces").querySelector("[name=t]:checked"); };
  byId("traces").addEventListener("change", ticked);
  addEventListener("pageshow", ticked);
  show();
  if (open) turn(open);
}

/* How far values are apart, as gwa.archive.pages.apart writes it for all traces. */
function apart(values, unit) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (values.length < 2) return "";
  if (low === high) return "the same";
  const digits = unit === "fraction" ? { maximumFractionDigits: 1 } : { maximumSignificantDigits: 3 };
  const text = (unit === "fraction" ? (high - low) * 100 : high / low).toLocaleString("en", digits);
  if (unit !== "fraction" && low <= 0) return "from 0";
  if (text === (unit === "fraction" ? "0" : "1")) return "nearly the same";
  return unit === "fraction" ? `${text} points` : `×${text}`;
}

/* What the shown traces differ in: bars of the largest of them, and how far apart they are; returns label, words, ratio. */
function difference(table) {
  const rows = [...table.querySelectorAll("tr[data-trace]:not([hidden])")].map((row) => [valueOf(row.cells[2]), row.querySelector("rect")]);
  const values = rows.map(([value]) => value).filter((value) => value !== null);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  for (const [value, bar] of rows) if (bar) bar.setAttribute("width", high > 0 ? Math.max(value, 0) / high * 100 : 0);
  const said = apart(values, table.dataset.unit);
  const words = said === "the same" && values.length < rows.length ? `${said} where known` : said;
  table.querySelector(".apart").textContent = words;
  return { label: table.querySelector(".of").textContent, words, ratio: words.startsWith("×") ? high / low : 0 };
}

function compare(facts) {
  const wanted = new URLSearchParams(location.search).getAll("t");
  const boxes = [...byId("choose").elements].filter((one) => one.name === "t");
  const show = () => {
    const ticked = boxes.filter((one) => one.checked).map((one) => one.value);
    for (const row of facts.querySelectorAll("tr[data-trace]")) row.hidden = ticked.length > 0 && !ticked.includes(row.dataset.trace);
    const furthest = [...facts.querySelectorAll(".fact")].map(difference).filter((one) => one.ratio).sort((a, b) => b.ratio - a.ratio).slice(0, 3);
    byId("furthest").textContent = furthest.length ? `Furthest apart: ${furthest.map((one) => `${one.label} ${one.words}`).join(", ")}.` : "";
    byId("chosen").textContent = `${ticked.length ? `${ticked.length} of` : "All"} ${boxes.length} traces are shown.`;
    history.replaceState(null, "", `?${new URLSearchParams(ticked.map((one) => ["t", one]))}${location.hash}`);
  };
  for (const box of boxes) box.checked = wanted.includes(box.value);
  byId("choose").hidden = false;
  byId("choose").addEventListener("change", show);
  show();
}

function searchKey() {
  document.addEventListener("keydown", (event) => {
    const writing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    document.querySelector(".find input").focus();
  });
}

theme();
searchKey();
document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("table[data-filter]").forEach(filterable);
if (byId("wish")) front(byId("wish"));
if (byId("choose")) compare(byId("comparison"));
