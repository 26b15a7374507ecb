// Reads a model file of textodds (.textodds, formats 1 to 3, linear models of texts with one label) and predicts.
//
//     node read_model.mjs mail.textodds < texts.txt          one text a line
//     node read_model.mjs mail.textodds --json < texts.jsonl one JSON string a line, for texts with line breaks
//
// prints {"label": …, "probabilities": {…}} for each. It depends on nothing but node, and shows what
// docs/model-file.md describes. What it cannot read it refuses. It does not compare checksums.

import { readFileSync } from "node:fs";
import { endianness } from "node:os";

class Refused extends Error {}

const must = (condition, message) => {
  if (!condition) throw new Refused(message);
};

// ---- The container: safetensors ----

const whole64 = (bytes) => {
  const halves = new Uint32Array(bytes);
  return Float64Array.from({ length: halves.length / 2 }, (_, i) => halves[2 * i] + halves[2 * i + 1] * 2 ** 32);
};
const READ = {
  F64: (bytes) => new Float64Array(bytes),
  U64: whole64, // exact up to 2^53, far more than an index in a file
  U32: (bytes) => new Uint32Array(bytes),
  U8: (bytes) => new Uint8Array(bytes),
};
const SIZE = { F64: 8, U64: 8, U32: 4, U8: 1 };

/** The header of a model, and a function that gives its tensors by name, checked. */
function container(path) {
  must(endianness() === "LE", "this reader needs a machine whose lowest byte comes first");
  const file = readFileSync(path);
  const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
  must(buffer.byteLength >= 8, "not a model file: it is shorter than 8 bytes");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  must(8 + length <= buffer.byteLength, "not a model file: its header ends behind the file");
  const tensors = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(buffer.slice(8, 8 + length)));
  must(typeof tensors.__metadata__?.textodds === "string", "a safetensors file, but not a model of textodds");
  const bytesOf = (name) => {
    const [begin, end] = tensors[name].data_offsets;
    must(0 <= begin && begin <= end && 8 + length + end <= buffer.byteLength, `tensor ${name} ends behind the file`);
    return buffer.slice(8 + length + begin, 8 + length + end);
  };
  const tensor = (name, dtype, expected) => {
    must(Object.hasOwn(tensors, name), `tensor ${name} is missing`);
    must(tensors[name].dtype === dtype, `tensor ${name} is ${tensors[name].dtype}, not ${dtype}`);
    const bytes = bytesOf(name);
    must(bytes.byteLength % SIZE[dtype] === 0, `tensor ${name} has a part of a number`);
    const out = READ[dtype](bytes);
    must(expected === undefined || out.length === expected, `tensor ${name} has ${out.length} numbers, not ${expected}`);
    return out;
  };
  return { header: JSON.parse(tensors.__metadata__.textodds), tensor, bytesOf, has: (name) => Object.hasOwn(tensors, name) };
}

// ---- The vocabulary: 16 bytes a term ----

const LONG = 0xff, INLINE = 15;

/** The number of each term: its place in the file. */
function vocabulary({ tensor, bytesOf }) {
  must(tensor("vocabulary.keys", "U64").length % 2 === 0, "a key of the vocabulary is not whole");
  const keys = bytesOf("vocabulary.keys"), view = new DataView(keys), arena = tensor("vocabulary.arena", "U8");
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const numbers = new Map();
  for (let at = 0; at < keys.byteLength; at += 16) {
    const tag = view.getUint8(at + 15);
    let bytes = new Uint8Array(keys, at, Math.min(tag, INLINE));
    if (tag === LONG) {
      const start = Number(view.getBigUint64(at, true)), size = view.getUint32(at + 8, true);
      must(start + size <= arena.length, "a word ends behind the arena");
      bytes = arena.subarray(start, start + size);
    } else must(tag >= 1 && tag <= INLINE, "the terms are hash buckets, which this reader does not compute");
    numbers.set(utf8.decode(bytes), at / 16);
  }
  return numbers;
}

// ---- From a text to its terms ----

// White space as Python's str.split has it, which is not JavaScript's \s.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const betweenSpace = new RegExp(`(?:(?!${SPACE})[^])+`, "gu");
const ofWordCharacters = /[\p{L}\p{N}_]{2,}/gu; // the unit `sklearn`

