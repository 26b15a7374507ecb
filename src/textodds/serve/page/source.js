// A file somebody has chosen: what it is, which column is which, and its rows as a stream.

import { CsvReader, JsonReader, LineReader } from "./csv.js";
import { $, button, bytes, h, said, select, shortened, soft, told } from "./dom.js";

const TEXT_NAMES = ["text", "message", "body", "content", "document", "sentence", "review", "comment", "description", "title"];
const LABEL_NAMES = ["label", "labels", "class", "category", "target", "tag", "topic", "sentiment", "y"];
const PEEK = 100; // rows looked at to know the columns
const TYPES = { csv: "text/csv", tsv: "text/tab-separated-values", jsonl: "application/x-ndjson" };
const READERS = { csv: CsvReader, tsv: CsvReader, jsonl: JsonReader, lines: LineReader };

/** A file of rows. `text` and `label` are numbers of `columns`, null if there is none. */
export class Source {
  read = 0; // bytes of the file so far

  static async of(file) {
    const source = new Source();
    const name = file.name.toLowerCase().replace(/\.gz$/, "");
    if (name.endsWith(".parquet")) throw new Error("Parquet is for the command line: textodds predict MODEL FILE.");
    const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    Object.assign(source, { file, isGzip: magic[0] === 0x1f && magic[1] === 0x8b });
    let start = "";
    for await (start of source.#pieces()) break;
    if (start.includes("\0")) throw new Error("The file is no text in UTF-8.");
    source.kind = kindOf(name, start);
    const line = start.split(/[\r\n]/, 1)[0];
    source.delimiter = source.kind === "tsv" ? "\t" : [",", "\t", ";"].find((mark) => line.includes(mark)) ?? ",";
    source.hasHeader = source.isTable;
    await source.look();
    return source;
  }

  get isTable() {
    return this.kind === "csv" || this.kind === "tsv";
  }

  /** Finds the columns, from the first rows. */
  async look() {
    const rows = [];
    this.columns = [];
    for await (const row of this.#raw()) {
      if (rows.push(row) > PEEK) break;
    }
    if (!rows.length) throw new Error("The file has no rows.");
    if (this.hasHeader) this.columns = rows.shift().map((name) => name.trim());
    else if (this.isTable) this.columns = rows[0].map((_, i) => String(i + 1));
    else if (this.kind === "lines") this.columns = ["text"];
    else rows.forEach((row) => this.#notice(row));
    this.rows = rows;
    const plain = this.columns.map((name) => name.toLowerCase());
    const find = (names) => names.map((name) => plain.indexOf(name)).find((at) => at >= 0) ?? null;
    this.text = find(TEXT_NAMES) ?? (plain.length === 1 ? 0 : null);
    this.label = find(LABEL_NAMES);
  }

  #notice(row) {
    if (row instanceof Error) return;
    for (const name of Object.keys(row)) if (!this.columns.includes(name)) this.columns.push(name);
  }

  /** The text of a column in a row; an Error says why there is none. */
  at(row, column) {
    if (row instanceof Error) return row;
    const name = this.columns[column];
    if (this.kind === "jsonl") return typeof row[name] === "string" ? row[name] : new Error(`has no text in “${name}”`);
    if (row.length === this.columns.length) return row[column];
    return new Error(`has ${row.length} fields, not ${this.columns.length}`);
  }

  /** All fields of a row as text, by `columns`. */
  fields(row) {
    if (row instanceof Error) return this.columns.map(() => "");
    const values = this.kind === "jsonl" ? this.columns.map((name) => row[name]) : row;
    return this.columns.map((_, i) => (typeof values[i] === "string" ? values[i] : JSON.stringify(values[i]) ?? ""));
  }

  /** Every row after the header. */
  async *all(signal) {
    let isHeader = this.hasHeader;
    for await (const row of this.#raw(signal)) {
      if (this.kind === "jsonl") this.#notice(row);
      if (!isHeader) yield row;
      isHeader = false;
    }
  }

  async *#raw(signal) {
    const reader = new READERS[this.kind](this.delimiter);
    for await (const piece of this.#pieces(signal)) yield* reader.push(piece);
    yield* reader.end();
  }

  async *#pieces(signal) {
    this.read = 0;
    const counted = new TransformStream({
      transform: (chunk, out) => {
        this.read += chunk.byteLength;
        out.enqueue(chunk);
      },
    });
    const reader = this.#unpacked(this.file.stream().pipeThrough(counted)).pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        signal?.throwIfAborted();
        yield piece.value;
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  #unpacked(stream) {
    return this.isGzip ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
  }

