// The first screen as an instrument: one selection, held in the address; each part is drawn again from one pass over the cells.

const explorer = (() => {
  const { OUTCOMES, WAITS, MEASURED, quantile, sum } = cells;
  const { DAY, HOUR } = draw;
  const NAMES = ["completed", "limit", "failed", "cancelled", "running", "unknown"];
  const BAD = [1, 2, 3], KNOWN = [0, 1, 2, 3];
  const UNITS = ["cpu", "jobs", "gpu"];
  const FEW = 6; // rows of a list before it is opened
  const place = (id) => document.getElementById(`explorer-${id}`);
  const html = draw.escape;

  let about, words, data, sizes, time, state, shown, whole, columns, frame = 0, notice = "";
  const opened = new Set(), pictures = {};

  // --- Days ----------------------------------------------------------------------------------------

  const dayOf = (bin) => about.first_day + (bin < data.days.rows ? data.days.day[bin] : about.last_day - about.first_day);
  const step = () => data.days.rows > 1 ? Math.max(1, data.days.day[1] - data.days.day[0]) : about.last_day - about.first_day;
  const key = (bin) => about.is_relative ? String(dayOf(bin) + 1) : new Date(dayOf(bin) * DAY * 1000).toISOString().slice(0, 10);
  const readKey = (text) => about.is_relative ? Number(text) - 1 : Date.parse(`${text}T00:00Z`) / 1000 / DAY;
  const told = (bin, options) => about.is_relative ? `${words.day} ${dayOf(bin) + 1}` : time.day(dayOf(bin) * DAY, options);
  // The first bin that does not begin before a day.
  function binAt(day) {
    for (let bin = 0; bin < data.days.rows; bin++) if (dayOf(bin) >= day) return bin;
    return data.days.rows;
  }
  function periodInWords(from, to) {
    const last = about.is_relative ? `${words.day} ${dayOf(to)}` : time.day((dayOf(to) - 1) * DAY);
    return dayOf(to) - dayOf(from) === 1 ? last : `${told(from)} – ${last}`;
  }
  const total = (name, from = state.from, to = state.to) => {
    let found = 0;
    for (let bin = from; bin < to; bin++) found += data.days[name][bin];
    return found;
  };
  const hasWindow = () => total("known_seconds", 0, data.days.rows) > 0;

  // --- The selection and the address ---------------------------------------------------------------

  const nothing = () => ({ from: 0, to: data.days.rows, lists: {}, by: hasCpu() ? "cpu" : "jobs", weigh: hasCpu() ? "cpu" : "jobs", rows: 0, sort: "amount", up: false, at: "" });
  const hasCpu = () => Boolean(data.usage.cpu_seconds);
  const hasGpu = () => Boolean(data.usage.gpu_seconds);
  const isCut = () => state.from > 0 || state.to < data.days.rows;
  const isWhole = () => !isCut() && !Object.values(state.lists).some((set) => set.size);
  // What a class is called in an address: names as they are, after a second ~ where they begin with one.
  const idOf = (choice, code) => code < choice.names.length ? choice.names[code].replace(/^~/, "~~") : code === choice.names.length ? "~others" : "~none";
  const labelOf = (choice, code) => code < choice.names.length ? choice.names[code]
    : code === choice.names.length ? (choice.others ? words.others.replace("{n}", draw.number(choice.others)) : words.rest) : words.without;
  const named = (choice, code) => code < choice.names.length ? 0 : 1; // others, and none, come last
  const everyCode = (choice) => [...Array(choice.names.length + 2).keys()];

  function address() {
    const parts = [];
    for (const choice of about.choices) {
      const set = state.lists[choice.key];
      if (set?.size) parts.push(`${choice.key}=${[...set].map((code) => encodeURIComponent(idOf(choice, code))).join(",")}`);
    }
    if (isCut()) parts.push(`from=${key(state.from)}`, `to=${key(state.to)}`);
    const usual = nothing();
    for (const name of ["by", "weigh"]) if (state[name] !== usual[name]) parts.push(`${name}=${state[name]}`);
    if (state.rows) parts.push(`rows=${about.choices[state.rows].key}`);
    const close = figures.zoomed(); // seconds of the log's time
    if (close) parts.push(`zoom=${close.map(Math.round).join("..")}`);
    if (state.at && parts.length) parts.push(`at=${encodeURIComponent(state.at)}`);
    return parts.length ? `#${parts.join("&")}` : "";
  }

  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

  function read(hash) {
    const next = nothing(), lost = [];
    const parts = hash.replace(/^#/, "").split("&").map((part) => part.split(/=(.*)/s));
    for (const [name, value = ""] of parts) {
      const choice = about.choices.find((one) => one.key === name);
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
      else if (name === "weigh" && ["cpu", "jobs"].includes(value)) next.weigh = value;
      else if (name === "rows") next.rows = Math.max(0, about.choices.findIndex((one) => one.key === value));
      else if (name === "at") next.at = decoded(value);
      else if (name === "zoom" && /^-?\d+\.\.-?\d+$/.test(value)) next.zoom = value.split("..").map(Number);
      else if (name && value) lost.push(`${decoded(name)} ${decoded(value)}`);
    }
    if (next.to <= next.from) {
      lost.push(words.period);
      Object.assign(next, { from: 0, to: data.days.rows });
    }
    notice = lost.length ? `${words.lost} ${lost.join(", ")}` : "";
    return next;
  }

  function go(change, { keep = false } = {}) {
    notice = "";
    Object.assign(state, change);
    render();
    addressed(keep);
  }

  // The address says what is shown; it is a new one to go back from, unless that before is to *keep* its place.
  function addressed(keep) {
    const hash = address();
    if (hash === location.hash) return;
    const target = hash || location.pathname + location.search;
    if (keep) history.replaceState(null, "", target); else history.pushState(null, "", target);
  }

  function pick(name, code) {
    const set = new Set(state.lists[name]);
    if (!set.delete(code)) set.add(code);
    go({ lists: { ...state.lists, [name]: set } });
  }

  // --- Numbers -------------------------------------------------------------------------------------

  const offered = () => UNITS.filter((unit) => unit === "jobs" || (unit === "cpu" ? hasCpu() : hasGpu()));
  const scaled = (value, unit) => unit === "jobs" ? value : value / HOUR;
  const amount = (value, unit) => draw.compact(Number(scaled(value, unit).toPrecision(unit === "jobs" ? 15 : 3)));

  function badShare(outcomes) {
    const known = KNOWN.reduce((all, n) => all + outcomes[n], 0);
    return known ? BAD.reduce((all, n) => all + outcomes[n], 0) / known : null;
  }

  // The mean of busy processors over the time whose load is known; outside gaps, where the log does not tell what ran.
  function busy(made, from, to, { outside = true } = {}) {
    const seconds = total(outside ? "accounted_seconds" : "known_seconds", from, to);
    return seconds && hasCpu() ? (outside ? made.accounted : made.cpu) / seconds : null;
  }
  const hasGaps = (from, to) => hasWindow() && total("accounted_seconds", from, to) < total("known_seconds", from, to);

  const WAIT_FACTS = { jobs: "jobs.wait", cpu: "wait.weighted" };
  function wait(made, weigh, share) {
    if (!about.octaves) return null;
    const exact = isWhole() && made === shown ? about.facts[`${WAIT_FACTS[weigh]}.${share === 0.5 ? "median" : "p95"}`] : undefined;
    return exact ?? quantile(made.waits[weigh], share, about.octaves);
  }

  function number(fact, label, value, text, notes = []) {
    const missing = value === null ? " class=\"missing\"" : "";
    const told = notes.filter(Boolean).map((note) => `<dd class="under">${note}</dd>`).join("");
    return `<div><dt>${html(label)}</dt><dd data-fact="${fact}" data-value="${value ?? ""}"${missing}>${text}</dd>${told}</div>`;
  }
  const noted = (fact, value, text) => `<span data-fact="${fact}" data-value="${value ?? ""}">${text}</span>`;
  const ofWhole = (text) => isWhole() ? "" : `${html(words.whole)}: ${text}`;

  function numbers() {
    const found = [];
    const held = hasCpu() && noted("usage.cpu_seconds", hasWindow() ? shown.cpu : null, `${amount(shown.cpu, "cpu")} ${html(words.units.cpu)}`);
    const part = !isWhole() && hasCpu() && whole.cpu && `${draw.percent(shown.cpu / whole.cpu)} ${html(words.ofAll)}`;
    found.push(number("trace.jobs", words.jobs, shown.jobs, draw.number(shown.jobs, 15), [shown.undated && html(words.undated.replace("{n}", draw.number(shown.undated, 15))), held, part]));
    if (hasCpu()) found.push(busyness());
    found.push(endings());
    for (const weigh of ["cpu", "jobs"]) if (weigh === "jobs" || hasCpu()) found.push(waited(weigh));
    return found.join("");
  }

  // What jobs held of GPUs, and of them used and left idle where that is measured: the rest is unknown.
  function gpuNumbers() {
    const told = (name, value) => noted(`usage.${name}`, hasWindow() ? value : null, amount(value, "gpu"));
    const found = [number("", words.gpuHeld, shown.gpu, told("gpu_seconds", shown.gpu), [html(words.units.gpu), ofWhole(amount(whole.gpu, "gpu"))])];
    for (const [at, label] of [[0, words.gpuUsed], [2, words.gpuIdle]]) {
      if (!data.usage[MEASURED[at]]) continue;
      const [part, known] = shown.measured.slice(at, at + 2), share = (made) => made.measured[at + 1] ? made.measured[at] / made.measured[at + 1] : null;
      const parts = { part: told(MEASURED[at], part), known: told(MEASURED[at + 1], known), share: draw.percent(known / shown.gpu) };
      const under = known ? [html(words.ofMeasured).replace(/{(\w+)}/g, (_, name) => parts[name]), share(whole) !== null && ofWhole(draw.percent(share(whole)))] : [];
      found.push(number("", label, share(shown), known ? draw.percent(share(shown)) : html(words.unknown), under));
    }
    return found.join("") + (isMeasured() ? "" : `<div class="wide"><dt>${html(words.gpuUsed)}</dt><dd class="missing">${html(words.notMeasured)}</dd></div>`);
  }
  const isMeasured = () => MEASURED.some((name) => data.usage[name]);
  // By what those who hold GPUs are told apart.
  const holdersOf = () => about.choices.findIndex(({ key: name }) => name === (["project", "user", "queue"].find((one) => about.choices.some((choice) => choice.key === one)) ?? about.choices[0]?.key));

  // Who left most GPU-hours idle or, where it is not known which GPUs were idle, unused.
  function holders() {
    const choice = about.choices[holdersOf()], isIdle = Boolean(data.usage.gpu_idle_seconds);
    if (!choice || !isMeasured()) return "";
    const of = (code, at) => shown.holders[code * MEASURED.length + at];
    const rows = everyCode(choice).map((code) => ({ code, lost: isIdle ? of(code, 2) : of(code, 1) - of(code, 0), known: of(code, isIdle ? 3 : 1) }))
      .filter(({ lost }) => lost > 0).sort((a, b) => b.lost - a.lost || a.code - b.code).slice(0, FEW - 1);
    const set = state.lists[choice.key] ?? new Set(), most = Math.max(...rows.map(({ lost }) => lost), 0);
    const items = rows.map(({ code, lost, known }) => {
      const label = labelOf(choice, code);
      return `<li><button type="button" data-pick="${choice.key}" value="${code}" data-place="holders/${code}" aria-pressed="${set.has(code)}" title="${html(label)}: ${draw.number(lost / HOUR, 10)} ${html(words.units.gpu)}">`
        + `<bdi class="name">${html(label)}</bdi><span class="share">${amount(lost, "gpu")} · ${draw.percent(lost / known)}</span><span class="track"><i style="width:${(100 * lost / most).toFixed(2)}%;background:var(--outcome-failed)"></i></span></button></li>`;
    }).join("");
    const heading = (isIdle ? words.idleBy : words.unusedBy).replace("{title}", choice.title);
    return `<section class="list" aria-label="${html(heading)}"><h3>${html(heading)}</h3>${items ? `<ol>${items}</ol>` : `<p class="hint">${html(words.nothing)}</p>`}</section>`;
  }

  // How busy the system was: a share of it or, where its size is not known, processors.
  function busyness() {
    const { from, to } = state, days = data.days.rows, isOutside = hasGaps(from, to);
    const value = (mean) => mean === null || !about.cpus ? mean : mean / about.cpus;
    const level = (part) => part === null ? html(words.unknown) : about.cpus ? draw.percent(part) : draw.number(part);
    const text = (mean) => level(value(mean));
    const title = about.cpus ? words.busy : words.busyCpus, size = html(about.cpus ? words.ofCpus.replace("{n}", draw.number(about.cpus)) : words.noSize);
    const fact = about.cpus ? { known: "utilization.known_mean", mean: "utilization.mean", least: "utilization.at_least" }
      : { known: "utilization.known_busy", mean: "utilization.busy", least: "utilization.busy_at_least" };
    if (!hasWindow()) { // cells do not tell of which time the load is known best: there is a bound of the whole
      const bound = isWhole() ? about.facts[fact.least] ?? null : null;
      return number(fact.least, title, bound, (bound === null ? "" : "≥ ") + level(bound), [size]);
    }
    const mean = busy(shown, from, to), all = busy(shown, from, to, { outside: false });
    return number(isOutside ? fact.known : fact.mean, title, value(mean), text(mean), [
      isOutside && `${html(words.outsideGaps)}; ${noted(fact.mean, value(all), `${html(words.withGaps)}: ${text(all)}`)}`,
      size, ofWhole(text(busy(whole, 0, days)))]);
  }

  // What did not complete: of core-hours, or of jobs where these are not known.
  function endings() {
    const unit = hasCpu() ? "cpu" : "jobs", outcomes = shown.outcomes[unit], share = badShare(outcomes);
    const known = hasCpu() && hasWindow();
    const parts = BAD.filter((n) => outcomes[n]).map((n) => noted(known ? `usage.outcomes.${NAMES[n]}` : "", known ? outcomes[n] : null, `${html(words.outcomes[n])} ${amount(outcomes[n], unit)}`));
    const silent = badShare(whole.outcomes[unit]) === null ? words.none : words.unknown;
    return number("", words.incomplete, share, share === null ? html(silent) : draw.percent(share),
      share === null ? [] : [html(words.ofKnown[unit]), parts.join(" · "), ofWhole(draw.percent(badShare(whole.outcomes[unit])))]);
  }

  // A quantile from classes of half octaves, which is known to about a fifth.
  function roughly(seconds) {
    if (seconds === null) return draw.duration(seconds);
    return seconds < 1 ? `< 1${"\u00a0"}s` : `≈${"\u00a0"}${draw.duration(seconds, 2)}`;
  }

  function waited(weigh) {
    const fact = WAIT_FACTS[weigh], [half, most] = [wait(shown, weigh, 0.5), wait(shown, weigh, 0.95)];
    const text = (seconds) => isWhole() ? draw.length(seconds) : roughly(seconds);
    const all = about.facts[`${fact}.median`] ?? quantile(whole.waits[weigh], 0.5, about.octaves || 1);
    return number(`${fact}.median`, words.waited[weigh], half, half === null ? html(words.none) : text(half),
      half === null ? [] : [noted(`${fact}.p95`, most, `${html(words.median)}; 95${"\u00a0"}%: ${text(most)}`), all !== null && ofWhole(draw.length(all))]);
  }

  // --- Chips, switches, lists ----------------------------------------------------------------------

  function chips() {
    const found = about.choices.flatMap((choice) => [...(state.lists[choice.key] ?? [])].map((code) => [`${choice.heading}: ${labelOf(choice, code)}`, `${choice.key}/${code}`]));
    if (isCut()) found.push([periodInWords(state.from, state.to), "period"]);
    const warned = notice ? `<span class="notice" role="alert">${html(notice)}</span>` : "";
    if (!found.length) return warned || `<span class="hint">${html(words.hint)}</span>`;
    return found.map(([label, drop]) => `<button type="button" class="chip" data-drop="${html(drop)}" data-place="chip/${html(drop)}" aria-label="${html(words.remove)} ${html(label)}"><bdi>${html(label)}</bdi> <span aria-hidden="true">×</span></button>`).join("")
      + `<button type="button" class="clear" data-drop="all" data-place="chip/all">${html(words.clear)}</button>${warned}`;
  }

  const switches = (name, options, chosen) => options.length < 2 ? "" : options.map(([value, label]) =>
    `<button type="button" data-switch="${name}" data-place="${name}/${value}" value="${value}" aria-pressed="${String(value) === String(chosen)}">${html(label)}</button>`).join("");

  const swatch = (n) => `var(--outcome-${NAMES[n]})`;

  function track(values, code, most) {
    return NAMES.map((_, n) => {
      const part = values[code * OUTCOMES + n];
      return part > 0 ? `<i style="width:${(100 * part / most).toFixed(2)}%;background:${swatch(n)}"></i>` : "";
    }).join("");
  }

  // The button that shows the remaining rows of a list (*count*), and hides them again.
  function opener(what, count) {
    const isOpen = opened.has(what), told = isOpen ? words.fewer : words.more.replace("{n}", draw.number(count));
    return `<button type="button" class="more" data-open="${what}" data-place="open/${what}" aria-expanded="${isOpen}">${html(told)}</button>`;
  }

  function list(choice, k) {
    const values = shown.lists[k][state.by], set = state.lists[choice.key] ?? new Set();
    const every = everyCode(choice).map((code) => [code, sum(values, code)]);
    const all = every.reduce((found, [, value]) => found + value, 0);
    let rows = every.filter(([code, value]) => value > 0 || set.has(code));
    if (!choice.has_own_order) rows = rows.sort(([a, one], [b, other]) => named(choice, a) - named(choice, b) || other - one || a - b);
    const most = Math.max(...rows.map(([, value]) => value), 0) || 1;
    const isOpen = opened.has(choice.key) || rows.length <= FEW + 2;
    const few = isOpen ? rows : rows.filter(([code], at) => at < FEW || set.has(code));
    const items = few.map(([code, value]) => {
      const label = labelOf(choice, code), exact = scaled(value, state.by);
      return `<li><button type="button" data-pick="${choice.key}" value="${code}" data-place="${choice.key}/${code}" aria-pressed="${set.has(code)}" title="${html(label)}: ${draw.number(exact, 10)} ${html(words.units[state.by])}">`
        + `<bdi class="name">${html(label)}</bdi><span class="share">${all ? draw.percent(value / all) : "–"}</span><span class="track">${track(values, code, most)}</span></button></li>`;
    }).join("");
    const more = rows.length > few.length || opened.has(choice.key) ? opener(choice.key, rows.length - few.length) : "";
    return `<section class="list" aria-label="${html(choice.title)}"><h3>${html(choice.heading)}</h3><ol>${items}</ol>${items ? more : `<p class="hint">${html(words.nothing)}</p>`}</section>`;
  }

  // --- The table -----------------------------------------------------------------------------------

  const HEADS = ["name", "jobs", "amount", "share", "bad", "median", "p95"];

  function rowsOfTable() {
    const choice = about.choices[state.rows], k = state.rows, unit = state.by === "gpu" ? "gpu" : hasCpu() ? "cpu" : "jobs";
    const all = sum(shown.outcomes[unit]);
    return everyCode(choice).flatMap((code) => {
      const jobs = sum(shown.lists[k].jobs, code), held = sum(shown.lists[k][unit], code), set = state.lists[choice.key];
      if (set?.size && !set.has(code) || !jobs && !held) return [];
      const outcomes = shown.lists[k][unit].slice(code * OUTCOMES, (code + 1) * OUTCOMES);
      const [median, p95] = [0.5, 0.95].map((share) => about.octaves ? quantile(shown.rows[state.weigh], share, about.octaves, code * WAITS) : null);
      return [{ code, name: labelOf(choice, code), jobs, amount: scaled(held, unit), share: all ? held / all : null, bad: badShare(outcomes), median, p95 }];
    }).sort((one, other) => named(choice, one.code) - named(choice, other.code) || compared(one, other, choice));
  }

  function compared(one, other, choice) {
    if (state.sort === "name") return (choice.has_own_order ? one.code - other.code : one.name.localeCompare(other.name)) * (state.up ? -1 : 1);
    const [a, b] = [one[state.sort], other[state.sort]];
    return ((b ?? -Infinity) - (a ?? -Infinity) || one.code - other.code) * (state.up ? -1 : 1);
  }

  function table() {
    const choice = about.choices[state.rows], rows = rowsOfTable(), unit = state.by === "gpu" ? "gpu" : "cpu";
    const labels = { name: choice.heading, jobs: words.jobs, amount: words.units[unit], share: words.share, bad: words.incomplete, median: words.median, p95: "95\u00a0%" };
    const heads = HEADS.map((name) => `<th scope="col"${name === "name" ? "" : " class=\"number\""} aria-sort="${state.sort === name ? state.up ? "ascending" : "descending" : "none"}"><button type="button" data-sort="${name}" data-place="sort/${name}">${html(labels[name])}</button></th>`).join("");
    const most = 100, isOpen = opened.has("table") || rows.length <= FEW + 2;
    const body = rows.slice(0, isOpen ? most : FEW).map((row) => `<tr><th scope="row"><bdi>${html(row.name)}</bdi></th>`
      + `<td class="number">${draw.number(row.jobs, 15)}</td><td class="number">${draw.compact(Number(row.amount.toPrecision(3)))}</td><td class="number">${draw.percent(row.share)}</td>`
      + `<td class="number">${row.bad === null ? "–" : draw.percent(row.bad)}</td><td class="number">${roughly(row.median)}</td><td class="number">${roughly(row.p95)}</td></tr>`).join("");
    const more = rows.length > FEW + 2 ? `<tfoot><tr><td colspan="${HEADS.length}">${opener("table", Math.min(rows.length, most) - FEW)}</td></tr></tfoot>` : "";
    const cut = isOpen && rows.length > most ? `<caption>${html(words.first.replace("{n}", most).replace("{all}", draw.number(rows.length)))}</caption>` : "";
    return `${cut}<thead><tr>${heads}</tr></thead><tbody>${body}</tbody>${more}`;
  }

  function lines() {
    const choice = about.choices[state.rows], unit = state.by === "gpu" ? "gpu_hours" : "core_hours";
    const heads = [choice.key, "jobs", unit, "share", "not_completed_share", "wait_median_about_seconds", "wait_p95_about_seconds"];
    return [heads, ...rowsOfTable().map((row) => HEADS.map((name) => row[name]))];
  }

  // --- Pictures ------------------------------------------------------------------------------------

  const margins = { left: 60, right: 12 };

  // Amounts a day over time, stacked by outcome, before the whole log in grey.
  function strip(width, look = {}) {
    const height = look.height ?? (width < 560 ? 190 : 220), top = 20, bottom = height - 24, unit = state.by;
    const days = data.days.rows, x = draw.linear([dayOf(0), dayOf(days)], [margins.left, width - margins.right]);
    const each = (x.range[1] - x.range[0]) / (dayOf(days) - dayOf(0)) * step();
    const grouped = [1, 7, 14, 28, 91, 182].find((n) => each * n >= 1.6) ?? 364;
    const edges = [], sums = [], behind = [], lengths = [];
    for (let bin = 0; bin < days; bin += grouped) {
      const end = Math.min(bin + grouped, days);
      edges.push(x(dayOf(bin)));
      const seconds = total("seconds", bin, end) || (dayOf(end) - dayOf(bin)) * DAY;
      lengths.push(seconds);
      const stack = (made) => NAMES.map((_, n) => {
        let found = 0;
        for (let at = bin; at < end; at++) found += made.time[unit][at * OUTCOMES + n];
        return scaled(found, unit) / seconds * DAY;
      });
      sums.push(stack(shown));
      behind.push(stack(whole).reduce((all, value) => all + value, 0));
    }
    edges.push(x(dayOf(days)));
    const tops = sums.map((stack) => stack.reduce((all, value) => all + value, 0));
    const capacity = about.cpus && unit === "cpu" ? about.cpus * 24 : null, most = Math.max(...tops, 0);
    const fits = capacity && most > capacity / 4 && most < capacity * 2;
    const high = (fits ? Math.max(most, capacity) : isWhole() ? most : Math.max(most, Math.min(most * 4, Math.max(...behind)))) * 1.05 || 1;
    const y = draw.linear([0, high], [bottom, top]);
    let body = "";
    body += gaps(x, top, bottom);
    for (const [value, label] of draw.linearTicks(0, high, "", 4)) body += draw.line(margins.left, y(value), width - margins.right, y(value)) + draw.text(margins.left - 6, y(value) + 4, label, { "text-anchor": "end" });
    const base = tops.map(() => y(0));
    if (!isWhole()) body += draw.path(draw.band(edges, base, behind.map((value) => y(Math.min(value, high)))), { fill: "var(--behind)" });
    let below = tops.map(() => 0);
    NAMES.forEach((name, n) => {
      const above = below.map((value, at) => value + sums[at][n]);
      body += draw.path(draw.band(edges, below.map(y), above.map((value) => y(Math.min(value, high)))), { fill: `var(--outcome-${name})`, "shape-rendering": "crispEdges" });
      below = above;
    });
    const clock = about.is_relative ? null : time;
    const ticks = clock ? clock.ticks(dayOf(0) * DAY, dayOf(days) * DAY, x.range[1] - x.range[0]) : draw.linearTicks(dayOf(0), dayOf(days), "", 8).map(([day, label]) => [day * DAY, label]);
    for (const [moment, label] of ticks) {
      const at = x(moment / DAY);
      body += draw.line(at, bottom, at, bottom + 4, { stroke: draw.colours.muted });
      if (at < width - margins.right - 20) body += draw.text(at + 3, height - 8, label);
    }
    body += draw.line(margins.left, bottom, width - margins.right, bottom, { stroke: draw.colours.muted });
    if (fits) body += draw.line(margins.left, y(capacity), width - margins.right, y(capacity), { stroke: draw.colours.ink, "stroke-dasharray": "3 3" });
    const named = `${words.perDay[unit]}${grouped * step() > 1 ? ` (${words.means.replace("{n}", grouped * step())})` : ""}`;
    const ceiling = capacity && words.capacity.replace("{n}", draw.compact(Number(capacity.toPrecision(3))));
    const hasRoom = capacity && draw.measure(named) + draw.measure(ceiling) + 12 < x.range[1] - 4;
    if (hasRoom) body += draw.text(width - margins.right, top - 7, ceiling, { "text-anchor": "end", ...(fits && { fill: draw.colours.ink }) });
    body += draw.text(hasRoom ? margins.left : 4, top - 7, draw.cut(named, width - 8));
    if (isCut()) body += chosen(x, top, bottom, width);
    return { svg: draw.svg(width, height, body, { "aria-hidden": "true" }), x, y, top, bottom, height, width, reading };

    function reading(at) {
      const bin = binOf(x, at), sumOf = NAMES.map((name, n) => [n, scaled(shown.time[unit][bin * OUTCOMES + n], unit)]).filter(([, value]) => value);
      const all = sumOf.reduce((found, [, value]) => found + value, 0), room = capacity && capacity / DAY * (data.days.seconds[bin] || DAY);
      const title = step() > 1 ? periodInWords(bin, bin + 1) : about.is_relative ? told(bin) : told(bin, { weekday: true });
      const remarks = about.marks.filter((mark) => mark.since < dayOf(bin + 1) && mark.until > dayOf(bin)).map((mark) => words.marks[mark.kind]);
      if (hasWindow() && data.days.known_seconds[bin] < data.days.seconds[bin]) remarks.push(words.outside);
      return {
        x: x((dayOf(bin) + dayOf(bin + 1)) / 2), title,
        rows: [[words.units[unit], draw.number(all, 10) + (room ? ` · ${draw.percent(all / room)}` : "")],
          ...sumOf.map(([n, value]) => [words.outcomes[n], draw.number(value, 10), swatch(n)]), ...new Set(remarks)].map((row) => Array.isArray(row) ? row : [row, ""]),
      };
    }
  }

  const binOf = (x, at) => {
    const day = x.invert(at);
    let bin = 0;
    while (bin + 1 < data.days.rows && dayOf(bin + 1) <= day) bin++;
    return bin;
  };
  // The edge of a bin that is nearest.
  const edgeAt = (x, at) => {
    const bin = binOf(x, at);
    return x.invert(at) - dayOf(bin) < dayOf(bin + 1) - x.invert(at) ? bin : bin + 1;
  };

  // What the log does not know, and outages.
  function gaps(x, top, bottom) {
    let body = draw.hatch("explorer-outside", 0), areas = [];
    for (let from = 0; hasWindow() && from < data.days.rows; from++) {
      if (data.days.known_seconds[from] > 0) continue;
      let to = from;
      while (to < data.days.rows && !(data.days.known_seconds[to] > 0)) to++;
      areas.push([x(dayOf(from)), top, x(dayOf(to)) - x(dayOf(from)), bottom - top]);
      from = to;
    }
    body += draw.path(draw.boxes(areas), { fill: "url(#explorer-outside)" });
    const marks = about.marks.map(({ since, until }) => [x(since), top, Math.max(1.5, x(until) - x(since)), bottom - top]);
    return body + draw.path(draw.boxes(marks), { fill: "var(--mark)" });
  }

  function chosen(x, top, bottom) {
    const [left, right] = [x(dayOf(state.from)), x(dayOf(state.to))];
    const veils = [[x.range[0], top, left - x.range[0], bottom - top], [right, top, x.range[1] - right, bottom - top]];
    return draw.path(draw.boxes(veils.filter(([, , wide]) => wide > 0)), { fill: "var(--veil)" })
      + [left, right].map((at) => draw.line(at, top, at, bottom, { stroke: draw.colours.accent, "stroke-width": 2 })).join("");
  }

  // The share of jobs or core-hours that waited no longer than so long.
  function waits(width) {
    const height = 240, top = 10, bottom = height - 40, weights = shown.waits[state.weigh], all = whole.waits[state.weigh];
    const last = Math.max(...[weights, all].map((one) => one.findLastIndex((value, code) => code && value)), 2);
    const high = Math.max(cells.least(last + 1, about.octaves), 120), x = draw.logWithZero([1, high], [margins.left, width - margins.right], 20), y = draw.linear([0, 1], [bottom, top]);
    const shares = (source) => {
      let below = 0;
      const sums = [...source].map((value, code) => code ? below += value : 0);
      return sums.map((value) => value / (below || 1));
    };
    const [mine, others] = [shares(weights), shares(all)];
    const places = [...Array(last).keys()].map((n) => n + 1);
    const course = (values) => draw.course([x(0), ...places.map((code) => x(code === 1 ? 1 : cells.least(code + 1, about.octaves)))], [y(values[1]), ...places.map((code) => y(values[code]))]);
    let body = "";
    for (const [value, label] of draw.linearTicks(0, 1, "fraction", 4)) body += draw.line(margins.left, y(value), width - margins.right, y(value)) + draw.text(margins.left - 6, y(value) + 4, label, { "text-anchor": "end" });
    for (const [value, label] of draw.apart([[0, "0"], ...draw.logTicks(1, high, "seconds")], x, { to: width - 4 })) body += draw.line(x(value), top, x(value), bottom) + draw.text(x(value), bottom + 16, label, { "text-anchor": "middle" });
    body += draw.text(margins.left, height - 6, words.waitedAtMost);
    if (!isWhole()) body += draw.path(course(others), { stroke: draw.colours.muted, "stroke-width": 1.5, "stroke-dasharray": "5 3" });
    const known = mine[WAITS - 1] > 0;
    body += known ? draw.path(course(mine), { stroke: draw.colours.accent, "stroke-width": 2 }) : draw.text(width / 2, (top + bottom) / 2, words.none, { "text-anchor": "middle" });
    return { svg: draw.svg(width, height, body, { "aria-hidden": "true" }), x, top, bottom, height, width, reading(at) {
      const seconds = x.invert(at), code = places.findLast((one) => (one === 1 ? 1 : cells.least(one, about.octaves)) <= seconds) ?? 1;
      const border = code === 1 ? 1 : cells.least(code + 1, about.octaves);
      return { x: x(border), title: `${words.within} ${draw.duration(border, 2)}`, rows: [[words.selection, known ? draw.percent(mine[code]) : "–", draw.colours.accent], ...(isWhole() ? [] : [[words.whole, draw.percent(others[code]), draw.colours.muted]])] };
    } };
  }

  // Jobs by hour of the day, along the days: a calendar of when people work.
  function calendar(width) {
    const height = 250, top = 8, bottom = height - 46, { count, from, to, days } = columns;
    const x = draw.linear([dayOf(state.from), dayOf(state.to)], [margins.left, width - margins.right]);
    const h = (bottom - top) / 24, rate = (n) => shown.calendar[n] / days[Math.floor(n / 24)];
    const sorted = [...shown.calendar.keys()].map(rate).filter(Boolean).sort((a, b) => a - b);
    const most = sorted.length ? sorted[Math.floor(0.98 * (sorted.length - 1))] : 1, levels = [0, 1, 2, 3, 4, 5];
    const step = draw.nice(most / 3 || 1), limits = levels.slice(1).map((n) => step * [0.05, 0.2, 0.5, 1, 2][n - 1]);
    const boxes = levels.map(() => []);
    for (let n = 0; n < shown.calendar.length; n++) {
      if (!shown.calendar[n]) continue;
      const column = Math.floor(n / 24), left = x(from[column]), wide = x(to[column]) - left, level = limits.filter((limit) => rate(n) >= limit).length;
      boxes[level].push([left, top + (n % 24) * h, Math.max(wide - (wide > 6 ? 1 : 0), 0.8), h - (h > 6 ? 1 : 0)]);
    }
    let body = draw.rect(margins.left, top, width - margins.left - margins.right, bottom - top, { fill: "var(--empty)" });
    levels.forEach((level) => { body += draw.path(draw.boxes(boxes[level]), { fill: `var(--heat-${level})` }); });
    for (const hour of [0, 6, 12, 18]) body += draw.text(margins.left - 6, top + hour * h + 10, `${String(hour).padStart(2, "0")}:00`, { "text-anchor": "end" });
    const ticks = about.is_relative ? draw.linearTicks(dayOf(state.from), dayOf(state.to), "", 6).map(([day, label]) => [day * DAY, label]) : time.ticks(dayOf(state.from) * DAY, dayOf(state.to) * DAY, x.range[1] - x.range[0]);
    for (const [moment, label] of ticks) {
      const at = x(moment / DAY);
      body += draw.line(at, bottom, at, bottom + 4, { stroke: draw.colours.muted });
      if (at < width - margins.right - 20) body += draw.text(at + 3, bottom + 15, label);
    }
    let at = width - margins.right;
    for (const level of [...levels].reverse()) {
      const label = level ? `${level === 5 ? "≥ " : ""}${draw.compact(limits[level - 1])}` : `< ${draw.compact(limits[0])}`;
      at -= 22 + draw.measure(label, 12);
      body += draw.rect(at, height - 15, 11, 11, { fill: `var(--heat-${level})` }) + draw.text(at + 15, height - 5, label);
    }
    const isBeside = at - 8 - draw.measure(words.jobsAnHour, 12) >= 0; // else it stands in a line of its own
    body += draw.text(isBeside ? at - 8 : width - margins.right, isBeside ? height - 5 : height + 13, words.jobsAnHour, { "text-anchor": "end" });
    return { svg: draw.svg(width, height + (isBeside ? 0 : 18), body, { "aria-hidden": "true" }), x, top, bottom, height, width, reading(place, y = (top + bottom) / 2) {
      const day = x.invert(place), column = Math.max(0, from.findLastIndex((first) => first <= day)), hour = Math.max(0, Math.min(23, Math.floor((y - top) / h)));
      const named = about.is_relative ? `${words.day} ${from[column] + 1}` : time.day(from[column] * DAY, { weekday: to[column] - from[column] === 1 });
      const last = about.is_relative ? `${words.day} ${to[column]}` : time.day((to[column] - 1) * DAY);
      return { x: x((from[column] + to[column]) / 2), y: top + (hour + 0.5) * h, title: `${to[column] - from[column] > 1 ? `${named} – ${last}` : named}, ${String(hour).padStart(2, "0")}:00`,
        rows: [[words.jobs, draw.number(shown.calendar[column * 24 + hour], 15)], [words.jobsAnHour, draw.number(rate(column * 24 + hour), 3)]] };
    } };
  }

  // The columns of the calendar: days, weeks or months, so that each is wide enough to be seen.
  function calendarColumns() {
    const days = dayOf(state.to) - dayOf(state.from), of = new Uint16Array(data.days.rows), from = [], to = [], length = [];
    const group = days <= 400 || about.is_relative && days <= 400 ? (day) => day : days <= 2800 ? (day) => Math.floor((day + 3) / 7)
      : (day) => { const date = new Date(day * DAY * 1000); return date.getUTCFullYear() * 12 + date.getUTCMonth(); };
    let before = null;
    for (let bin = state.from; bin < state.to; bin++) {
      const named = group(dayOf(bin));
      if (named !== before) { from.push(dayOf(bin)); to.push(dayOf(bin)); length.push(0); }
      before = named;
      of[bin] = from.length - 1;
      to[to.length - 1] = dayOf(bin + 1);
      length[length.length - 1] += dayOf(bin + 1) - dayOf(bin);
    }
    return { of, from, to, days: length, count: from.length };
  }

  // --- Drawing -------------------------------------------------------------------------------------

  const DRAWN = { strip, waits, calendar };
  const drawn = () => [data.days.rows > 2 && "strip", about.octaves && "waits", data.jobs.hour && "calendar"].filter(Boolean);

  function render() {
    performance.mark("gwa-filter");
    columns = calendarColumns();
    const asked = { every: !hasWindow(), rows: state.rows, holders: holdersOf(), columnOf: columns.of, columns: columns.count };
    shown = cells.select(data, sizes, state, asked);
    whole ??= isWhole() ? shown : cells.select(data, sizes, nothing(), { every: !hasWindow(), rows: -1, holders: -1, columnOf: new Uint16Array(data.days.rows), columns: 1 });
    performance.measure("gwa-pass", "gwa-filter");
    const focus = document.activeElement?.dataset?.place;
    place("chips").innerHTML = chips();
    place("numbers").innerHTML = numbers();
    if (hasGpu()) {
      place("gpus").innerHTML = gpuNumbers();
      place("holders").innerHTML = holders();
    }
    place("by").innerHTML = switches("by", offered().map((unit) => [unit, words.units[unit]]), state.by);
    place("lists").innerHTML = about.choices.map(list).join("") + outcomeList();
    beside();
    place("weigh").innerHTML = switches("weigh", hasCpu() ? ["cpu", "jobs"].map((weigh) => [weigh, words.weigh[weigh]]) : [], state.weigh);
    if (about.choices.length) place("rows").innerHTML = switches("rows", about.choices.map((choice, k) => [k, choice.heading]), state.rows);
    document.documentElement.classList.toggle("is-selected", !isWhole());
    if (drawn().includes("strip")) paint("strip");
    chapters.show(isWhole() ? null : { ...state }, shown.jobs);
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(below);
    const [from, to] = [place("from"), place("to")];
    from.value = key(state.from);
    to.value = about.is_relative ? String(dayOf(state.to)) : new Date((dayOf(state.to) - 1) * DAY * 1000).toISOString().slice(0, 10);
    if (focus) document.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    performance.measure("gwa-filter", "gwa-filter");
  }

  // As many lists side by side as fit, and in each row about as many: a last row of one or two leaves a hole.
  function beside() {
    const lists = place("lists"), count = lists.children.length, fit = Math.max(2, Math.floor((lists.clientWidth + 16) / 168));
    lists.style.setProperty("--columns", Math.ceil(count / Math.ceil(count / fit)) || 1);
  }

  // Of outcomes that the log does not have none says what its colour stands for.
  function legend() {
    const has = (n) => UNITS.some((unit) => whole.outcomes[unit][n] || [...whole.time[unit].keys()].some((at) => at % OUTCOMES === n && whole.time[unit][at]));
    [...place("legend").children].forEach((one, n) => { one.hidden = !has(n); });
  }

  // What stands further down is drawn a frame later, so that a click answers at once.
  function below() {
    const focus = document.activeElement?.dataset?.place;
    for (const name of drawn()) if (name !== "strip") paint(name);
    if (about.choices.length) place("table").innerHTML = table();
    if (focus) document.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  function paint(name) {
    const plot = place(name), width = Math.max(280, plot.clientWidth || 900);
    pictures[name] = DRAWN[name](width);
    plot.querySelector(".drawn").innerHTML = pictures[name].svg;
  }

  // How jobs ended: a list like the others, but nothing to choose by, as each bar is stacked by it.
  function outcomeList() {
    const values = shown.outcomes[state.by], all = sum(values);
    if (!all || badShare(whole.outcomes[state.by]) === null) return "";
    const most = Math.max(...values);
    const items = NAMES.map((name, n) => values[n] ? `<li class="row" title="${draw.number(scaled(values[n], state.by), 10)} ${html(words.units[state.by])}"><span class="name">${html(words.outcomes[n])}</span><span class="share">${draw.percent(values[n] / all)}</span><span class="track"><i style="width:${(100 * values[n] / most).toFixed(2)}%;background:${swatch(n)}"></i></span></li>` : "").join("");
    return `<section class="list" aria-label="${html(words.outcome)}"><h3>${html(words.outcome)}</h3><ol>${items}</ol></section>`;
  }

  // --- Pointing, dragging, keys --------------------------------------------------------------------

  function tip(name, at, y) {
    const reading = pictures[name].reading(at, y), box = place("tip"), plot = place(name);
    box.innerHTML = `<strong>${html(reading.title)}</strong>${reading.rows.map(([label, value, look]) => `<span>${look ? `<i style="background:${look}"></i>` : ""}${html(label)} <data>${value}</data></span>`).join("")}`;
    box.hidden = false;
    plot.append(box);
    const left = Math.min(Math.max(0, reading.x + 12), plot.clientWidth - box.offsetWidth);
    box.style.transform = `translate(${reading.x + 12 > left ? Math.max(0, reading.x - box.offsetWidth - 12) : left}px, ${pictures[name].top}px)`;
    const cursor = plot.querySelector(".cursor");
    cursor.style.cssText = `left:${reading.x}px;top:${pictures[name].top}px;height:${pictures[name].bottom - pictures[name].top}px`;
    cursor.hidden = false;
    place("said").textContent = `${reading.title}: ${reading.rows.map(([label, value]) => `${label} ${value}`).join(", ")}`;
  }

  function quiet(name) {
    place("tip").hidden = true;
    place(name).querySelector(".cursor").hidden = true;
  }

  function pointing(name) {
    const plot = place(name), local = (event) => [event.clientX - plot.getBoundingClientRect().left, event.clientY - plot.getBoundingClientRect().top];
    let begun = null;
    plot.addEventListener("pointermove", (event) => {
      const [at, y] = local(event), { x } = pictures[name];
      if (begun !== null && Math.abs(at - begun.at) > 4) {
        const [from, to] = [begun.at, at].sort((a, b) => a - b).map((one) => edgeAt(pictures.strip.x, one));
        if (to > from) go({ from, to }, { keep: begun.kept });
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
    plot.addEventListener("dblclick", () => go({ from: 0, to: data.days.rows }));
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
      const [low, high] = pictures[name].x.range;
      at = Math.min(high - 0.01, Math.max(low, (at ?? low) + steps * Math.max(1.6, (high - low) / (name === "strip" ? data.days.rows : 60))));
      if (name === "strip" && event.shiftKey) {
        const bin = binOf(pictures.strip.x, at);
        anchor ??= bin;
        go({ from: Math.min(anchor, bin), to: Math.max(anchor, bin) + 1 }, { keep: true });
      } else anchor = null;
      tip(name, at);
    });
    plot.addEventListener("blur", () => quiet(name));
  }

  function clicked(event) {
    const button = event.target.closest("button, a");
    if (!button) return;
    const { pick: picked, drop, open, switch: switched, sort, save } = button.dataset;
    if (picked) pick(picked, Number(button.value));
    else if (drop === "all") go({ from: 0, to: data.days.rows, lists: {} });
    else if (drop === "period") go({ from: 0, to: data.days.rows });
    else if (drop) pick(drop.slice(0, drop.lastIndexOf("/")), Number(drop.slice(drop.lastIndexOf("/") + 1)));
    else if (open) { if (!opened.delete(open)) opened.add(open); render(); }
    else if (switched) go({ [switched]: switched === "rows" ? Number(button.value) : button.value });
    else if (sort) go({ up: state.sort === sort ? !state.up : false, sort }, { keep: true });
    else if (save) saved(save);
    else if (button.id === "explorer-link") {
      navigator.clipboard?.writeText(location.href).then(() => { place("said").textContent = button.dataset.done; button.classList.add("is-done"); setTimeout(() => button.classList.remove("is-done"), 1500); }, () => {});
    }
  }

  function dated() {
    const from = readKey(place("from").value), to = readKey(place("to").value) + 1;
    if (Number.isFinite(from) && Number.isFinite(to) && binAt(from) < binAt(to)) go({ from: binAt(from), to: binAt(to) });
    else render();
  }

  // --- Saving --------------------------------------------------------------------------------------

  function saved(kind) {
    const name = document.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "gwa";
    if (kind === "csv") download(`${name}.csv`, "text/csv", csv(lines()));
    if (kind === "svg") download(`${name}.svg`, "image/svg+xml", slide());
    if (kind === "png") figures.raster(slide(), 1200, 560, (blob) => download(`${name}.png`, "image/png", blob));
  }

  // The strip as a picture of its own: with the title, what is chosen, what colours stand for, and the source.
  function slide() {
    const width = 1200, look = getComputedStyle(document.documentElement), inner = strip(width, { height: 420 });
    const chosen = [...place("chips").querySelectorAll(".chip bdi")].map((chip) => chip.textContent).join(" · ");
    const legend = draw.legend(NAMES.flatMap((_, n) => shown.outcomes[state.by][n] ? [{ label: words.outcomes[n], sample: draw.boxSample({ fill: swatch(n) }) }] : []), width - 60);
    const source = [document.querySelector(".period")?.textContent.trim(), "gwa"].filter(Boolean).join(" · ");
    const body = draw.rect(0, 0, width, 560, { fill: "var(--paper)" })
      + draw.text(30, 40, document.title, { "font-size": 24, "font-weight": 600, fill: draw.colours.ink }) + draw.text(30, 64, chosen || words.whole, { "font-size": 14 })
      + draw.group({ transform: "translate(0 80)" }, inner.svg) + draw.group({ transform: "translate(30 504)" }, legend.body) + draw.text(30, 548, source);
    return draw.svg(width, 560, body).replace(/var\((--[\w-]+)(?:, *([^()]+))?\)/g, (_, name, usual) => look.getPropertyValue(name).trim() || usual || "#888");
  }

  // --- Beginning -----------------------------------------------------------------------------------

  // Links within the page lead to their place without losing the selection in the address.
  function followed(event) {
    const link = event.target.closest("a[href^=\"#\"]"), target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!target || !address()) return;
    event.preventDefault();
    if (link.matches(".anchor")) {
      state.at = target.id;
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
    about = JSON.parse(document.getElementById("explorer-about").textContent);
    words = JSON.parse(document.getElementById("explorer-words").textContent);
    data = await cells.unpack(held.textContent, about.tables);
    sizes = about.choices.map((choice) => ({ key: choice.key, size: choice.names.length + 2 }));
    time = draw.time(about.is_relative ? null : "UTC", words);
    chapters.begin({ about, words, data, sizes, dayOf, step, shown: () => shown, 
      busy: () => hasWindow() ? [busy(shown, state.from, state.to), hasGaps(state.from, state.to)] : [null] });
    const box = document.getElementById("explorer");
    place("note").textContent = `${words.exact} ${hasCpu() ? hasWindow() ? words.ofKnownTime : words.lowerBound : ""}`;
    document.getElementById("explorer-still").hidden = true;
    box.hidden = false;
    state = nothing();
    render();
    for (const name of ["strip", "waits", "calendar"]) place(name).closest("section").hidden = !drawn().includes(name);
    place("rows").closest("section").hidden = !about.choices.length;
    legend();
    place("gpus").closest("section").hidden = !hasGpu();
    if (location.hash.includes("=")) state = read(location.hash);
    render();
    below();
    asked(state);
    document.addEventListener("zoomed", () => addressed(true));
    drawn().forEach(pointing);
    box.addEventListener("click", clicked);
    for (const end of ["from", "to"]) place(end).addEventListener("change", dated);
    document.addEventListener("click", followed);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !isWhole() && !event.target.matches?.("input[type=search]")) go({ from: 0, to: data.days.rows, lists: {} });
    });
    window.addEventListener("hashchange", () => restored());
    window.addEventListener("popstate", () => restored());
    let width = place("strip").clientWidth;
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (width === (width = place("strip").clientWidth)) return;
      beside();
      drawn().forEach(paint);
    })).observe(place("strip"));
  }

  function restored() {
    const hash = location.hash.includes("=") ? location.hash : ""; // else it is a place on the page
    if (hash === address()) return;
    state = { ...read(hash), sort: state.sort, up: state.up };
    render();
    asked(state);
  }

  return { begin };
})();

document.addEventListener("DOMContentLoaded", explorer.begin);