/** Words after Unicode Standard Annex #29, as one regular expression; but an emoji is not joined to a letter by U+200D. */
const words = (() => {
  const marks = "[\\p{Grapheme_Extend}\\p{Emoji_Modifier}\\p{Mc}\\u200d\\u00ad\\u061c\\u180e\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2064\\ufeff]*";
  const single = "\\p{Ideographic}\\p{sc=Hiragana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\p{Grapheme_Extend}\\p{Mc}";
  const kana = `(?:[\\p{sc=Katakana}\\u3031-\\u3035\\u309b\\u309c\\u30a0\\u30fc\\uff70]${marks})`;
  const hebrew = `(?:(?![^\\p{L}])\\p{sc=Hebrew}${marks})`;
  const asLetters = "\\u00b8\\u02c2-\\u02c5\\u02d2-\\u02d7\\u02de\\u02df\\u02e5-\\u02eb\\u02ed\\u02ef-\\u02ff\\u055a-\\u055c\\u055e"
    + "\\u058a\\u05f3\\ua708-\\ua716\\ua720\\ua721\\ua789\\ua78a\\uab5b";
  const letter = `(?:(?!${kana}|[${single}])[\\p{Alphabetic}${asLetters}]${marks})`;
  const digit = `(?:[\\p{Decimal_Number}\\u066b]${marks})`;
  const joiner = `(?:[\\p{Pc}\\u202f]${marks})`;
  const both = ".\\u2018\\u2019\\u2024\\ufe52\\uff07\\uff0e'"; // join letters, and digits too
  const inLetters = `[:\\u00b7\\u0387\\u055f\\u05f4\\u2027\\ufe13\\ufe55\\uff1a${both}]${marks}`;
  const inDigits = `[,;\\u037e\\u0589\\u060c\\u060d\\u066c\\u07f8\\u2044\\ufe10\\ufe14\\ufe50\\ufe54\\uff0c\\uff1b${both}]${marks}`;
  const quoted = `${hebrew}"${marks}(?=${hebrew})`, closed = `(?<=${hebrew})'${marks}`;
  const run = `(?:(?:${quoted}|${letter}(?:${inLetters}(?=${letter}))?|${digit}(?:${inDigits}(?=${digit}))?)+|${kana}+)`;
  const blank = "[\\x20\\u1680\\u2000-\\u2006\\u2008-\\u200a\\u205f\\u3000]", lineEnd = "[\\n-\\r\\x85\\u2028\\u2029]";
  const other = `\\p{RI}${marks}(?:\\p{RI}${marks})?|${blank}+${marks}|${lineEnd}|[^]${marks}`;
  return new RegExp(`${joiner}*${run}(?:${joiner}+${run})*(?:${joiner}+|${closed})?|${other}`, "gu");
})();
const isWord = (run) => /[\p{Alphabetic}\p{N}]/u.test(run); // what is not is dropped
const UNITS = { words, whitespace: betweenSpace, sklearn: ofWordCharacters };

/** Whether a character combines: of two marks out of order, a normal form changes the order. */
const combines = (c) => c === "\u0345" || `\u0345${c}`.normalize("NFD") !== `\u0345${c}`;

/** A text in the normal form, the case and the accents of the settings, in this order. */
function prepared(text, settings) {
  let out = text.toWellFormed?.() ?? text;
  if (settings.normal_form) out = out.normalize(settings.normal_form);
  if (settings.lower) out = out.toLowerCase();
  if (!settings.strip_accents) return out;
  const apart = Array.from(out.normalize("NFKD"));
  return apart.filter((c) => (settings.strip_accents === "ascii" ? c < "\x80" : !combines(c))).join("");
}

/** Runs of `first` to `last` neighbours. */
function* runs(units, [first, last], between) {
  for (let n = first; n <= last; n++) {
    for (let i = 0; i + n <= units.length; i++) yield units.slice(i, i + n).join(between);
  }
}

/** Runs of the characters of each word between white space, a space on either side of it. */
function* withinWords(text, [first, last]) {
  for (const [word] of text.matchAll(betweenSpace)) {
    const characters = [" ", ...word, " "];
    yield* runs(characters, [Math.min(first, characters.length), Math.min(last, characters.length)], "");
  }
}

/** The terms of a text, and those of the second block, characters beside words, where there is one. */
function terms(text, settings) {
  const own = prepared(text, settings), { unit, ngrams, characters } = settings;
  if (unit === "characters-in-words") return [[...withinWords(own, ngrams)], []];
  if (unit === "characters") {
    const folded = own.replace(new RegExp(`${SPACE}{2,}`, "gu"), " ");
    return [[...runs(Array.from(folded), ngrams, "")], []];
  }
  const all = own.match(UNITS[unit]) ?? [], kept = unit === "words" ? all.filter(isWord) : all;
  const found = kept.filter((word) => !settings.stop_words.includes(word));
  const beside = characters ? Array.from(withinWords(own, characters), (run) => `~${run}`) : [];
  return [[...runs(found, ngrams, " ")], beside];
}

// ---- From terms to probabilities ----

const IMPOSSIBLE = -(2 ** 21); // where a default is below it, exceptions stand in its place

/** A function that gives the weights of a term by its number, one a class. */
function weights({ tensor, has }, V, K) {
  const usual = tensor("linear.default", "F64", K);
  if (has("linear.dense")) {
    const dense = tensor("linear.dense", "F64", V * K);
    return (v) => Array.from(usual, (weight, k) => weight + dense[v * K + k]);
  }
  const slope = tensor("linear.slope", "F64"), base = tensor("linear.base", "F64", slope.length ? V : 0);
  const starts = tensor("linear.starts", "U64", V + 1), cells = tensor("linear.exceptions", "F64", starts[V]);
  const classOf = tensor("linear.class_of", "U32", cells.length);
  const replaces = usual.some((weight) => weight < IMPOSSIBLE);
  return (v) => {
    const row = Array.from(usual);
    for (let i = starts[v]; i < starts[v + 1]; i++) row[classOf[i]] = cells[i] + (replaces ? 0 : usual[classOf[i]]);
    return slope.length ? row.map((weight, k) => weight + slope[k] * base[v]) : row;
  };
}

