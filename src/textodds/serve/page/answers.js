// The answers to all rows of a file, in little memory: numbers of labels and a probability each.

import { count, shortened } from "./dom.js";

const FEW = 10;
const SEPARATOR = "|"; // between labels in what is downloaded
const NONE = -1; // a row that could not be answered, or has no label
const SILENT = -2; // a row that costs leave without an answer

export class Answers {
  counts = new Map();
  rows = 0;
  answered = 0;
  sum = 0; // of probabilities
  blind = 0; // rows without a known word
  silent = 0; // rows without an answer
  errors = 0;
  firstErrors = [];
  first = [];
  doubtful = []; // the least sure
  rule; // prior, costs and price of not answering that they were asked with; null if none were set
  corrected = new Map(); // labels by the number of a row, from 0, that were put in the place of the file's
  names = [];
  #numbers = new Map(); // of names
  #likely = new Int32Array(1024);
  #decided = new Int32Array(1024);
  #truth = new Int32Array(1024);
  #probability = new Float32Array(1024);
  #loss = new Float32Array(1024);

  constructor(rule = null) {
    this.rule = rule;
  }

  add(text, { label, probability, evidence, action = label, expected_loss: loss = 0 }, truth) {
    const decided = action === null ? SILENT : this.number(action);
    if (action === null) this.silent++;
    else this.#count(action);
    this.#take([this.number(label), decided, this.#known(truth)], [probability, loss], evidence);
    const row = () => ({ number: this.rows, text: shortened(text, 200), label: action, probability });
    if (this.first.length < FEW) this.first.push(row());
    if (this.doubtful.length < FEW || probability < this.doubtful.at(-1).probability) {
      this.doubtful.push(row());
      this.doubtful.sort((a, b) => a.probability - b.probability).splice(FEW);
    }
  }

  /** Several labels of a row; what is kept is their list. */
  addLabels(text, { labels, evidence }) {
    for (const label of labels) this.#count(label);
    const all = this.number(labels.join(SEPARATOR));
    this.#take([all, all, NONE], [labels.length, 0], evidence);
    if (this.first.length < FEW) this.first.push({ number: this.rows, text: shortened(text, 200), label: labels.join(", ") || "no label" });
  }

  fail(error) {
    this.#put([NONE, NONE, NONE], [0, 0]);
    if (this.errors++ < 5) this.firstErrors.push(`Row ${count(this.rows)} ${error.message}.`);
  }

  /** What is added to row i of the file, as text. */
  at(i) {
    const [likely, p] = this.#likely[i] < 0 ? ["", ""] : [this.names[this.#likely[i]], this.#probability[i].toPrecision(6)];
    if (!this.rule) return [likely, p];
    return [this.names[this.#decided[i]] ?? "", likely && this.#loss[i].toPrecision(6), likely, p];
  }

  /** The number of a label, which may be new. */
  number(label) {
    if (!this.#numbers.has(label)) this.#numbers.set(label, this.names.push(label) - 1);
    return this.#numbers.get(label);
  }

  /** Of row i: the most probable label, its probability, the decision (null for none) and the label it should have. */
  judged(i) {
    const truth = this.corrected.get(i) ?? this.names[this.#truth[i]] ?? null;
    return { likely: this.names[this.#likely[i]] ?? null, p: this.#probability[i], decided: this.names[this.#decided[i]] ?? null, truth };
  }

  /** All rows that were answered and have a label. */
  *labelled() {
    for (let i = 0; i < this.rows; i++) if (this.#likely[i] >= 0 && this.#truth[i] >= 0) yield { i, ...this.judged(i) };
  }

  #known(truth) {
    return typeof truth === "string" && truth.trim() ? this.number(truth.trim()) : NONE;
  }

  #count(label) {
    this.counts.set(label, (this.counts.get(label) ?? 0) + 1);
  }

  #take(numbers, values, evidence) {
    this.#put(numbers, values);
    this.answered++;
    this.sum += values[0];
    if (evidence === 0) this.blind++;
  }

  #put([likely, decided, truth], [probability, loss]) {
    if (this.rows === this.#likely.length) {
      [this.#likely, this.#decided, this.#truth] = [this.#likely, this.#decided, this.#truth].map(grown);
      [this.#probability, this.#loss] = [this.#probability, this.#loss].map(grown);
    }
    this.#likely[this.rows] = likely;
    this.#decided[this.rows] = decided;
    this.#truth[this.rows] = truth;
    this.#loss[this.rows] = loss;
    this.#probability[this.rows++] = probability;
  }
}

function grown(array) {
  const larger = new array.constructor(2 * array.length);
  larger.set(array);
  return larger;
}
