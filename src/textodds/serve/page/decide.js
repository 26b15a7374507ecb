// Deciding, apart from believing: how common classes are here, and what mistakes cost.

import { $, button, chance, h, percent, plural, said, select, some, soft } from "./dom.js";
import { emit, isOfLabels, isOfRows, labels, on, state } from "./state.js";

const COSTS = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const ALWAYS = null; // the price of not answering where that is not allowed
const SILENCE = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 20, 50, 100, ALWAYS];
const FACTORS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const USUAL = FACTORS.indexOf(1);
const FEW = 3;
const EDGE = 7; // log-odds at the ends of the slider of two classes
const INTRO = "Set other class proportions, or costs of mistakes.";
const ALIKE = "A mistake costs 1, unless you set it:";

let top = []; // the classes that are most probable for the text at hand
let isPicked = false; // whether a pair of classes was picked for a cost
let made = ""; // what the panel was made for
let shift; // of two classes: log-odds of the second; of more: numbers of FACTORS by class
let costs; // of [truth, answer] as JSON: one of COSTS
let silence; // number of SILENCE

const title = h("h3", "Your costs");
const panel = h("details", { id: "costs-panel", ontoggle: () => emit("rule") }, h("summary", title));
const decision = h("div.tinted", { id: "decision", "aria-live": "polite" });
const isTwo = () => labels().length === 2;
const learned = () => new Map(state.card.classes.map(({ label, prior }) => [label, Math.max(prior, 1e-9)]));
const ranked = (pairs) => [...pairs].sort((x, y) => y[1] - x[1]);
const key = (truth, answer) => JSON.stringify([truth, answer]);

export function startDeciding() {
  on("card", prepare);
  prepare();
}

/** Makes the panel, unless it stands already for these classes. */
function prepare() {
  const { has_probabilities: isAble } = state.card;
  const now = JSON.stringify([isAble, labels()]);
  if (now === made) return;
  made = now;
  if (isAble && labels().length > 1) {
    $("costs").replaceChildren(panel);
    reset();
    return;
  }
  const why = isAble ? "it has one class only" : "it has no probabilities to apply them to";
  $("costs").replaceChildren(title.cloneNode(true), soft(`This model cannot weigh mistakes: ${why}.`));
}

/** Whether anything was set that can change an answer. */
export function isSet() {
  if (isOfLabels() || !panel.isConnected) return false;
  const [a, b] = labels();
  const own = learned();
  const isShifted = isTwo() ? Math.abs(shift - Math.log(own.get(b) / own.get(a))) > 1e-9
    : [...shift.values()].some((at) => at !== USUAL);
  return isShifted || SILENCE[silence] !== ALWAYS || [...costs.values()].some((cost) => cost !== 1);
}

/** What is asked beside a text: nothing, unless something is set or the panel is looked at. */
export const rule = () => (isSet() || (panel.isConnected && panel.open) ? deciding() : {});

const isUntouched = () => !costs.size && SILENCE[silence] === ALWAYS && shift.size <= FEW
  && [...shift.values()].every((at) => at === USUAL);

function reset() {
  const [a, b] = labels();
  const own = learned();
  shift = isTwo() ? Math.log(own.get(b) / own.get(a)) : new Map();
  costs = new Map(isTwo() ? [[key(a, b), 1], [key(b, a), 1]] : []);
  silence = SILENCE.length - 1;
  if (!isTwo()) for (const [label] of ranked(own).slice(0, FEW)) shift.set(label, USUAL);
  draw();
}

function draw() {
  const rows = [...costs.keys()].map(costRow);
  const again = button("Reset", () => (reset(), $("costs-reset").focus()), { id: "costs-reset" });
  panel.replaceChildren(panel.firstChild, soft(INTRO), decision,
    ...(isTwo() ? [priorOfTwo(), ...rows] : [...priorsOfMany(), soft(ALIKE), ...rows, newCost()]),
    silenceRow(), h("div.row.end", again));
  emit("rule");
}

/** A slider under its name, whose words follow its value. */
function slider(id, name, { min = 0, max, step = 1, value, words, set }) {
  const output = h("output", { for: id });
  const input = h("input", { id, type: "range", min, max, step, value });
  const tell = (now) => {
    output.textContent = words(now);
    input.setAttribute("aria-valuetext", words(now));
  };
  input.oninput = () => {
    set(Number(input.value));
    tell(Number(input.value));
    emit("rule");
  };
  tell(value);
  return h("div.slider", h("label", { for: id }, name), output, input);
}

const common = (label) => ["How common ", said(label), " is"];

function priorOfTwo() {
  const [a, b] = labels();
  const p = (x) => 1 / (1 + Math.exp(-x));
  return slider("prior", common(b), {
    min: -EDGE, max: EDGE, step: "any", value: Math.max(-EDGE, Math.min(EDGE, shift)),
    words: (x) => `${b} ${percent(p(x))}, ${a} ${percent(p(-x))}`,
    set: (x) => (shift = x),
  });
}

function priorsOfMany() {
  const own = learned();
  const words = (label, factor) => (factor === 1 ? `as learned, ${percent(own.get(label))}`
    : factor > 1 ? `${factor} times as common` : `${Math.round(1 / factor)} times as rare`);
  const rows = [...shift].map(([label, value], i) => slider(`prior-${i}`, common(label), {
    max: FACTORS.length - 1, value, words: (n) => words(label, FACTORS[n]), set: (n) => shift.set(label, n),
  }));
  const rest = labels().filter((label) => !shift.has(label));
  const names = [["", "Another class…"], ...rest.map((label) => [label, label])];
  const add = (label) => (shift.set(label, USUAL), draw(), $(`prior-${shift.size - 1}`).focus());
  const more = h("p.row", h("label.away", { for: "prior-add" }, "Set how common another class is"),
    select("prior-add", names, "", add), h("span.soft", `${plural(rest.length, "other")}: as learned`));
  return rest.length ? [...rows, more] : rows;
}

