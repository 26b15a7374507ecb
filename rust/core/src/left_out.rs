//! Exact leave-one-out scores of naive Bayes: each document under the model of all others, in one pass.
//!
//! Without a document of class k, the counts of its words fall in class k; words that are then in too few
//! documents leave the vocabulary, and with them what they add to every class. All else stays, so a document
//! costs what it holds.

use crate::dual::Rows;
use crate::error::Error;

/// Counts by word and class, as logarithms are taken of them.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    /// Cells of word v are `starts[v]` to `starts[v + 1]`.
    pub starts: &'a [u64],
    /// Class of each cell, ascending within a word.
    pub class_of: &'a [u32],
    /// What is counted in each cell: occurrences, or documents.
    pub counts: &'a [f64],
    /// Documents that hold each word.
    pub documents: &'a [f64],
    /// Sum of the counts of each class or, for documents, their number.
    pub totals: &'a [f64],
}

/// One document left out: its class, its weight, and the fewest documents a word must then be in.
#[derive(Debug, Clone, Copy)]
pub struct Without<'a> {
    /// Class of each document.
    pub codes: &'a [u32],
    /// Weight of each document.
    pub weights: &'a [f64],
    /// Fewest documents, for each document left out.
    pub least: &'a [f64],
}

/// Refuses arrays that do not fit together.
///
/// # Errors
///
/// [`Error::Malformed`] where a size or an index is out of bounds.
pub fn check(rows: Rows<'_>, counts: Counts<'_>, without: Without<'_>, out: usize) -> Result<(), Error> {
    let (words, classes, n) = (counts.documents.len(), counts.totals.len(), without.codes.len());
    let cells = counts.counts.len();
    let fits = rows.starts.len() == n + 1
        && counts.starts.len() == words + 1
        && counts.starts.first() == Some(&0)
        && counts.starts[words] == cells as u64
        && counts.starts.windows(2).all(|pair| pair[0] <= pair[1])
        && counts.class_of.len() == cells
        && counts.class_of.iter().all(|&k| (k as usize) < classes)
        && without.weights.len() == n
        && without.least.len() == n
        && without.codes.iter().all(|&k| (k as usize) < classes)
        && n.checked_mul(classes) == Some(out);
    if !fits {
        return Err(Error::Malformed("the arrays of leave-one-out do not fit together".into()));
    }
    rows.checked(words)
}

impl Counts<'_> {
    fn cells(&self, word: usize) -> std::ops::Range<usize> {
        self.starts[word] as usize..self.starts[word + 1] as usize
    }
}

/// `Σ_v x_v log θ_kv` of each document under the counts of all others, with smoothing `alpha`; (N, K).
///
/// `presence` takes a word once however often it occurs.
pub fn multinomial(
    rows: Rows<'_>,
    counts: Counts<'_>,
    without: Without<'_>,
    alpha: f64,
    presence: bool,
    log: impl Fn(f64) -> f64,
    out: &mut [f64],
) {
    let classes = counts.totals.len();
    let logs: Vec<f64> = counts.counts.iter().map(|&n| log(n + alpha)).collect();
    let log_alpha = log(alpha);
    let mut totals = counts.totals.to_vec();
    for (i, scores) in out.chunks_exact_mut(classes.max(1)).enumerate() {
        let (own, weight, least) = (without.codes[i], without.weights[i], without.least[i]);
        let (mut length, mut gone) = (0.0, 0usize);
        totals.copy_from_slice(counts.totals);
        for at in rows.starts[i] as usize..rows.starts[i + 1] as usize {
            let word = rows.features[at] as usize;
            let x = if presence { 1.0 } else { rows.values[at] };
            if counts.documents[word] - weight < least {
                gone += 1;
                for cell in counts.cells(word) {
                    totals[counts.class_of[cell] as usize] -= counts.counts[cell];
                }
                continue;
            }
            length += x;
            totals[own as usize] -= weight * x;
            let mut mine = 0.0;
            for cell in counts.cells(word) {
                let class = counts.class_of[cell];
                if class == own {
                    mine = counts.counts[cell];
                } else {
                    scores[class as usize] += x * (logs[cell] - log_alpha);
                }
            }
            scores[own as usize] += x * (log((mine - weight * x).max(0.0) + alpha) - log_alpha);
        }
        let vocabulary = (counts.documents.len() - gone) as f64;
        for (score, &total) in scores.iter_mut().zip(&totals) {
            *score += length * (log_alpha - log(total.max(0.0) + alpha * vocabulary));
        }
    }
}

