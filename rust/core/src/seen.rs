//! How often each number occurs in a document, given back in increasing order without sorting.
//!
//! A bit for each number that has come, and one for each word of 64 such bits: reading the bits off
//! gives the numbers in order. For a document of some hundred words that costs a third of a sort.

use crate::memory::reserve;
use crate::processor::at_its_best;

/// What a number of occurrences is written as.
pub trait Count: Copy + Send + Sync {
    /// The number.
    fn of(count: i32) -> Self;
    /// The number back.
    fn get(self) -> i32;
}

impl Count for i64 {
    fn of(count: i32) -> Self {
        Self::from(count)
    }

    fn get(self) -> i32 {
        self as i32
    }
}

impl Count for f64 {
    fn of(count: i32) -> Self {
        Self::from(count)
    }

    fn get(self) -> i32 {
        self as i32
    }
}

/// The numbers of the document at hand.
#[derive(Debug, Default)]
pub struct Seen {
    sums: Vec<i32>,
    bits: Vec<u64>,
    words: Vec<u64>, // a bit for each of `bits` that is not zero
    adds: usize,
    row: Vec<u32>,
}

impl Seen {
    /// Make room for the numbers below `end`.
    pub fn reserve(&mut self, end: usize) {
        if end > self.sums.len() {
            let size = end.next_power_of_two().max(1 << 12);
            self.sums.resize(size, 0);
            self.bits.resize(size / 64, 0);
            self.words.resize(size / 4096, 0);
        }
    }

    /// Add `value` to each of these numbers, which are below the `end` that was reserved.
    pub fn add(&mut self, numbers: &[u32], value: i32) {
        self.adds += numbers.len();
        add_all(numbers, value, &mut self.sums, &mut self.bits, &mut self.words);
    }

    /// Set numbers that have not come yet to these sums.
    pub fn set<T: Count>(&mut self, numbers: &[u32], sums: &[T]) {
        self.add(numbers, 0);
        for (number, sum) in numbers.iter().zip(sums) {
            self.sums[*number as usize] = sum.get();
        }
    }

    /// Append numbers and sums, in increasing order of the numbers, and forget them.
    pub fn take<T: Count>(&mut self, numbers: &mut Vec<i32>, sums: &mut Vec<T>) {
        let most = self.adds.min(self.sums.len()) + 64;
        self.adds = 0;
        if self.row.len() < most {
            self.row.resize(2 * most, 0);
        }
        let n = take_all(&mut self.bits, &mut self.words, &mut self.row);
        let row = &self.row[..n];
        reserve(numbers, n);
        reserve(sums, n);
        numbers.extend(row.iter().map(|number| *number as i32));
        sums.extend(row.iter().map(|number| T::of(std::mem::take(&mut self.sums[*number as usize]))));
    }
}

at_its_best! {
    fn add_all(numbers: &[u32], value: i32, sums: &mut [i32], bits: &mut [u64], words: &mut [u64]) {
        for number in numbers {
            let at = *number as usize;
            sums[at] += value;
            bits[at / 64] |= 1 << (at % 64);
            words[at / 4096] |= 1 << (at / 64 % 64);
        }
    }
}

at_its_best! {
    /// Write the places of all bits to `out`, which has room for 64 more, and clear them; how many.
    ///
    /// Two places at a time, set or not, which suits most words and leaves little to guess wrongly.
    fn take_all(bits: &mut [u64], words: &mut [u64], out: &mut [u32]) -> usize {
        let mut n = 0;
        for (i, group) in words.iter_mut().enumerate() {
            let mut group = std::mem::take(group);
            while group != 0 {
                let word = 64 * i + group.trailing_zeros() as usize;
                group &= group - 1;
                let mut set = std::mem::take(&mut bits[word]);
                let count = set.count_ones() as usize;
                let base = 64 * word as u32;
                let Some(room) = out.get_mut(n..n + 64) else { return n };
                for pair in room.as_chunks_mut::<2>().0 {
                    for place in pair {
                        *place = base + set.trailing_zeros();
                        set &= set.wrapping_sub(1);
                    }
                    if set == 0 {
                        break;
                    }
                }
                n += count;
            }
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order_with_their_sums() {
        let mut seen = Seen::default();
        seen.reserve(100_000);
        for round in 0..3 {
            seen.add(&[99_999, 3, 513, 3, 64, 99_999, 70_000], 1);
            seen.add(&[64, 3], -1);
            let (mut numbers, mut sums) = (vec![7], vec![7i64]);
            seen.take(&mut numbers, &mut sums);
            assert_eq!(numbers, [7, 3, 64, 513, 70_000, 99_999], "{round}");
            assert_eq!(sums, [7, 1, 0, 1, 1, 2]);
        }
    }
}
