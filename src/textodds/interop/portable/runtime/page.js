// Begins: what the service's page is told by its service, told by the model in this page.

import { isByWord, model } from "./api.js";
import { $, plural, shown } from "./dom.js";
import { state } from "./state.js";
import { startTrying } from "./try.js";

const { name, classes, terms, textodds, start, thresholds } = model.data;
const several = Boolean(thresholds);

state.card = {
  name,
  classes: classes.map((label, k) => ({ label, prior: several ? 0 : Math.exp(start["class prior"][k]) })),
  several_labels: several,
  has_probabilities: model.data.is_posterior,
  cannot_learn: "this page holds a copy of the model",
  limits: { text: 200_000, explained: 20_000 },
};
$("name").textContent = shown(name);
document.title = `${shown(name)} · textodds`;
const size = several ? plural(classes.length, "label") : plural(classes.length, "class", "classes");
$("about").textContent = [size, plural(terms.length, isByWord() ? "word" : "feature")].join(" · ");
$("version").textContent = `textodds ${textodds}`;
startTrying();
if (matchMedia("(hover: hover)").matches) $("text").focus();
