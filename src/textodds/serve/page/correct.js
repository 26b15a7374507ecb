// "That is wrong": teach the right label, see the model change its mind, and take it back.

import { get, latest, post } from "./api.js";
import { rule } from "./decide.js";
import { $, button, chance, h, said, shortened, soft, told as failed, when } from "./dom.js";
import { Picker } from "./picker.js";
import { asAsked, freshId, given, isOfRows, likeliest, on, own, state, toneOf } from "./state.js";
import { allIds, copyIds, offerWeight, together } from "./weight.js";

const SHOWN = 20;
const LOOKED = 500; // entries that are looked at: a correction that counts many times has as many

let current = null; // {text, answer}
let subject = null; // the text that was corrected last
let settle = null; // shows what that did to it once the full solution is there

const picker = new Picker("right", "The right label", (label, isNew) => correct(label, isNew));
const opener = button("That is wrong", () => open(form.hidden), { "aria-controls": "right-label" });
const form = h("div", { id: "right-label", class: "teach", hidden: true },
  h("p", "Choose the correct class. The model learns it at once, and you can undo it."), picker.node);
const outcome = h("div", { id: "outcome", role: "status" });
const reason = soft();

export function startCorrections() {
  $("correct").append(opener, form, outcome, reason);
  form.onkeydown = (event) => {
    if (event.key === "Escape") (open(false), opener.focus());
  };
  listCorrections(undo);
}

let takeBack; // forgets a correction that is listed

/** Lists what was corrected; `undo(id, text, labels, n)` takes one back, which counts n times. */
export function listCorrections(undo) {
  takeBack = undo;
  on("card", list);
  list();
}

function open(isOpen) {
  form.hidden = !isOpen;
  opener.setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) return;
  const { label: wrong, probabilities } = current.answer;
  picker.set(likeliest(probabilities).filter((label) => label !== wrong));
  picker.focus();
}

/** Offers to correct the answer to a text; null if there is none. */
export function offerCorrection(text, answer) {
  const why = state.card.cannot_learn;
  if (text !== current?.text) open(false);
  if (text !== subject) outcome.replaceChildren();
  else settle?.(answer);
  current = text === null ? null : { text, answer };
  opener.hidden = !current || Boolean(why);
  reason.textContent = current && why ? `It cannot be corrected here: ${why}.` : "";
}

async function correct(label, isNew) {
  if (form.hidden) return; // pressed twice
  open(false);
  const { text, answer: before } = current;
  const id = freshId();
  subject = text;
  try {
    await post("v1/learn", { documents: [{ id, ...given(text), label }], new_labels: isNew });
    await compare(text, label, before, id);
  } catch (error) {
    outcome.replaceChildren(failed(error));
    opener.focus();
  }
}

/** Forgets a correction, and shows what that does to the text, if it is the one at hand. */
async function undo(id, text, label, n = 1) {
  const before = current?.text === text ? current.answer : null;
  await post("v1/forget", { documents: allIds(id, n).map((each) => ({ id: each })) });
  if (!before) return;
  subject = text;
  await compare(text, label, before, null);
}

/** Shows what the model says now beside what it said before; `id` is that of a correction that stands. */
async function compare(text, label, before, id, n = 1) {
  const after = await post("v1/classify", { ...given(text), ...rule() });
  const moves = h("ul.bars.plain");
  settle = (now) => moves.replaceChildren(...[...new Set([label, before.label, now.label])].map((name) =>
    movement(name, own(before.probabilities, name), own(now.probabilities, name))));
  settle(after);
  const isShort = id !== null && after.label !== label;
  const weigh = async (n) => {
    try {
      await post("v1/learn", { documents: copyIds(id, n).map((copy) => ({ id: copy, ...given(text), label })) });
      await compare(text, label, before, id, n);
    } catch (error) {
      outcome.replaceChildren(failed(error));
    }
  };
  const back = button("Undo", async () => {
    back.disabled = true;
    await undo(id, text, label, n).catch((error) => outcome.replaceChildren(failed(error)));
    opener.focus();
  });
  outcome.replaceChildren(h("div.tinted",
    h("p", id === null ? "Forgotten: " : "Learned: ", h("b", said(label)), n > 1 ? `, counted ${n} times.` : "."),
    moves,
    isShort && n === 1 ? offerWeight(text, label, (n) => weigh(n)) : "",
    id === null ? "" : back));
  if (id !== null) back.focus();
}

export function movement(label, before, after) {
  const place = (p) => `${100 * (p ?? 0)}%`;
  const [was, bar] = [h("i.was"), h("i", { class: `bar slow ${toneOf(label) ?? ""}` })];
  was.style.insetInlineStart = bar.style.inlineSize = place(before);
  requestAnimationFrame(() => requestAnimationFrame(() => (bar.style.inlineSize = place(after))));
  return h("li", said(label, { class: "name" }),
    h("span.track", { "aria-hidden": "true" }, bar, was),
    h("span.number", before === undefined ? "new" : chance(before), " → ",
      h("b", after === undefined ? "gone" : chance(after))));
}

const list = latest(async () => {
  if (state.card.cannot_learn) return;
  const { corrections, total } = await get(`v1/corrections?limit=${LOOKED}`);
  const last = new Map([...corrections].reverse().map((each) => [each.id, each])); // what became of each
  const all = together(corrections.filter((each) => last.get(each.id) === each));
  const shown = all.slice(0, SHOWN);
  const older = total > corrections.length || all.length > SHOWN ? h("li", soft("Older ones are not shown.")) : "";
  $("corrections").hidden = !total;
  $("correction-list").replaceChildren(...shown.map(entry), older);
});

const pairs = (row) => Object.entries(row).map(([name, value]) => `${name} ${value}`).join(" · ");

function entry({ id, change, label, labels: several, text: whole, row, at, stands, n }) {
  const isStanding = change === "learned" && stands;
  const text = isOfRows() && row ? asAsked(row) : whole;
  const told = isOfRows() ? row && pairs(row) : text;
  const name = told === null ? "(it is erased)" : shortened(told, 90);
  const back = button("Undo", async () => {
    back.disabled = true;
    await takeBack(id, text, several ?? label, n).catch((error) => back.replaceWith(failed(error)));
  }, { class: "quiet", "aria-label": `Undo: ${name}` });
  return h(isStanding ? "li" : "li.fallen", { "data-id": id },
    h("p.quote", { dir: "auto" }, name),
    soft(h("b", said(several ? several.join(", ") || "no label" : label)), ` · ${change}${n > 1 ? ` × ${n}` : ""} · `, when(at)), isStanding ? back : null);
}