/** What a file says that this reader does not do is an error, never a wrong answer. */
function mustBeReadable(header) {
  must(header.format <= 3, `format ${header.format}: compact files, and later formats, are not read here`);
  must((header.form ?? "linear") === "linear", `a ${header.form} model: this reader reads linear models of texts`);
  const { unit, hash_bits, fields } = header.recipe.settings;
  must(!hash_bits, "terms are hashed (hash_bits), which this reader does not compute");
  must(!header.recipe.weighting?.mean, "rows that are means, of models from fastText, are not read here");
  must(!fields?.length, "texts of several fields are not read here");
  must(unit in UNITS || unit.startsWith("characters"), `texts cannot be cut by ${unit} here, only by words, white space or characters`);
}

export class Model {
  constructor(path) {
    const file = container(path), { header, tensor } = file;
    mustBeReadable(header);
    this.classes = header.classes;
    const K = this.classes.length, { recipe, calibration } = header;
    this.settings = recipe.settings;
    this.weighting = recipe.weighting ?? { frequency: "count" };
    this.presence = header.presence;
    this.numbers = vocabulary(file);
    this.scale = recipe.weighting ? tensor("vocabulary.scale", "F64", this.numbers.size) : null;
    this.unknown = recipe.unknown === "ignore" || this.scale ? undefined : this.numbers.get("<UNK>");
    const row = weights(file, this.numbers.size, K);
    const [slope] = calibration?.slopes ?? [1], each = (values) => (k) => values.length === 1 ? values[0] : values[k];
    const bias = each(calibration?.bias ?? [0]), rate = each(calibration?.rate ?? [0]);
    const prior = tensor("linear.log_prior", "F64", K), intercept = tensor("linear.intercept", "F64", K);
    this.start = Array.from(prior, (own, k) => own + slope * intercept[k] + bias(k));
    const isPenalised = ["softmax", "nb-softmax"].includes(recipe.learner.learner);
    this.unread = isPenalised && header.is_posterior && recipe.calibrate !== false ? Array.from(prior) : this.start;
    this.row = (v) => row(v).map((weight, k) => slope * weight + rate(k));
  }

  /** The value of each known term of a text, by its number. */
  values(text) {
    const blocks = terms(text, this.settings), { unit } = this.weighting, values = new Map();
    for (const block of blocks) {
      const counts = new Map();
      for (const term of block) {
        const v = this.numbers.get(term) ?? this.unknown;
        if (v !== undefined) counts.set(v, (counts.get(v) ?? 0) + 1);
      }
      const own = Array.from(counts, ([v, n]) => [v, this.worth(v, n)]);
      const squares = own.reduce((sum, [, x]) => sum + x * x, 0) * (this.settings.characters ? 2 : 1);
      const length = unit ? Math.sqrt(squares) : 1;
      for (const [v, x] of own) values.set(v, this.presence ? 1 : (values.get(v) ?? 0) + x / (length || 1));
    }
    return values;
  }

  /** What n occurrences of a term are worth. */
  worth(v, n) {
    const { frequency } = this.weighting;
    const x = this.presence || frequency === "binary" ? 1 : frequency === "log" ? 1 + Math.log(n) : n;
    return this.scale ? x * this.scale[v] : x;
  }

  /** The probability of each class, in the order of `classes`. */
  probabilities(text) {
    const values = this.values(text), scores = [...(values.size ? this.start : this.unread)];
    for (const [v, x] of values) this.row(v).forEach((weight, k) => (scores[k] += x * weight));
    const most = Math.max(...scores), shares = scores.map((score) => Math.exp(score - most));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  }

  /** Label and probabilities as JSON; written by hand, as an object would put the class "7" before "a". */
  answer(text) {
    const p = this.probabilities(text), label = this.classes[p.indexOf(Math.max(...p))];
    const pairs = this.classes.map((name, k) => `${JSON.stringify(name)}: ${p[k]}`);
    return `{"label": ${JSON.stringify(label)}, "probabilities": {${pairs.join(", ")}}}`;
  }
}

try {
  const [path, option] = process.argv.slice(2);
  must(path && [undefined, "--json"].includes(option), "usage: node read_model.mjs MODEL.textodds [--json] < texts");
  const model = new Model(path);
  const lines = readFileSync(0, "utf8").replace(/\n$/, "").split("\n");
  const texts = option ? lines.map((line) => JSON.parse(line)) : lines;
  console.log(texts.map((text) => model.answer(text)).join("\n"));
} catch (error) {
  if (!(error instanceof Refused || error instanceof SyntaxError || error.code)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}
