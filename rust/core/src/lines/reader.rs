//! Batch after batch from a stream.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use memchr::memchr;

use super::fields::{Outcome, UNCLOSED, sniff};
use super::rows::{Batch, Columns, Reject, Rows, Strings, Table};
use super::{Kind, LineError};

/// Longest record that is read.
const LONGEST: usize = 1 << 30;
const FIRST_READ: usize = 1 << 18;
/// A first line that is longer and has carriage returns is many lines that end in these.
const LONGEST_LINE: usize = 1 << 16;

/// Reads batch after batch.
pub struct Reader {
    source: Box<dyn Read + Send>,
    live: bool, // hand out rows as soon as they are there
    bytes_read: Arc<AtomicU64>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    pub(super) ended: bool,
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) delimiter: u8,
    pub(super) quote: Option<u8>,
    pub(super) names: Vec<String>,
    pub(super) width: usize,
    pub(super) columns: Columns,
    pub(super) selected: Vec<usize>,      // the columns of a table
    pub(super) slots: Vec<Option<usize>>, // where each column of the file stands among them
    pending: Option<Reject>,
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
    pub fn open(path: &Path, kind: Kind) -> Result<Self, LineError> {
        if path == Path::new("-") {
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
        if matches!(magic[..], [0xFF, 0xFE] | [0, 0]) {
            (&mut stream).take(2).read_to_end(&mut magic).map_err(LineError::Io)?;
        }
        match magic[..] {
            [0xFF, 0xFE, 0, 0] | [0, 0, 0xFE, 0xFF] => return Err(LineError::Utf32),
            [0xFF, 0xFE, ..] | [0xFE, 0xFF] => return Err(LineError::Utf16),
            _ => {}
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

    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether the record at hand is as long as one can be.
    pub(super) fn is_full(&self) -> bool {
        self.end - self.start >= LONGEST
    }

    /// Read more into the buffer, making room first.
    pub(super) fn fill(&mut self) -> Result<(), LineError> {
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

    /// Pass over blank lines, and read the whole of the first line that is none; whether there is one.
    fn read_first_line(&mut self) -> Result<bool, LineError> {
        let mut looked_at = 0;
        loop {
            let lead = self.rest().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.consume(lead, self.lines_in(lead));
            looked_at = if lead > 0 { 0 } else { looked_at };
            if memchr(b'\n', &self.rest()[looked_at..]).is_some() {
                return Ok(true);
            }
            looked_at = self.rest().len();
            if self.ended || looked_at > LONGEST_LINE {
                let line = self.rest().strip_suffix(b"\r").unwrap_or(self.rest());
                if memchr(b'\r', line).is_some() {
                    return Err(LineError::LoneReturn);
                }
            }
            if self.ended {
                return Ok(!self.rest().is_empty());
            }
            self.fill()?;
        }
    }

    fn read_header(&mut self, delimiter: Option<u8>, header: bool) -> Result<(), LineError> {
        if !self.read_first_line()? {
            return Ok(()); // nothing but blank lines
        }
        loop {
            self.delimiter = delimiter.unwrap_or_else(|| sniff(self.rest()));
            let mut fields = Vec::new();
            match self.fields(self.rest(), self.ended, |i, bytes, first| {
                if first {
                    fields.resize(i + 1, Vec::new());
                }
                fields[i].extend_from_slice(bytes);
            }) {
                Outcome::Incomplete => {
                    if self.fill_record()?.is_some() {
                        return Err(LineError::Header { line: self.line, reason: UNCLOSED.into() });
                    }
                }
                Outcome::Bad(_, reason) => return Err(LineError::Header { line: self.line, reason }),
                Outcome::Row(length) | Outcome::Blank(length) => {
                    self.width = fields.len();
                    self.names = if header {
                        self.consume(length, self.lines_in(length));
                        fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
                    } else {
                        (1..=self.width).map(|i| i.to_string()).collect()
                    };
                    return Ok(());
                }
            }
        }
    }

    /// Go on behind so many bytes, which have so many line ends.
    fn consume(&mut self, length: usize, lines: usize) {
        self.line += lines as u64;
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
                Outcome::Row(length) => {
                    let lines = self.lines_in(length);
                    let bad = match self.stray(length, lines) {
                        Some(first) => (first, UNCLOSED.into()),
                        None => match rows.close(self) {
                            Ok(()) => {
                                self.consume(length, lines);
                                continue;
                            }
                            Err(reason) => self.broken(length, reason),
                        },
                    };
                    rows.drop_open();
                    if self.reject(bad, rows.rejects(), skip_bad) {
                        break;
                    }
                }
                Outcome::Blank(length) => self.consume(length, 1),
                Outcome::Bad(length, reason) => {
                    rows.drop_open();
                    if self.reject(self.broken(length, reason), rows.rejects(), skip_bad) {
                        break;
                    }
                }
                Outcome::Incomplete => {
                    rows.drop_open();
                    if self.ended && self.rest().is_empty() || self.live && rows.count() > 0 {
                        break;
                    }
                    if let Some(first) = self.fill_record()?
                        && self.reject((first, UNCLOSED.into()), rows.rejects(), skip_bad)
                    {
                        break;
                    }
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
    fn reject(
        &mut self,
        (length, reason): (usize, String),
        rejects: &mut Vec<Reject>,
        skip_bad: bool,
    ) -> bool {
        let row = self.rest()[..length].trim_ascii_end().to_vec();
        let reject = Reject { line: self.line, reason, row };
        self.consume(length, self.lines_in(length));
        if skip_bad {
            rejects.push(reject);
        } else {
            self.pending = Some(reject);
        }
        !skip_bad
    }
}
