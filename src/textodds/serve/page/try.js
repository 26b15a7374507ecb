// A text, and what the model says of it while it is typed.

import { latest, post } from "./api.js";
import { Bars } from "./charts.js";
import { showChips, spoken, startChips } from "./chips.js";
import { offerCorrection, startCorrections } from "./correct.js";
import { decided, rule, startDeciding } from "./decide.js";
import { $, chance, count, h, said, told } from "./dom.js";
import { startExamples, swatch } from "./examples.js";
import { fillRow, startRow } from "./rows.js";
import { shareOf, startSharing } from "./share.js";
import { given, isOfLabels, isOfRows, on, state } from "./state.js";
import { explainSoon, startWhy } from "./why.js";

const QUIET = 900; // milliseconds without typing after which the answer is read out
const HINT = "Type or paste a text. The answer appears as you write, with each word's contribution.";
const ROW_HINT = "Fill in the values that you have. The answer appears at once, with each column's contribution.";
const BLIND = "No known word: this is the prior.";

const bars = new Bars("Probability of each class");
let text = "";
let question = null; // the text or row that is asked about
let silence;

export function startTrying() {
  const field = $("text");
  if (isOfLabels()) startChips();
  else {
    startDeciding();
    startCorrections();
    on("rule", () => answerTo(question));
  }
  startSharing();
  startWhy(write);
  if (isOfRows()) {
    on("card", () => ask(text));
    startRow(readRow);
    return;
  }
  field.oninput = () => read(field.value);
  $("clear").onclick = () => (write(""), field.focus());
  on("card", () => read(field.value));
  read(field.value); // a reloaded page may have kept it
}

/** Puts a text in the field, or a row in the boxes, as if it were typed. */
export function write(value) {
  if (isOfRows()) return fillRow(value);
  $("text").value = value;
  read(value);
}

/** Names the classes and offers examples, the first of them answered already unless somebody has begun. */
export function startShowing(isWanted) {
  const put = (value, isFirst) => {
    write(value);
    const field = $("text");
    if (!field || (isFirst && document.activeElement !== field)) return;
    field.focus();
    if (isFirst) field.select(); // so that typing takes its place
  };
  startExamples(put, () => isWanted && !text.trim());
}

function read(value) {
  text = value.toWellFormed?.() ?? value;
  const limit = state.card.limits.text;
  const length = text.length > limit / 2 ? Array.from(text).length : text.length;
  const isLong = length > limit;
  $("clear").hidden = !text;
  const note = `${count(length)} of at most ${count(limit)} characters`;
  $("text-note").textContent = length > 0.8 * limit ? note : "";
  $("text-note").classList.toggle("error", isLong);
  const asked = isLong || !text.trim() ? null : text;
  ask(asked, isLong ? "The text is too long to be read at once." : HINT);
}

function readRow(row) {
  text = row ?? "";
  $("clear").hidden = row === null;
  ask(row, ROW_HINT);
}

/** Asks about a text or a row; null is none, and `words` say so. */
function ask(asked, words = ROW_HINT) {
  if (!asked) asked = null;
  if (asked === null) hint(words);
  $("answer-body").classList.toggle("stale", asked !== null);
  question = asked;
  answerTo(asked);
  explainSoon(asked);
  shareOf(asked);
}

function hint(words) {
  $("answer-body").replaceChildren(h("p.hint", words));
  if (isOfLabels()) showChips($("answer-body"), null, null);
  else offerCorrection(null);
  announce("");
}

const answerTo = latest(async (asked) => {
  if (asked === null) return isOfLabels() ? null : decided(null);
  try {
    const by = isOfLabels() ? {} : rule();
    const answer = await post("v1/classify", { ...given(asked), ...by });
    if (!text.trim()) return;
    show(answer, asked);
    if (!isOfLabels()) decided(answer, by);
  } catch (error) {
    if (text !== asked) return;
    $("answer-body").classList.remove("stale");
    $("answer-body").replaceChildren(told(error));
  }
});

function show(answer, asked) {
  if (isOfLabels()) return showLabels(answer, asked);
  bars.update(Object.entries(answer.probabilities).sort((a, b) => b[1] - a[1]));
  const { action = answer.label } = answer; // what costs and a price of not answering have decided
  const p = action === null ? null : answer.probabilities[action];
  const verdict = action === null ? h("p.verdict", h("span.label", "No answer"))
    : h("p.verdict", h("span.label", swatch(action), said(action)), h("span.number", chance(p)));
  const note = answer.evidence === 0 ? [h("p.note", BLIND)] : [];
  if (action !== answer.label) {
    note.push(h("p.note", "Most probable is ", said(answer.label), ", but by your costs ",
      action === null ? "no answer is cheaper." : [said(action), " is cheaper."]));
  }
  const body = $("answer-body");
  if (!body.contains(bars.node)) body.replaceChildren(bars.node);
  while (body.firstChild !== bars.node) body.firstChild.remove(); // the bars stay where they are, and move
  bars.node.before(verdict, ...note);
  if (asked === text) body.classList.remove("stale");
  offerCorrection(asked, answer);
  announce(action === null ? "No answer" : `${action}, ${chance(p)}`);
}

function showLabels(answer, asked) {
  const body = $("answer-body");
  showChips(body, answer, asked);
  body.querySelector(".note")?.remove();
  if (answer.evidence === 0) body.prepend(h("p.note", BLIND));
  if (asked === text) body.classList.remove("stale");
  announce(spoken(answer));
}

function announce(words) {
  clearTimeout(silence);
  silence = setTimeout(() => ($("answer-live").textContent = words), QUIET);
}
