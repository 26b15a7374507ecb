//! Documents as compressed sparse rows over a vocabulary.

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::vocabulary::Vocabulary;

/// A batch of documents: row `d` occupies `starts[d]..starts[d + 1]` of the other two.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Row boundaries.
    pub starts: Vec<i64>,
    /// Word numbers, increasing within a row.
    pub words: Vec<i32>,
    /// How often the word occurs in the document; never zero.
    pub counts: Vec<i64>,
    /// Terms of each document that are not in the vocabulary.
    pub unknown: Vec<i64>,
}

/// Count the words of each text. Linear in the text, plus a sort of each document's terms.
///
/// # Errors
/// [`Error::DocumentTooLong`].
pub fn rows(
    analyser: &Analyser,
    vocabulary: Vocabulary<'_>,
    unknown: Option<u32>,
    texts: &[&str],
) -> Result<Rows, Error> {
    let mut rows = Rows { starts: vec![0], ..Rows::default() };
    let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
    for (row, text) in texts.iter().enumerate() {
        analyser.analyse(text, row, &mut scratch)?;
        let (terms, text) = scratch.terms();
        ids.clear();
        let found = terms.iter().filter_map(|term| vocabulary.find(*term, text));
        ids.extend(found.filter(|id| Some(*id) != unknown));
        let missing = terms.len() - ids.len();
        if let Some(id) = unknown {
            ids.resize(terms.len(), id);
        }
        ids.sort_unstable();
        for run in ids.chunk_by(|a, b| a == b) {
            rows.words.push(run[0] as i32);
            rows.counts.push(run.len() as i64);
        }
        rows.starts.push(rows.words.len() as i64);
        rows.unknown.push(missing as i64);
    }
    Ok(rows)
}
