// A field that searches the lists of formats. Without it they are lists.
"use strict";

const searchable = (box) => [...box.querySelectorAll("tbody tr, li")];

const show = (items, words) => {
  const found = items.filter((item) => {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
    return !item.hidden;
  });
  return found.length;
};

for (const box of document.querySelectorAll(".formats")) {
  const items = searchable(box);
  const field = Object.assign(document.createElement("input"), {
    type: "search",
    placeholder: "Slurm, .csv, Kubernetes …",
    autocomplete: "off",
  });
  const label = document.createElement("label");
  label.append("Search formats ", field);
  const count = document.createElement("output");
  box.before(label, count);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = show(items, words);
    count.textContent = words.length === 0 ? "" : found ? `${found} of ${items.length}` : "None; any table with one row per job is read, too.";
  });
}
