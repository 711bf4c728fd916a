// What the page does, but for its figures, which have files of their own: theme, contents that follow, folding, search, tables that sort and export.
// Without this script the report is whole; it stands in the head so that the theme is set first.
"use strict";

const root = document.documentElement;

function remembered(theme) {
  try {
    if (theme) localStorage.setItem("gwa-theme", theme);
    return localStorage.getItem("gwa-theme");
  } catch {
    return null; // a page opened from a file may have no memory
  }
}

if (remembered()) root.dataset.theme = remembered();

function made(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

// --- Theme, search -----------------------------------------------------------------------------

function pageTools() {
  const tools = made("tools-page");
  document.querySelector(".contents").prepend(tools);
  const head = made("tools-head"), button = head.querySelector(".theme");
  document.querySelector(".head").prepend(head);
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const names = [button.textContent, button.dataset.light];
  const name = () => { button.textContent = names[Number(dark())]; }; // what a click leads to
  name();
  button.addEventListener("click", () => {
    root.dataset.theme = remembered(dark() ? "light" : "dark") || (dark() ? "light" : "dark");
    name();
  });
  const box = tools.querySelector("input");
  head.querySelector(".to-search").addEventListener("click", () => box.focus());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, textarea, select")) return;
    event.preventDefault();
    const first = document.getElementById("explorer-find"); // it finds sections, too
    (first?.offsetParent ? first : box).focus();
  });
  box.addEventListener("input", () => search(plain(box.value), tools.querySelector(".found")));
}

// Text as it is searched: in small letters, with one kind of space.
function plain(text) {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

const searched = new WeakMap(); // the words of each part, once it was searched

function wordsOf(part) {
  if (!searched.has(part)) searched.set(part, seen(part));
  return searched.get(part);
}

// What a reader sees of a part of the page; the data of its figures are no words.
function seen(part) {
  const copy = part.cloneNode(true);
  for (const data of copy.querySelectorAll("script, noscript")) data.remove();
  return plain(copy.textContent);
}

function search(words, found) {
  let shown = 0;
  for (const section of document.querySelectorAll("main .section")) {
    const hit = wordsOf(section).includes(words);
    section.hidden = !hit;
    shown += hit;
  }
  for (const chapter of document.querySelectorAll("main > .chapter")) {
    const sections = chapter.querySelector(".section");
    const hit = Boolean(sections ? chapter.querySelector(".section:not([hidden])") : wordsOf(chapter).includes(words));
    shown += hit && !sections;
    chapter.hidden = !hit;
    document.querySelector(`.contents a[href="#${CSS.escape(chapter.id)}"]`).parentElement.hidden = !hit;
    const folded = chapter.querySelector(".folded");
    if (folded && words && hit) folded.open = true;
  }
  found.textContent = !shown ? found.dataset.none : words ? found.dataset.some.replace("{n}", shown) : "";
  highlight(words);
}

// Marks where the words stand, and opens what they are folded in.
function highlight(words) {
  const ranges = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (words && ranges.length < 1000 && walker.nextNode()) {
    const node = walker.currentNode, text = node.data.toLowerCase();
    if (!text.includes(words) || node.parentElement.closest("script, noscript")) continue;
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + words.length, node.length));
      ranges.push(range);
    }
    const rest = node.parentElement.closest("details.rest");
    if (rest) rest.open = true;
    node.parentElement.closest(".begun")?.querySelector(".all-rows").click();
  }
  if (window.Highlight) CSS.highlights.set("found", new Highlight(...ranges));
}

// --- Contents, and what is folded ----------------------------------------------------------------------

function follow() {
  const contents = document.querySelector(".contents details");
  contents.open = matchMedia("(min-width: 64rem)").matches;
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...document.querySelectorAll("main > .chapter")];
  let current = null;
  const mark = () => {
    const line = innerHeight / 3;
    const ended = innerHeight + scrollY >= root.scrollHeight - 2;
    const passed = sections.filter((section) => !section.hidden && section.getBoundingClientRect().top < line);
    // At the end of the page a chapter that was asked for may be too near to it to stand at the top.
    const asked = sections.find((section) => `#${section.id}` === location.hash && section.getBoundingClientRect().top > 0);
    const here = ended ? asked ?? sections.at(-1) : passed.at(-1);
    if (here === current) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    if (here) links.get(here.id).setAttribute("aria-current", "true");
    current = here;
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
  document.querySelector(".chapters").addEventListener("click", (event) => {
    if (event.target.closest("a") && !matchMedia("(min-width: 64rem)").matches) contents.open = false;
  });
}

