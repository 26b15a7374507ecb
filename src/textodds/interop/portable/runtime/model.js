// A model as plain data, and its answers: texts to terms, terms to scores, scores to probabilities.
// Places are counted in code points of the text as it was given.

const CR = 1, LF = 2, NEWLINE = 3, EXTEND = 4, JOINER = 5; // classes of characters that word boundaries name
const SINGLE = 0, BLANK = 7, FIRST_SIGN = 8, LAST_SIGN = 10, BREAK = 12, REWIND = 13; // states of their rules
const CLASS = 31, PICTURE = 32, ALPHANUMERIC = 64, CASED = 128, IGNORED = 256, WORD = 512, SPACE = 1024;
const SYLLABLE = 0xac00, LEAD = 0x1100, VOWEL = 0x1161, TAIL = 0x11a7, SYLLABLES = 11172; // Hangul follows arithmetic
const SIGMA = 0x3a3, SMALL_SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2;

/** Values by character, 0 where there is none, of gap, length and value one after the other. */
function ranges(flat) {
  const firsts = [], ends = [], values = [];
  for (let i = 0, at = 0; i < flat.length; i += 3) {
    firsts.push(at + flat[i]);
    ends.push((at += flat[i] + flat[i + 1]));
    values.push(flat[i + 2]);
  }
  return (c) => {
    let low = 0, high = firsts.length; // the first range that begins behind c
    while (low < high) {
      const middle = (low + high) >> 1;
      if (firsts[middle] <= c) low = middle + 1;
      else high = middle;
    }
    return low && c < ends[low - 1] ? values[low - 1] : 0;
  };
}

/** Characters by the character that they stand for: gap, how many, and each less the character. */
function mappings(flat, known = new Map()) {
  const out = new Map(known);
  for (let i = 0, at = 0; i < flat.length; i += 2 + flat[i + 1]) {
    at += flat[i];
    const own = at;
    out.set(own, flat.slice(i + 2, i + 2 + flat[i + 1]).map((each) => own + each));
  }
  return out;
}

/** Numbers of base64, the lowest byte first. */
function numbers(packed, bytes = 8) {
  const raw = Uint8Array.from(atob(packed ?? ""), (c) => c.charCodeAt(0));
  const view = new DataView(raw.buffer);
  const read = bytes === 8 ? (i) => view.getFloat64(8 * i, true) : (i) => view.getUint32(4 * i, true);
  return Array.from({ length: raw.length / bytes }, (_, i) => read(i));
}

const written = (points) => points.map((point) => String.fromCodePoint(point.c)).join("");
const place = (points) => [points[0].start, points.at(-1).end];

/** Neighbours for which `of` says the same, as [what it says, them]. */
function* groups(points, of) {
  for (let start = 0, at = 1; start < points.length; at++) {
    if (at < points.length && of(points[at]) === of(points[start])) continue;
    yield [of(points[start]), points.slice(start, at)];
    start = at;
  }
}

/** From a text to its terms. A character is { c, start, end }: itself, and where it stands in the text. */
export class Tokeniser {
  constructor(plan, tables, rules) {
    Object.assign(this, { plan, rules, stopWords: new Set(plan.stop_words) });
    this.kind = ranges(tables.kinds);
    this.combining = ranges(tables.combining);
    this.lower = mappings(tables.lower);
    this.canonical = mappings(tables.canonical);
    this.compatible = mappings(tables.compatible, this.canonical);
    this.composed = new Map();
    for (let i = 0; i < tables.composed.length; i += 3) {
      this.composed.set(tables.composed[i] * 0x200000 + tables.composed[i + 1], tables.composed[i + 2]);
    }
  }

  /** The terms of a text as { term, spans, beside }: of an n-gram the place of each of its words. */
  terms(text) {
    const { plan } = this;
    const points = this.prepared(text);
    const letters = (found) => ({ term: found.term, spans: [found.span], beside: false });
    if (plan.unit === "characters") return [...runs(this.folded(points), ...plan.ngrams)].map(letters);
    if (plan.unit === "characters-in-words") return [...this.inWords(points, ...plan.ngrams)].map(letters);
    const tokens = this.tokens(points).filter(({ term }) => !this.stopWords.has(term));
    const out = [];
    for (let n = plan.ngrams[0]; n <= plan.ngrams[1]; n++) {
      for (let i = 0; i + n <= tokens.length; i++) {
        const own = tokens.slice(i, i + n);
        out.push({ term: own.map(({ term }) => term).join(" "), spans: own.map(({ span }) => span), beside: false });
      }
    }
    if (!plan.characters) return out;
    const beside = Array.from(this.inWords(points, ...plan.characters), ({ term, span }) =>
      ({ term: `~${term}`, spans: [span], beside: true }));
    return out.concat(beside);
  }

  /** The words of prepared characters, or the runs that stand for words. */
  tokens(points) {
    const found = this.plan.unit === "words" ? this.words(points) : this.runs(points);
    return Array.from(found, (own) => ({ term: written(own), span: place(own) }));
  }

