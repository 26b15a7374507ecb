//! Documents as compressed sparse rows over a vocabulary.

use crate::analyse::{Analyser, Scratch};
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
    /// Terms of each document that are not in the vocabulary.
    pub unknown: Vec<i64>,
}

/// Count, and weigh if wanted, the words of each text. Linear in the text, plus a sort of each document's terms.
///
/// # Errors
/// [`Error::DocumentTooLong`].
pub fn rows(
    analyser: &Analyser,
    vocabulary: Vocabulary<'_>,
    unknown: Option<u32>,
    weighting: Option<&Weighting<'_>>,
    texts: &[&str],
) -> Result<Rows, Error> {
    weighting.map_or(Ok(()), |weighting| weighting.checked(vocabulary.len()))?;
    let mut rows = Rows { starts: vec![0], ..Rows::default() };
    let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
    for (row, text) in texts.iter().enumerate() {
        analyser.analyse(text, row, &mut scratch)?;
        let (terms, text) = scratch.terms();
        ids.clear();
        let missing = terms.len() - find_all(&vocabulary, terms, text, unknown, &mut ids) as usize;
        ids.sort_unstable();
        for run in ids.chunk_by(|a, b| a == b) {
            rows.words.push(run[0] as i32);
            let count = run.len() as u32;
            rows.values.push(weighting.map_or(f64::from(count), |weighting| weighting.value(run[0], count)));
        }
        if let Some(weighting) = weighting {
            let from = *rows.starts.last().unwrap_or(&0) as usize;
            let is_second = |id| vocabulary.key(id).is_marked(vocabulary.arena());
            weighting.normalise(&rows.words[from..], &mut rows.values[from..], is_second);
        }
        rows.starts.push(rows.words.len() as i64);
        rows.unknown.push(missing as i64);
    }
    Ok(rows)
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
