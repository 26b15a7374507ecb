// What a labelled file says of the answers, row by row: mistakes to read and correct, slices, coverage, costs.

import { costCurve, costOfOne, coverage } from "./curves.js";
import { button, cell, chance, count, h, percent, plural, said, section, select, shortened, shown, soft, table } from "./dom.js";
import { isOfRows, labels } from "./state.js";

const TABLE = 12; // classes of a full table of confusions
const PAIRS = 15; // else the most frequent mistakes
const READ = 50; // rows of a mistake that are shown at once
const VALUES = 20; // of a column that are compared
const MANY = 1000; // values of a column that is not one to compare by

const head = (name) => h("th", { scope: "row" }, said(name));

/** Rows by truth and answer; no answer is none. */
export function confusionOf(answers) {
  const cells = new Map();
  for (const { truth, decided } of answers.labelled()) {
    const key = JSON.stringify([truth, decided]);
    cells.set(key, (cells.get(key) ?? 0) + 1);
  }
  return [...cells].map(([key, rows]) => ({ truth: JSON.parse(key)[0], answer: JSON.parse(key)[1], rows }));
}

/** How many rows have a label and an answer, and how many of these are right. */
export function score(answers) {
  let [n, right, silent] = [0, 0, 0];
  for (const { truth, decided } of answers.labelled()) {
    if (decided === null) silent++;
    else (n++, (right += truth === decided));
  }
  return { n, right, silent };
}