  prepared(text) {
    const { form, lower, accents } = this.plan;
    let points = Array.from(text.toWellFormed?.() ?? text, (each, start) => ({ c: each.codePointAt(0), start, end: start + 1 }));
    if (form) points = this.together(this.apart(points, form === "NFKC" ? this.compatible : this.canonical));
    if (lower) points = points.flatMap((point, at) => this.small(points, at).map((c) => ({ ...point, c })));
    if (accents) {
      points = this.apart(points, this.compatible)
        .filter(({ c }) => (accents === "ascii" ? c < 128 : !this.combining(c)));
    }
    return points;
  }

  /** Characters decomposed, marks in their order. */
  apart(points, table) {
    const out = points.flatMap((point) => {
      const at = point.c - SYLLABLE;
      if (at < 0 || at >= SYLLABLES) return (table.get(point.c) ?? [point.c]).map((c) => ({ ...point, c }));
      const parts = [LEAD + Math.floor(at / 588), VOWEL + Math.floor((at % 588) / 28), TAIL + (at % 28)];
      return parts.slice(0, at % 28 ? 3 : 2).map((c) => ({ ...point, c }));
    });
    for (let start = 0, at = 0; at <= out.length; at++) {
      if (at < out.length && this.combining(out[at].c)) continue;
      if (at - start > 1) {
        out.splice(start, at - start, ...out.slice(start, at).sort((a, b) => this.combining(a.c) - this.combining(b.c)));
      }
      start = at + 1;
    }
    return out;
  }

  /** Characters composed: each with the last letter, unless another mark stands between. */
  together(points) {
    const out = [];
    let [start, last] = [-1, 0]; // where that letter stands, and the class of what was kept behind it
    for (const point of points) {
      const own = this.combining(point.c);
      if (start >= 0 && (last < own || start === out.length - 1)) {
        const whole = this.pair(out[start].c, point.c);
        if (whole !== undefined) {
          const { start: from, end: to } = out[start];
          out[start] = { c: whole, start: Math.min(from, point.start), end: Math.max(to, point.end) };
          continue;
        }
      }
      if (own === 0) start = out.length;
      last = own;
      out.push(point);
    }
    return out;
  }

  /** What two characters compose to, if to anything. */
  pair(first, second) {
    if (first >= LEAD && first < LEAD + 19 && second >= VOWEL && second < VOWEL + 21) {
      return SYLLABLE + ((first - LEAD) * 21 + second - VOWEL) * 28;
    }
    const at = first - SYLLABLE;
    if (at >= 0 && at < SYLLABLES && at % 28 === 0 && second > TAIL && second < TAIL + 28) return first + second - TAIL;
    return this.composed.get(first * 0x200000 + second);
  }

  /** The lower case of a character; a sigma is final behind a letter and before none. */
  small(points, at) {
    const { c } = points[at];
    if (c !== SIGMA) return this.lower.get(c) ?? [c];
    return [this.meetsLetter(points, at, -1) && !this.meetsLetter(points, at, 1) ? FINAL_SIGMA : SMALL_SIGMA];
  }

  /** Whether the next character that is not passed over has a case. */
  meetsLetter(points, at, step) {
    do at += step; while (points[at] && this.kind(points[at].c) & IGNORED);
    return Boolean(points[at] && this.kind(points[at].c) & CASED);
  }

  /** Segments after Unicode Standard Annex #29 that hold a letter or digit. */
  * words(points) {
    const kinds = points.map(({ c }) => this.kind(c));
    for (let start = 0, end; start < points.length; start = end) {
      end = this.segmentEnd(kinds, start);
      if (kinds.slice(start, end).some((kind) => kind & ALPHANUMERIC)) yield points.slice(start, end);
    }
  }

  /** Where the segment that begins at `start` ends. */
  segmentEnd(kinds, start) {
    const first = kinds[start] & CLASS;
    if (first === CR || first === LF || first === NEWLINE) {
      return start + (first === CR && (kinds[start + 1] & CLASS) === LF ? 2 : 1);
    }
    let [state, sign, hasMarks] = [this.rules[BREAK][first], start, false];
    for (let at = start + 1; at < kinds.length; at++) {
      const own = kinds[at] & CLASS;
      if (own === EXTEND || own === JOINER) {
        hasMarks = true;
        continue;
      }
      if (kinds[at] & PICTURE && (kinds[at - 1] & CLASS) === JOINER) {
        state = SINGLE;
        continue;
      }
      const after = this.rules[state][own];
      if (after === BREAK || (state === BLANK && hasMarks)) return at;
      if (after === REWIND) return sign;
      if (after >= FIRST_SIGN && after <= LAST_SIGN) sign = at;
      state = after;
    }
    return state >= FIRST_SIGN && state <= LAST_SIGN ? sign : kinds.length;
  }

