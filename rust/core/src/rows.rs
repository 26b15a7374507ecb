//! Documents as compressed sparse rows over a vocabulary.

use crate::analyse::{Analyser, Scratch};
use crate::counted::{Desk, rows_on_threads};
use crate::error::Error;
use crate::finder::find_all;
use crate::gather::SparseRows;
use crate::vocabulary::Vocabulary;
use crate::weigh::Weighting;

/// A batch of documents: row `d` occupies `starts[d]..starts[d + 1]` of the other two.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Rows {
    /// Row boundaries.
    pub starts: Vec<i64>,
    /// Word numbers, increasing within a row.
    pub words: Vec<i32>,
    /// How often the word occurs in the document, never zero, or what that is worth.
    pub values: Vec<f64>,
    /// Known and all terms of each document.
    pub evidence: Vec<[u32; 2]>,
}

/// Count, and weigh if wanted, the words of each text. Linear in the text. Any number of threads gives the same bits.
///
/// # Errors
/// [`Error::DocumentTooLong`].
pub fn rows(
    analyser: &Analyser,
    vocabulary: Vocabulary<'_>,
    unknown: Option<u32>,
    weighting: Option<&Weighting<'_>>,
    texts: &[&str],
    threads: usize,
) -> Result<Rows, Error> {
    weighting.map_or(Ok(()), |weighting| weighting.checked(vocabulary.len()))?;
    let find = |text: &str, row: usize, scratch: &mut Scratch, numbers: &mut Vec<u32>| {
        analyser.analyse(text, row, scratch)?;
        let (terms, text) = scratch.terms();
        numbers.clear();
        Ok([find_all(&vocabulary, terms, text, unknown, numbers), terms.len() as u32])
    };
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let ((starts, words, mut values), evidence) = if 8 * bytes < vocabulary.len() {
        few_rows(texts, find)? // a table of all words would cost more than these
    } else {
        let row = |text: &str, row: usize, at: &mut Desk<f64>| {
            at.evidence.push(find(text, row, &mut at.scratch, &mut at.numbers)?);
            at.seen.add(&at.numbers, 1);
            Ok(())
        };
        rows_on_threads(texts, threads, vocabulary.len(), row)?
    };
    if let Some(weighting) = weighting {
        for pair in starts.windows(2) {
            let row = pair[0] as usize..pair[1] as usize;
            weigh(&vocabulary, weighting, &words[row.clone()], &mut values[row]);
        }
    }
    Ok(Rows { starts, words, values, evidence })
}

/// Make what the occurrences of words are worth of a row of counts.
fn weigh(vocabulary: &Vocabulary<'_>, weighting: &Weighting<'_>, words: &[i32], values: &mut [f64]) {
    for (value, word) in values.iter_mut().zip(words) {
        *value = weighting.value(*word as u32, *value as u32);
    }
    weighting.normalise(words, values, |id| vocabulary.key(id).is_marked(vocabulary.arena()));
}

/// Rows of a few texts, and the evidence in each; `find` has the numbers of its words.
fn few_rows(
    texts: &[&str],
    find: impl Fn(&str, usize, &mut Scratch, &mut Vec<u32>) -> Result<[u32; 2], Error>,
) -> Result<(SparseRows, Vec<[u32; 2]>), Error> {
    let ((mut starts, mut words, mut values), mut evidence) = ((vec![0], Vec::new(), Vec::new()), Vec::new());
    let (mut scratch, mut numbers) = (Scratch::default(), Vec::new());
    for (row, text) in texts.iter().enumerate() {
        evidence.push(find(text, row, &mut scratch, &mut numbers)?);
        numbers.sort_unstable();
        for run in numbers.chunk_by(|a, b| a == b) {
            words.push(run[0] as i32);
            values.push(run.len() as f64);
        }
        starts.push(words.len() as i64);
    }
    Ok(((starts, words, values), evidence))
}

/// A text as a model reads it.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Reading {
    /// Where in the row each term is, in their order, those of words before those of characters beside them; −1
    /// for one that is not in the vocabulary.
    pub places: Vec<i32>,
    /// Word numbers of the row, increasing.
    pub words: Vec<i32>,
    /// How often each occurs.
    pub counts: Vec<f64>,
    /// What that is worth.
    pub values: Vec<f64>,
    /// Terms that are not in the vocabulary.
    pub unknown: usize,
}

/// The terms of a text, and its row as [`rows`] has it: counted, and weighed.
///
/// # Errors
/// [`Error::DocumentTooLong`].
pub fn reading(
    analyser: &Analyser,
    vocabulary: Vocabulary<'_>,
    unknown: Option<u32>,
    weighting: Option<&Weighting<'_>>,
    text: &str,
) -> Result<Reading, Error> {
    const NONE: u32 = u32::MAX;
    weighting.map_or(Ok(()), |weighting| weighting.checked(vocabulary.len()))?;
    let (mut scratch, mut ids, mut reading) = (Scratch::default(), Vec::new(), Reading::default());
    analyser.analyse(text, 0, &mut scratch)?;
    let (terms, text) = scratch.terms();
    find_all(&vocabulary, terms, text, Some(NONE), &mut ids);
    reading.unknown = ids.iter().filter(|id| **id == NONE || Some(**id) == unknown).count();
    let known = ids.iter().map(|id| if *id == NONE { unknown.unwrap_or(NONE) } else { *id });
    let mut terms: Vec<(u32, u32)> = known.zip(0..).filter(|(id, _)| *id != NONE).collect();
    terms.sort_unstable();
    reading.places = vec![-1; ids.len()];
    for (place, run) in terms.chunk_by(|(a, _), (b, _)| a == b).enumerate() {
        run.iter().for_each(|(_, term)| reading.places[*term as usize] = place as i32);
        reading.words.push(run[0].0 as i32);
        reading.counts.push(run.len() as f64);
    }
    reading.values.clone_from(&reading.counts);
    if let Some(weighting) = weighting {
        weigh(&vocabulary, weighting, &reading.words, &mut reading.values);
    }
    Ok(reading)
}

/// The buckets of each hashed text as rows: starts, bucket numbers, values. As [`rows`] otherwise.
///
/// # Errors
/// [`Error::DocumentTooLong`]; [`Error::Setting`] if the analyser does not hash.
pub fn bucket_rows(
    analyser: &Analyser,
    weighting: &Weighting<'_>,
    texts: &[&str],
) -> Result<SparseRows, Error> {
    let (mut starts, mut buckets, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
    for (row, text) in texts.iter().enumerate() {
        analyser.analyse(text, row, &mut scratch)?;
        ids.clear();
        for term in scratch.terms().0 {
            let Some(bucket) = term.key.bucket() else {
                return Err(Error::Setting("words are not hashed".into()));
            };
            ids.push(bucket);
        }
        ids.sort_unstable();
        let from = values.len();
        for run in ids.chunk_by(|a, b| a == b) {
            buckets.push(run[0] as i32);
            values.push(weighting.value(0, run.len() as u32));
        }
        weighting.normalise(&buckets[from..], &mut values[from..], |_| false);
        starts.push(values.len() as i64);
    }
    Ok((starts, buckets, values))
}
