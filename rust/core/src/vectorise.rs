//! Documents as rows of counts over a vocabulary that grows, in the order scikit-learn has.
//!
//! Terms are numbered as they arrive: the words of a document, then its pairs of words, and so on.
//! A row has its terms in the order of those numbers. [`Terms::alphabetical`] then says which column
//! each is. What a vectoriser learns is the same for any number of threads.

use std::sync::Arc;

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::lexicon::Lexicon;
use crate::memory::{filled, reserve};
use crate::processor::prefetch_text;
use crate::remembered::Remembered;
pub use crate::seen::Count;
use crate::seen::Seen;
use crate::terms::Terms;
use crate::threads::{Parts, both, on_threads};

/// After one document in so many it is foreseen how long rows will be.
pub(crate) const LOOK: usize = 16;

/// Row boundaries, term numbers and counts.
pub type CountRows<T> = (Vec<i64>, Vec<i32>, Vec<T>);
/// Names one behind the other, and where each starts and ends.
pub type Names = (Vec<u8>, Vec<i64>);

/// Counts the terms of batches of texts.
#[derive(Debug)]
pub struct Vectoriser<T> {
    analyser: Arc<Analyser>,
    parts: Parts<Part<T>>,
}

/// What one thread has counted.
#[derive(Debug)]
struct Part<T> {
    lexicon: Lexicon, // of words, or of n-grams of characters
    remembered: Remembered,
    seen: Seen,
    ends: Vec<usize>, // of rows
    ids: Vec<i32>,
    counts: Vec<T>,
    scratch: Scratch,
}

impl<T: Count> Vectoriser<T> {
    /// A vectoriser on so many threads.
    ///
    /// # Errors
    /// [`Error::Setting`] if the analyser hashes or has its vocabulary already.
    pub fn new(analyser: Arc<Analyser>, threads: usize) -> Result<Self, Error> {
        if !analyser.is_plain() {
            return Err(Error::Setting(
                "rows are counted of n-grams of one kind, neither hashed nor chosen".into(),
            ));
        }
        Ok(Self { analyser, parts: Parts::new(threads) })
    }

    /// Count a batch. Linear in its bytes.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`]; [`Error::Overflow`] past 2^30 terms.
    pub fn add(&mut self, texts: &[&str]) -> Result<(), Error> {
        let analyser = &*self.analyser;
        self.parts.add(texts, |part, share, row| part.add(analyser, share, row))
    }

    /// Whether a document had a term.
    #[must_use]
    pub fn has_terms(&self) -> bool {
        self.parts.each.iter().any(|part| !part.ids.is_empty())
    }

    /// The rows, whose columns are the terms in the order of their names, and those names.
    ///
    /// Of `limits`, only terms in so many documents at least, and at most, are columns.
    ///
    /// # Errors
    /// [`Error::Overflow`] past 2^30 terms.
    pub fn finish(self, limits: Option<(f64, f64)>) -> Result<(CountRows<T>, Names), Error> {
        let threads = self.parts.each.len();
        let shortest = self.analyser.joinable().map_or(1, |(shortest, _)| shortest);
        let Merged { parts, runs, maps, terms } = self.merged()?;
        let named = || if limits.is_none() { terms.alphabetical(shortest, None) } else { Default::default() };
        let ((bytes, ends, numbers), (starts, mut ids, counts)) =
            both(named, || rows_of(parts, &runs, &maps, terms.len(), threads));
        let Some((least, most)) = limits else {
            let columns = columns_of(&numbers, terms.len());
            let share = ids.len().div_ceil(threads).max(1 << 16);
            on_threads(ids.chunks_mut(share).collect(), |ids| {
                ids.iter_mut().for_each(|id| *id = columns[*id as usize]);
            });
            return Ok(((starts, ids, counts), (bytes, ends)));
        };
        let mut documents = filled(0u32, terms.len());
        ids.iter().for_each(|id| documents[*id as usize] += 1);
        let within = |n: &u32| f64::from(*n) >= least && f64::from(*n) <= most;
        let keep: Vec<bool> = documents.iter().map(within).collect();
        let (bytes, ends, numbers) = terms.alphabetical(shortest, Some(&keep));
        let rows = select((&starts, &ids, &counts), &columns_of(&numbers, terms.len()))?;
        Ok((rows, (bytes, ends)))
    }

