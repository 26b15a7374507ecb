// Why: the words of the text, tinted by what they say, and their sum.

import { latest, post } from "./api.js";
import { waterfall } from "./charts.js";
import { isSet } from "./decide.js";
import {
  $, button, chance, count, folded, h, listed, odds, plural, said, select, shortened, shown, signed, soft, term, told,
} from "./dom.js";
import { given, isOfLabels, isOfRows, labels, state, toneOf, tonesOf } from "./state.js";

const OTHERS = "others"; // the service's name for all other classes together
const ALL = "";
const TOP = 12;
const WAIT = 180;

let text = null;
let rival = null; // null for the runner-up, ALL for all others together
let label = null; // of several labels the one that is explained; null for the most probable
let write;
let timer;
let took = 0;
let taken = null; // the text before words were taken out of it, and after

export function startWhy(put) {
  write = put;
}

const hasAll = () => !isOfRows() && !isOfLabels() && labels().length > 2 && !labels().includes(OTHERS);

/** Explains a text once it has stood still for a moment; null for none. */
export function explainSoon(asked) {
  text = asked;
  clearTimeout(timer);
  $("why").classList.add("stale");
  if (asked === null || (labels().length < 2 && !isOfLabels())) $("why").hidden = true;
  else timer = setTimeout(explain, Math.max(WAIT, Math.min(2 * took, 3000)), asked);
}

/** Explains a label of the text at hand, of several that it may have. */
export function explainLabel(name) {
  label = name;
  if (text !== null) explain(text);
}

/** What is asked of a text: the odds of a label against a rival, or of one of several by itself. */
const asking = (asked, own, rival, more = {}) =>
  ({ ...given(asked), label: own, ...(isOfLabels() ? {} : { rival }), ...more });

const explain = latest(async (asked) => {
  if (asked !== text) return;
  const begun = performance.now();
  const chosen = labels().includes(rival) ? rival : rival === ALL && hasAll() ? OTHERS : null;
  const box = $("why");
  let parts;
  const heading = h("h3", { id: "h-why" }, "Why");
  const { explained } = state.card.limits;
  try {
    if (isOfRows()) {
      parts = drawnRow(await post("v1/explain", asking(asked, label, chosen)), asked);
    } else if (asked.length > explained && Array.from(asked).length > explained) {
      parts = [heading, soft(`Texts of up to ${count(explained)} characters are explained word by word.`)];
    } else parts = drawn(await post("v1/explain", asking(asked, label, chosen)), asked);
  } catch (error) {
    if (rival && error.status === 422) { // the rival is the answer now
      rival = null;
      return explainSoon(text);
    }
    parts = [heading, told(error)];
  }
  took = performance.now() - begun;
  if (asked !== text) return; // a newer one is on its way
  box.hidden = false;
  box.classList.remove("stale");
  box.replaceChildren(...parts);
});

function drawn(why, asked) {
  const isAll = why.rival === OTHERS && hasAll();
  const against = isAll ? "all others together" : why.rival;
  const isWhole = isAll || labels().length === 2 || isOfLabels();
  const heading = h("h3", { id: "h-why" }, "Why ", said(why.label));
  return [h("div.heading", heading, versus(why, isAll)), ...reading(why, asked, against), unknown(why),
    summed(why, against), result(why, against, isWhole), byFeature(why, asked, against), flipping(why, asked)];
}

/** What each column adds, and of columns of texts each word. */
function drawnRow(why, asked) {
  const heading = h("h3", { id: "h-why" }, "Why ", said(why.label));
  const value = (each) => (each === null || each === undefined ? "" : [" ", h("span.soft", shortened(String(each), 40))]);
  const columns = why.columns.map(({ column, value: held, log_odds: x }) =>
    ({ name: [said(column), value(held)], value: x, kind: "" }));
  const ends = beginning(why);
  const rest = Math.abs(why.remainder) > 1e-9 ? [{ name: "several rivals", value: why.remainder, kind: "base" }] : [];
  const together = { name: "together", value: why.log_odds, kind: "" };
  const caption = () => h("span", "What adds to the log-odds of ", said(why.label), " against ", said(why.rival));
  const words = strongest(why.words, "other word");
  return [h("div.heading", heading, versus(why, false)), waterfall(caption(), [...ends, ...columns, ...rest], together, tones(why)),
    words.length ? folded("Word by word", waterfall(caption(), [...ends, ...words, ...rest], together, tones(why))) : "",
    byFeature(why, asked, why.rival), result(why, why.rival, labels().length === 2 || isOfLabels())];
}

