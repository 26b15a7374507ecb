// Answers of the model in this page, in the form in which the service gives them.

import { Model } from "./model.js";

const OTHERS = "others"; // all other classes together
const MOST_TAKEN = 30; // words that are taken out at most to change an answer
const SLACK = 1e-9; // costs that differ by less are equal
const [WORD, SIGNS, BLANKS] = [0, 1, 2];

export const model = new Model(JSON.parse(document.getElementById("model").textContent));

/** Runs one after the other; answers are here at once, so that none has to wait. */
export const latest = (run) => (input) => run(input).catch(console.error);

const ROUTES = { "v1/classify": classify, "v1/explain": explain, "v1/explain/flip": flip };

export const post = async (path, asked) => ROUTES[path](asked);
export const get = async () => ({ examples: [] });

const named = (numbers) => Object.fromEntries(model.classes.map((label, k) => [label, numbers[k]]));

function classify({ text, prior, costs, abstain }) {
  const read = model.read(text);
  const scores = model.scores(read);
  const { thresholds, start } = model.data;
  if (thresholds) {
    const p = named(model.shares(scores));
    return { labels: model.predict(text), probabilities: p, thresholds: named(thresholds), evidence: read.known };
  }
  if (prior) {
    const total = Object.values(prior).reduce((sum, share) => sum + share, 0);
    model.classes.forEach((label, k) => (scores[k] += Math.log(prior[label] / total) - start["class prior"][k]));
  }
  const p = model.shares(scores);
  const best = p.indexOf(Math.max(...p));
  const answer = { label: model.classes[best], probability: p[best], probabilities: named(p), evidence: read.known };
  return costs ? { ...answer, ...decided(p, costs, abstain) } : answer;
}

/** The answer of least expected cost, or none if that costs less. */
function decided(p, costs, abstain) {
  const price = (truth, answer) => costs.find((each) => each.truth === model.classes[truth]
    && each.answer === model.classes[answer])?.cost ?? (truth === answer ? 0 : 1);
  const risks = p.map((_, answer) => p.reduce((sum, share, truth) => sum + share * price(truth, answer), 0));
  const least = Math.min(...risks);
  const slack = SLACK * Math.max(1, abstain ?? 0, ...costs.map(({ cost }) => cost));
  if (abstain !== null && least > abstain + slack) return { action: null, expected_loss: abstain };
  const cheap = p.map((share, k) => (risks[k] <= least + slack ? share : -1));
  return { action: model.classes[cheap.indexOf(Math.max(...cheap))], expected_loss: least };
}

/** Factors that make log-odds of scores, and what remains where several rivals stand together. */
function against(scores, label, rival) {
  const factors = scores.map(() => 0);
  let remainder = 0;
  if (model.data.thresholds) { /* a label by itself */ } else if (rival !== null) factors[rival] = -1;
  else {
    const others = scores.map((_, k) => k).filter((k) => k !== label);
    const most = Math.max(...others.map((k) => scores[k]));
    const total = others.reduce((sum, k) => sum + Math.exp(scores[k] - most), 0);
    for (const k of others) {
      const q = Math.exp(scores[k] - most) / total;
      factors[k] = -q;
      if (q > 0) remainder += q * Math.log(q);
    }
  }
  factors[label] = 1;
  return [factors, Math.min(remainder, 0)];
}

function sides(scores, { label, rival }) {
  const order = scores.map((_, k) => k).sort((a, b) => scores[b] - scores[a]);
  const own = label ? model.classes.indexOf(label) : order[0];
  if (rival === OTHERS && !model.classes.includes(OTHERS)) return [own, null];
  return [own, rival ? model.classes.indexOf(rival) : order.find((k) => k !== own) ?? null];
}

function explain({ text, label, rival, parts: isByFeature = false }) {
  const read = model.read(text);
  const scores = model.scores(read);
  const [own, other] = sides(scores, { label, rival });
  const [factors, remainder] = against(scores, own, other);
  const odds = (byClass) => byClass.reduce((sum, x, k) => (factors[k] ? sum + x * factors[k] : sum), 0);
  const isPrior = model.data.prior && !read.known;
  const starts = isPrior ? { "class prior": model.data.prior } : model.data.start;
  const begun = (name) => (starts[name] ? odds(starts[name]) : null);
  const values = isPrior ? [] : [...read.values];
  const parts = values.map(([number, x]) => ({ number, log_odds: x * odds(model.row(number)) }));
  const places = stretches(text, read, new Map(parts.map(({ number, log_odds: x }) => [number, x])));
  const known = new Set(places.filter((place) => place.known).map(({ word }) => word));
  const p = model.shares(scores);
  return {
    label: model.classes[own],
    rival: other === null || model.data.thresholds ? OTHERS : model.classes[other],
    probability: p[own],
    log_odds: odds(scores) + remainder,
    prior: begun("class prior"), intercept: begun("intercept"), calibration: begun("calibration"),
    absent: begun("absent words"), remainder,
    words: isByWord() ? ranked(parts, read) : byWord(places),
    parts: isByFeature ? ranked(parts, read) : undefined,
    has_words: isByWord(),
    unknown_words: [...new Set(places.map(({ word }) => word).filter((word) => !known.has(word)))],
    places,
  };
}

