// What was true while the selected jobs waited: a bar of conditions, what it is of, and a sentence.

explorer.waiting = (() => {
  const { view, html, isWhole } = explorer;
  const SEEN = 0.0005, CAPTIONED = 0.005; // a condition that holds less is not shown, or has no caption
  const SMALLEST = 0.001, WORTH_SAYING = 0.05; // a share that is "at most" is no smaller; of room it is said from there on
  const OF_ROOM = new Set(["ceiling", "unused", "larger", "cycle", "open"]);
  const BOUNDS = { full_at_least: "≥", room_at_least: "≤" };
  const PLACES = ["bar", "captions", "said"];
  const at = (name) => document.getElementById(`waiting-${name}`);
  const written = {}; // what the page has of all jobs

  const phrase = (name, values = {}) => view.about.sentences[`waiting_${name}`][0].replace(/{(\w+)}/g, (_, place) => values[place]);

  // The share of each condition; null where the moments are too few.
  function shares(moments) {
    const all = moments.reduce((sum, n) => sum + n, 0);
    return all < view.about.waiting.least ? null : Object.fromEntries(view.about.waiting.names.map(([name], code) => [name, moments[code] / all]));
  }

  // The conditions as shown: those that the log cannot tell apart are one.
  function shown(found) {
    const { knows_room: knowsRoom, is_bound: bound } = view.about.waiting;
    if (knowsRoom) return found;
    const isUntold = ([name]) => OF_ROOM.has(name) || name === "unknown" || name === "outage" && bound === "full_at_least";
    const unknown = Object.entries(found).filter(isUntold).reduce((sum, [, share]) => sum + share, 0);
    return Object.fromEntries(Object.entries(found).flatMap(([name, share]) => name === "unknown" ? [[name, unknown]] : isUntold([name]) ? [] : [[name, share]]));
  }

  function said(found) {
    const { is_bound: bound, are_overlapping: overlapping, knows_holds: holds, values } = view.about.waiting;
    if (!found) return phrase("too_little");
    if (bound === "full_at_least") return phrase("missing", values);
    const room = found.open + found.ceiling, most = found.unused + found.larger + found.cycle + found.unknown;
    const first = overlapping ? phrase("overlapping")
      : bound === "room_at_least" ? phrase("full_at_most", { share: draw.percent(found.full), ...values })
      : holds && room >= WORTH_SAYING ? phrase("room", { share: draw.percent(room) })
      : phrase("priority", { share: draw.percent(Math.max(most, SMALLEST)) });
    return holds ? first : `${first} ${phrase("holds_unknown")}`;
  }

  function begin() {
    for (const name of PLACES) written[name] = at(name)?.innerHTML;
  }

  function draws() {
    if (!view.data.moments || !at("bar")) return;
    if (isWhole()) { for (const name of PLACES) at(name).innerHTML = written[name]; return; }
    const found = shares(view.shown.conditions), parts = found ? Object.entries(shown(found)).filter(([, share]) => share >= SEEN) : [];
    const sign = (name) => name === "full" && BOUNDS[view.about.waiting.is_bound] ? `${BOUNDS[view.about.waiting.is_bound]}\u00a0` : "";
    const told = (name, share) => `${sign(name)}${draw.percent(share)}`, named = (name) => html(view.about.waiting.names.find(([one]) => one === name)[1]);
    at("bar").innerHTML = parts.map(([name, share]) => `<i class="met-${name}" style="width:${(100 * share).toFixed(4)}%" data-value="${share}" title="${named(name)}: ${told(name, share)}"></i>`).join("");
    at("captions").innerHTML = parts.filter(([, share]) => share >= CAPTIONED).map(([name, share]) => `<span><i class="met-${name}"></i><b>${told(name, share)}</b> ${named(name)}</span> `).join("");
    at("said").innerHTML = html(said(found));
  }

  return { begin, draws };
})();
