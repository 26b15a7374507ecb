//! The hash table of a counting thread: a slot per word, with the counts of the class at hand.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::key::{Key, Term};
use crate::memory::filled;
use crate::processor::{at_its_best, prefetch};

/// A word and what was counted of it since its group (class and weight) last changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slot {
    pub key: Key,
    /// Number of the word, in order of arrival.
    pub id: u32,
    /// Group the counts below belong to.
    pub group: u32,
    /// Serial number of the document that held the word last.
    pub stamp: u32,
    pub occurrences: u16,
    pub documents: u16,
}

/// A slot as it was when the group of its word changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry {
    pub id: u32,
    pub group: u32,
    pub occurrences: u16,
    pub documents: u16,
}

impl Slot {
    /// Write what was counted to the log and begin anew for `group`.
    #[inline(never)]
    pub fn flush(&mut self, group: u32, log: &mut Vec<Entry>) {
        let Self { id, group: old, occurrences, documents, .. } = *self;
        if occurrences > 0 {
            log.push(Entry { id, group: old, occurrences, documents });
        }
        (self.group, self.occurrences, self.documents) = (group, 0, 0);
    }
}

/// Slots of a new table.
const FIRST: usize = 1 << 10;

/// Open addressing with linear probing, at most five eighths full. Half a cache line per word.
#[derive(Debug)]
pub struct Table {
    slots: Vec<Slot>,
    shift: u32,
    scatter: u64,
    pub words: u32,
    pub arena: Vec<u8>,
    places: Vec<u32>, // of the terms at hand, so that all slots are on their way before one is used
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); FIRST],
            shift: 64 - FIRST.ilog2(),
            // The hash of a word is public. An unknown odd factor keeps input made to collide in
            // a table of any size from doing so; no result depends on it.
            scatter: RandomState::new().build_hasher().finish() | 1,
            words: 0,
            arena: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl Table {
    #[inline]
    fn place(&self, hash: u64) -> usize {
        (hash.wrapping_mul(self.scatter) >> self.shift) as usize
    }

    /// The slot of a term whose long key points into `text`; a new one takes the number `next`, which goes on.
    #[inline]
    pub fn slot(&mut self, term: Term, text: &[u8], next: &mut u32) -> &mut Slot {
        let mut at = self.place(term.hash);
        loop {
            let slot = &self.slots[at];
            if term.key.same(text, slot.key, &self.arena) {
                return &mut self.slots[at];
            }
            if slot.key == Key::default() {
                return self.insert(at, term, text, next);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Count the terms of document `serial` for `group`; slots of other groups go to `log`.
    pub fn count(&mut self, terms: &[Term], text: &[u8], group: u32, serial: u32, log: &mut Vec<Entry>) {
        let mut done = 0;
        loop {
            find_places(terms, &self.slots, (self.scatter, self.shift), &mut self.places);
            let room = self.room();
            let words = (&mut self.words, room, &mut self.arena);
            done =
                count_from(done, (terms, &self.places), text, &mut self.slots, words, (group, serial), log);
            if done == terms.len() {
                return;
            }
            self.grow();
        }
    }

    /// Append the number of each term, and `none` for each that is not there.
    pub fn find_all(&self, terms: &[Term], text: &[u8], none: u32, numbers: &mut Vec<u32>) {
        find_from((terms, text), (&self.slots, &self.arena), (self.scatter, self.shift), none, numbers);
    }

    /// How many words there may be before the table grows.
    fn room(&self) -> u32 {
        (self.slots.len() / 8 * 5) as u32
    }

    #[cold]
    fn insert(&mut self, mut at: usize, term: Term, text: &[u8], next: &mut u32) -> &mut Slot {
        if self.words >= self.room() {
            self.grow();
            at = self.free_place(term.hash);
        }
        let key = term.key.moved(text, &mut self.arena);
        self.slots[at] = Slot { key, id: *next, group: u32::MAX, ..Slot::default() };
        self.words += 1;
        *next += 1;
        &mut self.slots[at]
    }

    fn free_place(&self, hash: u64) -> usize {
        let mut at = self.place(hash);
        while self.slots[at].key != Key::default() {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    fn grow(&mut self) {
        let size = 4 * self.slots.len();
        let old = std::mem::replace(&mut self.slots, filled(Slot::default(), size));
        self.shift -= 2;
        for slot in old.into_iter().filter(|slot| slot.key != Key::default()) {
            let at = self.free_place(slot.key.hash(&self.arena));
            self.slots[at] = slot;
        }
    }

    /// The slots of all words, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut().filter(|slot| slot.key != Key::default())
    }

    /// Number and key of every word, in no order.
    pub fn keys(&self) -> impl Iterator<Item = (u32, Key)> + '_ {
        self.slots.iter().filter(|slot| slot.key != Key::default()).map(|slot| (slot.id, slot.key))
    }

    /// Number and key of every word, by number; there are `numbers` in all, of words and of others.
    pub fn by_number(&self, numbers: u32) -> Vec<(u32, Key)> {
        if self.words != numbers {
            let mut words: Vec<(u32, Key)> = self.keys().collect();
            words.sort_unstable_by_key(|(number, _)| *number);
            return words;
        }
        let mut words = filled((0, Key::default()), numbers as usize);
        self.keys().for_each(|(number, key)| words[number as usize] = (number, key));
        words
    }

    /// Show `each` the slots of all terms, in order; a new one takes the number `next`, which goes on.
    pub fn visit(&mut self, terms: &[Term], text: &[u8], next: &mut u32, mut each: impl FnMut(&mut Slot)) {
        let mut places = std::mem::take(&mut self.places);
        find_places(terms, &self.slots, (self.scatter, self.shift), &mut places);
        self.places = places;
        for term in terms {
            each(self.slot(*term, text, next));
        }
    }

    /// Append the number of each term, in order; a new one takes the number `next`, which goes on.
    ///
    /// For a table whose numbers are given out elsewhere too, so that they are not those of `words`.
    pub fn number(&mut self, terms: &[Term], text: &[u8], next: &mut u32, numbers: &mut Vec<u32>) {
        let mut done = 0;
        loop {
            let room = self.room();
            let words = (&mut self.words, room, &mut self.arena);
            let place = (self.scatter, self.shift);
            done = number_from(done, (terms, text), &mut self.slots, place, words, next, numbers);
            if done == terms.len() {
                break;
            }
            self.grow();
        }
    }

    /// Number and key of every word, in canonical order: by hash, then by bytes.
    pub fn in_order(&self) -> Vec<(u32, Key)> {
        let word = |at: &u32| {
            let slot = &self.slots[*at as usize];
            (Term { key: slot.key, hash: slot.key.hash(&self.arena) }, slot.id)
        };
        let terms = self.taken().iter().map(word).collect();
        in_canonical_order(terms, &self.arena).into_iter().map(|(term, id)| (id, term.key)).collect()
    }

    /// The places of all words. Without a branch on each slot: a guess would be wrong every third time.
    fn taken(&self) -> Vec<u32> {
        let mut places = vec![0; self.words as usize + 1];
        let mut n = 0;
        for (at, slot) in self.slots.iter().enumerate() {
            places[n] = at as u32;
            n += usize::from(slot.key.hi != 0);
        }
        places.truncate(n);
        places
    }

    /// Write what was counted of every word to the log.
    pub fn flush(&mut self, log: &mut Vec<Entry>) {
        for at in self.taken() {
            self.slots[at as usize].flush(u32::MAX, log);
        }
    }

    /// What the slots of a table of so many words take, in bytes.
    pub fn bytes_of(words: usize) -> usize {
        let mut slots = FIRST;
        while words > slots / 8 * 5 {
            slots *= 4;
        }
        slots * size_of::<Slot>()
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>() + self.arena.capacity()
    }

    /// A table of the words that `keep` names only, and the new number of each old one.
    pub fn kept(&self, keep: &[bool]) -> (Self, Vec<Option<u32>>) {
        let (mut table, mut next) = (Self::default(), 0);
        let mut numbers = vec![None; keep.len()];
        for slot in self.slots.iter().filter(|slot| slot.key != Key::default()) {
            if keep[slot.id as usize] {
                let term = Term { key: slot.key, hash: slot.key.hash(&self.arena) };
                numbers[slot.id as usize] = Some(table.slot(term, &self.arena, &mut next).id);
            }
        }
        (table, numbers)
    }
}

/// Terms in canonical order: by hash, then by bytes.
///
/// Hashes are spread evenly: dealt out by their highest bits, there is little left to sort.
pub fn in_canonical_order(terms: Vec<(Term, u32)>, arena: &[u8]) -> Vec<(Term, u32)> {
    let shift = 64 - terms.len().max(2).ilog2();
    let deal = |term: &Term| (term.hash >> shift) as usize;
    let mut starts = vec![0u32; (1 << (64 - shift)) + 1];
    terms.iter().for_each(|(term, _)| starts[deal(term) + 1] += 1);
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    let nothing = (Term { key: Key::default(), hash: 0 }, 0);
    let mut dealt = vec![nothing; terms.len()];
    for (term, number) in terms {
        let at = &mut starts[deal(&term)];
        dealt[*at as usize] = (term, number);
        *at += 1;
    }
    let mut from = 0; // each start has moved to the end of its share
    for to in starts.into_iter().take(1 << (64 - shift)).map(|to| to as usize) {
        if to - from > 1 {
            dealt[from..to].sort_unstable_by(|(a, _), (b, _)| {
                a.hash.cmp(&b.hash).then_with(|| a.key.order(arena, b.key, arena))
            });
        }
        from = to;
    }
    dealt
}

at_its_best! {
    /// Note where the search for each term begins, and have all those slots brought near.
    fn find_places(terms: &[Term], slots: &[Slot], place: (u64, u32), places: &mut Vec<u32>) {
        let (scatter, shift) = place;
        places.clear();
        places.extend(terms.iter().map(|term| {
            let at = (term.hash.wrapping_mul(scatter) >> shift) as usize;
            prefetch(slots, at);
            at as u32
        }));
    }
}

at_its_best! {
    /// Count the terms from number `from` on, up to one that is new when there is no more room.
    ///
    /// `words` are their number, the most there may be, and the bytes of long ones; `now` is the
    /// group and the document. The number of the term that did not fit, or of all terms.
    fn count_from(
        from: usize,
        places: (&[Term], &[u32]),
        text: &[u8],
        slots: &mut [Slot],
        words: (&mut u32, u32, &mut Vec<u8>),
        now: (u32, u32),
        log: &mut Vec<Entry>,
    ) -> usize {
        let ((terms, places), (words, room, arena), (group, serial)) = (places, words, now);
        let last = slots.len() - 1;
        let n = terms.len().min(places.len());
        let (terms, places) = (&terms[..n], &places[..n]);
        let mut i = from;
        while i < n {
            let term = terms[i];
            let mut at = places[i] as usize & last;
            while !term.key.same(text, slots[at].key, arena) {
                if slots[at].key.hi == 0 {
                    if *words >= room {
                        return i;
                    }
                    let key = term.key.moved(text, arena);
                    slots[at] = Slot { key, id: *words, group, ..Slot::default() };
                    *words += 1;
                    break;
                }
                at = (at + 1) & last;
            }
            let slot = &mut slots[at];
            if slot.group != group || slot.occurrences == u16::MAX {
                slot.flush(group, log);
            }
            slot.occurrences += 1;
            slot.documents += u16::from(slot.stamp != serial);
            slot.stamp = serial;
            i += 1;
        }
        n
    }
}

/// How many terms ahead slots are asked for.
const AHEAD: usize = 16;

at_its_best! {
    /// Append the numbers of the terms from number `from` on, up to one that is new when there is no room.
    fn number_from(
        from: usize,
        terms: (&[Term], &[u8]),
        slots: &mut [Slot],
        place: (u64, u32),
        words: (&mut u32, u32, &mut Vec<u8>),
        next: &mut u32,
        numbers: &mut Vec<u32>,
    ) -> usize {
        let ((terms, text), (scatter, shift), (words, room, arena)) = (terms, place, words);
        let last = slots.len() - 1;
        let find = |term: &Term| (term.hash.wrapping_mul(scatter) >> shift) as usize & last;
        for term in terms[from..].iter().take(AHEAD) {
            prefetch(slots, find(term));
        }
        numbers.reserve(terms.len() - from);
        for i in from..terms.len() {
            if let Some(soon) = terms.get(i + AHEAD) {
                prefetch(slots, find(soon));
            }
            let term = terms[i];
            let mut at = find(&term);
            while !term.key.same(text, slots[at].key, arena) {
                if slots[at].key.hi == 0 {
                    if *words >= room {
                        return i;
                    }
                    let key = term.key.moved(text, arena);
                    slots[at] = Slot { key, id: *next, ..Slot::default() };
                    *words += 1;
                    *next += 1;
                    break;
                }
                at = (at + 1) & last;
            }
            numbers.push(slots[at].id);
        }
        terms.len()
    }
}

at_its_best! {
    /// Append the numbers of the terms, and `none` for each that is not there.
    fn find_from(
        terms: (&[Term], &[u8]),
        table: (&[Slot], &[u8]),
        place: (u64, u32),
        none: u32,
        numbers: &mut Vec<u32>,
    ) {
        let ((terms, text), (slots, arena), (scatter, shift)) = (terms, table, place);
        let last = slots.len() - 1;
        let find = |term: &Term| (term.hash.wrapping_mul(scatter) >> shift) as usize & last;
        for term in terms.iter().take(AHEAD) {
            prefetch(slots, find(term));
        }
        numbers.reserve(terms.len());
        for (i, term) in terms.iter().enumerate() {
            if let Some(soon) = terms.get(i + AHEAD) {
                prefetch(slots, find(soon));
            }
            let mut at = find(term);
            let mut same = term.key.same(text, slots[at].key, arena);
            while !same && slots[at].key.hi != 0 {
                at = (at + 1) & last;
                same = term.key.same(text, slots[at].key, arena);
            }
            numbers.push(if same { slots[at].id } else { none });
        }
    }
}