function costRow(pair, i) {
  const [truth, answer] = JSON.parse(pair);
  const row = slider(`cost-${i}`, ["To answer ", said(answer), " when it is ", said(truth)], {
    max: COSTS.length - 1, value: COSTS.indexOf(costs.get(pair)),
    words: (n) => `costs ${COSTS[n]}`, set: (n) => costs.set(pair, COSTS[n]),
  });
  if (!isTwo()) row.append(button("Remove", () => (costs.delete(pair), draw()), { class: "quiet" }));
  return row;
}

function newCost() {
  const names = labels().map((label) => [label, label]);
  const [likely, next] = [...new Set([...top, ...labels()])];
  const [answer, truth] = [select("cost-answer", names, likely, () => (isPicked = true)), select("cost-truth", names, next, () => (isPicked = true))];
  const add = () => addCost(truth.value, answer.value);
  return h("p.row", h("label", { for: "cost-answer" }, "To answer"), answer,
    h("label", { for: "cost-truth" }, "when it is"), truth, button("Set its cost", add));
}

function addCost(truth, answer) {
  if (truth === answer) return;
  costs.set(key(truth, answer), costs.get(key(truth, answer)) ?? 1);
  draw();
  $(`cost-${[...costs.keys()].indexOf(key(truth, answer))}`).focus();
}

const silenceRow = () => slider("silence", "Not to answer", {
  max: SILENCE.length - 1, value: silence, set: (n) => (silence = n),
  words: (n) => (SILENCE[n] === ALWAYS ? "not allowed: always answers" : `costs ${SILENCE[n]}`),
});

/** What is asked of the service beside the text. */
function deciding() {
  const [a, b] = labels();
  const prior = Object.fromEntries(learned());
  if (isTwo()) [prior[a], prior[b]] = [1 / (1 + Math.exp(shift)), 1 / (1 + Math.exp(-shift))];
  else for (const [label, at] of shift) prior[label] *= FACTORS[at];
  const named = costs.size ? costs : [[key(a, b), 1]]; // without any the service would not decide
  const list = Array.from(named, ([pair, cost]) => {
    const [truth, answer] = JSON.parse(pair);
    return { truth, answer, cost };
  });
  return { prior, costs: list, abstain: SILENCE[silence] };
}

/** Shows what was decided about a text, by the rule it was asked with; null without a text. */
export function decided(answer, asked) {
  if (!panel.isConnected) return;
  if (answer === null) {
    decision.replaceChildren(soft(`${isOfRows() ? "Fill in a row" : "Write a text"} to see what is decided.`));
    return;
  }
  top = ranked(Object.entries(answer.probabilities)).slice(0, FEW).map(([label]) => label);
  if (!isPicked && !isTwo()) {
    for (const [id, label] of [["cost-answer", top[0]], ["cost-truth", top[1]]]) if ($(id)) $(id).value = label;
  }
  if (asked.costs && panel.open) show(answer, asked);
}

function show(answer, { abstain, costs: list }) {
  const isSilent = answer.action === null;
  const loss = some(answer.expected_loss);
  const verdict = isSilent ? [h("b", "No answer"), `: any would cost more than ${abstain} on average.`]
    : ["Decided: ", h("b", said(answer.action)), `, at an expected cost of ${loss}.`];
  const first = ranked(Object.entries(answer.probabilities)).slice(0, FEW);
  const beliefs = first.map(([label, p], i) => [i ? ", " : "", said(label), ` ${chance(p)}`]);
  if (!isTwo() && isUntouched() && first.some(([label]) => !shift.has(label))) {
    shift = new Map(first.map(([label]) => [label, USUAL])); // the sliders are of classes that matter here
    draw();
  }
  decision.classList.toggle("silent", isSilent);
  decision.replaceChildren(h("p", verdict),
    isTwo() ? strip(answer.probabilities, list, abstain) : "",
    soft("With these proportions the probability is ", beliefs, ".", answer.rule ? ` It ${answer.rule}.` : ""));
}

/** From where to where each of two classes is answered, and where this text is. */
function strip(probabilities, [{ cost: wrongB }, { cost: wrongA }], abstain) {
  const [a, b] = labels();
  const even = wrongA + wrongB ? wrongB / (wrongA + wrongB) : 0.5;
  const c = abstain ?? Infinity;
  const low = Math.min(even, wrongA ? c / wrongA : 1);
  const high = Math.max(even, wrongB ? 1 - c / wrongB : 0);
  const zones = [["one", a, low], ["none", "no answer", high - low], ["two", b, 1 - high]];
  const nodes = zones.map(([kind, name, size]) => {
    const zone = h("span", { class: `zone ${kind}` }, size > 0.12 ? said(name) : "");
    zone.style.flexGrow = String(Math.max(0, size));
    return zone;
  });
  const pin = h("i.pin");
  pin.style.insetInlineStart = `${100 * probabilities[b]}%`;
  return h("div.strip", { "aria-hidden": "true" }, h("div.zones", nodes), pin);
}
