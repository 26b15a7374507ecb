// A whole file, answered in batches while it is being read.

import { Answers } from "./answers.js";
import { call } from "./api.js";
import { Bars } from "./charts.js";
import { offerComparison } from "./compare.js";
import { csvLine } from "./csv.js";
import { isSet, rule } from "./decide.js";
import {
  $, button, cell, chance, count, fact, folded, h, percent, plural, said, save, section, shortened, table,
  told,
} from "./dom.js";
import { measure } from "./measured.js";
import { chooser } from "./source.js";
import { isOfLabels, isOfRows, state } from "./state.js";

const TEXTS = 1000; // of a batch, if the service takes as many: progress is seen to move
const BYTES = 1_000_000;
const ROOM = 1000; // bytes of a request beside its texts
const AT_ONCE = 2; // batches on their way: one is answered while the next is read
const PATIENCE = 20; // times that a busy service is asked again

let running = null;

export function startFiles() {
  if (isOfRows()) $("files-of").textContent = "rows";
  chooser("files", { go: "Classify all rows", withLabel: true, onchosen: clear, onready: run });
}

function clear() {
  running?.abort();
  running = null;
  for (const part of ["run", "result", "compared", "measured"]) $(`files-${part}`).replaceChildren();
}

async function run(source) {
  clear();
  const control = new AbortController();
  running = control;
  const bar = h("progress", { max: source.file.size, value: 0, "aria-label": "Bytes read" });
  const words = h("span.number");
  const cancel = button("Cancel", () => control.abort());
  $("files-run").replaceChildren(h("div.card.progress", bar, words, cancel));
  $("files-status").textContent = "Reading…";
  const answers = new Answers(isSet() ? rule() : null);
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  const tick = () => {
    bar.value = source.read;
    words.textContent = `${plural(answers.rows, "row")}, ${count(answers.rows / seconds())} a second`;
  };
  let problem = await classify(source, answers, control.signal, tick).then(() => null, (error) => error);
  if (!answers.rows) problem ??= new Error("There are no rows in it.");
  if (running !== control) return; // another file was chosen
  const isWhole = problem === null;
  const end = isWhole ? "Done" : control.signal.aborted ? "Cancelled" : "Broken off";
  $("files-status").textContent = `${end}: ${plural(answers.rows, "row")}.`;
  $("files-run").replaceChildren(isWhole || control.signal.aborted ? "" : told(problem));
  if (answers.rows) summary(source, answers, seconds(), isWhole ? "" : ` (${end.toLowerCase()})`);
  if (isWhole && state.card.compare) offerComparison($("files-compared"), source, answers, classify);
  if (isWhole && source.label !== null) await measure($("files-measured"), source, answers, classify);
}

async function classify(source, answers, signal, tick) {
  const { limits } = state.card;
  const by = JSON.stringify(answers.rule ?? {}).slice(1, -1); // the rule, within a body
  const room = ROOM + by.length;
  const most = Math.min(BYTES, limits.body - room);
  const encoder = new TextEncoder();
  const flying = new Set();
  let before = Promise.resolve(); // answers are taken in the order of their batches
  let [batch, size] = [[], 0]; // {text, json} or {error}
  const send = async () => {
    const rows = batch;
    [batch, size] = [[], 0];
    const asked = answered(rows, by, answers.path, signal);
    const taken = Promise.all([asked, before]).then(([found]) => {
      for (const row of rows) {
        if (row.error) answers.fail(row.error);
        else if (isOfLabels()) answers.addLabels(row.text, found.shift());
        else answers.add(row.text, found.shift(), row.truth);
      }
      tick();
    });
    before = taken;
    flying.add(taken);
    taken.then(() => flying.delete(taken), () => {}); // a failure stays, and ends the race
    if (flying.size >= AT_ONCE) await Promise.race(flying);
  };
  for await (const row of source.all(signal)) {
    const text = isOfRows() ? source.record(row) : source.at(row, source.text);
    const json = typeof text !== "string" ? "" : isOfRows() ? text : JSON.stringify(text.toWellFormed?.() ?? text);
    const long = encoder.encode(json).length + 1;
    let error = text instanceof Error ? text : null;
    const isLong = text.length > limits.text && Array.from(text).length > limits.text;
    if (isLong || long > limits.body - room) error = new Error("is longer than the service takes");
    if (!error && size && size + long > most) await send();
    batch.push(error ? { error } : { text, json, truth: source.label === null ? null : source.field(row, source.label) });
    size += error ? 0 : long;
    if (batch.length >= Math.min(TEXTS, limits.batch)) await send();
  }
  await send();
  await before;
}

