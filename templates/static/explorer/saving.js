// What is seen as files: the rows as CSV, the strip as a picture of its own.

explorer.saving = (() => {
  const { view, place, NAMES, swatch } = explorer;

  function saved(kind) {
    const name = document.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "gwa";
    if (kind === "csv") download(`${name}.csv`, "text/csv", csv(explorer.rows.lines()));
    if (kind === "svg") download(`${name}.svg`, "image/svg+xml", slide());
    if (kind === "png") figures.raster(slide(), 1200, 560, (blob) => download(`${name}.png`, "image/png", blob));
  }

  // The strip as a picture of its own: with the title, what is chosen, what colours stand for, and the source.
  function slide() {
    const width = 1200, look = getComputedStyle(document.documentElement), inner = explorer.strip.drawn(width, { height: 420 });
    const chosen = [...place("chips").querySelectorAll(".chip bdi")].map((chip) => chip.textContent).join(" · ");
    const legend = draw.legend(NAMES.flatMap((_, n) => view.shown.outcomes[view.state.by][n] ? [{ label: view.words.outcomes[n], sample: draw.boxSample({ fill: swatch(n) }) }] : []), width - 60);
    const source = [document.querySelector(".period")?.textContent.trim(), "gwa"].filter(Boolean).join(" · ");
    const body = draw.rect(0, 0, width, 560, { fill: "var(--paper)" })
      + draw.text(30, 40, document.title, { "font-size": 24, "font-weight": 600, fill: draw.colours.ink }) + draw.text(30, 64, chosen || view.words.whole, { "font-size": 14 })
      + draw.group({ transform: "translate(0 80)" }, inner.svg) + draw.group({ transform: "translate(30 504)" }, legend.body) + draw.text(30, 548, source);
    return draw.svg(width, 560, body).replace(/var\((--[\w-]+)(?:, *([^()]+))?\)/g, (_, name, usual) => look.getPropertyValue(name).trim() || usual || "#888");
  }

  return { saved };
})();
