//! What a term's occurrences in a document are worth: tf, a scale per term (idf), length.

use crate::error::Error;

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
    /// Whether each block of a row, words and characters, is brought to one length, 1 in all.
    pub unit: bool,
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

    /// The factor that brings a block with this sum of squares to its length.
    #[inline(always)]
    #[must_use]
    pub fn factor(&self, squares: f64) -> f64 {
        if self.unit && squares > 0.0 { 1.0 / (squares * self.blocks as f64).sqrt() } else { 1.0 }
    }

    /// Normalise a row; `is_second(term)` says of which block a term is.
    pub fn normalise(&self, terms: &[i32], values: &mut [f64], is_second: impl Fn(usize) -> bool) {
        if !self.unit {
            return;
        }
        if self.blocks == 1 {
            let factor = self.factor(values.iter().map(|value| value * value).sum());
            values.iter_mut().for_each(|value| *value *= factor);
            return;
        }
        let mut squares = [0.0; 2];
        for (term, value) in terms.iter().zip(values.iter()) {
            squares[usize::from(is_second(*term as usize))] += value * value;
        }
        let factors = squares.map(|squares| self.factor(squares));
        for (term, value) in terms.iter().zip(values) {
            *value *= factors[usize::from(is_second(*term as usize))];
        }
    }
}
