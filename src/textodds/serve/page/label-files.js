// Files of texts: dropped here, read by the service, which finds encoding, separator and column.

import { call } from "./api.js";
import { $, button, bytes, count, folded, h, plural, said, select, shown, soft, told } from "./dom.js";
import { ask, by, classes, desk, remember } from "./label-desk.js";
import { state } from "./state.js";

const ACCEPTED = ".csv,.tsv,.txt,.log,.jsonl,.ndjson,.gz,.parquet,.xlsx,text/*";
let last = null; // the file that was sent last: its column may be another
let outcome = null;

/** Draws the files, folded away while texts are labelled; `again` goes on when something has changed. */
export function drawFiles(place, again) {
  const { files, texts } = desk.state;
  const names = h("span.row", files.map(({ name, texts: n }) => h("span", h("b", said(name)), " ", h("span.soft", plural(n, "text")))));
  const redraw = () => drawFiles(place, again);
  const body = [nameClasses(again), zone(again, redraw), outcome, columns(again, redraw)];
  if (!texts) {
    place.replaceChildren(...[intro(), ...body, naming(again)].filter(Boolean));
    return;
  }
  const isOpen = place.querySelector("details")?.open && outcome?.matches?.(".error, .stays");
  const fold = folded(names, ...body.filter(Boolean), ...files.map((file) => removal(file, again)));
  fold.classList.add("files");
  fold.open = Boolean(isOpen);
  place.replaceChildren(h("div.label-bar", fold, naming(again)));
}

function intro() {
  if (!desk.state.new) return soft("Drop a file of texts without labels. You label those that the model learns most from.");
  return h("p.hint", "This model has learned nothing yet. Name the classes, drop a file of texts without labels, and label: the model grows as you go.");
}

function zone(again, redraw) {
  const input = h("input.away", { id: "label-file", type: "file", accept: ACCEPTED });
  const node = h("label.drop", { for: input.id }, h("span", h("b", "Choose a file"), " or drop it here"),
    h("span.soft", "CSV, TSV, JSON lines, Parquet, Excel, or one text per line; gzipped or not. Encoding and columns are found."));
  const take = (file) => file && send(file, null, again, redraw);
  input.onchange = () => (take(input.files[0]), (input.value = ""));
  for (const name of ["dragover", "dragleave", "drop"]) {
    node.addEventListener(name, (event) => {
      node.classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
  }
  return h("div.stack", input, node);
}

async function send(file, column, again, redraw) {
  const { upload } = state.card.limits;
  outcome = h("p.soft", { role: "status" }, "Reading ", said(file.name), "…");
  redraw();
  try {
    if (file.size > upload) throw new Error(`The file has ${bytes(file.size)}, and the service takes ${bytes(upload)}.`);
    const query = new URLSearchParams({ name: file.name, ...(column === null ? {} : { text: column }) });
    const found = await call(`v1/labelling/files?${query}`, { body: file, type: "application/octet-stream" });
    last = { file, found };
    outcome = h("p.soft.stays", { role: "status" }, ...summary(found));
    desk.wantsFocus = true;
    await again();
  } catch (error) {
    outcome = told(error);
    redraw();
  }
}

function summary({ file, new: fresh, labelled, left_out: out }) {
  const parts = [plural(file.texts, "text"), file.column ? ` from the column “${shown(file.column)}”` : "",
    file.encoding ? `, read as ${file.encoding}` : "", "."];
  if (!fresh) parts.push(" The file was here before: labelling goes on where it was.");
  if (labelled) parts.push(` ${count(labelled)} have a label already.`);
  if (file.texts < file.rows) parts.push(` ${count(file.rows)} rows; the same text counts once.`);
  if (out) parts.push(` ${count(out)} were left out: more texts than are kept.`);
  return parts;
}

/** Another column than the one that was found. */
function columns(again, redraw) {
  if (!last || last.found.file.columns.length < 2 || !desk.state.files.some(({ digest }) => digest === last.found.file.digest)) return null;
  const { file, found } = last;
  const names = found.file.columns.map((name) => [name, name]);
  return h("p.row", h("label", { for: "label-column" }, "Texts are in"),
    select("label-column", names, found.file.column, (name) => send(file, name, again, redraw)));
}

function removal({ digest, name }, again) {
  const remove = async () => {
    await ask("files/remove", { file: digest });
    outcome = null;
    await again();
  };
  return h("p.row", button(["Remove ", said(name)], remove, { class: "quiet" }), h("span.soft", "Labels stay."));
}

/** Classes can be named before any text has one. */
function nameClasses(again) {
  if (!desk.state.new) return null;
  const field = h("input", { id: "label-class", autocomplete: "off", maxlength: "1000", required: true });
  const trouble = h("div", { role: "alert" });
  const add = async (event) => {
    event.preventDefault();
    try {
      await ask("classes", { label: field.value.trim() });
      await again();
      $("label-class")?.focus();
    } catch (error) {
      trouble.replaceChildren(told(error));
    }
  };
  const known = classes();
  return h("form.row.classes", { onsubmit: add }, h("span", known.length ? "Classes:" : "Its classes, such as spam and ham:"),
    known.map((name) => h("span.pill", said(name))),
    h("label.away", { for: field.id }, "A class"), field, h("button", { type: "submit" }, "Add a class"), trouble);
}

/** Who labels: several people are given different texts. */
function naming(again) {
  const field = h("input", { id: "label-by", autocomplete: "name", maxlength: "100", placeholder: "if you are several", value: by() });
  field.onchange = () => {
    remember({ by: field.value.trim() });
    desk.check = null;
    again();
  };
  return h("p.row.naming", h("label", { for: field.id }, "Your name"), field);
}