    /// What all threads have counted, under one numbering of terms.
    fn merged(self) -> Result<Merged<T>, Error> {
        let Parts { each, runs } = self.parts;
        let one_batch = runs.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let used = runs.iter().map(|(part, _)| part + 1).max().unwrap_or(1);
        let mut parts: Vec<Part<T>> = each.into_iter().take(used).collect();
        let mut lexicons = parts.iter_mut().map(|part| std::mem::take(&mut part.lexicon));
        let mut all = lexicons.next().unwrap_or_default();
        let mut maps = vec![None];
        for lexicon in lexicons {
            maps.push(Some(all.absorb(&lexicon.into_terms())?));
        }
        let mut terms = all.into_terms();
        if !one_batch {
            let first = arrivals(&parts, &maps, &runs, terms.len());
            maps.iter_mut().flatten().flatten().for_each(|number| *number = first[*number as usize]);
            maps[0] = Some(first.clone());
            terms.rename(first);
        }
        Ok(Merged { parts, runs, maps, terms })
    }
}

/// What all threads have counted.
struct Merged<T> {
    parts: Vec<Part<T>>,
    runs: Vec<(usize, usize)>,
    maps: Vec<Option<Vec<u32>>>, // of each part, the numbers that its terms have now, if others
    terms: Terms,
}

/// The rows of all parts in the order of the documents, their `terms` terms numbered by the maps.
fn rows_of<T: Count>(
    mut parts: Vec<Part<T>>,
    runs: &[(usize, usize)],
    maps: &[Option<Vec<u32>>],
    terms: usize,
    threads: usize,
) -> CountRows<T> {
    for (part, map) in parts.iter_mut().zip(maps) {
        if let Some(map) = map {
            part.renumber(map, terms, threads);
        }
    }
    let mut next = vec![0; parts.len()]; // row
    let mut starts = vec![0];
    let (mut ids, mut counts) = (Vec::new(), Vec::new());
    for (part, rows) in runs {
        let of = &mut parts[*part];
        if ids.is_empty() && next[*part] == 0 && *rows == of.ends.len() {
            (ids, counts) = (std::mem::take(&mut of.ids), std::mem::take(&mut of.counts));
            starts.extend(of.ends.iter().map(|end| *end as i64));
            next[*part] = *rows;
            continue;
        }
        let ends = &of.ends[next[*part]..next[*part] + rows];
        let from = of.start(next[*part]);
        let moved = ids.len() as i64 - from as i64;
        starts.extend(ends.iter().map(|end| *end as i64 + moved));
        let to = ends.last().copied().unwrap_or(from);
        reserve(&mut ids, to - from);
        reserve(&mut counts, to - from);
        ids.extend_from_slice(&of.ids[from..to]);
        counts.extend_from_slice(&of.counts[from..to]);
        next[*part] += rows;
    }
    (starts, ids, counts)
}

/// The place of each of `terms` numbers among some, -1 if it is not there.
fn columns_of(numbers: &[u32], terms: usize) -> Vec<i32> {
    let mut columns = filled(-1, terms);
    numbers.iter().enumerate().for_each(|(column, number)| columns[*number as usize] = column as i32);
    columns
}

/// Make room for all rows, of which so many are there, so that what is there is not moved again and again.
///
/// Memory that is not used in the end costs nothing.
pub(crate) fn foresee<T>(memory: &mut Vec<T>, rows: usize, all: usize) {
    let total = memory.len() as f64 * all as f64 / rows.max(1) as f64;
    let more = (1.125 * total) as usize;
    reserve(memory, more.saturating_sub(memory.len()));
}

