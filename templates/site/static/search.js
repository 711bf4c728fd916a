/* The search: pages that have all words, those with them in the title first. */
"use strict";

function places(text, words) {
  return words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
}

function search(asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  return (globalThis.gwaIndex || [])
    .map(([url, title, text]) => ({ url, title, text, all: `${title} ${text}`.toLowerCase() }))
    .filter((page) => words.length && words.every((word) => page.all.includes(word)))
    .map((page) => ({ ...page, worth: 10 * places(page.title.toLowerCase(), words) + places(page.all, words) }))
    .sort((a, b) => b.worth - a.worth || a.title.localeCompare(b.title, "en"));
}

function around(text, word) {
  const begin = text.lastIndexOf(" ", Math.max(0, text.toLowerCase().indexOf(word.toLowerCase()) - 60)) + 1;
  const end = begin + 180 < text.length ? text.lastIndexOf(" ", begin + 180) : text.length;
  return `${begin ? "… " : ""}${text.slice(begin, end < begin ? begin + 180 : end)}${end < text.length ? " …" : ""}`;
}

const asked = new URLSearchParams(location.search).get("q") || "";
document.querySelector(".find input").value = asked;
const found = search(asked);
const status = document.getElementById("found");
status.textContent = !asked ? "" : found.length ? `${found.length} ${status.dataset.some}` : status.dataset.none;
document.getElementById("results").append(...found.slice(0, 50).map((page) => {
  const item = document.createElement("li");
  const link = document.createElement("a");
  const words = document.createElement("p");
  link.href = page.url;
  link.textContent = page.title;
  words.textContent = around(page.text, asked.trim().split(/\s+/)[0]);
  item.append(link, words);
  return item;
}));