async function answered(rows, by, path, signal) {
  const texts = rows.filter((row) => !row.error).map((row) => row.json);
  if (!texts.length) return [];
  const body = `{"${isOfRows() ? "rows" : "texts"}":[${texts.join(",")}]${by && ","}${by}}`;
  const sent = { body, type: "application/json", tries: PATIENCE, signal };
  try {
    return (await call(path, sent)).answers;
  } catch (error) {
    if (!isOfRows() || error.status !== 422) throw error;
    if (rows.length === 1) return (rows[0].error = new Error(`is refused: ${error.message.replace(/^`rows\[\d+\]`:? /, "")}`), []);
    const half = Math.ceil(rows.length / 2); // to find the row that is bad
    return [...await answered(rows.slice(0, half), by, path, signal), ...await answered(rows.slice(half), by, path, signal)];
  }
}

function summary(source, answers, seconds, end) {
  const ranked = [...answers.counts].sort((a, b) => b[1] - a[1]);
  if (answers.silent) ranked.push(["no answer", answers.silent]);
  const text = (n) => `${count(n)} · ${percent(n / answers.answered)}`;
  const bars = new Bars(isOfLabels() ? "Rows by label" : "Rows by class", { top: 12, text, items: ranked, whole: Math.max(...ranked.map(([, n]) => n)) });
  const mean = answers.answered ? answers.sum / answers.answered : null;
  const errors = h("div.note", h("p", `${plural(answers.errors, "row")} could not be answered:`),
    h("ul.plain", answers.firstErrors.map((error) => h("li", error))));
  const keep = button("Download as CSV", () => download(source, answers, keep), { class: "main" });
  $("files-result").replaceChildren(
    section("h-summary", ["Answers to ", said(source.file.name), end],
      h("dl.facts", fact("rows", count(answers.rows)), fact("seconds", seconds.toFixed(seconds < 10 ? 2 : 0)),
        isOfLabels() ? fact("labels a text", mean === null ? "–" : mean.toFixed(2)) : fact("mean probability", percent(mean)), fact(isOfRows() ? "without a value" : "without a known word", count(answers.blind))),
      answers.rule ? h("p.note", "Decided by the costs, proportions and price of not answering that you have set under “Try it”.") : "",
      answers.errors ? errors : "", bars.node, h("div.row", keep)),
    section("h-rows", "First rows", rowTable(answers.first),
      isOfLabels() ? "" : folded("Least confident rows", rowTable(answers.doubtful))));
}

const rowTable = (rows) => table("Rows", ["Row", ...(isOfLabels() ? ["Labels"] : ["Label", "Probability"]), isOfRows() ? "Its columns" : "Text"],
  rows.map((row) => [cell(count(row.number)), row.label === null ? "no answer" : said(row.label), ...(isOfLabels() ? [] : [cell(chance(row.probability))]), row.text]), "texts");

/** Reads the file again and writes each row with its answer: the rows themselves were never kept. */
async function download(source, answers, pressed) {
  pressed.disabled = true;
  const free = (name) => (source.columns.includes(name) ? free(`predicted_${name}`) : name);
  const parts = [];
  const own = isOfLabels() ? [free("labels")] : answers.rule ? ["decision", "expected_cost", "label", "probability"].map(free)
    : [free("label"), free("probability")];
  const isCorrected = answers.corrected.size > 0;
  if (isCorrected) own.push(free("corrected_label"));
  let lines = csvLine([...source.columns, ...own]);
  let i = 0;
  try {
    for await (const row of source.all()) {
      if (i === answers.rows) break;
      const added = answers.at(i).slice(0, own.length);
      if (isCorrected) added.push(answers.judged(i).truth ?? "");
      lines += csvLine([...source.fields(row), ...added]);
      i++;
      if (lines.length > 1 << 20) [lines] = ["", parts.push(new Blob([lines]))];
    }
    const name = source.file.name.replace(/(\.(csv|tsv|txt|log|jsonl|ndjson))?(\.gz)?$/i, "");
    save([...parts, lines], `${name}.answers.csv`);
  } catch (error) {
    $("files-run").replaceChildren(told(error));
  }
  pressed.disabled = false;
}
