// What the model is, and what is known of how good it is.

import { get, latest } from "./api.js";
import { Bars, calibration, diverging } from "./charts.js";
import { $, count, folded, h, percent, said, section, select, shown, soft, told } from "./dom.js";
import { labels, on, state } from "./state.js";

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
  const { classes, quality, recipe } = state.card;
  const ranked = classes.map((each) => [each.label, each.documents]).sort((a, b) => b[1] - a[1]);
  if (names.includes(label)) chosen = { label, rival: null };
  else if (!names.includes(chosen.label)) chosen = { label: ranked[names.length === 2 ? 1 : 0][0], rival: null };
  if (rival !== chosen.label && names.includes(rival)) chosen.rival = rival;
  if (names.length === 2) chosen.rival = names.find((name) => name !== chosen.label);
  const total = ranked.reduce((sum, [, n]) => sum + n, 0);
  const text = (n) => `${count(n)} · ${percent(n / total)}`;
  const bars = new Bars("Documents by class", { top: 12, text, items: ranked, whole: ranked[0][1] || 1 });
  const made = Object.keys(recipe).length ? folded("Its recipe", h("pre", {}, shown(JSON.stringify(recipe, null, 2)))) : "";
  $("model-body").replaceChildren(
    h("div", { class: "stack" }, section("h-classes", "Its classes", bars.node),
      section("h-quality", "How good it is", ...measured(quality))),
    section("h-words", "Words that tell most", selects(), h("div", { id: "telling" }, "…")),
    h("div", { class: "wide" }, section("h-facts", "What it is", facts(), made)));
  tell();
}

function facts() {
  const { name, version, documents, corrections, facts: more } = state.card;
  const all = new Map([["name", name], ["version", version], ...more, ["documents", count(documents)],
    ["corrections that stand", count(corrections)]]);
  return h("dl", { class: "pairs" }, [...all].map(([key, value]) =>
    h("div", {}, h("dt", {}, shown(key)), h("dd", {}, shown(value)))));
}

function measured(quality) {
  if (!quality) return [soft("That is not known. A file with labels, under Files, would show it.")];
  const [low, high] = quality.accuracy_interval;
  return [h("p", {}, h("b", { class: "large" }, percent(quality.accuracy)), " right"),
    soft(`${percent(low)} to ${percent(high)} (95\u202f%), by ${count(quality.n)} texts of training, each left out when asked about`),
    calibration(quality.bins, quality.calibration_error)];
}

function selects() {
  const names = labels().map((label) => [label, label]);
  const go = (label, rival) => {
    chosen = { label, rival };
    history.replaceState(null, "", `#model?${new URLSearchParams({ class: label, ...(rival !== null && { rival }) })}`);
    tell();
  };
  const against = select("words-rival", [["", "all others"], ...names], chosen.rival ?? "", (value) => go(chosen.label, value || null));
  const own = select("words-class", names, chosen.label, (value) => {
    const rival = chosen.rival === value ? chosen.label : chosen.rival; // the two change places
    against.value = rival ?? "";
    go(value, rival);
  });
  return h("p", { class: "row" }, h("label", { for: own.id }, "For"), own, h("label", { for: against.id }, "against"), against);
}

const tell = latest(async () => {
  const { label, rival } = chosen;
  const put = (node) => $("telling").replaceChildren(node);
  if (label === rival) return put(soft("Choose two different classes."));
  try {
    const { words } = await get(`/v1/words?${new URLSearchParams({ label, limit: WORDS, ...(rival !== null && { rival }) })}`);
    if (!words.length) return put(soft("The words of this model have no weights of their own."));
    const isSure = words[0].low !== undefined;
    put(diverging(h("span", {}, "Log-odds for ", said(label), rival === null ? "" : [" (right) or ", said(rival), " (left)"],
      isSure ? "; thin lines are 95\u202f% intervals" : ""), words));
  } catch (error) {
    put(told(error));
  }
});
