// The rows of the lists as lines to export.

explorer.rows = (() => {
  const { view, badShare, everyCode, hasCpu, labelOf, named, scaled } = explorer;
  const { OUTCOMES, WAITS, quantile, sum } = cells;

  const HEADS = ["name", "jobs", "amount", "share", "bad", "median", "p95"];

  function found() {
    const choice = view.about.choices[view.state.rows], k = view.state.rows, unit = view.state.by === "gpu" ? "gpu" : hasCpu() ? "cpu" : "jobs";
    const all = sum(view.shown.outcomes[unit]);
    return everyCode(choice).flatMap((code) => {
      const jobs = sum(view.shown.lists[k].jobs, code), held = sum(view.shown.lists[k][unit], code), set = view.state.lists[choice.key];
      if (set?.size && !set.has(code) || !jobs && !held) return [];
      const outcomes = view.shown.lists[k][unit].slice(code * OUTCOMES, (code + 1) * OUTCOMES);
      const [median, p95] = [0.5, 0.95].map((share) => view.about.octaves ? quantile(view.shown.waits.get(k), share, view.about.octaves, code * WAITS) : null);
      return [{ code, name: labelOf(choice, code), jobs, amount: scaled(held, unit), share: all ? held / all : null, bad: badShare(outcomes), median, p95 }];
    }).sort((one, other) => named(choice, one.code) - named(choice, other.code) || other.amount - one.amount || one.code - other.code);
  }

  function lines() {
    const choice = view.about.choices[view.state.rows], unit = view.state.by === "gpu" ? "gpu_hours" : "core_hours";
    const heads = [choice.key, "jobs", unit, "share", "not_completed_share", "wait_median_about_seconds", "wait_p95_about_seconds"];
    return [heads, ...found().map((row) => HEADS.map((name) => row[name]))];
  }

  return { lines };
})();
