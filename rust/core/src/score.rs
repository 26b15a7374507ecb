//! Straight from text to class scores: no matrix is built.

use crate::analyse::{Analyser, Scratch};
use crate::error::Error;
use crate::key::Term;
use crate::pages::Pages;
use crate::processor::{at_its_best, prefetch, prefetch_text};
use crate::tfidf::Norm;
use crate::threads::{on_threads, text_shares};
use crate::vocabulary::Vocabulary;
use crate::weigh::Weighting;

/// The exceptions from the default weight of each class.
#[derive(Debug, Clone, Copy)]
pub enum Exceptions<'a> {
    /// A row of K for every word.
    Dense(&'a [f64]),
    /// Word `v` has `values[starts[v]..starts[v + 1]]` in the classes `class_of` of the same range.
    Sparse {
        /// Row boundaries.
        starts: &'a [u64],
        /// Class of each value.
        class_of: &'a [u32],
        /// The values.
        values: &'a [f64],
    },
    /// A row of K for every word, less what is common to all rows: a table of which some rows have changed.
    Changed(Changed<'a>),
}

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
    fn fits(&self, words: usize, classes: usize) -> bool {
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
    fn row(&self, id: u32) -> impl Iterator<Item = f64> + use<'a> {
        self.pages.row(self.table, id as usize).iter().zip(self.less).map(|(weight, less)| weight - less)
    }

    /// Take words that are gone out of `ids`, one for each term (`ABSENT` where there is none), and put new ones in.
    fn settle(&self, more: &More<'_>, terms: &[Term], text: &[u8], ids: &mut Vec<u32>) {
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
    fn sort(&self, words: usize, ids: &mut [u32]) {
        ids.sort_unstable_by_key(|id| {
            let new = (*id as usize).checked_sub(words);
            new.map_or((*id, 1, 0), |new| (self.places[new], 0, self.ranks[new]))
        });
    }
}

/// Stands for a word that is not in the vocabulary.
const ABSENT: u32 = u32::MAX;

/// Scores `intercept_k + Σ_v x_v w_vk` with `w_vk = default_k + slope_k base_v + exception_vk`.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    vocabulary: Vocabulary<'a>,
    intercept: &'a [f64],
    default: &'a [f64],
    slope: &'a [f64],
    base: &'a [f64],
    exceptions: Exceptions<'a>,
    /// The word that stands for unknown ones, or none.
    unknown: Option<u32>,
    /// Count a word once however often it occurs.
    presence: bool,
    /// An exception stands in the place of its class's default instead of being added to it.
    replaces: bool,
    /// What occurrences are worth; one each if none. Takes weights that are a full matrix.
    weighting: Option<Weighting<'a>>,
}

