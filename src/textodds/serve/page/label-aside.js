// What the labels are worth so far: accuracy with its interval, a learning curve, classes, precision, people.

import { get } from "./api.js";
import { $, button, count, folded, h, percent, plural, s, said, shown, soft, table } from "./dom.js";
import { swatch } from "./examples.js";
import { checked, desk } from "./label-desk.js";
import { labels } from "./state.js";

let drawnFor = null;

export function drawAside(place, acts) {
  const quality = h("section.card", { "aria-labelledby": "h-worth" }, h("h3", { id: "h-worth" }, "How good is it?"), h("div.stack.worth", worth()));
  place.replaceChildren(quality, classTable(acts), people());
  const mark = `${desk.state.labelled} ${desk.state.version}`;
  if (drawnFor === mark) return;
  drawnFor = mark;
  get("v1/labelling/progress").then((found) => {
    desk.progress = found;
    place.querySelector(".worth")?.replaceChildren(...worth().filter(Boolean));
    place.querySelector(".by-class")?.replaceWith(classTable(acts));
    $("check-state")?.replaceChildren(checked());
  }, () => (drawnFor = null));
}

const interval = ([low, high]) => `${percent(low)} to ${percent(high)}`;

function worth() {
  const { progress, state: { guesses, new: isNew } } = desk;
  if (!progress) return [soft("…")];
  const { accuracy, too_few: why, curve } = progress;
  const parts = [];
  if (accuracy) {
    parts.push(h("p", h("b.large", percent(accuracy.accuracy)), " right"),
      h("p", `Probably between ${percent(accuracy.interval[0])} and ${percent(accuracy.interval[1])}.`),
      soft(`Each of ${count(accuracy.labels)} different texts is judged by the model of the others (95 % interval). Always saying the largest class is right ${percent(accuracy.largest_class)} of the time.`));
  } else {
    parts.push(h("p", h("b", isNew ? "Too few to say" : "Not measured here")), soft(`${upper(why ?? "no label yet")}.`));
  }
  if (curve.length > 1) parts.push(picture(curve), soft("Dashed: always the largest class."), asTable(curve));
  parts.push(fair(guesses));
  return parts;
}

const upper = (text) => shown(text[0].toUpperCase() + text.slice(1));

/** Texts that come at random are a fair sample; those that are useful or in doubt are harder than most. */
function fair({ n, right, interval: found }) {
  if (!n) return soft("Texts chosen as useful or in doubt are harder than most. Take some at random for a fair estimate.");
  const rest = found ? `: ${percent(right / n)}, ${interval(found)}` : " (too few for a share)";
  return soft(`A fair sample: of ${plural(n, "text")} at random the guess was right ${count(right)} times${rest}.`);
}

const [W, H, L, B] = [320, 180, 48, 24];

/** The learning curve: accuracy by the number of labels, with its interval as a band. */
function picture(curve) {
  const most = curve.at(-1).labels;
  const least = Math.min(curve[0].labels, most - 1);
  const x = (n) => L + ((W - L - 8) * (n - least)) / (most - least);
  const y = (p) => 8 + (H - B - 8) * (1 - p);
  const line = (f) => curve.map((each) => `${x(each.labels).toFixed(1)},${y(f(each)).toFixed(1)}`);
  const band = [...line((each) => each.interval[1]), ...line((each) => each.interval[0]).reverse()];
  const label = `Learning curve: ${percent(curve[0].accuracy)} right with ${curve[0].labels} labels, ${percent(curve.at(-1).accuracy)} with ${most}.`;
  return s("svg", { class: "curve", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label },
    [0, 0.5, 1].map((p) => [s("line", { class: "grid", x1: L, x2: W - 8, y1: y(p), y2: y(p) }),
      s("text", { x: L - 6, y: y(p) + 4, "text-anchor": "end" }, `${100 * p} %`)]),
    s("polygon", { class: "band", points: band.join(" ") }),
    s("polyline", { class: "base", points: line((each) => each.largest_class).join(" ") }),
    s("polyline", { class: "line", points: line((each) => each.accuracy).join(" ") }),
    curve.map((each) => s("circle", { cx: x(each.labels), cy: y(each.accuracy), r: 3 })),
    s("text", { x: L, y: H - 4 }, String(least)), s("text", { x: W - 8, y: H - 4, "text-anchor": "end" }, `${most} labels`));
}

const asTable = (curve) => folded("The curve as a table", table("Learning curve", ["Labels", "Right", "95 % interval", "Largest class"],
  curve.map((each) => [count(each.labels), percent(each.accuracy), interval(each.interval), percent(each.largest_class)])));

function classTable({ begin, again }) {
  const go = (check) => {
    desk.check = check;
    again();
  };
  const { classes } = desk.state;
  const checks = desk.progress?.checks ?? [];
  const known = labels();
  const rows = classes.map(({ label, texts }) => {
    const canCheck = known.length > 1 && known.includes(label) && desk.current;
    const check = checks.filter((each) => each.label === label).at(-1);
    const told = !check?.answered ? "" : check.interval
      ? `${count(check.right)} of ${count(check.answered)}: ${percent(check.right / check.answered)}, ${interval(check.interval)}`
      : `${count(check.right)} of ${count(check.answered)}; too few to say`;
    const start = button(check && check.answered < check.of ? "Go on" : "Check", () => (check && check.answered < check.of ? go(check) : begin(label)),
      { class: "quiet", disabled: !canCheck, "aria-label": `Check the precision of ${shown(label)} with 20 texts` });
    return h("li", h("span.name", swatch(label), said(label)), h("span.number", count(texts)), start, told ? h("span.soft.told", `Precision ${told}`) : null);
  });
  return h("section.card.by-class", { "aria-labelledby": "h-label-classes" }, h("h3", { id: "h-label-classes" }, "Classes"), h("ul.plain.counts", rows),
    soft("“Check” asks about 20 texts that the model takes for a class: how many of them are."));
}

function people() {
  const { people: some } = desk.state;
  if (some.length < 2 && !some[0]?.by) return h("div");
  return h("section.card", { "aria-labelledby": "h-people" }, h("h3", { id: "h-people" }, "Who labels"),
    h("ul.plain.counts", some.map(({ by, labels }) => h("li", h("span.name", by ? said(by) : "without a name"), h("span.number", plural(labels, "label"))))));
}
