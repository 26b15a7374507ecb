//! Exact leave-one-out scores of naive Bayes: each document under the model of all others, in one pass.
//!
//! Without a document of class k, the counts of its words fall in class k; words that are then in too few
//! documents leave the vocabulary, and with them what they add to every class. All else stays, so a document
//! costs what it holds.

use crate::dual::Rows;
use crate::error::Error;
use crate::processor::prefetch;
use crate::threads::{on_threads, worthwhile};

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

/// How many words, or cells of words, ahead memory is asked for.
const AHEAD: usize = 12;

/// `log(n + alpha)` of small whole numbers, taken once; of others when they are asked for.
struct Logs<L> {
    whole: [f64; 1 << 12],
    alpha: f64,
    log: L,
}

impl<L: Fn(f64) -> f64> Logs<L> {
    fn new(alpha: f64, log: L) -> Self {
        Self { whole: std::array::from_fn(|n| log(n as f64 + alpha)), alpha, log }
    }

    #[inline]
    fn of(&self, count: f64) -> f64 {
        match self.whole.get(count as usize) {
            Some(known) if (count as usize as f64).to_bits() == count.to_bits() => *known,
            _ => (self.log)(count + self.alpha),
        }
    }
}

/// A count of a word in a class beside what an occurrence of the word adds there to a score: they are read together.
#[derive(Debug, Clone, Copy)]
struct Cell {
    odds: f64,
    count: f64,
    class: u32,
}

/// The documents that hold a word, and where its cells begin.
#[derive(Debug, Clone, Copy)]
struct Word {
    documents: f64,
    start: usize,
    full: usize, // where it stands among words that have their classes in full, or `SPARSE`
}

const SPARSE: usize = usize::MAX;

/// A word that is in one class of so many at least has what it adds to scores for all classes, zeros too, behind
/// which stand its counts: a sum over all of them needs no list of classes.
const FULL: usize = 4;

/// The cells of all words, as scores are made of them.
#[derive(Debug)]
struct Cells {
    words: Vec<Word>,
    listed: Vec<Cell>,
    full: Vec<f64>, // K odds and K counts of each word
    classes: usize,
}

impl Cells {
    fn of(counts: Counts<'_>, odds: impl Fn(f64) -> f64) -> Self {
        let classes = counts.totals.len();
        let all = counts.class_of.iter().zip(counts.counts);
        let listed: Vec<Cell> =
            all.map(|(&class, &count)| Cell { odds: odds(count), count, class }).collect();
        let (mut words, mut full) = (Vec::with_capacity(counts.starts.len()), Vec::new());
        for (word, &documents) in counts.documents.iter().enumerate() {
            let own = counts.cells(word);
            let start = own.start;
            if FULL * own.len() < classes {
                words.push(Word { documents, start, full: SPARSE });
                continue;
            }
            let place = full.len();
            full.resize(place + 2 * classes, 0.0);
            let (odds, counts) = full[place..].split_at_mut(classes);
            for cell in &listed[own] {
                odds[cell.class as usize] = cell.odds;
                counts[cell.class as usize] = cell.count;
            }
            words.push(Word { documents, start, full: place });
        }
        words.push(Word { documents: 0.0, start: listed.len(), full: SPARSE });
        Self { words, listed, full, classes }
    }

    /// Bring near what is needed of a word soon.
    #[inline]
    fn fetch(&self, soon: Option<&i32>) {
        if let Some(&word) = soon {
            let word = self.words[word as usize];
            if word.full == SPARSE {
                return prefetch(&self.listed, word.start);
            }
            (word.full..word.full + 2 * self.classes.min(32))
                .step_by(8)
                .for_each(|at| prefetch(&self.full, at));
        }
    }

    fn of_word(&self, word: usize) -> &[Cell] {
        &self.listed[self.words[word].start..self.words[word + 1].start]
    }

