// Labelling: the texts whose labels the model would learn most from, one after another, by keyboard.

import { post } from "./api.js";
import { csvLine } from "./csv.js";
import { $, button, chance, count, h, plural, said, save, shown, soft, told } from "./dom.js";
import { Picker } from "./picker.js";
import { chooser } from "./source.js";
import { freshId, labels, likeliest, on, state } from "./state.js";

const ASK_EVERY = 5; // labels after which the most useful are asked for anew
const AHEAD = 2 * ASK_EVERY; // some may be skipped
const MAIN = { class: "main" };

let work = null; // the labelling under way
const picker = new Picker("give", "Give a label", (label, isNew) => give(label, isNew), true);

export function startLabelling() {
  const onchosen = () => {
    work = null;
    $("label-work").replaceChildren();
  };
  chooser("label", { go: "Start labelling", withLabel: false, onchosen, onready: begin });
  document.addEventListener("keydown", pressed);
  let known = labels().length;
  on("card", () => {
    if (work?.current && labels().length !== known) offer(work.current); // there is a class more, or less
    known = labels().length;
  });
}

async function begin(source) {
  $("label-work").replaceChildren(h("p.soft", { role: "status" }, "Reading…"));
  try {
    const drawn = await sample(source);
    work = { name: source.file.name, ...drawn, queue: [], done: new Set(), given: [], since: 0 };
    await next(work);
    $("labelling").scrollIntoView({ block: "nearest" });
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
    const { suggestions } = left.length ? await post("v1/suggest", asked) : { suggestions: [] };
    here.queue = suggestions.map(({ index }) => left[index]);
    here.since = 0;
  }
  const index = here.queue.shift();
  const text = here.texts[index];
  here.current = index === undefined ? null : { index, text, answer: await post("v1/classify", { text }) };
  if (work === here) draw();
}

function draw(trouble = null) {
  const { current, given, texts, seen, name } = work;
  const { cannot_learn: why } = state.card;
  const right = given.filter(({ label, guess }) => label === guess).length;
  const score = given.length ? ` · guess right ${count(right)} of ${count(given.length)} times` : "";
  const part = `A random ${count(texts.length)} of the ${count(seen)} texts of ${shown(name)} take part.`;
  const useless = `The model does not learn from them: ${why}. Download the labels, to train with.`;
  const looks = { class: "quiet", disabled: !given.length };
  const about = { id: "labelling", tabindex: "-1", "aria-label": "Labelling", "aria-describedby": "asked" };
  const card = h("section.card", about,
    h("div.heading",
      h("p", { id: "label-count", role: "status" }, `${plural(given.length, "label")} given${score}`),
      h("span.row", button([key("U"), "Undo"], undo, looks), button("Download labels", download, looks))),
    texts.length < seen ? soft(part) : null, why ? soft(useless) : null, trouble && told(trouble),
    current ? question(current) : h("p.hint", "All done. Thank you."));
  $("label-work").replaceChildren(card);
  card.focus({ preventScroll: true });
}

const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

/** Few classes keep their digits; of many the likeliest have them. */
function offer({ answer }) {
  picker.set(labels().length > 9 ? likeliest(answer.probabilities) : labels());
}

function question(current) {
  const { text, answer: { label, probability } } = current;
  offer(current);
  return [
    h("blockquote", { id: "asked", class: "reading", dir: "auto" }, shown(text)),
    h("div.row", button([key("Enter"), "It is ", said(label), ` (${chance(probability)})`], accept, MAIN),
      button([key("S"), "Skip"], skip)),
    soft("Or:"),
    picker.node,
  ];
}

const accept = () => work.current && give(work.current.answer.label, false);

const give = (label, isNew) => busy(async (here) => {
  const { index, text, answer } = here.current;
  const id = freshId();
  const asked = { documents: [{ id, text, label }], new_labels: isNew };
  if (!state.card.cannot_learn) await post("v1/learn", asked);
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
    if (!state.card.cannot_learn) await post("v1/forget", { documents: [{ id: last.id }] });
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
  if (!work || $("view-label").hidden) return;
  const { target, ctrlKey, metaKey, altKey, repeat } = event;
  if (ctrlKey || metaKey || altKey || repeat) return;
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

function download() {
  const lines = work.given.map(({ text, label }) => csvLine([text, label]));
  save([csvLine(["text", "label"]), ...lines], "labels.csv");
}
