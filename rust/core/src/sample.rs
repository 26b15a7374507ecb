//! A fair sample of texts that depends on the texts alone, and can be merged.
//!
//! Kept are the distinct texts of smallest hash, with how often each came under which label. Order,
//! batches, threads and machines make no difference, and samples of parts merge to the sample of the
//! whole: a text that is in the end among the smallest was so from the first time it came, so that its
//! copies are all counted (Broder 1997, "On the resemblance and containment of documents").

use std::collections::BTreeMap;

use crate::error::Error;
use crate::key::hash_bytes;
use crate::tally::FRACTION;

/// The texts of smallest hash among those that have passed.
#[derive(Debug)]
pub struct Sample {
    most: usize,
    texts: BTreeMap<u64, Vec<Entry>>, // by hash, those of one hash in order
    distinct: usize,
    largest: u64, // hash of the last text, once the sample is full
    is_whole: bool,
}

/// A text with the labels that it came under.
#[derive(Debug)]
struct Entry {
    text: Box<str>,
    labels: BTreeMap<Box<str>, Copies>,
}

/// How often a text came under a label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copies {
    /// Rows.
    pub rows: u64,
    /// Their total weight in units of `2^-30`; the largest number there is, if that is more.
    pub weight: u64,
}

impl Copies {
    fn add(&mut self, other: Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.weight = self.weight.saturating_add(other.weight);
    }
}

impl Sample {
    /// An empty sample of at most so many distinct texts.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, texts: BTreeMap::new(), distinct: 0, largest: u64::MAX, is_whole: true }
    }

    /// Whether every text that came is in the sample.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Let a batch pass, of whose texts these are the [`hash_bytes`]. Rows without weight are passed over.
    ///
    /// # Errors
    /// [`Error::Malformed`] where lengths differ.
    pub fn add(
        &mut self,
        texts: &[&str],
        labels: &[&str],
        weights: Option<&[f64]>,
        hashes: &[u64],
    ) -> Result<(), Error> {
        let lengths = [labels.len(), hashes.len(), weights.map_or(texts.len(), <[f64]>::len)];
        if lengths.iter().any(|length| *length != texts.len()) {
            return Err(Error::Malformed("texts, labels, weights and hashes differ in number".into()));
        }
        let unit = f64::from(1u32 << FRACTION);
        let weight =
            |row: usize| weights.map_or(1 << FRACTION, |weights| (weights[row] * unit).round() as u64);
        let there = hashes.iter().enumerate().filter(|(row, _)| weight(*row) > 0);
        let there: Vec<(usize, u64)> = there.map(|(row, hash)| (row, *hash)).collect();
        let least = self.largest_to_keep(there.iter().map(|(_, hash)| *hash));
        for (row, hash) in there {
            if hash > least {
                self.is_whole = false;
            } else {
                self.put_hashed(texts[row], labels[row], Copies { rows: 1, weight: weight(row) }, hash);
            }
        }
        Ok(())
    }

    /// A hash above which no text of a batch with these hashes stays: there are as many below as are kept.
    fn largest_to_keep(&self, hashes: impl Iterator<Item = u64>) -> u64 {
        let mut small: Vec<u64> = hashes.filter(|hash| *hash <= self.largest).collect();
        if small.len() <= self.most {
            return self.largest;
        }
        small.sort_unstable();
        small.dedup();
        let last = self.most.checked_sub(1).and_then(|place| small.get(place));
        last.map_or(self.largest, |hash| self.largest.min(*hash))
    }

    /// Let a text pass that came so often.
    pub fn put(&mut self, text: &str, label: &str, copies: Copies) {
        self.put_hashed(text, label, copies, hash_bytes(text.as_bytes()));
    }

    fn put_hashed(&mut self, text: &str, label: &str, copies: Copies, hash: u64) {
        if hash > self.largest || self.most == 0 {
            self.is_whole = false;
            return;
        }
        let entries = self.texts.entry(hash).or_default();
        let place = entries.partition_point(|entry| *entry.text < *text);
        if entries.get(place).is_none_or(|entry| *entry.text != *text) {
            entries.insert(place, Entry { text: text.into(), labels: BTreeMap::new() });
            self.distinct += 1;
        }
        let labels = &mut entries[place].labels;
        if let Some(all) = labels.get_mut(label) {
            all.add(copies);
        } else {
            labels.insert(label.into(), copies);
        }
        self.shrink();
    }

    /// Drop the texts of largest hash that are too many.
    fn shrink(&mut self) {
        while self.distinct > self.most {
            let Some(mut last) = self.texts.last_entry() else { return };
            last.get_mut().pop();
            if last.get().is_empty() {
                last.remove();
            }
            self.distinct -= 1;
            self.is_whole = false;
        }
        if self.distinct == self.most
            && let Some((hash, _)) = self.texts.last_key_value()
        {
            self.largest = *hash;
        }
    }

    /// Take in a sample of other texts, or of other rows of the same.
    pub fn merge(&mut self, other: &Self) {
        other.rows().for_each(|(text, label, copies)| self.put(text, label, copies));
        self.is_whole &= other.is_whole;
    }

    /// Text, label and copies, in the order of hash, text and label.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, Copies)> {
        self.texts.values().flatten().flat_map(|Entry { text, labels }| {
            labels.iter().map(move |(label, copies)| (&**text, &**label, *copies))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(&str, &str)], most: usize) -> Sample {
        let mut sample = Sample::new(most);
        let (texts, labels): (Vec<&str>, Vec<&str>) = rows.iter().copied().unzip();
        let hashes: Vec<u64> = texts.iter().map(|text| hash_bytes(text.as_bytes())).collect();
        sample.add(&texts, &labels, None, &hashes).unwrap();
        sample
    }

    #[test]
    fn order_and_parts_make_no_difference() {
        let texts: Vec<String> = (0..500).map(|i| format!("text {}", i % 200)).collect();
        let mut rows: Vec<(&str, &str)> =
            texts.iter().enumerate().map(|(i, text)| (text.as_str(), ["a", "b"][i % 2])).collect();
        let whole: Vec<_> = of(&rows, 30).rows().map(|(t, l, c)| (t.to_owned(), l.to_owned(), c)).collect();
        let mut merged = of(&rows[..111], 30);
        merged.merge(&of(&rows[111..], 30));
        rows.reverse();
        let reversed = of(&rows, 30);
        for other in [&merged, &reversed] {
            let found: Vec<_> = other.rows().map(|(t, l, c)| (t.to_owned(), l.to_owned(), c)).collect();
            assert_eq!(found, whole);
            assert!(!other.is_whole());
        }
        let distinct: std::collections::BTreeSet<_> = whole.iter().map(|(text, _, _)| text).collect();
        assert_eq!(distinct.len(), 30);
        let all = of(&rows, 200);
        assert!(all.is_whole());
        assert_eq!(all.rows().map(|(_, _, copies)| copies.rows).sum::<u64>(), 500);
    }
}
