// The chapters below the first screen: what the cells tell of a selection stands there in place of what is of all jobs; the rest says that it is.
// `about.follows` names the tables and figures that follow: a kind of what they show, the key of its classes, and its ranking.

const chapters = (() => {
  const { OUTCOMES, WAITS, broken, quantile, sum, least } = cells;
  const { DAY, HOUR } = draw;
  const [COMPLETED, LIMIT, FAILED, CANCELLED, RUNNING] = [0, 1, 2, 3, 4];
  const BAD = [LIMIT, FAILED, CANCELLED], KNOWN = [COMPLETED, ...BAD];
  const FEWEST = 20; // jobs of a month of which a quantile of waits is shown
  const LONGEST = 36; // rows of a table in an order of its own: the last
  const main = () => document.getElementById("content");
  const html = draw.escape;

  let scope, selected = null, tasks = [], timer = 0;
  const kept = new Map(); // what stands on the page of all jobs, by what shows it

  // --- Classes --------------------------------------------------------------------------------------

  const monthOf = (bin) => { const date = new Date(scope.dayOf(bin) * DAY * 1000); return date.getUTCFullYear() * 12 + date.getUTCMonth(); };
  const monthName = (month) => `${Math.floor(month / 12)}-${String(month % 12 + 1).padStart(2, "0")}`;
  const weekdayOf = (bin) => (((scope.dayOf(bin) + 3) % 7) + 7) % 7; // 1 January 1970 was a Thursday

  // The classes of a key: their names, in the order of their codes, and the code of a row; -1 where it has none.
  function axis(key) {
    const { about, words, data: { jobs, days } } = scope, dated = (of) => (row) => jobs.day[row] < days.rows ? of[jobs.day[row]] : -1;
    const place = about.choices.findIndex((one) => one.key === key);
    if (place >= 0) return { choice: about.choices[place], names: about.choices[place].names, size: about.choices[place].names.length + 2, of: (row) => jobs[key][row] };
    const bins = [...Array(days.rows).keys()];
    if (key === "all") return { names: [""], size: 1, of: () => 0 };
    if (key === "outcome") return { names: words.outcomes, size: OUTCOMES, of: (row) => jobs.outcome[row] };
    if (key === "hour") return { names: [...Array(24).keys()].map((hour) => `${String(hour).padStart(2, "0")}:00`), size: 24, of: (row) => jobs.day[row] < days.rows ? jobs.hour[row] : -1 };
    if (key === "weekday") return { names: words.weekdays, size: 7, of: dated(bins.map(weekdayOf)) };
    if (key === "day") return { names: bins, size: days.rows, of: dated(bins) };
    const first = monthOf(0), months = bins.map((bin) => monthOf(bin) - first), size = months.at(-1) + 1;
    return { names: [...Array(size).keys()].map((month) => monthName(first + month)), size, of: dated(months) };
  }

  // What the selection holds by the classes of a key, found once.
  function by(key) {
    if (!selected.found.has(key)) {
      const classes = axis(key);
      selected.rows ??= cells.matching(scope.data, scope.sizes, selected.state);
      selected.found.set(key, { ...classes, ...broken(scope.data.jobs, selected.rows, classes.size, classes.of) });
    }
    return selected.found.get(key);
  }

  const of = (values, code, outcomes) => outcomes.reduce((all, n) => all + values[code * OUTCOMES + n], 0);
  const share = (part, all) => all ? part / all : null;
  const ended = (values, code) => sum(values, code) - values[code * OUTCOMES + RUNNING]; // jobs that ran until their end

  // The measures of a class as the tables of the whole log have them; what cells do not tell is left out.
  function measures(found, code) {
    const all = by("all"), wait = (weights, part) => quantile(weights, part, scope.about.octaves, code * WAITS);
    const jobs = sum(found.jobs, code), cpu = ended(found.cpu, code);
    // Cells have waits from when a job could start: tables have them under a name of their own where that is recorded.
    const queued = scope.about.facts["wait.held.share"] === undefined ? "wait" : "queued";
    let waited = 0;
    for (let at = 1; at < WAITS; at++) waited += found.waits[code * WAITS + at];
    return {
      jobs, jobs_share: share(jobs, sum(all.jobs)), cpu_seconds: cpu, cpu_share: share(cpu, ended(all.cpu, 0)), gpu_seconds: ended(found.gpu, code), waited,
      [`${queued}_median`]: wait(found.waits, 0.5), [`${queued}_p95`]: wait(found.waits, 0.95),
      [`${queued}_median_weighted`]: wait(found.weights, 0.5), [`${queued}_p95_weighted`]: wait(found.weights, 0.95),
      not_completed_share: share(of(found.jobs, code, BAD), of(found.jobs, code, KNOWN)),
      completed_cpu_seconds: of(found.cpu, code, [COMPLETED]), limit_cpu_seconds: of(found.cpu, code, [LIMIT]),
      failed_cpu_seconds: of(found.cpu, code, [FAILED]), cancelled_cpu_seconds: of(found.cpu, code, [CANCELLED]),
    };
  }

  const codesOf = (found) => [...found.names.keys()].filter((code) => sum(found.jobs, code) > 0);
  const falling = (value) => (a, b) => value(b) - value(a) || a - b;

  // --- Tables ---------------------------------------------------------------------------------------

  // Of each kind, the rows of a table: { code, name, … } with values by the keys of its columns.
  const ROWS = {
    amounts(found, ranking, most) {
      const rows = codesOf(found).map((code) => ({ code, name: found.names[code], ...measures(found, code) }));
      return ranking ? rows.sort(falling((row) => row[ranking])).slice(0, most) : rows.slice(-LONGEST);
    },
    waits(found) {
      const rows = codesOf(found).map((code) => ({ code, name: found.names[code], ...measures(found, code) })).filter(({ waited }) => waited);
      const shown = found.choice && !found.choice.has_own_order ? rows.sort(falling(({ waited }) => waited)) : rows;
      return shown.map(({ code, name, waited, ...row }) => ({ code, name, jobs: waited, median: row.wait_median ?? row.queued_median, p95: row.wait_p95 ?? row.queued_p95 })).slice(-LONGEST);
    },
    ends(found) {
      return codesOf(found).map((code) => {
        const { jobs, jobs_share, cpu_seconds: cpu } = measures(found, code), hours = code === RUNNING ? sum(found.cpu, code) : cpu;
        return { code, name: found.names[code], jobs, share: jobs_share, core_hours: hours / HOUR, core_hours_share: share(hours, sum(by("all").cpu)) };
      });
    },
    incomplete(found, ranking, most) {
      const rows = codesOf(found).map((code) => ({
        code, name: found.names[code], jobs: of(found.jobs, code, KNOWN), limit: of(found.jobs, code, [LIMIT]), failed: of(found.jobs, code, [FAILED]), cancelled: of(found.jobs, code, [CANCELLED]),
        share: share(of(found.jobs, code, BAD), of(found.jobs, code, KNOWN)), cpu_seconds: of(found.cpu, code, BAD),
      })).filter(({ jobs }) => jobs);
      if (!found.choice) return rows.slice(-LONGEST);
      const bad = ({ limit, failed, cancelled }) => limit + failed + cancelled;
      return rows.filter(bad).sort(falling(bad)).slice(0, most);
    },
  };

  const FACTS = { amounts: (id, { ranking }) => `${id.replace(/^by-|-by-(cpu|jobs)$/g, "")}.by_${ranking === "jobs" ? "jobs" : "cpu"}`, waits: (id, { key }) => `wait.by_${key}`, ends: () => "outcomes.by_cpu", incomplete: (id, { key }) => `jobs.ended_by_${key}` };

  function told(key, value) {
    if (value === null) return "–";
    if (/(^|_)(median|p95)/.test(key)) return value < 1 ? `<\u00a01\u00a0s` : `≈\u00a0${draw.duration(value, 2)}`;
    if (key.endsWith("share")) return draw.percent(value);
    if (/_seconds$/.test(key)) return `${draw.number(value / HOUR)}\u00a0h`;
    return key === "core_hours" ? `${draw.number(value)}\u00a0h` : draw.number(value, 15);
  }

  // Fills a table with the rows of the selection; columns that the cells do not tell are hidden.
  function fill(block, id, kind, key, ranking) {
    const table = block.querySelector("table"), heads = [...table.tHead.rows[0].cells];
    if (!kept.has(table)) kept.set(table, { body: table.tBodies[0], samples: [...table.tBodies[0].rows[0]?.cells ?? []].map(({ className }) => className) });
    const { body, samples } = kept.get(table), found = by(key), rows = ROWS[kind](found, ranking, Math.max(10, body.rows.length));
    const isTold = heads.map((head, n) => !n || rows.some((row) => head.dataset.key in row));
    heads.forEach((head, n) => { head.hidden = !isTold[n]; head.removeAttribute("aria-sort"); });
    const fact = FACTS[kind](id, { key, ranking });
    const lines = rows.map((row) => `<tr>${heads.map((head, n) => {
      const name = head.dataset.key, value = row[name] ?? null, wide = samples[n]?.includes("bar") && name.endsWith("share") ? ` style="background-size:${(100 * value).toFixed(1)}% 100%"` : "";
      if (!n) return `<th scope="row"><bdi class="name brief">${html(row.name)}</bdi></th>`;
      return `<td class="${wide ? samples[n] : (samples[n] ?? "number").replace(/\bbar\b/, "")}"${wide}${isTold[n] ? "" : " hidden"} data-fact="${fact}" data-key="${name}" data-value="${value}">${told(name, value)}</td>`;
    }).join("")}</tr>`);
    const filled = document.createElement("tbody");
    filled.innerHTML = lines.join("");
    const focus = table.contains(document.activeElement) ? document.activeElement.dataset.place : null;
    table.tBodies[0].replaceWith(filled);
    explorer.names.link(block);
    if (focus) block.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    beyond(block, found, kind === "amounts" && ranking);
  }

  // Those who are not among the classes of the cells may hold more than the last that is listed: that is said.
  function beyond(block, found, ranking) {
    const { words } = scope, code = found.names.length, jobs = ranking ? sum(found.jobs, code) : 0;
    block.querySelector(".caption.of-selection")?.remove();
    if (!jobs) return;
    const parts = { n: found.choice.others ? draw.number(found.choice.others) : "", jobs: draw.number(jobs, 15), share: draw.percent(share(ended(found.cpu, code), ended(by("all").cpu, 0))) };
    block.insertAdjacentHTML("beforeend", `<p class="caption of-selection">${html((found.choice.others ? words.beyond : words.beyondUnknown).replace(/{(\w+)}/g, (_, name) => parts[name]))}</p>`);
  }

  // --- Figures --------------------------------------------------------------------------------------

  const bins = () => [...Array(scope.data.days.rows).keys()].filter((bin) => bin >= selected.state.from && bin < selected.state.to);
  const submitted = () => { const days = by("day"); return (bin) => sum(days.jobs, bin); };

  // Of each kind, what takes the place of the data of a figure.
  const FIGURES = {
    // The curve ends where the longest wait does; a class is known by its end.
    waits({ curves }) {
      const { waits } = by("all"), { octaves } = scope.about, codes = [...Array(WAITS).keys()].slice(1).filter((code) => waits[code]), all = codes.reduce((found, code) => found + waits[code], 0);
      let below = 0;
      return { curves: [{ label: curves[0].label, x: codes.map((code) => code === 1 ? 1 : least(code + 1, octaves)), y: codes.map((code) => (below += waits[code]) / all) }] };
    },
    monthly({ ylabel }) {
      const choice = scope.about.choices.find(({ heading }) => heading === ylabel), months = axis("month"), classes = choice && axis(choice.key);
      if (!choice) return null;
      const size = classes.size, found = broken(scope.data.jobs, by("all") && selected.rows, size * months.size, (row) => months.of(row) < 0 ? -1 : months.of(row) * size + classes.of(row));
      const cell = (month, code) => sum(found.jobs, month * size + code) < FEWEST ? null : quantile(found.waits, 0.95, scope.about.octaves, (month * size + code) * WAITS);
      const rows = [...choice.names.keys()].map((code) => months.names.map((_, month) => cell(month, code)));
      const kinds = [...choice.names.keys()].filter((code) => rows[code].some((value) => value !== null)), used = months.names.map((_, month) => month).filter((month) => kinds.some((code) => rows[code][month] !== null));
      return { rows: kinds.map((code) => choice.names[code]), columns: used.map((month) => months.names[month]), matrix: kinds.map((code) => used.map((month) => rows[code][month])) };
    },
    busy({ lines, zone }) {
      const clock = draw.time(zone), { seconds } = scope.data.days, { time } = scope.shown();
      const days = bins().filter((bin) => seconds[bin]);
      return { lines: [{ label: lines[0].label, x: days.map((bin) => clock.moment(scope.dayOf(bin) * DAY) + seconds[bin] / 2), y: days.map((bin) => sum(time.cpu, bin) / seconds[bin]) }] };
    },
    submitted({ lines, zone }) {
      const clock = draw.time(zone), jobs = submitted(), days = bins();
      if (!(lines[0].x[1] - lines[0].x[0] > 0.9 * DAY) || scope.step() > 1) return null; // of hours
      return { lines: [{ label: lines[0].label, x: days.map((bin) => clock.moment(scope.dayOf(bin) * DAY)), y: days.map(jobs) }] };
    },
    week({ matrix }) {
      const hours = axis("hour"), weekdays = axis("weekday"), found = broken(scope.data.jobs, by("all") && selected.rows, 7 * 24, (row) => hours.of(row) < 0 ? -1 : weekdays.of(row) * 24 + hours.of(row));
      const days = [0, 0, 0, 0, 0, 0, 0];
      for (const bin of bins()) days[weekdayOf(bin)]++;
      return { matrix: matrix.map((row, day) => row.map((_, hour) => days[day] ? sum(found.jobs, day * 24 + hour) / days[day] : null)) };
    },
    incomplete(_, key) {
      const rows = ROWS.incomplete(by(key), "", 0);
      return { labels: rows.map(({ name }) => name), values: rows.map((row) => row.share), xlabel: scope.words.monthOfSubmission };
    },
    bars(_, key) {
      const rows = ROWS.waits(by(key));
      return { labels: rows.map(({ name }) => name), values: rows.map(({ p95 }) => p95) };
    },
  };

  function picture(id, kind, key) {
    const shown = figures.shown.get(id);
    const make = kind === "waits" && key !== "all" ? FIGURES.bars : FIGURES[kind];
    if (!kept.has(id)) kept.set(id, { ...shown.data });
    shown.replace(make(kept.get(id), key));
  }

  // --- Claims ---------------------------------------------------------------------------------------

  const noted = (fact, value, text) => `<span data-fact="${fact}" data-value="${value ?? ""}">${html(text)}</span>`;
  const written = (text, parts) => html(text).replace(/{(\w+)}/g, (_, name) => parts[name]);

  // The sentence of a section, of the selection; null where cells do not tell it.
  const CLAIMS = {
    utilization() {
      const [busy, hasGaps] = scope.busy(), { cpus } = scope.about;
      if (busy === null) return null;
      const told = noted(`utilization.${hasGaps ? "known_busy" : "busy"}`, busy, draw.number(busy)), share = busy / cpus;
      return cpus ? written(scope.words.claims.busy, { share: noted(`utilization.${hasGaps ? "known_mean" : "mean"}`, share, draw.percent(share)), busy: told, cpus: draw.number(cpus, 15) })
        : written(scope.words.claims.busyCpus, { busy: told });
    },
    // Who holds half of it; where others are among them, that is not known.
    users() {
      const found = by("user"), all = ended(by("all").cpu, 0), held = codesOf(found).map((code) => ended(found.cpu, code)).sort((a, b) => b - a);
      let [few, below] = [0, 0];
      while (few < held.length && below < all / 2) below += held[few++];
      if (!all || below < all / 2 || sum(found.jobs, found.names.length)) return null;
      return written(scope.words.claims.users, { few: noted("", few, draw.number(few)), users: noted("", held.length, draw.number(held.length)), share: noted("", held[0] / all, draw.percent(held[0] / all)) });
    },
    waits() {
      const [median, p95] = [0.5, 0.95].map((part) => quantile(by("all").waits, part, scope.about.octaves || 1));
      return median === null ? null : written(scope.words.claims.waits, { median: noted("jobs.wait.median", median, told("median", median)), p95: noted("jobs.wait.p95", p95, told("p95", p95)) });
    },
    outcomes() {
      const { outcomes } = scope.shown(), names = scope.words.outcomes, has = (unit) => KNOWN.some((n) => outcomes[unit][n]);
      const part = (unit, n) => outcomes[unit][n] / KNOWN.reduce((all, one) => all + outcomes[unit][one], 0);
      const list = (unit) => BAD.map((n) => `${html(names[n])} ${noted("", part(unit, n), draw.percent(part(unit, n)))}`).join(", ");
      if (!has("jobs")) return null;
      return has("cpu") ? written(scope.words.claims.outcomes, { hours: list("cpu"), jobs: list("jobs") }) : written(scope.words.claims.outcomesOfJobs, { jobs: list("jobs") });
    },
    week() {
      const found = by("hour"), jobs = found.names.map((_, hour) => sum(found.jobs, hour)), all = jobs.reduce((a, b) => a + b, 0), most = jobs.indexOf(Math.max(...jobs));
      return all ? written(scope.words.claims.week, { from: found.names[most], to: found.names[(most + 1) % 24], share: noted("", jobs[most] / all, draw.percent(jobs[most] / all)) }) : null;
    },
  };

  function claim(section) {
    const body = section.querySelector(".section-body"), said = [...body.querySelectorAll(":scope > .said:not(.of-selection)")];
    const text = CLAIMS[section.id]?.() ?? (said.length ? written(scope.words.claims.jobs, { jobs: noted("trace.jobs", selected.jobs, draw.number(selected.jobs, 15)) }) : null);
    for (const one of said) one.hidden = true;
    body.querySelector(":scope > .said.of-selection")?.remove();
    if (!text) return;
    const made = document.createElement("p");
    made.className = "said of-selection";
    made.innerHTML = text;
    (said[0] ?? body.querySelector(":scope > summary ~ *") ?? body.firstChild).before(made);
  }

  // --- The page -------------------------------------------------------------------------------------

  const blocks = () => Object.entries(scope.about.follows).flatMap(([id, [kind, key, ranking = ""]]) => {
    const block = id.startsWith("figure-") ? document.getElementById(id) : main().querySelector(`.block.table[data-name="${id}"]`);
    const known = id.startsWith("figure-") ? figures.shown.has(id) : kind in ROWS;
    return block && known ? [{ id, kind, key, ranking, block, section: block.closest(".section") }] : [];
  });

  // What is of all jobs whatever is selected says so: sections without anything that follows, and the other parts of those that have.
  function marked() {
    const all = blocks(), sections = new Set(all.map(({ section }) => section)), following = new Set(all.map(({ block }) => block));
    for (const section of main().querySelectorAll(".section")) {
      const places = sections.has(section) ? [...section.querySelectorAll(".block, .note")].filter((block) => !following.has(block) && block.textContent.trim()) : [section.querySelector(".section-body")];
      for (const place of places) place.dataset.whole = scope.words.ofAllJobs;
    }
    for (const place of document.querySelectorAll(".do-next, .head > .findings, #not-recorded")) place.dataset.whole = scope.words.ofAllJobs;
  }

  function work() {
    const begun = performance.now();
    while (tasks.length && performance.now() - begun < 8) tasks.shift()();
    if (tasks.length) timer = setTimeout(work); else main().removeAttribute("aria-busy");
  }

  // Shows a selection, or all jobs again: in small steps, so that a click on the way is answered at once.
  function show(state, jobs) {
    clearTimeout(timer);
    tasks = [];
    if (state) {
      selected = { state, jobs, found: new Map(), rows: null };
      const all = blocks(), following = new Set(all.map(({ section }) => section));
      tasks = [...all.map(({ id, kind, key, ranking, block }) => () => id.startsWith("figure-") ? picture(id, kind, key) : fill(block, id, kind, key, ranking)), ...[...following].map((section) => () => claim(section))];
    } else if (selected || kept.size) {
      selected = null;
      for (const one of main().querySelectorAll(".of-selection")) one.remove();
      for (const said of main().querySelectorAll(".said[hidden]")) said.hidden = false;
      tasks = [...kept.keys()].map((place) => () => restore(place));
    } else return;
    main().setAttribute("aria-busy", "true");
    timer = setTimeout(work);
  }

  // What is not restored yet when something is selected again stays kept: it is that of all jobs still.
  function restore(place) {
    if (typeof place === "string") figures.shown.get(place).replace();
    else {
      place.tBodies[0].replaceWith(kept.get(place).body);
      for (const head of place.tHead.rows[0].cells) head.hidden = false;
      explorer.names.mark(place);
    }
    kept.delete(place);
  }

  function begin(given) {
    scope = given;
    marked();
    addEventListener("beforeprint", () => { for (const task of tasks.splice(0)) task(); });
  }

  return { begin, show };
})();