  /** The body and type to send to be measured; an Error says why that cannot be. */
  async upload(limit) {
    const isUsual = this.kind === "jsonl" || (this.hasHeader && (this.kind === "tsv" || this.delimiter === ","));
    if (!isUsual) throw new Error("for that it must have commas or tabs, and names in its first line");
    const isKept = !this.isGzip || this.kind === "csv";
    const body = isKept ? this.file : await new Response(this.#unpacked(this.file.stream())).blob();
    if (body.size > limit) throw new Error(`it has ${bytes(body.size)}, and the service takes ${bytes(limit)}`);
    return { body, type: this.isGzip && isKept ? "application/gzip" : TYPES[this.kind] };
  }
}

function kindOf(name, start) {
  const [, ending] = name.match(/\.(csv|tsv|jsonl|ndjson|txt|log)$/) ?? [];
  if (ending === "csv" || ending === "tsv") return ending;
  if (ending?.endsWith("n") || ending?.endsWith("l") || /^\s*\{/.test(start)) return "jsonl";
  return ending ? "lines" : "csv";
}

/**
 * A place to drop or choose a file, and the choice of its columns.
 * `onchosen()` is called when there is another file, `onready(source)` when the button named `go` is pressed.
 */
export function chooser(box, { id, go, withLabel, onchosen, onready }) {
  const input = h("input", { id: `${id}-file`, type: "file", class: "away", accept: ".csv,.tsv,.txt,.jsonl,.ndjson,.gz,text/*" });
  const zone = h("label", { class: "drop", for: input.id }, h("span", {}, h("b", {}, "Choose a file"), " or drop it here"),
    h("span", { class: "soft" }, "CSV, TSV, JSON lines, or one text per line; gzipped or not"));
  const details = h("div");
  const take = async (file) => {
    if (!file) return;
    onchosen();
    details.replaceChildren(soft("Looking at it…"));
    await Source.of(file).then(choose).catch((error) => details.replaceChildren(told(error)));
  };
  const choose = (source) => {
    const names = source.columns.map((name, i) => [String(i), name || `column ${i + 1}`]);
    const number = (value) => (value === "" ? null : Number(value));
    const preview = soft();
    const start = button(go, () => onready(source), { class: "main" });
    const set = (value) => {
      source.text = number(value);
      const texts = source.text === null ? [] : source.rows.map((row) => source.at(row, source.text));
      const first = texts.find((text) => typeof text === "string" && text.trim());
      preview.textContent = first ? `It begins: ${shortened(first, 160)}` : "";
      start.disabled = source.text === null;
    };
    const pick = (name, words, options, chosen, onchange) => [h("label", { for: `${id}-${name}` }, words),
      select(`${id}-${name}`, options, String(chosen ?? ""), onchange)];
    const texts = [...(source.text === null ? [["", "choose…"]] : []), ...names];
    const rows = [h("p", {}, h("b", {}, said(source.file.name)), " ", h("span", { class: "soft" }, bytes(source.file.size)))];
    if (source.kind !== "lines") {
      rows.push(h("p", { class: "row" }, pick("text", "Texts are in", texts, source.text, set),
        withLabel ? pick("label", "labels in", [["", "no column"], ...names], source.label,
          (value) => (source.label = number(value))) : []));
    }
    if (source.isTable) {
      const again = async (event) => {
        source.hasHeader = event.target.checked;
        await source.look();
        choose(source);
        $(`${id}-header`).focus();
      };
      rows.push(h("p", { class: "row" }, h("input", { id: `${id}-header`, type: "checkbox", checked: source.hasHeader, onchange: again }),
        h("label", { for: `${id}-header` }, "The first line has the names of the columns")));
    }
    details.replaceChildren(h("div", { class: "card" }, rows, preview, h("div", { class: "row" }, start)));
    set(String(source.text ?? ""));
    (source.text === null ? $(`${id}-text`) : start).focus();
  };
  input.onchange = () => (take(input.files[0]), (input.value = ""));
  for (const name of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      zone.classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
  }
  box.replaceChildren(input, zone, details);
}
