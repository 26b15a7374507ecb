//! The terms of a [`crate::lexicon::Lexicon`] by number: what they are called, and in which order they stand.

use std::borrow::Cow;

use crate::key::{Key, Term};
use crate::memory::filled;
use crate::table::in_canonical_order;

/// Set where a place is one among pairs.
const PAIR: u32 = 1 << 31;

/// Numbered terms: words, and words behind other terms.
#[derive(Debug)]
pub(crate) struct Terms {
    words: Vec<(u32, Key)>, // by number
    arena: Vec<u8>,
    pairs: Vec<(u32, u64)>, // by number; the term and the word, in the upper and the lower half
    renamed: Option<Vec<u32>>, // what terms are called now
}

/// Names one behind the other, where each starts and ends, and the number each has.
pub(crate) type Names = (Vec<u8>, Vec<i64>, Vec<u32>);
/// Keys and arena of a vocabulary, and key and number of each of its terms.
pub(crate) type Canonical = (Vec<u64>, Vec<u8>, Vec<(Key, u32)>);

impl Terms {
    /// Words with the bytes of the long ones, and pairs, both by number.
    pub(crate) fn new(words: Vec<(u32, Key)>, arena: Vec<u8>, pairs: Vec<(u32, u64)>) -> Self {
        Self { words, arena, pairs, renamed: None }
    }

    /// Call the terms by other numbers.
    pub(crate) fn rename(&mut self, numbers: Vec<u32>) {
        self.renamed = Some(numbers);
    }

    /// The words by number.
    pub(crate) fn words(&self) -> &[(u32, Key)] {
        &self.words
    }

    /// The pairs by number; the term and the word behind it are in the upper and the lower half.
    pub(crate) fn pairs(&self) -> &[(u32, u64)] {
        &self.pairs
    }

    /// Number of terms, with words that only serve to name n-grams.
    pub(crate) fn len(&self) -> usize {
        self.words.len() + self.pairs.len()
    }

    /// The bytes of long words.
    pub(crate) fn arena(&self) -> &[u8] {
        &self.arena
    }

    /// The names of all terms of at least `shortest` words in the order of their characters, and their numbers;
    /// or of those that `keep` has by their numbers.
    pub(crate) fn alphabetical(&self, shortest: usize, keep: Option<&[bool]>) -> Names {
        let called = |number: u32| self.renamed.as_ref().map_or(number, |renamed| renamed[number as usize]);
        let is_kept = |number: u32| keep.is_none_or(|keep| keep[called(number) as usize]);
        let words = self.words_in_order();
        let mut tree = Tree::of(self, &words, &self.needed(keep.is_some(), is_kept), shortest);
        tree.walk(&is_kept);
        if !tree.is_plain && !self.pairs.is_empty() {
            tree.sort();
        }
        let mut names = tree.names;
        names.2.iter_mut().for_each(|number| *number = called(*number));
        names
    }

    /// The terms that are kept in canonical order: by hash, then by bytes.
    pub(crate) fn canonical(&self, keep: impl Fn(usize) -> bool) -> Canonical {
        let mut bytes = self.arena.clone();
        let mut terms: Vec<(Term, u32)> = Vec::new();
        for (number, key) in self.words.iter().filter(|(number, _)| keep(*number as usize)) {
            terms.push((Term { key: *key, hash: key.hash(&bytes) }, *number));
        }
        let places = self.places();
        for (number, both) in self.pairs.iter().filter(|(number, _)| keep(*number as usize)) {
            let from = bytes.len();
            self.spell_pair(*both, &places, &mut bytes);
            let term = Term::of(&bytes, from, bytes.len() - from);
            if !term.key.is_long() {
                bytes.truncate(from);
            }
            terms.push((term, *number));
        }
        let (mut keys, mut arena) = (Vec::with_capacity(2 * terms.len()), Vec::new());
        let moved = |(term, number): (Term, u32)| {
            let key = term.key.moved(&bytes, &mut arena);
            keys.extend([key.lo, key.hi]);
            (key, number)
        };
        let terms = in_canonical_order(terms, &bytes).into_iter().map(moved).collect();
        (keys, arena, terms)
    }

