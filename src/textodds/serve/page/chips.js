// Several labels: a chip for each, its own why, and what to save in the place of the answer.

import { post } from "./api.js";
import { listCorrections, movement } from "./correct.js";
import { $, button, chance, folded, h, said, shown, soft, told } from "./dom.js";
import { freshId, given, labels, on, own, state } from "./state.js";
import { explainLabel } from "./why.js";

const LEAST = 6; // chips that are shown, if there are as many labels
const MOST_NAMES = 1000; // labels that are proposed while one is typed

let current = null; // {text, answer}
let wanted = new Set(); // the labels that would be saved
let isTouched = false;
let picked = null; // the label whose why is shown; null for the most probable
let subject = null; // the text that was corrected last
const chips = new Map();

const list = h("ul.chips.plain", { "aria-label": "Labels" });
const none = h("p.verdict", { hidden: true }, h("span.label", "No label"));
const key = soft(h("i.mark", { "aria-hidden": "true" }), " is the threshold: a label is given from there on.");
const field = h("input", { id: "label-new", list: "label-names", autocomplete: "off", maxlength: "1000", required: true });
const names = h("datalist", { id: "label-names" });
const adding = folded("Another label…", h("form.row", { onsubmit: add }, h("label", { for: field.id }, "Its name"),
  field, names, h("button", { type: "submit" }, "Add it")));
const pending = h("div.tinted", { id: "pending", hidden: true });
const outcome = h("div", { id: "outcome", role: "status" });
const reason = soft();

export function startChips() {
  $("costs").hidden = true;
  $("h-answer").textContent = "Its labels";
  $("correct").append(pending, outcome, adding, reason);
  on("card", propose);
  propose();
  listCorrections(undo);
}

const propose = () =>
  names.replaceChildren(...labels().slice(0, MOST_NAMES).map((name) => h("option", { value: name })));

/** Shows the labels of a text, and offers to correct them; null if there is no text. */
export function showChips(body, answer, text) {
  if (text !== current?.text) isTouched = false;
  if (text !== subject) outcome.replaceChildren();
  current = text === null ? null : { text, answer };
  const why = state.card.cannot_learn;
  reason.textContent = current && why ? `It cannot be corrected here: ${why}.` : "";
  adding.hidden = !current || Boolean(why);
  if (!current) {
    pending.hidden = true;
    return;
  }
  if (!isTouched) wanted = new Set(answer.labels);
  if (picked !== null && own(answer.probabilities, picked) === undefined) pick(null);
  if (!body.contains(list)) body.replaceChildren(none, list, key);
  draw();
}

/** The labels in words, to be read out. */
export const spoken = ({ labels: found, probabilities: p }) =>
  (found.length ? found.map((name) => `${name}, ${chance(own(p, name))}`).join("; ") : "no label");

function draw() {
  const { labels: found, probabilities: p, thresholds } = current.answer;
  const likely = Object.keys(p).sort((a, b) => own(p, b) - own(p, a));
  const rest = likely.filter((name) => !found.includes(name));
  const extra = [...wanted].filter((name) => own(p, name) === undefined);
  const near = rest.filter((name, i) => i < Math.max(2, LEAST - found.length) || wanted.has(name));
  const order = [...found, ...near, ...extra];
  for (const [name, chip] of chips) if (!order.includes(name)) (chip.node.remove(), chips.delete(name));
  order.forEach((name, at) => {
    if (!chips.has(name)) chips.set(name, chipOf(name));
    const chip = chips.get(name);
    chip.set({ p: own(p, name), threshold: own(thresholds, name), isGiven: found.includes(name),
      isWanted: wanted.has(name), isShown: name === (picked ?? likely[0]) });
    const here = list.children[at];
    if (here !== chip.node) list.insertBefore(chip.node, here ?? null);
  });
  none.hidden = found.length > 0;
  offer(found);
}

