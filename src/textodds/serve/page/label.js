// Labelling: texts of a file one after another, by keyboard; every label is on disk before the next text shows.

import { post } from "./api.js";
import { drawAside } from "./label-aside.js";
import { drawFiles } from "./label-files.js";
import { drawRecord } from "./label-record.js";
import { ask, by, desk, order, refresh } from "./label-desk.js";
import { showText } from "./label-text.js";
import { $, h, told } from "./dom.js";
import { isOfLabels, isOfRows, on, state } from "./state.js";

const parts = {}; // the places on the page

export function startLabelling() {
  document.head.append(h("link", { rel: "stylesheet", href: "page/label.css" }));
  const why = cannot();
  if (why) {
    $("label-source").replaceChildren(h("p.note", why));
    return;
  }
  for (const name of ["files", "text", "aside", "record"]) parts[name] = h(`div.label-${name}`);
  $("label-source").replaceChildren(parts.files);
  $("label-work").replaceChildren(h("div.labelling", parts.text, parts.aside), parts.record);
  document.addEventListener("keydown", pressed);
  on("view", shown);
  on("card", () => desk.state && !$("view-label").hidden && drawSides());
}

/** Why nothing can be labelled here, in a sentence; null if something can. */
function cannot() {
  if (isOfRows()) return "This model reads rows of a table. Texts are labelled here, so it cannot be labelled for; correct its answers under “Try it”.";
  if (isOfLabels()) return "This model gives several labels a text, and here texts have one label each. Correct its answers under “Try it”: press the mark of a chip, then Save.";
  if (state.card.cannot_learn) return `This model cannot learn: ${state.card.cannot_learn}. To label texts for a new model: textodds serve new.textodds --new`;
  return null;
}

let isLoaded = false;

/** Begins when the view is first seen: who only tries a text asks for nothing else. */
async function shown() {
  if ($("view-label").hidden) return;
  if (isLoaded && desk.state && desk.state.version !== state.version) { // something was learned or undone elsewhere
    await refresh().then(() => draw(), () => {});
  }
  if (isLoaded) return;
  isLoaded = true;
  parts.text.replaceChildren(h("p.soft", { role: "status" }, "Looking…"));
  await again();
}

/** Reads where labelling stands, and goes on there; with an `id` at that text. */
export async function again(id = null) {
  try {
    await refresh();
    if (desk.state.texts) await next(id);
    else desk.current = null;
    draw();
  } catch (error) {
    parts.text.replaceChildren(told(error));
    isLoaded = false;
  }
}

async function next(id = null) {
  const asked = { by: by(), order: desk.check ? "check" : order() };
  if (desk.check) asked.check = desk.check.check;
  if (id) Object.assign(asked, { id, order: "search" });
  desk.current = await post("v1/labelling/next", asked);
  desk.alike = true;
}

function draw(trouble = null) {
  const { texts } = desk.state;
  document.body.classList.toggle("is-labelling", Boolean(texts));
  document.body.classList.toggle("is-new", desk.state.new);
  drawFiles(parts.files, again);
  if (texts) showText(parts.text, { give, skip, undo, trouble, again, end });
  else parts.text.replaceChildren();
  drawSides();
}

function drawSides() {
  const isAny = Boolean(desk.state.texts || desk.state.labelled);
  for (const part of [parts.aside, parts.record]) part.hidden = !isAny;
  if (!isAny) return;
  drawAside(parts.aside, { again, begin });
  drawRecord(parts.record, { again, edit });
}

/** One thing at a time, so that a key pressed twice labels one text. */
async function busy(action) {
  if (desk.isBusy) return;
  desk.isBusy = true;
  try {
    await action();
    draw();
  } catch (error) {
    if (error.status === 409) await refresh().catch(() => {});
    draw(error);
  } finally {
    desk.isBusy = false;
  }
}

const give = (label) => desk.current?.text && busy(async () => {
  const { text, order: how } = desk.current;
  const isSecond = how === "second";
  await ask("label", { id: text.id, label, alike: desk.alike && !isSecond, second: isSecond });
  desk.given++;
  await refresh();
  await next();
});

const skip = () => desk.current?.text && busy(async () => {
  await ask("skip", { id: desk.current.text.id });
  await refresh();
  await next();
});

const undo = () => desk.state?.undo && busy(async () => {
  const { text } = await ask("undo", {});
  await refresh();
  await next(text || null);
});

/** Gives a text of the history another label, or none. */
const edit = (id, label) => busy(async () => {
  await ask("label", { id, label });
  await refresh();
  if (desk.current?.text?.id === id) await next();
});

/** Begins to estimate the precision of a class. */
const begin = (label) => busy(async () => {
  const { act } = await ask("check", { label });
  desk.check = { check: act, label };
  await refresh();
  await next();
});

const end = () => busy(async () => {
  desk.check = null;
  await next();
});

function pressed(event) {
  if (!desk.current || $("view-label").hidden) return;
  const { target, ctrlKey, metaKey, altKey, repeat } = event;
  if (ctrlKey || metaKey || altKey || repeat) return;
  const isInside = target === document.body || target.id === "view-label" || target.closest("#labelling");
  if (!isInside || target.matches("input, select, textarea")) return;
  const pressing = event.key.toLowerCase();
  const isButton = target.matches("button, summary");
  if (/^[1-9]$/.test(pressing)) desk.picker?.press(Number(pressing));
  else if (pressing === "enter" && !isButton) desk.accept?.();
  else if (pressing === "s") skip();
  else if (pressing === "u") undo();
  else if (pressing === "a") desk.turnAlike?.();
  else if (pressing === "/") desk.picker?.focus();
  else return;
  event.preventDefault();
}
