// Two curves of a labelled file: errors against the share that is answered, and cost against the threshold.

import { h, percent, plural, s, said, select, some, soft, told } from "./dom.js";
import { labels, own } from "./state.js";

const [WIDE, HIGH] = [420, 170];
const EDGE = { left: 56, top: 26, right: 14, bottom: 38 };
const STEPS = 200;
const MANY = 200; // classes whose probabilities are asked for, row by row

let chosen = 100; // per cent that are answered: kept while labels are corrected

/** A line through [x, y], x from 0 to 1, with marks [x, y]; `text` writes a y. */
function lineChart(points, marks, { name, x: under, y: beside, text }) {
  const peak = Math.max(...points.map(([, y]) => y));
  const most = peak > 0 ? 1.08 * peak : 1;
  const x = (value) => EDGE.left + value * WIDE;
  const y = (value) => EDGE.top + (1 - value / most) * HIGH;
  const label = (left, top, words, more = {}) => s("text", { x: left, y: top, ...more }, words);
  const [middle, end] = [{ "text-anchor": "middle" }, { "text-anchor": "end" }];
  const path = points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  return s("svg.plot.wide-plot", { role: "img", "aria-label": name,
    viewBox: `0 0 ${EDGE.left + WIDE + EDGE.right} ${EDGE.top + HIGH + EDGE.bottom}` },
  [0, 0.5, 1].map((part) => [s("path.grid", { d: `M${x(0)} ${y(part * most)}H${x(1)}` }), label(x(0) - 6, y(part * most) + 4, text(part * most), end)]),
  [0, 0.25, 0.5, 0.75, 1].map((part) => label(x(part), y(0) + 16, String(100 * part), middle)),
  label(x(0.5), y(0) + 33, under, middle), label(6, 12, beside),
  s("path.curve", { d: path }), marks.map(([a, b]) => s("circle", { cx: x(a), cy: y(b), r: 5 })));
}

/** Errors among the surest rows, for every share of rows that is answered; a slider chooses one. */
export function coverage(answers) {
  const rows = [...answers.labelled()].map(({ p, likely, truth }) => ({ p, wrong: likely !== truth })).sort((a, b) => b.p - a.p);
  const wrong = [0];
  for (const row of rows) wrong.push(wrong.at(-1) + row.wrong);
  const at = (share) => Math.max(1, Math.round(share * rows.length));
  const rate = (n) => wrong[n] / n;
  const points = Array.from({ length: STEPS }, (_, i) => at((i + 1) / STEPS)).map((n) => [n / rows.length, rate(n)]);
  const [words, drawing] = [h("p", { role: "status", id: "covered" }), h("div")];
  const input = h("input", { id: "coverage", type: "range", min: 1, max: 100, value: chosen });
  const show = () => {
    chosen = Number(input.value);
    const n = at(chosen / 100);
    input.setAttribute("aria-valuetext", `${input.value} %`);
    words.replaceChildren(`Answering the surest ${percent(n / rows.length)} (probability from ${some(rows[n - 1].p)}): `,
      h("b", `${percent(rate(n))} wrong`), `, ${plural(wrong[n], "error")}; ${plural(rows.length - n, "row")} left to people.`);
    drawing.replaceChildren(lineChart(points, [[n / rows.length, rate(n)]],
      { name: `Errors against coverage: ${percent(rate(rows.length))} if all are answered`, x: "answered, %", y: "wrong", text: percent }));
  };
  input.oninput = show;
  show();
  return h("figure.stack", h("label", { for: "coverage" }, "Answer so many, the surest first"), input, words, drawing);
}

/** What a mistake costs, by the rule that was asked with. */
const priceOf = (rule) => {
  const named = new Map((rule?.costs ?? []).map(({ truth, answer, cost }) => [JSON.stringify([truth, answer]), cost]));
  return (truth, answer) => (truth === answer ? 0 : named.get(JSON.stringify([truth, answer])) ?? 1);
};