impl<'a> Linear<'a> {
    /// A model over arrays of the right sizes; `base` and `slope` may both be empty.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the sizes do not fit together.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        vocabulary: Vocabulary<'a>,
        intercept: &'a [f64],
        default: &'a [f64],
        slope: &'a [f64],
        base: &'a [f64],
        exceptions: Exceptions<'a>,
        unknown: Option<u32>,
        presence: bool,
        replaces: bool,
        weighting: Option<Weighting<'a>>,
    ) -> Result<Self, Error> {
        let (words, classes) = (vocabulary.len(), intercept.len());
        let based = (base.len(), slope.len());
        let sized = match exceptions {
            Exceptions::Dense(values) => words.checked_mul(classes) == Some(values.len()),
            Exceptions::Changed(changed) => changed.fits(words, classes),
            Exceptions::Sparse { starts, class_of, values } => {
                starts.len() == words + 1
                    && starts[0] == 0
                    && starts[words] == values.len() as u64
                    && class_of.len() == values.len()
            }
        };
        let fits = sized
            && default.len() == classes
            && (based == (0, 0) || based == (words, classes))
            && unknown.is_none_or(|id| (id as usize) < words)
            && match exceptions {
                Exceptions::Changed(changed) => {
                    changed.more.is_none() || weighting.is_none() && unknown.is_none()
                }
                _ => true,
            }
            && weighting.is_none_or(|weighting| {
                weighting.checked(words).is_ok()
                    && !matches!(exceptions, Exceptions::Sparse { .. })
                    && based == (0, 0)
                    && !presence
                    && unknown.is_none()
                    && (1..=if weighting.norm == Norm::L1 { 1 } else { 2 }).contains(&weighting.blocks)
            });
        if !fits {
            return Err(Error::Malformed("the arrays of a linear model do not fit together".into()));
        }
        Ok(Self {
            vocabulary,
            intercept,
            default,
            slope,
            base,
            exceptions,
            unknown,
            presence,
            replaces,
            weighting,
        })
    }

    /// The model, if what is in its arrays, which may come from anywhere, is safe to use.
    ///
    /// # Errors
    /// [`Error::Malformed`] if not.
    pub fn checked(self) -> Result<Self, Error> {
        self.vocabulary.checked()?;
        if let Exceptions::Sparse { starts, class_of, .. } = self.exceptions {
            let ordered = starts.is_sorted();
            let most = class_of.iter().fold(0, |most, k| most.max(*k));
            if !ordered || most as usize >= self.classes().max(1) {
                return Err(Error::Malformed("the weights of a linear model are damaged".into()));
            }
        }
        Ok(self)
    }

    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.intercept.len()
    }

    /// Write the scores of the document in `scratch` to `out`; its number of known and of all terms.
    #[inline(always)]
    fn document(&self, scratch: &Scratch, ids: &mut Vec<u32>, out: &mut [f64]) -> [u32; 2] {
        let (terms, text) = scratch.terms();
        if let Some(weighting) = &self.weighting {
            return self.weighted(weighting, scratch, ids, out);
        }
        ids.clear();
        let known = if let Exceptions::Changed(changed @ Changed { more: Some(more), .. }) = &self.exceptions
        {
            find_all(&self.vocabulary, terms, text, Some(ABSENT), ids);
            changed.settle(more, terms, text, ids);
            let known = ids.len() as u32;
            if self.presence {
                more.sort(self.vocabulary.len(), ids);
            }
            known
        } else {
            let known = find_all(&self.vocabulary, terms, text, self.unknown, ids);
            if self.presence {
                ids.sort_unstable();
            }
            known
        };
        if self.presence {
            ids.dedup();
        }
        out.copy_from_slice(self.intercept);
        self.add(ids, out);
        [known, terms.len() as u32]
    }

    /// [`Self::document`] with weighted terms, block by block.
    fn weighted(
        &self,
        weighting: &Weighting<'_>,
        scratch: &Scratch,
        ids: &mut Vec<u32>,
        out: &mut [f64],
    ) -> [u32; 2] {
        let (terms, text) = scratch.terms();
        let (words, characters) = terms.split_at(scratch.words());
        let blocks = if weighting.blocks == 1 { [terms, &[]] } else { [words, characters] };
        out.copy_from_slice(self.intercept);
        let mut known = 0;
        for block in blocks.into_iter().filter(|block| !block.is_empty()) {
            ids.clear();
            known += find_all(&self.vocabulary, block, text, None, ids);
            if let (true, Exceptions::Dense(weights)) = (weighting.is_mean(), self.exceptions) {
                add_mean(weights, ids, out);
                continue;
            }
            ids.sort_unstable();
            match self.exceptions {
                Exceptions::Dense(weights) => add_weighted(weighting, weights, ids, out),
                Exceptions::Changed(changed) => add_changed(weighting, &changed, ids, out),
                Exceptions::Sparse { .. } => {} // refused in `new`
            }
        }
        [known, terms.len() as u32]
    }

    #[inline(always)]
    fn add(&self, ids: &[u32], out: &mut [f64]) {
        match self.exceptions {
            Exceptions::Dense(values) => match self.classes() {
                2 => add_dense::<2>(values, ids, out),
                3 => add_dense::<3>(values, ids, out),
                4 => add_dense::<4>(values, ids, out),
                classes => {
                    for id in ids {
                        let from = *id as usize * classes;
                        add_row(&values[from..from + classes], out);
                    }
                }
            },
            Exceptions::Changed(changed) => {
                // As for a full matrix, to the last bit: few classes are added up by themselves first.
                let mut sum =
                    if matches!(self.classes(), 2..=4) { vec![0.0; out.len()] } else { out.to_vec() };
                for id in ids {
                    sum.iter_mut().zip(changed.row(*id)).for_each(|(score, weight)| *score += weight);
                }
                if matches!(self.classes(), 2..=4) {
                    add_row(&sum, out);
                } else {
                    out.copy_from_slice(&sum);
                }
            }
            Exceptions::Sparse { starts, class_of, values } if self.replaces => {
                let mut remaining = vec![ids.len() as f64; out.len()];
                for id in ids {
                    let row = starts[*id as usize] as usize..starts[*id as usize + 1] as usize;
                    for (k, value) in class_of[row.clone()].iter().zip(&values[row]) {
                        out[*k as usize] += value;
                        remaining[*k as usize] -= 1.0;
                    }
                }
                let defaults = remaining.iter().zip(self.default);
                out.iter_mut().zip(defaults).for_each(|(score, (n, default))| *score += n * default);
            }
            Exceptions::Sparse { starts, class_of, values } => add_sparse(starts, class_of, values, ids, out),
        }
        let n = if self.replaces { 0.0 } else { ids.len() as f64 };
        out.iter_mut().zip(self.default).for_each(|(score, default)| *score += n * default);
        if !self.base.is_empty() {
            let base: f64 = ids.iter().map(|id| self.base[*id as usize]).sum();
            out.iter_mut().zip(self.slope).for_each(|(score, slope)| *score += base * slope);
        }
    }

    /// Scores of `texts`, row by row of K, and for each its known and its total number of terms.
    ///
    /// A document's scores depend on nothing but itself: any number of threads gives the same bits.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`].
    pub fn score(
        &self,
        analyser: &Analyser,
        texts: &[&str],
        threads: usize,
    ) -> Result<(Vec<f64>, Vec<u32>), Error> {
        let classes = self.classes();
        let mut scores = vec![0.0; texts.len() * classes];
        let mut evidence = vec![0; texts.len() * 2];
        let (mut rest, mut rest_too) = (scores.as_mut_slice(), evidence.as_mut_slice());
        let mut jobs = Vec::new();
        for (share, row) in text_shares(texts, threads) {
            let (mine, mine_too);
            (mine, rest) = rest.split_at_mut(share.len() * classes);
            (mine_too, rest_too) = rest_too.split_at_mut(share.len() * 2);
            jobs.push((share, row, mine, mine_too));
        }
        let work =
            |(share, row, scores, evidence): (_, _, _, _)| self.run(analyser, share, row, scores, evidence);
        let done: Result<(), Error> = on_threads(jobs, work).into_iter().collect();
        done.map(|()| (scores, evidence))
    }

    fn run(
        &self,
        analyser: &Analyser,
        texts: &[&str],
        first_row: usize,
        scores: &mut [f64],
        evidence: &mut [u32],
    ) -> Result<(), Error> {
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        let classes = self.classes();
        for (i, text) in texts.iter().enumerate() {
            if let Some(next) = texts.get(i + 1) {
                prefetch_text(next);
            }
            analyser.analyse(text, first_row + i, &mut scratch)?;
            let seen = self.document(&scratch, &mut ids, &mut scores[i * classes..(i + 1) * classes]);
            evidence[2 * i..2 * i + 2].copy_from_slice(&seen);
        }
        Ok(())
    }
}

