//! Reading CSV, TSV, fastText lines, plain lines and JSON lines in bounded memory.
//!
//! Unlike most CSV readers this one never guesses: a row that breaks the rules is reported with
//! its line, its reason and its bytes, and reading goes on behind it.
//!
//! [`Reader`] takes bytes from a stream and keeps count of lines; `fields` finds the fields of a record in
//! them; `rows` checks and keeps what was found; `recover` finds where rows go on behind a stray quote.
//! [`JsonLines`] takes the usual objects from bytes that Python reads, and hands back what is unusual.

mod fields;
mod json;
#[cfg(test)]
mod json_tests;
mod reader;
mod recover;
mod rows;
#[cfg(test)]
mod tests;

use std::io;

pub use json::{JsonLines, Keys, LabelKinds, Objects, Unusual};
pub use reader::Reader;
pub use rows::{Batch, Columns, Reject, Strings, Table};

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
    /// The same with any number of labels a line, none included.
    FastTextSets,
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
    /// The header breaks the rules.
    Header {
        /// Where it begins.
        line: u64,
        /// How.
        reason: String,
    },
    /// Lines end in a carriage return alone.
    LoneReturn,
    /// The file is UTF-16.
    Utf16,
    /// The file is UTF-32.
    Utf32,
}
