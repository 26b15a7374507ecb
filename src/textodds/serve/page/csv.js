// Rows of CSV, TSV, JSON lines and plain lines, read piece by piece: a piece may end anywhere.

const LF = 10;
const CR = 13;
const LONGEST = 50_000_000; // characters of a field: beyond, a quote was never closed

/** Fields of CSV (RFC 4180): quotes, doubled quotes, line ends within quotes, CRLF. */
export class CsvReader {
  #field = "";
  #fields = [];
  #mode = "start"; // of a field; "plain" and "quoted" are within one, "closed" is after a second quote
  #afterCr = false;

  constructor(delimiter = ",") {
    this.delimiter = delimiter.charCodeAt(0);
  }

  /** The rows that end within a piece. */
  push(text) {
    const rows = [];
    let at = 0;
    while (at < text.length) {
      if (this.#mode === "quoted") {
        const end = text.indexOf('"', at);
        this.#field += text.slice(at, end < 0 ? undefined : end);
        if (this.#field.length > LONGEST) throw new Error("a quote is opened and never closed");
        if (end < 0) break;
        this.#mode = "closed";
        at = end + 1;
      } else if (this.#mode === "closed" && text[at] === '"') {
        this.#field += '"';
        this.#mode = "quoted";
        at++;
      } else if (this.#mode === "start" && text[at] === '"') {
        this.#mode = "quoted";
        this.#afterCr = false;
        at++;
      } else {
        let end = at;
        let code = text.charCodeAt(end);
        while (end < text.length && code !== this.delimiter && code !== LF && code !== CR) {
          code = text.charCodeAt(++end);
        }
        if (end > at) {
          this.#field += text.slice(at, end);
          this.#mode = "plain";
          this.#afterCr = false;
        }
        if (end < text.length) this.#end(code, rows);
        at = end + 1;
      }
    }
    return rows;
  }

  /** The last row, if the file does not end with a line end. */
  end() {
    if (this.#mode === "quoted") throw new Error("a quote is opened and never closed");
    const rows = [];
    if (this.#mode !== "start" || this.#fields.length) this.#end(LF, rows);
    return rows;
  }

  #end(code, rows) {
    const isSecond = code === LF && this.#afterCr && this.#mode === "start" && !this.#fields.length;
    this.#afterCr = code === CR;
    if (isSecond) return;
    const wasQuoted = this.#mode === "closed";
    this.#fields.push(this.#field);
    this.#field = "";
    this.#mode = "start";
    if (code === this.delimiter) return;
    const isBlank = this.#fields.length === 1 && !this.#fields[0] && !wasQuoted;
    if (!isBlank) rows.push(this.#fields);
    this.#fields = [];
  }
}

/** Lines, each a row of one field. */
export class LineReader {
  #rest = [];

  push(text) {
    const lines = text.split("\n");
    if (lines.length === 1) {
      this.#rest.push(text);
      return [];
    }
    lines[0] = this.#rest.join("") + lines[0];
    this.#rest = [lines.pop()];
    return lines.map(bare).filter(([line]) => line);
  }

  end() {
    return [bare(this.#rest.join(""))].filter(([line]) => line);
  }
}

const bare = (line) => [line.endsWith("\r") ? line.slice(0, -1) : line];

/** JSON lines, each an object. */
export class JsonReader extends LineReader {
  push(text) {
    return super.push(text).flatMap(object);
  }

  end() {
    return super.end().flatMap(object);
  }
}

function object([line]) {
  if (!line.trim()) return [];
  try {
    const value = JSON.parse(line);
    if (value && typeof value === "object" && !Array.isArray(value)) return value;
    return new Error("is not an object");
  } catch {
    return new Error("is not JSON");
  }
}

/** A row as a line of CSV. */
export const csvLine = (fields) => `${fields.map(quoted).join(",")}\r\n`;

const quoted = (field) => (/[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
