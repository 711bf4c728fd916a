// What pictures on the page are made of: scales, ticks, numbers and dates as the page's language has them, and SVG as text.
// Nothing here knows a kind of figure; words come from the page, which has them in its language.

const draw = (() => {
  const MINUTE = 60, HOUR = 3600, DAY = 86400, YEAR = 365.25 * DAY;
  const FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
  const SPACE = "\u00a0"; // between a number and its unit, which stay on one line

  // --- Colours, and what tells lines apart without them --------------------------------------------

  const LIGHT = ["#0a66a3", "#c04c00", "#007a5a", "#a1458a", "#8a6500", "#5b6bc0"];
  const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "12 3", "4 2 1 2 1 2"];
  const colours = {
    ink: "var(--chart-ink, #24292f)", muted: "var(--chart-muted, #59636e)", grid: "var(--chart-grid, #e4e7eb)",
    paper: "var(--paper, #ffffff)", accent: "var(--accent, #0a66a3)",
  };
  const colour = (place) => `var(--chart-${1 + place % LIGHT.length}, ${LIGHT[place % LIGHT.length]})`;
  const dash = (place) => DASHES[(place + Math.floor(place / LIGHT.length)) % DASHES.length]; // no two of 36 lines are alike

  // --- SVG as text ---------------------------------------------------------------------------------

  const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  const escape = (value) => String(value).replace(/[&<>"']/g, (letter) => ENTITIES[letter]);
  const px = (value) => Math.round(value * 10) / 10;
  const attributes = (look) => Object.entries(look)
    .map(([name, value]) => value === undefined || value === "" ? "" : ` ${name}="${escape(typeof value === "number" ? px(value) : value)}"`).join("");

  // An element with attributes; its content is markup already.
  const tag = (name, look = {}, content = "") => `<${name}${attributes(look)}>${content}</${name}>`;
  const group = (look, ...parts) => tag("g", look, parts.join(""));
  const text = (x, y, content, look = {}) => tag("text", { x, y, fill: colours.muted, ...look }, escape(content));
  const line = (x1, y1, x2, y2, look = {}) => tag("path", { d: `M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}`, stroke: colours.grid, fill: "none", ...look });
  const rect = (x, y, width, height, look = {}) => tag("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), ...look });
  const circle = (cx, cy, r, look = {}) => tag("circle", { cx, cy, r, ...look });
  const path = (d, look = {}) => d ? tag("path", { d, fill: "none", ...look }) : "";

  // A picture as large as it is drawn, so that its letters have the size that they say.
  function svg(width, height, body, look = {}) {
    return tag("svg", {
      xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${px(width)} ${px(height)}`, width, height,
      "font-family": FONTS, "font-size": 12, "stroke-linejoin": "round", ...look,
    }, body);
  }

  // A line through points; where a value is not known it is broken.
  function course(xs, ys) {
    let pen = "M", found = "";
    for (let n = 0; n < xs.length; n++) {
      if (!Number.isFinite(xs[n]) || !Number.isFinite(ys[n])) { pen = "M"; continue; }
      found += `${pen}${px(xs[n])} ${px(ys[n])}`;
      pen = "L";
    }
    return found;
  }

  // A line that keeps each value until the next.
  function stairs(xs, ys) {
    let found = "";
    for (let n = 0; n < xs.length; n++) found += n ? `H${px(xs[n])}V${px(ys[n])}` : `M${px(xs[n])} ${px(ys[n])}`;
    return found;
  }

  // The area between two courses.
  function area(xs, lows, highs) {
    const known = [...xs.keys()].filter((n) => Number.isFinite(lows[n]) && Number.isFinite(highs[n]));
    if (!known.length) return "";
    const edge = (places, ys) => places.map((n) => `${px(xs[n])} ${px(ys[n])}`).join("L");
    return `M${edge(known, highs)}L${edge([...known].reverse(), lows)}Z`;
  }

  // Steps from edge to edge (one more than there are values), each between its low and its high: a layer of a stack.
  function band(edges, lows, highs) {
    let found = "";
    for (let n = 0; n < highs.length; n++) {
      if (lows[n] === highs[n] || !Number.isFinite(lows[n]) || !Number.isFinite(highs[n])) continue;
      found += `M${px(edges[n])} ${px(lows[n])}V${px(highs[n])}H${px(edges[n + 1])}V${px(lows[n])}Z`;
    }
    return found;
  }

  // Boxes as one path, each [x, y, width, height].
  const boxes = (list) => list.map(([x, y, width, height]) => `M${px(x)} ${px(y)}h${px(width)}v${px(height)}h${px(-width)}z`).join("");

  // Stripes of a colour, to fill with `url(#id)`; each place of a figure has a direction of its own.
  function hatch(id, place = 0, stroke = colours.muted, opacity = 0.55) {
    const look = { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${[45, -45, 0, 90][place % 4]})` };
    return tag("defs", {}, tag("pattern", look, tag("path", { d: "M0 0V6", stroke, "stroke-width": 2.4, "stroke-opacity": opacity })));
  }

  // A sign at a point: circle, square, triangle, diamond, triangle downwards, cross.
  function marker(place, x, y, size = 4, look = {}) {
    const [a, b] = [px(x), px(y)];
    const shapes = [
      `M${px(a - size)} ${b}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0Z`,
      `M${a - size} ${b - size}h${2 * size}v${2 * size}h${-2 * size}Z`,
      `M${a} ${b - size - 1}l${size + 1} ${2 * size}h${-2 * size - 2}Z`,
      `M${a} ${b - size - 1.5}l${size + 1.5} ${size + 1.5}l${-size - 1.5} ${size + 1.5}l${-size - 1.5} ${-size - 1.5}Z`,
      `M${a} ${b + size + 1}l${size + 1} ${-2 * size}h${-2 * size - 2}Z`,
      `M${a - 1.2} ${b - size}h2.4v${size - 1.2}h${size - 1.2}v2.4h${1.2 - size}v${size - 1.2}h-2.4v${1.2 - size}h${1.2 - size}v-2.4h${size - 1.2}Z`,
    ];
    return path(shapes[place % shapes.length], { fill: colour(place), ...look });
  }

  // --- Text that fits ------------------------------------------------------------------------------

  const widths = new Map();
  let pen = null;

  // How wide a text is in the letters of the page, at a size.
  function measure(content, size = 12, weight = 400) {
    const key = `${size} ${weight} ${content}`;
    if (!widths.has(key)) {
      pen ??= document.createElement("canvas").getContext("2d");
      if (pen) pen.font = `${weight} ${size}px ${FONTS}`;
      widths.set(key, pen ? pen.measureText(content).width : 0.6 * size * content.length);
      if (widths.size > 20000) widths.clear();
    }
    return widths.get(key) ?? measure(content, size, weight);
  }

  // A text, cut with an ellipsis where it is wider than its room.
  function cut(content, room, size = 12) {
    if (content.length * size < room || measure(content.slice(0, 500), size) <= room && content.length <= 500) return content;
    let [low, high] = [0, Math.min(content.length, 500)];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (measure(`${content.slice(0, middle)}…`, size) <= room) low = middle; else high = middle;
    }
    return `${content.slice(0, low).trimEnd()}…`;
  }

  // A text as lines that fit.
  function wrap(content, room, size = 12, weight = 400) {
    const lines = [""];
    for (const word of content.split(/\s+/)) {
      const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
      if (measure(longer, size, weight) <= room) lines[lines.length - 1] = longer;
      else if (lines.at(-1)) lines.push(cut(word, room, size)); else lines[0] = cut(word, room, size);
    }
    return lines;
  }

  // Ticks that fit beside each other along an axis, of [place, label] in the order in which they matter; upright they are a line high.
  function apart(candidates, scale, { size = 11, upright = false, gap = 8, from = -Infinity, to = Infinity } = {}) {
    const taken = [], found = [];
    for (const tick of candidates) {
      const middle = scale(tick[0]), half = (upright ? size : measure(tick[1], size)) / 2;
      if (!Number.isFinite(middle) || middle - half < from || middle + half > to) continue;
      if (taken.some(([low, high]) => middle - half - gap < high && middle + half + gap > low)) continue;
      taken.push([middle - half, middle + half]);
      found.push(tick);
    }
    return found.sort((one, other) => one[0] - other[0]);
  }

  // What lines or fills stand for, in as many rows as are needed, from the top left; items are {label, sample(x, y) of 22 by 10}.
  function legend(items, width, { x = 0, y = 0, size = 12 } = {}) {
    const row = size + 7, room = 28;
    let [across, down, body] = [0, 0, ""];
    for (const { label, sample } of items) {
      const shown = cut(label, Math.min(width - room - 2, 260), size), wide = room + measure(shown, size) + 16;
      if (across && across + wide - 16 > width) { across = 0; down += row; }
      body += sample(x + across, y + down + row / 2) + text(x + across + room, y + down + row / 2 + size * 0.36, shown, { "font-size": size, fill: colours.ink });
      across += wide;
    }
    return { body, height: items.length ? down + row : 0 };
  }

  // Samples for a legend: a piece of a line, a filled box.
  const lineSample = (look) => (x, y) => line(x, y, x + 22, y, { "stroke-width": 2, ...look });
  const boxSample = (look) => (x, y) => rect(x + 4, y - 5, 14, 10, look);

  // --- Numbers -------------------------------------------------------------------------------------

  const tongue = () => {
    const asked = document.documentElement.lang || "en";
    try { return Intl.NumberFormat.supportedLocalesOf([asked])[0] ?? "en"; } catch { return "en"; }
  };
  const language = tongue();
  const memo = new Map();
  const intl = (options) => {
    const key = JSON.stringify(options);
    if (!memo.has(key)) memo.set(key, new Intl.NumberFormat(language, options));
    return memo.get(key);
  };
  const minus = (shown) => shown.replace(/^-/, "−");

  // A number with so many significant digits; whole ones are whole, and very large or small ones powers of ten.
  function number(value, digits = 3) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size && (size < 1e-4 || size >= 1e15)) return power(value, digits);
    const whole = Number.isInteger(value) || size >= 10 ** (digits - 1);
    return minus(intl(whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits }).format(value));
  }

  function power(value, digits) {
    const [amount, exponent] = value.toExponential(Math.min(digits, 3) - 1).split("e");
    const raised = String(Number(exponent)).replace(/[-\d]/g, (letter) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(letter)]);
    const shown = intl({ maximumSignificantDigits: digits }).format(Number(amount));
    return `${shown === "1" ? "" : `${minus(shown)}${SPACE}×${SPACE}`}10${raised}`;
  }

  // A share of a whole, with so many digits at most and the *fewest* at least: never rounded to nothing or to all.
  function percent(share, digits = 1, fewest = 0) {
    if (share === null || !Number.isFinite(share)) return "–";
    const least = 10 ** -digits / 100, told = (value) => intl({ minimumFractionDigits: fewest, maximumFractionDigits: digits }).format(value);
    if (share > 0 && share < least) return `<${SPACE}${told(100 * least)}${SPACE}%`;
    if (share < 1 && share > 1 - least) return `>${SPACE}${told(100 - 100 * least)}${SPACE}%`;
    return `${minus(told(100 * share))}${SPACE}%`;
  }

  const LENGTHS = [[YEAR, "y"], [DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [1, "s"], [0.001, "ms"]];
  const SIZES = ["KB", "MB", "GB", "TB", "PB", "EB"];

  // A duration in the unit that fits it.
  function duration(seconds, digits = 3) {
    if (seconds === null || !Number.isFinite(seconds)) return "–";
    const size = Math.abs(seconds);
    if (!size) return `0${SPACE}s`;
    const [length, name] = LENGTHS.find(([each]) => size >= each) ?? LENGTHS.at(-1);
    return `${number(Number((seconds / length).toPrecision(digits)), digits)}${SPACE}${name}`;
  }

  // The same as sentences have it: in the one or two units that fit it.
  function length(seconds) {
    if (seconds === null || !Number.isFinite(seconds)) return "–";
    const size = Math.abs(seconds), sign = seconds < 0 ? "−" : "", rounded = (value) => number(Math.round(value * 10) / 10);
    if (size < MINUTE) return `${sign}${size < 10 ? number(size) : rounded(size)}${SPACE}s`;
    if (size >= 2 * YEAR) return `${sign}${number(size / YEAR)}${SPACE}y`;
    if (size >= 2 * DAY) return `${sign}${rounded(size / DAY)}${SPACE}d`;
    const whole = Math.round(size), [large, name, small, rest] = whole < HOUR ? [MINUTE, "min", 1, "s"] : [HOUR, "h", MINUTE, "min"];
    const parts = Math.round(whole / small), each = large / small;
    return `${sign}${number(Math.floor(parts / each))}${SPACE}${name}${parts % each ? `${SPACE}${parts % each}${SPACE}${rest}` : ""}`;
  }

  function memory(kilobytes, digits = 3) {
    if (kilobytes === null || !Number.isFinite(kilobytes)) return "–";
    let [amount, place] = [kilobytes, 0];
    while (Math.abs(amount) >= 1024 && place < SIZES.length - 1) [amount, place] = [amount / 1024, place + 1];
    return `${number(Number(amount.toPrecision(digits)), digits)}${SPACE}${SIZES[place]}`;
  }

  // In what a value of a unit is told: its divisor and its sign. What is not here has a form of its own, or no sign.
  const SCALED = {
    "cpu seconds": [HOUR, "CPU h"], "held seconds": [HOUR, "h"], "hours": [1, "h"], "joules": [3.6e6, "kWh"],
    "kilowatt hours": [1, "kWh"], "gigabyte hours": [1, "GB h"], "kilograms": [1, "kg"], "seconds squared": [1, "s²"],
  };

  // A value as it is read where it is pointed at: of a whole one every digit, of others three.
  function show(value, unit = "") {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (unit === "fraction") return percent(value, Math.abs(value) < 0.1 ? 2 : 1);
    if (unit === "seconds") return length(value);
    if (unit === "kilobytes") return memory(value);
    const [divisor, sign] = SCALED[unit] ?? [1, ""];
    return `${number(value / divisor)}${sign ? SPACE + sign.replaceAll(" ", SPACE) : ""}`;
  }

  // The same of values that stand under each other: all have the decimals that give the largest three digits.
  function column(values, unit = "") {
    const [divisor, sign] = unit === "fraction" ? [0.01, ""] : SCALED[unit] ?? [1, ""];
    const all = values.map((value) => Number.isFinite(value ?? NaN) ? value / divisor : null), largest = Math.max(...all.map(Math.abs));
    if (unit === "seconds" || unit === "kilobytes" || !(largest >= 1e-4 && largest < 1e15)) return values.map((value) => show(value, unit));
    const most = Math.min(Math.max(2 - Math.floor(Math.log10(largest)), 0), 20);
    const decimals = Math.max(...all.map((value) => (Number(value?.toFixed(most) ?? 0).toString().split(".")[1] ?? "").length));
    if (unit === "fraction") return values.map((value) => percent(value ?? null, decimals, decimals));
    const told = (value) => intl({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value), least = 10 ** -decimals;
    const written = (value) => value && Math.abs(value) < least / 2 ? `${value < 0 ? `>${SPACE}−` : `<${SPACE}`}${told(least)}` : minus(told(value || 0));
    return all.map((value) => value === null ? "–" : `${written(value)}${sign ? SPACE + sign.replaceAll(" ", SPACE) : ""}`);
  }

  // The same in few characters, for ticks and for the ends of bars.
  function compact(value, unit = "") {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (unit === "fraction") return percent(value, Math.abs(value) < 0.01 ? 2 : 1);
    if (unit === "seconds") return duration(value);
    if (unit === "kilobytes") return memory(value);
    const [divisor, sign] = SCALED[unit] ?? [1, ""];
    return `${brief(value / divisor)}${sign ? SPACE + sign.replaceAll(" ", SPACE) : ""}`;
  }

  function brief(value) {
    const size = Math.abs(value);
    for (const [scale, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) {
      if (size >= scale && size < 1e15) return `${number(Number((value / scale).toPrecision(3)), 3)}${SPACE}${name}`;
    }
    return number(value, 3);
  }

  // --- Scales and their ticks ----------------------------------------------------------------------

  // From a domain to a range; `invert` leads back. An empty domain stands in the middle.
  function linear([low, high], [from, to]) {
    const span = high - low;
    const scale = (value) => span ? from + (value - low) / span * (to - from) : (from + to) / 2;
    scale.invert = (place) => span && to !== from ? low + (place - from) / (to - from) * span : low;
    return Object.assign(scale, { domain: [low, high], range: [from, to] });
  }

  function log([low, high], range) {
    const inner = linear([Math.log(low), Math.log(high)], range);
    const scale = (value) => value > 0 ? inner(Math.log(value)) : NaN;
    scale.invert = (place) => Math.exp(inner.invert(place));
    return Object.assign(scale, { domain: [low, high], range });
  }

  // Logarithmic from *least* on, with a place of its own for zero, *room* before it.
  function logWithZero([least, high], [from, to], room = 18) {
    const start = from + Math.sign(to - from) * room, inner = log([least, high], [start, to]);
    const scale = (value) => value < least ? linear([0, least], [from, start])(Math.max(value, 0)) : inner(value);
    scale.invert = (place) => (place - start) * Math.sign(to - from) < 0 ? Math.max(0, linear([0, least], [from, start]).invert(place)) : inner.invert(place);
    return Object.assign(scale, { domain: [0, high], range: [from, to] });
  }

  // The least round number that is not less than a value.
  function nice(value) {
    if (!(value > 0) || !Number.isFinite(value)) return 1;
    const ten = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((digit) => digit * ten).find((round) => round >= value * (1 - 1e-9));
  }

  const SECONDS = [1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
    ...[1, 2, 5, 10, 30, 60, 90, 180].map((n) => n * DAY), ...[1, 2, 5, 10].map((n) => n * YEAR)];

  // Half of the unit that durations up to so long are told in, so that ticks say 1.5 h and not 1.17 h; 0 where they are close together.
  function halfOf(low, high) {
    const [length] = LENGTHS.find(([each]) => high >= each) ?? LENGTHS.at(-1), half = length === YEAR ? YEAR : length / 2;
    return high - low >= 2 * half ? half : 0;
  }

  // Round values of a linear axis, at most about so many, as [place, label].
  function linearTicks(low, high, unit = "", count = 5) {
    if (!(high > low) || !Number.isFinite(high - low)) return [[low, compact(low, unit)]];
    const rough = Math.max((high - low) / count, unit === "seconds" ? halfOf(low, high) : 0), [divisor] = SCALED[unit] ?? [1];
    let step = unit === "seconds" && rough >= 0.75 && SECONDS.find((each) => each >= rough * 0.75) || nice(rough * 0.75 / divisor) * divisor;
    if (unit === "count") step = Math.max(1, step);
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n <= high / step + 1e-9; n++) found.push([n * step || 0, compact(Number((n * step).toPrecision(12)), unit)]);
    return found;
  }

  const TIMES = [HOUR, DAY, MINUTE, 1, YEAR, 30 * DAY, 10, 10 * MINUTE, 7 * DAY, 6 * HOUR, 10 * YEAR, 100 * YEAR, 0.001, 0.1, 15 * MINUTE, 30 * MINUTE];

  // Values that could stand at a logarithmic axis, those that matter most first: `apart` takes those that fit.
  function logTicks(low, high, unit = "") {
    const [divisor] = SCALED[unit] ?? [1];
    const ends = [Math.floor(Math.log10(low / divisor)), Math.ceil(Math.log10(high / divisor))];
    let places = TIMES;
    if (unit === "kilobytes") places = [1, 32, 4, 256, 2, 8, 16, 64, 128, 512].flatMap((digit) => [0, 1, 2, 3, 4].map((n) => 1024 ** n * digit));
    else if (unit !== "seconds") {
      const stride = [1, 2, 3, 4, 6, 10, 20, 50, 100].find((each) => (ends[1] - ends[0]) / each <= 12) ?? 100;
      const powers = [];
      for (let n = ends[0]; n <= ends[1]; n++) if (n % stride === 0) powers.push(Number(`1e${n}`) * divisor);
      places = stride > 1 ? powers : [...powers, ...powers.map((each) => 3 * each), ...powers.map((each) => 2 * each), ...powers.map((each) => 5 * each)];
    }
    return places.filter((value) => value >= low * 0.999 && value <= high * 1.001).map((value) => [value, compact(Number(value.toPrecision(12)), unit)]);
  }

  // --- Time ----------------------------------------------------------------------------------------

  const FARTHEST = 8.6e12; // seconds that a date can count
  const CLOCK_STEPS = [1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 14 * DAY];
  const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
  const two = (value) => String(value).padStart(2, "0");

  // Time by the clock of a zone; without one it is counted from an unknown start. *words* has `day`, as in "day 3".
  function time(zone, words = {}) {
    const format = zone ? clockOf(zone) : null;
    const known = format ? format.resolvedOptions().timeZone : null;
    const walls = new Map();
    // A moment as what the clock shows, in seconds as if in UTC.
    function wall(moment) {
      if (!format || Math.abs(moment) > FARTHEST) return moment;
      const quarter = Math.floor(moment / 900); // clocks change at quarters of an hour
      if (!walls.has(quarter)) {
        const at = Object.fromEntries(format.formatToParts(quarter * 900000).map(({ type, value }) => [type, Number(value)]));
        const shown = new Date(0);
        shown.setUTCFullYear(at.year, at.month - 1, at.day);
        shown.setUTCHours(at.hour % 24, at.minute, at.second);
        walls.set(quarter, shown.getTime() / 1000 - quarter * 900);
      }
      return moment + walls.get(quarter);
    }
    // When the clock shows what it shows.
    function moment(shown) {
      const first = shown - (wall(shown) - shown);
      return shown - (wall(first) - first);
    }
    const at = (when) => new Date(wall(when) * 1000);
    const far = (when) => !format || Math.abs(when) > FARTHEST;
    const relative = (when) => `${words.day ?? ""} ${number(when / DAY, 6)}`.trim();
    const clock = (when) => `${two(at(when).getUTCHours())}:${two(at(when).getUTCMinutes())}${wall(when) % MINUTE ? `:${two(at(when).getUTCSeconds())}` : ""}`;
    // 2012-05-01, and with the clock 2012-05-01 14:00.
    const iso = (when) => far(when) ? relative(when) : at(when).toISOString().slice(0, 10);
    const stamp = (when) => far(when) ? relative(when) : `${iso(when)} ${clock(when)}`;
    const month = (when, style = "short") => monthNames(style).format(at(when));
    function day(when, { year = true, weekday = false } = {}) {
      if (far(when)) return relative(when);
      return dayNames(year, weekday)(at(when));
    }
    // Round moments from one to another as [moment, label], at least so many pixels apart.
    function ticks(from, to, width, room = 54) {
      const most = Math.max(2, Math.floor(width / room));
      if (!(to > from)) return [[from, far(from) ? relative(from) : day(from)]];
      if (far(from) || far(to)) {
        const scale = to - from < 3 * DAY ? HOUR : DAY;
        return linearTicks(from / scale, to / scale, "", most).map(([place, label]) => [place * scale, label]);
      }
      const step = CLOCK_STEPS.find((each) => (to - from) / each <= most);
      return step ? clockTicks(from, to, step) : monthTicks(from, to, most);
    }
    function clockTicks(from, to, step) {
      const found = [], monday = step === 7 * DAY || step === 14 * DAY ? 4 * DAY : 0; // the first Monday was the fifth day
      for (let shown = Math.ceil((wall(from) - monday) / step) * step + monday; ; shown += step) {
        const when = moment(shown);
        if (when > to) return found;
        if (when < from) continue;
        found.push([when, shown % DAY ? clock(when) : day(when, { year: false })]);
      }
    }
    function monthTicks(from, to, most) {
      const step = MONTH_STEPS.find((each) => (to - from) / (YEAR / 12) / each <= most) ?? 2400, found = [];
      const begin = at(from);
      for (let n = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / step) * step; ; n += step) {
        const shown = new Date(0);
        shown.setUTCFullYear(Math.floor(n / 12), n % 12, 1);
        const when = moment(shown.getTime() / 1000);
        if (when > to) return found;
        if (when < from) continue;
        found.push([when, n % 12 ? month(when) : String(Math.floor(n / 12))]);
      }
    }
    // What the ticks between two moments do not say: "3 Feb – 17 Oct 2012".
    function span(from, to) {
      if (far(from) || far(to)) return to - from < 3 * DAY ? words.hours ?? "" : words.days ?? "";
      const [first, last] = [at(from), at(to)];
      if (iso(from) === iso(to)) return day(from);
      return `${day(from, { year: first.getUTCFullYear() !== last.getUTCFullYear() })} – ${day(to)}`;
    }
    return { zone: known, wall, moment, iso, stamp, clock, day, month, ticks, span };
  }

  function clockOf(zone) {
    const options = { calendar: "iso8601", numberingSystem: "latn", hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" };
    try { return new Intl.DateTimeFormat("en", { ...options, timeZone: zone }); } catch { return new Intl.DateTimeFormat("en", { ...options, timeZone: "UTC" }); }
  }

  const names = new Map();
  function monthNames(style) {
    if (!names.has(style)) names.set(style, new Intl.DateTimeFormat(language, { month: style, timeZone: "UTC" }));
    return names.get(style);
  }

  // Days in the order of the language: in English the day comes first, as everywhere on the page.
  function dayNames(year, weekday) {
    const key = `${year} ${weekday}`;
    if (!names.has(key)) {
      const options = { day: "numeric", month: "short", timeZone: "UTC", ...(year && { year: "numeric" }), ...(weekday && { weekday: "short" }) };
      const format = new Intl.DateTimeFormat(language, options);
      const english = (date) => {
        const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
        return [part.weekday, part.day, part.month, part.year].filter(Boolean).join(" ");
      };
      names.set(key, language.startsWith("en") ? english : (date) => format.format(date));
    }
    return names.get(key);
  }

  return {
    FONTS, MINUTE, HOUR, DAY, YEAR, language,
    colours, colour, dash, marker, hatch,
    escape, px, tag, group, text, line, rect, circle, path, svg, course, stairs, area, band, boxes,
    measure, cut, wrap, apart, legend, lineSample, boxSample,
    number, percent, duration, length, memory, show, column, compact,
    linear, log, logWithZero, nice, linearTicks, logTicks, time,
  };
})();
