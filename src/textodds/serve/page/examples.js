// The first look: which classes there are, and texts to try, the first of them answered already.

import { get } from "./api.js";
import { $, button, h, said, shortened, soft } from "./dom.js";
import { asAsked, isOfLabels, isOfRows, state, toneOf } from "./state.js";

const NAMED = 8; // classes that are named at once
const LONG = 110; // characters of an example on its button

/** Names the classes and offers examples; `put` writes one, and does so with the first if `isEmpty()`. */
export async function startExamples(put, isEmpty) {
  const list = h("div", { id: "examples", role: "group", "aria-label": "Examples" });
  $("first").replaceChildren(classLine(), list);
  const { examples } = await get("v1/examples").catch(() => ({ examples: [] }));
  if (!examples.length) return;
  const whole = ({ text, row }) => (row ? asAsked(row) : text);
  const written = ({ text, row }) => (row
    ? Object.entries(row).filter(([, value]) => value !== null).map(([name, value]) => `${name} ${value}`).join(" · ") : text);
  list.replaceChildren(h("span.small", "Examples"), ...examples.map((each) =>
    button(h("span", { dir: "auto" }, shortened(written(each), LONG)), () => put(whole(each)),
      { class: "example", title: each.about === "doubtful" ? "The model is unsure of this one" : null })));
  if (isEmpty()) put(whole(examples[0]), true);
}

function classLine() {
  const ranked = [...state.card.classes].sort((a, b) => b.prior - a.prior).map(({ label }) => label);
  const names = ranked.length === 2 ? state.card.classes.map(({ label }) => label) : ranked.slice(0, NAMED);
  const more = ranked.length - names.length;
  const what = isOfLabels() ? "Labels" : "Classes";
  return soft(`${what}: `, names.map((name, i) => [i ? ", " : "", swatch(name), said(name)]),
    more > 0 ? [", and ", h("a", { href: "#model" }, `${more} more`)] : "", ".",
    state.card.data_link ? [" ", h("a", { href: state.card.data_link, rel: "noopener noreferrer" }, isOfRows() ? "The data" : "The texts it learned from")] : "");
}

/** The colour of a class, if it has one of its own. */
export const swatch = (name) => (toneOf(name) ? h("i", { class: `swatch ${toneOf(name)}`, "aria-hidden": "true" }) : "");
