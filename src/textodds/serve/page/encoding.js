// The encoding of a file, found from its bytes, and what stands between the fields of a table.

import { CsvReader } from "./csv.js";

const LOOKED = 64 << 20; // bytes that are read to know it is UTF-8
const MARKS = [",", "\t", ";", "|"];
const ROWS = 50;

/** Encodings to choose from, by the names that browsers know. */
export const ENCODINGS = [
  ["utf-8", "UTF-8"], ["windows-1252", "Windows-1252 (Latin-1)"], ["utf-16le", "UTF-16"], ["utf-16be", "UTF-16, big-endian"],
  ["windows-1250", "Windows-1250"], ["windows-1251", "Windows-1251 (Cyrillic)"], ["koi8-r", "KOI8-R"], ["windows-1253", "Windows-1253 (Greek)"],
  ["windows-1254", "Windows-1254 (Turkish)"], ["shift_jis", "Shift JIS"], ["euc-kr", "EUC-KR"], ["gb18030", "GB 18030"], ["big5", "Big5"],
];

/** UTF-16 by its mark or its zeros, UTF-8 where all bytes are, else Windows-1252, which has all letters of Latin-1. */
export async function encodingOf(stream) {
  const reader = stream.getReader();
  const strict = new TextDecoder("utf-8", { fatal: true });
  let seen = 0;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const wide = seen === 0 ? wideOf(piece.value.subarray(0, 4096)) : null;
      if (wide) return wide;
      strict.decode(piece.value, { stream: true });
      seen += piece.value.byteLength;
      if (seen > LOOKED) return "utf-8";
    }
    strict.decode();
    return "utf-8";
  } catch (error) {
    if (!(error instanceof TypeError) || error.message.includes("gzip") || error.message.includes("compress")) throw error;
    return "windows-1252";
  } finally {
    reader.cancel().catch(() => {});
  }
}

function wideOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const zeros = [0, 0];
  bytes.forEach((byte, i) => (zeros[i % 2] += byte === 0));
  const [less, more] = [...zeros].sort((a, b) => a - b);
  if (more * 4 < bytes.length || less * 10 > more) return null;
  return zeros[1] > zeros[0] ? "utf-16le" : "utf-16be";
}

/** What stands between fields: the mark by which most of the first rows have as many as the first, above one. */
export function delimiterOf(start, kind) {
  if (kind === "tsv") return "\t";
  const agreement = MARKS.map((mark) => {
    const rows = new CsvReader(mark).push(start).slice(0, ROWS);
    if (!rows.length) rows.push(start.split(mark));
    const { length } = rows[0];
    return length > 1 ? rows.filter((row) => row.length === length).length / rows.length : 0;
  });
  const best = Math.max(...agreement);
  return MARKS[best > 0 ? agreement.indexOf(best) : 0];
}
