// Find anybody: users, projects, queues and other classes by a part of their name, and sections of the page.

explorer.find = (() => {
  const { view, place, html, labelOf } = explorer;
  const MOST = 8; // of each list
  let found = [], at = 0;

  const plain = (text) => text.trim().toLowerCase();

  // What begins with the words stands before what has them within.
  function hits(words) {
    const near = (name) => plain(name) === words ? 0 : plain(name).startsWith(words) ? 1 : 2;
    const of = (rows) => rows.filter(({ name }) => plain(name).includes(words)).sort((a, b) => near(a.name) - near(b.name)).slice(0, MOST);
    const classes = view.about.choices.flatMap((choice) => of([...choice.names.keys()].map((code) => ({ choice, code, name: labelOf(choice, code), kind: choice.heading }))));
    const sections = of([...document.querySelectorAll("main h2[id], main h3[id]")].map((title) => ({ id: title.closest("section")?.id, name: title.textContent.trim(), kind: view.words.section })).filter(({ id, name }) => id && name));
    return [...classes, ...sections].sort((a, b) => near(a.name) - near(b.name));
  }

  function show() {
    const box = place("find"), list = place("hits"), words = plain(box.value);
    found = words ? hits(words) : [];
    at = Math.min(at, Math.max(0, found.length - 1));
    list.hidden = !words;
    box.setAttribute("aria-expanded", String(Boolean(words)));
    list.innerHTML = found.map(({ name, kind }, n) => `<button type="button" role="option" id="explorer-hit-${n}" aria-selected="${n === at}" tabindex="-1" data-hit="${n}"><bdi>${html(name)}</bdi> <small>${html(kind)}</small></button>`).join("")
      || `<p class="hint">${html(view.words.noHit.replace("{name}", box.value.trim()))}</p>`;
    if (found.length) box.setAttribute("aria-activedescendant", `explorer-hit-${at}`); else box.removeAttribute("aria-activedescendant");
  }

  function choose(hit) {
    place("find").value = "";
    show();
    if (!hit) return;
    if (hit.choice) explorer.page.pick(hit.choice.key, hit.code);
    else explorer.page.reached(document.getElementById(hit.id));
  }

  function keyed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at = (at + step + found.length) % (found.length || 1);
    else if (event.key === "Enter") choose(found[at]);
    else if (event.key === "Escape") { event.stopPropagation(); choose(null); place("find").blur(); }
    else return;
    event.preventDefault();
    if (step) show();
  }

  function begin() {
    const box = place("find");
    box.addEventListener("input", () => { at = 0; show(); });
    box.addEventListener("keydown", keyed);
    box.addEventListener("blur", () => { place("hits").hidden = true; });
    place("hits").addEventListener("mousedown", (event) => event.preventDefault()); // a click there leaves the focus where it is
    place("hits").addEventListener("click", ({ target }) => { const hit = target.closest("[data-hit]"); if (hit) choose(found[hit.dataset.hit]); });
  }

  return { begin };
})();
