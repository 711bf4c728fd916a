// Names in tables: those of a list choose as its rows do, wherever they stand. A name that the page does not tell apart is text.

explorer.names = (() => {
  const { view, html } = explorer;
  const codes = new Map(); // of each choice, the codes by name

  const isPicked = (choice, code) => Boolean(view.state.lists[choice.key]?.has(code));

  function button(choice, code, name, where) {
    return `<button type="button" class="pick" data-pick="${choice.key}" value="${code}" data-place="${html(`${where}/${choice.key}/${code}`)}" aria-pressed="${isPicked(choice, code)}"><bdi class="name brief">${html(name)}</bdi></button>`;
  }

  // The choice that a column of names is of: it has its heading.
  function choiceOf(head) {
    const choice = head.classList.contains("number") ? null : view.about.choices.find(({ heading }) => heading === head.textContent.trim());
    if (choice && !codes.has(choice)) codes.set(choice, new Map(choice.names.map((name, code) => [name, code])));
    return choice;
  }

  // Makes the names of a table choose.
  function link(block) {
    const table = block.querySelector("table");
    [...table?.tHead?.rows[0]?.cells ?? []].forEach((head, column) => {
      const choice = choiceOf(head);
      if (!choice) return;
      for (const { cells: { [column]: cell } } of table.tBodies[0].rows) {
        const code = codes.get(choice).get(cell?.textContent);
        if (code !== undefined && !cell.querySelector(".pick")) cell.innerHTML = button(choice, code, cell.textContent, block.dataset.name);
      }
    });
  }

  // Says of all names below the first screen, or in a part of the page, whether they are chosen.
  function mark(part = document.querySelector("main")) {
    for (const one of part.querySelectorAll(".pick")) one.setAttribute("aria-pressed", isPicked({ key: one.dataset.pick }, Number(one.value)));
  }

  return { button, link, mark };
})();