/** A chip: a button that shows why, and one that says whether the label is right. */
function chipOf(name) {
  const [number, about, mark, bar] = [h("span.number"), h("span.away"), h("i.mark"), h("i.bar")];
  const why = button([said(name, { class: "name" }), " ", number, about,
    h("span.meter", { "aria-hidden": "true" }, bar, mark)], () => pick(name), { class: "reason" });
  const sign = h("span", { "aria-hidden": "true" });
  const toggle = button(sign, () => turn(name), { class: "toggle", "aria-label": `${shown(name)} is right` });
  const node = h("li", { "data-label": name }, why, toggle);
  const set = ({ p, threshold, isGiven, isWanted, isShown }) => {
    const isNew = p === undefined;
    number.textContent = isNew ? "new" : chance(p);
    about.textContent = isNew ? "" : `, ${isGiven ? "given" : "not given"}, threshold ${chance(threshold)}: why`;
    bar.style.inlineSize = `${100 * (p ?? 0)}%`;
    mark.style.insetInlineStart = `${100 * Math.min(1, threshold ?? 1)}%`;
    mark.hidden = isNew;
    why.title = isNew ? "" : `Threshold ${chance(threshold)}`;
    why.disabled = isNew;
    why.setAttribute("aria-pressed", String(isShown));
    toggle.setAttribute("aria-pressed", String(isWanted));
    toggle.title = isWanted ? "Take this label away" : "Give this label";
    toggle.hidden = Boolean(state.card.cannot_learn);
    sign.textContent = isWanted ? "✓" : isGiven ? "−" : "+";
    const change = isWanted === isGiven ? "" : isWanted ? "added" : "taken";
    node.className = `chip ${isGiven ? "given" : "faded"} ${change} ${isShown ? "shown" : ""}`;
  };
  return { node, set };
}

function pick(name) {
  picked = name;
  explainLabel(name);
  if (name !== null) draw();
}

function turn(name) {
  if (!wanted.delete(name)) wanted.add(name);
  isTouched = true;
  outcome.replaceChildren();
  draw();
}

function add(event) {
  event.preventDefault();
  const name = field.value.trim();
  if (name && !wanted.has(name)) turn(name);
  field.value = "";
}

const isSame = (found) => found.length === wanted.size && found.every((name) => wanted.has(name));

/** The labels in a row, as text that came from outside. */
const listed = (some) => (some.length ? some.map((name, i) => [i ? ", " : "", h("b", said(name))]) : h("b", "no label"));

function offer(found) {
  const isChanged = isTouched && !isSame(found);
  const isSameAsShown = !pending.hidden && pending.dataset.labels === JSON.stringify([...wanted]);
  pending.hidden = !isChanged || Boolean(state.card.cannot_learn);
  if (!isChanged || isSameAsShown) return; // a button that has the focus keeps it
  pending.dataset.labels = JSON.stringify([...wanted]);
  const back = () => {
    isTouched = false;
    wanted = new Set(current.answer.labels);
    draw();
    list.querySelector(".toggle")?.focus();
  };
  pending.replaceChildren(h("p", { role: "status" }, "The right labels: ", listed([...wanted])),
    h("div.row", button("Save", save, { class: "main" }), button("Cancel", back, { class: "quiet" })));
}

async function save() {
  if (pending.hidden) return; // pressed twice
  pending.hidden = true;
  const { text, answer: before } = current;
  const [id, right] = [freshId(), [...wanted]];
  subject = text;
  try {
    const isNew = right.some((name) => !labels().includes(name));
    await post("v1/learn", { documents: [{ id, ...given(text), labels: right }], new_labels: isNew });
    await compare(text, right, before, id);
  } catch (error) {
    pending.hidden = false;
    outcome.replaceChildren(told(error));
  }
}

/** Forgets a correction, and shows what that does to the text, if it is the one at hand. */
async function undo(id, text, right) {
  const before = current?.text === text ? current.answer : null;
  await post("v1/forget", { documents: [{ id }] });
  if (!before) return;
  subject = text;
  await compare(text, right, before, null);
}

/** Shows what the model says now beside what it said before; `id` is that of a correction that stands. */
async function compare(text, right, before, id) {
  const after = await post("v1/classify", given(text));
  isTouched = false;
  if (current?.text === text) showChips($("answer-body"), after, text);
  const moves = [...new Set([...right, ...before.labels, ...after.labels])].map((name) =>
    movement(name, own(before.probabilities, name), own(after.probabilities, name)));
  const isRight = after.labels.length === right.length && right.every((name) => after.labels.includes(name));
  const back = button("Undo", async () => {
    back.disabled = true;
    await undo(id, text, right).catch((error) => outcome.replaceChildren(told(error)));
    list.querySelector(".toggle")?.focus();
  });
  outcome.replaceChildren(h("div.tinted",
    h("p", id === null ? "Forgotten: " : "Learned: ", listed(right), "."),
    h("ul.bars.plain", moves),
    id !== null && !isRight ? soft("The probabilities moved, but one correction is little against all training texts.") : "",
    id === null ? "" : back));
  if (id !== null) back.focus();
}
