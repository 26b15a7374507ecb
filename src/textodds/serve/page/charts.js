// Charts that are lists and tables first: whoever cannot see the bars can read the numbers.

import { cell, chance, count, folded, h, percent, s, said, signed, table, term } from "./dom.js";
import { toneOf } from "./state.js";

const share = (x) => `${(100 * Math.max(0, Math.min(1, x || 0))).toFixed(2)}%`;

/** Bars of named values, the first `top` of them; the rest is folded away. */
export class Bars {
  #rows = new Map();
  #list;
  #rest = h("details.rest", { hidden: true });

  constructor(name, { top = 8, text = chance, items = [], whole = 1 } = {}) {
    Object.assign(this, { top, text });
    this.#list = h("ul.bars.plain", { "aria-label": name });
    this.node = h("div", this.#list, this.#rest);
    this.update(items, whole);
  }

  /** Moves the bars: `items` are [name, value], the greatest first, `whole` is the value of a full bar. */
  update(items, whole = 1) {
    const first = items.slice(0, this.top);
    const names = new Set(first.map(([name]) => name));
    for (const [name, row] of this.#rows) {
      if (!names.has(name)) (row.node.remove(), this.#rows.delete(name));
    }
    first.forEach(([name, value], at) => {
      const row = this.#rows.get(name) ?? bar(name);
      this.#rows.set(name, row);
      row.set(this.text(value), value / whole);
      row.node.classList.toggle("best", at === 0 && value > (items[1]?.[1] ?? 0));
      const here = this.#list.children[at];
      if (here !== row.node) this.#list.insertBefore(row.node, here ?? null);
    });
    const rest = items.slice(this.top);
    const sum = rest.reduce((total, [, value]) => total + value, 0);
    const draw = () => {
      const lines = this.#rest.open ? rest : []; // there may be thousands
      this.#rest.replaceChildren(h("summary", `${count(rest.length)} more, together ${this.text(sum)}`),
        h("ul.bars.plain", lines.map(([name, value]) => bar(name).set(this.text(value), value / whole))));
    };
    this.#rest.hidden = !rest.length;
    this.#rest.ontoggle = draw;
    draw();
  }
}

function bar(name) {
  const drawn = h("i", { class: `bar ${toneOf(name) ?? ""}` });
  const number = h("span.number");
  const node = h("li", { "data-label": name }, said(name, { class: "name", title: name }),
    h("span.track", { "aria-hidden": "true" }, drawn), number);
  const set = (text, part) => {
    number.textContent = text;
    drawn.style.inlineSize = share(part);
    return node;
  };
  return { node, set };
}

/** Places on a line from `low` to `high`, in per cent. */
const scale = (low, high) => (x) => (100 * (x - low)) / (high - low || 1);

function piece(kind, left, right = left) {
  const node = h("i", { class: kind });
  node.style.left = `${Math.min(left, right)}%`;
  if (left !== right) node.style.width = `${Math.abs(right - left)}%`;
  return node;
}

const line = (kind, name, pieces, ...number) =>
  h("tr", { class: kind }, h("th", { scope: "row" }, name),
    h("td.drawn", { "aria-hidden": "true" }, h("span.track", pieces)),
    h("td.number", number));

const USUAL = ["for", "against"];
const side = (value, tones) => `bar ${tones[value < 0 ? 1 : 0]}`;

/** A sum as a table of {name, value, kind}: each bar begins where the last has ended, but the `total`. */
export function waterfall(caption, parts, total, tones = USUAL) {
  const ends = [0];
  for (const { value } of parts) ends.push(ends.at(-1) + value);
  const at = scale(Math.min(...ends), Math.max(...ends));
  const row = ({ name, value, kind }, from, to, ...more) =>
    line(kind, name, [piece("zero", at(0)), more, piece(side(value, tones), at(from), at(to))], signed(value));
  return h("table.sums", h("caption", caption),
    h("tbody", parts.map((part, i) => row(part, ends[i], ends[i + 1], piece("link", at(ends[i + 1]))))),
    h("tfoot", row(total, 0, total.value)));
}

/** Words by their log-odds, for a class to the right and its rival to the left; with intervals if known. */
export function diverging(caption, words, tones = USUAL) {
  const ends = words.flatMap(({ log_odds: x, low, high }) => [x, low ?? x, high ?? x]);
  const at = scale(Math.min(0, ...ends), Math.max(0, ...ends));
  const rows = [...words].sort((a, b) => b.log_odds - a.log_odds).map(({ word, log_odds: x, low, high }) => {
    const pieces = [piece("zero", at(0)), piece(side(x, tones), at(0), at(x))];
    if (low === undefined) return line("", term(word), pieces, signed(x));
    const range = h("span.away", `, from ${signed(low)} to ${signed(high)}`);
    return line("", term(word), [...pieces, piece("interval", at(low), at(high))], signed(x), range);
  });
  return h("table.sums", h("caption", caption), h("tbody", rows));
}

const SIDE = 260;
const EDGE = { left: 44, top: 18, right: 18, bottom: 40 };

/** How often answers were right against how sure they were; larger circles are more answers. */
export function calibration(bins, error, what = "answers with probability 0.8, 80 % are correct") {
  const x = (p) => EDGE.left + p * SIDE;
  const y = (p) => EDGE.top + (1 - p) * SIDE;
  const most = Math.max(1, ...bins.map((bin) => bin.rows));
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const text = (left, top, words, more = {}) => s("text", { x: left, y: top, ...more }, words);
  const [middle, end] = [{ "text-anchor": "middle" }, { "text-anchor": "end" }];
  const picture = s("svg.plot", {
    role: "img", "aria-label": `Probability against accuracy; the calibration error is ${percent(error)}`,
    viewBox: `0 0 ${EDGE.left + SIDE + EDGE.right} ${EDGE.top + SIDE + EDGE.bottom}`,
  },
  ticks.map((p) => [s("path.grid", { d: `M${x(0)} ${y(p)}H${x(1)}M${x(p)} ${y(0)}V${y(1)}` }),
    text(x(0) - 7, y(p) + 4, String(100 * p), end), text(x(p), y(0) + 16, String(100 * p), middle)]),
  text(x(0.5), y(0) + 34, "said, %", middle),
  text(11, y(0.5), "right, %", { ...middle, transform: `rotate(-90 11 ${y(0.5)})` }),
  s("path.diagonal", { d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
  text(x(0.03), y(0.94), "too timid"), text(x(0.97), y(0.04), "too sure", end),
  bins.map(({ probability: p, accuracy: right, rows: answers }) =>
    s("circle", { cx: x(p), cy: y(right), r: 3 + 11 * Math.sqrt(answers / most) },
      s("title", `probability ${percent(p)}, accuracy ${percent(right)}, ${count(answers)} answers`))));
  const rows = bins.map((bin) => [count(bin.rows), percent(bin.probability), percent(bin.accuracy)].map(cell));
  return h("figure", picture,
    h("figcaption.soft", `Calibrated: circles on the line. Of ${what}.`),
    folded("As a table", table("Calibration", ["Answers", "Said", "Right"], rows)));
}