at_its_best! {
    /// Append the number of each known term, and `unknown` for each other; how many are known.
    ///
    /// In rounds of 64, so that all the memory a round needs is on its way before any is used.
    pub(crate) fn find_all(words: &Vocabulary<'_>, terms: &[Term], text: &[u8], unknown: Option<u32>, ids: &mut Vec<u32>) -> u32 {
        let mut known = 0;
        let mut buckets = [(0, 0); 64];
        ids.reserve(terms.len());
        for round in terms.chunks(buckets.len()) {
            for (bucket, term) in buckets.iter_mut().zip(round) {
                *bucket = words.bucket(*term);
            }
            for (bucket, term) in buckets.iter().zip(round) {
                let found = words.find_in(*bucket, *term, text);
                known += u32::from(found.is_some() && found != unknown);
                if let Some(id) = found.or(unknown) {
                    ids.push(id);
                }
            }
        }
        known
    }
}

at_its_best! {
    /// Add the rows of one block of words, in order, each times its value in the document.
    fn add_weighted(weighting: &Weighting<'_>, weights: &[f64], ids: &[u32], out: &mut [f64]) {
        let classes = out.len();
        let mut values = Vec::with_capacity(ids.len());
        let mut sum = 0.0;
        for run in ids.chunk_by(|a, b| a == b) {
            let value = weighting.value(run[0], run.len() as u32);
            prefetch(weights, run[0] as usize * classes);
            sum += weighting.part(value);
            values.push((run[0], value));
        }
        let factor = weighting.factor(sum);
        for (id, value) in values {
            let (from, value) = (id as usize * classes, value * factor);
            out.iter_mut().zip(&weights[from..from + classes]).for_each(|(score, weight)| *score += value * weight);
        }
    }
}

