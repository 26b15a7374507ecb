//! Records that run on: where a long one ends, and whether the quote that holds it open is a stray one.
//!
//! A quoted field may span lines, so a stray quote swallows rows until the next quote. Whether lines behind it
//! are text or rows is told by reading them as rows: almost all lines of a table are rows of the right
//! width, and few lines of a text are.

use memchr::{memchr, memchr_iter, memchr2};

use super::LineError;
use super::fields::{Outcome, UNCLOSED};
use super::reader::Reader;

/// Lines of a legal record from which on it is looked at whether they are rows.
const MANY_LINES: usize = 1000;
/// Rows that are looked at.
const LOOKED_AT: usize = 1000;
/// Bytes of a quoted field from which on it is looked at before it ends, and then each time it has doubled.
const LONG_FIELD: usize = 1 << 20;
/// Quoted fields of a record of which one may begin with a stray quote.
const CANDIDATES: usize = 8;

/// Of a hundred, so many lines behind a quote must be rows for it to be a stray one.
#[derive(Clone, Copy)]
enum Share {
    /// The record is legal.
    Legal = 99,
    /// It breaks the rules.
    Broken = 90,
    /// It reaches to the end of the file.
    Unclosed = 50,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote in a quoted field, which closes it or is doubled.
    Behind,
    /// Behind a closing quote, where nothing may be.
    Broken,
}

/// How far the end of a record was looked for, so that no byte of a long one is looked at twice.
pub(super) struct Search {
    at: usize,
    place: Place,
    open: usize, // where the quoted field at hand begins
    limit: usize,
}

impl Search {
    fn new() -> Self {
        Self { at: 0, place: Place::FieldStart, open: 0, limit: LONG_FIELD }
    }

    fn is_quoted(&self) -> bool {
        matches!(self.place, Place::Quoted | Place::Behind)
    }
}

impl Reader {
    /// Read on until the record at hand may be whole; whether a stray quote holds it open.
    pub(super) fn fill_record(&mut self) -> Result<Option<usize>, LineError> {
        let mut search = Search::new();
        loop {
            if self.is_ended_by(&mut search) {
                return Ok(None);
            }
            if search.is_quoted() && (self.is_full() || self.runs_away(&mut search)) {
                return Ok(Some(self.line_end(search.open)));
            }
            self.fill()?;
            if self.ended {
                return Ok(None);
            }
        }
    }

    /// Look on for the line end that ends the record.
    fn is_ended_by(&self, search: &mut Search) -> bool {
        let data = self.rest();
        while search.at < data.len() {
            let rest = &data[search.at..];
            match search.place {
                Place::FieldStart if Some(rest[0]) == self.quote => {
                    (search.place, search.open) = (Place::Quoted, search.at);
                    search.at += 1;
                }
                Place::FieldStart => search.place = Place::Plain,
                Place::Plain if self.quote.is_none() => return self.is_line_end(search),
                Place::Plain => match memchr2(self.delimiter, b'\n', rest) {
                    Some(length) if rest[length] == b'\n' => return true,
                    Some(length) => {
                        search.at += length + 1;
                        search.place = Place::FieldStart;
                    }
                    None => search.at = data.len(),
                },
                Place::Quoted => match self.quote.and_then(|quote| memchr(quote, rest)) {
                    Some(length) => {
                        search.at += length + 1;
                        search.place = Place::Behind;
                    }
                    None => search.at = data.len(),
                },
                Place::Behind => {
                    search.place = match rest[0] {
                        b'\n' => return true,
                        byte if Some(byte) == self.quote => Place::Quoted,
                        byte if byte == self.delimiter => Place::FieldStart,
                        _ => Place::Broken,
                    };
                    search.at += 1;
                }
                Place::Broken => return self.is_line_end(search),
            }
        }
        false
    }

    fn is_line_end(&self, search: &mut Search) -> bool {
        let data = self.rest();
        let found = memchr(b'\n', &data[search.at..]).is_some();
        if !found {
            search.at = data.len();
        }
        found
    }

