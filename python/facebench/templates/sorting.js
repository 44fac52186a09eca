// Tables whose headings sort their rows.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const value = (row, k) => {
    const cell = row.cells[k], number = parseFloat(cell.dataset.sort);
    return isNaN(number) ? cell.textContent.trim() : number;
  };
  heads.forEach((head, k) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      // Numbers begin with the highest, names with the first; a cell without a number is last.
      const numbers = [...body.rows].some(r => typeof value(r, k) === "number");
      const down = head.ariaSort ? head.ariaSort === "ascending" : numbers;
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [value(row, k), row]);
      const sign = down ? -1 : 1;
      rows.sort(([a], [b]) => typeof a !== typeof b ? (typeof a === "number" ? -1 : 1)
        : sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, {numeric: true})));
      rows.forEach(([, row]) => body.append(row));
    };
  });
}
