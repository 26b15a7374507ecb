//! Everything that can go wrong in a kernel; each variant maps to one Python error.

use std::fmt;

/// Why a kernel refused its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A setting is out of range; the text names it.
    Setting(String),
    /// Document `row` is longer than the 1 GiB a document may have.
    DocumentTooLong {
        /// Its position in the batch.
        row: usize,
    },
    /// Document `row` has more terms than may be held at once.
    TooManyTerms {
        /// Its position in the batch.
        row: usize,
        /// How many it may have.
        most: usize,
    },
    /// Two arrays that belong together differ in length, or an array holds what it must not.
    Malformed(String),
    /// Subtracting would take a count below zero: `word` in `class`.
    NegativeCount {
        /// The word, or nothing when the class's own document count would go below zero.
        word: Option<String>,
        /// The class whose count is too small.
        class: String,
    },
    /// A total no longer fits 64 bits.
    Overflow,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(what) | Self::Malformed(what) => out.write_str(what),
            Self::DocumentTooLong { row } => {
                write!(out, "document {row} is longer than 1 GiB")
            }
            Self::TooManyTerms { row, most } => {
                write!(
                    out,
                    "document {row} has more than {most} words and n-grams, too many to be held at once"
                )
            }
            Self::NegativeCount { word: Some(word), class } => {
                write!(out, "the count of `{word}` in class `{class}` would go below zero")
            }
            Self::NegativeCount { word: None, class } => {
                write!(out, "the number of documents of class `{class}` would go below zero")
            }
            Self::Overflow => out.write_str("a count no longer fits 64 bits"),
        }
    }
}

impl std::error::Error for Error {}
