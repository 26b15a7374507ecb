//! Pairs of numbers with a number each: how n-grams are found without spelling them.

use crate::memory::filled;
use crate::processor::prefetch;

/// A pair that was seen.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    both: u64, // the first in the upper half
    /// Its number, in order of arrival.
    pub number: u32,
    /// Where it was counted last; for the caller.
    pub place: u32,
}

const EMPTY: Pair = Pair { both: u64::MAX, number: 0, place: 0 };

/// A hash table of pairs: open addressing with linear probing, at most three quarters full.
#[derive(Debug)]
pub struct Pairs {
    slots: Vec<Pair>,
    shift: u32,
    list: Vec<u64>,
    numbers: Vec<u32>, // of the pairs in the list, if they are given out elsewhere too
    places: Vec<u32>,
}

#[inline(always)]
fn packed(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// A pair of all ones would be an empty slot; words stay below 2^31.
#[inline(always)]
fn place(pair: u64, shift: u32) -> usize {
    let product = u128::from(pair ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
    (((product >> 64) as u64 ^ product as u64) >> shift) as usize
}

impl Pairs {
    pub fn new() -> Self {
        Self {
            slots: vec![EMPTY; 1 << 10],
            shift: 64 - 10,
            list: Vec::new(),
            numbers: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Forget where pairs were counted.
    pub fn forget_places(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.place = 0);
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The pair with this number.
    pub fn pair(&self, number: u32) -> (u32, u32) {
        let pair = self.list[number as usize];
        ((pair >> 32) as u32, pair as u32)
    }

    /// All pairs, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.list.iter().map(|pair| ((pair >> 32) as u32, *pair as u32))
    }

    /// The number of a pair; a new one if it is new.
    pub fn number(&mut self, first: u32, second: u32) -> u32 {
        self.reserve(1);
        let pair = packed(first, second);
        let start = place(pair, self.shift);
        let new = self.list.len() as u32;
        self.slot(pair, start, new).number
    }

    /// Replace `firsts[i]` by the number of its pair with `seconds[i]`, as far as both go; a new pair
    /// takes the number `next`, which goes on.
    pub fn number_all(&mut self, firsts: &mut Vec<u32>, seconds: &[u32], next: &mut u32) {
        self.look_up(firsts, seconds);
        let places = std::mem::take(&mut self.places);
        for ((first, second), at) in firsts.iter_mut().zip(seconds).zip(&places) {
            let known = self.list.len();
            *first = self.slot(packed(*first, *second), *at as usize, *next).number;
            if self.list.len() > known {
                self.numbers.push(*next);
                *next += 1;
            }
        }
        self.places = places;
    }

    /// Number and pair, by the numbers that [`Self::number_all`] gave.
    pub fn by_number(self) -> Vec<(u32, u64)> {
        self.numbers.into_iter().zip(self.list).collect()
    }

    /// Replace `firsts[i]` by what `each` makes of its pair with `seconds[i]`, as far as both go.
    pub fn join(&mut self, firsts: &mut Vec<u32>, seconds: &[u32], mut each: impl FnMut(&mut Pair) -> u32) {
        self.look_up(firsts, seconds);
        let places = std::mem::take(&mut self.places);
        for ((first, second), at) in firsts.iter_mut().zip(seconds).zip(&places) {
            let new = self.list.len() as u32;
            *first = each(self.slot(packed(*first, *second), *at as usize, new));
        }
        self.places = places;
    }

    /// Note where the search for each pair begins, and have all those slots brought near.
    fn look_up(&mut self, firsts: &mut Vec<u32>, seconds: &[u32]) {
        firsts.truncate(seconds.len());
        self.reserve(firsts.len());
        self.places.clear();
        self.places.extend(firsts.iter().zip(seconds).map(|(first, second)| {
            let at = place(packed(*first, *second), self.shift);
            prefetch(&self.slots, at);
            at as u32
        }));
    }

    #[inline(always)]
    fn slot(&mut self, pair: u64, mut at: usize, new: u32) -> &mut Pair {
        while self.slots[at].both != pair {
            if self.slots[at].both == u64::MAX {
                self.slots[at] = Pair { both: pair, number: new, place: 0 };
                self.list.push(pair);
                break;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        &mut self.slots[at]
    }

    /// Make room for `more` pairs.
    fn reserve(&mut self, more: usize) {
        while 4 * (self.list.len() + more) > 3 * self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.shift -= 1;
            self.slots = filled(EMPTY, 2 * old.len());
            for slot in old.into_iter().filter(|slot| slot.both != u64::MAX) {
                let mut at = place(slot.both, self.shift);
                while self.slots[at].both != u64::MAX {
                    at = (at + 1) & (self.slots.len() - 1);
                }
                self.slots[at] = slot;
            }
        }
    }
}
