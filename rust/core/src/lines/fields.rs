//! The fields of a record: separators, quotes and the ends of lines.

use memchr::{memchr, memchr2, memmem};

use super::reader::Reader;
use super::rows::Batch;
use super::rows::Columns;

const LABEL: &[u8] = b"__label__";

/// Stands before each label of a set; Python's `data/label_sets.py` knows it too.
const SET: u8 = 0x1e;
pub(super) const UNCLOSED: &str = "a quote is opened and never closed";

/// How reading one record ended.
pub(super) enum Outcome {
    Row(usize),
    Blank(usize),
    Bad(usize, String),
    Incomplete,
}

impl Reader {
    /// Hand the fields of the next record to `take`; bad if they are not as many as the header has.
    pub(super) fn record(&self, mut take: impl FnMut(usize, &[u8])) -> Outcome {
        let mut count = 0;
        let outcome = self.fields(self.rest(), self.ended, |i, bytes, _| {
            count = i + 1;
            take(i, bytes);
        });
        match outcome {
            Outcome::Row(length) if count != self.width => {
                let reason = format!("{count} fields where the header has {}", self.width);
                Outcome::Bad(length, reason)
            }
            other => other,
        }
    }

    pub(super) fn delimited(&self, batch: &mut Batch) -> Outcome {
        let Columns { text, label, weight } = self.columns;
        self.record(|i, bytes| {
            if i == text {
                batch.texts.bytes.extend_from_slice(bytes);
            } else if Some(i) == label {
                batch.labels.bytes.extend_from_slice(bytes);
            } else if Some(i) == weight {
                batch.weight.extend_from_slice(bytes);
            }
        })
    }

    /// Hand the fields of the record at the start of `data`, which may be all there is, to `take`, in
    /// pieces: column, piece, and whether it is the first of its field.
    pub(super) fn fields(
        &self,
        data: &[u8],
        is_all: bool,
        mut take: impl FnMut(usize, &[u8], bool),
    ) -> Outcome {
        match data {
            [] => return Outcome::Incomplete,
            // Of one column it is an empty field: a row, which other rows may be counted by.
            [b'\n', ..] if self.width != 1 => return Outcome::Blank(1),
            [b'\r', b'\n', ..] if self.width != 1 => return Outcome::Blank(2),
            _ => {}
        }
        let (mut at, mut column) = (0, 0);
        loop {
            let end = if self.quote.is_some() && data.get(at) == self.quote.as_ref() {
                let quote = data[at];
                take(column, &[], true);
                at += 1;
                loop {
                    let Some(length) = memchr(quote, &data[at..]) else {
                        return unclosed(data, is_all);
                    };
                    take(column, &data[at..at + length], false);
                    at += length + 1;
                    if data.get(at) != Some(&quote) {
                        break;
                    }
                    take(column, &[quote], false);
                    at += 1;
                }
                match &data[at..] {
                    [] | [b'\r'] if !is_all => return Outcome::Incomplete,
                    [] | [b'\r'] => return Outcome::Row(data.len()),
                    [b'\n', ..] => return Outcome::Row(at + 1),
                    [b'\r', b'\n', ..] => return Outcome::Row(at + 2),
                    [byte, ..] if *byte == self.delimiter => Some(at + 1),
                    _ => return bad_line(data, at, is_all, "text behind a closing quote"),
                }
            } else {
                let Some(length) = memchr2(self.delimiter, b'\n', &data[at..]) else {
                    if !is_all {
                        return Outcome::Incomplete;
                    }
                    let field = data[at..].strip_suffix(b"\r").unwrap_or(&data[at..]);
                    take(column, field, true);
                    return Outcome::Row(data.len());
                };
                let field = &data[at..at + length];
                at += length + 1;
                if data[at - 1] == b'\n' {
                    take(column, field.strip_suffix(b"\r").unwrap_or(field), true);
                    None
                } else {
                    take(column, field, true);
                    Some(at)
                }
            };
            match end {
                Some(next) => at = next,
                None => return Outcome::Row(at),
            }
            column += 1;
        }
    }

