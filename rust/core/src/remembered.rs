//! The n-grams of characters of words, remembered while a vectoriser reads.

use crate::analyse::Scratch;
use crate::grams::push_grams_of_word;
use crate::key::Term;
use crate::lexicon::Lexicon;

/// Numbers of character n-grams that are kept for words that may come again: 256 MiB of them.
const REMEMBERED: usize = 1 << 26;

/// The n-grams of characters that words are made of, for words that come again.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    words: Lexicon,
    ends: Vec<usize>, // of the n-grams of each word
    grams: Vec<u32>,
    found: Vec<u32>,
    word: Vec<u8>,
    text: Vec<u8>,
    bounds: Vec<usize>,
    terms: Vec<Term>,
    numbers: Vec<u32>,
}

impl Remembered {
    /// The numbers of the n-grams of all words in `scratch`.
    pub(crate) fn numbers(
        &mut self,
        scratch: &Scratch,
        ngrams: (usize, usize),
        lexicon: &mut Lexicon,
    ) -> &[u32] {
        if self.grams.len() > REMEMBERED {
            *self = Self::default();
        }
        let (terms, text) = scratch.terms();
        self.found.clear();
        self.words.number(terms, text, &mut self.found);
        self.numbers.clear();
        for (term, word) in terms.iter().zip(&self.found) {
            let word = *word as usize;
            if word == self.ends.len() {
                self.word.clear();
                term.key.append(text, &mut self.word);
                push_grams_of_word(&self.word, ngrams, &mut self.text, &mut self.bounds, &mut self.terms);
                lexicon.number(&self.terms, &self.text, &mut self.grams);
                self.ends.push(self.grams.len());
            }
            let from = if word == 0 { 0 } else { self.ends[word - 1] };
            self.numbers.extend_from_slice(&self.grams[from..self.ends[word]]);
        }
        &self.numbers
    }
}
