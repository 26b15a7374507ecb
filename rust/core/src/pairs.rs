//! Pairs of numbers with a number each: how n-grams are found without spelling them.

use crate::memory::filled;
use crate::processor::{at_its_best, prefetch};

/// A pair that was seen.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    both: u64, // the first in the upper half
    /// Its number.
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
    list: Vec<(u32, u64)>, // number and pair, in order of arrival
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

impl Default for Pairs {
    fn default() -> Self {
        Self { slots: vec![EMPTY; 1 << 10], shift: 64 - 10, list: Vec::new(), places: Vec::new() }
    }
}

/// New pairs take the number `next`, which goes on: numbers are given out elsewhere too.
impl Pairs {
    /// The slots of all pairs, and empty ones, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pair> {
        self.slots.iter_mut()
    }

    /// Number and pair, by number; the first of a pair is in the upper half.
    pub fn list(&self) -> &[(u32, u64)] {
        &self.list
    }

    /// The same, and an end of this table.
    pub fn into_list(self) -> Vec<(u32, u64)> {
        self.list
    }

    /// Replace `firsts[i]` by the number of its pair with `seconds[i]`, as far as both go, and show it to `each`.
    pub fn join(
        &mut self,
        firsts: &mut Vec<u32>,
        seconds: &[u32],
        next: &mut u32,
        mut each: impl FnMut(&mut Pair),
    ) {
        self.look_up(firsts, seconds);
        let places = std::mem::take(&mut self.places);
        for ((first, second), at) in firsts.iter_mut().zip(seconds).zip(&places) {
            let pair = self.slot(packed(*first, *second), *at as usize, next);
            each(pair);
            *first = pair.number;
        }
        self.places = places;
    }

    /// The number of a pair; a new one takes the number `next`, which goes on.
    pub(crate) fn number(&mut self, first: u32, second: u32, next: &mut u32) -> u32 {
        self.reserve(1);
        let pair = packed(first, second);
        self.slot(pair, place(pair, self.shift), next).number
    }

    /// Say that no pair will come any more: half of the slots at least are empty then, and there is no list.
    pub(crate) fn settle(&mut self) {
        self.reserve(self.slots.len() / 4);
        self.list = Vec::new();
    }

    /// Replace `firsts[i]` by the number of its pair with `seconds[i]`, as far as both go, or by `none`.
    pub(crate) fn find_all(&self, firsts: &mut Vec<u32>, seconds: &[u32], none: u32) {
        firsts.truncate(seconds.len());
        find_pairs(&self.slots, self.shift, firsts, seconds, none);
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
    fn slot(&mut self, pair: u64, mut at: usize, next: &mut u32) -> &mut Pair {
        while self.slots[at].both != pair {
            if self.slots[at].both == u64::MAX {
                self.slots[at] = Pair { both: pair, number: *next, place: 0 };
                self.list.push((*next, pair));
                *next += 1;
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

at_its_best! {
    /// In rounds of 64, so that all the memory a round needs is on its way before any is used.
    fn find_pairs(slots: &[Pair], shift: u32, firsts: &mut [u32], seconds: &[u32], none: u32) {
        let mut places = [0; 64];
        let last = slots.len() - 1;
        for (firsts, seconds) in firsts.chunks_mut(64).zip(seconds.chunks(64)) {
            for ((at, first), second) in places.iter_mut().zip(&*firsts).zip(seconds) {
                *at = place(packed(*first, *second), shift) & last;
                if *first != none && *second != none {
                    prefetch(slots, *at);
                }
            }
            for ((at, first), second) in places.iter().zip(firsts).zip(seconds) {
                let (pair, mut at) = (packed(*first, *second), *at);
                if *first == none || *second == none {
                    *first = none;
                    continue;
                }
                while slots[at].both != pair && slots[at].both != u64::MAX {
                    at = (at + 1) & last;
                }
                *first = if slots[at].both == pair { slots[at].number } else { none };
            }
        }
    }
}
