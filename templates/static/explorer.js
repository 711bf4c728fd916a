// The first screen as an instrument: one selection, held in the address; each part is drawn again from one pass over the cells.
// Here stands what its parts share: what is seen, and what can be asked of it. Each part has a file of its own in explorer/, called as the part.

const explorer = (() => {
  const { DAY, HOUR } = draw;
  const NAMES = ["completed", "limit", "failed", "cancelled", "running", "unknown"];
  const BAD = [1, 2, 3], KNOWN = [0, 1, 2, 3];
  const UNITS = ["cpu", "jobs", "gpu"];
  const FEW = 7; // rows of a list before it is opened
  const margins = { left: 60, right: 12 }; // of pictures
  const place = (id) => document.getElementById(`explorer-${id}`);
  const html = draw.escape;

  // The data of the page (*about*, *words*, *data*, *sizes*, *time*); what is selected (*state*), what that and all jobs hold
  // (*shown*, *whole*); how it is shown: lists that are *opened*, *pictures*, a *notice*.
  const view = { about: null, words: null, data: null, sizes: null, time: null, state: null, shown: null, whole: null, opened: new Set(), pictures: {}, notice: "" };

  // --- Days ----------------------------------------------------------------------------------------

  const dayOf = (bin) => view.about.first_day + (bin < view.data.days.rows ? view.data.days.day[bin] : view.about.last_day - view.about.first_day);
  const step = () => view.about.step; // in days, fewer at the borders of the log
  const key = (bin) => view.about.is_relative ? String(dayOf(bin) + 1) : new Date(dayOf(bin) * DAY * 1000).toISOString().slice(0, 10);
  const readKey = (text) => view.about.is_relative ? Number(text) - 1 : Date.parse(`${text}T00:00Z`) / 1000 / DAY;
  const told = (bin, options) => view.about.is_relative ? `${view.words.day} ${dayOf(bin) + 1}` : view.time.day(dayOf(bin) * DAY, options);
  // The first bin that does not begin before a day.
  function binAt(day) {
    for (let bin = 0; bin < view.data.days.rows; bin++) if (dayOf(bin) >= day) return bin;
    return view.data.days.rows;
  }
  function periodInWords(from, to) {
    const last = view.about.is_relative ? `${view.words.day} ${dayOf(to)}` : view.time.day((dayOf(to) - 1) * DAY);
    return dayOf(to) - dayOf(from) === 1 ? last : `${told(from)} – ${last}`;
  }
  const total = (name, from = view.state.from, to = view.state.to) => {
    let found = 0;
    for (let bin = from; bin < to; bin++) found += view.data.days[name][bin];
    return found;
  };
  const hasStrip = () => view.data.days.rows > 2; // of a day there is no course
  const hasWindow = () => total("known_seconds", 0, view.data.days.rows) > 0;

  // --- What can be asked, and what is selected -----------------------------------------------------

  const nothing = () => ({ from: 0, to: view.data.days.rows, lists: {}, by: hasCpu() ? "cpu" : "jobs", rows: Math.max(0, view.about.choices.findIndex((choice) => !choice.has_own_order)), at: "" });
  const hasCpu = () => Boolean(view.data.usage.cpu_seconds);
  const hasGpu = () => Boolean(view.data.usage.gpu_seconds);
  const isCut = () => view.state.from > 0 || view.state.to < view.data.days.rows;
  const isWhole = () => !isCut() && !Object.values(view.state.lists).some((set) => set.size);
  // What lists say, with what stands in its places.
  const listed = (name, values = {}) => view.about.sentences[`list_${name}`][0].replace(/{(\w+)}/g, (_, place) => values[place]);
  // What a class is called in an address: names as they are, after a second ~ where they begin with one.
  const idOf = (choice, code) => code < choice.names.length ? choice.names[code].replace(/^~/, "~~") : code === choice.names.length ? "~others" : "~none";
  const labelOf = (choice, code) => code < choice.names.length ? choice.names[code]
    : code === choice.names.length ? (choice.others ? listed("others", { n: draw.number(choice.others) }) : listed("rest")) : listed("without");
  const named = (choice, code) => code < choice.names.length ? 0 : 1; // others, and none, come last
  const everyCode = (choice) => [...Array(choice.names.length + 2).keys()];

  // --- Amounts -------------------------------------------------------------------------------------

  const offered = () => UNITS.filter((unit) => unit === "jobs" || (unit === "cpu" ? hasCpu() : hasGpu()));
  const scaled = (value, unit) => unit === "jobs" ? value : value / HOUR;
  const amount = (value, unit) => draw.compact(Number(scaled(value, unit).toPrecision(unit === "jobs" ? 15 : 3)));

  const part = (share) => draw.percent(share, 1, 1); // as a column of shares has it, in which the points stand below one another

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

  // A quantile from classes of half octaves, which is known to about a fifth.
  function roughly(seconds) {
    if (seconds === null) return draw.duration(seconds);
    return seconds < 1 ? `< 1${"\u00a0"}s` : `≈${"\u00a0"}${draw.duration(seconds, 2)}`;
  }
  const swatch = (n) => `var(--outcome-${NAMES[n]})`;
  // How a stretch is marked: of an outage it is known that nothing could run, of a gap the log does not tell why nothing did.
  const MARKS = ["outage", "gap"];
  const markOf = ({ kind }) => kind === "outage" ? "outage" : "gap";

  return {
    NAMES, BAD, KNOWN, UNITS, MARKS, FEW, margins, place, html, view,
    amount, badShare, binAt, busy, dayOf, everyCode, hasCpu, hasGaps, hasStrip, hasWindow, idOf, isCut, isWhole, key,
    labelOf, listed, markOf, named, nothing, offered, part, periodInWords, readKey, roughly, scaled, step, swatch, told, total,
  };
})();