/// The number of each term in the order in which all documents bring them.
///
/// In the row where a term comes first of all, its part has just given it a number: so new terms
/// stand in the right order there.
fn arrivals<T: Count>(
    parts: &[Part<T>],
    maps: &[Option<Vec<u32>>],
    runs: &[(usize, usize)],
    terms: usize,
) -> Vec<u32> {
    let mut numbers = vec![u32::MAX; terms];
    let mut next = 0;
    let mut rows = vec![0; parts.len()];
    for (part, length) in runs {
        let of = &parts[*part];
        let from = of.start(rows[*part]);
        rows[*part] += length;
        for id in &of.ids[from..of.start(rows[*part])] {
            let id = maps[*part].as_ref().map_or(*id as u32, |map| map[*id as usize]) as usize;
            if numbers[id] == u32::MAX {
                numbers[id] = next;
                next += 1;
            }
        }
    }
    // Words that only serve to name n-grams stand in no row.
    for number in numbers.iter_mut().filter(|number| **number == u32::MAX) {
        *number = next;
        next += 1;
    }
    numbers
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self {
            lexicon: Lexicon::default(),
            remembered: Remembered::default(),
            seen: Seen::default(),
            ends: Vec::new(),
            ids: Vec::new(),
            counts: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

impl<T: Count> Part<T> {
    fn add(&mut self, analyser: &Analyser, texts: &[&str], first_row: usize) -> Result<(), Error> {
        let (joins, spelling) = (analyser.joinable(), analyser.spelling());
        let before = self.ends.len();
        for (i, text) in texts.iter().enumerate() {
            if i == texts.len() / LOOK + 1 {
                foresee(&mut self.ids, i + before, texts.len() + before);
                foresee(&mut self.counts, i + before, texts.len() + before);
            }
            if let Some(next) = texts.get(i + 1) {
                prefetch_text(next);
            }
            let row = first_row + i;
            if let Some(spelling) = spelling {
                analyser.analyse_words(text, row, &mut self.scratch)?;
                let Self { scratch, remembered, lexicon, seen, .. } = self;
                remembered
                    .read(scratch, spelling, |grams, text, numbers| lexicon.number(grams, text, numbers));
                seen.reserve(lexicon.len());
                remembered.once().for_each(|(grams, times)| seen.add(grams, times as i32));
            } else {
                match joins {
                    Some(_) => analyser.analyse_single(text, row, &mut self.scratch)?,
                    None => analyser.analyse(text, row, &mut self.scratch)?,
                }
                let (terms, text) = self.scratch.terms();
                self.lexicon.number_ngrams(terms, text, joins.unwrap_or((1, 1)), |numbers, end| {
                    self.seen.reserve(end);
                    self.seen.add(numbers, 1);
                });
            }
            self.lexicon.checked()?;
            self.seen.take(&mut self.ids, &mut self.counts);
            self.ends.push(self.ids.len());
        }
        Ok(())
    }

    /// Where a row starts.
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }

    /// Give the terms of all rows new numbers below `end`, in whose order they then stand.
    fn renumber(&mut self, numbers: &[u32], end: usize, threads: usize) {
        let share = self.ids.len().div_ceil(threads.max(1)).max(1 << 16);
        let mut jobs = Vec::new();
        let (mut ids, mut counts) = (self.ids.as_mut_slice(), self.counts.as_mut_slice());
        let (mut ends, mut from) = (self.ends.as_slice(), 0);
        while !ends.is_empty() {
            let rows = ends.partition_point(|to| to - from <= share).max(1);
            let size = ends[rows - 1] - from;
            let (first, other) = ids.split_at_mut(size);
            let (first_counts, other_counts) = counts.split_at_mut(size);
            jobs.push((first, first_counts, &ends[..rows], from));
            (ids, counts, ends, from) = (other, other_counts, &ends[rows..], from + size);
        }
        on_threads(jobs, |(ids, counts, ends, first)| {
            let mut seen = Seen::default();
            seen.reserve(end);
            let (mut row, mut from) = (Vec::new(), 0);
            for to in ends.iter().map(|end| end - first) {
                row.clear();
                row.extend(ids[from..to].iter().map(|id| numbers[*id as usize]));
                seen.set(&row, &counts[from..to]);
                seen.write(&mut ids[from..to], &mut counts[from..to]);
                from = to;
            }
        });
    }
}

/// Rows of some columns only: `columns` has the new number of each, below zero if it is left out.
///
/// # Errors
/// [`Error::Malformed`] if the arrays do not fit together.
pub fn select<T: Count>(
    (starts, ids, counts): (&[i64], &[i32], &[T]),
    columns: &[i32],
) -> Result<CountRows<T>, Error> {
    let within = |id: &i32| usize::try_from(*id).is_ok_and(|id| id < columns.len());
    let is_whole = starts.first() == Some(&0) && starts.last() == Some(&(ids.len() as i64));
    if !is_whole || !starts.is_sorted() || ids.len() != counts.len() || !ids.iter().all(within) {
        return Err(Error::Malformed("these rows do not fit together".into()));
    }
    let mut rows = (Vec::with_capacity(starts.len()), Vec::new(), Vec::new());
    rows.0.push(0);
    for pair in starts.windows(2) {
        let (from, to) = (pair[0] as usize, pair[1] as usize);
        reserve(&mut rows.1, to - from);
        reserve(&mut rows.2, to - from);
        for (id, count) in ids[from..to].iter().zip(&counts[from..to]) {
            let column = columns[*id as usize];
            if column >= 0 {
                rows.1.push(column);
                rows.2.push(*count);
            }
        }
        rows.0.push(rows.1.len() as i64);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::Grams;
    use crate::prepare::{Accents, Preparation};
    use crate::tokenise::Unit;

    type Rows = Vec<Vec<(String, i64)>>;

    fn named(((starts, ids, counts), (bytes, ends)): (CountRows<i64>, Names)) -> (Vec<String>, Rows) {
        let name =
            |pair: &[i64]| String::from_utf8(bytes[pair[0] as usize..pair[1] as usize].to_vec()).unwrap();
        let names: Vec<String> = ends.windows(2).map(name).collect();
        let row = |pair: &[i64]| {
            (pair[0] as usize..pair[1] as usize)
                .map(|i| (names[ids[i] as usize].clone(), counts[i]))
                .collect()
        };
        let rows = starts.windows(2).map(row).collect();
        (names, rows)
    }

    fn analyser(grams: Grams, ngrams: (usize, usize)) -> Arc<Analyser> {
        let preparation = Preparation { form: None, lower: true, accents: Accents::Keep };
        Arc::new(Analyser::new(preparation, grams, ngrams, None, &[], None, None).unwrap())
    }

    #[test]
    fn rows_hold_terms_in_the_order_of_their_arrival() {
        let mut vectoriser = Vectoriser::new(analyser(Grams::Tokens(Unit::WHITESPACE), (1, 2)), 1).unwrap();
        vectoriser.add(&["b a b", "c a b a"]).unwrap();
        let (names, rows) = named(vectoriser.finish(None).unwrap());
        assert_eq!(names, ["a", "a b", "b", "b a", "c", "c a"]);
        let row =
            |terms: &[(&str, i64)]| terms.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect::<Vec<_>>();
        assert_eq!(rows[0], row(&[("b", 2), ("a", 1), ("b a", 1), ("a b", 1)]));
        assert_eq!(rows[1], row(&[("b", 1), ("a", 2), ("b a", 1), ("a b", 1), ("c", 1), ("c a", 1)]));
    }

    /// Words of all lengths, with bytes below a space among them, in several batches and threads.
    #[test]
    fn threads_and_batches_do_not_matter() {
        let mut state = 3u64;
        let mut any = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut texts = Vec::new();
        for _ in 0..600 {
            let mut text = String::new();
            for _ in 0..any(120) {
                let stem = ["a", "é", "zz", "x\u{1}", "a-long-word-of-its-own-", "日本"][any(6) as usize];
                text = text + stem + &any(200).min(any(200)).to_string() + " ";
            }
            texts.push(text);
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (grams, ngrams) in [
            (Grams::Tokens(Unit::WHITESPACE), (1, 1)),
            (Grams::Tokens(Unit::WHITESPACE), (1, 3)),
            (Grams::Tokens(Unit::SKLEARN), (2, 5)),
            (Grams::CharactersInWords, (2, 4)),
            (Grams::Characters, (1, 3)),
        ] {
            let run = |threads: usize, size: usize, limits: Option<(f64, f64)>| {
                let mut vectoriser = Vectoriser::new(analyser(grams, ngrams), threads).unwrap();
                texts.chunks(size).for_each(|batch| vectoriser.add(batch).unwrap());
                let (rows, names): (CountRows<i64>, Names) = vectoriser.finish(limits).unwrap();
                (rows, names)
            };
            let whole = run(1, texts.len(), None);
            let names: Vec<&[u8]> =
                whole.1.1.windows(2).map(|pair| &whole.1.0[pair[0] as usize..pair[1] as usize]).collect();
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
            // Terms in at least 3 and at most 200 documents, chosen before they are in order and after.
            let ((starts, ids, counts), _) = &whole;
            let mut documents = vec![0; names.len()];
            ids.iter().for_each(|id| documents[*id as usize] += 1);
            let kept: Vec<u32> =
                (0..names.len() as u32).filter(|i| (3..=200).contains(&documents[*i as usize])).collect();
            let expected = select((starts, ids, counts), &columns_of(&kept, names.len())).unwrap();
            for threads in [1, 3] {
                let (rows, (bytes, _)) = run(threads, 250, Some((3.0, 200.0)));
                assert!(rows == expected, "{grams:?} {ngrams:?} {threads}");
                assert!(bytes == kept.iter().flat_map(|i| names[*i as usize]).copied().collect::<Vec<u8>>());
            }
            for (threads, size) in [(2, texts.len()), (3, texts.len()), (1, 100), (3, 250)] {
                assert!(run(threads, size, None) == whole, "{grams:?} {ngrams:?} {threads} {size}");
            }
        }
    }
}
