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
  button.textContent = "Dark";
  button.setAttribute("aria-pressed", dark());
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    keep("gwa-theme", root.dataset.theme);
    button.setAttribute("aria-pressed", dark());
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

function filters() {
  const rows = [...document.querySelectorAll("#traces tbody tr:not(.group)")];
  const show = () => {
    const words = byId("filter").value.toLowerCase().split(/\s+/);
    const wanted = byId("records").value;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const has = !wanted || [...row.querySelectorAll(".mark")].some((mark) => mark.textContent === wanted);
      row.hidden = !(has && words.every((word) => text.includes(word)));
    }
    for (const body of byId("traces").querySelectorAll("tbody")) body.hidden = [...body.rows].every((row) => row.hidden || row.className === "group");
    byId("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} traces`;
  };
  byId("filters").hidden = false;
  byId("filter").addEventListener("input", show);
  byId("records").addEventListener("change", show);
  byId("filter").addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  const ticked = () => { byId("compare").disabled = !byId("traces").querySelector("[name=t]:checked"); };
  byId("traces").addEventListener("change", ticked);
  addEventListener("pageshow", ticked);
  show();
}

function compare(table) {
  const wanted = new URLSearchParams(location.search).getAll("t");
  const boxes = [...byId("choose").elements].filter((one) => one.name === "t");
  const heads = [...table.tHead.rows[0].cells];
  const show = () => {
    const ticked = boxes.filter((one) => one.checked).map((one) => one.value);
    heads.forEach((head, place) => {
      const gone = place > 0 && ticked.length > 0 && !ticked.includes(head.dataset.trace);
      for (const row of table.rows) row.cells[place].hidden = gone;
    });
    byId("chosen").textContent = `${ticked.length || "All"} of ${boxes.length} traces are shown.`;
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
if (byId("filters")) filters();
if (byId("comparison")) compare(byId("comparison"));
