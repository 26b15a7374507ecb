// What was done: search, contradicting labels side by side, history with edit, going back, and export.

import { get, raw } from "./api.js";
import { ask, classes, desk } from "./label-desk.js";
import { button, count, folded, h, plural, said, save, select, shortened, shown, soft, told } from "./dom.js";

const NONE = ""; // the label of a text without one, in a select
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const DID = { skip: "skipped", undo: "undid", back: "went back", check: "checks the precision of", class: "added the class", opinion: "would say" };
const open = { search: false, history: false, contradictions: false };
let sought = "";

export function drawRecord(place, acts) {
  const hadFocus = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...[contradicting(acts), search(acts), history(acts), taking(acts)].filter(Boolean));
  if (hadFocus) place.querySelector(`#${CSS.escape(hadFocus)}`)?.focus();
}

/** A card that folds, remembers whether it is open, and is filled when it is. */
function fold(name, title, fill) {
  const body = h("div.stack");
  const node = folded(title, body);
  node.classList.add("card");
  node.open = open[name];
  const update = () => node.open && fill(body).catch((error) => body.replaceChildren(told(error)));
  node.addEventListener("toggle", () => {
    open[name] = node.open;
    if (!body.childNodes.length) update();
  });
  if (node.open) update();
  return node;
}

function search(acts) {
  return fold("search", "Search the texts", async (body) => {
    const field = h("input", { id: "label-search", type: "search", autocomplete: "off", value: sought, placeholder: "Words in any order" });
    const results = h("div", { "aria-live": "polite" });
    const look = async () => {
      sought = field.value;
      if (!sought.trim()) return results.replaceChildren();
      const { texts, more } = await get(`v1/labelling/search?q=${encodeURIComponent(sought.slice(0, 200))}`);
      if (field.value !== sought) return;
      results.replaceChildren(soft(texts.length ? `${count(texts.length)}${more ? " or more" : ""} found.` : "No text has these words."),
        h("ul.plain.found", texts.map((each) => h("li", button(each.label ? "Change" : "Label", () => acts.again(each.id), { "aria-label": `Label this text: ${shortened(each.text, 60)}` }),
          h("span", each.label ? h("b", said(each.label), " ") : null, shortened(each.text, 220))))));
    };
    field.oninput = () => look().catch((error) => results.replaceChildren(told(error)));
    body.replaceChildren(h("p.row", h("label", { for: field.id }, "Search"), field), results);
    await look();
  });
}

function contradicting(acts) {
  const { contradictions } = desk.state;
  if (!contradictions) return null;
  return fold("contradictions", `Contradicting labels: ${count(contradictions)}`, async (body) => {
    const { groups } = await get("v1/labelling/contradictions");
    body.replaceChildren(...groups.map((group) => {
      const labels = [...new Set(group.map(({ label }) => label))];
      const settle = async (label) => {
        for (const id of new Set(group.map((each) => each.id))) {
          await ask("label", { id, label });
        }
        await acts.again();
      };
      return h("div.tinted", h("div.beside", group.map((each) => h("figure", h("figcaption", h("b", said(each.label)), each.by ? ` · ${shown(each.by)}` : ""),
        h("blockquote", { dir: "auto" }, shortened(each.text, 400))))),
        h("p.row", "All of them are ", labels.map((label) => button(said(label), () => settle(label)))));
    }));
  });
}

function history(acts) {
  return fold("history", "History", async (body) => {
    const { acts: done, total } = await get("v1/labelling/history?limit=100");
    const names = [[NONE, "no label"], ...classes().map((name) => [name, name])];
    const line = (act) => {
      const who = [h("time.soft", { datetime: act.at }, TIME.format(new Date(act.at))), act.by ? h("b", said(act.by)) : null];
      const editable = act.kind === "label" && act.text !== null && !act.undone;
      const what = editable
        ? [h("label.away", { for: `edit-${act.n}` }, "Label"), select(`edit-${act.n}`, names, act.now ?? NONE, (label) => acts.edit(act.id, label || null))]
        : [h("span", act.kind === "label" ? (act.label ? said(act.label) : "no label") : [`${DID[act.kind] ?? act.kind} `, act.label && act.kind !== "back" ? said(act.label) : ""])];
      const back = act.kind === "label" || act.kind === "undo" || act.kind === "back"
        ? button("Back to here", () => goBack(act.n, acts), { class: "quiet", "aria-label": `Go back to the labels after act ${act.n}` }) : null;
      return h("li", { class: act.undone ? "undone" : null }, h("span.row", who, what, act.changed > 1 ? h("span.soft", plural(act.changed, "text")) : null, act.undone ? h("span.soft", "undone") : null),
        act.text === null ? null : h("span.quote", shortened(act.text, 160)), back);
    };
    body.replaceChildren(soft(`${plural(total, "act")}, the latest first${total > done.length ? `; ${count(done.length)} are shown` : ""}. Choose another label to correct one; “Back to here” puts every label, and the model, as they were then, and can be undone.`),
      h("ol.plain.acts", done.map(line), h("li", h("span.soft", "The beginning"), button("Back to here", () => goBack(0, acts), { class: "quiet", "aria-label": "Go back to the beginning" }))));
  });
}

async function goBack(n, acts) {
  await ask("back", { act: n });
  await acts.again();
}

/** Labels as a file, at any time. */
function taking() {
  const status = h("span.soft", { role: "status" });
  const fetchAs = (format) => async () => {
    const answer = await raw(`v1/labelling/labels.${format}`, { method: "GET" });
    if (answer.ok) save([await answer.blob()], `labels.${format}`);
    else status.replaceChildren(told(new Error("The labels could not be downloaded.")));
  };
  const none = { disabled: !desk.state.labelled };
  return h("div.row.taking", button("Download labels (CSV)", fetchAs("csv"), none), button("JSON lines", fetchAs("jsonl"), none), status);
}