  /** Runs of so many characters at least of a set; the set may have to be all of a run of word characters. */
  * runs(points) {
    const { set, least, whole } = this.plan;
    const isWord = ({ c }) => Boolean(this.kind(c) & WORD);
    const belongs = set === "word" ? isWord : set === "visible" ? ({ c }) => !(this.kind(c) & SPACE)
      : ({ c }) => set.includes(String.fromCodePoint(c));
    for (const [isRun, run] of groups(points, whole ? isWord : belongs)) {
      if (isRun && run.length >= least && (!whole || run.every(belongs))) yield run;
    }
  }

  isSpace = ({ c }) => Boolean(this.kind(c) & SPACE);

  /** The text, white space of several characters made one space. */
  folded(points) {
    return Array.from(groups(points, this.isSpace), ([isSpace, run]) =>
      (isSpace && run.length > 1 ? [{ c: 32, start: run[0].start, end: run.at(-1).end }] : run)).flat();
  }

  /** Runs of characters of each word between white space, a space on either side of it. */
  * inWords(points, first, last) {
    for (const [isSpace, run] of groups(points, this.isSpace)) {
      if (isSpace) continue;
      const edge = (point) => ({ ...point, c: 32 }); // stands where its neighbour stands
      const word = [edge(run[0]), ...run, edge(run.at(-1))];
      yield* runs(word, Math.min(first, word.length), Math.min(last, word.length));
    }
  }
}

/** Runs of so many characters. */
function* runs(points, first, last) {
  for (let n = first; n <= last; n++) {
    for (let i = 0; i + n <= points.length; i++) {
      const own = points.slice(i, i + n);
      yield { term: written(own), span: place(own) };
    }
  }
}

/** A classifier of texts. */
export class Model {
  constructor(data) {
    Object.assign(this, { data, classes: data.classes });
    this.number = new Map(data.terms.map((term, i) => [term, i]));
    this.tokeniser = new Tokeniser(data.text, data.characters, data.rules);
    this.scale = data.scale && numbers(data.scale);
    const { weights } = data;
    if (weights.dense !== undefined) this.dense = numbers(weights.dense);
    else {
      Object.assign(this, { base: numbers(weights.base), cells: numbers(weights.cells) });
      Object.assign(this, { starts: numbers(weights.starts, 4), classOf: numbers(weights.class_of, 4) });
    }
  }

  /** The weights of a term, one a class. */
  row(number) {
    const K = this.classes.length;
    if (this.dense) return this.dense.slice(number * K, (number + 1) * K);
    const { default: usual, slope } = this.data.weights;
    const row = usual.map((weight, k) => weight + (slope.length ? slope[k] * this.base[number] : 0));
    for (let i = this.starts[number]; i < this.starts[number + 1]; i++) row[this.classOf[i]] += this.cells[i];
    return row;
  }

  /** What a text holds: its terms, each with its number (-1 if unknown), and the value of each number. */
  read(text) {
    const { unknown, blocks, norm } = this.data;
    const terms = this.tokeniser.terms(text).map((each) => ({ ...each, number: this.number.get(each.term) ?? unknown }));
    const values = new Map();
    for (const block of blocks === 2 ? [false, true] : [null]) {
      const counts = new Map();
      for (const { number, beside } of terms) {
        if (number >= 0 && (block === null || beside === block)) counts.set(number, (counts.get(number) ?? 0) + 1);
      }
      const own = Array.from(counts, ([number, n]) => [number, this.worth(number, n)]);
      const total = own.reduce((sum, [, x]) => sum + (norm === "l1" ? Math.abs(x) : x * x), 0);
      const length = norm === "l1" ? total : Math.sqrt(total * blocks);
      for (const [number, x] of own) values.set(number, norm && total > 0 ? x / length : x);
    }
    const known = terms.filter(({ number }) => number >= 0 && number !== unknown).length;
    return { terms, values, known };
  }

  /** What n occurrences of a term are worth. */
  worth(number, n) {
    const { presence, frequency } = this.data;
    let x = presence || frequency === "binary" ? 1 : n;
    if (frequency === "log" && n > 1) x = 1 + Math.log(n);
    return this.scale ? x * this.scale[number] : x;
  }

  /** Joint log-probabilities up to a constant, or of several labels the log-odds of each. */
  scores({ values, known }) {
    if (this.data.prior && !known) return [...this.data.prior];
    const scores = [...this.data.bias];
    for (const [number, x] of values) this.row(number).forEach((weight, k) => (scores[k] += x * weight));
    return scores;
  }

  /** The probability of each class, or of several labels of each by itself. */
  probabilities(text) {
    return this.shares(this.scores(this.read(text)));
  }

  shares(scores) {
    if (this.data.thresholds) {
      return scores.map((z) => (z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z))));
    }
    const most = Math.max(...scores);
    const shares = scores.map((z) => Math.exp(z - most));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  }

  /** The label of a text, or of several labels a list of those given, the most probable first. */
  predict(text) {
    const p = this.probabilities(text);
    if (!this.data.thresholds) return this.classes[p.indexOf(Math.max(...p))];
    const given = p.map((each, k) => [each, k]).filter(([each, k]) => each >= this.data.thresholds[k]);
    return given.sort((a, b) => b[0] - a[0]).map(([, k]) => this.classes[k]);
  }
}
