// What the model is, and what is known of how good it is.

import { get, latest } from "./api.js";
import { Bars, calibration, diverging } from "./charts.js";
import { $, cell, count, folded, h, percent, said, section, select, shortened, shown, soft, table, told } from "./dom.js";
import { isOfLabels, isOfRows, labels, on, state, toneOf } from "./state.js";

const WORDS = 24;

let chosen = { label: null, rival: null };

export function startModel() {
  on("card", () => {
    if (!$("view-model").hidden) showModel(null, null);
  });
}

/** Draws the view; a class and its rival may be named. */
export function showModel(label, rival) {
  const names = labels();
  const { classes, quality, recipe, words, has_words: hasWords, columns } = state.card;
  if (!names.length) {
    $("model-body").replaceChildren(h("p.hint", "It has learned nothing yet. ", h("a", { href: "#label" }, "Label some texts"), "."));
    return;
  }
  const isCounted = classes.every((each) => each.documents !== null);
  const ranked = classes.map((each) => [each.label, isCounted ? each.documents : each.prior]);
  ranked.sort((a, b) => b[1] - a[1]);
  const usual = ranked[names.length === 2 ? 1 : 0][0]; // of two the rarer, whose words tell more
  if (names.includes(label)) chosen = { label, rival: null };
  else if (!names.includes(chosen.label)) chosen = { label: usual, rival: null };
  if (rival !== chosen.label && names.includes(rival) && !isOfLabels()) chosen.rival = rival;
  if (names.length === 2 && !isOfLabels()) chosen.rival = names.find((name) => name !== chosen.label);
  const total = isOfLabels() ? state.card.documents : ranked.reduce((sum, [, n]) => sum + n, 0);
  const text = (n) => (isCounted ? `${count(n)} · ${percent(n / total)}` : percent(n));
  const bars = new Bars("Size of each class", { top: 12, text, items: ranked, whole: ranked[0][1] || 1 });
  const made = folded("Its recipe", h("pre", shown(JSON.stringify(recipe, null, 2))));
  $("model-body").replaceChildren(
    h("div.stack", section("h-classes", isOfLabels() ? "Its labels" : "Its classes", bars.node, isOfLabels() ? thresholds() : ""),
      section("h-quality", "How good it is", ...(isOfLabels() ? measuredLabels(state.card.label_quality) : measured(quality)))),
    words ? section("h-words", `${hasWords ? "Words" : "Features"} that tell most`, selects(), h("div", { id: "telling" }, "…"))
      : section("h-columns", "Its columns", columnTable(columns)),
    h("div.wide", section("h-facts", "What it is", facts(), made)));
  if (words) tell();
}

const columnTable = (columns) => table("Columns", ["Column", "Kind", "Categories"],
  columns.map(({ name, kind, categories }) => [said(name), kind, shortened((categories ?? []).join(", "), 200)]));

function facts() {
  const { name, version, documents, corrections, facts: more } = state.card;
  const size = documents === null ? "not known" : count(documents);
  const all = new Map([["name", name], ["version", version], ...more, ["documents", size],
    ["active corrections", count(corrections)]]);
  return h("dl.pairs", [...all].map(([key, value]) =>
    h("div", h("dt", shown(key)), h("dd", shown(value)))));
}

function measured(quality) {
  if (!quality) return [soft("Unknown. Upload a labelled file under Files to see it.")];
  const [low, high] = quality.accuracy_interval;
  return [h("p", h("b.large", percent(quality.accuracy)), " right"),
    soft(`${percent(low)} to ${percent(high)}, with 95\u202f% confidence: by ${count(quality.n)} ${isOfRows() ? "rows" : "texts"} `,
      "of training, held out"),
    soft("The largest class alone, ", said(quality.largest_class.label), `, would get ${percent(quality.largest_class.accuracy)}.`),
    ...quality.warnings.map((warning) => h("p.note", shown(warning))),
    calibration(quality.reliability, quality.calibration_error)];
}

function thresholds() {
  const { labels: all, goal } = state.card;
  const rows = all.map(({ label, share, threshold }) => [said(label), cell(percent(share)), cell(percent(threshold))]);
  return folded("Thresholds", soft(`A text is given a label from its threshold on. They are chosen for ${shown(goal)} on held-out texts.`),
    table("Thresholds", ["Label", "Share of texts", "Threshold"], rows));
}

function measuredLabels(quality) {
  if (!quality) return measured(null);
  const range = (interval) => interval.map(percent).join(" to ");
  return [h("p", h("b.large", percent(quality.micro_f1)), " micro-F1"),
    soft(`${range(quality.micro_f1_interval)}, with 95\u202f% confidence: by ${count(quality.n)} texts of training, held out`),
    soft(`macro-F1 ${percent(quality.macro_f1)}; all labels right in ${percent(quality.subset_accuracy)} of the texts; `,
      `${quality.labels_per_text.toFixed(2)} labels a text, given ${quality.given_per_text.toFixed(2)}`),
    calibration(quality.reliability, quality.calibration_error, "labels with probability 0.8, texts have 80 %")];
}

function selects() {
  const names = labels().map((label) => [label, label]);
  const go = (label, rival) => {
    chosen = { label, rival };
    history.replaceState(null, "", `#model?${query({ class: label, rival })}`);
    tell();
  };
  const all = [["", "all others"], ...names];
  const against = select("words-rival", all, chosen.rival ?? "", (value) => go(chosen.label, value || null));
  const own = select("words-class", names, chosen.label, (value) => {
    const rival = chosen.rival === value ? chosen.label : chosen.rival; // the two change places
    against.value = rival ?? "";
    go(value, rival);
  });
  if (isOfLabels()) return h("p.row", h("label", { for: own.id }, "For"), own);
  return h("p.row", h("label", { for: own.id }, "For"), own,
    h("label", { for: against.id }, "against"), against);
}

const query = (asked) => new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== null));

const tell = latest(async () => {
  const { label, rival } = chosen;
  const put = (node) => $("telling").replaceChildren(node);
  if (label === rival) return put(soft("Choose two different classes."));
  try {
    const { words } = await get(`v1/words?${query({ label, rival, limit: WORDS })}`);
    if (!words.length) return put(soft("The words of this model have no weights of their own."));
    const other = rival === null ? "" : [" (right) or ", said(rival), " (left)"];
    const isRatio = words[0].low !== undefined;
    const range = isRatio ? "; thin lines are 95\u202f% intervals" : "";
    put(diverging(h("span", isRatio ? "Log-odds ratios by counts for " : "Log-odds for ", said(label), other, range), words, toneOf(label) && toneOf(rival) ? [toneOf(label), toneOf(rival)] : undefined));
  } catch (error) {
    put(told(error));
  }
});
