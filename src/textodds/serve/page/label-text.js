// The text that is labelled: large, with the words that tell tinted, and the keys along the bottom.

import { post } from "./api.js";
import { button, chance, count, h, listed, plural, said, shortened, shown, soft, told } from "./dom.js";
import { by, checked, classes, desk, order, remember } from "./label-desk.js";
import { Picker } from "./picker.js";
import { own, state, tonesOf } from "./state.js";

const ORDERS = { useful: "the most useful", doubt: "the most in doubt", random: "at random", second: "for a second opinion" };
const picker = new Picker("give", "Give a label", (label) => acts.give(label), true);
const TOLD = 40; // words that are tinted at most
const NAMED = 3; // of each side that are said in words
const FEW = 5; // classes that stand in one line with the other keys
let acts = {};

/** Draws the text at hand; `acts` are what can be done with it. */
export function showText(place, given) {
  acts = given;
  const { current, check } = desk;
  desk.picker = picker;
  desk.accept = current?.text && suggested() !== null ? () => acts.give(suggested()) : null;
  const isHere = place.contains(document.activeElement) || document.activeElement === document.body;
  const about = { id: "labelling", tabindex: "-1", "aria-label": "Labelling", "aria-describedby": current?.text ? "asked" : null };
  const card = h("section.card.desk", about, heading(), check ? checking() : null, given.trouble && told(given.trouble),
    current?.text ? question() : finished(), bar());
  place.replaceChildren(card);
  if (isHere || desk.wantsFocus) card.focus({ preventScroll: true });
  desk.wantsFocus = false;
  if (current?.text) tint(card);
}

/** What Enter answers: the class that is checked, else the guess. */
const suggested = () => desk.check?.label ?? desk.current.guess?.label ?? null;

function heading() {
  const { labelled, remaining } = desk.state;
  const total = labelled + remaining;
  return h("div.heading",
    h("p", { id: "label-count", role: "status" }, `${plural(labelled, "label")} · ${count(remaining)} left`),
    h("progress", { max: String(Math.max(total, 1)), value: String(labelled), "aria-label": "Texts labelled" }),
    desk.check ? null : choice());
}

/** In which order texts come. */
function choice() {
  const isBesideOthers = desk.state.people.some(({ by: who }) => who && who !== by());
  const names = Object.entries(ORDERS).filter(([name]) => name !== "second" || isBesideOthers || order() === "second");
  const change = (event) => {
    remember({ order: event.target.value });
    acts.again();
  };
  return h("p.row.order", h("label", { for: "label-order" }, "Next text"),
    h("select", { id: "label-order", onchange: change },
      names.map(([value, name]) => h("option", { value, selected: value === order() }, name))));
}

function checking() {
  const { label } = desk.check;
  return h("div.tinted", h("p", "Are these texts ", h("b", said(label)), `? They are drawn from those that the model takes for it.`, h("span", { id: "check-state" }, checked())),
    button("Stop", acts.end, { class: "quiet" }));
}

function question() {
  const { text, alike, like_labelled: like, order: how } = desk.current;
  const names = classes();
  const guess = desk.current.guess;
  picker.set(names.length > 9 && guess ? [...names].sort((a, b) => (own(guess.probabilities, b) ?? 0) - (own(guess.probabilities, a) ?? 0)) : names);
  return [
    text.label && how !== "second" ? soft("It has the label ", h("b", said(text.label)), text.by ? ` by ${shown(text.by)}` : "", "; another takes its place.") : null,
    how === "second" ? soft("Somebody has labelled this text. What would you say? Both opinions are kept.") : null,
    h("blockquote", { id: "asked", class: "reading asked", dir: "auto" }, shown(text.text)),
    h("p.telling.soft"),
    like.length ? h("div.note.alike", h("p", `${like.length === 1 ? "A text" : count(like.length) + " texts"} nearly the same ${like.length === 1 ? "has" : "have"} a label:`),
      h("ul.plain", like.slice(0, 5).map((each) => h("li", h("b", said(each.label)), " ", h("q", shortened(each.text, 120)))))) : null,
    alike.length && how !== "second" ? twins(alike) : null,
  ];
}

