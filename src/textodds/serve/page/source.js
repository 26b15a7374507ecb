// A file somebody has chosen: what it is, which column is which, and its rows as a stream.

import { csvLine, CsvReader, JsonReader, LineReader } from "./csv.js";
import { $, button, bytes, h, said, select, shortened, soft, told } from "./dom.js";
import { delimiterOf, ENCODINGS, encodingOf } from "./encoding.js";
import { isOfLabels, isOfRows, state } from "./state.js";

const TEXT_NAMES = "text message body content document sentence review comment description title".split(" ");
const LABEL_NAMES = "label labels class category target tag topic sentiment y".split(" ");
const PEEK = 100; // rows looked at to know the columns
const TYPES = { csv: "text/csv", tsv: "text/tab-separated-values", jsonl: "application/x-ndjson" };
const ACCEPTED = ".csv,.tsv,.txt,.log,.jsonl,.ndjson,.gz,text/*";
const READERS = { csv: CsvReader, tsv: CsvReader, jsonl: JsonReader, lines: LineReader };

/** A file of rows. `text` and `label` are numbers of `columns`, null if there is none. */
class Source {
  read = 0; // bytes of the file so far

  static async of(file) {
    const source = new Source();
    const name = file.name.toLowerCase().replace(/\.gz$/, "");
    if (name.endsWith(".parquet")) throw new Error("Parquet is read by the command line: textodds predict.");
    const magic = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    Object.assign(source, { file, isGzip: magic[0] === 0x1f && magic[1] === 0x8b });
    source.encoding = await encodingOf(source.#unpacked(file.stream()));
    await source.begin();
    return source;
  }

  /** Finds out what the file is, read in its encoding. */
  async begin() {
    let start = "";
    for await (start of this.#pieces()) break;
    if (start.includes("\0")) throw new Error("The file is not text.");
    this.kind = kindOf(this.file.name.toLowerCase().replace(/\.gz$/, ""), start);
    this.delimiter = delimiterOf(start, this.kind);
    this.hasHeader = this.isTable;
    await this.look();
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
    if (this.kind === "jsonl" && typeof row[name] !== "string") return new Error(`has no text in “${name}”`);
    if (this.kind === "jsonl") return row[name];
    if (row.length === this.columns.length) return row[column];
    return new Error(`has ${row.length} fields, not ${this.columns.length}`);
  }

  /** What a column has in a row, as text, whatever the row is. */
  field(row, column) {
    if (row instanceof Error) return "";
    const value = this.kind === "jsonl" ? row[this.columns[column]] : row[column];
    return typeof value === "string" ? value : JSON.stringify(value) ?? "";
  }

  /** The columns of the model in a row, as JSON; an Error says why there are none. */
  record(row) {
    if (row instanceof Error) return row;
    if (this.kind !== "jsonl" && row.length !== this.columns.length) return this.at(row, 0);
    const plain = this.columns.map((name) => name.toLowerCase());
    return JSON.stringify(Object.fromEntries(state.card.columns.map(({ name }) => {
      const at = plain.indexOf(name.toLowerCase());
      return [name, (this.kind === "jsonl" ? row[this.columns[at]] : row[at]) ?? null];
    })));
  }

  /** The columns of the model that the file does not have. */
  get missing() {
    const plain = this.columns.map((name) => name.toLowerCase());
    return state.card.columns.map(({ name }) => name).filter((name) => !plain.includes(name.toLowerCase()));
  }

  /** All fields of a row as text, by `columns`. */
  fields(row) {
    if (row instanceof Error) return this.columns.map(() => "");
    return this.columns.map((name, i) => {
      const value = this.kind === "jsonl" ? row[name] : row[i];
      return typeof value === "string" ? value : JSON.stringify(value) ?? "";
    });
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
    const unpacked = this.#unpacked(this.file.stream().pipeThrough(counted));
    const reader = unpacked.pipeThrough(new TextDecoderStream(this.encoding)).getReader();
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

  /** The body and type to send to be measured, in UTF-8 and with commas; an Error says why that cannot be. */
  async upload(limit) {
    const isUsual = this.encoding === "utf-8" && (this.kind === "jsonl"
      || (this.hasHeader && this.delimiter === (this.kind === "tsv" ? "\t" : ",")));
    const isKept = isUsual && (!this.isGzip || this.kind === "csv");
    const body = isKept ? this.file : isUsual ? await new Response(this.#unpacked(this.file.stream())).blob() : await this.#plain();
    if (body.size > limit) throw new Error(`it is larger than the ${bytes(limit)} that the service takes`);
    return { body, type: this.isGzip && isKept ? "application/gzip" : isUsual || this.kind === "jsonl" ? TYPES[this.kind] : TYPES.csv };
  }

  /** The same rows as CSV with commas, or the same lines, in UTF-8. */
  async #plain() {
    const parts = [];
    if (this.kind === "jsonl") for await (const piece of this.#pieces()) parts.push(piece);
    else {
      parts.push(csvLine(this.columns));
      for await (const row of this.all()) parts.push(csvLine(row));
    }
    return new Blob(parts);
  }
}

function kindOf(name, start) {
  const [, ending] = name.match(/\.(csv|tsv|jsonl|ndjson|txt|log)$/) ?? [];
  if (ending === "csv" || ending === "tsv") return ending;
  if (/json/.test(ending) || /^\s*\{/.test(start)) return "jsonl";
  return ending ? "lines" : "csv";
}

/**
 * A place to drop or choose a file, and the choice of its columns.
 * `onchosen()` is called when there is another file, `onready(source)` when the button named `go` is pressed.
 */
export function chooser(id, { go, withLabel, onchosen, onready }) {
  const input = h("input.away", { id: `${id}-file`, type: "file", accept: ACCEPTED });
  const zone = h("label.drop", { for: input.id }, h("span", h("b", "Choose a file"), " or drop it here"),
    h("span.soft", `CSV, TSV, JSON lines${isOfRows() ? "" : ", or one text per line"}; gzipped or not`));
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
    const check = () => {
      const { missing } = source;
      start.disabled = missing.length === state.card.columns.length;
      preview.textContent = missing.length ? `Columns of the model that it does not have: ${missing.join(", ")}` : "";
    };
    const pick = (name, words, options, chosen, onchange) => [h("label", { for: `${id}-${name}` }, words),
      select(`${id}-${name}`, options, String(chosen ?? ""), onchange)];
    const texts = [...(source.text === null ? [["", "choose…"]] : []), ...names];
    const size = h("span.soft", bytes(source.file.size));
    const rows = [h("p", h("b", said(source.file.name)), " ", size)];
    if (source.kind !== "lines") {
      rows.push(h("p.row", isOfRows() ? [] : pick("text", "Texts are in", texts, source.text, set),
        withLabel ? pick("label", isOfRows() ? "Labels are in" : "labels in", [["", "no column"], ...names], source.label,
          (value) => (source.label = number(value))) : []));
    }
    if (isOfLabels() && withLabel && source.kind !== "lines") {
      source.separator ??= state.card.label_separator ?? "|";
      rows.push(h("p.row", h("label", { for: `${id}-separator` }, "Labels are separated by"),
        h("input", { id: `${id}-separator`, value: source.separator, size: "3", maxlength: "20",
          oninput: (event) => (source.separator = event.target.value) })));
    }
    if (source.isTable) {
      const again = async (event) => {
        source.hasHeader = event.target.checked;
        await source.look();
        choose(source);
        $(`${id}-header`).focus();
      };
      const box = { id: `${id}-header`, type: "checkbox", checked: source.hasHeader, onchange: again };
      rows.push(h("p.row", h("input", box),
        h("label", { for: box.id }, "The first line has the names of the columns")));
    }
    const reread = async (value) => {
      source.encoding = value;
      await source.begin().then(() => choose(source), (error) => details.replaceChildren(told(error)));
      $(`${id}-encoding`)?.focus();
    };
    if (source.encoding !== "utf-8" || source.wasOther) {
      source.wasOther = true;
      rows.push(h("p.row", pick("encoding", "Read as", ENCODINGS, source.encoding, reread),
        h("span.soft", "It is not UTF-8; choose another if letters look wrong.")));
    }
    details.replaceChildren(h("div.card", rows, preview, h("div.row", start)));
    if (isOfRows()) check();
    else set(String(source.text ?? ""));
    (source.text === null && !isOfRows() ? $(`${id}-text`) : start).focus();
  };
  input.onchange = () => (take(input.files[0]), (input.value = ""));
  for (const name of ["dragover", "dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      zone.classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
  }
  $(`${id}-source`).replaceChildren(input, zone, details);
}
