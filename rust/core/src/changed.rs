//! Weights of which some rows have changed, and words that came after the vocabulary was made.

use crate::key::Term;
use crate::pages::Pages;
use crate::vocabulary::Vocabulary;

/// Stands for a word that is not in the vocabulary.
pub(crate) const ABSENT: u32 = u32::MAX;

/// A table of weights of which some rows have changed.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'a> {
    /// The table as it was.
    pub table: &'a [f64],
    /// The rows that differ, and those of new words.
    pub pages: &'a Pages,
    /// What is taken from every row, (K).
    pub less: &'a [f64],
    /// Words that the vocabulary does not have. Where there may be some, a word whose row is not a number is gone.
    pub more: Option<More<'a>>,
}

/// Words beyond a vocabulary.
#[derive(Debug, Clone, Copy)]
pub struct More<'a> {
    /// The words.
    pub words: Vocabulary<'a>,
    /// The row of each, behind those of the vocabulary.
    pub rows: &'a [u32],
    /// Row by row, before which word of the vocabulary a new one stands in the order of all.
    pub places: &'a [u32],
    /// Row by row, the number of the new word among the new ones.
    pub ranks: &'a [u32],
}

impl<'a> Changed<'a> {
    pub(crate) fn fits(&self, words: usize, classes: usize) -> bool {
        let behind = |row: &u32| (words..self.pages.len()).contains(&(*row as usize));
        let new = self.pages.len().wrapping_sub(words);
        words.checked_mul(classes) == Some(self.table.len())
            && self.pages.width() == classes
            && self.pages.len() >= words
            && self.less.len() == classes
            && self.more.is_none_or(|more| {
                [more.places.len(), more.ranks.len(), more.rows.len(), more.words.len()] == [new; 4]
                    && more.rows.iter().all(behind)
            })
    }

    #[inline(always)]
    pub(crate) fn row(&self, id: u32) -> impl Iterator<Item = f64> + use<'a> {
        self.pages.row(self.table, id as usize).iter().zip(self.less).map(|(weight, less)| weight - less)
    }

    /// Take words that are gone out of `ids`, one for each term (`ABSENT` where there is none), and put new ones in.
    pub(crate) fn settle(&self, more: &More<'_>, terms: &[Term], text: &[u8], ids: &mut Vec<u32>) {
        let mut term = terms.iter();
        ids.retain_mut(|id| {
            let term = term.next();
            if *id == ABSENT
                && let Some(number) = term.and_then(|term| more.words.find(*term, text))
            {
                *id = more.rows[number as usize];
            }
            *id != ABSENT
                && !self.pages.row(self.table, *id as usize).first().is_some_and(|first| first.is_nan())
        });
    }
}

impl More<'_> {
    /// Bring words into the order of all of them.
    pub(crate) fn sort(&self, words: usize, ids: &mut [u32]) {
        ids.sort_unstable_by_key(|id| {
            let new = (*id as usize).checked_sub(words);
            new.map_or((*id, 1, 0), |new| (self.places[new], 0, self.ranks[new]))
        });
    }
}
