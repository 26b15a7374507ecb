// Begins: fetches the model's card, and shows the view that the address names.

import { askAgain, get, latest } from "./api.js";
import { $, button, plural, shown, told } from "./dom.js";
import { startFiles } from "./files.js";
import { startLabelling } from "./label.js";
import { showModel, startModel } from "./model.js";
import { focusRow } from "./rows.js";
import { asAsked, emit, isOfLabels, isOfRows, noticed, on, state } from "./state.js";
import { startShowing, startTrying, write } from "./try.js";

const SETTLE = 1000; // milliseconds between looks whether corrections are solved
const VIEWS = ["try", "files", "label", "model"];

function route(isFirst) {
  const [name, query = ""] = location.hash.slice(1).split("?");
  const view = VIEWS.includes(name) ? name : state.card.classes.length ? "try" : "label"; // of a new model
  const asked = new URLSearchParams(query);
  for (const each of VIEWS) $(`view-${each}`).hidden = each !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (view === "label" && !name) history.replaceState(null, "", "#label"); // loaded again, it goes on there
  emit("view", view);
  if (view === "model") showModel(asked.get("class"), asked.get("rival"));
  const shared = asked.get(isOfRows() ? "row" : "text");
  if (view === "try" && shared !== null && shared !== taken) take(shared);
  if (isFirst && view === "try" && matchMedia("(hover: hover)").matches) isOfRows() ? focusRow() : $("text").focus();
  if (isFirst) return;
  $(`view-${view}`).focus({ preventScroll: true });
  scrollTo(0, 0);
}

let taken = null; // what a link has brought: back from another view, the text is as it was left

/** Takes a text or a row from a link. */
function take(shared) {
  taken = shared;
  try {
    if (isOfRows()) shared = asAsked(JSON.parse(shared));
    write(shared);
  } catch {
    // a link that was cut off holds no row
  }
}

const reload = latest(async () => {
  state.card = await get("v1/model");
  head();
  emit("card");
});

let settling = 0;

/** Looks again until corrections are solved, so that what is shown is what stays. */
function settle() {
  clearTimeout(settling);
  if (!state.version.endsWith("~")) return;
  settling = setTimeout(() => get("healthz").catch(() => {}).finally(settle), SETTLE);
}

function head() {
  const { name, title, classes, words, has_words: hasWords, columns, learner, corrections, version } = state.card;
  $("name").textContent = shown(title ?? name);
  document.title = `${shown(title ?? name)} · textodds`;
  const read = columns ? plural(columns.length, "column") : plural(words, hasWords ? "word" : "feature");
  const size = isOfLabels() ? plural(classes.length, "label") : plural(classes.length, "class", "classes");
  const about = classes.length ? [size, read, learner.split(" (")[0]] : ["nothing learned yet"];
  if (corrections) about.push(plural(corrections, "correction"));
  $("about").textContent = about.join(" · ");
  $("version").textContent = `Version ${version}`;
}

function banner(...content) {
  $("banner").replaceChildren(...content);
  $("banner").hidden = !content.length;
}

async function start() {
  try {
    state.card = await get("v1/model");
  } catch (error) {
    $("skeleton")?.remove();
    if ($("banner").hidden) banner(told(error));
    return;
  }
  noticed(state.card.version);
  head();
  $("skeleton")?.remove();
  startTrying();
  startFiles();
  startLabelling();
  startModel();
  addEventListener("hashchange", () => route(false));
  route(true);
  startShowing(!/[?&](text|row)=/.test(location.hash));
}

on("gone", () => banner("The service does not answer. Trying again…"));
on("back", () => {
  banner();
  if (state.card) reload();
});
on("changed", () => {
  reload();
  settle();
});
on("refused", (problem) => {
  const again = async () => {
    banner();
    if (await askAgain(problem)) await (state.card ? reload() : start());
  };
  banner(`${shown(problem.message)}. `, button("Give a token", again));
});
document.querySelector(".skip").onclick = (event) => {
  event.preventDefault();
  document.querySelector(".view:not([hidden])").focus();
};
// A file that is dropped beside its place must not take the page away.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
start();
