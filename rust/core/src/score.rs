//! Straight from text to class scores: no matrix is built.

use crate::analyse::Analyser;
use crate::bag::Row;
use crate::changed::ABSENT;
pub use crate::changed::{Changed, More};
use crate::error::Error;
pub use crate::finder::Finders;
use crate::finder::{Finder, Places, find_all};
use crate::index::{Index, Packed, Worth, width};
use crate::opposed::Opposed;
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
        places: &Places<'_>,
        (text, row): (&str, usize),
        finder: &mut Finder,
        desk: &mut Desk,
        out: &mut [f64],
    ) -> Result<[u32; 2], Error> {
        out.copy_from_slice(self.intercept);
        if let Exceptions::Changed(changed @ Changed { more: Some(more), .. }) = &self.exceptions {
            places.analyser.analyse(text, row, &mut finder.scratch)?;
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
        if let Some(weights) = places.index.and_then(|index| index.opposed.as_ref()) {
            let Finder { scratch, ids, .. } = finder;
            places.analyser.read_fasttext(text, row, scratch)?;
            let (mean, known) = weights.mean(scratch.terms(), &scratch.buckets, ids);
            out.iter_mut().zip([-mean, mean]).for_each(|(score, mean)| *score += mean);
            return Ok([known, (scratch.terms.len() + scratch.buckets.len()) as u32]);
        }
        let known = finder.find(places, text, row)?;
        if let Some(weighting) = &self.weighting {
            let packed = places.index.and_then(|index| index.packed.as_ref());
            self.weighted((weighting, packed), finder, desk, out);
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

    /// Add what weighted terms say, block by block: sums in the order in which terms come first in the text.
    fn weighted(
        &self,
        (weighting, packed): (&Weighting<'_>, Option<&Packed>),
        finder: &mut Finder,
        desk: &mut Desk,
        out: &mut [f64],
    ) {
        let blocks: &[(bool, bool)] =
            if weighting.blocks == 1 { &[(true, true)] } else { &[(true, false), (false, true)] };
        if let (true, Exceptions::Dense(weights)) = (weighting.is_mean(), self.exceptions) {
            finder.spell_out();
            return add_mean(weights, &finder.ids, out); // of sums there is one block
        }
        for (words, characters) in blocks {
            finder.count(*words, *characters, self.vocabulary.len());
            let row = finder.bag.take();
            match (self.exceptions, packed) {
                (Exceptions::Dense(_), Some(packed)) => add_packed(weighting, packed, row, desk, out),
                (Exceptions::Dense(weights), None) => add_weighted(weighting, weights, row, desk, out),
                (Exceptions::Changed(changed), _) => add_changed(weighting, &changed, packed, row, out),
                (Exceptions::Sparse { .. }, _) => {} // refused in `new`
            }
        }
    }

    /// An index of the vocabulary, with weights of few classes packed.
    fn index(&self, analyser: &Analyser) -> Option<Index> {
        let worth = match (self.exceptions, &self.weighting) {
            (Exceptions::Dense(weights), Some(weighting))
                if (2..=4).contains(&self.classes()) && !weighting.scale.is_empty() =>
            {
                Worth::Packed(Packed::new(weighting.scale, weights, self.classes()))
            }
            (Exceptions::Dense(weights), Some(weighting))
                if self.classes() == 2 && weighting.is_mean() && Opposed::are(weights) =>
            {
                Worth::Opposed(weights)
            }
            _ => Worth::Nothing,
        };
        Index::new(analyser, &self.vocabulary, worth)
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
        let bytes = texts.iter().map(|text| text.len()).sum();
        let index = match Index::cost(analyser) {
            Some(cost) if self.unknown.is_none() => {
                finders.index(bytes, cost.saturating_mul(self.vocabulary.len()), || self.index(analyser))
            }
            _ => None,
        };
        let places = Places { analyser, vocabulary: self.vocabulary, index, unknown: self.unknown };
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
            self.run((finders, &places), (share, row), scores, evidence)
        };
        let done: Result<(), Error> = on_threads(jobs, work).into_iter().collect();
        done.map(|()| (scores, evidence))
    }

    fn run(
        &self,
        (finders, places): (&Finders, &Places<'_>),
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
            let seen = self.document(places, (text, first_row + i), &mut finder, &mut desk, out)?;
            evidence[2 * i..2 * i + 2].copy_from_slice(&seen);
        }
        finders.put(finder);
        Ok(())
    }
}

/// What a thread works with.
struct Desk {
    sum: Vec<f64>,
    frequencies: [f64; 64], // what so many occurrences are worth
}

impl Desk {
    fn new(weighting: Option<&Weighting<'_>>) -> Self {
        let frequency = |count| weighting.map_or(0.0, |weighting| weighting.frequency_of(count as u32));
        Self { sum: Vec::new(), frequencies: std::array::from_fn(frequency) }
    }
}

/// How many words ahead their weights are asked for.
const AHEAD: usize = 24;

/// Sum the rows of K weights of the terms of a block, each times its value in the document; and of the values, what
/// their length is of.
///
/// `entry` gives the scale of a number and its weights, `near` asks for them.
#[inline(always)]
fn block<'w, const K: usize>(
    mut row: Row<'_>,
    weighting: &Weighting<'_>,
    frequencies: &[f64; 64],
    entry: impl Fn(usize) -> (f64, &'w [f64; K]),
    near: impl Fn(usize),
) -> (f64, [f64; K]) {
    let (mut length, mut sum) = (0.0, [0.0; K]);
    let Some(last) = row.numbers.len().checked_sub(1) else { return (length, sum) };
    let is_l1 = weighting.norm == Norm::L1;
    for (i, number) in row.numbers.iter().enumerate() {
        near(row.numbers[(i + AHEAD).min(last)] as usize);
        let count = row.count(*number);
        let (scale, weights) = entry(*number as usize);
        let value = frequency(weighting, frequencies, count) * scale;
        length += if is_l1 { value.abs() } else { value * value };
        for k in 0..K {
            sum[k] += value * weights[k];
        }
    }
    (length, sum)
}

/// What so many occurrences are worth.
#[inline(always)]
fn frequency(weighting: &Weighting<'_>, frequencies: &[f64; 64], count: u32) -> f64 {
    frequencies.get(count as usize).copied().unwrap_or_else(|| weighting.frequency_of(count))
}

/// Add what a block sums up to, brought to its length.
#[inline(always)]
fn add_block(weighting: &Weighting<'_>, length: f64, sum: &[f64], out: &mut [f64]) {
    let factor = weighting.factor(length);
    out.iter_mut().zip(sum).for_each(|(score, sum)| *score += factor * sum);
}

at_its_best! {
    /// Add the terms of one block by weights in the order of the vocabulary.
    fn add_weighted(weighting: &Weighting<'_>, weights: &[f64], row: Row<'_>, desk: &mut Desk, out: &mut [f64]) {
        match out.len() {
            2 => add_few::<2>(weighting, weights, row, desk, out),
            3 => add_few::<3>(weighting, weights, row, desk, out),
            4 => add_few::<4>(weighting, weights, row, desk, out),
            classes => {
                let Desk { sum, frequencies } = desk;
                sum.clear();
                sum.resize(classes, 0.0);
                let mut length = 0.0;
                let mut row = row;
                for (i, number) in row.numbers.iter().enumerate() {
                    if let Some(soon) = row.numbers.get(i + AHEAD) {
                        prefetch(weights, *soon as usize * classes);
                    }
                    let count = row.count(*number);
                    let value = frequency(weighting, frequencies, count) * weighting.scale_of(*number);
                    length += weighting.part(value);
                    let from = *number as usize * classes;
                    sum.iter_mut().zip(&weights[from..from + classes]).for_each(|(sum, weight)| *sum += value * weight);
                }
                add_block(weighting, length, sum, out);
            }
        }
    }
}

#[inline(always)]
fn add_few<const K: usize>(
    weighting: &Weighting<'_>,
    weights: &[f64],
    row: Row<'_>,
    desk: &Desk,
    out: &mut [f64],
) {
    let rows = weights.as_chunks::<K>().0;
    let entry = |at: usize| (weighting.scale_of(at as u32), &rows[at]);
    let near = |at: usize| {
        prefetch(weighting.scale, at);
        prefetch(rows, at);
    };
    let (length, sum) = block::<K>(row, weighting, &desk.frequencies, entry, near);
    add_block(weighting, length, &sum, out);
}

at_its_best! {
    /// The same by packed weights.
    fn add_packed(weighting: &Weighting<'_>, packed: &Packed, row: Row<'_>, desk: &mut Desk, out: &mut [f64]) {
        match out.len() {
            2 => add_packed_few::<2, { width(2) }>(weighting, packed, row, desk, out),
            3 => add_packed_few::<3, { width(3) }>(weighting, packed, row, desk, out),
            4 => add_packed_few::<4, { width(4) }>(weighting, packed, row, desk, out),
            _ => {} // others are not packed
        }
    }
}

#[inline(always)]
fn add_packed_few<const K: usize, const WIDTH: usize>(
    weighting: &Weighting<'_>,
    packed: &Packed,
    row: Row<'_>,
    desk: &Desk,
    out: &mut [f64],
) {
    let rows = packed.rows.as_chunks::<WIDTH>().0;
    let entry = |at: usize| {
        let row = &rows[at];
        (row[0], row[1..].first_chunk::<K>().unwrap_or(&[0.0; K]))
    };
    let (length, sum) = block::<K>(row, weighting, &desk.frequencies, entry, |at| prefetch(rows, at));
    add_block(weighting, length, &sum, out);
}

at_its_best! {
    /// Add the mean of the rows of some terms, which need no order for it.
    fn add_mean(weights: &[f64], ids: &[u32], out: &mut [f64]) {
        let classes = out.len();
        let mut sum = vec![0.0; classes];
        for (i, id) in ids.iter().enumerate() {
            if let Some(soon) = ids.get(i + 2 * AHEAD) {
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
fn add_changed(
    weighting: &Weighting<'_>,
    changed: &Changed<'_>,
    packed: Option<&Packed>,
    row: Row<'_>,
    out: &mut [f64],
) {
    let (mut length, mut sum, mut row) = (0.0, vec![0.0; out.len()], row);
    for at in row.numbers {
        let number = packed.map_or(*at, |packed| packed.number(*at));
        let value = weighting.value(number, row.count(*at));
        length += weighting.part(value);
        sum.iter_mut().zip(changed.row(number)).for_each(|(sum, weight)| *sum += value * weight);
    }
    add_block(weighting, length, &sum, out);
}

at_its_best! {
    /// Add the rows of some words, the full ones as vectors.
    fn add_sparse(starts: &[u64], class_of: &[u32], values: &[f64], ids: &[u32], out: &mut [f64]) {
        for (i, id) in ids.iter().enumerate() {
            if let Some(soon) = ids.get(i + 2 * AHEAD) {
                prefetch(starts, *soon as usize);
            }
            if let Some(soon) = ids.get(i + AHEAD / 2) {
                let (from, to) = (starts[*soon as usize] as usize, starts[*soon as usize + 1] as usize);
                prefetch(values, from);
                if to > from + 8 {
                    prefetch(class_of, from);
                    prefetch(values, from + 8);
                    prefetch(values, to - 1); // a row of up to 24 classes lies in three lines
                }
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
