"use strict";
(() => {
  const table = document.getElementById("flagged");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows], headings = [...table.tHead.rows[0].cells];
  const find = document.getElementById("find"), change = document.getElementById("change");
  const count = document.getElementById("count");
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const filter = () => {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = words.get(row).includes(wanted) && (change.value === "" || change.value === row.dataset.change);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };

  const value = (row, i) => row.cells[i].dataset.sort ?? row.cells[i].textContent.trim();
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    const numbers = a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y);
    return numbers ? x - y : a.localeCompare(b, undefined, { numeric: true });
  };
  const sort = (heading) => {
    const i = headings.indexOf(heading), rising = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of headings) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const sorted = [...rows].sort((a, b) => (rising ? 1 : -1) * compare(value(a, i), value(b, i)));
    body.append(...sorted);
  };

  const light = (row, on) => {
    for (const ring of document.querySelectorAll(`.ring[data-row="${row.dataset.row}"]`)) ring.classList.toggle("lit", on);
  };
  for (const row of rows) {
    row.addEventListener("mouseenter", () => light(row, true));
    row.addEventListener("mouseleave", () => light(row, false));
  }
  for (const heading of headings) heading.querySelector("button")?.addEventListener("click", () => sort(heading));
  find.addEventListener("input", filter);
  change.addEventListener("change", filter);
  filter();
})();
