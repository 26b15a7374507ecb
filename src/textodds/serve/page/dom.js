// Elements, and numbers as people read them. Text is only ever put in as text.

const SVG = "http://www.w3.org/2000/svg";

/** An element, `name.class`, with attributes and listeners (`onclick: f`) if given, and children. */
export const h = (name, ...rest) => made(name, rest, (tag) => document.createElement(tag));

/** The same in SVG. */
export const s = (name, ...rest) => made(name, rest, (tag) => document.createElementNS(SVG, tag));

function made(name, rest, create) {
  const [tag, ...classes] = name.split(".");
  const node = create(tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  const hasAttributes = rest.length && Object.getPrototypeOf(rest[0] ?? "") === Object.prototype;
  for (const [key, value] of Object.entries(hasAttributes ? rest.shift() : {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...rest.flat(3).filter((child) => child !== null && child !== undefined));
  return node;
}

export const $ = (id) => document.getElementById(id);

/** Control characters are shown, not obeyed. */
export const shown = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");

/** Text that came from outside, isolated so that its direction does not disturb ours. */
export const said = (text, attributes = {}) => h("bdi", attributes, breakable(shown(text)));

/** A name that may be broken after what joins its parts. */
const breakable = (name) => name.split(/(?<=[_./-])(?=[^\s_./-])/).map((part, i) => (i ? [h("wbr"), part] : part));

/** A word as the model has it: spaces at its ends are letters too. */
export const term = (word) => said(word.replace(/^(~?) | $/g, "$1␣"));

export const soft = (...children) => h("p.soft", ...children);

export const button = (name, onclick, attributes = {}) =>
  h("button", { type: "button", onclick, ...attributes }, name);

/** A section under a heading of its own. */
export const section = (id, title, ...children) =>
  h("section.card", { "aria-labelledby": id }, h("h3", { id }, title), ...children);

export const folded = (title, ...children) => h("details", h("summary", title), ...children);

/** A fact under its name, for a `<dl class="facts">`. */
export const fact = (name, value, more = null) =>
  h("div", h("dt", name), h("dd", value), more && h("dd.soft", more));

/** A cell with a number. */
export const cell = (number) => h("td.number", number);

/** A table that scrolls by itself if it is wide; other nodes become cells. */
export const table = (name, heads, rows, kind = "") =>
  h("div.scroll", { tabindex: "0", role: "group", "aria-label": name },
    h("table", { class: `data ${kind}` },
      h("thead", h("tr", heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", rows.map((row) => h("tr", row.map((value) =>
        (value instanceof HTMLTableCellElement ? value : h("td", { dir: "auto" }, value))))))));

/** A `<select>` of [value, name]. */
export function select(id, names, chosen, onchange) {
  return h("select", { id, onchange: (event) => onchange(event.target.value) },
    names.map(([value, name]) => h("option", { value, selected: value === chosen }, shown(name))));
}

/** Words in a row: “a”, “b” and “c”. */
export const listed = (words) => words.map((word, i) =>
  [i === 0 ? "" : i === words.length - 1 ? " and " : ", ", h("q", term(word))]);

/** An error as it should be told: what, and what to do. */
export function told(error) {
  const hint = error.hint ? [" ", h("span.soft", shown(error.hint))] : [];
  return h("p.error", { role: "alert" }, shown(String(error.message)), hint);
}

export function shortened(text, most) {
  const points = Array.from(shown(text.slice(0, 4 * most)).replace(/\s+/g, " ").trim());
  return points.length > most ? `${points.slice(0, most - 1).join("")}…` : points.join("");
}

/** Hands a file to whoever reads the page. */
export function save(parts, name) {
  const url = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const WHOLE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const SOME = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

export const count = (n) => WHOLE.format(n);
export const some = (x) => SOME.format(x);
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const fixed = (x) => (x === null ? "–" : x.toFixed(3));

/** A share, with more digits where they matter. */
export function percent(p) {
  if (p === null) return "–";
  if (p > 0 && p < 0.00005) return "< 0.01\u202f%";
  if (p < 1 && p >= 0.99995) return "> 99.99\u202f%";
  const digits = p === 0 || p === 1 ? 0 : p < 0.01 || p > 0.99 ? 2 : 1;
  return `${(100 * p).toFixed(digits)}\u202f%`;
}

/** A probability: never quite 0 or 1, whatever it was rounded to. */
export const chance = (p) => percent(Math.min(Math.max(p, 1e-9), 1 - 1e-9));

/** A number with its sign. */
export function signed(x) {
  const text = Math.abs(x).toFixed(2);
  return Number(text) === 0 ? text : (x > 0 ? "+" : "\u2212") + text;
}

/** The odds of log-odds, above 1. */
export function odds(logOdds) {
  const factor = Math.exp(Math.abs(logOdds));
  return factor < 1e6 ? some(factor) : "more than a million";
}

export function bytes(n) {
  const unit = Math.min(3, Math.floor(Math.log10(Math.max(n, 1)) / 3));
  return `${some(n / 1000 ** unit)} ${["bytes", "kB", "MB", "GB"][unit]}`;
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** When something was, by the reader's clock. */
export const when = (at) => h("time", { datetime: at }, TIME.format(new Date(at)));
