// Another model beside the one that is served: what changed, where in a file, and for whom.

import { Answers } from "./answers.js";
import { get } from "./api.js";
import { button, cell, chance, count, fact, h, percent, plural, said, section, select, shortened, signed, soft, table, term, told } from "./dom.js";
import { textsOf, wilson } from "./judged.js";
import { state } from "./state.js";

const READ = 30; // rows that are shown at once
const VALUES = 20;
const PAIRS = 15;
const head = (name) => h("th", { scope: "row" }, said(name));

/** Offers to answer a file by the other model too; `classify` is how a file is answered. */
export function offerComparison(box, source, answers, classify) {
  const other = state.card.compare;
  const go = button(["Compare with ", said(other)], async () => {
    go.disabled = true;
    const theirs = new Answers(answers.rule, "v1/compare/batch");
    try {
      await classify(source, theirs, undefined, () => {});
      box.replaceChildren(...compared(source, answers, theirs, other));
    } catch (error) {
      go.disabled = false;
      box.append(told(error));
    }
  });
  box.replaceChildren(h("div.card", h("div.row", go)));
}

/** McNemar\'s exact p-value: of as many rows that only one has right, a split as uneven or more. */
export function mcnemar(a, b) {
  const [n, least] = [a + b, Math.min(a, b)];
  if (!n) return 1;
  let [term, sum] = [-n * Math.LN2, 0];
  for (let k = 0; k <= least; k++) {
    sum += Math.exp(term);
    term += Math.log(n - k) - Math.log(k + 1);
  }
  return Math.min(1, 2 * sum);
}

function compared(source, ours, theirs, other) {
  const pairs = new Map(); // rows by both answers, where they differ
  const only = [0, 0]; // right in theirs, in ours, and not in the other
  let [both, labelled, n] = [0, 0, 0];
  for (let i = 0; i < ours.rows; i++) {
    const [a, b] = [theirs.judged(i), ours.judged(i)];
    if (b.likely === null) continue;
    n++;
    if (b.truth !== null) {
      labelled++;
      const [x, y] = [a.decided === b.truth, b.decided === b.truth];
      both += x && y;
      only[0] += x && !y;
      only[1] += y && !x;
    }
    if (a.decided === b.decided) continue;
    const key = JSON.stringify([a.decided, b.decided]);
    pairs.set(key, [...(pairs.get(key) ?? []), i]);
  }
  const changed = [...pairs.values()].reduce((sum, rows) => sum + rows.length, 0);
  const facts = [fact("answers that differ", count(changed), percent(n ? changed / n : 0))];
  if (labelled) {
    facts.push(fact(`accuracy of ${other}`, percent((both + only[0]) / labelled)), fact(`accuracy of ${state.card.name}`, percent((both + only[1]) / labelled)),
      fact("p-value (McNemar)", mcnemar(...only).toPrecision(2), `right in one only: ${count(only[0])} and ${count(only[1])}`));
  }
  const reading = h("div.stack");
  const name = (label) => (label === null ? "no answer" : said(label));
  const lines = [...pairs].sort((a, b) => b[1].length - a[1].length).slice(0, PAIRS).map(([key, rows]) => {
    const [from, to] = JSON.parse(key);
    const words = `${count(rows.length)}: read ${from ?? "no answer"} became ${to ?? "no answer"}`;
    return [name(from), name(to), cell(button(count(rows.length), () => show(source, ours, theirs, rows, other, reading), { class: "count", "aria-label": words }))];
  });
  return [section("h-compared", ["Compared with ", said(other)], h("dl.facts", facts),
    changed ? table("Answers that differ", [said(other), said(state.card.name), "Rows"], lines) : soft("Both models give the same answer to every row."),
    reading, ...forWhom(source, ours, theirs, other))];
}

