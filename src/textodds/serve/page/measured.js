// Measured quality of a file that has labels.

import { call } from "./api.js";
import { calibration } from "./charts.js";
import { cell, count, fixed, folded, h, percent, plural, said, section, soft, table, told } from "./dom.js";
import { state } from "./state.js";

const TABLE = 12; // classes of a full table of confusions
const PAIRS = 15; // else the most frequent mistakes

/** Sends the file to be measured, and shows the result. */
export async function measure(box, source) {
  const wait = h("p", { class: "soft", role: "status" }, "Comparing with the labels…");
  box.replaceChildren(section("h-measured", "Compared with its labels", wait));
  const query = new URLSearchParams({ text: source.columns[source.text], label: source.columns[source.label] });
  try {
    const sent = await source.upload(state.card.limits.upload);
    const found = await call(`/v1/evaluate?${query}`, { ...sent, tries: 30 });
    if (wait.isConnected) box.replaceChildren(...drawn(found));
  } catch (error) {
    wait.replaceWith(error.status ? told(error) : soft(`The file was not measured: ${error.message}.`));
  }
}

function drawn(found) {
  const measures = [
    ["accuracy", percent(found.accuracy), found.accuracy_interval.map(percent)],
    ["macro-F1", fixed(found.macro_f1), found.macro_f1_interval.map(fixed)],
    ["log-loss", fixed(found.log_loss), found.log_loss_interval.map(fixed)],
    ["calibration error", percent(found.calibration_error), null],
  ];
  const facts = measures.map(([name, value, range]) => h("div", {}, h("dt", {}, name), h("dd", {}, value),
    range ? h("dd", { class: "soft" }, `${range[0]} to ${range[1]}`) : null));
  const strange = Object.entries(found.unknown_labels);
  const rows = strange.reduce((sum, [, n]) => sum + n, 0);
  const foreign = rows ? h("p", { class: "note" }, `${plural(rows, "row")} with labels that the model does not have: `,
    strange.slice(0, 10).map(([label, n], i) => [i ? ", " : "", said(label), ` (${count(n)})`])) : null;
  const report = found.report ? h("p", {},
    h("a", { href: found.report, target: "_blank", rel: "noopener" }, "The whole report"), " (in a new tab)") : null;
  const byClass = found.classes.map((each) => [h("th", { scope: "row" }, said(each.label)), cell(count(each.rows)),
    ...[each.precision, each.recall, each.f1].map((value) => cell(fixed(value)))]);
  return [
    section("h-measured", "Compared with its labels", soft(`${plural(found.n, "row")}; ranges are 95\u202f% intervals.`),
      h("dl", { class: "facts" }, facts), foreign, report,
      folded("Class by class", table("Class by class", ["Class", "Rows", "Precision", "Recall", "F1"], byClass))),
    h("div", { class: "columns" }, section("h-confused", "Truth and answer", ...confusion(found)),
      section("h-sure", "As sure as it should be?", calibration(found.bins, found.calibration_error))),
  ];
}

function confusion({ confusion: cells, classes }) {
  const names = [...new Set(cells.flatMap(({ truth, answer }) => [truth, answer]))].sort();
  if (names.length > TABLE) {
    const wrong = cells.filter(({ truth, answer }) => truth !== answer).sort((a, b) => b.rows - a.rows).slice(0, PAIRS);
    return [soft("The most frequent mistakes."), table("Mistakes", ["Truth", "Answer", "Rows"],
      wrong.map(({ truth, answer, rows }) => [said(truth), said(answer), cell(count(rows))]))];
  }
  const rowsOf = new Map(classes.map(({ label, rows }) => [label, rows]));
  const square = (truth, answer) => {
    const n = cells.find((each) => each.truth === truth && each.answer === answer)?.rows ?? 0;
    const node = cell(n ? count(n) : "·");
    node.classList.add(truth === answer ? "hit" : "miss");
    node.style.setProperty("--depth", String(n / (rowsOf.get(truth) || n || 1)));
    return node;
  };
  return [soft("Lines are the truth, columns the answers."), table("Confusion table", ["", ...names.map((name) => said(name))],
    names.map((truth) => [h("th", { scope: "row" }, said(truth)), ...names.map((answer) => square(truth, answer))]))];
}
