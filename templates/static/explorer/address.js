// The selection in the address of the page, so that a link shows the same.

explorer.address = (() => {
  const { view, UNITS, binAt, everyCode, idOf, isCut, key, nothing, offered, readKey } = explorer;

  function written() {
    const parts = [];
    for (const choice of view.about.choices) {
      const set = view.state.lists[choice.key];
      if (set?.size) parts.push(`${choice.key}=${[...set].map((code) => encodeURIComponent(idOf(choice, code))).join(",")}`);
    }
    if (isCut()) parts.push(`from=${key(view.state.from)}`, `to=${key(view.state.to)}`);
    const usual = nothing();
    if (view.state.by !== usual.by) parts.push(`by=${view.state.by}`);
    if (view.state.rows !== usual.rows) parts.push(`rows=${view.about.choices[view.state.rows].key}`);
    const close = figures.zoomed(); // seconds of the log's time
    if (close) parts.push(`zoom=${close.map(Math.round).join("..")}`);
    if (view.state.at && parts.length) parts.push(`at=${encodeURIComponent(view.state.at)}`);
    return parts.length ? `#${parts.join("&")}` : "";
  }

  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

  function read(hash) {
    const next = nothing(), lost = [];
    const parts = hash.replace(/^#/, "").split("&").map((part) => part.split(/=(.*)/s));
    for (const [name, value = ""] of parts) {
      const choice = view.about.choices.find((one) => one.key === name);
      if (choice) {
        const codes = value.split(",").filter(Boolean).map(decoded).map((id) => {
          const code = everyCode(choice).find((one) => idOf(choice, one) === id);
          if (code === undefined) lost.push(`${choice.heading} ${id}`);
          return code;
        });
        next.lists[name] = new Set(codes.filter((code) => code !== undefined));
      } else if (name === "from" || name === "to") {
        const day = readKey(value);
        if (Number.isFinite(day)) next[name] = binAt(day); else lost.push(`${name} ${value}`);
      } else if (name === "by" && UNITS.includes(value) && offered().includes(value)) next.by = value;
      else if (name === "rows") next.rows = Math.max(0, view.about.choices.findIndex((one) => one.key === value));
      else if (name === "at") next.at = decoded(value);
      else if (name === "zoom" && /^-?\d+\.\.-?\d+$/.test(value)) next.zoom = value.split("..").map(Number);
      else if (name && value) lost.push(`${decoded(name)} ${decoded(value)}`);
    }
    if (next.to <= next.from) {
      lost.push(view.words.period);
      Object.assign(next, { from: 0, to: view.data.days.rows });
    }
    view.notice = lost.length ? `${view.words.lost} ${lost.join(", ")}` : "";
    return next;
  }

  return { written, read };
})();
