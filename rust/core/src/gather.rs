//! Gathering documents as sparse rows over a vocabulary that grows while they are read.
//!
//! Words get numbers as they come. An n-gram is found by a pair of numbers, those of the n-gram
//! without its last word and of that word: no n-gram is spelled out before it is known that a model
//! will keep it. In the end words and n-grams are put in canonical order, and rows are written
//! with the weights that a model wants.

use std::sync::Arc;

use crate::analyse::{Analyser, Scratch};
use crate::count::shares;
use crate::error::Error;
use crate::key::{Key, Term};
use crate::pairs::Pairs;
use crate::processor::{prefetch, prefetch_text};
use crate::table::{Table, in_canonical_order};
use crate::weigh::Weighting;

/// An n-gram's number has this bit, a word's has not.
const GRAM: u32 = 1 << 31;
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
    parts: Vec<Part>,
    runs: Vec<(usize, usize)>, // part and rows, in the order of the documents
}

/// What one thread has gathered.
#[derive(Debug)]
struct Part {
    words: Table,
    pairs: Pairs,
    entries: Vec<Entry>,
    ends: Vec<usize>,      // of rows, in entries
    words_end: Vec<usize>, // of the words of rows, behind which are characters
    taken: usize,          // entries that were there before
    scratch: Scratch,
    numbers: Vec<u32>,
    grams: Vec<u32>,
}

impl Gatherer {
    /// A gatherer on so many threads.
    #[must_use]
    pub fn new(analyser: Arc<Analyser>, threads: usize) -> Self {
        Self { analyser, parts: (0..threads.max(1)).map(|_| Part::new()).collect(), runs: Vec::new() }
    }

    /// Gather a batch. Linear in its bytes.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`]; [`Error::Overflow`] past 2^31 words or 2^32 non-zeros.
    pub fn add(&mut self, texts: &[&str]) -> Result<(), Error> {
        let total: usize = texts.iter().map(|text| text.len()).sum();
        let threads = if total < 1 << 16 { 1 } else { self.parts.len() };
        let analyser = &*self.analyser;
        let shares = shares(texts, threads, |text| text.len());
        let mut first = 0;
        for (part, share) in shares.iter().enumerate() {
            self.runs.push((part, share.len()));
        }
        std::thread::scope(|scope| {
            let mut others = Vec::new();
            let mut result = Ok(());
            for (i, (part, share)) in self.parts.iter_mut().zip(shares).enumerate() {
                let row = first;
                first += share.len();
                if i + 1 < threads {
                    others.push(scope.spawn(move || part.add(analyser, share, row)));
                } else {
                    result = part.add(analyser, share, row);
                }
            }
            for other in others {
                let outcome = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = outcome.and(result);
            }
            result
        })
    }

