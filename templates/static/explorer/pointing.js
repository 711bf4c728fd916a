// Reading pictures by pointing and by arrow keys; in the strip, dragging and Shift choose the days between.

explorer.pointing = (() => {
  const { view, place, html } = explorer;

  function tip(name, at, y) {
    const reading = view.pictures[name].reading(at, y), box = place("tip"), plot = place(name);
    box.innerHTML = `<strong>${html(reading.title)}</strong>${reading.rows.map(([label, value, look]) => `<span>${look ? `<i style="background:${look}"></i>` : ""}${html(label)} <data>${value}</data></span>`).join("")}`;
    box.hidden = false;
    plot.append(box);
    const left = Math.min(Math.max(0, reading.x + 12), plot.clientWidth - box.offsetWidth);
    box.style.transform = `translate(${reading.x + 12 > left ? Math.max(0, reading.x - box.offsetWidth - 12) : left}px, ${view.pictures[name].top}px)`;
    const cursor = plot.querySelector(".cursor");
    cursor.style.cssText = `left:${reading.x}px;top:${view.pictures[name].top}px;height:${view.pictures[name].bottom - view.pictures[name].top}px`;
    cursor.hidden = false;
    place("said").textContent = `${reading.title}: ${reading.rows.map(([label, value]) => `${label} ${value}`).join(", ")}`;
  }

  function quiet(name) {
    place("tip").hidden = true;
    place(name).querySelector(".cursor").hidden = true;
  }

  function begin(name) {
    const plot = place(name), local = (event) => [event.clientX - plot.getBoundingClientRect().left, event.clientY - plot.getBoundingClientRect().top];
    let begun = null;
    plot.addEventListener("pointermove", (event) => {
      const [at, y] = local(event), { x } = view.pictures[name];
      if (begun !== null && Math.abs(at - begun.at) > 4) {
        const [from, to] = [begun.at, at].sort((a, b) => a - b).map((one) => explorer.strip.edgeAt(view.pictures.strip.x, one));
        if (to > from) explorer.page.go({ from, to }, { keep: begun.kept });
        begun.kept = true;
      }
      if (at >= x.range[0] && at <= x.range[1]) tip(name, at, y); else quiet(name);
    });
    plot.addEventListener("pointerleave", () => quiet(name));
    if (name !== "strip") return keys(name);
    plot.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      begun = { at: local(event)[0], kept: false };
      if (event.pointerType !== "touch") plot.setPointerCapture(event.pointerId);
    });
    for (const end of ["pointerup", "pointercancel"]) plot.addEventListener(end, () => { begun = null; });
    plot.addEventListener("dblclick", () => explorer.page.go({ from: 0, to: view.data.days.rows }));
    keys(name);
  }

  // Arrow keys move what is read; in the strip with Shift they choose the days between.
  function keys(name) {
    const plot = place(name);
    let at = null, anchor = null;
    plot.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity }[event.key];
      if (steps === undefined) return;
      event.preventDefault();
      const [low, high] = view.pictures[name].x.range;
      at = Math.min(high - 0.01, Math.max(low, (at ?? low) + steps * Math.max(1.6, (high - low) / (name === "strip" ? view.data.days.rows : 60))));
      if (name === "strip" && event.shiftKey) {
        const bin = explorer.strip.binOf(view.pictures.strip.x, at);
        anchor ??= bin;
        explorer.page.go({ from: Math.min(anchor, bin), to: Math.max(anchor, bin) + 1 }, { keep: true });
      } else anchor = null;
      tip(name, at);
    });
    plot.addEventListener("blur", () => quiet(name));
  }

  return { begin };
})();
