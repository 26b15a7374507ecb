//! From a document to its terms: prepared, tokenised, joined to n-grams, hashed or not.

use crate::error::Error;
use crate::key::Term;
use crate::murmur;
use crate::prepare::Preparation;
use crate::processor::at_its_best;
use crate::scan::Edges;
use crate::tokenise::{Unit, is_space};
use crate::vocabulary::Words;

/// Longest document that is taken, in bytes of prepared text.
const LONGEST: usize = 1 << 30;
/// Zero bytes behind the text, so that keys are loaded sixteen bytes at a time.
const PADDING: [u8; 16] = [0; 16];

/// What terms are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grams {
    /// Runs of tokens, joined by one space.
    Tokens(Unit),
    /// Runs of characters of the whole text, white space of two or more folded to one space.
    Characters,
    /// Runs of characters of each space-padded word.
    CharactersInWords,
}

/// What becomes of a term that is not in a vocabulary fixed in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// It is left out.
    Drop,
    /// It counts as the word [`UNKNOWN`].
    Count,
}

/// The word that stands for all words outside the vocabulary.
pub const UNKNOWN: &str = "<UNK>";

/// Everything that decides which terms a text has. Immutable, shared by threads.
#[derive(Debug)]
pub struct Analyser {
    preparation: Preparation,
    grams: Grams,
    shortest: usize,
    longest: usize,
    stop_words: Option<Words>,
    hashing: Option<(u32, u32)>, // bits, seed
    fixed: Option<(Words, Outside)>,
}

/// Working memory of one thread, reused from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    prepared: String,
    text: Vec<u8>,
    edges: Edges,
    terms: Vec<Term>,
}

impl Scratch {
    /// The terms of the document analysed last, and the bytes their long keys point into.
    #[must_use]
    pub fn terms(&self) -> (&[Term], &[u8]) {
        (&self.terms, &self.text)
    }
}

impl Analyser {
    /// An analyser of `ngrams.0` to `ngrams.1` grams.
    ///
    /// # Errors
    /// [`Error::Setting`] if the n-gram range is empty or over 16, or the hash bits are outside 1 to 31.
    pub fn new(
        preparation: Preparation,
        grams: Grams,
        ngrams: (usize, usize),
        stop_words: &[String],
        hashing: Option<(u32, u32)>,
        fixed: Option<(Words, Outside)>,
    ) -> Result<Self, Error> {
        if ngrams.0 < 1 || ngrams.1 < ngrams.0 || ngrams.1 > 16 {
            return Err(Error::Setting(format!(
                "n-grams from {} to {}: must be from 1 to 16, the first not above the second",
                ngrams.0, ngrams.1
            )));
        }
        if let Some((bits, _)) = hashing
            && !(1..=31).contains(&bits)
        {
            return Err(Error::Setting(format!("{bits} hash bits: must be from 1 to 31")));
        }
        Ok(Self {
            preparation,
            grams,
            shortest: ngrams.0,
            longest: ngrams.1,
            stop_words: (!stop_words.is_empty()).then(|| Words::from_strings(stop_words)),
            hashing,
            fixed,
        })
    }

    /// Put the terms of `text` into `scratch`, document number `row` of its batch.
    ///
    /// Linear in the length of the text times the number of n-gram sizes.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`] above 1 GiB.
    pub fn analyse(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        if text.len() > LONGEST {
            return Err(Error::DocumentTooLong { row });
        }
        match self.grams {
            Grams::Tokens(unit) => self.tokens(unit, text, scratch),
            Grams::Characters => self.characters(&folded(self.prepared(text, scratch)), scratch, false),
            Grams::CharactersInWords => self.characters(&spaced(self.prepared(text, scratch)), scratch, true),
        }
        let Scratch { text, edges, terms, .. } = scratch;
        if text.len() > 2 * LONGEST {
            return Err(Error::DocumentTooLong { row }); // long n-grams of a long document
        }
        text.extend_from_slice(&PADDING);
        let spans = edges.pairs().map(|(start, end)| (start, end - start));
        terms.clear();
        match self.hashing {
            None => push_terms(text, edges, terms),
            Some((bits, seed)) => terms.extend(spans.map(|(start, length)| {
                Term::bucket(murmur::bucket(&text[start..start + length], bits, seed), bits)
            })),
        }
        if let Some((words, outside)) = &self.fixed {
            let unknown = Term::of(UNKNOWN.as_bytes(), 0, UNKNOWN.len());
            terms.retain_mut(|term| {
                let known = words.view().find(*term, text).is_some();
                if !known {
                    *term = unknown;
                }
                known || *outside == Outside::Count
            });
        }
        Ok(())
    }

