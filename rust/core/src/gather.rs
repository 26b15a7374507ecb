//! Gathering documents as sparse rows over a vocabulary that grows while they are read.
//!
//! Terms get numbers as they come. In the end those that a model keeps are put in canonical order, and
//! rows are written with the weights that it wants.

use std::sync::Arc;

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::key::Term;
use crate::lexicon::Lexicon;
use crate::memory::reserve;
use crate::processor::{at_its_best, prefetch, prefetch_text};
use crate::remembered::Remembered;
use crate::spelling::Spelling;
use crate::terms::Terms;
use crate::threads::Parts;
use crate::weigh::Weighting;

/// The new number of a term that is not kept.
pub const DROPPED: u32 = u32::MAX;

/// Starts, features and values of sparse rows.
pub type SparseRows = (Vec<i64>, Vec<i32>, Vec<f64>);
/// Keys and arena of a vocabulary, and a number for each word.
pub type Selected = (Vec<u64>, Vec<u8>, Vec<u32>);

/// A term of a document and how often it occurs there.
#[derive(Debug, Clone, Copy)]
struct Entry {
    number: u32,
    count: u32,
}

/// Gathers batches of texts.
#[derive(Debug)]
pub struct Gatherer {
    analyser: Arc<Analyser>,
    parts: Parts<Part>,
}

/// What one thread has gathered.
#[derive(Debug, Default)]
struct Part {
    lexicon: Lexicon,
    entries: Vec<Entry>,
    ends: Vec<usize>,      // of rows, in entries
    words_end: Vec<usize>, // of the words of rows, behind which are characters
    taken: usize,          // entries that were there before
    scratch: Scratch,
    spelled: Scratch,
    remembered: Remembered,
    places: Vec<u32>, // where each n-gram of characters was counted last, as `count` has it
}

impl Gatherer {
    /// A gatherer on so many threads.
    #[must_use]
    pub fn new(analyser: Arc<Analyser>, threads: usize) -> Self {
        Self { analyser, parts: Parts::new(threads) }
    }

    /// Gather a batch. Linear in its bytes.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`]; [`Error::Overflow`] past 2^30 terms or 2^32 non-zeros.
    pub fn add(&mut self, texts: &[&str]) -> Result<(), Error> {
        let analyser = &*self.analyser;
        self.parts.add(texts, |part, share, row| part.add(analyser, share, row))
    }

    /// The rows since the last call, under numbers that stay.
    ///
    /// For a gatherer on one thread, which then keeps the vocabulary only.
    ///
    /// # Errors
    /// [`Error::Setting`] on several threads, whose numbers differ.
    pub fn take_rows(&mut self, weighting: &Weighting<'_>) -> Result<SparseRows, Error> {
        let [part] = self.parts.each.as_mut_slice() else {
            return Err(Error::Setting("rows are taken from a gatherer on one thread".into()));
        };
        self.parts.runs.clear();
        let (mut starts, mut features, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut from = 0;
        for (end, words_end) in part.ends.drain(..).zip(part.words_end.drain(..)) {
            let (words, begin) = (words_end - from, values.len());
            for entry in &part.entries[from..end] {
                features.push(entry.number as i32);
                values.push(weighting.value(0, entry.count));
            }
            let places: Vec<i32> = (0..(end - from) as i32).collect();
            weighting.normalise(&places, &mut values[begin..], |place| place >= words);
            starts.push(features.len() as i64);
            from = end;
        }
        part.taken += part.entries.len();
        part.entries.clear();
        if part.taken > 1 << 31 {
            part.taken = 0;
            part.lexicon.forget_notes();
            part.places.fill(0);
        }
        Ok((starts, features, values))
    }

    /// The vocabulary so far, in canonical order, and the numbers of [`Self::take_rows`].
    #[must_use]
    pub fn vocabulary(&self) -> Selected {
        let (keys, arena, terms) = self.parts.each[0].lexicon.terms().canonical(|_| true);
        (keys, arena, terms.into_iter().map(|(_, number)| number).collect())
    }

    /// All that was gathered, under one numbering.
    ///
    /// # Errors
    /// [`Error::Overflow`] past 2^30 terms.
    pub fn finish(self) -> Result<Gathered, Error> {
        let mut lexicon = Lexicon::default();
        let mut rows = Vec::new();
        for (i, mut part) in self.parts.each.into_iter().enumerate() {
            if i == 0 {
                lexicon = part.lexicon;
            } else {
                let numbers = lexicon.absorb(&part.lexicon.into_terms())?;
                part.entries.iter_mut().for_each(|entry| entry.number = numbers[entry.number as usize]);
                part.entries.shrink_to_fit();
            }
            rows.push((part.entries, part.ends));
        }
        let terms = lexicon.into_terms();
        Ok(Gathered { terms, rows, runs: self.parts.runs, numbers: Vec::new(), kept: 0, blocks: Vec::new() })
    }
}

impl Part {
    fn add(&mut self, analyser: &Analyser, texts: &[&str], first_row: usize) -> Result<(), Error> {
        let (joins, spelling) = (analyser.joinable(), analyser.spelling());
        for (i, text) in texts.iter().enumerate() {
            if let Some(next) = texts.get(i + 1) {
                prefetch_text(next);
            }
            let row = first_row + i;
            match (spelling, joins) {
                (Some(_), _) => {
                    analyser.analyse_tokens(text, row, &mut self.scratch, (1, 1))?;
                    analyser.analyse_words(text, row, &mut self.spelled)?;
                }
                (None, Some(_)) => analyser.analyse_single(text, row, &mut self.scratch)?,
                (None, None) => analyser.analyse(text, row, &mut self.scratch)?,
            }
            self.document(joins.unwrap_or((1, 1)), spelling)?;
        }
        Ok(())
    }

