//! The words of a text whose characters are counted, and the n-grams that each is spelled with.

use crate::analyse::{Analyser, Grams, PADDING, must_not_be_longer};
use crate::error::Error;
use crate::grams::grams_of;
use crate::key::{MARK, Term};
use crate::scratch::Scratch;
use crate::tokenise::Unit;

/// Which n-grams of its characters a word is spelled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spelling {
    ngrams: (usize, usize),
    /// They stand beside words.
    pub(crate) is_marked: bool,
}

impl Analyser {
    /// How words are spelled where terms are n-grams of the characters of each word, or such are beside others.
    pub(crate) fn spelling(&self) -> Option<Spelling> {
        match (self.grams, self.characters) {
            _ if !self.joins_any() => None,
            (Grams::CharactersInWords, None) => Some(Spelling { ngrams: self.ngrams, is_marked: false }),
            (Grams::Tokens(_), Some(ngrams)) => Some(Spelling { ngrams, is_marked: true }),
            _ => None,
        }
    }

    /// Put the terms of `text` that are not spelled, its tokens and such n-grams of them, into `scratch`.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub(crate) fn analyse_tokens(
        &self,
        text: &str,
        row: usize,
        scratch: &mut Scratch,
        ngrams: (usize, usize),
    ) -> Result<(), Error> {
        if self.grams == Grams::CharactersInWords {
            scratch.terms.clear();
            scratch.words = 0;
            return Ok(());
        }
        self.analyse_to(text, row, scratch, (ngrams, None))
    }

    /// Put the words of `text` that are spelled, those between white space, into `scratch`.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub(crate) fn analyse_words(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        must_not_be_longer(text, row)?;
        let Scratch { text: bytes, edges, terms, .. } = scratch;
        Unit::WHITESPACE.tokens(text, self.preparation, false, bytes, edges);
        terms.clear();
        self.push_tokens(scratch, (1, 1), None);
        scratch.words = scratch.terms.len();
        Ok(())
    }
}

/// The n-grams of one word, with memory that is kept from word to word.
#[derive(Debug, Default)]
pub(crate) struct Spelled {
    text: Vec<u8>,
    bounds: Vec<usize>,
    edges: Vec<(usize, usize)>,
    terms: Vec<Term>,
}

impl Spelled {
    /// The n-grams of a word whose long key points into `text`, and the bytes that their own point into.
    pub(crate) fn of(&mut self, word: Term, text: &[u8], spelling: Spelling) -> (&[Term], &[u8]) {
        let Self { text: bytes, bounds, edges, terms } = self;
        bytes.clear();
        bytes.push(b' ');
        word.key.append(text, bytes);
        bytes.push(b' ');
        let end = bytes.len();
        bytes.extend_from_slice(&PADDING);
        edges.clear();
        grams_of(bytes, (0, end), spelling.ngrams, true, bounds, &mut |start, end| edges.push((start, end)));
        terms.clear();
        terms.extend(edges.iter().map(|(start, end)| {
            if spelling.is_marked {
                Term::marked(bytes, *start, end - start, MARK)
            } else {
                Term::of(bytes, *start, end - start)
            }
        }));
        (terms, bytes)
    }
}