function twins(alike) {
  const box = h("input", { id: "label-alike", type: "checkbox", checked: desk.alike, onchange: () => (desk.alike = box.checked) });
  desk.turnAlike = () => (box.checked = desk.alike = !desk.alike);
  const name = `Label ${alike.length === 1 ? "a text that is" : `${count(alike.length)} texts that are`} nearly the same, too`;
  return h("div.alike", h("p.row", box, h("label", { for: box.id }, key("A"), name)),
    h("ul.plain.soft", alike.slice(0, 3).map((each) => h("li", h("q", shortened(each.text, 140))))));
}

function finished() {
  desk.turnAlike = null;
  const { remaining } = desk.state;
  if (desk.check) return h("p.hint", "All texts of this check are answered; the precision is beside. ", button("Go on labelling", acts.end));
  if (order() === "second") return h("p.hint", "There is no text that somebody else has labelled and you have not.");
  if (remaining) return h("p.hint", "The texts that are left are before others who label now.");
  return h("p.hint", "All done. Thank you. Download the labels below, or drop another file.");
}

const key = (name) => h("kbd", { "aria-hidden": "true" }, name);

/** The keys along the bottom: what they do, as buttons. */
function bar() {
  const { current, state: { undo }, check } = desk;
  const back = button([key("U"), undo === "skip" ? "Undo the skip" : "Undo"], acts.undo, { class: "quiet", disabled: !undo });
  if (!current?.text) return h("div.keys", h("div.row", back));
  const answer = suggested();
  const chanceOf = check ? "" : current.guess ? ` ${chance(current.guess.probability)}` : "";
  const accept = answer === null ? null
    : button([key("Enter"), check ? "Yes, " : "", said(answer), h("span.number", chanceOf)], () => acts.give(answer), { class: "main", "data-accept": answer });
  const others = h("div.row", button([key("S"), "Skip"], acts.skip), back);
  if (classes().length <= FEW) return h("div.keys", accept, picker.node, others);
  return h("div.keys.many", accept, others, picker.node); // many classes have lines of their own
}

/** Tints the words that tell, once the service has said which. */
async function tint(card) {
  const { text, guess } = desk.current;
  const line = card.querySelector(".telling");
  if (!guess) {
    line.textContent = classes().length < 2 ? "" : "No guess yet: that takes labels of two classes.";
    return;
  }
  if (text.text.length > state.card.limits.explained) return;
  const why = await post("v1/explain", { text: text.text, label: desk.check?.label ?? guess.label }).catch(() => null);
  if (!why || desk.current?.text?.id !== text.id || !card.isConnected) return;
  const points = Array.from(text.text);
  const tones = tonesOf(why.label, why.rival);
  const telling = why.places.filter(({ log_odds: x }) => x).sort((a, b) => Math.abs(b.log_odds) - Math.abs(a.log_odds)).slice(0, TOLD);
  const most = Math.max(...telling.map(({ log_odds: x }) => Math.abs(x)), 1e-9);
  const nodes = [];
  let at = 0;
  for (const { start, end, log_odds: x } of telling.sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    nodes.push(shown(points.slice(at, start).join("")));
    const word = h("span", { class: `word ${tones[x > 0 ? 0 : 1]}` }, shown(points.slice(start, end).join("")));
    word.style.setProperty("--depth", (Math.abs(x) / most).toFixed(3));
    nodes.push(word);
    at = end;
  }
  nodes.push(shown(points.slice(at).join("")));
  card.querySelector("#asked").replaceChildren(...nodes);
  if (!telling.length) return;
  const sides = [[why.label, (x) => x > 0], [why.rival, (x) => x < 0]];
  line.replaceChildren(...sides.map(([label, isOf], i) => {
    const most = strongest(telling.filter(({ log_odds: x }) => isOf(x)));
    return h("span.side", h("span", { class: `key word ${tones[i]}` }, "for ", said(label)), most.length ? listed(most) : "nothing");
  }));
}

/** The words that tell most, each once. */
const strongest = (places) => [...new Set([...places].sort((a, b) => Math.abs(b.log_odds) - Math.abs(a.log_odds)).map(({ word }) => word))].slice(0, NAMED);
