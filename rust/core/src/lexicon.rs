//! A vocabulary that grows while texts are read.
//!
//! Terms get numbers as they come. An n-gram is found by a pair of numbers, those of the n-gram without its
//! last word and of that word: none is spelled out before it is known that it will be kept. [`Lexicon::terms`]
//! then says what all numbers mean.

use crate::error::Error;
use crate::key::{Key, Term};
use crate::pairs::Pairs;
use crate::table::Table;
use crate::terms::Terms;

/// As many terms as a lexicon may have, so that no document can lead past what an `i32` holds.
const MOST: u32 = 1 << 30;

/// Numbered terms: words (or n-grams of characters), and words behind other terms.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    words: Table,
    pairs: Pairs,
    next: u32,         // number of the next new term
    numbers: Vec<u32>, // of the words of the document at hand
    grams: Vec<u32>,   // of its n-grams of one length
}

impl Lexicon {
    /// How many terms there are, whose numbers are below that.
    pub(crate) fn len(&self) -> usize {
        self.next as usize
    }

    /// Whether no more terms than can be numbered have come.
    ///
    /// # Errors
    /// [`Error::Overflow`] past 2^30 terms.
    pub(crate) fn checked(&self) -> Result<(), Error> {
        if self.next >= MOST { Err(Error::Overflow) } else { Ok(()) }
    }

    /// Append the number of each word.
    pub(crate) fn number(&mut self, words: &[Term], text: &[u8], numbers: &mut Vec<u32>) {
        self.words.number(words, text, &mut self.next, numbers);
    }

    /// Show `each` the numbers of a document's words, then of its pairs of words, and so on, as far as they are
    /// of `shortest` to `longest` words; and how many terms there are by then.
    pub(crate) fn number_ngrams(
        &mut self,
        words: &[Term],
        text: &[u8],
        (shortest, longest): (usize, usize),
        mut each: impl FnMut(&[u32], usize),
    ) {
        let Self { words: table, pairs, next, numbers, grams } = self;
        numbers.clear();
        table.number(words, text, next, numbers);
        if shortest == 1 {
            each(numbers, *next as usize);
        }
        if longest > 1 {
            grams.clone_from(numbers);
        }
        for n in 2..=longest.min(numbers.len()) {
            pairs.join(grams, &numbers[n - 1..], next, |_| {});
            if n >= shortest {
                each(grams, *next as usize);
            }
        }
    }

    /// The same term by term: its number, and what was noted beside it last, at first zero.
    pub(crate) fn visit_ngrams(
        &mut self,
        words: &[Term],
        text: &[u8],
        (shortest, longest): (usize, usize),
        mut each: impl FnMut(u32, &mut u32),
    ) {
        let Self { words: table, pairs, next, numbers, grams } = self;
        numbers.clear();
        table.visit(words, text, next, |slot| {
            numbers.push(slot.id);
            if shortest == 1 {
                each(slot.id, &mut slot.stamp);
            }
        });
        if longest > 1 {
            grams.clone_from(numbers);
        }
        for n in 2..=longest.min(numbers.len()) {
            pairs.join(grams, &numbers[n - 1..], next, |pair| {
                if n >= shortest {
                    each(pair.number, &mut pair.place);
                }
            });
        }
    }

    /// Forget what was noted beside terms.
    pub(crate) fn forget_notes(&mut self) {
        self.words.iter_mut().for_each(|slot| slot.stamp = 0);
        self.pairs.iter_mut().for_each(|pair| pair.place = 0);
    }

    /// Take in the terms of another lexicon, new ones as they came there; the numbers they have here.
    ///
    /// # Errors
    /// [`Error::Overflow`] past 2^30 terms.
    pub(crate) fn absorb(&mut self, other: &Terms) -> Result<Vec<u32>, Error> {
        let mut numbers: Vec<u32> = Vec::with_capacity(other.len());
        let (mut terms, mut firsts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut words, mut pairs) = (other.words(), other.pairs());
        while numbers.len() < other.len() {
            let came = |number: u32, i: usize, known: usize| number as usize == known + i;
            let known = numbers.len();
            let run = (0..words.len()).take_while(|i| came(words[*i].0, *i, known)).count();
            terms.clear();
            let term = |key: Key| Term { key, hash: key.hash(other.arena()) };
            terms.extend(words[..run].iter().map(|(_, key)| term(*key)));
            self.words.number(&terms, other.arena(), &mut self.next, &mut numbers);
            words = &words[run..];

            let known = numbers.len(); // n-grams can be looked up together that begin with one of these
            let run = (0..pairs.len())
                .take_while(|i| came(pairs[*i].0, *i, known) && ((pairs[*i].1 >> 32) as usize) < known)
                .count();
            firsts.clear();
            firsts.extend(pairs[..run].iter().map(|(_, both)| numbers[(both >> 32) as usize]));
            seconds.clear();
            seconds.extend(pairs[..run].iter().map(|(_, both)| numbers[*both as u32 as usize]));
            self.pairs.join(&mut firsts, &seconds, &mut self.next, |_| {});
            numbers.extend_from_slice(&firsts);
            pairs = &pairs[run..];
        }
        self.checked()?;
        Ok(numbers)
    }

    /// The terms so far.
    pub(crate) fn terms(&self) -> Terms {
        Terms::new(self.words.by_number(self.next), self.words.arena.clone(), self.pairs.list().to_vec())
    }

    /// The terms, and an end of this lexicon.
    pub(crate) fn into_terms(self) -> Terms {
        let words = self.words.by_number(self.next);
        Terms::new(words, self.words.arena, self.pairs.into_list())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lexicon: &mut Lexicon, words: &[&str]) -> Vec<u32> {
        let (mut text, mut terms, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for word in words {
            text.extend_from_slice(word.as_bytes());
            terms.push(Term::of(&text, text.len() - word.len(), word.len()));
        }
        lexicon.number_ngrams(&terms, &text, (1, 3), |numbers, _| found.extend_from_slice(numbers));
        let mut visited = Vec::new();
        lexicon.visit_ngrams(&terms, &text, (1, 3), |number, note| {
            *note += 1;
            visited.push(number);
        });
        assert_eq!(found, visited);
        found
    }

    #[test]
    fn terms_are_numbered_as_they_come_and_keep_their_names_in_another_lexicon() {
        let (mut first, mut second) = (Lexicon::default(), Lexicon::default());
        assert_eq!(read(&mut first, &["b", "a", "b"]), [0, 1, 0, 2, 3, 4]);
        assert_eq!(read(&mut second, &["c", "a", "b"]), [0, 1, 2, 3, 4, 5]);
        let other = second.into_terms();
        assert_eq!(other.names(&[5, 9, 0]), ["c a b", "c"]);
        let numbers = first.absorb(&other).unwrap();
        assert_eq!(numbers, [5, 1, 0, 6, 3, 7]);
        let terms = first.into_terms();
        assert_eq!(terms.names(&numbers), other.names(&[0, 1, 2, 3, 4, 5]));
        assert_eq!(terms.names(&[2, 4]), ["b a", "b a b"]);
    }
}
