//! JSON lines: usual objects become rows; unusual lines are handed back as they are, for Python to judge.
//!
//! A line is usual if Python's `json` reads it as an object and takes text, label and weight from it without
//! a complaint. Whatever is not sure to be so (a key with an escape, a float as label, half a surrogate pair)
//! is unusual: there is one place that words what is wrong, and it is not here.

use memchr::{memchr, memchr2};

use super::rows::Strings;

/// The byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Depth of what is passed over; Python's own limit is higher.
pub(super) const DEEPEST: usize = 32;
/// Digits of a label; what has more is not sure to be written as it was.
const DIGITS: usize = 18;
/// Length of a number; Python refuses thousands of digits.
const LONGEST_NUMBER: usize = 300;

/// Of each type that labels of a batch have, the first row with such a label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LabelKinds {
    /// Strings.
    pub text: Option<usize>,
    /// Whole numbers.
    pub integer: Option<usize>,
    /// True and false.
    pub boolean: Option<usize>,
}

/// The keys of what is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// Of the text.
    pub text: String,
    /// Of the label, where labels are read.
    pub label: Option<String>,
    /// Of the weight, where weights are read.
    pub weight: Option<String>,
}

/// Rows that were read from usual lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Objects {
    /// The texts.
    pub texts: Strings,
    /// Their labels, where labels are read.
    pub labels: Strings,
    /// Their weights, where weights are read.
    pub weights: Vec<f64>,
    /// The types of the labels.
    pub kinds: LabelKinds,
}

/// An unusual line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusual {
    /// How many rows of its batch come before it.
    pub before: usize,
    /// Its number in the file, from 1.
    pub number: u64,
    /// The line without blanks around it.
    pub line: Vec<u8>,
}

/// Rows and, in their order, the unusual lines among them.
pub type Batch = (Objects, Vec<Unusual>);

/// Takes bytes as they come, and hands out rows and unusual lines in their order.
#[derive(Debug, Default)]
pub struct JsonLines {
    keys: Option<Keys>,
    buffer: Vec<u8>,
    start: usize,
    searched: usize, // bytes behind `start` that have no line end
    line: u64,
    ended: bool,
    begun: bool, // whether a byte order mark was looked for
    rows: Objects,
    unusual: Vec<Unusual>,
    taken: usize, // bytes of the lines of both
}

impl JsonLines {
    /// Say what to read. Before it is said every line is unusual.
    pub fn select(&mut self, keys: Keys) {
        self.keys = Some(keys);
    }

    /// Take more bytes; none are the end.
    pub fn feed(&mut self, piece: &[u8]) {
        self.ended |= piece.is_empty();
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// Lines that were passed.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.line
    }

    /// Bytes that were not made rows of.
    #[must_use]
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The next line that is not blank, which stays the next: its number and the line without blanks around it.
    pub fn peek(&mut self) -> Option<(u64, &[u8])> {
        loop {
            let length = self.next_line()?;
            if !trimmed(&self.rest()[..length]).is_empty() {
                return Some((self.line + 1, trimmed(&self.rest()[..length])));
            }
            self.pass(length);
        }
    }

    /// Rows of about `size` bytes, at most `most`; nothing if it takes more bytes to tell. What there is
    /// is handed out where `flush` says so, and at the end.
    pub fn take(&mut self, size: usize, most: usize, flush: bool) -> Option<Batch> {
        while let Some(length) = self.next_line() {
            let line = trimmed(&self.buffer[self.start..self.start + length]);
            if !line.is_empty() && !self.keys.as_ref().is_some_and(|keys| self.rows.append(line, keys)) {
                let before = self.rows.texts.len();
                self.unusual.push(Unusual { before, number: self.line + 1, line: line.to_vec() });
            }
            self.taken += length;
            self.pass(length);
            if self.taken >= size || self.count() >= most || self.keys.is_none() && self.count() > 0 {
                return self.handed_out();
            }
        }
        if flush || self.ended { self.handed_out() } else { None }
    }

    fn count(&self) -> usize {
        self.rows.texts.len() + self.unusual.len()
    }

    fn handed_out(&mut self) -> Option<Batch> {
        self.taken = 0;
        (self.count() > 0).then(|| (std::mem::take(&mut self.rows), std::mem::take(&mut self.unusual)))
    }

    /// The length of the next line, with its end; nothing if it takes more bytes to tell.
    fn next_line(&mut self) -> Option<usize> {
        if !self.begun && (self.rest().len() >= MARK.len() || self.ended) {
            self.begun = true;
            if self.rest().starts_with(MARK) {
                self.start += MARK.len();
                self.searched = 0;
            }
        }
        match memchr(b'\n', &self.rest()[self.searched..]) {
            Some(at) => Some(self.searched + at + 1),
            None if self.ended => Some(self.rest().len()).filter(|length| *length > 0),
            None => {
                self.searched = self.rest().len();
                None
            }
        }
    }

    fn pass(&mut self, length: usize) {
        self.start += length;
        self.searched = 0;
        self.line += 1;
    }
}