    fn prepared<'s>(&self, text: &str, scratch: &'s mut Scratch) -> &'s str {
        scratch.prepared.clear();
        self.preparation.apply(text, &mut scratch.prepared);
        &scratch.prepared
    }

    /// Tokens, less stop words, and their n-grams.
    fn tokens(&self, unit: Unit, text: &str, scratch: &mut Scratch) {
        let Scratch { text: bytes, edges, .. } = scratch;
        unit.tokens(text, self.preparation, bytes, edges);
        if let Some(stop_words) = &self.stop_words {
            edges.retain(|start, end| {
                stop_words.view().find(Term::of(bytes, start, end - start), bytes).is_none()
            });
        }
        if self.longest > 1 {
            self.join_tokens(bytes, edges);
        }
    }

    /// Replace the edges of tokens by those of their n-grams; joined ones go behind the text.
    fn join_tokens(&self, text: &mut Vec<u8>, edges: &mut Edges) {
        let tokens: Vec<(usize, usize)> = edges.pairs().collect();
        if self.shortest > 1 {
            edges.clear();
        }
        for n in self.shortest.max(2)..=self.longest {
            for window in tokens.windows(n) {
                let from = text.len();
                for (start, end) in window {
                    if text.len() > from {
                        text.push(b' ');
                    }
                    text.extend_from_within(*start..*end);
                }
                edges.push(from, text.len());
            }
        }
    }

    /// Character n-grams of a text, or of each of its words with the spaces around it.
    fn characters(&self, text: &str, scratch: &mut Scratch, in_words: bool) {
        let Scratch { text: bytes, edges, .. } = scratch;
        bytes.clear();
        bytes.extend_from_slice(text.as_bytes());
        edges.clear();
        if !in_words {
            return self.character_grams(text, (0, text.len()), edges, false);
        }
        let mut start = 0; // at the space before a word
        while let Some(length) = text[start + 1..].find(' ') {
            self.character_grams(text, (start, start + length + 2), edges, true);
            start += length + 1;
        }
    }

    /// Append the edges of the character n-grams of a stretch of the text.
    ///
    /// `whole`: a stretch shorter than n counts once, as itself (scikit-learn's `char_wb`).
    fn character_grams(&self, text: &str, stretch: (usize, usize), edges: &mut Edges, whole: bool) {
        let (from, to) = stretch;
        let mut bounds: Vec<usize> = text[from..to].char_indices().map(|(i, _)| from + i).collect();
        bounds.push(to);
        let characters = bounds.len() - 1;
        for n in self.shortest..=self.longest {
            for i in 0..(characters + 1).saturating_sub(n) {
                edges.push(bounds[i], bounds[i + n]);
            }
            if whole && characters <= n {
                if characters < n {
                    edges.push(from, to);
                }
                break;
            }
        }
    }
}

at_its_best! {
    /// The words at these edges of a text, as terms.
    fn push_terms(text: &[u8], edges: &Edges, terms: &mut Vec<Term>) {
        terms.extend(edges.pairs().map(|(start, end)| Term::of(text, start, end - start)));
    }
}

/// The text with each run of two or more white-space characters as one space.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_space(c) && chars.peek().is_some_and(|next| is_space(*next)) {
            while chars.next_if(|next| is_space(*next)).is_some() {}
            out.push(' ');
        } else {
            out.push(c);
        }
    }
    out
}

/// The words of the text, one space before, between and behind them.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        out.push_str(word);
        out.push(' ');
    }
    out
}
