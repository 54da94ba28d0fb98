"use strict";
// Pointing at a name in a legend lights up that service. Clicking a table's head sorts by that column.
function enliven(root) {
  for (const key of root.querySelectorAll(".key[data-s]")) {
    const picture = key.closest("svg");
    key.addEventListener("pointerenter", () => { picture.dataset.focus = key.dataset.s; key.classList.add("lit"); });
    key.addEventListener("pointerleave", () => { delete picture.dataset.focus; key.classList.remove("lit"); });
  }
  for (const button of root.querySelectorAll("th button")) {
    button.addEventListener("click", () => {
      const head = button.parentElement, body = head.closest("table").tBodies[0], column = head.cellIndex;
      const up = head.getAttribute("aria-sort") === "descending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const numbered = [...body.rows].every(row => row.cells[column].dataset.v !== undefined);  // such as a time in words
      const numeric = numbered || head.classList.contains("n");  // a number that is not known is below all others
      const value = row => numeric ? Number(row.cells[column].dataset.v ?? -Infinity) : row.cells[column].textContent;
      const order = (a, b) => numeric ? (a === b ? 0 : a - b) : a.localeCompare(b);
      const rows = [...body.rows].sort((a, b) => order(value(a), value(b)) * (up ? 1 : -1));
      body.append(...rows);
    });
  }
}

enliven(document);