    /// Append the row of the document in `scratch`, and of the words that are spelled.
    fn document(
        &mut self,
        (shortest, longest): (usize, usize),
        spelling: Option<Spelling>,
    ) -> Result<(), Error> {
        let Self { lexicon, entries, scratch, taken, .. } = self;
        let row = (*taken, entries.len());
        let (terms, text) = scratch.terms();
        must_have_room(row, longest * terms.len())?;
        let (words, characters) = terms.split_at(scratch.words());
        lexicon.visit_ngrams(words, text, (shortest, longest), |number, place| {
            *place = count(entries, row, *place, number);
        });
        self.words_end.push(entries.len());
        lexicon.visit_ngrams(characters, text, (1, 1), |number, place| {
            *place = count(entries, row, *place, number);
        });
        if let Some(spelling) = spelling {
            self.spell(row, spelling)?;
        }
        self.ends.push(self.entries.len());
        self.lexicon.checked()
    }

    /// Count the n-grams of words that are spelled, for the row that begins at `row`.
    fn spell(&mut self, row: (usize, usize), spelling: Spelling) -> Result<(), Error> {
        let Self { lexicon, entries, spelled, remembered, places, .. } = self;
        let number =
            |grams: &[Term], text: &[u8], numbers: &mut Vec<u32>| lexicon.number(grams, text, numbers);
        let (all, _) = remembered.read(spelled, spelling, number);
        must_have_room((row.0, entries.len()), all)?;
        if places.len() < lexicon.len() {
            let more = lexicon.len().next_power_of_two() - places.len();
            reserve(places, more);
            places.resize(places.len() + more, 0);
        }
        remembered.once().for_each(|(grams, times)| count_all(grams, times, row, entries, places));
        if let (false, Some(end)) = (spelling.is_marked, self.words_end.last_mut()) {
            *end = entries.len();
        }
        Ok(())
    }
}

/// Refuse more entries than can be numbered.
fn must_have_room((taken, entries): (usize, usize), more: usize) -> Result<(), Error> {
    if taken + entries + more >= u32::MAX as usize { Err(Error::Overflow) } else { Ok(()) }
}

at_its_best! {
    /// [`count`] terms whose `places` are in a list by their numbers, so many times each.
    fn count_all(numbers: &[u32], times: u32, row: (usize, usize), entries: &mut Vec<Entry>, places: &mut [u32]) {
        let (taken, from) = row;
        entries.reserve(numbers.len());
        for number in numbers {
            let place = &mut places[*number as usize];
            if *place as usize > taken + from {
                entries[*place as usize - taken - 1].count += times;
            } else {
                entries.push(Entry { number: *number, count: times });
                *place = (taken + entries.len()) as u32;
            }
        }
    }
}

/// Count a term of the row that begins at `from`; `place` is where it was counted last.
///
/// Places go on from the entries that were taken away, and are one behind, so that zero is nowhere.
#[inline(always)]
fn count(entries: &mut Vec<Entry>, (taken, from): (usize, usize), place: u32, number: u32) -> u32 {
    if place as usize > taken + from {
        entries[place as usize - taken - 1].count += 1;
        return place;
    }
    entries.push(Entry { number, count: 1 });
    (taken + entries.len()) as u32
}

/// Documents and their vocabulary, of which a part is then selected.
#[derive(Debug)]
pub struct Gathered {
    terms: Terms,
    rows: Vec<(Vec<Entry>, Vec<usize>)>, // entries and ends of each part
    runs: Vec<(usize, usize)>,
    numbers: Vec<u32>, // new number of each term
    kept: usize,
    blocks: Vec<bool>, // whether a kept term is of characters beside words
}

impl Gathered {
    /// Number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.iter().map(|(_, rows)| rows).sum()
    }

    /// Whether there is no document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Documents that hold each term, by provisional number; each document may have a weight.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there is not one weight for each document.
    pub fn documents(&self, weights: Option<&[f64]>) -> Result<Vec<f64>, Error> {
        self.total(weights, |_| 1.0)
    }

