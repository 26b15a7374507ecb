// A row: a box for each column that the model reads, and what stands in them.

import { $, h, shown } from "./dom.js";
import { asAsked, state } from "./state.js";

/** Puts boxes in the place of the text; `read` is called with the row, null while there is none. */
export function startRow(read) {
  const { columns } = state.card;
  const tell = () => read(rowNow());
  const boxes = columns.map((column, i) => h("div.box",
    h("label", { for: `column-${i}` }, shown(column.name)), box(column, `column-${i}`)));
  const form = h("div.boxes", { id: "row", role: "group", "aria-label": "Your row", oninput: tell }, boxes);
  document.querySelector("label[for=text]").textContent = "Your row";
  document.querySelector("label[for=text]").removeAttribute("for");
  $("text").replaceWith(form);
  $("clear").onclick = () => {
    for (const field of fields()) field.value = "";
    tell();
    fields()[0].focus();
  };
  tell(); // a reloaded page may have kept it
}

const fields = () => [...$("row").querySelectorAll("input, select, textarea")];

/** Puts a row, as it is asked for, in the boxes. */
export function fillRow(asked) {
  const row = JSON.parse(asked);
  state.card.columns.forEach(({ name }, i) => ($(`column-${i}`).value = Object.hasOwn(row, name) ? row[name] ?? "" : ""));
  $("row").dispatchEvent(new Event("input"));
}

export const focusRow = () => fields()[0]?.focus();

function box({ name, kind, categories }, id) {
  const plain = { id, dir: "auto", autocomplete: "off", spellcheck: "false" };
  if (kind === "text") return h("textarea", { ...plain, rows: 2, placeholder: "a text" });
  if (!categories) return h("input", { ...plain, inputmode: kind === "number" ? "decimal" : null, placeholder: kind });
  return h("select", { id, "aria-label": shown(name) }, h("option", { value: "" }, "–"),
    categories.map((each) => h("option", { value: each }, shown(each))));
}

/** The row as it is asked for; null if all of it is missing. */
function rowNow() {
  const row = {};
  state.card.columns.forEach(({ name, kind }, i) => {
    const value = $(`column-${i}`).value;
    if (value.trim()) row[name] = typed(value, kind);
  });
  return Object.keys(row).length ? asAsked(row) : null;
}

/** Numbers go as numbers; what is none goes as it is, and the service says so. */
const typed = (value, kind) => (kind === "number" && Number.isFinite(Number(value)) ? Number(value)
  : value.toWellFormed?.() ?? value);
