//! Reading CSV, TSV, fastText lines and plain lines, gzipped or not, in bounded memory.
//!
//! Unlike most CSV readers this one never guesses: a row that breaks the rules is reported with
//! its line, its reason and its bytes, and reading goes on behind it.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use memchr::{memchr, memchr_iter, memchr2};

/// Longest record that is read.
const LONGEST: usize = 1 << 30;
const FIRST_READ: usize = 1 << 18;
const LABEL: &[u8] = b"__label__";

/// What a line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Fields between delimiters, perhaps quoted; a record may span lines.
    Delimited {
        /// Field separator; found from the header if none is given.
        delimiter: Option<u8>,
        /// Whether `"` quotes fields.
        quoting: bool,
        /// Whether the first record names the columns.
        header: bool,
    },
    /// `__label__x text`.
    FastText,
    /// One text a line.
    Lines,
}

/// Why reading had to stop altogether.
#[derive(Debug)]
pub enum LineError {
    /// The operating system said so.
    Io(io::Error),
    /// The gzip stream ends in the middle.
    Truncated,
    /// A record is longer than 1 GiB.
    TooLong {
        /// Where it begins.
        line: u64,
    },
    /// The file is UTF-16.
    Utf16,
}

/// A row that breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Line on which it begins, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Its bytes, at most 64 KiB.
    pub row: Vec<u8>,
}

/// Texts end to end: text `i` is `bytes[offsets[i]..offsets[i + 1]]`, and is UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strings {
    /// Boundaries, one more than there are texts.
    pub offsets: Vec<i64>,
    /// The texts.
    pub bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn open(&self) -> &[u8] {
        &self.bytes[self.offsets[self.len()] as usize..]
    }

    /// Make what was appended since the last text a text.
    fn close(&mut self) {
        self.offsets.push(self.bytes.len() as i64);
    }

    /// Drop what was appended since the last text.
    fn drop_open(&mut self) {
        self.bytes.truncate(self.offsets[self.len()] as usize);
    }
}

/// Rows read together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The texts.
    pub texts: Strings,
    /// Their labels, where labels are read.
    pub labels: Strings,
    /// Their weights, where weights are read.
    pub weights: Vec<f64>,
    /// Rows left out.
    pub rejects: Vec<Reject>,
    weight: Vec<u8>,
}

/// Rows of a table read together, every field a string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// The columns, in the order in which they were selected.
    pub columns: Vec<Strings>,
    /// Line on which each row begins, from 1.
    pub lines: Vec<u64>,
    /// Rows left out.
    pub rejects: Vec<Reject>,
}

/// Which columns hold what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Columns {
    /// The text.
    pub text: usize,
    /// The label.
    pub label: Option<usize>,
    /// The weight.
    pub weight: Option<usize>,
}

/// Reads batch after batch.
pub struct Reader {
    source: Box<dyn Read + Send>,
    live: bool, // hand out rows as soon as they are there
    bytes_read: Arc<AtomicU64>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    line: u64,
    kind: Kind,
    delimiter: u8,
    quote: Option<u8>,
    names: Vec<String>,
    width: usize,
    columns: Columns,
    selected: Vec<usize>,      // the columns of a table
    slots: Vec<Option<usize>>, // where each column of the file stands among them
    pending: Option<Reject>,
}

/// What is filled row by row: each row is appended, then checked and kept or dropped.
trait Rows {
    fn append(&mut self, reader: &Reader) -> Outcome;
    fn close(&mut self, reader: &Reader) -> Result<(), String>;
    fn drop_open(&mut self);
    fn count(&self) -> usize;
    fn bytes(&self) -> usize;
    fn rejects(&mut self) -> &mut Vec<Reject>;
}

/// How reading one record ended.
enum Outcome {
    Row(usize),
    Blank(usize),
    Bad(usize, String),
    Incomplete,
}

struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Reader {
    /// A reader of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// [`LineError`] if it cannot be opened, or its beginning cannot be read.
    pub fn open(path: &str, kind: Kind) -> Result<Self, LineError> {
        if path == "-" {
            return Self::new(io::stdin(), kind, true);
        }
        Self::new(File::open(path).map_err(LineError::Io)?, kind, false)
    }

    /// A reader of any stream; a `live` one hands out rows as soon as it has some.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn new(stream: impl Read + Send + 'static, kind: Kind, live: bool) -> Result<Self, LineError> {
        let count = Arc::new(AtomicU64::new(0));
        let mut stream = Counted { inner: stream, count: count.clone() };
        let mut magic = Vec::new();
        (&mut stream).take(2).read_to_end(&mut magic).map_err(LineError::Io)?;
        if matches!(magic[..], [0xFF, 0xFE] | [0xFE, 0xFF]) {
            return Err(LineError::Utf16);
        }
        let gzipped = magic == [0x1F, 0x8B];
        let stream = Cursor::new(magic).chain(stream);
        let source: Box<dyn Read + Send> =
            if gzipped { Box::new(MultiGzDecoder::new(stream)) } else { Box::new(stream) };
        let mut reader = Self {
            source,
            live,
            bytes_read: count,
            buffer: vec![0; FIRST_READ],
            start: 0,
            end: 0,
            ended: false,
            line: 1,
            kind,
            delimiter: 0,
            quote: None,
            names: Vec::new(),
            width: 0,
            columns: Columns::default(),
            selected: Vec::new(),
            slots: Vec::new(),
            pending: None,
        };
        let mark = b"\xEF\xBB\xBF";
        while reader.end < 3 && !reader.ended && mark.starts_with(&reader.buffer[..reader.end]) {
            reader.fill()?; // never wait for more of a short first line than it takes to tell
        }
        if reader.buffer[..reader.end].starts_with(mark) {
            reader.start = 3;
        }
        if let Kind::Delimited { delimiter, quoting, header } = kind {
            reader.quote = quoting.then_some(b'"');
            reader.read_header(delimiter, header)?;
        }
        Ok(reader)
    }

    /// Names of the columns; numbers from 1 where there is no header.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Counts the bytes taken from the file, compressed if it is; may be read while reading goes on.
    #[must_use]
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.bytes_read.clone()
    }

    /// Say which columns to read.
    pub fn select(&mut self, columns: Columns) {
        self.columns = columns;
    }

    /// Say which columns make up a table, each named once.
    pub fn select_columns(&mut self, columns: &[usize]) {
        self.slots = vec![None; self.width];
        for (slot, column) in columns.iter().enumerate() {
            self.slots[*column] = Some(slot);
        }
        self.selected = columns.to_vec();
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Read more into the buffer, making room first.
    fn fill(&mut self) -> Result<(), LineError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            if self.buffer.len() >= LONGEST {
                return Err(LineError::TooLong { line: self.line });
            }
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let n = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(n) => break n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(LineError::Truncated);
                }
                Err(error) => return Err(LineError::Io(error)),
            }
        };
        self.end += n;
        self.ended = n == 0;
        Ok(())
    }

    fn read_header(&mut self, delimiter: Option<u8>, header: bool) -> Result<(), LineError> {
        loop {
            let lead = self.rest().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.consume(lead);
            if self.rest().is_empty() && self.ended {
                return Ok(()); // nothing but blank lines
            }
            if memchr(b'\n', self.rest()).is_none() && !self.ended {
                self.fill()?; // the separator is found from a whole line, wherever reads are cut
                continue;
            }
            self.delimiter = delimiter.unwrap_or_else(|| sniff(self.rest()));
            let mut fields = Vec::new();
            match self.fields(self.rest(), |i, bytes, first| {
                if first {
                    fields.resize(i + 1, Vec::new());
                }
                fields[i].extend_from_slice(bytes);
            }) {
                Outcome::Incomplete => self.fill()?,
                Outcome::Row(length) | Outcome::Bad(length, _) | Outcome::Blank(length) => {
                    self.width = fields.len();
                    self.names = if header {
                        self.consume(length);
                        fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
                    } else {
                        (1..=self.width).map(|i| i.to_string()).collect()
                    };
                    return Ok(());
                }
            }
        }
    }

    fn consume(&mut self, length: usize) {
        self.line += memchr_iter(b'\n', &self.rest()[..length]).count() as u64;
        self.start += length;
    }

    /// The next rows, about `size` bytes of text; nothing at the end.
    ///
    /// Bad rows are left out and listed if `skip_bad`; otherwise the first ends the batch, and is
    /// alone in the batch after it.
    ///
    /// # Errors
    /// [`LineError`].
    pub fn next_batch(&mut self, size: usize, skip_bad: bool) -> Result<Option<Batch>, LineError> {
        let mut batch = Batch::default();
        batch.texts.bytes.reserve(size + size / 4);
        self.next_rows(batch, size, usize::MAX, skip_bad)
    }

    /// The next rows of a table: about `size` bytes, and at most `most` rows; nothing at the end.
    ///
    /// Bad rows are treated as by [`Self::next_batch`].
    ///
    /// # Errors
    /// [`LineError`].
    pub fn next_table(
        &mut self,
        size: usize,
        most: usize,
        skip_bad: bool,
    ) -> Result<Option<Table>, LineError> {
        let columns = vec![Strings::default(); self.selected.len()];
        self.next_rows(Table { columns, ..Table::default() }, size, most, skip_bad)
    }

    fn next_rows<R: Rows>(
        &mut self,
        mut rows: R,
        size: usize,
        most: usize,
        skip_bad: bool,
    ) -> Result<Option<R>, LineError> {
        if let Some(reject) = self.pending.take() {
            rows.rejects().push(reject);
            return Ok(Some(rows));
        }
        while rows.bytes() < size && rows.count() < most {
            match rows.append(self) {
                Outcome::Row(length) => match rows.close(self) {
                    Ok(()) => self.consume(length),
                    Err(reason) => {
                        rows.drop_open();
                        if self.reject(length, reason, rows.rejects(), skip_bad) {
                            break;
                        }
                    }
                },
                Outcome::Blank(length) => self.consume(length),
                Outcome::Bad(length, reason) => {
                    rows.drop_open();
                    if self.reject(length, reason, rows.rejects(), skip_bad) {
                        break;
                    }
                }
                Outcome::Incomplete => {
                    rows.drop_open();
                    if self.ended && self.rest().is_empty() || self.live && rows.count() > 0 {
                        break;
                    }
                    self.fill()?;
                }
            }
        }
        let empty = rows.count() == 0 && rows.rejects().is_empty();
        if empty && let Some(reject) = self.pending.take() {
            rows.rejects().push(reject);
            return Ok(Some(rows));
        }
        Ok((!empty).then_some(rows))
    }

    /// Note a bad row; whether the batch ends with it.
    fn reject(&mut self, length: usize, reason: String, rejects: &mut Vec<Reject>, skip_bad: bool) -> bool {
        let row = self.rest()[..length].trim_ascii_end();
        let row = row[..row.len().min(1 << 16)].to_vec();
        let reject = Reject { line: self.line, reason, row };
        self.consume(length);
        if skip_bad {
            rejects.push(reject);
        } else {
            self.pending = Some(reject);
        }
        !skip_bad
    }

    /// Hand the fields of the next record to `take`; bad if they are not as many as the header has.
    fn record(&self, mut take: impl FnMut(usize, &[u8])) -> Outcome {
        let mut count = 0;
        let outcome = self.fields(self.rest(), |i, bytes, _| {
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

    fn delimited(&self, batch: &mut Batch) -> Outcome {
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

    /// Hand the fields of the record at the start of `data` to `take`, in pieces: column, piece,
    /// and whether it is the first of its field.
    fn fields(&self, data: &[u8], mut take: impl FnMut(usize, &[u8], bool)) -> Outcome {
        match data {
            [] => return Outcome::Incomplete,
            [b'\n', ..] => return Outcome::Blank(1),
            [b'\r', b'\n', ..] => return Outcome::Blank(2),
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
                        return self.unclosed(data);
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
                    [] | [b'\r'] if !self.ended => return Outcome::Incomplete,
                    [] | [b'\r'] => return Outcome::Row(data.len()),
                    [b'\n', ..] => return Outcome::Row(at + 1),
                    [b'\r', b'\n', ..] => return Outcome::Row(at + 2),
                    [byte, ..] if *byte == self.delimiter => Some(at + 1),
                    _ => return self.bad_line(data, at, "text behind a closing quote"),
                }
            } else {
                let Some(length) = memchr2(self.delimiter, b'\n', &data[at..]) else {
                    if !self.ended {
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

    /// A quote that is never closed spoils its first line only; what follows may be sound.
    fn unclosed(&self, data: &[u8]) -> Outcome {
        if !self.ended {
            return Outcome::Incomplete;
        }
        self.bad_line(data, 0, "a quote is opened and never closed")
    }

    fn bad_line(&self, data: &[u8], from: usize, reason: &str) -> Outcome {
        match memchr(b'\n', &data[from..]) {
            Some(length) => Outcome::Bad(from + length + 1, reason.into()),
            None if self.ended => Outcome::Bad(data.len(), reason.into()),
            None => Outcome::Incomplete,
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

    fn plain(&self, batch: &mut Batch) -> Outcome {
        let Some((line, length)) = self.next_line() else {
            return Outcome::Incomplete;
        };
        batch.texts.bytes.extend_from_slice(line);
        Outcome::Row(length)
    }

    fn fast_text(&self, batch: &mut Batch) -> Outcome {
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
        batch.labels.bytes.extend_from_slice(&rest[..end]);
        batch.texts.bytes.extend_from_slice(text);
        Outcome::Row(length)
    }
}

impl Rows for Batch {
    fn append(&mut self, reader: &Reader) -> Outcome {
        match reader.kind {
            Kind::Delimited { .. } => reader.delimited(self),
            Kind::FastText => reader.fast_text(self),
            Kind::Lines => reader.plain(self),
        }
    }

    fn close(&mut self, reader: &Reader) -> Result<(), String> {
        let columns = reader.columns;
        let labelled = reader.kind == Kind::FastText || columns.label.is_some();
        utf8(self.texts.open(), "text")?;
        if labelled {
            utf8(self.labels.open(), "label")?;
            if self.labels.open().is_empty() {
                return Err("label is empty".into());
            }
        }
        if columns.weight.is_some() {
            self.weights.push(weight(&self.weight)?);
        }
        self.texts.close();
        if labelled {
            self.labels.close();
        }
        self.weight.clear();
        Ok(())
    }

    fn drop_open(&mut self) {
        self.texts.drop_open();
        self.labels.drop_open();
        self.weight.clear();
    }

    fn count(&self) -> usize {
        self.texts.len()
    }

    fn bytes(&self) -> usize {
        self.texts.bytes.len()
    }

    fn rejects(&mut self) -> &mut Vec<Reject> {
        &mut self.rejects
    }
}

impl Rows for Table {
    fn append(&mut self, reader: &Reader) -> Outcome {
        reader.record(|i, bytes| {
            if let Some(Some(slot)) = reader.slots.get(i) {
                self.columns[*slot].bytes.extend_from_slice(bytes);
            }
        })
    }

    fn close(&mut self, reader: &Reader) -> Result<(), String> {
        for (strings, column) in self.columns.iter().zip(&reader.selected) {
            if std::str::from_utf8(strings.open()).is_err() {
                return utf8(strings.open(), &format!("column `{}`", reader.names[*column]));
            }
        }
        self.columns.iter_mut().for_each(Strings::close);
        self.lines.push(reader.line);
        Ok(())
    }

    fn drop_open(&mut self) {
        self.columns.iter_mut().for_each(Strings::drop_open);
    }

    fn count(&self) -> usize {
        self.lines.len()
    }

    fn bytes(&self) -> usize {
        // An empty field takes room too: its boundary.
        self.columns.iter().map(|strings| strings.bytes.len() + 8 * strings.len()).sum()
    }

    fn rejects(&mut self) -> &mut Vec<Reject> {
        &mut self.rejects
    }
}

fn utf8(bytes: &[u8], column: &str) -> Result<(), String> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("invalid UTF-8 at byte {} of the {column}", error.valid_up_to())),
    }
}

fn weight(bytes: &[u8]) -> Result<f64, String> {
    let text = String::from_utf8_lossy(bytes);
    match text.trim().parse::<f64>() {
        Ok(weight) if (0.0..=4_294_967_296.0).contains(&weight) => Ok(weight),
        _ => Err(format!("weight is `{text}`; it must be a number from 0 to 2^32")),
    }
}

/// The separator that occurs most outside quotes in the first line.
fn sniff(data: &[u8]) -> u8 {
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

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Kind = Kind::Delimited { delimiter: None, quoting: true, header: true };

    /// A stream that gives one byte at a time: every cut that reading can meet.
    struct Drip(Cursor<Vec<u8>>);
    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(1);
            self.0.read(&mut buffer[..n])
        }
    }

    type Found = (Vec<(String, String)>, Vec<(u64, String)>);

    fn read(data: &[u8], kind: Kind, size: usize) -> Found {
        let whole = Reader::new(Cursor::new(data.to_vec()), kind, false).unwrap();
        let dripped = Reader::new(Drip(Cursor::new(data.to_vec())), kind, true).unwrap();
        let found = collect(whole, size);
        assert_eq!(found, collect(dripped, size), "the cuts between reads change the rows");
        found
    }

    fn collect(mut reader: Reader, size: usize) -> Found {
        if let (Some(text), label) = (
            reader.names().iter().position(|name| name == "text"),
            reader.names().iter().position(|name| name == "label"),
        ) {
            reader.select(Columns { text, label, weight: None });
        }
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        let get = |strings: &Strings, i: usize| {
            let range = strings.offsets[i] as usize..strings.offsets[i + 1] as usize;
            String::from_utf8(strings.bytes[range].to_vec()).unwrap()
        };
        while let Some(batch) = reader.next_batch(size, true).unwrap() {
            for i in 0..batch.texts.len() {
                let label = if batch.labels.is_empty() { String::new() } else { get(&batch.labels, i) };
                rows.push((label, get(&batch.texts, i)));
            }
            bad.extend(batch.rejects.into_iter().map(|reject| (reject.line, reject.reason)));
        }
        (rows, bad)
    }

    fn row(label: &str, text: &str) -> (String, String) {
        (label.into(), text.into())
    }

    #[test]
    fn quotes_newlines_bom_and_crlf_are_read_as_rfc_4180_says() {
        let data =
            b"\xEF\xBB\xBFlabel,text\r\nham,\"a \"\"b\"\", c\r\nd\"\r\n\r\nspam,plain \"inner\"\r\nham,\"\"";
        let expected = vec![row("ham", "a \"b\", c\r\nd"), row("spam", "plain \"inner\""), row("ham", "")];
        for size in [1, 10, 1 << 20] {
            assert_eq!(read(data, CSV, size), (expected.clone(), vec![]));
        }
    }

    #[test]
    fn bad_rows_are_named_by_line_and_reason_and_the_rest_is_read() {
        let data = b"text,label\na,x\nb\n\"c\"d,x\n\xFFe,x\nf,\n\"g\nh\",y\n\"i,x\nj,x\n";
        let (rows, bad) = read(data, CSV, 1 << 20);
        assert_eq!(rows, [row("x", "a"), row("y", "g\nh"), row("x", "j")]);
        let expected = [
            (3, "1 fields where the header has 2"),
            (4, "text behind a closing quote"),
            (5, "invalid UTF-8 at byte 0 of the text"),
            (6, "label is empty"),
            (9, "a quote is opened and never closed"),
        ];
        assert_eq!(bad, expected.map(|(line, reason)| (line, reason.to_owned())));
    }

    #[test]
    fn the_separator_is_found_from_the_header() {
        assert_eq!(read(b"label;text\nx;a,b\n", CSV, 99).0, [row("x", "a,b")]);
        assert_eq!(read(b"label\ttext\nx\ta,b\n", CSV, 99).0, [row("x", "a,b")]);
    }

    #[test]
    fn fast_text_lines_have_one_label() {
        let (rows, bad) =
            read(b"__label__a one two\n\nthree\n__label__b __label__c x\n__label__d\n", Kind::FastText, 99);
        assert_eq!(rows, [row("a", "one two"), row("d", "")]);
        assert_eq!(bad.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn plain_lines_are_texts_even_when_empty() {
        assert_eq!(read(b"a\r\n\nb", Kind::Lines, 99).0, [row("", "a"), row("", ""), row("", "b")]);
    }

    #[test]
    fn nothing_comes_from_nothing() {
        assert_eq!(read(b"", CSV, 99), (vec![], vec![]));
        assert_eq!(read(b"text,label\n", CSV, 99), (vec![], vec![]));
    }

    #[test]
    fn a_cut_gzip_stream_is_an_error() {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"text,label\na,x\nb,y\n").unwrap();
        let data = gzip.finish().unwrap();
        assert_eq!(read(&data, CSV, 99).0.len(), 2);
        let cut = data[..data.len() - 12].to_vec();
        let outcome = Reader::new(Cursor::new(cut), CSV, false).and_then(|mut reader| {
            while reader.next_batch(99, true)?.is_some() {}
            Ok(())
        });
        assert!(matches!(outcome, Err(LineError::Truncated)));
    }

    type Cells = (Vec<(u64, Vec<String>)>, Vec<(u64, String)>);

    fn table(data: &[u8], columns: &[usize], size: usize, most: usize) -> Cells {
        let read = |mut reader: Reader| {
            reader.select_columns(columns);
            let (mut rows, mut bad) = (Vec::new(), Vec::new());
            while let Some(table) = reader.next_table(size, most, true).unwrap() {
                assert!(table.lines.len() <= most);
                for (i, line) in table.lines.iter().enumerate() {
                    let cell = |strings: &Strings| {
                        let range = strings.offsets[i] as usize..strings.offsets[i + 1] as usize;
                        String::from_utf8(strings.bytes[range].to_vec()).unwrap()
                    };
                    rows.push((*line, table.columns.iter().map(cell).collect()));
                }
                bad.extend(table.rejects.into_iter().map(|reject| (reject.line, reject.reason)));
            }
            (rows, bad)
        };
        let found = read(Reader::new(Cursor::new(data.to_vec()), CSV, false).unwrap());
        let dripped = read(Reader::new(Drip(Cursor::new(data.to_vec())), CSV, true).unwrap());
        assert_eq!(found, dripped, "the cuts between reads change the rows");
        found
    }

    #[test]
    fn a_table_has_any_columns_in_any_order_and_the_line_of_each_row() {
        let data = b"a,b,c\n1,\"x\ny\",3\n\n4,,6\n7\n\xFF,8,9\n10,\xFF,12\n";
        for (size, most) in [(1, 99), (1 << 20, 1), (1 << 20, 99)] {
            let (rows, bad) = table(data, &[2, 0], size, most);
            let expected = [(2, ["3", "1"]), (5, ["6", "4"]), (8, ["12", "10"])];
            assert_eq!(rows, expected.map(|(line, cells)| (line, cells.map(str::to_owned).to_vec())));
            let expected =
                [(6, "1 fields where the header has 3"), (7, "invalid UTF-8 at byte 0 of the column `a`")];
            assert_eq!(bad, expected.map(|(line, reason)| (line, reason.to_owned())));
        }
    }

    #[test]
    fn a_table_of_no_columns_still_has_rows() {
        let (rows, bad) = table(b"a,b\n1,2\n3\n", &[], 99, 99);
        assert_eq!((rows, bad.len()), (vec![(2, vec![])], 1));
    }
}
