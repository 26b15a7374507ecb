// Measured quality of a file that has labels.

import { call } from "./api.js";
import { calibration } from "./charts.js";
import {
  cell, count, fact, fixed, folded, h, percent, plural, said, section, shown, soft, table, told,
} from "./dom.js";
import { isOfLabels, isOfRows, state } from "./state.js";

const TABLE = 12; // classes of a full table of confusions
const PAIRS = 15; // else the most frequent mistakes

const TITLE = "Evaluation";

const head = (name) => h("th", { scope: "row" }, said(name));

/** Sends the file to be measured, and shows the result. */
export async function measure(box, source) {
  const wait = h("p.soft", { role: "status" }, "Evaluating…");
  box.replaceChildren(section("h-measured", TITLE, wait));
  const [text, label] = [source.text, source.label].map((at) => source.columns[at]);
  const named = { ...(isOfRows() ? {} : { text }), label, ...(source.separator ? { label_separator: source.separator } : {}) };
  try {
    const sent = await source.upload(state.card.limits.upload);
    const found = await call(`v1/evaluate?${new URLSearchParams(named)}`, { ...sent, tries: 30 });
    if (wait.isConnected) box.replaceChildren(...(isOfLabels() ? drawnLabels(found) : drawn(found)));
  } catch (error) {
    wait.replaceWith(error.status ? told(error) : soft(`The file was not measured: ${error.message}.`));
  }
}

function drawn(found) {
  const range = (interval, text) => interval.map(text).join(" to ");
  const facts = [
    fact("accuracy", percent(found.accuracy), range(found.accuracy_interval, percent)),
    fact("largest class alone", percent(found.largest_class.accuracy), said(found.largest_class.label)),
    fact("macro-F1", fixed(found.macro_f1), range(found.macro_f1_interval, fixed)),
    fact("log-loss", fixed(found.log_loss), range(found.log_loss_interval, fixed)),
    fact("calibration error", percent(found.calibration_error)),
  ];
  const link = h("a", { href: found.report?.slice(1), target: "_blank", rel: "noopener" }, "The whole report");
  const byClass = Object.entries(found.by_class).map(([label, { rows: n, precision, recall, f1 }]) =>
    [head(label), cell(count(n)), ...[precision, recall, f1].map((value) => cell(fixed(value)))]);
  return [
    section("h-measured", TITLE, soft(`${plural(found.n, "row")}; ranges are 95\u202f% intervals.`),
      h("dl.facts", facts), found.warnings.map((warning) => h("p.note", shown(warning))),
      foreign(found), found.report && h("p", link, " (in a new tab)"),
      folded("Class by class", table("Classes", ["Class", "Rows", "Precision", "Recall", "F1"], byClass))),
    h("div.columns", section("h-confused", "Truth and answer", ...confusion(found)),
      section("h-sure", "Calibration", calibration(found.reliability, found.calibration_error))),
  ];
}

function foreign({ unknown_labels: found }) {
  const strange = Object.entries(found);
  const rows = strange.reduce((sum, [, n]) => sum + n, 0);
  return rows ? h("p.note", `${plural(rows, "row")} with labels that the model does not have: `,
    strange.slice(0, 10).map(([label, n], i) => [i ? ", " : "", said(label), ` (${count(n)})`])) : null;
}

function drawnLabels(found) {
  const facts = [["micro-F1", "micro_f1"], ["macro-F1", "macro_f1"], ["all labels right", "subset_accuracy"],
    ["log-loss a label", "log_loss"]].map(([name, key]) =>
    fact(name, fixed(found[key]), found[`${key}_interval`].map(fixed).join(" to ")));
  const rows = Object.entries(found.by_label).map(([label, { rows: n, given, precision, recall, f1 }]) =>
    [head(label), cell(count(n)), cell(count(given)), ...[precision, recall, f1].map((value) => cell(fixed(value)))]);
  const each = [found.labels_per_text, found.given_per_text].map((n) => n.toFixed(2));
  return [section("h-measured", TITLE, soft(`${plural(found.n, "row")}; ranges are 95\u202f% intervals.`),
    h("dl.facts", facts, fact("calibration error", percent(found.calibration_error))), foreign(found),
    soft(`${each[0]} labels a text, given ${each[1]}.`),
    table("Labels", ["Label", "Rows", "Given", "Precision", "Recall", "F1"], rows))];
}

function confusion({ confusion: found, by_class: classes }) {
  const cells = found.map(({ label: truth, predicted: answer, rows }) => ({ truth, answer, rows }));
  const names = [...new Set(cells.flatMap(({ truth, answer }) => [truth, answer]))].sort();
  if (names.length > TABLE) {
    const wrong = cells.filter(({ truth, answer }) => truth !== answer).sort((a, b) => b.rows - a.rows);
    const line = ({ truth, answer, rows }) => [said(truth), said(answer), cell(count(rows))];
    return [soft("The most frequent mistakes."),
      table("Mistakes", ["Truth", "Answer", "Rows"], wrong.slice(0, PAIRS).map(line))];
  }
  const square = (truth, answer) => {
    const n = cells.find((each) => each.truth === truth && each.answer === answer)?.rows ?? 0;
    const node = cell(n ? count(n) : "·");
    node.classList.add(truth === answer ? "hit" : "miss");
    node.style.setProperty("--depth", String(n / (classes[truth]?.rows || n || 1)));
    return node;
  };
  return [soft("Rows: true label; columns: predicted label."),
    table("Confusion table", ["Truth", ...names.map((name) => said(name))],
      names.map((truth) => [head(truth), ...names.map((answer) => square(truth, answer))]))];
}