/** The mean cost for every threshold of a class: it is answered from there on, below it the `other` of each row. */
function costs(rows, label, price) {
  const known = [...rows].sort((x, y) => x.p - y.p);
  let sum = known.reduce((total, { truth }) => total + price(truth, label), 0);
  let at = 0;
  const points = [];
  for (let step = 0; step <= STEPS; step++) {
    for (; at < known.length && known[at].p < step / STEPS; at++) sum += price(known[at].truth, known[at].other) - price(known[at].truth, label);
    points.push([step / STEPS, sum / known.length]);
  }
  return points;
}

/** Of one class among many, against the most probable other: the file is asked about again, for all probabilities. */
export function costOfOne(source, answers, classify) {
  const names = labels();
  if (names.length < 3 || names.length > MANY) return "";
  const drawing = h("div", { role: "status" });
  const draw = async (label) => {
    if (label === "") return drawing.replaceChildren();
    drawing.replaceChildren(soft("Reading the file again…"));
    const found = new OneOfMany(label, answers.rule?.prior);
    await classify(source, found, undefined, () => {});
    const rows = found.found.map((each) => ({ ...each, truth: answers.judged(each.i).truth })).filter(({ truth }) => truth !== null);
    const points = costs(rows, label, priceOf(answers.rule));
    const [share, least] = points.reduce((best, point) => (point[1] < best[1] ? point : best));
    drawing.replaceChildren(lineChart(points, [[share, least]],
      { name: `Mean cost against the threshold of ${label}`, x: `answer ${label} from this probability on, %`, y: "cost a row", text: some }),
    soft("Below the threshold the most probable other class is answered. The least (the circle) is ", h("b", some(least)), ` a row, at ${percent(share)}, chosen with hindsight on ${plural(rows.length, "row")}.`));
  };
  const chosen = (label) => draw(label).catch((error) => drawing.replaceChildren(told(error)));
  return h("figure.stack", h("p.row", h("label", { for: "cost-of" }, "Cost curve of one class"),
    select("cost-of", [["", "Choose a class…"], ...names.map((name) => [name, name])], "", chosen)), drawing);
}

/** Takes the answers to all rows of a file, as `Answers` does: of each the probability of a class, and the best other. */
class OneOfMany {
  path = "v1/classify/batch";
  rows = 0;
  found = [];

  constructor(label, prior) {
    Object.assign(this, { label, rule: { top: labels().length, ...(prior ? { prior } : {}) } });
  }

  add(_, { probabilities }) {
    const others = Object.entries(probabilities).filter(([name]) => name !== this.label);
    const [other] = others.reduce((best, each) => (each[1] > best[1] ? each : best));
    this.found.push({ i: this.rows++, p: own(probabilities, this.label) ?? 0, other });
  }

  fail() {
    this.rows++;
  }
}

/** Of two classes the mean cost for every threshold of the second; of more what the rule that was set has cost. */
export function costCurve(answers) {
  const price = priceOf(answers.rule);
  const rows = [...answers.labelled()];
  const silence = answers.rule?.abstain ?? 0;
  const paid = rows.reduce((sum, { truth, decided }) => sum + (decided === null ? silence : price(truth, decided)), 0) / rows.length;
  const words = soft(`${answers.rule ? "With your costs" : "With every mistake costing 1"}, these answers cost `, h("b", some(paid)), ` a row, ${some(paid * rows.length)} in all.`);
  const names = labels();
  if (names.length !== 2 || rows.some(({ truth }) => !names.includes(truth))) return words;
  const [a, b] = names;
  const known = rows.map(({ likely, p, truth }) => ({ p: likely === b ? p : 1 - p, truth, other: a }));
  const points = costs(known, b, price);
  const best = points.reduce((least, point) => (point[1] < least[1] ? point : least));
  const even = price(a, b) / (price(a, b) + price(b, a) || 1); // where both answers are expected to cost alike
  const here = points[Math.round(even * STEPS)];
  return h("figure.stack", h("b", "Cost curve"), words, lineChart(points, [here],
    { name: `Mean cost against the threshold of ${b}`, x: `answer ${b} from this probability on, %`, y: "cost a row", text: some }),
  h("figcaption.soft", "Your costs put the threshold of ", said(b), ` at ${percent(even)} (the circle): ${some(here[1])} a row. The least of this file is ${some(best[1])}, at ${percent(best[0])}, `,
    `chosen with hindsight on ${plural(known.length, "row")}.`));
}