at_its_best! {
    /// Add the mean of the rows of some terms, which need no order for it.
    fn add_mean(weights: &[f64], ids: &[u32], out: &mut [f64]) {
        let classes = out.len();
        let mut sum = vec![0.0; classes];
        for (i, id) in ids.iter().enumerate() {
            if let Some(soon) = ids.get(i + 16) {
                prefetch(weights, *soon as usize * classes);
            }
            let from = *id as usize * classes;
            add_row(&weights[from..from + classes], &mut sum);
        }
        let n = ids.len().max(1) as f64;
        out.iter_mut().zip(sum).for_each(|(score, sum)| *score += sum / n);
    }
}

/// [`add_weighted`] of a table of which some rows have changed.
fn add_changed(weighting: &Weighting<'_>, changed: &Changed<'_>, ids: &[u32], out: &mut [f64]) {
    let value = |run: &[u32]| weighting.value(run[0], run.len() as u32);
    let parts = ids.chunk_by(|a, b| a == b).map(|run| weighting.part(value(run)));
    let factor = weighting.factor(parts.fold(0.0, |sum, part| sum + part));
    for run in ids.chunk_by(|a, b| a == b) {
        let value = value(run) * factor;
        out.iter_mut().zip(changed.row(run[0])).for_each(|(score, weight)| *score += value * weight);
    }
}

at_its_best! {
    /// Add the rows of some words, the full ones as vectors.
    fn add_sparse(starts: &[u64], class_of: &[u32], values: &[f64], ids: &[u32], out: &mut [f64]) {
        for (i, id) in ids.iter().enumerate() {
            if let Some(soon) = ids.get(i + 6) {
                prefetch(values, starts[*soon as usize] as usize);
            }
            let row = starts[*id as usize] as usize..starts[*id as usize + 1] as usize;
            if row.len() == out.len() {
                add_row(&values[row], out); // every class: no need to look which
            } else {
                for (k, value) in class_of[row.clone()].iter().zip(&values[row]) {
                    out[*k as usize] += value;
                }
            }
        }
    }
}

#[inline(always)]
fn add_row(row: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(score, weight)| *score += weight);
}

#[inline]
fn add_dense<const K: usize>(values: &[f64], ids: &[u32], out: &mut [f64]) {
    let rows = values.as_chunks::<K>().0;
    let mut sum = [0.0; K];
    for id in ids {
        let row = &rows[*id as usize];
        for k in 0..K {
            sum[k] += row[k];
        }
    }
    add_row(&sum, out);
}
