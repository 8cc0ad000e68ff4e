// Sorting and filtering of the tables, and plans for the clipboard. The page says all without it.
"use strict";
document.documentElement.classList.add("scripted");

const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim();
};

// Rows without a figure stay below in both directions.
const compare = (a, b, ascending) => {
  if (a === "" || b === "") return (a === "") - (b === "");
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return ascending ? order : -order;
};

for (const all of document.querySelectorAll("details.all")) {
  const table = all.querySelector("table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) continue;

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") === "descending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [value(row, column), row]);
      rows.sort((a, b) => compare(a[0], b[0], ascending));
      body.append(...rows.map(pair => pair[1]));
    });
  });

  const tools = all.querySelector(".tools");
  const input = tools.querySelector("input");
  const output = tools.querySelector("output");
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const own = row.dataset.words.toLowerCase().split(/\s+/);
      row.hidden = !words.every(word => own.some(one => one.startsWith(word)));
      shown += row.hidden ? 0 : 1;
    }
    output.textContent = words.length ? `${shown} of ${body.rows.length}` : "";
  };
  tools.hidden = false;
  all.open = body.rows.length <= 40 || !matchMedia("screen and (max-width: 40rem)").matches;
  input.addEventListener("input", filter);
}

for (const button of document.querySelectorAll("button[data-plan]")) {
  if (!navigator.clipboard) break;  // not there for every page that was opened from a file
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.plan);
    button.textContent = "copied";
  });
}