    /// Whether a quoted field that has not ended yet is lines that are rows.
    ///
    /// It is looked at in lengths that double, however many bytes came at once.
    fn runs_away(&self, search: &mut Search) -> bool {
        while self.rest().len() - search.open >= search.limit {
            let to = search.open + search.limit;
            search.limit *= 2;
            if self.width == 0 {
                return true; // the name of a column has not so many bytes
            }
            if self.width > 1
                && self.lines_in(to) > MANY_LINES
                && self.are_rows(self.line_end(search.open), to, Share::Legal)
            {
                return true;
            }
        }
        false
    }

    /// Length and reason of the part of a broken record to be left out: its first lines, if rows follow.
    pub(super) fn broken(&self, length: usize, reason: String) -> (usize, String) {
        let lines = self.lines_in(length.saturating_sub(1)) + 1;
        if lines == 1 {
            return (length, reason);
        }
        let share = if reason == UNCLOSED { Share::Unclosed } else { Share::Broken };
        let may = self.width > 1 || share as usize == Share::Unclosed as usize || lines > MANY_LINES;
        match self.first_stray(length, share) {
            Some(first) if may => (first, UNCLOSED.into()),
            _ => (length, format!("{reason}; {lines} lines are left out")),
        }
    }

    /// Length of the first lines of a legal record, if it has so many that are rows that its quote is stray.
    pub(super) fn stray(&self, length: usize, lines: usize) -> Option<usize> {
        if lines <= MANY_LINES || self.quote.is_none() || self.width < 2 {
            return None;
        }
        self.first_stray(length, Share::Legal)
    }

    /// Where the line ends on which the first quote stands behind which lines are rows.
    fn first_stray(&self, length: usize, share: Share) -> Option<usize> {
        let data = &self.rest()[..length];
        let mut found = Vec::new();
        let mut at = 0;
        while at < data.len() && found.len() < CANDIDATES {
            if Some(data[at]) != self.quote {
                let end = memchr2(self.delimiter, b'\n', &data[at..]);
                at = end.map_or(data.len(), |end| at + end + 1);
                continue;
            }
            let open = at;
            at += 1;
            loop {
                let Some(end) = self.quote.and_then(|quote| memchr(quote, &data[at..])) else {
                    at = data.len();
                    break;
                };
                at += end + 1;
                if data.get(at).copied() != self.quote {
                    break;
                }
                at += 1;
            }
            if memchr(b'\n', &data[open..at]).is_some() {
                found.push(self.line_end(open));
            }
            let behind = memchr2(self.delimiter, b'\n', &data[at..]);
            at = behind.map_or(data.len(), |end| at + end + 1);
        }
        found.into_iter().find(|from| *from < length && self.are_rows(*from, length, share))
    }

    /// Whether the lines in a stretch are rows, nearly all; one that may go on behind it does not count.
    ///
    /// Nothing behind the stretch is looked at: how much of it has been read yet must not matter.
    fn are_rows(&self, from: usize, to: usize, share: Share) -> bool {
        let data = &self.rest()[..to];
        let is_all = matches!(share, Share::Unclosed);
        let (mut at, mut rows, mut all) = (from, 0, 0);
        while at < to && all < LOOKED_AT {
            let (mut count, mut doubled) = (0, false);
            let outcome = self.fields(&data[at..], is_all, |i, piece, is_first| {
                count = i + 1;
                // Quotes are doubled within quotes only.
                doubled |= is_first && self.quote.is_some_and(|quote| contains_pair(piece, quote));
            });
            let (length, right) = match outcome {
                Outcome::Row(length) => (length, count == self.width && !doubled),
                Outcome::Bad(_, _) => (self.line_end(at).min(to) - at, false),
                Outcome::Blank(length) => {
                    at += length;
                    continue;
                }
                Outcome::Incomplete => break,
            };
            rows += usize::from(right);
            all += 1;
            at += length;
        }
        rows > 0 && 100 * rows >= share as usize * all
    }

    /// Where the line ends that a place is on.
    fn line_end(&self, at: usize) -> usize {
        let data = self.rest();
        memchr(b'\n', &data[at..]).map_or(data.len(), |end| at + end + 1)
    }

    /// Line ends in so many bytes.
    pub(super) fn lines_in(&self, length: usize) -> usize {
        memchr_iter(b'\n', &self.rest()[..length]).count()
    }
}

/// Whether a byte comes twice in a row.
fn contains_pair(bytes: &[u8], byte: u8) -> bool {
    memchr_iter(byte, bytes).any(|at| bytes.get(at + 1) == Some(&byte))
}