    /// The names of some terms; numbers that no term has are passed over.
    pub(crate) fn names(&self, numbers: &[u32]) -> Vec<String> {
        let places = self.places();
        let name = |number: &u32| {
            let mut name = Vec::new();
            self.spell(*number, &places, &mut name);
            String::from_utf8_lossy(&name).into_owned()
        };
        numbers.iter().filter(|number| (**number as usize) < self.len()).map(name).collect()
    }

    /// Where each term stands, by number: among the words, or among the pairs.
    fn places(&self) -> Vec<u32> {
        let mut places = filled(0, self.len());
        let words = self.words.iter().map(|(number, _)| *number).zip(0..);
        let pairs = self.pairs.iter().map(|(number, _)| *number).zip(PAIR..);
        words.chain(pairs).for_each(|(number, place)| places[number as usize] = place);
        places
    }

    /// Append the words of a term, one space between them.
    fn spell(&self, number: u32, places: &[u32], out: &mut Vec<u8>) {
        let place = places[number as usize];
        if place & PAIR == 0 {
            return self.words[place as usize].1.append(&self.arena, out);
        }
        self.spell_pair(self.pairs[(place & !PAIR) as usize].1, places, out);
    }

    fn spell_pair(&self, both: u64, places: &[u32], out: &mut Vec<u8>) {
        self.spell((both >> 32) as u32, places, out);
        out.push(b' ');
        self.spell(both as u32, places, out);
    }

    /// The pairs that are kept, or that others which are kept begin with, as [`Self::pairs`] has them.
    fn needed(&self, some_only: bool, is_kept: impl Fn(u32) -> bool) -> Cow<'_, [(u32, u64)]> {
        if !some_only {
            return Cow::Borrowed(&self.pairs);
        }
        let mut is_needed = filled(false, self.len());
        for (number, both) in self.pairs.iter().rev() {
            if is_needed[*number as usize] || is_kept(*number) {
                is_needed[*number as usize] = true;
                is_needed[(both >> 32) as usize] = true; // it came earlier, and so comes later here
            }
        }
        Cow::Owned(self.pairs.iter().filter(|(number, _)| is_needed[*number as usize]).copied().collect())
    }

    /// Numbers and keys of words in the order of their bytes.
    fn words_in_order(&self) -> Vec<(u32, Key)> {
        // Dealt out by their first two bytes, there is little left to sort.
        let keys: Vec<u128> = self.words.iter().map(|(_, key)| sort_key(*key, &self.arena)).collect();
        let first = |key: &u128| (key >> 112) as usize;
        let mut ends = vec![0u32; (1 << 16) + 1];
        keys.iter().for_each(|key| ends[first(key) + 1] += 1);
        for i in 1..ends.len() {
            ends[i] += ends[i - 1];
        }
        let mut dealt = filled((0u128, 0u32), keys.len());
        for (place, key) in keys.iter().enumerate() {
            let at = &mut ends[first(key)];
            dealt[*at as usize] = (*key, place as u32);
            *at += 1;
        }
        let bytes = |place: u32| self.words[place as usize].1.arena_range().and_then(|r| self.arena.get(r));
        let mut from = 0; // each start has moved to the end of its share
        for to in ends.into_iter().map(|to| to as usize) {
            if to > from + 1 {
                // Only the beginnings of long words can be alike.
                dealt[from..to]
                    .sort_unstable_by(|(a, i), (b, j)| a.cmp(b).then_with(|| bytes(*i).cmp(&bytes(*j))));
            }
            from = to.max(from);
        }
        dealt.into_iter().map(|(_, place)| self.words[place as usize]).collect()
    }
}

