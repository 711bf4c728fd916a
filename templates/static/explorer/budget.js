// What became of the hours of a selection: the sentence, its bar and what stands below, of processors and of GPUs, and month by month.
// What is said of all jobs stands on the page already; templates of the rest come with it, filled as gwa/analysis/budget_sentence.py does.

explorer.budget = (() => {
  const { view, html, NAMES, dayOf, isCut, isWhole, key, labelOf, periodInWords, step, total } = explorer;
  const { COUNTED, OUTCOMES } = cells;
  const { HOUR, DAY } = draw;
  const BAD = ["limit", "failed", "cancelled"];
  const PLACES = ["lead-sentence", "lead-bar", "lead-captions", "lead-basis", "lead-gpus-sentence", "lead-gpus-bar", "lead-gpus-captions", "lead-months"];
  const written = {}; // what the page has of all jobs, by place
  const months = []; // of each row of the months: its label and the days from and to

  // --- Words ---------------------------------------------------------------------------------------

  const fill = (text, values) => text.replace(/{(\w+)}/g, (all, name) => values[name] ?? all);
  const phrase = (name, values = {}, count = 1) => fill(view.about.sentences[name].at(count === 1 ? 0 : -1), values);
  const label = (name) => view.about.sentences[`label_${name}`][0];
  const sum = (values) => Object.values(values).reduce((all, value) => all + value, 0);
  const listed = (texts) => texts.length === 1 ? texts[0] : phrase("and", { first: texts.slice(0, -1).join(", "), last: texts.at(-1) });
  const marked = (part, text) => `<em class="of-${part}">${text}</em>`;

  // Whole numbers that add up, by largest remainder; of equal ones the larger part has more.
  function hundred(parts, number = 100) {
    const names = Object.keys(parts), all = sum(parts), exact = {}, found = {};
    for (const name of names) {
      exact[name] = all > 0 ? number * parts[name] / all : 0;
      found[name] = Math.floor(exact[name]);
    }
    const rest = all > 0 ? number - sum(found) : 0;
    [...names].sort((a, b) => found[a] - exact[a] - (found[b] - exact[b]) || exact[b] - exact[a]).slice(0, rest).forEach((name) => { found[name]++; });
    return found;
  }

  function share(value) {
    if (value > 0 && value < 0.01) return phrase("less_than_1");
    const whole = Math.floor(100 * value + 0.5);
    return phrase("share", { n: whole === 100 && value < 1 ? 99 : whole });
  }

  // --- Amounts -------------------------------------------------------------------------------------

  function held(made, from, to) {
    const sums = new Float64Array(COUNTED);
    const end = from === 0 && to === view.data.days.rows ? to + 1 : to;
    for (let at = from * COUNTED; at < end * COUNTED; at++) sums[at % COUNTED] += made.counted[at];
    const [gpu, used, known] = sums.slice(OUTCOMES + 1);
    return { outcomes: Object.fromEntries(NAMES.map((name, n) => [name, sums[n]])), restarted: sums[OUTCOMES], used: sums.slice(0, OUTCOMES + 1).reduce((all, one) => all + one, 0), gpus: { held: gpu, used, known } };
  }

  // Since which day, and until which, there were how many processors.
  const sizes = () => view.about.sizes.length ? view.about.sizes.map(([since, cpus], n, all) => [n ? since : -Infinity, cpus, all[n + 1]?.[0] ?? Infinity])
    : [[-Infinity, view.about.cpus, Infinity]];

  // The processor-seconds of outages between two days, outside gaps of the log.
  function outages(from, to, capacity) {
    if (!view.about.budget.knows_outages) return 0;
    const [first, last] = [dayOf(from), dayOf(to)], within = (one) => [Math.max(one.since, first), Math.min(one.until, last)];
    const length = ([begin, end]) => Math.max(0, end - begin), marks = view.about.marks;
    const days = ([begin, end]) => length([begin, end]) - marks.filter(({ kind }) => kind !== "outage")
      .reduce((gaps, gap) => gaps + length([Math.max(begin, gap.since), Math.min(end, gap.until)]), 0);
    const down = marks.filter(({ kind }) => kind === "outage").map(within).reduce((all, [begin, end]) => all
      + sizes().reduce((sum, [since, cpus, until]) => sum + cpus * days([Math.max(begin, since), Math.min(end, until)]), 0), 0) * DAY;
    return down >= 0.01 * capacity ? down : 0;
  }

  // What became of the hours of a part between two days, beside those of all jobs.
  function budget(made, whole, from, to, isChosen) {
    const { kind, is_told: isTold } = view.about.budget, mine = held(made, from, to), all = held(whole, from, to);
    const seconds = total("accounted_seconds", from, to), capacity = kind !== "machine" ? 0 : view.about.sizes.length ? total("capacity", from, to) : view.about.cpus * seconds;
    const isMachine = kind === "machine" && all.used <= capacity, { running, ...ended } = mine.outcomes;
    const found = isTold ? { finished: ended.completed, unfinished: BAD.reduce((bad, name) => bad + ended[name], 0), running, unknown: ended.unknown } : { running, used: sum(ended) };
    found.restarted = mine.restarted;
    if (isMachine) {
      found.outages = Math.min(outages(from, to, capacity), capacity - all.used);
      found.unused = capacity - all.used - found.outages;
    }
    if (isChosen) found.others = all.used - mine.used;
    const ORDER = ["finished", "unfinished", "running", "unknown", "used", "restarted", "others", "unused", "outages"];
    const parts = Object.fromEntries(ORDER.filter((name) => name in found).map((name) => [name, Math.max(0, found[name])]));
    return { ...mine, kind: isMachine ? "machine" : kind === "machine" ? "used" : kind, seconds, parts, total: isMachine ? capacity : all.used, all };
  }

  const isBound = () => view.about.budget.is_bound;

  // --- Sentences -----------------------------------------------------------------------------------

  // Whose jobs are chosen, and how many they are.
  function who() {
    const chosen = view.about.choices.flatMap((choice) => {
      const codes = [...view.state.lists[choice.key] ?? []];
      return codes.length ? [{ key: choice.key, heading: choice.heading, names: codes.map((code) => html(labelOf(choice, code))) }] : [];
    });
    const texts = chosen.map(({ key: of, heading, names }) => {
      if (names.length === 1) return of === "user" ? names[0] : of === "size" ? phrase("one_size", { name: names[0] }) : phrase("one", { heading: html(heading), name: names[0] });
      if (names.length === 2 && of === "user") return phrase("together", { who: listed(names) });
      return phrase(`several_${of}` in view.about.sentences ? `several_${of}` : "several", { n: names.length, heading: html(heading) });
    });
    return { text: texts.length > 1 ? `${texts[0]} (${texts.slice(1).join(", ")})` : texts[0], count: chosen[0].names.length };
  }

  function clausesOf(parts, prefix) {
    const numbers = hundred(parts), all = sum(parts);
    return Object.entries(numbers).filter(([, n]) => n).map(([name, n]) => {
      let text = n === 100 && parts[name] < all ? phrase("more_than_99") : String(n);
      if (isBound() && name === "finished") text = phrase("at_most", { n: text });
      if (isBound() && name === "unfinished") text = phrase("at_least", { n: text });
      return marked(name, phrase(`${prefix}${name}`, { n: text }, n));
    });
  }

  function ended(found) {
    const { is_told: isTold, has_unknown_runs: hasUnknown } = view.about.budget, bad = BAD.reduce((all, name) => all + found.outcomes[name], 0);
    if (!found.used || !isTold) return [];
    if (!isBound() && !hasUnknown && found.outcomes.completed === found.used) return [phrase("all_finished")];
    if (isBound()) return [marked("unfinished", phrase("bad_at_least", { share: share(bad / found.used) }))];
    return bad || !hasUnknown ? [marked("unfinished", phrase("bad", { share: share(bad / found.used) }))] : [];
  }

  const unrecorded = () => [...view.about.budget.is_told ? [] : [phrase("no_ends")], ...view.about.budget.has_unknown_runs ? [phrase("no_runs")] : []];

  function sentence(found, isChosen) {
    const period = isCut() ? html(periodInWords(view.state.from, view.state.to)) : "", { kind } = found;
    const inPeriod = (text) => period ? phrase("in_period", { period, sentence: text }) : text;
    if (isChosen) {
      const { text, count } = who();
      if (!found.used) return inPeriod(phrase("nothing", { who: text }));
      return inPeriod(`${[phrase(kind === "machine" ? "held_machine" : "held_used", { who: text, share: share(found.used / found.total) }, count), ...ended(found), ...unrecorded()].join("; ")}.`);
    }
    if (kind !== "log" && kind !== "count" && !found.seconds) return inPeriod(phrase("not_counted"));
    if (!found.used && kind !== "machine") return inPeriod(phrase("nothing_ran"));
    const unit = phrase(`unit_${kind === "count" ? "used" : kind}`);
    if (kind === "machine" && found.used < 0.005 * found.total) return inPeriod(phrase("less_used", { unit }));
    if (!view.about.budget.is_told && kind !== "machine") return inPeriod(`${[phrase("level", { mean: draw.number(found.used / found.seconds, 3) }), ...unrecorded()].join("; ")}.`);
    return `${[phrase("of_period", { period, unit, clauses: listed(clausesOf(found.parts, "clause_")) }), ...unrecorded()].join("; ")}.`;
  }

  // --- Bars ----------------------------------------------------------------------------------------

  // The parts as they are drawn: in the place of those that ran without finishing, each of their outcomes.
  const fine = (found) => Object.entries(found.parts).flatMap(([name, amount]) => name === "unfinished" ? BAD.map((one) => [one, found.outcomes[one]]) : [[name, amount]]);

  // Parts of which the selection has a fact name it.
  const factOf = (name) => name === "others" || BAD.includes(name) ? "" : `budget.${name === "restarted" ? "requeued" : name}`;

  function segments(parts, whole, fact) {
    return parts.filter(([, amount]) => amount > 0).map(([name, amount]) =>
      `<i class="of-${name}" style="width:${(100 * amount / whole).toFixed(4)}%"${fact?.(name) ? ` data-fact="${fact(name)}"` : ""} data-value="${amount}"></i>`).join("");
  }

  const isSingle = (parts) => Object.values(parts).filter((amount) => amount > 0).length === 1;

  // A part of 100 is so written only if it is all, unless its sign says that it is a bound.
  const number = (n, sign, isAll) => n === 0 ? "<\u00a01\u00a0%" : n === 100 && !sign && !isAll ? ">\u00a099\u00a0%" : `${sign ? `${sign}\u00a0` : ""}${n}\u00a0%`;
  const caption = (names, n, text, isAll, sign = "") => `<span>${names.map((name) => `<i class="of-${name}"></i>`).join("")}<b>${html(number(n, sign, isAll))}</b> ${html(text)}</span> `;

  function captions(found) {
    const isAll = isSingle(found.parts);
    return Object.entries(hundred(found.parts)).map(([name, n]) => {
      if (name !== "unfinished") return found.parts[name] > 0 ? caption([name], n, label(name), isAll, isBound() && name === "finished" ? "≤" : "") : "";
      const some = BAD.filter((one) => found.outcomes[one] > 0), small = some.filter((one) => found.outcomes[one] < 0.01 * found.total);
      const groups = some.filter((one) => !small.includes(one)).map((one) => [one, label(one), found.outcomes[one]]);
      if (small.length) groups.push([small[0], ored(small.map(label)), small.reduce((all, one) => all + found.outcomes[one], 0)]);
      const numbers = hundred(Object.fromEntries(groups.map(([one, , amount]) => [one, amount])), n);
      return groups.sort(([a], [b]) => BAD.indexOf(a) - BAD.indexOf(b)).map(([one, text]) => caption(small.includes(one) ? small : [one], numbers[one], text, isAll && groups.length === 1, isBound() ? "≥" : "")).join("");
    }).join("");
  }
  const ored = (texts) => texts.length === 1 ? texts[0] : phrase("or", { first: texts.slice(0, -1).join(", "), last: texts.at(-1) });

  // --- GPUs ----------------------------------------------------------------------------------------

  function ofGpus(found, isChosen) {
    const { held: mine, used, known } = found.gpus, size = isChosen ? null : view.about.budget.gpus;
    if (!mine) return { sentence: "", bar: "", captions: "" };
    const parts = known ? { computed: used, still: known - used, unmeasured: mine - known } : { held: mine };
    const rest = size && found.seconds ? size * found.seconds - mine : -1;
    if (rest >= 0) parts.not_held = rest;
    const said = !known && rest < 0 ? phrase("gpu_hours", { hours: phrase("hours", { n: draw.number(Number((mine / HOUR).toPrecision(3))) }, mine / HOUR) })
      : phrase(rest >= 0 ? "gpus" : "gpus_held", { clauses: listed(clausesOf(parts, "clause_")) });
    const numbers = hundred(parts), whole = sum(parts);
    return {
      sentence: `${[said, ...known ? [] : [phrase("no_use")]].join("; ")}.`, bar: segments(Object.entries(parts), whole, (name) => `gpu.budget.${name}`),
      captions: Object.entries(parts).filter(([, amount]) => amount > 0).map(([name]) => caption([name], numbers[name], label(name), isSingle(parts))).join(""),
    };
  }

  // --- The page ------------------------------------------------------------------------------------

  const at = (id) => document.getElementById(id);
  const put = (id, content) => { if (at(id)) at(id).innerHTML = content; };

  // Keeps what the page has of all jobs, and finds the days of its months.
  function begin() {
    for (const id of PLACES) written[id] = at(id)?.innerHTML;
    if (step() > 1) return;
    for (const row of document.querySelectorAll("#lead-months .name")) {
      const name = row.firstChild.textContent.trim(), days = [...Array(view.data.days.rows).keys()].filter((bin) => key(bin).startsWith(name));
      if (days.length) months.push({ name, from: days[0], to: days.at(-1) + 1 });
    }
  }

  function draws() {
    const isChosen = Object.values(view.state.lists).some((set) => set.size), { from, to } = view.state;
    if (isWhole()) for (const id of PLACES) { if (written[id] !== undefined) put(id, written[id]); }
    else {
      const found = budget(view.shown, view.whole, from, to, isChosen), gpus = ofGpus(found, isChosen);
      put("lead-sentence", `<bdi>${sentence(found, isChosen)}</bdi>`);
      put("lead-bar", segments(fine(found), found.total || 1, factOf));
      put("lead-captions", found.total ? captions(found) : "");
      put("lead-basis", "");
      put("lead-gpus-sentence", gpus.sentence && `<bdi>${gpus.sentence}</bdi>`);
      put("lead-gpus-bar", gpus.bar);
      put("lead-gpus-captions", gpus.captions);
    }
    byMonth(isChosen);
  }

  // A number of a month: of a bound with its sign, and none where nothing of the month is counted.
  const worth = (found, part, numbers) => !(sum(found.parts) > 0) ? "" : `${isBound() ? { finished: "≤ ", unfinished: "≥ " }[part] ?? "" : ""}${numbers[part]}`;

  function byMonth(isChosen) {
    const rows = document.querySelectorAll("#lead-months li");
    if (!months.length || !rows.length) return;
    const heads = [...document.querySelectorAll("#lead-months .columns span")].map((head) => head.textContent);
    months.forEach(({ name, from, to }, n) => {
      const found = budget(view.shown, view.whole, from, to, isChosen), numbers = hundred(found.parts), isPicked = view.state.from === from && view.state.to === to;
      const values = heads.map((head) => Object.keys(found.parts).filter((part) => label(part) === head).map((part) => worth(found, part, numbers))[0] ?? "");
      const row = rows[n].firstElementChild, note = row.querySelector("small")?.outerHTML ?? "";
      const text = isWhole() ? row.innerHTML
        : `<span class="name">${html(name)}${note ? ` ${note}` : ""}</span><span class="track">${segments(fine(found), found.total || 1)}</span><span class="values">${values.map((value) => `<span>${value}</span>`).join("")}</span>`;
      rows[n].innerHTML = `<button type="button" class="month" data-from="${from}" data-to="${to}" data-place="month/${name}" aria-pressed="${isPicked}">${text}</button>`;
    });
  }

  return { begin, draws };
})();