/** Wilson's interval at 95 %. */
export function wilson(right, n) {
  const [z, p] = [1.959964, right / n];
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** Sections of what can be seen row by row; they are drawn again as labels are corrected. */
export function judge(source, answers, classify) {
  const before = score(answers);
  if (!before.n) return [];
  const parts = { confused: h("div.stack"), reading: h("div.stack"), curves: h("div.stack"), moved: h("p", { role: "status", id: "moved" }) };
  const draw = () => {
    parts.confused.replaceChildren(...confusion(answers, (truth, answer) => read(source, answers, truth, answer, parts.reading, draw)));
    parts.curves.replaceChildren(coverage(answers), costCurve(answers));
    parts.moved.replaceChildren(...movement(before, score(answers), answers.corrected.size));
  };
  draw();
  return [section("h-confused", "Truth and answer", parts.confused, parts.moved, parts.reading),
    section("h-coverage", "Coverage and costs", parts.curves, costOfOne(source, answers, classify)), section("h-slices", "By a column", slices(source, answers))];
}

function movement(before, { n, right }, corrected) {
  if (!corrected) return [];
  return [`Accuracy ${percent(before.right / before.n)} → `, h("b", percent(right / n)), `, with ${plural(corrected, "label")} of the file corrected. The download has them in a column of their own.`];
}

function confusion(answers, onread) {
  const cells = confusionOf(answers);
  const names = [...new Set(cells.flatMap(({ truth, answer }) => [truth, answer]).filter((name) => name !== null))].sort();
  const silent = cells.filter(({ answer }) => answer === null).reduce((sum, { rows }) => sum + rows, 0);
  const none = silent ? [soft(`${plural(silent, "row")} without an answer, by your costs, are left out.`)] : [];
  const press = (truth, answer, n) => button(count(n), () => onread(truth, answer),
    { class: "count", "aria-label": `${count(n)}: read ${shown(truth)} answered as ${shown(answer)}` });
  if (names.length > TABLE) {
    const wrong = cells.filter(({ truth, answer }) => answer !== null && truth !== answer).sort((a, b) => b.rows - a.rows);
    const line = ({ truth, answer, rows }) => [said(truth), said(answer), cell(press(truth, answer, rows))];
    return [soft("The most frequent mistakes. Press a number to read its texts."),
      table("Mistakes", ["Truth", "Answer", "Rows"], wrong.slice(0, PAIRS).map(line)), ...none];
  }
  const of = (truth, answer) => cells.find((each) => each.truth === truth && each.answer === answer)?.rows ?? 0;
  const square = (truth, answer) => {
    const n = of(truth, answer);
    const whole = names.reduce((sum, name) => sum + of(truth, name), 0);
    const node = cell(n ? press(truth, answer, n) : "·");
    node.classList.add(truth === answer ? "hit" : "miss");
    node.style.setProperty("--depth", String(n / (whole || 1)));
    return node;
  };
  return [soft("Rows: true label; columns: answer. Press a number to read its texts."),
    table("Confusion table", ["Truth", ...names.map((name) => said(name))],
      names.map((truth) => [head(truth), ...names.map((answer) => square(truth, answer))])), ...none];
}

/** Shows the rows of one cell, which are read from the file again, and lets their labels be corrected. */
async function read(source, answers, truth, answer, box, redraw) {
  const wanted = new Set();
  let total = 0;
  for (const each of answers.labelled()) {
    if (each.truth !== truth || each.decided !== answer) continue;
    if (total++ < READ) wanted.add(each.i);
  }
  const rows = [];
  let i = 0;
  for await (const row of source.all()) {
    if (wanted.has(i)) rows.push(item(source, answers, row, i, answer, redraw));
    if (++i > Math.max(...wanted)) break;
  }
  const title = h("h4", { tabindex: "-1", id: "h-reading" }, said(truth), truth === answer ? " answered rightly" : [" answered as ", said(answer)],
    `: ${plural(total, "row")}`);
  box.replaceChildren(title, total > READ ? soft(`The first ${READ} of them.`) : "", h("ul.plain.mistakes", { "aria-labelledby": "h-reading" }, rows));
  title.focus();
}

function item(source, answers, row, i, answer, redraw) {
  const text = isOfRows() ? source.fields(row).join(" · ") : source.field(row, source.text);
  const original = answers.judged(i).truth;
  const line = h("p.row");
  const set = (label) => {
    if (label === original) answers.corrected.delete(i);
    else answers.corrected.set(i, label);
    draw();
    redraw();
    line.querySelector("button, select").focus();
  };
  const draw = () => {
    const now = answers.judged(i).truth;
    const others = [["", "Another label…"], ...labels().filter((label) => label !== now).map((label) => [label, label])];
    line.replaceChildren(...(now === original
      ? [h("span.soft", `Row ${count(i + 1)}, `, chance(answers.judged(i).p)),
        answer !== original ? button(["It is ", said(answer)], () => set(answer)) : "",
        h("label.away", { for: `label-${i}` }, `Another label for row ${i + 1}`), select(`label-${i}`, others, "", (label) => label && set(label))]
      : [h("span", `Row ${count(i + 1)}: `, h("s", said(original)), " ", h("b", said(now))), button("Undo", () => set(original), { class: "quiet" })]));
    if (!isOfRows()) line.append(h("a", { href: `#try?${new URLSearchParams({ text })}` }, "Why?"));
  };
  draw();
  return h("li", h("p.quote", { dir: "auto" }, shortened(text, 600)), line);
}

/** The texts of some rows, by number, read from the file again. */
export async function textsOf(source, wanted) {
  const found = new Map();
  let i = 0;
  for await (const row of source.all()) {
    if (wanted.has(i)) found.set(i, isOfRows() ? source.fields(row).join(" · ") : source.field(row, source.text));
    if (++i > Math.max(...wanted)) break;
  }
  return found;
}

/** Accuracy by the values of a column of the file. */
function slices(source, answers) {
  const free = source.columns.map((name, i) => [String(i), name]).filter((_, i) => i !== source.text && i !== source.label);
  if (!free.length) return soft("The file has no other column.");
  const box = h("div", { role: "status" });
  const names = [["", "Choose a column…"], ...free];
  const show = async (value) => {
    if (value === "") return box.replaceChildren();
    box.replaceChildren(soft("Reading…"));
    const found = new Map();
    let i = 0;
    for await (const row of source.all()) {
      if (i === answers.rows) break;
      const { truth, decided } = answers.judged(i++);
      if (truth === null || decided === null) continue;
      const name = source.field(row, Number(value)).trim() || "(empty)";
      const slice = found.get(name) ?? { n: 0, right: 0 };
      found.set(name, { n: slice.n + 1, right: slice.right + (truth === decided) });
      if (found.size > MANY) return box.replaceChildren(soft(`The column has more than ${count(MANY)} values.`));
    }
    const ranked = [...found].sort((a, b) => b[1].n - a[1].n);
    const rows = ranked.slice(0, VALUES).map(([name, { n, right }]) =>
      [head(shortened(name, 60)), cell(count(n)), cell(percent(right / n)), cell(wilson(right, n).map(percent).join(" to "))]);
    box.replaceChildren(table("Accuracy by value", ["Value", "Rows", "Accuracy", "95\u202f% interval"], rows),
      ranked.length > VALUES ? soft(`The ${VALUES} most frequent of ${count(ranked.length)} values.`) : "");
  };
  return [h("p.row", h("label", { for: "slice-by" }, "Accuracy by"), select("slice-by", names, "", show)), box];
}
