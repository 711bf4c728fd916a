// The page: what is selected, drawn, clicked and addressed.

explorer.page = (() => {
  const { view, place, binAt, busy, dayOf, hasCpu, hasGaps, hasGpu, hasStrip, hasWindow, isWhole, key, nothing, offered, readKey, step } = explorer;
  const { DAY } = draw;

  let frame = 0;

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

  const drawn = () => [hasStrip() && "strip", view.about.octaves && "waits", view.data.jobs.hour && "calendar"].filter(Boolean);

  function render() {
    performance.mark("gwa-filter");
    view.columns = explorer.calendar.columnsOf();
    const asked = { every: !hasWindow(), rows: view.state.rows, holders: explorer.numbers.holdersOf(), columnOf: view.columns.of, columns: view.columns.count };
    view.shown = cells.select(view.data, view.sizes, view.state, asked);
    view.whole ??= isWhole() ? view.shown : cells.select(view.data, view.sizes, nothing(), { every: !hasWindow(), rows: -1, holders: -1, columnOf: new Uint16Array(view.data.days.rows), columns: 1 });
    performance.measure("gwa-pass", "gwa-filter");
    const focus = document.activeElement?.dataset?.place;
    place("chips").innerHTML = explorer.lists.chips();
    place("kept").innerHTML = isWhole() ? "" : explorer.lists.chips("kept");
    place("numbers").innerHTML = explorer.numbers.ofJobs();
    if (hasGpu()) {
      place("gpus").innerHTML = explorer.numbers.ofGpus();
      place("holders").innerHTML = explorer.numbers.holders();
    }
    place("by").innerHTML = explorer.lists.switches("by", offered().map((unit) => [unit, view.words.units[unit]]), view.state.by);
    place("lists").innerHTML = view.about.choices.map(explorer.lists.list).join("") + explorer.lists.outcomes();
    explorer.lists.beside();
    place("weigh").innerHTML = explorer.lists.switches("weigh", hasCpu() ? ["cpu", "jobs"].map((weigh) => [weigh, view.words.weigh[weigh]]) : [], view.state.weigh);
    if (view.about.choices.length) place("rows").innerHTML = explorer.lists.switches("rows", view.about.choices.map((choice, k) => [k, choice.heading]), view.state.rows);
    document.documentElement.classList.toggle("is-selected", !isWhole());
    if (drawn().includes("strip")) paint("strip");
    chapters.show(isWhole() ? null : { ...view.state }, view.shown.jobs);
    explorer.names.mark();
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(below);
    const [from, to] = [place("from"), place("to")];
    from.value = key(view.state.from);
    to.value = view.about.is_relative ? String(dayOf(view.state.to)) : new Date((dayOf(view.state.to) - 1) * DAY * 1000).toISOString().slice(0, 10);
    if (focus) document.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    performance.measure("gwa-filter", "gwa-filter");
  }

  // What stands further down is drawn a frame later, so that a click answers at once.
  function below() {
    const focus = document.activeElement?.dataset?.place;
    for (const name of drawn()) if (name !== "strip") paint(name);
    if (view.about.choices.length) place("table").innerHTML = explorer.rows.written();
    if (focus) document.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  function paint(name, width = Math.max(280, place(name).clientWidth || 900)) {
    const plot = place(name);
    view.pictures[name] = explorer[name].drawn(width);
    plot.querySelector(".drawn").innerHTML = view.pictures[name].svg;
  }

  // --- Clicks --------------------------------------------------------------------------------------

  function clicked(event) {
    const button = event.target.closest("button, a");
    if (!button) return;
    const { pick: picked, drop, open, switch: switched, sort, save } = button.dataset;
    if (picked) pick(picked, Number(button.value));
    else if (drop === "all") go({ from: 0, to: view.data.days.rows, lists: {} });
    else if (drop === "period") go({ from: 0, to: view.data.days.rows });
    else if (drop) pick(drop.slice(0, drop.lastIndexOf("/")), Number(drop.slice(drop.lastIndexOf("/") + 1)));
    else if (open) { if (!view.opened.delete(open)) view.opened.add(open); render(); }
    else if (switched) go({ [switched]: switched === "rows" ? Number(button.value) : button.value });
    else if (sort) go({ up: view.state.sort === sort ? !view.state.up : false, sort }, { keep: true });
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
  function asked({ zoom = null, at }) {
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
    place("note").textContent = `${view.words.exact} ${hasCpu() ? hasWindow() ? view.words.ofKnownTime : view.words.lowerBound : ""}`;
    document.getElementById("explorer-still").hidden = true;
    box.hidden = false;
    const toDo = document.querySelector(".do-next"); // it stands below the first screen's lists
    if (toDo) place("lists").after(toDo);
    view.state = nothing();
    render();
    for (const name of ["strip", "waits", "calendar"]) place(name).closest("section").hidden = !drawn().includes(name);
    place("from").closest(".period-inputs").hidden = !hasStrip();
    place("rows").closest("section").hidden = !view.about.choices.length;
    explorer.lists.legend();
    place("gpus").closest("section").hidden = !hasGpu();
    if (location.hash.includes("=")) view.state = explorer.address.read(location.hash);
    render();
    below();
    asked(view.state);
    document.addEventListener("zoomed", () => addressed(true));
    drawn().forEach(explorer.pointing.begin);
    for (const block of document.querySelectorAll("main .block.table")) explorer.names.link(block);
    for (const where of [box, place("kept")]) where.addEventListener("click", clicked);
    document.getElementById("content").addEventListener("click", ({ target }) => { if (target.closest(".pick")) clicked({ target }); });
    for (const end of ["from", "to"]) place(end).addEventListener("change", dated);
    document.addEventListener("click", followed);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !isWhole() && !event.target.matches?.("input[type=search]")) go({ from: 0, to: view.data.days.rows, lists: {} });
    });
    window.addEventListener("hashchange", () => restored());
    window.addEventListener("popstate", () => restored());
    const paper = 660; // pixels of a page's width, on which letters are as large as they say
    window.addEventListener("beforeprint", () => drawn().forEach((name) => paint(name, Math.min(paper, place(name).clientWidth))));
    window.addEventListener("afterprint", () => drawn().forEach((name) => paint(name)));
    let width = place("strip").clientWidth;
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (width === (width = place("strip").clientWidth)) return;
      explorer.lists.beside();
      drawn().forEach((name) => paint(name));
    })).observe(place("strip"));
  }

  function restored() {
    const hash = location.hash.includes("=") ? location.hash : ""; // else it is a place on the page
    if (hash === explorer.address.written()) return;
    view.state = { ...explorer.address.read(hash), sort: view.state.sort, up: view.state.up };
    render();
    asked(view.state);
  }

  return { begin, go };
})();

document.addEventListener("DOMContentLoaded", explorer.page.begin);
