// Which job was on which processors, and when.

figures.kinds.gantt = (() => {
  const owner = (group, place) => group.label === "others" ? draw.colours.muted : draw.colour(place);
  const highest = (data) => figures.most([1, ...data.groups.flatMap((group) => group.bars.map((bar) => bar[3]))]);

  function gantt(data, width, words, state) {
    const clock = draw.time(data.zone, words), [from, to] = data.period, high = highest(data);
    // Owners differ by the direction of their stripes, too.
    const fill = (group, place) => group.label === "others" ? owner(group, place) : `url(#${state.id}-${place})`;
    const stripes = data.groups.map((group, place) => draw.hatch(`${state.id}-${place}`, place, owner(group, place), 0.75)).join("");
    const look = (group, place) => ({ fill: fill(group, place), "fill-opacity": group.label === "others" ? 0.3 : 1, stroke: owner(group, place) });
    const items = data.groups.map((group, place) => ({ label: group.label, sample: draw.boxSample(look(group, place)) }));
    const at = figures.timeRoom(width, { high: width < figures.NARROW ? 220 : 260, ylabel: data.ylabel, xlabel: figures.timeWords(clock, from, to, words), items: items.length > 1 ? items : [] });
    const x = draw.linear([from, to], [at.left, at.right]), y = draw.linear([0, high * 1.02], [at.bottom, at.top]);
    const thin = at.bottom - at.top < 3 * high ? 0.3 : 0.8;
    const boxOf = ([begin, end, below, above]) => [x(begin), y(above), Math.max(x(end) - x(begin), 0.5), y(below) - y(above)];
    const placed = data.groups.flatMap((group, place) => group.bars.map((bar) => ({ bar, group, place, box: boxOf(bar) })));
    const paths = data.groups.map((group, place) => draw.path(draw.boxes(placed.filter((one) => one.place === place).map((one) => one.box)), { ...look(group, place), "stroke-width": thin }));
    function read(px, py) {
      const far = ({ box: [left, top, w, h] }) => Math.max(left - px, px - left - w, 0) + Math.max(top - py, py - top - h, 0);
      if (!placed.length) return null;
      const found = placed.reduce((a, b) => far(b) < far(a) ? b : a), { bar, group, place, box } = found;
      if (far(found) > 30) return null;
      return {
        x: box[0] + box[2] / 2, y: box[1] + box[3] / 2, frame: box, title: `${clock.stamp(bar[0])} – ${clock.stamp(bar[1])} (${draw.show(bar[1] - bar[0], "seconds")})`,
        rows: [{ label: group.label, text: "", colour: owner(group, place) }, { label: data.ylabel, text: `${draw.number(bar[2])} – ${draw.number(bar[3] - 1)}`, value: bar }],
      };
    }
    const body = stripes + figures.upwards(at, y, draw.linearTicks(0, high, "count")) + figures.sideways(at, x, clock.ticks(from, to, at.right - at.left)) + paths.join("");
    const middles = placed.map(({ box }) => [box[0] + box[2] / 2, box[1] + box[3] / 2]).sort((one, other) => one[0] - other[0]);
    return figures.picture(at, body, read, figures.thinned(middles, 2000));
  }

  gantt.before = (data) => figures.timed(data, 0, 0, draw.linearTicks(0, highest(data), "count").map(([, label]) => label));
  return gantt;
})();
