// What is selected as chips, and the ranked lists in which a click selects.

explorer.lists = (() => {
  const { view, place, html, BAD, MARKS, NAMES, UNITS, FEW, amount, badShare, everyCode, hasStrip, hasWindow, isCut, labelOf, listed, markOf, named, part, periodInWords, roughly, scaled, swatch } = explorer;
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

  function track(values, code, most, outcomes = NAMES.keys()) {
    return [...outcomes].map((n) => {
      const part = values[code * OUTCOMES + n];
      return part > 0 ? `<i style="width:${(100 * part / most).toFixed(2)}%;background:${swatch(n)}"></i>` : "";
    }).join("");
  }

  // The button that shows the remaining rows of a list (*count*), and hides them again.
  function opener(what, count) {
    const isOpen = view.opened.has(what), told = isOpen ? view.words.fewer : view.words.more.replace("{n}", draw.number(count));
    return `<button type="button" class="more" data-open="${what}" data-place="open/${what}" aria-expanded="${isOpen}">${html(told)}</button>`;
  }

  // --- The three lists -----------------------------------------------------------------------------

  // The rows of a list: of those with a *value* the largest first, unless the classes have an order of their own.
  function ranked(choice, value) {
    const set = view.state.lists[choice.key] ?? new Set(), rows = everyCode(choice).map((code) => [code, value(code)]).filter(([code, amount]) => amount > 0 || set.has(code));
    return choice.has_own_order ? rows : rows.sort(([a, one], [b, other]) => named(choice, a) - named(choice, b) || other - one || a - b);
  }

  // A list of a *name*: its heading with what can be switched, what is said below it, and rows of [code, inner, title, value].
  function list(name, heading, said, choice, rows, heads = "") {
    const set = choice && view.state.lists[choice.key] || new Set(), isOpen = view.opened.has(name) || rows.length <= FEW + 1;
    const few = isOpen ? rows : rows.filter(([code], at) => at < FEW || set.has(code));
    const items = few.map(([code, inner, title, value]) => `<li><button type="button" data-pick="${choice.key}" value="${code}" data-place="${name}/${choice.key}/${code}" aria-pressed="${set.has(code)}" data-value="${value}" title="${html(title)}">`
      + `<bdi class="name">${html(labelOf(choice, code))}</bdi>${inner}</button></li>`).join("");
    const more = rows.length > few.length || view.opened.has(name) ? opener(name, rows.length - few.length) : "";
    return `<section class="list ${name}" aria-label="${html(heading)}"><div class="bar"><h2>${html(heading)}</h2>${heads}</div>${said ? `<p class="sub">${html(said)}</p>` : ""}<ol>${items}</ol>${items || !choice ? more : `<p class="hint">${html(view.words.nothing)}</p>`}</section>`;
  }

  const titled = (choice, code, value, unit) => `${labelOf(choice, code)}: ${draw.number(scaled(value, unit))} ${view.words.units[unit]}`;
  const ofChoice = () => view.about.choices[view.state.rows];

  // How many hold half of all, where those are told apart.
  function half(choice, rows, all) {
    const count = choice.names.length + choice.others, few = rows.filter(([code]) => code < choice.names.length);
    let sum = 0, n = 0;
    while (n < few.length && sum < all / 2) sum += few[n++][1];
    if (count < 3 || sum < all / 2) return "";
    return listed(view.state.by === "jobs" ? "half_jobs" : "half", { n: draw.number(n), all: draw.number(count) });
  }

  // A list of what was held by a choice, or of how many jobs, stacked by outcome.
  function held(name, heading, k, { heads = "", says = () => "" } = {}) {
    const choice = view.about.choices[k], unit = view.state.by, values = view.shown.lists[k][unit], rows = ranked(choice, (code) => sum(values, code));
    const all = rows.reduce((found, [, value]) => found + value, 0), most = largest(rows);
    const made = rows.map(([code, value]) => [code, `<span class="track">${track(values, code, most)}</span><span class="share">${part(all ? value / all : null)}</span>`, titled(choice, code, value, unit), scaled(value, unit)]);
    return list(name, heading, says(choice, rows, all), choice, made, heads);
  }

  const largest = (rows) => Math.max(...rows.map(([, value]) => value), 0) || 1;
  const csv = () => `<div class="tools" role="group"><button type="button" data-save="csv">CSV</button></div>`;
  const isNamed = () => !ofChoice().has_own_order; // else jobs are told apart by their size alone

  function used() {
    if (!isNamed()) return "";
    const names = view.about.choices.flatMap((one, k) => one.has_own_order ? [] : [[k, one.title]]);
    const heads = `<div class="switch" role="group" aria-label="${html(view.words.rows)}">${switches("rows", names, view.state.rows)}</div>${csv()}`;
    return held("used", listed("who"), view.state.rows, { heads, says: half });
  }

  const sizes = () => view.about.choices.findIndex(({ key }) => key === "size");
  const DECADES = [1, 60, 3600, 86400, 864000];

  // How long jobs waited by their size: half by the dot, 19 in 20 by the end of the bar, on one axis of logarithms.
  function waited() {
    const k = sizes(), choice = view.about.choices[k], waits = view.shown.waits.get(k);
    if (!waits) return "";
    const rows = ranked(choice, (code) => sum(view.shown.lists[k].jobs, code)).flatMap(([code]) => {
      const [middle, most] = [0.5, 0.95].map((share) => cells.quantile(waits, share, view.about.octaves, code * cells.WAITS));
      return middle === null ? [] : [[code, middle, most]];
    });
    const high = Math.max(3600, ...rows.map(([, , most]) => most)), x = (seconds) => 100 * Math.log10(Math.max(1, seconds)) / Math.log10(high);
    const made = rows.map(([code, middle, most]) => [code, `<span class="span"><i style="left:${x(middle).toFixed(1)}%;width:${(x(most) - x(middle)).toFixed(1)}%"></i><b style="left:${x(middle).toFixed(1)}%"></b></span><span class="share">${most < 1 ? html(listed("at_once")) : draw.duration(most, 1)}</span>`,
      `${labelOf(choice, code)}: ${roughly(middle)}, ${roughly(most)}`, most]);
    const axis = `<p class="axis" aria-hidden="true"><span></span><span class="span">${DECADES.filter((at) => at <= high * 1.01).map((at) => `<span style="left:${x(at).toFixed(1)}%">${draw.duration(at, 1)}</span>`).join("")}</span><span></span></p>`;
    return list("waited", listed("waited"), listed("waited_by"), choice, made).replace("</ol>", `</ol>${made.length ? axis : ""}`);
  }

  // Without waits: how large jobs were.
  const large = () => sizes() < 0 ? "" : held("waited", listed("sizes"), sizes(), { says: () => listed("by_processors") });

  // Whose jobs did not finish, by what they held; of GPUs, whose did not compute.
  function lost() {
    if (view.state.by === "gpu") return still();
    const choice = ofChoice(), unit = view.state.by;
    const heading = listed(isNamed() ? "lost" : "lost_jobs");
    if (badShare(view.whole.outcomes[unit]) === null) return list("lost", heading, listed("lost_unknown"), null, []);
    const values = view.shown.lists[view.state.rows][unit], bad = (code) => BAD.reduce((all, n) => all + values[code * OUTCOMES + n], 0), rows = ranked(choice, bad).filter(([, value]) => value > 0);
    const most = largest(rows), all = BAD.reduce((found, n) => found + view.shown.outcomes[unit][n], 0), said = listed(view.about.budget.is_bound ? "lost_at_least" : "lost_sum", { n: amount(all, unit), unit: view.words.units[unit] });
    const made = rows.map(([code, value]) => [code, `<span class="track">${track(values, code, most, BAD)}</span><span class="share">${amount(value, unit)}</span>`, titled(choice, code, value, unit), scaled(value, unit)]);
    return list("lost", heading, said, choice, made, isNamed() ? "" : csv());
  }

  function still() {
    const choice = ofChoice(), found = view.shown.holders, width = cells.MEASURED.length;
    if (!view.data.usage.gpu_known_seconds || !found) return list("lost", view.words.stillGpus, view.words.notMeasured, null, []);
    const rows = ranked(choice, (code) => found[code * width + 1] - found[code * width]).filter(([, value]) => value > 0), most = largest(rows);
    const made = rows.map(([code, value]) => [code, `<span class="track"><i class="of-still" style="width:${(100 * value / most).toFixed(2)}%"></i></span><span class="share">${amount(value, "gpu")}</span>`, titled(choice, code, value, "gpu"), scaled(value, "gpu")]);
    return list("lost", view.words.stillGpus, "", choice, made);
  }

  const all = () => view.about.choices.length ? [used(), view.about.octaves ? waited() || large() : large(), lost()].join("") : "";

  // What is marked in the strip besides outcomes, whose colours stand below the bar; where there is no bar, they are named, too.
  function legend() {
    const { words, about, data, whole } = view, found = [];
    if (!document.querySelector("#lead-bar")) {
      const has = (n) => UNITS.some((unit) => whole.outcomes[unit][n]);
      NAMES.forEach((name, n) => { if (has(n)) found.push(`<span><i style="background:${swatch(n)}"></i>${html(words.outcomes[n])}</span>`); });
    }
    const named = (look, text) => found.push(`<span><i class="${look}"></i>${html(text)}</span>`);
    for (const look of MARKS) {
      const kinds = new Set(about.marks.filter((mark) => markOf(mark) === look).map(({ kind }) => words.marks[kind]));
      if (kinds.size) named(look, [...kinds].join(" / "));
    }
    if (hasWindow() && data.days.known_seconds.some((seconds) => !(seconds > 0))) named("hatched", words.outside);
    place("legend").innerHTML = found.join("");
  }

  return { chips, switches, all, legend, sizes };
})();