function versus(why, isAll) {
  if (isOfLabels()) return "";
  if (labels().length === 2) return soft("and not ", said(why.rival), "?");
  const names = labels().filter((label) => label !== why.label).map((label) => [label, label]);
  const all = hasAll() ? [[ALL, "all others together"]] : [];
  const change = (value) => {
    rival = value;
    explain(text);
  };
  return h("p.row", h("label", { for: "rival" }, "Why not"),
    select("rival", [...all, ...names], isAll ? ALL : why.rival, change));
}

/** The text with its words tinted, and a line that says what the word at hand adds. */
function reading(why, asked, against) {
  const most = why.places.reduce((max, place) => Math.max(max, Math.abs(place.log_odds)), 0.5);
  const cut = cutter(asked);
  const marks = [];
  const nodes = [];
  for (const place of why.places) {
    const { start, end, word, log_odds: x, known } = place;
    nodes.push(shown(cut(start)));
    const kind = x ? tones(why)[x > 0 ? 0 : 1] : known ? "" : "unknown";
    const mark = h("span", { class: `word ${kind}` }, shown(cut(end)));
    if (x) mark.style.setProperty("--depth", (Math.abs(x) / most).toFixed(3));
    mark.place = place;
    marks.push(mark);
    nodes.push(mark);
  }
  nodes.push(shown(cut(Infinity)));
  const line = h("p.saying", { "aria-live": "polite" });
  let at = -1;
  const pick = (to) => {
    marks[at]?.classList.remove("at");
    at = to;
    marks[at]?.classList.add("at");
    const names = [why.label, against];
    line.replaceChildren(...(at < 0 ? legend(...names) : saying(marks[at].place, ...names)));
  };
  pick(-1);
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  const box = h("p.reading", {
    dir: "auto", tabindex: "0", role: "group",
    "aria-label": "Words of the text; arrow keys go from word to word",
    onpointerover: (event) => event.target.place && pick(marks.indexOf(event.target)),
    onpointerleave: () => pick(-1),
    onblur: () => pick(-1),
    onkeydown: (event) => {
      if (!(event.key in steps) || !marks.length) return;
      event.preventDefault();
      pick(Math.max(0, Math.min(marks.length - 1, at + steps[event.key])));
      marks[at].scrollIntoView({ block: "nearest" });
    },
  }, nodes);
  return [box, line];
}

const tones = ({ label, rival }) => tonesOf(label, rival);

const legend = (label, against) => [h("span", { class: `key word ${toneOf(label) ?? "for"}` }, "for ", said(label)),
  h("span", { class: `key word ${toneOf(against) ?? "against"}` }, ...(isOfLabels() ? ["against ", said(label)] : ["for ", said(against)])),
  h("span.key.word.unknown", "unknown")];

function saying({ word, log_odds: x, known }, label, against) {
  const name = h("q", term(word));
  if (!x) return [name, known ? " says nothing either way" : " is unknown to the model, and says nothing"];
  const side = isOfLabels() && x < 0 ? [" against ", said(label)] : [" for ", said(x > 0 ? label : against)];
  return [name, " ", h("b", signed(x)), side, ": it makes the odds ",
    `${odds(x)} times ${x > 0 ? "higher" : "lower"}`];
}

/** Gives a text piece by piece, up to a code point each: places are counted in those, strings are not. */
function cutter(whole) {
  let [points, units] = [0, 0];
  return (end) => {
    const from = units;
    for (; points < end && units < whole.length; points++) units += whole.codePointAt(units) > 0xffff ? 2 : 1;
    return whole.slice(from, units);
  };
}

function unknown({ unknown_words: words }) {
  if (!words.length) return "";
  const more = words.length > TOP ? `, and ${count(words.length - TOP)} more` : "";
  return soft("Unknown to the model: ", listed(words.slice(0, TOP)), more);
}

/** The bars of what is believed before reading, as the command line has them. */
function beginning({ prior, intercept, calibration, absent }) {
  const part = (name, value) => ({ name, value, kind: "base" });
  const added = [["intercept", intercept || null], ["calibration", calibration], ["absent words", absent]];
  return [part("class prior", prior), ...added.filter(([, x]) => x !== null).map(([name, x]) => part(name, x))];
}

