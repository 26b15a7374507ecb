//! Straight from text to class scores: no matrix is built.

use crate::analyse::Analyser;
use crate::changed::ABSENT;
pub use crate::changed::{Changed, More};
use crate::error::Error;
pub use crate::finder::Finders;
use crate::finder::{Finder, find_all};
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

    /// Write the scores of a text to `out`; its number of known and of all terms.
    fn document(
        &self,
        analyser: &Analyser,
        (text, row): (&str, usize),
        finder: &mut Finder,
        desk: &mut Desk,
        out: &mut [f64],
    ) -> Result<[u32; 2], Error> {
        out.copy_from_slice(self.intercept);
        if let Exceptions::Changed(changed @ Changed { more: Some(more), .. }) = &self.exceptions {
            analyser.analyse(text, row, &mut finder.scratch)?;
            let (terms, text) = finder.scratch.terms();
            finder.ids.clear();
            find_all(&self.vocabulary, terms, text, Some(ABSENT), &mut finder.ids);
            changed.settle(more, terms, text, &mut finder.ids);
            let known = finder.ids.len() as u32;
            if self.presence {
                more.sort(self.vocabulary.len(), &mut finder.ids);
                finder.ids.dedup();
            }
            self.add(&finder.ids, out);
            return Ok([known, terms.len() as u32]);
        }
        let known = finder.find(analyser, &self.vocabulary, self.unknown, text, row)?;
        if let Some(weighting) = &self.weighting {
            self.weighted(weighting, finder, desk, out);
        } else {
            finder.spell_out();
            if self.presence {
                finder.ids.sort_unstable();
                finder.ids.dedup();
            }
            self.add(&finder.ids, out);
        }
        Ok([known, finder.terms as u32])
    }

    /// Add what weighted terms say, block by block.
    fn weighted(&self, weighting: &Weighting<'_>, finder: &mut Finder, desk: &mut Desk, out: &mut [f64]) {
        let blocks: &[(bool, bool)] =
            if weighting.blocks == 1 { &[(true, true)] } else { &[(true, false), (false, true)] };
        if let (true, Exceptions::Dense(weights)) = (weighting.is_mean(), self.exceptions) {
            finder.spell_out();
            return add_mean(weights, &finder.ids, out); // of sums there is one block
        }
        for (words, characters) in blocks {
            finder.count(*words, *characters, self.vocabulary.len(), &mut desk.row);
            match self.exceptions {
                Exceptions::Dense(weights) => add_weighted(weighting, weights, desk, out),
                Exceptions::Changed(changed) => add_changed(weighting, &changed, &desk.row, out),
                Exceptions::Sparse { .. } => {} // refused in `new`
            }
        }
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
        self.score_with(&Finders::default(), analyser, texts, threads)
    }

    /// [`Self::score`] by finders of this vocabulary and analyser, who remember what they found before.
    ///
    /// # Errors
    /// [`Error::DocumentTooLong`].
    pub fn score_with(
        &self,
        finders: &Finders,
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
        let work = |(share, row, scores, evidence): (_, _, _, _)| {
            self.run(finders, analyser, (share, row), scores, evidence)
        };
        let done: Result<(), Error> = on_threads(jobs, work).into_iter().collect();
        done.map(|()| (scores, evidence))
    }

    fn run(
        &self,
        finders: &Finders,
        analyser: &Analyser,
        (texts, first_row): (&[&str], usize),
        scores: &mut [f64],
        evidence: &mut [u32],
    ) -> Result<(), Error> {
        let (mut finder, mut desk) = (finders.take(), Desk::new(self.weighting.as_ref()));
        let classes = self.classes();
        for (i, text) in texts.iter().enumerate() {
            if let Some(next) = texts.get(i + 1) {
                prefetch_text(next);
            }
            let out = &mut scores[i * classes..(i + 1) * classes];
            let seen = self.document(analyser, (text, first_row + i), &mut finder, &mut desk, out)?;
            evidence[2 * i..2 * i + 2].copy_from_slice(&seen);
        }
        finders.put(finder);
        Ok(())
    }
}

/// What a thread works with.
struct Desk {
    row: Vec<(u32, u32)>, // words and their numbers of occurrences
    values: Vec<f64>,
    frequencies: [f64; 64], // what so many occurrences are worth
}

impl Desk {
    fn new(weighting: Option<&Weighting<'_>>) -> Self {
        let frequency = |count| weighting.map_or(0.0, |weighting| weighting.frequency_of(count as u32));
        Self { row: Vec::new(), values: Vec::new(), frequencies: std::array::from_fn(frequency) }
    }
}

at_its_best! {
    /// Add the rows of one block of words, in order, each times its value in the document.
    fn add_weighted(weighting: &Weighting<'_>, weights: &[f64], desk: &mut Desk, out: &mut [f64]) {
        let classes = out.len();
        let Desk { row, values, frequencies } = desk;
        if values.len() < row.len() {
            values.resize(2 * row.len(), 0.0);
        }
        let values = &mut values[..row.len()];
        let frequency = |count: u32| match frequencies.get(count as usize) {
            Some(frequency) => *frequency,
            None => weighting.frequency_of(count),
        };
        let sum = if weighting.scale.is_empty() || weighting.norm != Norm::L2 {
            let mut sum = 0.0;
            for ((id, count), value) in row.iter().zip(values.iter_mut()) {
                *value = frequency(*count) * weighting.scale_of(*id);
                sum += weighting.part(*value);
            }
            sum
        } else {
            let mut sum = 0.0;
            for (i, value) in values.iter_mut().enumerate() {
                let soon = row[(i + AHEAD).min(row.len() - 1)].0 as usize;
                prefetch(weighting.scale, soon);
                prefetch(weights, soon * classes);
                let (id, count) = row[i];
                *value = frequency(count) * weighting.scale[id as usize];
                sum += *value * *value;
            }
            sum
        };
        let factor = weighting.factor(sum);
        match classes {
            2 => add_rows::<2>(weights, row, values, factor, out),
            3 => add_rows::<3>(weights, row, values, factor, out),
            4 => add_rows::<4>(weights, row, values, factor, out),
            _ => {
                for ((id, _), value) in row.iter().zip(values) {
                    let (from, value) = (*id as usize * classes, *value * factor);
                    out.iter_mut().zip(&weights[from..from + classes]).for_each(|(score, weight)| *score += value * weight);
                }
            }
        }
    }
}

/// How many words ahead their weights are asked for.
const AHEAD: usize = 24;

/// Add rows of K numbers, each times its value and the factor.
#[inline(always)]
fn add_rows<const K: usize>(
    weights: &[f64],
    row: &[(u32, u32)],
    values: &[f64],
    factor: f64,
    out: &mut [f64],
) {
    let rows = weights.as_chunks::<K>().0;
    let mut sum = [0.0; K];
    sum.copy_from_slice(out);
    for ((id, _), value) in row.iter().zip(values) {
        let (weights, value) = (&rows[*id as usize], *value * factor);
        for k in 0..K {
            sum[k] += value * weights[k];
        }
    }
    out.copy_from_slice(&sum);
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
fn add_changed(weighting: &Weighting<'_>, changed: &Changed<'_>, row: &[(u32, u32)], out: &mut [f64]) {
    let parts = row.iter().map(|(id, count)| weighting.part(weighting.value(*id, *count)));
    let factor = weighting.factor(parts.fold(0.0, |sum, part| sum + part));
    for (id, count) in row {
        let value = weighting.value(*id, *count) * factor;
        out.iter_mut().zip(changed.row(*id)).for_each(|(score, weight)| *score += value * weight);
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
