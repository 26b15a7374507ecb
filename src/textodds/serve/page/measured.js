// Measured quality of a file that has labels.

import { call } from "./api.js";
import { calibration } from "./charts.js";
import {
  cell, count, fact, fixed, folded, h, percent, plural, said, section, shown, soft, table, told,
} from "./dom.js";
import { judge } from "./judged.js";
import { isOfLabels, isOfRows, state } from "./state.js";

const TITLE = "Evaluation";

const head = (name) => h("th", { scope: "row" }, said(name));

/** Sends the file to be measured, and shows the result; what its rows say by themselves stands there at once. */
export async function measure(box, source, answers, classify) {
  const wait = h("p.soft", { role: "status" }, "Evaluating…");
  box.replaceChildren(section("h-measured", TITLE, wait), ...(isOfLabels() ? [] : judge(source, answers, classify)));
  const [text, label] = [source.text, source.label].map((at) => source.columns[at]);
  const named = { ...(isOfRows() ? {} : { text }), label, ...(source.separator ? { label_separator: source.separator } : {}) };
  try {
    const sent = await source.upload(state.card.limits.upload);
    const found = await call(`v1/evaluate?${new URLSearchParams(named)}`, { ...sent, tries: 30 });
    if (wait.isConnected) box.firstChild.replaceWith(...(isOfLabels() ? drawnLabels(found) : drawn(found)));
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
    section("h-sure", "Calibration", calibration(found.reliability, found.calibration_error)),
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