// What an address points to is shown, and all that it is folded in.
function unfold() {
  let named = location.hash.slice(1);
  try { named = decodeURIComponent(named); } catch { /* what is no encoded text is a name as it is */ }
  const target = named && document.getElementById(named);
  if (!target) return;
  for (let outer = target; outer; outer = outer.parentElement) if (outer.matches("details")) outer.open = true;
  const folded = target.querySelector(":scope > details.folded");
  if (folded) folded.open = true; // a chapter that is folded as a whole
  target.scrollIntoView();
}

function unfolding() {
  // A section that is opened takes the whole width.
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches(".rest")) target.closest(".section")?.classList.toggle("open", target.open);
  }, { capture: true });
  addEventListener("hashchange", unfold);
  unfold();
  const button = document.querySelector(".unfold");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    for (const rest of document.querySelectorAll("main details.rest, main details.folded")) rest.open = open;
    for (const rows of document.querySelectorAll(`.all-rows[aria-pressed="${!open}"]`)) rows.click();
    button.setAttribute("aria-pressed", open);
  });
}

// --- Tables ------------------------------------------------------------------------------------

// The exact value of a cell: a number, null or a list from its attribute, else the text it shows.
function exact(cell) {
  return "value" in cell.dataset ? JSON.parse(cell.dataset.value) : cell.textContent;
}

// A spreadsheet runs text that begins like a formula; an apostrophe before it makes it text again.
function safe(value) {
  const text = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return typeof value !== "number" && /^[\s]*[=+\-@\t\r\n|%]/.test(text) ? `'${text}` : text;
}

function csv(lines) {
  const field = (value) => /[",\r\n]/.test(safe(value)) ? `"${safe(value).replaceAll('"', '""')}"` : safe(value);
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

function tsv(lines) {
  return lines.map((line) => line.map((value) => safe(value).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n");
}

function json(lines) {
  const [keys, ...rows] = lines;
  return `${JSON.stringify(rows.map((row) => Object.fromEntries(row.map((value, n) => [keys[n], value]))), null, 1)}\n`;
}

function linesOf(table) {
  const keys = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.key);
  return [keys, ...[...table.tBodies[0].rows].map((row) => [...row.cells].map(exact))];
}

function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const before = button.textContent;
  if (before === button.dataset.done) return;
  button.textContent = button.dataset.done;
  setTimeout(() => { button.textContent = before; }, 1500);
}

function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}

function sorting(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.classList.contains("number")
        ? head.ariaSort !== "descending" : head.ariaSort === "ascending";
      for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const known = (row) => exact(row.cells[column]);
      const rows = [...table.tBodies[0].rows].sort((one, other) => {
        const [a, b] = [known(one), known(other)];
        return a === null || b === null ? compare(a, b) : falling ? compare(b, a) : compare(a, b);
      });
      table.tBodies[0].append(...rows);
    });
  });
}

function tableTools(block) {
  const table = block.querySelector("table");
  const name = block.dataset.name.replace(/[^\w.-]+/g, "_");
  const tools = made("tools-table");
  tools.addEventListener("click", (event) => {
    const kind = event.target.dataset.export;
    if (kind === "copy") copy(tsv(linesOf(table)), event.target);
    if (kind === "csv") download(`${name}.csv`, "text/csv", csv(linesOf(table)));
    if (kind === "json") download(`${name}.json`, "application/json", json(linesOf(table)));
  });
  block.querySelector(".table-head").append(tools);
  sorting(table);
  if (table.tBodies[0].rows.length > SHORT + 1 && !block.closest(".rest, .on-top") && document.getElementById("explorer")) shortened(block, tools);
}

const SHORT = 5; // rows of a table in view, as report.css has it

// The first rows are in view, and all once somebody asks; a table that was opened is whole.
function shortened(block, tools) {
  const button = made("tools-rows");
  block.classList.add("begun");
  button.addEventListener("click", () => {
    block.classList.toggle("begun");
    button.setAttribute("aria-pressed", !block.classList.contains("begun"));
  });
  tools.prepend(button);
}

// --- The page ---------------------------------------------------------------------------------------

// What scrolls must be reachable by keyboard.
function reachable() {
  for (const box of document.querySelectorAll(".facts dd, h1, .subtitle")) {
    const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight + 1;
    if (scrolls && getComputedStyle(box).overflowY !== "visible") box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  pageTools();
  document.querySelectorAll(".block.table").forEach(tableTools);
  follow();
  unfolding();
  reachable();
  addEventListener("resize", reachable, { passive: true });
  document.addEventListener("toggle", reachable, { capture: true }); // a list that was opened
});