    /// Add what `x` occurrences of a word add to the score of every class; its count in the class `own`.
    #[inline]
    fn add(&self, word: usize, x: f64, own: u32, scores: &mut [f64]) -> f64 {
        let full = self.words[word].full;
        if full != SPARSE {
            let (odds, counts) = self.full[full..full + 2 * self.classes].split_at(self.classes);
            scores.iter_mut().zip(odds).for_each(|(score, odds)| *score += x * odds); // nothing, where that is 0
            return counts[own as usize];
        }
        let mut mine = 0.0;
        for cell in self.of_word(word) {
            scores[cell.class as usize] += x * cell.odds;
            mine = if cell.class == own { cell.count } else { mine };
        }
        mine
    }
}

/// `Σ_v x_v log θ_kv` of each document under the counts of all others, with smoothing `alpha`; (N, K).
///
/// `presence` takes a word once however often it occurs. A document's scores depend on nothing but itself: any
/// number of threads gives the same bits.
#[allow(clippy::too_many_arguments)]
pub fn multinomial(
    rows: Rows<'_>,
    counts: Counts<'_>,
    without: Without<'_>,
    alpha: f64,
    presence: bool,
    log: impl Fn(f64) -> f64 + Sync,
    threads: usize,
    out: &mut [f64],
) {
    let classes = counts.totals.len().max(1);
    let logs = Logs::new(alpha, log);
    let log_alpha = (logs.log)(alpha);
    let cells = Cells::of(counts, |count| logs.of(count) - log_alpha);
    let of_text = |scores: &mut [f64], totals: &mut [f64], i: usize| {
        let (own, weight, least) = (without.codes[i], without.weights[i], without.least[i]);
        let (mut length, mut gone) = (0.0, 0usize);
        totals.copy_from_slice(counts.totals);
        let (features, values) = rows.row(i);
        for (at, (&word, &value)) in features.iter().zip(values).enumerate() {
            if let Some(&soon) = features.get(at + 2 * AHEAD) {
                prefetch(&cells.words, soon as usize);
            }
            cells.fetch(features.get(at + AHEAD));
            let word = word as usize;
            let x = if presence { 1.0 } else { value };
            if cells.words[word].documents - weight < least {
                gone += 1;
                cells.of_word(word).iter().for_each(|cell| totals[cell.class as usize] -= cell.count);
                continue;
            }
            length += x;
            totals[own as usize] -= weight * x;
            let before = scores[own as usize];
            let mine = cells.add(word, x, own, scores);
            // Its own class was given what it would have with the document.
            scores[own as usize] = before + x * (logs.of((mine - weight * x).max(0.0)) - log_alpha);
        }
        let vocabulary = (counts.documents.len() - gone) as f64;
        for (score, &total) in scores.iter_mut().zip(&*totals) {
            *score += length * (log_alpha - (logs.log)(total.max(0.0) + alpha * vocabulary));
        }
    };
    let step = without.codes.len().div_ceil(worthwhile(12 * rows.values.len(), threads)).max(1);
    let jobs = (0..).step_by(step).zip(out.chunks_mut(step * classes)).collect();
    on_threads(jobs, |(first, scores): (usize, &mut [f64])| {
        let mut totals = counts.totals.to_vec();
        for (i, scores) in scores.chunks_exact_mut(classes).enumerate() {
            of_text(scores, &mut totals, first + i);
        }
    });
}

/// How many words of each document the model of all others knows, (N,): each once, or as often as it occurs.
///
/// # Errors
/// [`Error::Malformed`] where the arrays do not fit together.
pub fn known(
    rows: Rows<'_>,
    documents: &[f64],
    weights: &[f64],
    least: &[f64],
    presence: bool,
) -> Result<Vec<f64>, Error> {
    if rows.starts.len() != weights.len() + 1 || least.len() != weights.len() {
        return Err(Error::Malformed("rows and their weights differ in number".into()));
    }
    rows.checked(documents.len())?;
    let of_text = |i: usize| {
        let (features, values) = rows.row(i);
        let mut length = 0.0;
        for (at, (&word, &value)) in features.iter().zip(values).enumerate() {
            if let Some(&soon) = features.get(at + AHEAD) {
                prefetch(documents, soon as usize);
            }
            let is_known = documents[word as usize] - weights[i] >= least[i];
            length += if !is_known {
                0.0
            } else if presence {
                1.0
            } else {
                value
            };
        }
        length
    };
    Ok((0..weights.len()).map(of_text).collect())
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
