// The page: what is selected, drawn, clicked and addressed.

explorer.page = (() => {
  const { view, place, binAt, busy, dayOf, hasGaps, hasStrip, hasWindow, isWhole, key, nothing, offered, readKey, step } = explorer;
  const { DAY } = draw;

  function go(change, { keep = false } = {}) {
    view.notice = "";
    Object.assign(view.state, change);
    render();
    addressed(keep);
  }

  // The address says what is shown; it is a new one to go back from, unless that before is to *keep* its place.
  function addressed(keep) {
    const hash = explorer.address.written();
    if (hash === location.hash) return;
    const target = hash || location.pathname + location.search;
    if (keep) history.replaceState(null, "", target); else history.pushState(null, "", target);
  }

  function pick(name, code) {
    const set = new Set(view.state.lists[name]);
    if (!set.delete(code)) set.add(code);
    go({ lists: { ...view.state.lists, [name]: set } });
  }

  // --- Drawing -------------------------------------------------------------------------------------

  // What cells are added up for: the lists of the first screen.
  function asked(rows) {
    const sizes = explorer.lists.sizes();
    return { every: !hasWindow(), rows: [...new Set([rows, sizes])].filter((k) => view.about.choices[k]), holders: rows };
  }

  function render() {
    performance.mark("gwa-filter");
    view.shown = cells.select(view.data, view.sizes, view.state, asked(view.state.rows));
    view.whole ??= isWhole() ? view.shown : cells.select(view.data, view.sizes, nothing(), asked(-1));
    performance.measure("gwa-pass", "gwa-filter");
    const focus = document.activeElement?.dataset?.place;
    place("chips").innerHTML = explorer.lists.chips();
    place("kept").innerHTML = isWhole() ? "" : explorer.lists.chips("kept");
    explorer.budget.draws();
    explorer.waiting.draws();
    for (const jobs of document.querySelectorAll('.head [data-fact="trace.jobs"]')) Object.assign(jobs, { textContent: [view.shown, ...isWhole() ? [] : [view.whole]].map((made) => draw.number(made.jobs, 15)).join(" / ") }).dataset.value = view.shown.jobs;
    place("by").innerHTML = explorer.lists.switches("by", offered().map((unit) => [unit, view.words.units[unit]]), view.state.by);
    place("lists").innerHTML = explorer.lists.all();
    document.documentElement.classList.toggle("is-selected", !isWhole());
    if (hasStrip()) paint();
    chapters.show(isWhole() ? null : { ...view.state }, view.shown.jobs);
    explorer.names.mark();
    const [from, to] = [place("from"), place("to")];
    from.value = key(view.state.from);
    to.value = view.about.is_relative ? String(dayOf(view.state.to)) : new Date((dayOf(view.state.to) - 1) * DAY * 1000).toISOString().slice(0, 10);
    if (focus) document.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    performance.measure("gwa-filter", "gwa-filter");
  }

  // How wide the strip is; asked for only when that changes, as each time lays out the page again.
  let room = 0;

  function paint(width = Math.max(280, room ||= place("strip").clientWidth || 900)) {
    view.pictures.strip = explorer.strip.drawn(width);
    place("strip").querySelector(".drawn").innerHTML = view.pictures.strip.svg;
  }

  // --- Clicks --------------------------------------------------------------------------------------

  function clicked(event) {
    const button = event.target.closest("button, a");
    if (!button) return;
    const { pick: picked, drop, open, switch: switched, save, from, to } = button.dataset;
    if (picked) pick(picked, Number(button.value));
    else if (drop === "all") go({ from: 0, to: view.data.days.rows, lists: {} });
    else if (drop === "period") go({ from: 0, to: view.data.days.rows });
    else if (drop) pick(drop.slice(0, drop.lastIndexOf("/")), Number(drop.slice(drop.lastIndexOf("/") + 1)));
    else if (open) { if (!view.opened.delete(open)) view.opened.add(open); render(); }
    else if (switched) go({ [switched]: switched === "rows" ? Number(button.value) : button.value });
    else if (from) go(view.state.from === Number(from) && view.state.to === Number(to) ? { from: 0, to: view.data.days.rows } : { from: Number(from), to: Number(to) });
    else if (save) explorer.saving.saved(save);
    else if (button.id === "explorer-link") {
      navigator.clipboard?.writeText(location.href).then(() => { place("said").textContent = button.dataset.done; button.classList.add("is-done"); setTimeout(() => button.classList.remove("is-done"), 1500); }, () => {});
    }
  }

  function dated() {
    const from = readKey(place("from").value), to = readKey(place("to").value) + 1;
    if (Number.isFinite(from) && Number.isFinite(to) && binAt(from) < binAt(to)) go({ from: binAt(from), to: binAt(to) });
    else render();
  }

  // --- Beginning -----------------------------------------------------------------------------------

  // Links within the page lead to their place without losing the selection in the address.
  function followed(event) {
    const link = event.target.closest("a[href^=\"#\"]"), target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!target || !explorer.address.written()) return;
    event.preventDefault();
    if (link.matches(".anchor")) {
      view.state.at = target.id;
      addressed(true);
    }
    reached(target);
    target.focus?.({ preventScroll: true });
  }

  function reached(target) {
    const folded = target?.querySelector(":scope > details.folded");
    for (let outer = folded ?? target; outer; outer = outer.parentElement) if (outer.matches("details")) outer.open = true;
    target?.scrollIntoView();
  }

  // What an address asks for beside the selection: a part of time seen closer, and a place on the page.
  function reopened({ zoom = null, at }) {
    figures.zoom(zoom);
    reached(document.getElementById(at));
  }

  async function begin() {
    const held = document.getElementById("explorer-data");
    if (!held || !window.DecompressionStream) return;
    view.about = JSON.parse(document.getElementById("explorer-about").textContent);
    view.words = JSON.parse(document.getElementById("explorer-words").textContent);
    view.data = await cells.unpack(held.textContent, view.about.tables);
    view.sizes = view.about.choices.map((choice) => ({ key: choice.key, size: choice.names.length + 2 }));
    view.time = draw.time(view.about.is_relative ? null : "UTC", view.words);
    chapters.begin({
      about: view.about, words: view.words, data: view.data, sizes: view.sizes, dayOf, step, shown: () => view.shown,
      busy: () => hasWindow() ? [busy(view.shown, view.state.from, view.state.to), hasGaps(view.state.from, view.state.to)] : [null] });
    const box = document.getElementById("explorer");
    explorer.budget.begin();
    explorer.waiting.begin();
    box.hidden = place("bar").hidden = false;
    view.state = location.hash.includes("=") ? explorer.address.read(location.hash) : nothing();
    render();
    place("strip").closest("section").hidden = !hasStrip();
    place("from").closest(".period-inputs").hidden = !hasStrip();
    explorer.lists.legend();
    explorer.find.begin();
    reopened(view.state);
    document.addEventListener("zoomed", () => addressed(true));
    if (hasStrip()) explorer.pointing.begin("strip");
    for (const block of document.querySelectorAll("main .block.table")) explorer.names.link(block);
    for (const where of [box, place("bar"), place("kept"), document.getElementById("lead-months")]) where?.addEventListener("click", clicked);
    document.getElementById("content").addEventListener("click", ({ target }) => { if (target.closest(".pick")) clicked({ target }); });
    for (const end of ["from", "to"]) place(end).addEventListener("change", dated);
    document.addEventListener("click", followed);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !isWhole() && !event.target.matches?.("input[type=search]")) go({ from: 0, to: view.data.days.rows, lists: {} });
    });
    window.addEventListener("hashchange", () => restored());
    window.addEventListener("popstate", () => restored());
    const paper = 660; // pixels of a page's width, on which letters are as large as they say
    window.addEventListener("beforeprint", () => paint(Math.min(paper, place("strip").clientWidth)));
    window.addEventListener("afterprint", () => paint());
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (room !== (room = place("strip").clientWidth)) paint();
    })).observe(place("strip"));
  }

  function restored() {
    const hash = location.hash.includes("=") ? location.hash : ""; // else it is a place on the page
    if (hash === explorer.address.written()) return;
    view.state = explorer.address.read(hash);
    render();
    reopened(view.state);
  }

  return { begin, go, pick, reached };
})();

document.addEventListener("DOMContentLoaded", explorer.page.begin);
