/* The search: pages and sections of reports that have all words; those with them in the title come first. */
"use strict";

const MOST_RESULTS = 60;

/* "Waiting" finds waits: the end of a word that English changes does not count. */
function stem(word) {
  return word.length > 4 ? word.replace(/(ing|ies|ed|es|s|e|y)$/, "") : word;
}

function entries({ pages, reports, helps }) {
  const sections = reports.flatMap(([folder, trace, found]) => found.map(([id, title, text]) => ({
    url: `${folder}/report.html#${id}`, title, trace, text, more: helps[id] || "", weight: 1,
  })));
  return [...pages.map(([url, title, text]) => ({ url, title, trace: "", text, more: "", weight: 2 })), ...sections];
}

function count(text, words) {
  return words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
}

function search(all, asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean).map(stem);
  return all
    .map((one) => ({ ...one, all: `${one.title} ${one.trace} ${one.text} ${one.more}`.toLowerCase(), words }))
    .filter((one) => words.length && words.every((word) => one.all.includes(word)))
    .map((one) => ({ ...one, worth: 10 * one.weight * count(one.title.toLowerCase(), words) + count(one.all, words) }))
    .sort((a, b) => b.worth - a.worth || a.title.localeCompare(b.title, "en") || a.trace.localeCompare(b.trace, "en"));
}

function around(text, word) {
  const begin = text.lastIndexOf(" ", Math.max(0, text.toLowerCase().indexOf(word) - 60)) + 1;
  const end = begin + 180 < text.length ? text.lastIndexOf(" ", begin + 180) : text.length;
  return `${begin ? "… " : ""}${text.slice(begin, end < begin ? begin + 180 : end)}${end < text.length ? " …" : ""}`;
}

function item(one) {
  const row = document.createElement("li");
  const link = document.createElement("a");
  const words = document.createElement("p");
  link.href = one.url;
  link.textContent = one.trace ? `${one.title}: ${one.trace}` : one.title;
  const has = (text) => one.words.some((word) => text.toLowerCase().includes(word));
  const shown = has(one.text) || !has(one.more) ? one.text : one.more;
  words.textContent = around(shown, one.words.find((word) => shown.toLowerCase().includes(word)) || "");
  row.append(link, words);
  return row;
}

const all = entries(globalThis.gwaIndex || { pages: [], reports: [], helps: {} });
const status = document.getElementById("found");
const results = document.getElementById("results");
const box = document.querySelector(".find input");

function show(asked) {
  const found = search(all, asked);
  const shown = found.length > MOST_RESULTS ? `, the first ${MOST_RESULTS} are shown` : "";
  status.textContent = !asked.trim() ? "" : found.length ? `${found.length} ${status.dataset.some}${shown}.` : status.dataset.none;
  results.replaceChildren(...found.slice(0, MOST_RESULTS).map(item));
}

function move(event) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const stops = [box, ...results.querySelectorAll("a")];
  const place = stops.indexOf(document.activeElement);
  if (place < 0) return;
  event.preventDefault();
  stops[Math.min(Math.max(place + (event.key === "ArrowDown" ? 1 : -1), 0), stops.length - 1)].focus();
}

box.value = new URLSearchParams(location.search).get("q") || "";
show(box.value);
box.addEventListener("input", () => {
  show(box.value);
  history.replaceState(null, "", `?${new URLSearchParams({ q: box.value })}`);
});
document.addEventListener("keydown", move);
