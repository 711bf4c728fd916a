// The cells of a trace: unpacked once, then added up for each selection in one pass.
// A cell that misses one condition only counts where that condition is set: in its own list, or over time.

const cells = (() => {
  const OUTCOMES = 6; // completed, limit, failed, cancelled, running, unknown
  const WAITS = 80; // classes: unknown, below a second, then half octaves or whole ones
  const COUNTED = OUTCOMES + 4; // of each day: by outcome, by runs that were started again, and of GPUs what is held, used and known
  const CONDITIONS = 10; // of waiting, in the order of their codes
  const TIME = -2, NONE = -1;

  async function inflated(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function column(bytes, start, rows, { planes, scale }) {
    if (planes === 1 && scale === 1) return bytes.subarray(start, start + rows);
    const found = planes === 2 && scale === 1 ? new Uint16Array(rows) : new Float64Array(rows);
    for (let plane = planes - 1; plane >= 0; plane--) {
      const from = start + plane * rows;
      for (let row = 0; row < rows; row++) found[row] = found[row] * 256 + bytes[from + row];
    }
    if (scale !== 1) for (let row = 0; row < rows; row++) found[row] /= scale;
    return found;
  }

  // The tables of planes of bytes, the lowest first, as typed arrays.
  async function unpack(text, tables) {
    const bytes = await inflated(text), found = {};
    let start = 0;
    for (const [name, { rows, columns }] of Object.entries(tables)) {
      found[name] = { rows };
      for (const kind of columns) {
        found[name][kind.name] = column(bytes, start, rows, kind);
        start += kind.planes * rows;
      }
    }
    return found;
  }

  const amounts = (size) => ({ jobs: new Float64Array(size), cpu: new Float64Array(size), gpu: new Float64Array(size) });

  // What is measured of GPUs: by class of one list, so many numbers each.
  const MEASURED = ["gpu_used_seconds", "gpu_known_seconds"];

  // What a selection holds; jobs without a known day come after the last one, and are in none of a period. Of time, *picked* has the first day and the one after the last; of each list, the chosen codes.
  // Held are core-hours and GPU-hours of days whose load is known or, where *every*, of all; *counted* has by day what was held in
  // the time that is accounted for, by outcome of last runs, by other runs, and of GPUs. *rows* names the lists whose classes have
  // waits of their own, *holders* that whose classes have what is measured of GPUs. *conditions* counts the moments of waiting in which each held.
  function select(tables, sizes, picked, { every, rows = [], holders }) {
    const days = tables.days.rows, count = sizes.length;
    const made = {
      jobs: 0, cpu: 0, accounted: 0, outcomes: amounts(OUTCOMES), time: amounts((days + 1) * OUTCOMES),
      lists: sizes.map(({ size }) => amounts(size * OUTCOMES)),
      counted: new Float64Array((days + 1) * COUNTED),
      holders: sizes[holders] && new Float64Array(sizes[holders].size * MEASURED.length),
      waits: new Map(rows.map((k) => [k, new Float64Array(sizes[k].size * WAITS)])),
      conditions: new Float64Array(CONDITIONS),
    };
    const { jobs, usage, moments } = tables, measured = MEASURED.flatMap((name, n) => usage[name] ? [[n, usage[name]]] : []);
    pass(jobs, sizes, picked, days, (row, day, outcome, missed, codes) => {
      const n = jobs.jobs[row];
      if (missed < 0) made.time.jobs[day * OUTCOMES + outcome] += n;
      if (missed === TIME) return;
      if (missed >= 0) { made.lists[missed].jobs[codes[missed][row] * OUTCOMES + outcome] += n; return; }
      for (let k = 0; k < count; k++) made.lists[k].jobs[codes[k][row] * OUTCOMES + outcome] += n;
      made.jobs += n;
      made.outcomes.jobs[outcome] += n;
      if (!jobs.wait) return;
      for (const [k, own] of made.waits) own[codes[k][row] * WAITS + jobs.wait[row]] += n;
    });
    pass(usage, sizes, picked, days, (row, day, outcome, missed, codes) => {
      const cpu = usage.cpu_seconds?.[row] ?? 0, gpu = usage.gpu_seconds?.[row] ?? 0;
      if (missed < 0) {
        made.time.cpu[day * OUTCOMES + outcome] += cpu;
        made.time.gpu[day * OUTCOMES + outcome] += gpu;
        if (every || usage.known[row] && usage.accounted[row]) {
          const at = day * COUNTED, restarted = usage.restarted_seconds?.[row] ?? 0;
          made.counted[at + outcome] += cpu - restarted;
          made.counted[at + OUTCOMES] += restarted;
          made.counted[at + OUTCOMES + 1] += gpu;
          for (const [n, values] of measured) made.counted[at + OUTCOMES + 2 + n] += values[row];
        }
      }
      if (missed === TIME || !(every || usage.known[row])) return;
      if (missed >= 0) {
        const at = codes[missed][row] * OUTCOMES + outcome;
        made.lists[missed].cpu[at] += cpu;
        made.lists[missed].gpu[at] += gpu;
        return;
      }
      for (let k = 0; k < count; k++) {
        const at = codes[k][row] * OUTCOMES + outcome;
        made.lists[k].cpu[at] += cpu;
        made.lists[k].gpu[at] += gpu;
      }
      made.cpu += cpu;
      if (usage.accounted[row]) made.accounted += cpu;
      made.outcomes.cpu[outcome] += cpu;
      made.outcomes.gpu[outcome] += gpu;
      if (made.holders) for (const [n, values] of measured) made.holders[codes[holders][row] * MEASURED.length + n] += values[row];
    });
    if (moments) pass(moments, sizes, picked, days, (row, day, outcome, missed) => { if (missed === NONE) made.conditions[moments.condition[row]] += moments.moments[row]; });
    return made;
  }

  // Takes each row that misses at most one condition: which list is missed, TIME or NONE.
  function pass(table, sizes, picked, days, take) {
    const codes = sizes.map(({ key }) => table[key]);
    const asked = sizes.flatMap(({ key, size }, k) => {
      if (!picked.lists[key]?.size) return [];
      const allowed = new Uint8Array(size);
      for (const code of picked.lists[key]) allowed[code] = 1;
      return [{ k, codes: codes[k], allowed }];
    });
    const { day: dayOf, outcome, rows: length } = table, to = picked.from || picked.to < days ? picked.to : days + 1;
    for (let row = 0; row < length; row++) {
      const day = dayOf[row], outside = day < picked.from || day >= to;
      let missed = outside ? TIME : NONE, misses = outside ? 1 : 0;
      for (let n = 0; n < asked.length && misses < 2; n++) {
        if (!asked[n].allowed[asked[n].codes[row]]) { misses++; missed = asked[n].k; }
      }
      if (misses < 2) take(row, day, outcome?.[row], missed, codes);
    }
  }

  // The rows of the jobs of a selection.
  function matching(tables, sizes, picked) {
    const found = new Uint32Array(tables.jobs.rows);
    let count = 0;
    pass(tables.jobs, sizes, picked, tables.days.rows, (row, day, outcome, missed) => { if (missed === NONE) found[count++] = row; });
    return found.subarray(0, count);
  }

  // What those rows hold by class, by outcome and by wait; *of* gives the class of a row, -1 where it has none.
  function broken(jobs, rows, size, of) {
    const made = { ...amounts(size * OUTCOMES), waits: new Float64Array(size * WAITS), weights: new Float64Array(size * WAITS) };
    const { jobs: counts, outcome, wait, cpu_seconds: cpu, gpu_seconds: gpu } = jobs;
    for (const row of rows) {
      const code = of(row);
      if (code < 0) continue;
      const at = code * OUTCOMES + outcome[row];
      made.jobs[at] += counts[row];
      if (cpu) made.cpu[at] += cpu[row];
      if (gpu) made.gpu[at] += gpu[row];
      if (!wait) continue;
      made.waits[code * WAITS + wait[row]] += counts[row];
      if (cpu) made.weights[code * WAITS + wait[row]] += cpu[row];
    }
    return made;
  }

  // The least seconds of a class of waits.
  const least = (code, octaves) => code <= 1 ? 0 : 2 ** ((code - 2) / octaves);

  // The seconds below which a share of the weight lies, as if each class were even over its logarithm; null where no wait is known.
  function quantile(weights, share, octaves, start = 0) {
    let total = 0, below = 0;
    for (let code = 1; code < WAITS; code++) total += weights[start + code];
    if (!total) return null;
    for (let code = 1; code < WAITS; code++) {
      const weight = weights[start + code];
      if (weight && below + weight >= share * total) {
        return code === 1 ? 0 : least(code, octaves) * 2 ** (Math.max(0, (share * total - below) / weight) / octaves);
      }
      below += weight;
    }
    return null;
  }

  const sum = (values, code = 0) => {
    let total = 0;
    for (let outcome = 0; outcome < OUTCOMES; outcome++) total += values[code * OUTCOMES + outcome];
    return total;
  };

  return { OUTCOMES, WAITS, COUNTED, MEASURED, unpack, select, matching, broken, least, quantile, sum };
})();