    /// Occurrences of each term, likewise.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there is not one weight for each document.
    pub fn occurrences(&self, weights: Option<&[f64]>) -> Result<Vec<f64>, Error> {
        self.total(weights, |entry| f64::from(entry.count))
    }

    /// Weight of the documents of each class that hold each kept term, term by term of `classes`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there is not one code below `classes`, and one weight, for each document.
    pub fn by_class(&self, codes: &[i64], weights: &[f64], classes: usize) -> Result<Vec<f64>, Error> {
        let within = codes.iter().all(|code| (0..classes as i64).contains(code));
        if codes.len() != self.len()
            || weights.len() != self.len()
            || !within
            || self.numbers.len() != self.terms.len()
        {
            return Err(Error::Malformed("there is not one class and weight for each document".into()));
        }
        let mut table = vec![0.0; self.kept * classes];
        self.each_row(|row, entries| {
            for entry in entries {
                let number = self.numbers[entry.number as usize];
                if number != DROPPED {
                    table[number as usize * classes + codes[row] as usize] += weights[row];
                }
            }
        });
        Ok(table)
    }

    fn total(&self, weights: Option<&[f64]>, of: impl Fn(&Entry) -> f64) -> Result<Vec<f64>, Error> {
        if weights.is_some_and(|weights| weights.len() != self.len()) {
            return Err(Error::Malformed("there is not one weight for each document".into()));
        }
        let mut total = vec![0.0; self.terms.len()];
        self.each_row(|row, entries| {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            entries.iter().for_each(|entry| total[entry.number as usize] += weight * of(entry));
        });
        Ok(total)
    }

    /// Show `visit` the rows in the order of the documents.
    fn each_row(&self, mut visit: impl FnMut(usize, &[Entry])) {
        let mut next = vec![0; self.rows.len()];
        let mut document = 0;
        for (part, rows) in &self.runs {
            let (entries, ends) = &self.rows[*part];
            for row in next[*part]..next[*part] + rows {
                let from = if row == 0 { 0 } else { ends[row - 1] };
                visit(document, &entries[from..ends[row]]);
                document += 1;
            }
            next[*part] += rows;
        }
    }

    /// Number the terms that `keep` names in canonical order: keys, arena, and their old numbers.
    ///
    /// # Errors
    /// [`Error::Malformed`] if `keep` has another length than there are terms.
    pub fn select(&mut self, keep: &[bool]) -> Result<Selected, Error> {
        if keep.len() != self.terms.len() {
            return Err(Error::Malformed("the selection has another length than the vocabulary".into()));
        }
        let (keys, arena, terms) = self.terms.canonical(|number| keep[number]);
        self.numbers = vec![DROPPED; keep.len()];
        self.blocks.clear();
        for (new, (key, old)) in terms.iter().enumerate() {
            self.numbers[*old as usize] = new as u32;
            self.blocks.push(key.is_marked(&arena));
        }
        self.kept = terms.len();
        Ok((keys, arena, terms.into_iter().map(|(_, old)| old).collect()))
    }

    /// The names of some terms by their provisional numbers.
    #[must_use]
    pub fn names(&self, numbers: &[u32]) -> Vec<String> {
        self.terms.names(numbers)
    }

    /// The documents as sparse rows of weighted terms: starts, numbers, values.
    ///
    /// Within a row terms stand in the order of their first occurrence, whatever the threads.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there are not as many scales as terms selected.
    pub fn rows(&self, weighting: &Weighting<'_>) -> Result<SparseRows, Error> {
        weighting.checked(self.kept)?;
        if self.numbers.len() != self.terms.len() {
            return Err(Error::Malformed("no terms were selected yet".into()));
        }
        let total: usize = self.rows.iter().map(|(entries, _)| entries.len()).sum();
        let mut starts = Vec::with_capacity(self.len() + 1);
        let (mut features, mut values) = (Vec::with_capacity(total), Vec::with_capacity(total));
        starts.push(0);
        // Number and scale of a term side by side: one place in memory to fetch instead of two.
        let term =
            |number: &u32| (*number, if *number == DROPPED { 0.0 } else { weighting.scale_of(*number) });
        let terms: Vec<(u32, f64)> = self.numbers.iter().map(term).collect();
        let frequencies: Vec<f64> = (0..64).map(|count| weighting.frequency_of(count)).collect();
        self.each_row(|_, entries| {
            let begin = features.len();
            for (i, entry) in entries.iter().enumerate() {
                if let Some(soon) = entries.get(i + 16) {
                    prefetch(&terms, soon.number as usize);
                }
                let (number, scale) = terms[entry.number as usize];
                if number != DROPPED {
                    let frequency = frequencies.get(entry.count as usize);
                    features.push(number as i32);
                    values
                        .push(scale * frequency.map_or_else(|| weighting.frequency_of(entry.count), |f| *f));
                }
            }
            weighting.normalise(&features[begin..], &mut values[begin..], |id| self.blocks[id]);
            starts.push(features.len() as i64);
        });
        Ok((starts, features, values))
    }
}
