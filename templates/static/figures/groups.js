// Values of several series at a few places, with how sure they are; places are numbers, or names that stand under each other.

figures.kinds.groups = (() => {
  const FACTOR = 20; // values that differ by so much stand on a logarithmic axis
  const sample = (data, place) => (x, y) => (data.x ? figures.sample(place)(x, y) : "") + draw.marker(place, x + 11, y);
  const items = (data) => data.series.length > 1 ? data.series.map(({ label }, place) => ({ label, sample: sample(data, place) })) : [];

  // Between which ends a value may be.
  const span = (one, n) => one.ends?.[n] ?? [one.y[n] - (one.half[n] ?? 0), one.y[n] + (one.half[n] ?? 0)];

  const groups = (data, width) => data.x ? numbers(data, width) : under(data, width);

  // The scale of the values, and what it says.
  function worth(data, range, each) {
    const all = figures.known(data.series.flatMap(({ y }) => y)), [low, high] = [figures.least(all), figures.most(all)];
    const spans = data.series.flatMap((one) => one.y.map((value, n) => value === null ? [0, 0] : span(one, n)));
    if (low > 0 && high > FACTOR * low) return figures.heights([...all, ...spans.flat().filter((end) => end > 0)], data.unit, true, range, each);
    return figures.heights([...all, ...spans.map(([, end]) => end)], data.unit, false, range, each);
  }

  const range = (data, one, n) => (one.ends?.[n] ? ` (${span(one, n).map((end) => draw.show(end, data.unit)).join(" – ")})` : one.half[n] ? ` ± ${draw.show(one.half[n], data.unit)}` : "");
  const rows = (data, n) => figures.rows(data.series.map((one, place) => ({ label: one.label, value: one.y[n], more: range(data, one, n), colour: draw.colour(place) })), data.unit);

  // All points of all series, where they stand, each with the ends of its whisker.
  function spots(data, at) {
    return data.series.flatMap((one, place) => one.y.map((value, n) => value === null ? null : { place, n, ...at(place, n, value, span(one, n)) }).filter(Boolean));
  }

  function reader(data, found) {
    return (px, py) => {
      if (!found.length) return null;
      const far = (spot) => Math.hypot(spot.x - px, spot.y - py);
      const spot = found.reduce((a, b) => far(b) < far(a) ? b : a), same = found.filter(({ n }) => n === spot.n);
      return {
        x: spot.x, y: spot.y, title: [data.xlabel, data.places[spot.n]].filter(Boolean).join(": "), rows: rows(data, spot.n),
        dots: same.map(({ x, y, place }) => [x, y, draw.colour(place)]),
      };
    };
  }

  const signs = (found) => found.map((spot) => draw.line(...spot.whisker, { stroke: draw.colour(spot.place), "stroke-width": 1.4 }) + draw.marker(spot.place, spot.x, spot.y)).join("");

  function numbers(data, width) {
    const high = width < figures.NARROW ? 220 : 280, { ticks: labels } = worth(data, [high, 0]);
    const at = figures.room(width, { high, left: figures.margin(labels.map(([, label]) => label)), xlabel: data.xlabel, ylabel: data.ylabel, items: items(data) });
    const { scale: y, ticks: levels } = worth(data, [at.bottom, at.top]), safe = (value) => figures.clamp(y(Math.max(value, y.domain[0])), at.top - 4, at.bottom);
    const [low, greatest] = [figures.least(data.x), figures.most(data.x)], ends = [at.left + 10, at.right - 10];
    const x = low > 0 && greatest > FACTOR * low ? draw.log([low, greatest], ends) : draw.linear([low, greatest], ends);
    const found = spots(data, (place, n, value, [from, to]) => ({ x: x(data.x[n]), y: y(value), whisker: [x(data.x[n]), safe(from), x(data.x[n]), safe(to)] }));
    const lines = data.series.map((_, place) => {
      const own = found.filter((spot) => spot.place === place).sort((one, other) => one.x - other.x);
      return draw.path(draw.course(own.map((spot) => spot.x), own.map((spot) => spot.y)), figures.look(place, 1.4));
    });
    const ticks = data.places.map((name, n) => [data.x[n], name]);
    const body = figures.upwards(at, y, levels) + figures.sideways(at, x, ticks) + lines.join("") + signs(found);
    return figures.picture(at, body, reader(data, found), found.map(({ x: px, y: py }) => [px, py]));
  }

  // Names in a column, their values to the right.
  function under(data, width) {
    const each = Math.max(24, 13 * data.series.length + 8);
    const left = Math.min(figures.margin(data.places.map((name) => name.slice(0, 80))), Math.max(70, width * 0.4));
    const at = figures.room(width, { high: each * data.places.length, left, right: 20, xlabel: data.ylabel, ylabel: data.xlabel, items: items(data) });
    const { scale: x, ticks } = worth(data, [at.left, at.right], 90), low = x.domain[0];
    const safe = (value) => figures.clamp(x(Math.max(value, low)), at.left, at.right + 8);
    const found = spots(data, (place, n, value, [from, to]) => {
      const y = at.top + each * n + each * (place + 0.75) / (data.series.length + 0.5);
      return { x: x(value), y, whisker: [safe(from), y, safe(to), y] };
    });
    // Of two, such as now and changed, a line shows the way from one to the other.
    const ways = data.series.length !== 2 ? "" : data.places.map((_, n) => {
      const pair = found.filter((spot) => spot.n === n);
      return pair.length < 2 ? "" : draw.line(pair[0].x, pair[0].y, pair[1].x, pair[1].y, { stroke: draw.colours.muted });
    }).join("");
    const look = { "text-anchor": "end", "font-size": 11, fill: draw.colours.ink };
    const names = data.places.map((name, n) => draw.line(0, at.top + each * n, at.right, at.top + each * n)
      + draw.text(left - 8, at.top + each * (n + 0.5) + 4, draw.cut(name, left - 10, 11), look)).join("");
    const body = names + figures.sideways(at, x, ticks, { grid: true }) + ways + signs(found);
    return figures.picture(at, body, reader(data, found), found.map(({ x: px, y: py }) => [px, py]));
  }

  return groups;
})();
