// The table of who and what, and the same as lines to export.

explorer.rows = (() => {
  const { view, html, FEW, badShare, everyCode, hasCpu, labelOf, named, part, roughly, scaled } = explorer;
  const { OUTCOMES, WAITS, quantile, sum } = cells;

  const HEADS = ["name", "jobs", "amount", "share", "bad", "median", "p95"];

  function found() {
    const choice = view.about.choices[view.state.rows], k = view.state.rows, unit = view.state.by === "gpu" ? "gpu" : hasCpu() ? "cpu" : "jobs";
    const all = sum(view.shown.outcomes[unit]);
    return everyCode(choice).flatMap((code) => {
      const jobs = sum(view.shown.lists[k].jobs, code), held = sum(view.shown.lists[k][unit], code), set = view.state.lists[choice.key];
      if (set?.size && !set.has(code) || !jobs && !held) return [];
      const outcomes = view.shown.lists[k][unit].slice(code * OUTCOMES, (code + 1) * OUTCOMES);
      const [median, p95] = [0.5, 0.95].map((share) => view.about.octaves ? quantile(view.shown.rows[view.state.weigh], share, view.about.octaves, code * WAITS) : null);
      return [{ code, name: labelOf(choice, code), jobs, amount: scaled(held, unit), share: all ? held / all : null, bad: badShare(outcomes), median, p95 }];
    }).sort((one, other) => named(choice, one.code) - named(choice, other.code) || compared(one, other, choice));
  }

  function compared(one, other, choice) {
    if (view.state.sort === "name") return (choice.has_own_order ? one.code - other.code : one.name.localeCompare(other.name)) * (view.state.up ? -1 : 1);
    const [a, b] = [one[view.state.sort], other[view.state.sort]];
    return ((b ?? -Infinity) - (a ?? -Infinity) || one.code - other.code) * (view.state.up ? -1 : 1);
  }

  function written() {
    const choice = view.about.choices[view.state.rows], rows = found(), unit = view.state.by === "gpu" ? "gpu" : "cpu";
    const labels = { name: choice.heading, jobs: view.words.jobs, amount: view.words.units[unit], share: view.words.share, bad: view.words.incomplete };
    if (view.about.octaves) for (const name of ["median", "p95"]) labels[name] = `${view.words.waitOf[name]}, ${view.words.weigh[view.state.weigh]}`;
    const heads = HEADS.map((name) => `<th scope="col"${name === "name" ? "" : " class=\"number\""} aria-sort="${view.state.sort === name ? view.state.up ? "ascending" : "descending" : "none"}"><button type="button" data-sort="${name}" data-place="sort/${name}">${html(labels[name])}</button></th>`).join("");
    const most = 100, isOpen = view.opened.has("table") || rows.length <= FEW + 2;
    const body = rows.slice(0, isOpen ? most : FEW).map((row) => `<tr><th scope="row">${explorer.names.button(choice, row.code, row.name, "row")}</th>`
      + `<td class="number">${draw.number(row.jobs, 15)}</td><td class="number">${draw.compact(Number(row.amount.toPrecision(3)))}</td><td class="number">${part(row.share)}</td>`
      + `<td class="number">${part(row.bad)}</td><td class="number">${roughly(row.median)}</td><td class="number">${roughly(row.p95)}</td></tr>`).join("");
    const more = rows.length > FEW + 2 ? `<tfoot><tr><td colspan="${HEADS.length}">${explorer.lists.opener("table", Math.min(rows.length, most) - FEW)}</td></tr></tfoot>` : "";
    const cut = isOpen && rows.length > most ? `<caption>${html(view.words.first.replace("{n}", most).replace("{all}", draw.number(rows.length)))}</caption>` : "";
    return `${cut}<thead><tr>${heads}</tr></thead><tbody>${body}</tbody>${more}`;
  }

  function lines() {
    const choice = view.about.choices[view.state.rows], unit = view.state.by === "gpu" ? "gpu_hours" : "core_hours";
    const heads = [choice.key, "jobs", unit, "share", "not_completed_share", "wait_median_about_seconds", "wait_p95_about_seconds"];
    return [heads, ...found().map((row) => HEADS.map((name) => row[name]))];
  }

  return { written, lines };
})();
