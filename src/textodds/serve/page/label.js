// Labelling: the texts whose labels the model would learn most from, one after another, by keyboard.

import { post } from "./api.js";
import { csvLine } from "./csv.js";
import { $, button, chance, count, h, plural, said, save, shown, soft, told } from "./dom.js";
import { Picker } from "./picker.js";
import { chooser } from "./source.js";
import { freshId, labels, state } from "./state.js";

const ASK_EVERY = 5; // labels after which the most useful are asked for anew
const AHEAD = 2 * ASK_EVERY; // some may be skipped

let work = null; // the labelling under way
const picker = new Picker({ id: "give", name: "Give a label", keys: true, onpick: (label, isNew) => give(label, isNew) });

export function startLabelling() {
  const onchosen = () => {
    work = null;
    $("label-work").replaceChildren();
  };
  chooser($("label-source"), { id: "label", go: "Start labelling", withLabel: false, onchosen, onready: begin });
  document.addEventListener("keydown", pressed);
}

async function begin(source) {
  $("label-work").replaceChildren(h("p", { class: "soft", role: "status" }, "Reading…"));
  try {
    work = { name: source.file.name, ...(await sample(source)), queue: [], done: new Set(), given: [], since: 0 };
    await next(work);
  } catch (error) {
    $("label-work").replaceChildren(told(error));
  }
}

/** Texts of the file, or as many of them as the service takes, drawn at random (Vitter's algorithm R). */
async function sample(source) {
  const { limits } = state.card;
  const texts = [];
  let seen = 0;
  for await (const row of source.all()) {
    const text = source.at(row, source.text);
    if (typeof text !== "string" || !text.trim() || text.length > limits.text) continue;
    seen++;
    const at = seen <= limits.batch ? seen - 1 : Math.floor(Math.random() * seen);
    if (at < limits.batch) texts[at] = text.toWellFormed?.() ?? text;
  }
  if (!seen) throw new Error("There is no text in that column.");
  const encoder = new TextEncoder();
  let room = limits.body - 1000;
  const end = texts.findIndex((text) => (room -= encoder.encode(JSON.stringify(text)).length + 1) < 0);
  return { texts: end < 0 ? texts : texts.slice(0, end), seen };
}

/** Shows the next text with what the model thinks of it now; now and then asks anew which would be useful. */
async function next(here) {
  if (here.since >= ASK_EVERY || !here.queue.length) {
    const left = here.texts.map((_, i) => i).filter((i) => !here.done.has(i));
    const asked = { texts: left.map((i) => here.texts[i]), limit: AHEAD };
    here.queue = left.length ? (await post("/v1/suggest", asked)).suggestions.map(({ index }) => left[index]) : [];
    here.since = 0;
  }
  const index = here.queue.shift();
  const text = here.texts[index];
  here.current = index === undefined ? null : { index, text, answer: await post("/v1/classify", { text }) };
  if (work === here) draw();
}

function draw(trouble = null) {
  const { current, given, texts, seen, name } = work;
  const { cannot_learn: why } = state.card;
  const right = given.filter(({ label, guess }) => label === guess).length;
  const score = given.length ? ` · guess right ${count(right)} of ${count(given.length)} times` : "";
  const notes = [];
  if (texts.length < seen) notes.push(`A random ${count(texts.length)} of the ${count(seen)} texts of ${name} take part.`);
  if (why) notes.push(`The model does not learn from them: ${why}. Download the labels, to train with.`);
  const isNone = { class: "quiet", disabled: !given.length };
  const card = h("section", { id: "labelling", class: "card", tabindex: "-1", "aria-label": "Labelling", "aria-describedby": "asked" },
    h("div", { class: "heading" }, h("p", { id: "label-count", role: "status" }, `${plural(given.length, "label")} given${score}`),
      h("span", { class: "row" }, button([key("U"), "Undo"], undo, isNone), button("Download labels", download, isNone))),
    notes.map((note) => soft(shown(note))), trouble && told(trouble),
    current ? question(current) : h("p", { class: "hint" }, "That was all of them. Thank you."));
  $("label-work").replaceChildren(card);
  card.focus({ preventScroll: true });
}

const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

function question({ text, answer: { label, probability, probabilities: p } }) {
  const isMany = labels().length > 9;
  picker.set(isMany ? labels().sort((a, b) => (p[b] ?? 0) - (p[a] ?? 0)) : labels());
  return [
    h("blockquote", { id: "asked", class: "reading", dir: "auto" }, shown(text)),
    h("div", { class: "row" }, button([key("Enter"), "It is ", said(label), ` (${chance(probability)})`], accept, { class: "main" }),
      button([key("S"), "Skip"], skip)),
    soft("Or:"),
    picker.node,
  ];
}

const accept = () => give(work.current.answer.label, false);

const give = (label, isNew) => busy(async (here) => {
  const { index, text, answer } = here.current;
  const id = freshId();
  if (!state.card.cannot_learn) await post("/v1/learn", { documents: [{ id, text, label }], new_labels: isNew });
  here.given.push({ id, index, text, label, guess: answer.label });
  here.done.add(index);
  here.since++;
  await next(here);
});

const skip = () => busy(async (here) => {
  here.done.add(here.current.index);
  await next(here);
});

async function undo() {
  const last = work?.given.at(-1);
  if (last) await busy(async (here) => {
    if (!state.card.cannot_learn) await post("/v1/forget", { documents: [{ id: last.id }] });
    here.given.pop();
    here.done.delete(last.index);
    here.since = Math.max(0, here.since - 1);
    here.queue.unshift(last.index, ...(here.current ? [here.current.index] : []));
    await next(here);
  }, true);
}

/** One thing at a time, so that a key pressed twice labels one text. */
async function busy(action, isBack = false) {
  const here = work;
  if (!here || here.isBusy || (!here.current && !isBack)) return;
  here.isBusy = true;
  await action(here).catch((error) => work === here && draw(error));
  here.isBusy = false;
}

function pressed(event) {
  if (!work || $("view-label").hidden || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const { target } = event;
  const isInside = target === document.body || target.id === "view-label" || target.closest("#labelling");
  if (!isInside || target.matches("input, select, textarea")) return;
  const pressing = event.key.toLowerCase();
  if (/^[1-9]$/.test(pressing)) picker.press(Number(pressing));
  else if (pressing === "enter" && !target.matches("button, summary")) accept();
  else if (pressing === "s") skip();
  else if (pressing === "u") undo();
  else if (pressing === "/") picker.focus();
  else return;
  event.preventDefault();
}

const download = () =>
  save([csvLine(["text", "label"]), ...work.given.map(({ text, label }) => csvLine([text, label]))], "labels.csv");
