//! How often each number occurs in a document, given back in increasing order without sorting.
//!
//! A bit for each number that has come, one for each word of 64 such bits that is not zero, and one for each
//! word of those: reading the bits off from the top gives the numbers in order. For a document of some hundred
//! words that costs a third of a sort.

use crate::memory::reserve;
use crate::murmur;
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
    bits: Bits,
    new: Vec<u32>,  // numbers that had no sum when they came, and room for more
    arrived: usize, // so many of them
    row: [Vec<u32>; 2],
}

/// Bits, and which of them to look at.
#[derive(Debug, Default)]
struct Bits {
    low: Vec<u64>,
    middle: Vec<u64>, // a bit for each of `low` that is not zero
    high: Vec<u64>,   // a bit for each of `middle`
}

impl Bits {
    #[inline(always)]
    fn set(&mut self, at: usize) {
        self.low[at / 64] |= 1 << (at % 64);
        self.middle[at / 4096] |= 1 << (at / 64 % 64);
        self.high[at / 262_144] |= 1 << (at / 4096 % 64);
    }
}

impl Seen {
    /// Make room for the numbers below `end`.
    pub fn reserve(&mut self, end: usize) {
        if end > self.sums.len() {
            let size = end.next_power_of_two().max(1 << 18);
            self.sums.resize(size, 0);
            self.bits.low.resize(size / 64, 0);
            self.bits.middle.resize(size / 4096, 0);
            self.bits.high.resize(size / 262_144, 0);
        }
    }

    /// Add `value` to each of these numbers, which are below the `end` that was reserved.
    pub fn add(&mut self, numbers: &[u32], value: i32) {
        self.make_room(numbers.len());
        self.arrived = add_all(numbers, value, &mut self.sums, &mut self.new, self.arrived);
    }

    /// Add 1 to the column of each hash among `size`, or subtract it if `signed` and the hash is negative.
    pub fn add_hashes(&mut self, hashes: &[i32], size: u32, signed: bool) {
        self.make_room(hashes.len());
        self.arrived = add_all_hashes(hashes, size, signed, &mut self.sums, &mut self.new, self.arrived);
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
        let n = self.row();
        let row = &self.row[0][..n];
        reserve(numbers, n);
        reserve(sums, n);
        numbers.extend(row.iter().map(|number| *number as i32));
        sums.extend(row.iter().map(|number| T::of(std::mem::take(&mut self.sums[*number as usize]))));
    }

    /// The same into memory that has room for just as many.
    pub fn write<T: Count>(&mut self, numbers: &mut [i32], sums: &mut [T]) {
        let n = self.row();
        for ((number, sum), at) in numbers.iter_mut().zip(sums).zip(&self.row[0][..n]) {
            *number = *at as i32;
            *sum = T::of(std::mem::take(&mut self.sums[*at as usize]));
        }
    }

    /// Room for so many more new numbers.
    #[inline]
    fn make_room(&mut self, more: usize) {
        if self.new.len() < self.arrived + more {
            self.new.resize(2 * (self.arrived + more), 0);
        }
    }

    /// Put the numbers into `row`, in order; how many.
    fn row(&mut self) -> usize {
        let most = self.arrived.min(self.sums.len()) + 64;
        set_all(&self.new[..self.arrived], &mut self.bits);
        self.arrived = 0;
        let [row, upper] = &mut self.row;
        if row.len() < most {
            row.resize(2 * most, 0);
            upper.resize(2 * most, 0);
        }
        take_all(&mut self.bits, row, upper)
    }
}

at_its_best! {
    /// Add to sums, and write numbers without one to `new[n..]`, which has room: most come again. The new n.
    fn add_all(numbers: &[u32], value: i32, sums: &mut [i32], new: &mut [u32], n: usize) -> usize {
        let room = &mut new[n..n + numbers.len()];
        let mut arrived = 0;
        for number in numbers {
            let sum = &mut sums[*number as usize];
            room[arrived] = *number;
            arrived += usize::from(*sum == 0);
            *sum += value;
        }
        n + arrived
    }
}

at_its_best! {
    /// The same of hashes.
    fn add_all_hashes(hashes: &[i32], size: u32, signed: bool, sums: &mut [i32], new: &mut [u32], n: usize) -> usize {
        let mask = if size.is_power_of_two() { size - 1 } else { 0 };
        let room = &mut new[n..n + hashes.len()];
        let mut arrived = 0;
        for hash in hashes {
            let column = if mask != 0 && *hash != i32::MIN {
                hash.unsigned_abs() & mask
            } else {
                murmur::column(*hash, size)
            };
            let sum = &mut sums[column as usize];
            room[arrived] = column;
            arrived += usize::from(*sum == 0);
            *sum += if signed { *hash >> 31 | 1 } else { 1 };
        }
        n + arrived
    }
}

at_its_best! {
    fn set_all(numbers: &[u32], bits: &mut Bits) {
        for number in numbers {
            bits.set(*number as usize);
        }
    }
}

at_its_best! {
    /// Write the places of all bits to `out`, which has room for 64 more, and clear them; how many.
    fn take_all(bits: &mut Bits, out: &mut [u32], other: &mut [u32]) -> usize {
        let mut n = 0;
        for (i, word) in bits.high.iter_mut().enumerate() {
            n = write_bits(std::mem::take(word), i as u32, out, n);
        }
        let mut m = 0;
        for word in &out[..n] {
            m = write_bits(std::mem::take(&mut bits.middle[*word as usize]), *word, other, m);
        }
        n = 0;
        for word in &other[..m] {
            n = write_bits(std::mem::take(&mut bits.low[*word as usize]), *word, out, n);
        }
        n
    }
}

/// Write the places of the set bits of word number `word` to `out[n..]`; the new n.
///
/// Two at a time, set or not, which suits most words and leaves little to guess wrongly.
#[inline(always)]
fn write_bits(mut bits: u64, word: u32, out: &mut [u32], n: usize) -> usize {
    let count = bits.count_ones() as usize;
    if let Some(room) = out.get_mut(n..n + 64) {
        for pair in room.as_chunks_mut::<2>().0 {
            for place in pair {
                *place = 64 * word + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
    }
    n + count
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