    /// The next line without its end, and its length with it.
    fn next_line(&self) -> Option<(&[u8], usize)> {
        let data = self.rest();
        let (line, length) = match memchr(b'\n', data) {
            Some(length) => (&data[..length], length + 1),
            None if self.ended && !data.is_empty() => (data, data.len()),
            None => return None,
        };
        Some((line.strip_suffix(b"\r").unwrap_or(line), length))
    }

    pub(super) fn plain(&self, batch: &mut Batch) -> Outcome {
        let Some((line, length)) = self.next_line() else {
            return Outcome::Incomplete;
        };
        batch.texts.bytes.extend_from_slice(line);
        Outcome::Row(length)
    }

    /// A line of any number of labels, whose set is written as `\x1ea\x1eb`: sorted, each label once.
    pub(super) fn fast_text_set(&self, batch: &mut Batch) -> Outcome {
        let Some((line, length)) = self.next_line() else {
            return Outcome::Incomplete;
        };
        let mut text = line.trim_ascii_start();
        if text.is_empty() {
            return Outcome::Blank(length);
        }
        let mut labels = Vec::new();
        while let Some(rest) = text.strip_prefix(LABEL) {
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            if end == 0 || rest[..end].contains(&SET) {
                return Outcome::Bad(length, "a label is empty or has U+001E in it".into());
            }
            labels.push(&rest[..end]);
            text = rest[end..].trim_ascii_start();
        }
        labels.sort_unstable();
        labels.dedup();
        batch.labels.bytes.push(SET);
        for (at, label) in labels.iter().enumerate() {
            if at > 0 {
                batch.labels.bytes.push(SET);
            }
            batch.labels.bytes.extend_from_slice(label);
        }
        batch.texts.bytes.extend_from_slice(text);
        Outcome::Row(length)
    }

    pub(super) fn fast_text(&self, batch: &mut Batch) -> Outcome {
        let Some((line, length)) = self.next_line() else {
            return Outcome::Incomplete;
        };
        let line = line.trim_ascii_start();
        if line.is_empty() {
            return Outcome::Blank(length);
        }
        let Some(rest) = line.strip_prefix(LABEL) else {
            return Outcome::Bad(length, "no __label__ at the start of the line".into());
        };
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let text = rest[end..].trim_ascii_start();
        if text.starts_with(LABEL) {
            return Outcome::Bad(length, "more than one label; a text has one here".into());
        }
        if self.line == 1 && memmem::find(text, b"\r__label__").is_some() {
            return Outcome::Bad(length, "lines end in a carriage return (CR) alone".into());
        }
        batch.labels.bytes.extend_from_slice(&rest[..end]);
        batch.texts.bytes.extend_from_slice(text);
        Outcome::Row(length)
    }
}

/// A quote that is never closed.
fn unclosed(data: &[u8], is_all: bool) -> Outcome {
    if !is_all {
        return Outcome::Incomplete;
    }
    Outcome::Bad(data.len(), UNCLOSED.into())
}

fn bad_line(data: &[u8], from: usize, is_all: bool, reason: &str) -> Outcome {
    match memchr(b'\n', &data[from..]) {
        Some(length) => Outcome::Bad(from + length + 1, reason.into()),
        None if is_all => Outcome::Bad(data.len(), reason.into()),
        None => Outcome::Incomplete,
    }
}

/// The separator that occurs most outside quotes in the first line.
pub(super) fn sniff(data: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0; 4];
    for byte in data {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' => break,
            b',' | b'\t' | b';' | b'|' if !quoted => {
                counts[usize::from(*byte == b'\t')
                    + 2 * usize::from(*byte == b';')
                    + 3 * usize::from(*byte == b'|')] += 1;
            }
            _ => {}
        }
    }
    let most = (0..4).rev().max_by_key(|i| counts[*i]).unwrap_or(0);
    b",\t;|"[most]
}