/// Terms by what they go on with. If a space comes before all that words hold, a walk through it visits
/// names in the order of their characters.
struct Tree<'a> {
    terms: &'a Terms,
    shortest: usize,
    words: &'a [(u32, Key)], // in order
    starts: Vec<u32>,        // of the children of each term
    children: Vec<u64>,      // rank of the word behind, in the upper half, and number
    names: Names,
    name: Vec<u8>,
    is_plain: bool,
}

impl<'a> Tree<'a> {
    fn of(terms: &'a Terms, words: &'a [(u32, Key)], pairs: &[(u32, u64)], shortest: usize) -> Self {
        let mut tree = Self {
            terms,
            shortest,
            words,
            starts: Vec::new(),
            children: Vec::new(),
            names: (Vec::new(), Vec::new(), Vec::new()),
            name: Vec::new(),
            is_plain: true,
        };
        if pairs.is_empty() {
            return tree;
        }
        let mut ranks = filled(0u32, terms.len());
        for (rank, (number, key)) in words.iter().enumerate() {
            ranks[*number as usize] = rank as u32;
            tree.is_plain &= key.bytes(&terms.arena).iter().all(|byte| *byte > b' ');
        }
        let mut starts = filled(0u32, terms.len() + 1);
        pairs.iter().for_each(|(_, both)| starts[(both >> 32) as usize + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut children = filled(0u64, pairs.len());
        for (number, both) in pairs {
            let at = &mut starts[(both >> 32) as usize];
            children[*at as usize] = u64::from(ranks[*both as u32 as usize]) << 32 | u64::from(*number);
            *at += 1;
        }
        let mut from = 0; // each start has moved to the end of its share
        for end in &mut starts {
            let to = *end as usize;
            children[from..to.max(from)].sort_unstable();
            *end = from as u32;
            from = to.max(from);
        }
        (tree.starts, tree.children) = (starts, children);
        tree
    }

    fn walk(&mut self, is_kept: &impl Fn(u32) -> bool) {
        self.names.1.push(0);
        for (number, key) in self.words {
            self.name.clear();
            key.append(&self.terms.arena, &mut self.name);
            self.visit(*number, 1, is_kept);
        }
    }

    /// Put the names that were written down in order: slower, and right whatever words hold.
    fn sort(&mut self) {
        let (bytes, ends, numbers) = std::mem::take(&mut self.names);
        let name = |i: usize| &bytes[ends[i] as usize..ends[i + 1] as usize];
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_unstable_by_key(|i| name(*i));
        let (mut sorted, mut sorted_ends) = (Vec::with_capacity(bytes.len()), vec![0]);
        for i in &order {
            sorted.extend_from_slice(name(*i));
            sorted_ends.push(sorted.len() as i64);
        }
        self.names = (sorted, sorted_ends, order.into_iter().map(|i| numbers[i]).collect());
    }

    /// Write down the term whose name is at hand, of so many words, and what goes on from it.
    fn visit(&mut self, number: u32, length: usize, is_kept: &impl Fn(u32) -> bool) {
        if length >= self.shortest && is_kept(number) {
            self.names.0.extend_from_slice(&self.name);
            self.names.1.push(self.names.0.len() as i64);
            self.names.2.push(number);
        }
        if self.children.is_empty() {
            return;
        }
        let (from, to) = (self.starts[number as usize], self.starts[number as usize + 1]);
        let stem = self.name.len();
        for i in from..to {
            let child = self.children[i as usize];
            self.name.truncate(stem);
            self.name.push(b' ');
            self.words[(child >> 32) as usize].1.append(&self.terms.arena, &mut self.name);
            self.visit(child as u32, length + 1, is_kept);
        }
    }
}

/// A number that sorts as the bytes of a short word, or the beginning of a long one, do.
fn sort_key(key: Key, arena: &[u8]) -> u128 {
    match key.arena_range().and_then(|range| arena.get(range)).and_then(<[u8]>::first_chunk::<15>) {
        Some(first) => first.iter().fold(0, |all, byte| all << 8 | u128::from(*byte)) << 8 | 0xFF,
        None => (u128::from(key.lo) | u128::from(key.hi) << 64).swap_bytes(),
    }
}
