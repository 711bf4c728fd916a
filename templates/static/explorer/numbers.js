// The numbers of the first screen: each with its fact, the value in full, and what all jobs have.

explorer.numbers = (() => {
  const { view, html, NAMES, BAD, FEW, KNOWN, amount, badShare, busy, everyCode, hasCpu, hasGaps, hasWindow, isWhole, labelOf, roughly } = explorer;
  const { MEASURED, quantile } = cells;
  const { HOUR } = draw;

  const WAIT_FACTS = { jobs: "jobs.wait", cpu: "wait.weighted" };
  function wait(made, weigh, share) {
    if (!view.about.octaves) return null;
    const exact = isWhole() && made === view.shown ? view.about.facts[`${WAIT_FACTS[weigh]}.${share === 0.5 ? "median" : "p95"}`] : undefined;
    return exact ?? quantile(made.waits[weigh], share, view.about.octaves);
  }

  function number(fact, label, value, text, notes = []) {
    const missing = value === null ? " class=\"missing\"" : "";
    const told = notes.filter(Boolean).map((note) => `<dd class="under">${note}</dd>`).join("");
    return `<div><dt>${html(label)}</dt><dd data-fact="${fact}" data-value="${value ?? ""}"${missing}>${text}</dd>${told}</div>`;
  }
  const noted = (fact, value, text) => `<span data-fact="${fact}" data-value="${value ?? ""}">${text}</span>`;
  const ofWhole = (text) => isWhole() ? "" : `${html(view.words.whole)}: ${text}`;

  function ofJobs() {
    const found = [];
    const held = hasCpu() && noted("usage.cpu_seconds", hasWindow() ? view.shown.cpu : null, `${amount(view.shown.cpu, "cpu")} ${html(view.words.units.cpu)}`);
    const part = !isWhole() && hasCpu() && view.whole.cpu && `${draw.percent(view.shown.cpu / view.whole.cpu)} ${html(view.words.ofAll)}`;
    found.push(number("trace.jobs", view.words.jobs, view.shown.jobs, draw.number(view.shown.jobs, 15), [view.shown.undated && html(view.words.undated.replace("{n}", draw.number(view.shown.undated, 15))), held, part]));
    if (hasCpu()) found.push(busyness());
    found.push(endings());
    for (const weigh of ["cpu", "jobs"]) if (weigh === "jobs" || hasCpu()) found.push(waited(weigh));
    return found.join("");
  }

  // What jobs held of GPUs, and of them used and left idle where that is measured: the rest is unknown.
  function ofGpus() {
    const told = (name, value) => noted(`usage.${name}`, hasWindow() ? value : null, amount(value, "gpu"));
    const found = [number("", view.words.gpuHeld, view.shown.gpu, told("gpu_seconds", view.shown.gpu), [html(view.words.units.gpu), ofWhole(amount(view.whole.gpu, "gpu"))])];
    for (const [at, label] of [[0, view.words.gpuUsed], [2, view.words.gpuIdle]]) {
      if (!view.data.usage[MEASURED[at]]) continue;
      const [part, known] = view.shown.measured.slice(at, at + 2), share = (made) => made.measured[at + 1] ? made.measured[at] / made.measured[at + 1] : null;
      const parts = { part: told(MEASURED[at], part), known: told(MEASURED[at + 1], known), share: draw.percent(known / view.shown.gpu) };
      const under = known ? [html(view.words.ofMeasured).replace(/{(\w+)}/g, (_, name) => parts[name]), share(view.whole) !== null && ofWhole(draw.percent(share(view.whole)))] : [];
      found.push(number("", label, share(view.shown), known ? draw.percent(share(view.shown)) : html(view.words.unknown), under));
    }
    return found.join("") + (isMeasured() ? "" : `<div class="wide"><dt>${html(view.words.gpuUsed)}</dt><dd class="missing">${html(view.words.notMeasured)}</dd></div>`);
  }
  const isMeasured = () => MEASURED.some((name) => view.data.usage[name]);
  // By what those who hold GPUs are told apart.
  const holdersOf = () => view.about.choices.findIndex(({ key: name }) => name === (["project", "user", "queue"].find((one) => view.about.choices.some((choice) => choice.key === one)) ?? view.about.choices[0]?.key));

  // Who left most GPU-hours idle or, where it is not known which GPUs were idle, unused.
  function holders() {
    const choice = view.about.choices[holdersOf()], isIdle = Boolean(view.data.usage.gpu_idle_seconds);
    if (!choice || !isMeasured()) return "";
    const of = (code, at) => view.shown.holders[code * MEASURED.length + at];
    const rows = everyCode(choice).map((code) => ({ code, lost: isIdle ? of(code, 2) : of(code, 1) - of(code, 0), known: of(code, isIdle ? 3 : 1) }))
      .filter(({ lost }) => lost > 0).sort((a, b) => b.lost - a.lost || a.code - b.code).slice(0, FEW - 1);
    const set = view.state.lists[choice.key] ?? new Set(), most = Math.max(...rows.map(({ lost }) => lost), 0);
    const items = rows.map(({ code, lost, known }) => {
      const label = labelOf(choice, code);
      return `<li><button type="button" data-pick="${choice.key}" value="${code}" data-place="holders/${code}" aria-pressed="${set.has(code)}" title="${html(label)}: ${draw.number(lost / HOUR)} ${html(view.words.units.gpu)}">`
        + `<bdi class="name">${html(label)}</bdi><span class="share">${amount(lost, "gpu")} · ${draw.percent(lost / known)}</span><span class="track"><i style="width:${(100 * lost / most).toFixed(2)}%;background:var(--outcome-failed)"></i></span></button></li>`;
    }).join("");
    const heading = (isIdle ? view.words.idleBy : view.words.unusedBy).replace("{title}", choice.title);
    return `<section class="list" aria-label="${html(heading)}"><h3>${html(heading)}</h3>${items ? `<ol>${items}</ol>` : `<p class="hint">${html(view.words.nothing)}</p>`}</section>`;
  }

  // How busy the system was: a share of it or, where its size is not known, processors.
  function busyness() {
    const { from, to } = view.state, days = view.data.days.rows, isOutside = hasGaps(from, to);
    const value = (mean) => mean === null || !view.about.cpus ? mean : mean / view.about.cpus;
    const level = (part) => part === null ? html(view.words.unknown) : view.about.cpus ? draw.percent(part) : draw.number(part);
    const text = (mean) => level(value(mean));
    const title = view.about.cpus ? view.words.busy : view.words.busyCpus, size = html(view.about.cpus ? view.words.ofCpus.replace("{n}", draw.number(view.about.cpus)) : view.words.noSize);
    const fact = view.about.cpus ? { known: "utilization.known_mean", mean: "utilization.mean", least: "utilization.at_least" }
      : { known: "utilization.known_busy", mean: "utilization.busy", least: "utilization.busy_at_least" };
    if (!hasWindow()) { // cells do not tell of which time the load is known best: there is a bound of the whole
      const bound = isWhole() ? view.about.facts[fact.least] ?? null : null;
      return number(fact.least, title, bound, (bound === null ? "" : "≥ ") + level(bound), [size]);
    }
    const mean = busy(view.shown, from, to), all = busy(view.shown, from, to, { outside: false });
    return number(isOutside ? fact.known : fact.mean, title, value(mean), text(mean), [
      isOutside && `${html(view.words.outsideGaps)}; ${noted(fact.mean, value(all), `${html(view.words.withGaps)}: ${text(all)}`)}`,
      size, ofWhole(text(busy(view.whole, 0, days)))]);
  }

  // What did not complete: of core-hours, or of jobs where these are not known.
  function endings() {
    const unit = hasCpu() ? "cpu" : "jobs", outcomes = view.shown.outcomes[unit], share = badShare(outcomes);
    const known = hasCpu() && hasWindow();
    const parts = BAD.filter((n) => outcomes[n]).map((n) => noted(known ? `usage.outcomes.${NAMES[n]}` : "", known ? outcomes[n] : null, `${html(view.words.outcomes[n])} ${amount(outcomes[n], unit)}`));
    const told = KNOWN.reduce((all, n) => all + outcomes[n], 0), all = outcomes.reduce((found, amount) => found + amount, 0);
    const of = told === all ? view.words.ofEvery[unit] : `${view.words.ofKnown[unit]} (${view.words.ofAllOf.replace("{share}", draw.percent(told / all))})`;
    const silent = badShare(view.whole.outcomes[unit]) === null ? view.words.none : view.words.unknown;
    return number("", view.words.incomplete, share, share === null ? html(silent) : draw.percent(share),
      share === null ? [] : [html(of), parts.join(" · "), ofWhole(draw.percent(badShare(view.whole.outcomes[unit])))]);
  }

  function waited(weigh) {
    const fact = WAIT_FACTS[weigh], [half, most] = [wait(view.shown, weigh, 0.5), wait(view.shown, weigh, 0.95)];
    const text = (seconds) => isWhole() ? draw.length(seconds) : roughly(seconds);
    const all = view.about.facts[`${fact}.median`] ?? quantile(view.whole.waits[weigh], 0.5, view.about.octaves || 1);
    return number(`${fact}.median`, view.words.waited[weigh], half, half === null ? html(view.words.none) : text(half),
      half === null ? [] : [noted(`${fact}.p95`, most, `${html(weigh === "jobs" ? view.words.medianRunOrNot : view.words.median)}; 95${"\u00a0"}%: ${text(most)}`), all !== null && ofWhole(draw.length(all))]);
  }

  return { ofJobs, ofGpus, holders, holdersOf };
})();