    /// The rows since the last call, under numbers that stay: a word's is even, an n-gram's odd.
    ///
    /// For a gatherer on one thread, which then keeps the vocabulary only.
    ///
    /// # Errors
    /// [`Error::Setting`] on several threads, whose numbers differ.
    pub fn take_rows(&mut self, weighting: &Weighting<'_>) -> Result<SparseRows, Error> {
        let [part] = self.parts.as_mut_slice() else {
            return Err(Error::Setting("rows are taken from a gatherer on one thread".into()));
        };
        self.runs.clear();
        let (mut starts, mut features, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut from = 0;
        for (end, words_end) in part.ends.drain(..).zip(part.words_end.drain(..)) {
            let (words, begin) = (words_end - from, values.len());
            for entry in &part.entries[from..end] {
                features.push(entry.number.rotate_left(1) as i32);
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
            part.words.iter_mut().for_each(|slot| slot.stamp = 0);
            part.pairs.forget_places();
        }
        Ok((starts, features, values))
    }

    /// The vocabulary so far, in canonical order, and the numbers of [`Self::take_rows`].
    #[must_use]
    pub fn vocabulary(&self) -> Selected {
        let Part { words, pairs, .. } = &self.parts[0];
        let number = |old: u32| if old < words.words { old << 1 } else { (old - words.words) << 1 | 1 };
        let (keys, arena, terms) = in_order(words, pairs, |_| true);
        (keys, arena, terms.into_iter().map(|(_, old)| number(old)).collect())
    }

    /// All that was gathered, under one numbering.
    ///
    /// # Errors
    /// [`Error::Overflow`] past 2^31 words.
    pub fn finish(self) -> Result<Gathered, Error> {
        let mut parts = self.parts.into_iter();
        let Some(mut all) = parts.next() else { return Err(Error::Overflow) };
        let mut rows = vec![(std::mem::take(&mut all.entries), std::mem::take(&mut all.ends))];
        for part in parts {
            let (mut entries, ends) = all.absorb(part)?;
            entries.shrink_to_fit();
            rows.push((entries, ends));
        }
        let words = all.words.words as usize;
        let mut gathered = Gathered {
            terms: words + all.pairs.len(),
            words: all.words,
            pairs: all.pairs,
            rows,
            runs: self.runs,
            numbers: Vec::new(),
            kept: 0,
            blocks: Vec::new(),
        };
        for (entries, _) in &mut gathered.rows {
            for entry in entries {
                if entry.number & GRAM != 0 {
                    entry.number = (entry.number & !GRAM) + words as u32;
                }
            }
        }
        Ok(gathered)
    }
}

impl Part {
    fn new() -> Self {
        Self {
            words: Table::new(),
            pairs: Pairs::new(),
            entries: Vec::new(),
            ends: Vec::new(),
            words_end: Vec::new(),
            taken: 0,
            scratch: Scratch::default(),
            numbers: Vec::new(),
            grams: Vec::new(),
        }
    }

    fn add(&mut self, analyser: &Analyser, texts: &[&str], first_row: usize) -> Result<(), Error> {
        let joins = analyser.joinable();
        for (i, text) in texts.iter().enumerate() {
            if let Some(next) = texts.get(i + 1) {
                prefetch_text(next);
            }
            let row = first_row + i;
            match joins {
                Some(_) => analyser.analyse_single(text, row, &mut self.scratch)?,
                None => analyser.analyse(text, row, &mut self.scratch)?,
            }
            self.document(joins.unwrap_or((1, 1)))?;
        }
        Ok(())
    }

    /// Append the row of the document in `scratch`.
    fn document(&mut self, (shortest, longest): (usize, usize)) -> Result<(), Error> {
        let Self { words, pairs, entries, scratch, numbers, grams, taken, .. } = self;
        let row = (*taken, entries.len());
        let (terms, text) = scratch.terms();
        let places = row.0 + row.1 + longest * terms.len();
        if places >= u32::MAX as usize || words.words >= GRAM - terms.len() as u32 {
            return Err(Error::Overflow);
        }
        let (single, characters) = terms.split_at(scratch.words());
        numbers.clear();
        words.visit(single, text, |slot| {
            numbers.push(slot.id);
            if shortest == 1 {
                slot.stamp = count(entries, row, slot.stamp, slot.id);
            }
        });
        grams.clone_from(numbers);
        for n in 2..=longest.min(numbers.len()) {
            pairs.join(grams, &numbers[n - 1..], |pair| {
                if n >= shortest {
                    pair.place = count(entries, row, pair.place, pair.number | GRAM);
                }
                pair.number | GRAM
            });
        }
        self.words_end.push(entries.len());
        words.visit(characters, text, |slot| slot.stamp = count(entries, row, slot.stamp, slot.id));
        self.ends.push(entries.len());
        Ok(())
    }

    /// Take in the words and n-grams of another part; its rows, renumbered.
    fn absorb(&mut self, other: Self) -> Result<(Vec<Entry>, Vec<usize>), Error> {
        let mut words = vec![0; other.words.words as usize];
        for (id, key) in other.words.keys() {
            let term = Term { key, hash: key.hash(&other.words.arena) };
            words[id as usize] = self.words.slot(term, &other.words.arena).id;
        }
        let mut grams = vec![0; other.pairs.len()];
        for (number, (before, last)) in other.pairs.iter().enumerate() {
            let before =
                if before & GRAM == 0 { words[before as usize] } else { grams[(before & !GRAM) as usize] };
            grams[number] = self.pairs.number(before, words[last as usize]) | GRAM;
        }
        if self.words.words as usize + self.pairs.len() >= GRAM as usize {
            return Err(Error::Overflow);
        }
        let Self { mut entries, ends, .. } = other;
        for entry in &mut entries {
            let of = if entry.number & GRAM == 0 { &words } else { &grams };
            entry.number = of[(entry.number & !GRAM) as usize];
        }
        Ok((entries, ends))
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
    /// Number of terms, all documents taken together.
    pub terms: usize,
    words: Table,
    pairs: Pairs,
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
            || self.numbers.len() != self.terms
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
        let mut total = vec![0.0; self.terms];
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
        if keep.len() != self.terms {
            return Err(Error::Malformed("the selection has another length than the vocabulary".into()));
        }
        let (keys, arena, terms) = in_order(&self.words, &self.pairs, |number| keep[number]);
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
        let n_words = self.words.words;
        let mut keys = vec![Key::default(); n_words as usize];
        self.words.keys().for_each(|(id, key)| keys[id as usize] = key);
        let known = numbers.iter().filter(|number| (**number as usize) < self.terms);
        let name = |number: &u32| {
            let mut name = Vec::new();
            let number = if *number < n_words { *number } else { (*number - n_words) | GRAM };
            spell(number, &keys, &self.words.arena, &self.pairs, &mut name);
            String::from_utf8_lossy(&name).into_owned()
        };
        known.map(name).collect()
    }

    /// The documents as sparse rows of weighted terms: starts, numbers, values.
    ///
    /// Within a row terms stand in the order of their first occurrence, whatever the threads.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there are not as many scales as terms selected.
    pub fn rows(&self, weighting: &Weighting<'_>) -> Result<SparseRows, Error> {
        weighting.checked(self.kept)?;
        if self.numbers.len() != self.terms {
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

type Ordered = (Vec<u64>, Vec<u8>, Vec<(Key, u32)>);

/// The terms that are kept, by number (words, then n-grams), in canonical order: keys, arena, and both.
fn in_order(words: &Table, pairs: &Pairs, keep: impl Fn(usize) -> bool) -> Ordered {
    let n_words = words.words as usize;
    let mut keys = vec![Key::default(); n_words];
    words.keys().for_each(|(id, key)| keys[id as usize] = key);
    let mut bytes = words.arena.clone();
    let mut terms: Vec<(Term, u32)> = Vec::new();
    for number in (0..n_words).filter(|number| keep(*number)) {
        let key = keys[number];
        terms.push((Term { key, hash: key.hash(&bytes) }, number as u32));
    }
    let mut name = Vec::new();
    for number in (n_words..n_words + pairs.len()).filter(|number| keep(*number)) {
        name.clear();
        spell((number - n_words) as u32 | GRAM, &keys, &words.arena, pairs, &mut name);
        let from = bytes.len();
        bytes.extend_from_slice(&name);
        let term = Term::of(&bytes, from, name.len());
        if !term.key.is_long() {
            bytes.truncate(from);
        }
        terms.push((term, number as u32));
    }
    let terms = in_canonical_order(terms, &bytes);
    let mut arena = Vec::new();
    let mut out = Vec::with_capacity(2 * terms.len());
    let moved = |(term, old): (Term, u32)| {
        let key = term.key.moved(&bytes, &mut arena);
        out.extend([key.lo, key.hi]);
        (key, old)
    };
    let terms = terms.into_iter().map(moved).collect();
    (out, arena, terms)
}

/// Append the words of a term, one space between them.
fn spell(number: u32, keys: &[Key], arena: &[u8], pairs: &Pairs, out: &mut Vec<u8>) {
    if number & GRAM == 0 {
        return keys[number as usize].append(arena, out);
    }
    let (before, last) = pairs.pair(number & !GRAM);
    spell(before, keys, arena, pairs, out);
    out.push(b' ');
    keys[last as usize].append(arena, out);
}