async function show(source, ours, theirs, rows, other, box) {
  const texts = await textsOf(source, new Set(rows.slice(0, READ)));
  const item = (i) => {
    const [a, b] = [theirs.judged(i), ours.judged(i)];
    return h("li", h("p.quote", { dir: "auto" }, shortened(texts.get(i), 600)),
      soft(`Row ${count(i + 1)}: `, said(a.likely), ` ${chance(a.p)} → `, said(b.likely), ` ${chance(b.p)}`, b.truth === null ? "" : [", labelled ", h("b", said(b.truth))]));
  };
  box.replaceChildren(rows.length > READ ? soft(`The first ${READ} of ${plural(rows.length, "row")}.`) : "", h("ul.plain.mistakes", { "aria-label": "Rows" }, rows.slice(0, READ).map(item)));
}

/** How often answers differ, and how many are right, by the values of a column. */
function forWhom(source, ours, theirs, other) {
  const free = source.columns.map((name, i) => [String(i), name]).filter((_, i) => i !== source.text);
  if (!free.length) return [];
  const box = h("div", { role: "status" });
  const by = async (value) => {
    if (value === "") return box.replaceChildren();
    const found = new Map();
    let i = 0;
    for await (const row of source.all()) {
      if (i === ours.rows) break;
      const [a, b] = [theirs.judged(i), ours.judged(i)];
      i++;
      if (b.likely === null) continue;
      const name = source.field(row, Number(value)).trim() || "(empty)";
      const slice = found.get(name) ?? { n: 0, changed: 0, labelled: 0, right: [0, 0] };
      slice.n++;
      slice.changed += a.decided !== b.decided;
      if (b.truth !== null) (slice.labelled++, (slice.right = [slice.right[0] + (a.decided === b.truth), slice.right[1] + (b.decided === b.truth)]));
      found.set(name, slice);
      if (found.size > 1000) return box.replaceChildren(soft("The column has more than 1,000 values."));
    }
    const rate = (right, n) => (n ? `${percent(right / n)} (${wilson(right, n).map(percent).join(" to ")})` : "–");
    box.replaceChildren(table("Differences by value", ["Value", "Rows", "Differ", other, state.card.name],
      [...found].sort((x, y) => y[1].n - x[1].n).slice(0, VALUES).map(([name, { n, changed, labelled, right }]) =>
        [head(shortened(name, 60)), cell(count(n)), cell(percent(changed / n)), ...right.map((k) => cell(rate(k, labelled)))])));
  };
  return [h("p.row", h("label", { for: "differ-by" }, "Differences by"), select("differ-by", [["", "Choose a column…"], ...free], "", by)), box];
}

/** What differs between the models themselves, for the view of the model. */
export async function differences() {
  const found = await get("v1/compare");
  const { other, between, moved, shifted, features, n_gained: gained, n_lost: lost, recipe } = found;
  const words = moved.length ? table("Words that moved", ["Word", other, state.card.name], moved.map(([word, a, b]) => [term(word), cell(signed(a)), cell(signed(b))])) : "";
  const columns = shifted.length ? table("Columns that moved", ["Column", "Most in", "Distance"], shifted.map(([name, label, x]) => [said(name), said(label), cell(x.toFixed(3))])) : "";
  const written = (value) => (value === null ? "–" : typeof value === "string" ? value : JSON.stringify(value));
  return section("h-differences", ["Compared with ", said(other)],
    soft(`${count(features[0])} → ${plural(features[1], state.card.columns ? "column" : "feature")}: ${count(gained)} gained, ${count(lost)} lost.`),
    table("Classes compared", ["Class", `Documents in ${other}`, `in ${state.card.name}`], Object.entries(found.classes).slice(0, 50).map(([name, { documents }]) =>
      [head(name), ...documents.map((n) => cell(n === null ? "–" : count(n)))])),
    words ? soft("Log-odds of the words that moved most, for ", said(between[0]), " against ", said(between[1]), ".") : "", words, columns,
    recipe.length ? table("Recipe", ["Choice", other, state.card.name], recipe.map(([name, a, b]) => [name, shortened(written(a), 80), shortened(written(b), 80)])) : soft("The recipe is the same."));
}
