// What is selected as chips, and the ranked lists in which a click selects.

explorer.lists = (() => {
  const { view, place, html, MARKS, NAMES, UNITS, FEW, badShare, everyCode, hasStrip, hasWindow, isCut, labelOf, markOf, named, part, periodInWords, scaled, swatch } = explorer;
  const { OUTCOMES, sum } = cells;

  // What is selected, to be dropped by a click; *where* else it stands beside the first screen.
  function chips(where = "chip") {
    const found = view.about.choices.flatMap((choice) => [...(view.state.lists[choice.key] ?? [])].map((code) => [`${choice.heading}: ${labelOf(choice, code)}`, `${choice.key}/${code}`]));
    if (isCut()) found.push([periodInWords(view.state.from, view.state.to), "period"]);
    const warned = view.notice ? `<span class="notice" role="alert">${html(view.notice)}</span>` : "";
    if (!found.length) return warned || `<span class="hint">${html(view.words.hints[hasStrip() ? view.about.choices.length ? "both" : "time" : view.about.choices.length ? "rows" : "none"])}</span>`;
    return found.map(([label, drop]) => `<button type="button" class="chip" data-drop="${html(drop)}" data-place="${where}/${html(drop)}" aria-label="${html(view.words.remove)} ${html(label)}"><bdi>${html(label)}</bdi> <span aria-hidden="true">×</span></button>`).join("")
      + `<button type="button" class="clear" data-drop="all" data-place="${where}/all">${html(view.words.clear)}</button>${warned}`;
  }

  const switches = (name, options, chosen) => options.length < 2 ? "" : options.map(([value, label]) =>
    `<button type="button" data-switch="${name}" data-place="${name}/${value}" value="${value}" aria-pressed="${String(value) === String(chosen)}">${html(label)}</button>`).join("");

  function track(values, code, most) {
    return NAMES.map((_, n) => {
      const part = values[code * OUTCOMES + n];
      return part > 0 ? `<i style="width:${(100 * part / most).toFixed(2)}%;background:${swatch(n)}"></i>` : "";
    }).join("");
  }

  // The button that shows the remaining rows of a list (*count*), and hides them again.
  function opener(what, count) {
    const isOpen = view.opened.has(what), told = isOpen ? view.words.fewer : view.words.more.replace("{n}", draw.number(count));
    return `<button type="button" class="more" data-open="${what}" data-place="open/${what}" aria-expanded="${isOpen}">${html(told)}</button>`;
  }

  function list(choice, k) {
    const values = view.shown.lists[k][view.state.by], set = view.state.lists[choice.key] ?? new Set();
    const every = everyCode(choice).map((code) => [code, sum(values, code)]);
    const all = every.reduce((found, [, value]) => found + value, 0);
    let rows = every.filter(([code, value]) => value > 0 || set.has(code));
    if (!choice.has_own_order) rows = rows.sort(([a, one], [b, other]) => named(choice, a) - named(choice, b) || other - one || a - b);
    const most = Math.max(...rows.map(([, value]) => value), 0) || 1;
    const isOpen = view.opened.has(choice.key) || rows.length <= FEW + 2;
    const few = isOpen ? rows : rows.filter(([code], at) => at < FEW || set.has(code));
    const items = few.map(([code, value]) => {
      const label = labelOf(choice, code), exact = scaled(value, view.state.by);
      return `<li><button type="button" data-pick="${choice.key}" value="${code}" data-place="${choice.key}/${code}" aria-pressed="${set.has(code)}" data-value="${exact}" title="${html(label)}: ${draw.number(exact)} ${html(view.words.units[view.state.by])}">`
        + `<bdi class="name">${html(label)}</bdi><span class="share">${part(all ? value / all : null)}</span><span class="track">${track(values, code, most)}</span></button></li>`;
    }).join("");
    const more = rows.length > few.length || view.opened.has(choice.key) ? opener(choice.key, rows.length - few.length) : "";
    return `<section class="list" aria-label="${html(choice.title)}"><h3>${html(choice.heading)}</h3><ol>${items}</ol>${items ? more : `<p class="hint">${html(view.words.nothing)}</p>`}</section>`;
  }

  // As many lists side by side as fit, and in each row about as many: a last row of one or two leaves a hole.
  function beside() {
    const lists = place("lists"), count = lists.children.length, fit = Math.max(2, Math.floor((lists.clientWidth + 16) / 168));
    lists.style.setProperty("--columns", Math.ceil(count / Math.ceil(count / fit)) || 1);
  }

  // Of outcomes that the log does not have none says what its colour stands for; what is marked besides is named, too.
  function legend() {
    const { words, about, data, whole } = view, box = place("legend");
    const has = (n) => UNITS.some((unit) => whole.outcomes[unit][n] || [...whole.time[unit].keys()].some((at) => at % OUTCOMES === n && whole.time[unit][at]));
    [...box.children].forEach((one, n) => { one.hidden = !has(n); });
    const named = (look, text) => box.insertAdjacentHTML("beforeend", `<span><i class="${look}"></i>${html(text)}</span>`);
    for (const look of MARKS) {
      const kinds = new Set(about.marks.filter((mark) => markOf(mark) === look).map(({ kind }) => words.marks[kind]));
      if (kinds.size) named(look, [...kinds].join(" / "));
    }
    if (hasWindow() && data.days.known_seconds.some((seconds) => !(seconds > 0))) named("hatched", words.outside);
  }

  // How jobs ended: a list like the others, but nothing to choose by, as each bar is stacked by it.
  function outcomes() {
    const values = view.shown.outcomes[view.state.by], all = sum(values);
    if (!all || badShare(view.whole.outcomes[view.state.by]) === null) return "";
    const most = Math.max(...values);
    const items = NAMES.map((name, n) => values[n] ? `<li class="row" title="${draw.number(scaled(values[n], view.state.by))} ${html(view.words.units[view.state.by])}"><span class="name">${html(view.words.outcomes[n])}</span><span class="share">${part(values[n] / all)}</span><span class="track"><i style="width:${(100 * values[n] / most).toFixed(2)}%;background:${swatch(n)}"></i></span></li>` : "").join("");
    return `<section class="list" aria-label="${html(view.words.outcome)}"><h3>${html(view.words.outcome)}</h3><ol>${items}</ol></section>`;
  }

  return { chips, switches, opener, list, outcomes, beside, legend };
})();
