//! How often each number occurs in a document, in the order in which numbers come first.

use crate::processor::at_its_best;

/// The numbers of the document at hand.
#[derive(Debug, Default)]
pub(crate) struct Bag {
    sums: Vec<u8>, // how often each number has come, [`MANY`] at most: a small table stays near. Zeros between documents
    more: Vec<(u32, u32)>, // what is above that
    numbers: Vec<u32>, // that have come, and room for more
    length: usize,
}

const MANY: u32 = 255;

impl Bag {
    /// Make room for the numbers below `end`.
    pub(crate) fn reserve(&mut self, end: usize) {
        if self.sums.len() < end {
            self.sums = vec![0; end]; // which are all zeros between documents
        }
    }

    /// Add `times` to each of these numbers, which are below the `end` that was reserved.
    #[inline(always)]
    pub(crate) fn add(&mut self, numbers: &[u32], times: u32) {
        let Self { sums, more, numbers: came, length } = self;
        if came.len() < *length + numbers.len() {
            came.resize(2 * (*length + numbers.len()), 0);
        }
        *length = add_all(numbers, times, sums, came, *length, more);
    }

    /// The numbers that have come, after which there are none.
    pub(crate) fn take(&mut self) -> Row<'_> {
        let n = std::mem::take(&mut self.length);
        Row { numbers: &self.numbers[..n], sums: &mut self.sums, more: &mut self.more }
    }
}

/// Numbers in the order in which they came first, each to be counted once: that leaves zeros.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) numbers: &'a [u32],
    sums: &'a mut [u8],
    more: &'a mut Vec<(u32, u32)>,
}

impl Row<'_> {
    /// How often one of the numbers has come.
    #[inline(always)]
    pub(crate) fn count(&mut self, number: u32) -> u32 {
        let sum = u32::from(std::mem::take(&mut self.sums[number as usize]));
        if sum < MANY { sum } else { self.large(number) }
    }

    #[cold]
    fn large(&mut self, number: u32) -> u32 {
        let more = self.more.extract_if(.., |(other, _)| *other == number).map(|(_, times)| times);
        MANY + more.sum::<u32>()
    }
}

at_its_best! {
    /// Add to sums, and write numbers without one to `came[n..]`, which has room: most come again. The new n.
    fn add_all(
        numbers: &[u32],
        times: u32,
        sums: &mut [u8],
        came: &mut [u32],
        n: usize,
        more: &mut Vec<(u32, u32)>,
    ) -> usize {
        let room = &mut came[n..n + numbers.len()];
        let mut arrived = 0;
        for number in numbers {
            let sum = &mut sums[*number as usize];
            room[arrived] = *number;
            arrived += usize::from(*sum == 0);
            let new = u32::from(*sum) + times;
            *sum = new as u8;
            if new >= MANY {
                add_many(*number, new, sum, more);
            }
        }
        n + arrived
    }
}

#[cold]
fn add_many(number: u32, new: u32, sum: &mut u8, more: &mut Vec<(u32, u32)>) {
    *sum = MANY as u8;
    more.push((number, new - MANY));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_the_order_in_which_they_came_however_often() {
        let mut bag = Bag::default();
        bag.reserve(100);
        for _ in 0..2 {
            bag.add(&[99, 3, 51, 3], 1);
            bag.add(&[64, 3], 2);
            bag.add(&[7], 254);
            bag.add(&[7, 51, 51], 1);
            bag.add(&[51, 7, 3], 1000);
            let mut row = bag.take();
            assert_eq!(row.numbers, [99, 3, 51, 64, 7]);
            let counts: Vec<u32> = row.numbers.iter().map(|number| row.count(*number)).collect();
            assert_eq!(counts, [1, 1004, 1003, 2, 1255]);
        }
    }
}