/** The bars of the strongest words or features, and one of all others. */
function strongest(all, others) {
  const parts = all.slice(0, TOP).map(({ word, count: n, log_odds: x }) =>
    ({ name: [term(word), n > 1 ? ` × ${count(n)}` : ""], value: x, kind: "" }));
  const rest = all.slice(TOP);
  const sum = rest.reduce((total, word) => total + word.log_odds, 0);
  return rest.length ? [...parts, { name: plural(rest.length, others), value: sum, kind: "base" }] : parts;
}

function summed(why, against, { isByFeature = false } = {}) {
  const rest = Math.abs(why.remainder) > 1e-9 ? [{ name: "several rivals", value: why.remainder, kind: "base" }] : [];
  const [what, parts] = isByFeature ? ["What each feature adds to", strongest(why.parts, "other")]
    : ["What adds to", strongest(why.words, "other word")];
  const caption = h("span", what, " the log-odds of ", said(why.label), isOfLabels() ? "" : [" against ", said(against)]);
  return waterfall(caption, [...beginning(why), ...parts, ...rest],
    { name: "together", value: why.log_odds, kind: "" }, tones(why));
}

/** Where features are not words, the sum by feature, which is asked for when it is opened. */
function byFeature(why, asked, against) {
  if (why.has_words) return "";
  const body = h("div", soft("…"));
  const note = "The features of this model are pairs of words or letters. A word has the sum of its shares in them.";
  const box = folded("By feature", soft(note), body);
  box.addEventListener("toggle", async () => {
    try {
      const found = await post("v1/explain", asking(asked, why.label, why.rival, { parts: true }));
      body.replaceChildren(summed(found, against, { isByFeature: true }));
    } catch (error) {
      body.replaceChildren(told(error));
    }
  }, { once: true });
  return box;
}

function result(why, against, isWhole) {
  const [more, less] = why.log_odds >= 0 ? [why.label, against] : [against, why.label];
  const sum = [": a probability of ", h("b", chance(why.probability)), " for ", said(why.label)];
  return h("p", `Log-odds of ${signed(why.log_odds)} are odds of ${odds(why.log_odds)} to 1 for `, said(more),
    isWhole ? sum : [" against ", said(less)], ".", isSet() ? " Costs and proportions that you set are applied after this." : "");
}

/** The fewest words that change the answer, which are looked for once the rest is shown. */
function flipping(why, asked) {
  if (taken?.after === asked) {
    return h("p.flipping", "Words were taken out. ", button("Put them back", () => write(taken.before)));
  }
  const line = h("p.flipping.soft", { "aria-busy": "true" }, "Looking for the fewest words that change the answer …");
  seek({ line, why, asked });
  return line;
}

/** One search at a time: the next begins when the one under way has its answer, if it is still wanted. */
const seek = latest(async ({ line, why, asked }) => {
  if (asked !== text) return;
  let found;
  let words = [];
  try {
    const { flip } = await post("v1/explain/flip", asking(asked, why.label, why.rival));
    found = flipped(flip, why, asked);
    words = flip?.words ?? [];
  } catch (error) {
    found = h("p.flipping", told(error));
  }
  if (!line.isConnected) return; // another explanation stands there now
  line.replaceWith(found);
  for (const mark of $("why").querySelectorAll(".reading .word")) {
    mark.classList.toggle("flip", words.includes(mark.place.word));
  }
});

function flipped(flip, why, asked) {
  if (!flip) return h("p.flipping.soft", "No words could be taken out that would change the answer.");
  const { words, label_after: label, probability_after: p, exact } = flip;
  const bound = exact ? "" : ` That is at most ${plural(words.length, "word")}; fewer may do.`;
  const without = () => {
    taken = { before: asked, after: stripped(asked, why.places, new Set(words)) };
    write(taken.after);
  };
  return h("p.flipping", "Without ", listed(words), " it would be ", h("b", said(label)),
    ` (${chance(p)}).${bound} `, button("Try it without", without));
}

function stripped(asked, places, words) {
  const cut = cutter(asked);
  let left = "";
  for (const { start, end, word } of places) {
    if (!words.has(word)) continue;
    left += cut(start);
    cut(end);
  }
  return left + cut(Infinity);
}
