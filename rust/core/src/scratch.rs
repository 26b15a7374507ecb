//! What one thread works in from document to document, and how many terms a document may have there.

use crate::error::Error;
use crate::grams::{grams_of, grams_of_words};
use crate::key::Term;
use crate::scan::Edges;

/// Terms of an uncommonly long document.
const LARGE: usize = 1 << 22;

/// Working memory of one thread, reused from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) most: Option<usize>, // terms that a document may have
    pub(crate) prepared: String,
    pub(crate) text: Vec<u8>,
    pub(crate) edges: Edges,
    pub(crate) terms: Vec<Term>,
    pub(crate) words: usize,
    pub(crate) hashes: Vec<u32>,  // of tokens, where runs of them are hashed
    pub(crate) buckets: Vec<u32>, // of fastText
    pub(crate) field: Option<Box<Scratch>>,
}

impl Scratch {
    /// Working memory for documents of at most so many terms.
    pub(crate) fn for_at_most(terms: usize) -> Self {
        Self { most: Some(terms), ..Self::default() }
    }

    /// As many terms as a document may have.
    pub(crate) fn most_terms(&self) -> usize {
        self.most.unwrap_or(usize::MAX)
    }

    /// Give back the memory of an uncommonly long document.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        if self.terms.capacity() > LARGE {
            *self = Self { most: self.most, ..Self::default() };
        }
    }

    /// Refuse document `row`, whose terms are runs of `sizes` lengths of so many tokens or characters.
    pub(crate) fn must_hold(&self, pieces: usize, sizes: usize, row: usize) -> Result<(), Error> {
        let most = self.most_terms();
        if pieces.saturating_mul(sizes) > most { Err(Error::TooManyTerms { row, most }) } else { Ok(()) }
    }

    /// The same of the characters of a text, which are counted only if its bytes are too many.
    pub(crate) fn must_hold_characters(&self, text: &[u8], sizes: usize, row: usize) -> Result<(), Error> {
        if text.len().saturating_mul(sizes) <= self.most_terms() {
            return Ok(());
        }
        self.must_hold(text.iter().filter(|byte| **byte & 0xC0 != 0x80).count(), sizes, row)
    }

    /// How many of [`Self::terms`] are of words; behind them are those of characters beside words.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// The terms of the document analysed last, and the bytes their long keys point into.
    #[must_use]
    pub fn terms(&self) -> (&[Term], &[u8]) {
        (&self.terms, &self.text)
    }

    /// Set the edges to those of the character n-grams of the text, or of each space-padded word of it.
    pub(crate) fn character_grams(&mut self, ngrams: (usize, usize), in_words: bool) {
        let Self { text, edges, .. } = self;
        edges.clear();
        if in_words {
            grams_of_words(text, ngrams, |start, end| edges.push(start, end));
        } else {
            let all = (0, text.len());
            grams_of(text, all, ngrams, false, &mut Vec::new(), &mut |start, end| edges.push(start, end));
        }
    }
}