impl Objects {
    /// Append the row that a line is; whether it is a usual one.
    pub(super) fn append(&mut self, line: &[u8], keys: &Keys) -> bool {
        let mut cursor = Cursor { line, at: 0 };
        let found = std::str::from_utf8(line).ok().and_then(|_| cursor.row(keys, self));
        let Some((kind, weight)) = found else {
            self.texts.drop_open();
            self.labels.drop_open();
            return false;
        };
        self.texts.close();
        if keys.label.is_some() {
            let first = match kind {
                Kind::Text => &mut self.kinds.text,
                Kind::Integer => &mut self.kinds.integer,
                Kind::Boolean => &mut self.kinds.boolean,
            };
            first.get_or_insert(self.labels.len());
            self.labels.close();
        }
        if keys.weight.is_some() {
            self.weights.push(weight);
        }
        true
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Boolean,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn trimmed(line: &[u8]) -> &[u8] {
    let first = line.iter().position(|byte| !is_blank(*byte)).unwrap_or(line.len());
    let last = line.iter().rposition(|byte| !is_blank(*byte)).map_or(first, |last| last + 1);
    &line[first..last]
}

/// A place in a line; what is unusual ends in `None`.
struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The whole line: an object that has all keys.
    fn row(&mut self, keys: &Keys, rows: &mut Objects) -> Option<(Kind, f64)> {
        let (mut has_text, mut label, mut weight) = (false, None, None);
        self.pass(b'{')?;
        loop {
            self.blanks();
            let key = self.key()?;
            if key == keys.text.as_bytes() {
                rows.texts.drop_open(); // of a key that is there twice, the last counts
                self.pass(b'"')?;
                self.string(Some(&mut rows.texts.bytes))?;
                has_text = true;
            } else if keys.label.as_ref().is_some_and(|label| key == label.as_bytes()) {
                rows.labels.drop_open();
                label = Some(self.label(&mut rows.labels)?);
            } else if keys.weight.as_ref().is_some_and(|weight| key == weight.as_bytes()) {
                weight = Some(self.weight()?);
            } else {
                self.value(0)?;
            }
            if !self.goes_on(b'}')? {
                break;
            }
        }
        let is_whole = has_text
            && self.at == self.line.len()
            && (keys.label.is_none() || label.is_some())
            && (keys.weight.is_none() || weight.is_some());
        is_whole.then(|| (label.unwrap_or(Kind::Text), weight.unwrap_or(1.0)))
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A key without escapes, and what stands before its value.
    fn key(&mut self) -> Option<&'a [u8]> {
        self.pass(b'"')?;
        let from = self.at;
        let length = memchr2(b'"', b'\\', &self.line[from..])?;
        let key = &self.line[from..from + length];
        self.at += length;
        self.pass(b'"')?;
        self.blanks();
        self.pass(b':')?;
        self.blanks();
        (!has_controls(key)).then_some(key)
    }

    /// Whether a comma comes behind a value, rather than the end.
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        self.blanks();
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            _ => (byte == end).then_some(false),
        }
    }

    /// The rest of a string behind its first quote, without its escapes.
    fn string(&mut self, mut into: Option<&mut Vec<u8>>) -> Option<()> {
        loop {
            let rest = &self.line[self.at..];
            let length = memchr2(b'"', b'\\', rest)?;
            if has_controls(&rest[..length]) {
                return None;
            }
            if let Some(into) = &mut into {
                into.extend_from_slice(&rest[..length]);
            }
            self.at += length + 1;
            if rest[length] == b'"' {
                return Some(());
            }
            let character = self.escape()?;
            if let Some(into) = &mut into {
                into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    /// The character of an escape, behind its backslash.
    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hexadecimal()?;
                if !(0xD800..0xDC00).contains(&first) {
                    return char::from_u32(first);
                }
                self.pass(b'\\')?;
                self.pass(b'u')?;
                let second = self.hexadecimal().filter(|second| (0xDC00..0xE000).contains(second))?;
                return char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            _ => return None,
        })
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.line.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
    }

    fn label(&mut self, into: &mut Strings) -> Option<Kind> {
        let from = self.at;
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string(Some(&mut into.bytes))?;
                return (!into.open().is_empty()).then_some(Kind::Text);
            }
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            _ => {
                let is_whole = self.number()?;
                let digits = &self.line[from..self.at];
                if !is_whole || digits == b"-0" || digits.len() > DIGITS {
                    return None;
                }
                into.bytes.extend_from_slice(digits);
                return Some(Kind::Integer);
            }
        }
        into.bytes.extend_from_slice(&self.line[from..self.at]);
        Some(Kind::Boolean)
    }

    fn weight(&mut self) -> Option<f64> {
        let from = self.at;
        if self.peek()? == b'-' {
            return None;
        }
        self.number()?;
        let written = std::str::from_utf8(&self.line[from..self.at]).ok()?;
        written.parse().ok().filter(|weight| (0.0..=4_294_967_296.0).contains(weight))
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.line[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    /// Pass over a number; whether it is written as a whole one.
    fn number(&mut self) -> Option<bool> {
        let from = self.at;
        let _ = self.pass(b'-');
        if self.pass(b'0').is_none() {
            self.digits()?;
        }
        let mut is_whole = true;
        if self.pass(b'.').is_some() {
            self.digits()?;
            is_whole = false;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
            is_whole = false;
        }
        (self.at - from <= LONGEST_NUMBER).then_some(is_whole)
    }

    /// Pass over a value.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string(None)
            }
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'{' | b'[' if depth == DEEPEST => None,
            b'{' => self.items(b'}', |cursor| {
                cursor.key()?;
                cursor.value(depth + 1)
            }),
            b'[' => self.items(b']', |cursor| cursor.value(depth + 1)),
            _ => self.number().map(|_| ()),
        }
    }

    /// Pass over what stands between brackets.
    fn items(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.blanks();
        if self.pass(end).is_some() {
            return Some(());
        }
        loop {
            self.blanks();
            item(self)?;
            if !self.goes_on(end)? {
                return Some(());
            }
        }
    }
}

/// Whether there are control characters, which no string has; without a branch, so that it is done in blocks.
fn has_controls(piece: &[u8]) -> bool {
    piece.iter().fold(0, |found, byte| found | u8::from(*byte < b' ')) > 0
}
