//! Rows of counts over columns that are there already: the words of a vocabulary, or hashes of words.
//!
//! [`crate::vectorise`] finds the vocabulary first.

use std::cell::Cell;

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::finder::{Finders, LONG, find_all};
use crate::index::{Index, Worth};
use crate::processor::prefetch_text;
use crate::seen::{Count, Seen};
use crate::threads::{on_threads, text_shares};
use crate::vectorise::{CountRows, LOOK, foresee};
use crate::vocabulary::Vocabulary;

/// Count the words of a vocabulary in each text: row boundaries, columns, counts. There is a column for each
/// word, below a number of columns, and rows have them in increasing order. `finders` are those of this vocabulary and
/// analyser: once enough text has been read, n-grams are found by an index.
///
/// # Errors
/// [`Error::DocumentTooLong`]; [`Error::Malformed`] if there is not one column for each word.
pub fn count_rows<T: Count>(
    analyser: &Analyser,
    (vocabulary, columns, end): (Vocabulary<'_>, &[u32], usize),
    finders: &Finders,
    texts: &[&str],
    threads: usize,
) -> Result<CountRows<T>, Error> {
    if columns.len() != vocabulary.len() || end > 1 << 30 {
        return Err(Error::Malformed("there is not one column for each word".into()));
    }
    // An index saves less here than where scores are added up, so that it takes more text to be worth its making.
    let bytes = texts.iter().map(|text| text.len()).sum();
    let index = Index::cost(analyser).and_then(|cost| {
        finders.index(bytes, (4 * cost).saturating_mul(columns.len()), || {
            Index::new(analyser, &vocabulary, Worth::Nothing)
        })
    });
    let row = |text: &str, row: usize, at: &mut Desk<T>| {
        at.numbers.clear();
        if let Some(index) = index.filter(|_| text.len() < LONG && !analyser.is_fasttext()) {
            analyser.analyse_tokens(text, row, &mut at.scratch, (1, 1))?;
            index.find(at.scratch.terms(), &mut at.ngrams, &mut at.numbers);
        } else {
            analyser.analyse(text, row, &mut at.scratch)?;
            let (terms, text) = at.scratch.terms();
            find_all(&vocabulary, terms, text, None, &mut at.numbers);
        }
        at.numbers.iter_mut().for_each(|number| *number = columns[*number as usize]);
        at.seen.add(&at.numbers, 1);
        Ok(())
    };
    rows_on_threads(texts, threads, end, row).map(|(rows, _)| rows)
}

/// Count the terms of each text by their hash modulo `size`, as scikit-learn's `HashingVectorizer` does.
///
/// With `signed`, a bit of the hash decides whether a term adds or subtracts one.
///
/// # Errors
/// [`Error::DocumentTooLong`]; [`Error::Setting`] past 2^24 columns.
pub fn hashed_rows(
    analyser: &Analyser,
    size: u32,
    signed: bool,
    texts: &[&str],
    threads: usize,
) -> Result<CountRows<f64>, Error> {
    if size == 0 || size > 1 << 24 {
        return Err(Error::Setting(format!("{size} columns: must be from 1 to 2^24")));
    }
    let row = |text: &str, row: usize, at: &mut Desk<f64>| {
        at.hashes.clear();
        analyser.hash(text, row, &mut at.scratch, &mut at.hashes)?;
        at.seen.add_hashes(&at.hashes, size, signed);
        Ok(())
    };
    rows_on_threads(texts, threads, size as usize, row).map(|(rows, _)| rows)
}

thread_local! {
    /// Kept for the next call: to clear it anew would cost more than to count the words of one text.
    static SEEN: Cell<Seen> = Cell::default();
}

/// What a thread works with.
#[derive(Debug)]
pub(crate) struct Desk<T> {
    pub(crate) scratch: Scratch,
    pub(crate) numbers: Vec<u32>,
    pub(crate) seen: Seen,
    pub(crate) evidence: Vec<[u32; 2]>, // known and all terms of each text, where they are counted
    ngrams: [Vec<u32>; 2],
    hashes: Vec<i32>,
    ends: Vec<usize>,
    ids: Vec<i32>,
    counts: Vec<T>,
}

/// The rows of all texts, whose numbers are below `end`, and the evidence in each; `row` adds one to what was seen.
pub(crate) fn rows_on_threads<T: Count>(
    texts: &[&str],
    threads: usize,
    end: usize,
    row: impl Fn(&str, usize, &mut Desk<T>) -> Result<(), Error> + Sync,
) -> Result<(CountRows<T>, Vec<[u32; 2]>), Error> {
    let done = on_threads(text_shares(texts, threads), |(share, first)| {
        let mut desk = Desk {
            scratch: Scratch::default(),
            numbers: Vec::new(),
            seen: SEEN.take(),
            evidence: Vec::new(),
            ngrams: Default::default(),
            hashes: Vec::new(),
            ends: Vec::new(),
            ids: Vec::new(),
            counts: Vec::new(),
        };
        desk.seen.reserve(end);
        for (i, text) in share.iter().enumerate() {
            if i == share.len() / LOOK + 1 {
                foresee(&mut desk.ids, desk.ends.len(), share.len());
                foresee(&mut desk.counts, desk.ends.len(), share.len());
            }
            if let Some(next) = share.get(i + 1) {
                prefetch_text(next);
            }
            row(text, first + i, &mut desk)?;
            desk.seen.take(&mut desk.ids, &mut desk.counts);
            desk.ends.push(desk.ids.len());
        }
        SEEN.set(std::mem::take(&mut desk.seen));
        Ok(desk)
    });
    let (mut starts, mut ids, mut counts, mut evidence) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for desk in done {
        let desk = desk?;
        evidence.extend(desk.evidence);
        let before = ids.len();
        starts.extend(desk.ends.iter().map(|end| (before + end) as i64));
        if before == 0 {
            (ids, counts) = (desk.ids, desk.counts);
        } else {
            ids.extend_from_slice(&desk.ids);
            counts.extend_from_slice(&desk.counts);
        }
    }
    Ok(((starts, ids, counts), evidence))
}
