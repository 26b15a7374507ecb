// Taking an answer along: a link that holds the text, and the same question for a shell or in Python.

import { hasToken } from "./api.js";
import { rule } from "./decide.js";
import { $, button, h, shown, soft } from "./dom.js";
import { inPython, inShell } from "./snippets.js";
import { given, isOfRows, on } from "./state.js";

const LONGEST = 8000; // characters of a link, which some programs would cut

let asked = null;
const panel = h("details", { id: "share-panel", ontoggle: () => panel.open && draw() }, h("summary", h("h3", "Share")));

export function startSharing() {
  $("share").replaceChildren(panel);
  on("rule", draw);
}

/** Shares a text or a row from now on; null is none. */
export function shareOf(text) {
  asked = text;
  $("share").hidden = text === null;
  draw();
}

/** The address of this page with a text in its fragment, which no server is sent. */
const linkTo = (text) => {
  const name = isOfRows() ? "row" : "text";
  return `${location.href.split("#")[0]}#try?${new URLSearchParams({ [name]: text })}`;
};

function draw() {
  if (asked === null || !panel.open) return;
  const { abstain, ...decided } = rule();
  const body = { ...given(asked), ...decided, ...(abstain === null || abstain === undefined ? {} : { abstain }) };
  const address = new URL("v1/classify", location.href.split("#")[0]);
  const sent = { address, method: "POST", type: "application/json", body: JSON.stringify(body), asked: body };
  const link = linkTo(asked);
  panel.replaceChildren(panel.firstChild,
    link.length > LONGEST ? soft("The text is too long for a link.") : part("Link", link,
      "The text is in the link itself, after the #: who has the link has the text, and it is sent to this service only when the page is opened."),
    part("curl", inShell(sent, hasToken())), part("Python", inPython(sent, hasToken())));
}

function part(name, text, note = null) {
  const box = h("pre.snippet", { tabindex: "0", "aria-label": name }, shown(text));
  const press = button(`Copy ${name === "Link" ? "link" : `as ${name}`}`, () => copy(text, box, press));
  return h("div.part", h("div.heading", h("b", name), press), box, note ? soft(note) : "");
}

async function copy(text, box, pressed) {
  const name = pressed.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed, or not served securely: it is marked, to be copied by hand
    getSelection().selectAllChildren(box);
    pressed.textContent = "Press Ctrl+C";
    return;
  }
  pressed.textContent = "Copied";
  setTimeout(() => (pressed.textContent = name), 2000);
}