/// `Σ_v log p(x_v | k)` over all words, there or not, of each document under the counts of all others; (N, K).
///
/// `absent` is `Σ_v log(1 - p_kv)` of each class by all documents, (K,); `absent_own` the same of each
/// document's own class, by one document fewer but the same counts of words, (N,).
#[allow(clippy::too_many_arguments)]
pub fn bernoulli(
    rows: Rows<'_>,
    counts: Counts<'_>,
    without: Without<'_>,
    alpha: f64,
    absent: &[f64],
    absent_own: &[f64],
    log: impl Fn(f64) -> f64,
    out: &mut [f64],
) {
    let classes = counts.totals.len();
    let not = |count: f64, total: f64| log((total - count + alpha).max(0.0)) - log(total + 2.0 * alpha);
    let there = |count: f64, total: f64| log(count.max(0.0) + alpha) - log(total + 2.0 * alpha);
    // Of a word that a class has never shown: what it adds where it is there, and what it would where not.
    let never: Vec<(f64, f64)> = counts.totals.iter().map(|&n| (there(0.0, n), not(0.0, n))).collect();
    for (i, scores) in out.chunks_exact_mut(classes.max(1)).enumerate() {
        let (own, weight, least) = (without.codes[i] as usize, without.weights[i], without.least[i]);
        let left = counts.totals[own] - weight;
        let (mut kept_words, mut gone) = (0.0, 0.0);
        let mut mine = absent_own[i];
        for at in rows.starts[i] as usize..rows.starts[i + 1] as usize {
            let word = rows.features[at] as usize;
            let kept = counts.documents[word] - weight >= least;
            if kept {
                kept_words += 1.0;
            } else {
                gone += 1.0;
            }
            let mut count_own = 0.0;
            for cell in counts.cells(word) {
                let (class, count) = (counts.class_of[cell] as usize, counts.counts[cell]);
                if class == own {
                    count_own = count;
                    continue;
                }
                let total = counts.totals[class];
                scores[class] += never[class].1 - not(count, total);
                if kept {
                    scores[class] += there(count, total) - never[class].0;
                }
            }
            mine -= not(count_own, left);
            if kept {
                mine += there(count_own - weight, left);
            }
        }
        for (k, score) in scores.iter_mut().enumerate() {
            let (there, not) = never[k];
            *score += absent[k] + kept_words * (there - not) - gone * not;
        }
        scores[own] = mine;
    }
}

/// `-Σ_v x_v log θ_kv` of each document, θ being of all classes but k, under the counts of all others; (N, K).
pub fn complement(
    rows: Rows<'_>,
    counts: Counts<'_>,
    without: Without<'_>,
    alpha: f64,
    log: impl Fn(f64) -> f64,
    out: &mut [f64],
) {
    let classes = counts.totals.len();
    let everything: f64 = counts.totals.iter().sum();
    let mut mine = vec![0.0; classes];
    let mut totals = vec![0.0; classes];
    for (i, scores) in out.chunks_exact_mut(classes.max(1)).enumerate() {
        let (own, weight, least) = (without.codes[i] as usize, without.weights[i], without.least[i]);
        let (mut length, mut gone) = (0.0, 0usize);
        for (total, &of_class) in totals.iter_mut().zip(counts.totals) {
            *total = everything - of_class;
        }
        for at in rows.starts[i] as usize..rows.starts[i + 1] as usize {
            let (word, x) = (rows.features[at] as usize, rows.values[at]);
            mine.fill(0.0);
            let mut all = 0.0;
            for cell in counts.cells(word) {
                mine[counts.class_of[cell] as usize] = counts.counts[cell];
                all += counts.counts[cell];
            }
            if counts.documents[word] - weight < least {
                gone += 1;
                for (total, count) in totals.iter_mut().zip(&mine) {
                    *total -= all - count;
                }
                continue;
            }
            length += x;
            for k in 0..classes {
                // The document is among the others of every class but its own.
                let without = if k == own { 0.0 } else { weight * x };
                totals[k] -= without;
                scores[k] -= x * log((all - mine[k] - without).max(0.0) + alpha);
            }
        }
        let vocabulary = (counts.documents.len() - gone) as f64;
        for (score, &total) in scores.iter_mut().zip(&totals) {
            *score += length * log(total.max(0.0) + alpha * vocabulary);
        }
    }
}
