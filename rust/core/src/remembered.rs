//! The n-grams of characters of words, remembered for words that come again.

use crate::key::Term;
use crate::processor::prefetch;
use crate::scratch::Scratch;
use crate::spelling::{Spelled, Spelling};
use crate::table::Table;

/// How many words ahead their n-grams are asked for.
const AHEAD: usize = 4;

/// The numbers of the n-grams of characters that words are spelled with.
#[derive(Debug)]
pub(crate) struct Remembered {
    most: usize, // n-grams that are kept
    words: Table,
    next: u32,        // number of the next new word
    ends: Vec<usize>, // 0, and of the n-grams of each word
    times: Vec<u32>,  // how often each word came in the document at hand; zeros between documents
    all: Vec<u32>,    // how many n-grams each word has, of which some may have no number
    grams: Vec<u32>,
    found: Vec<u32>, // words of the document at hand
    spelled: Spelled,
}

/// Numbers of character n-grams that are kept where a vocabulary grows: 256 MiB of them.
const REMEMBERED: usize = 1 << 26;

impl Default for Remembered {
    fn default() -> Self {
        Self::for_at_most(REMEMBERED)
    }
}

impl Remembered {
    /// Nothing yet, and no more than about so many n-grams ever, four bytes each.
    pub(crate) fn for_at_most(most: usize) -> Self {
        Self {
            most,
            words: Table::default(),
            next: 0,
            ends: vec![0],
            times: Vec::new(),
            all: Vec::new(),
            grams: Vec::new(),
            found: Vec::new(),
            spelled: Spelled::default(),
        }
    }

    /// Take up the words in `scratch`. How many n-grams they have, and how many of these have a number.
    ///
    /// `number` appends the numbers of the n-grams of a word that has not come yet.
    pub(crate) fn read(
        &mut self,
        scratch: &Scratch,
        spelling: Spelling,
        mut number: impl FnMut(&[Term], &[u8], &mut Vec<u32>),
    ) -> (usize, usize) {
        if self.grams.len() > self.most {
            *self = Self::for_at_most(self.most);
        }
        let (terms, text) = scratch.terms();
        self.found.clear();
        self.words.number(terms, text, &mut self.next, &mut self.found);
        let (mut all, mut numbered) = (0, 0);
        for (term, word) in terms.iter().zip(&self.found) {
            let word = *word as usize;
            if word + 1 == self.ends.len() {
                let (grams, text) = self.spelled.of(*term, text, spelling);
                number(grams, text, &mut self.grams);
                self.ends.push(self.grams.len());
                self.all.push(grams.len() as u32);
                self.times.push(0);
            }
            all += self.all[word] as usize;
            numbered += self.ends[word + 1] - self.ends[word];
        }
        (all, numbered)
    }

    /// The numbers of the n-grams of the words taken up last, word by word.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &[u32]> {
        self.found.iter().map(|word| &self.grams[self.ends[*word as usize]..self.ends[*word as usize + 1]])
    }

    /// The same of each of these words but once, and how often it came.
    pub(crate) fn once(&mut self) -> impl Iterator<Item = (&[u32], u32)> {
        let Self { found, times, grams, ends, .. } = self;
        let mut distinct = 0;
        for i in 0..found.len() {
            let word = found[i];
            let times = &mut times[word as usize];
            found[distinct] = word;
            distinct += usize::from(*times == 0);
            *times += 1;
        }
        found.truncate(distinct);
        found.iter().enumerate().map(|(i, word)| {
            if let Some(soon) = found.get(i + AHEAD) {
                let from = ends[*soon as usize];
                prefetch(grams, from);
                prefetch(grams, from + 16); // a cache line further
            }
            let word = *word as usize;
            (&grams[ends[word]..ends[word + 1]], std::mem::take(&mut times[word]))
        })
    }
}
