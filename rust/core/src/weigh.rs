//! What a term's occurrences in a document are worth: tf, a scale per term (idf), length.

use crate::error::Error;
use crate::tfidf::Norm;

/// What becomes of the number of occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frequency {
    /// It stays.
    Count,
    /// `1 + ln` of it.
    Log,
    /// 1.
    Binary,
}

/// A weighting of terms.
#[derive(Debug, Clone, Copy)]
pub struct Weighting<'a> {
    /// What a number of occurrences counts.
    pub frequency: Frequency,
    /// A factor for each term; none if empty.
    pub scale: &'a [f64],
    /// The length that each block of a row, words and characters, is brought to, 1 in all; of sums there is one block.
    pub norm: Norm,
    /// Number of blocks: 2 where characters stand beside words.
    pub blocks: usize,
}

impl Weighting<'_> {
    /// Refuse scales of another number than there are terms.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn checked(&self, terms: usize) -> Result<(), Error> {
        if self.scale.is_empty() || self.scale.len() == terms {
            return Ok(());
        }
        Err(Error::Malformed("there is not one scale for each term".into()))
    }

    /// The value of a term that occurs `count` times, before its row is normalised.
    #[inline(always)]
    #[must_use]
    pub fn value(&self, term: u32, count: u32) -> f64 {
        self.frequency_of(count) * self.scale_of(term)
    }

    /// What `count` occurrences are worth.
    #[inline(always)]
    #[must_use]
    pub fn frequency_of(&self, count: u32) -> f64 {
        match self.frequency {
            Frequency::Count => f64::from(count),
            Frequency::Log if count > 1 => f64::from(count).ln() + 1.0,
            Frequency::Log | Frequency::Binary => 1.0,
        }
    }

    /// The factor of a term.
    #[inline(always)]
    #[must_use]
    pub fn scale_of(&self, term: u32) -> f64 {
        if self.scale.is_empty() { 1.0 } else { self.scale[term as usize] }
    }

    /// Whether a row is the mean of its terms: counts, divided by their sum.
    #[must_use]
    pub fn is_mean(&self) -> bool {
        self.norm == Norm::L1 && self.frequency == Frequency::Count && self.scale.is_empty()
    }

    /// What a value adds to the sum of its block that [`Self::factor`] takes.
    #[inline(always)]
    #[must_use]
    pub fn part(&self, value: f64) -> f64 {
        if self.norm == Norm::L1 { value.abs() } else { value * value }
    }

    /// The factor that brings a block with this sum, of squares unless of values, to its length.
    #[inline(always)]
    #[must_use]
    pub fn factor(&self, sum: f64) -> f64 {
        match self.norm {
            Norm::L1 if sum > 0.0 => 1.0 / sum,
            Norm::L2 if sum > 0.0 => 1.0 / (sum * self.blocks as f64).sqrt(),
            _ => 1.0,
        }
    }

    /// Normalise a row; `is_second(term)` says of which block a term is.
    pub fn normalise(&self, terms: &[i32], values: &mut [f64], is_second: impl Fn(usize) -> bool) {
        if self.norm == Norm::None {
            return;
        }
        if self.blocks == 1 {
            let factor = self.factor(values.iter().map(|value| self.part(*value)).sum());
            values.iter_mut().for_each(|value| *value *= factor);
            return;
        }
        let mut sums = [0.0; 2];
        for (term, value) in terms.iter().zip(values.iter()) {
            sums[usize::from(is_second(*term as usize))] += self.part(*value);
        }
        let factors = sums.map(|sum| self.factor(sum));
        for (term, value) in terms.iter().zip(values) {
            *value *= factors[usize::from(is_second(*term as usize))];
        }
    }
}