/** Whether every term is a word. */
export function isByWord() {
  const { ngrams, characters, unit } = model.data.text;
  return ngrams[1] === 1 && !characters && !unit.startsWith("characters");
}

const strongest = (a, b) => Math.abs(b.log_odds) - Math.abs(a.log_odds);

function ranked(parts, { terms }) {
  const counts = new Map();
  for (const { number } of terms) counts.set(number, (counts.get(number) ?? 0) + 1);
  return parts.map(({ number, log_odds: x }) => ({
    word: model.data.terms[number], count: model.data.presence ? 1 : counts.get(number), log_odds: x,
  })).sort(strongest);
}

function byWord(places) {
  const found = new Map();
  for (const { word, log_odds: x, known } of places) {
    if (!known && !x) continue;
    const own = found.get(word) ?? { word, count: 0, log_odds: 0 };
    found.set(word, { word, count: own.count + 1, log_odds: own.log_odds + x });
  }
  return [...found.values()].sort(strongest);
}

/** The words of a text and the signs between them, each with its share of what its terms add. */
function stretches(text, { terms }, odds) {
  const all = pieces(text);
  const times = new Map();
  for (const { number } of terms) times.set(number, (times.get(number) ?? 0) + 1);
  for (const { number, spans } of terms) {
    const isKnown = number >= 0 && number !== model.data.unknown;
    const each = (odds.get(number) ?? 0) / times.get(number) / spans.length;
    for (const span of spans) share(all, span, each, isKnown);
  }
  return all.filter(({ kind, known, stops, log_odds: x }) => x || (kind === WORD && (known || !stops)))
    .map(({ start, end, word, log_odds: x, known }) => ({ start, end, word, log_odds: x, known }));
}

/** Gives what stands from one place to another to the words there, by their letters; to signs where there is no word. */
function share(all, [start, end], value, isKnown) {
  let low = 0, high = all.length; // the first piece that ends behind the start
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle].end <= start) low = middle + 1;
    else high = middle;
  }
  const there = [];
  for (let i = low; i < all.length && all[i].start < end; i++) {
    there.push([all[i], Math.min(end, all[i].end) - Math.max(start, all[i].start)]);
  }
  const kind = [WORD, SIGNS, BLANKS].find((each) => there.some(([piece]) => piece.kind === each));
  const owners = there.filter(([piece]) => piece.kind === kind);
  const letters = owners.reduce((sum, [, length]) => sum + length, 0);
  for (const [piece, length] of owners) {
    piece.log_odds += (value * length) / letters;
    piece.known ||= isKnown;
  }
}

/** The text cut into words, stop words too, and what stands between them. */
function pieces(text) {
  const { tokeniser } = model;
  const { unit } = tokeniser.plan;
  const points = tokeniser.prepared(text);
  const cut = unit.startsWith("characters") ? visible(points) : tokeniser.tokens(points);
  const given = Array.from(text);
  const out = [];
  let at = 0;
  const piece = (start, end, word, kind, stops) => out.push({ start, end, word, kind, stops, log_odds: 0, known: false });
  const between = (end) => {
    for (const [run] of given.slice(at, end).join("").matchAll(/\S+|\s+/g)) {
      const length = Array.from(run).length;
      piece(at, at + length, run, run.trim() ? SIGNS : BLANKS, false);
      at += length;
    }
  };
  for (const { term, span: [start, end] } of cut) {
    if (start < at) continue; // two words of one ligature: the first has its place
    between(start);
    piece(start, end, term, WORD, tokeniser.stopWords.has(term));
    at = end;
  }
  between(given.length);
  return out;
}

function visible(points) {
  const words = [];
  let own = [];
  for (const point of [...points, null]) {
    if (point && !model.tokeniser.isSpace(point)) own.push(point);
    else if (own.length) {
      const term = own.map(({ c }) => String.fromCodePoint(c)).join("");
      words.push({ term, span: [own[0].start, own.at(-1).end] });
      own = [];
    }
  }
  return words;
}

/** Words without which the answer would be another: the strongest are taken out one by one. */
function flip({ text, label, rival }) {
  const why = explain({ text, label, rival });
  const { thresholds } = model.data;
  const own = model.classes.indexOf(why.label);
  const wins = (scores) => {
    if (thresholds) return model.shares(scores)[own] >= thresholds[own];
    const other = model.classes.indexOf(why.rival);
    return other >= 0 ? scores[own] > scores[other] : scores[own] >= Math.max(...scores);
  };
  const before = wins(model.scores(model.read(text)));
  const given = Array.from(text);
  const candidates = byWord(why.places).filter(({ log_odds: x }) => (before ? x > 0 : x < 0)).slice(0, MOST_TAKEN);
  for (let n = 1; n <= candidates.length; n++) {
    const words = candidates.slice(0, n).map(({ word }) => word);
    const left = [...given];
    for (const { start, end, word } of why.places) if (words.includes(word)) left.fill("", start, end);
    const scores = model.scores(model.read(left.join("")));
    if (wins(scores) === before) continue;
    const p = model.shares(scores);
    const best = thresholds ? own : p.indexOf(Math.max(...p));
    const after = thresholds ? (before ? `not ${why.label}` : why.label) : model.classes[best];
    return { flip: { words, label_after: after, probability_after: p[best], exact: n === 1 } };
  }
  return { flip: null };
}
