//! A set of words in one canonical order, and how to find a word in it.
//!
//! Words are ordered by hash, then by bytes. So a directory of hash prefixes is all the index
//! there is: bucket `b` holds words `starts[b]..starts[b + 1]`. It has no empty slots, is built in
//! one pass, is stored as it is, and a lookup cannot run away whatever a file claims.

use crate::error::Error;
use crate::key::{Key, Term};
use crate::processor::prefetch;
use crate::table::in_canonical_order;

/// A vocabulary somewhere in memory, perhaps in a mapped file.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary<'a> {
    keys: &'a [u64],   // lo, hi, lo, hi, …
    arena: &'a [u8],   // bytes of long words
    starts: &'a [u32], // one more than a power of two
    shift: u32,
}

impl<'a> Vocabulary<'a> {
    /// A vocabulary over arrays of the right sizes; see [`Self::checked`] for what is in them.
    ///
    /// # Errors
    /// [`Error::Malformed`] unless `starts` has 2, 4, 8, … buckets and ends with the keys.
    pub fn new(keys: &'a [u64], arena: &'a [u8], starts: &'a [u32]) -> Result<Self, Error> {
        let buckets = starts.len().wrapping_sub(1);
        let sized = keys.len().is_multiple_of(2) && buckets.is_power_of_two() && buckets >= 2;
        if !sized || starts[0] != 0 || starts[buckets] as usize != keys.len() / 2 {
            return Err(Error::Malformed("the word index has the wrong size".into()));
        }
        Ok(Self { keys, arena, starts, shift: 64 - buckets.trailing_zeros() })
    }

    /// The vocabulary, if its arrays, which may come from anywhere, can be searched safely.
    ///
    /// # Errors
    /// [`Error::Malformed`] if buckets overlap, or a long word lies outside the arena.
    pub fn checked(self) -> Result<Self, Error> {
        let ordered = self.starts.is_sorted();
        let mut words = self.keys.as_chunks::<2>().0.iter();
        let inside = words.all(|&[lo, hi]| Key { lo, hi }.is_within(self.arena));
        if ordered && inside { Ok(self) } else { Err(Error::Malformed("the word index is damaged".into())) }
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len() / 2
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Word number `id`.
    #[inline]
    #[must_use]
    pub fn key(&self, id: usize) -> Key {
        Key { lo: self.keys[2 * id], hi: self.keys[2 * id + 1] }
    }

    /// The bytes of long words.
    #[must_use]
    pub fn arena(&self) -> &'a [u8] {
        self.arena
    }

    /// The number of a term whose long key points into `text`.
    #[inline(always)] // see `Term::of`
    #[must_use]
    pub fn find(&self, term: Term, text: &[u8]) -> Option<u32> {
        self.find_in(self.bucket(term), term, text)
    }

    /// The number of a word by its name; a bucket's is `#number`, beside words `# number`.
    #[must_use]
    pub fn find_name(&self, name: &str) -> Option<u32> {
        if name.is_empty() {
            return None;
        }
        let word = self.find(Term::of(name.as_bytes(), 0, name.len()), name.as_bytes());
        word.or_else(|| {
            let beside = name.strip_prefix("# ");
            let number = beside.or_else(|| name.strip_prefix('#')).and_then(|number| number.parse().ok())?;
            let bits = (0..self.len()).find_map(|id| self.key(id).bucket_bits())?;
            let bucket = if beside.is_some() { Term::bucket_beside_words } else { Term::bucket };
            self.find(bucket(number, bits), &[])
        })
    }

    /// The words among which a term can be, which are brought near.
    #[inline(always)]
    pub(crate) fn bucket(&self, term: Term) -> (u32, u32) {
        let bucket = (term.hash >> self.shift) as usize;
        let (from, to) = (self.starts[bucket], self.starts[bucket + 1]);
        prefetch(self.keys, 2 * from as usize);
        (from, to)
    }

    /// [`Self::find`] within its bucket.
    #[inline(always)]
    pub(crate) fn find_in(&self, bucket: (u32, u32), term: Term, text: &[u8]) -> Option<u32> {
        let (mut from, mut to) = bucket;
        if to - from > 16 {
            (from, to) = self.narrowed(from, to, term.hash);
        }
        (from..to).find(|id| term.key.same(text, self.key(*id as usize), self.arena))
    }

    /// Halve a crowded bucket (made so on purpose, most likely) by the full hash.
    #[cold]
    fn narrowed(&self, from: u32, to: u32, hash: u64) -> (u32, u32) {
        let first = |above: bool| {
            let (mut low, mut high) = (from, to);
            while low < high {
                let middle = low + (high - low) / 2;
                let other = self.key(middle as usize).hash(self.arena);
                if other < hash || above && other == hash {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        (first(false), first(true))
    }
}

/// The directory of words in canonical order: two to four buckets per word.
#[must_use]
pub fn directory(keys: &[u64], arena: &[u8]) -> Vec<u32> {
    let words = keys.as_chunks::<2>().0;
    let buckets = (2 * words.len()).next_power_of_two().max(2);
    let shift = 64 - buckets.trailing_zeros();
    let mut starts = vec![0; buckets + 1];
    for &[lo, hi] in words {
        starts[(Key { lo, hi }.hash(arena) >> shift) as usize + 1] += 1;
    }
    let mut total = 0;
    for start in &mut starts {
        total += *start;
        *start = total;
    }
    starts
}

/// A vocabulary that owns its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Keys in canonical order, `lo` and `hi` by turns.
    pub keys: Vec<u64>,
    /// Bytes of the long words, in the same order.
    pub arena: Vec<u8>,
    starts: Vec<u32>,
}

impl Words {
    /// The distinct non-empty strings of `words`.
    #[must_use]
    pub fn from_strings<T: AsRef<str>>(words: &[T]) -> Self {
        Self::numbered(words).0
    }

    /// The same, and the place of each of them among `words`.
    #[must_use]
    pub fn numbered<T: AsRef<str>>(words: &[T]) -> (Self, Vec<u32>) {
        let mut text = Vec::new();
        let mut terms = Vec::new();
        for (place, word) in words.iter().map(AsRef::as_ref).enumerate().filter(|(_, word)| !word.is_empty())
        {
            let start = text.len();
            text.extend_from_slice(word.as_bytes());
            terms.push((Term::of(&text, start, word.len()), place as u32));
        }
        let mut terms = in_canonical_order(terms, &text);
        terms.dedup_by(|(a, _), (b, _)| a.key.same(&text, b.key, &text));
        let mut arena = Vec::new();
        let mut keys = Vec::with_capacity(2 * terms.len());
        for (term, _) in &terms {
            let key = term.key.moved(&text, &mut arena);
            keys.extend([key.lo, key.hi]);
        }
        let starts = directory(&keys, &arena);
        (Self { keys, arena, starts }, terms.into_iter().map(|(_, place)| place).collect())
    }

    /// The words to look things up in.
    #[inline]
    #[must_use]
    pub fn view(&self) -> Vocabulary<'_> {
        let shift = 64 - (self.starts.len() - 1).trailing_zeros();
        Vocabulary { keys: &self.keys, arena: &self.arena, starts: &self.starts, shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_no_other() {
        let words: Vec<String> =
            (0..5000u32).map(|i| format!("{:x}", i.wrapping_mul(2_654_435_761).wrapping_pow(3))).collect();
        let owned = Words::from_strings(&words);
        let view = owned.view();
        for word in &words {
            let id = view.find(Term::of(word.as_bytes(), 0, word.len()), word.as_bytes()).unwrap();
            assert_eq!(view.key(id as usize).bytes(view.arena()), word.as_bytes());
        }
        assert_eq!(view.find(Term::of(b"absent", 0, 6), b"absent"), None);
    }

    #[test]
    fn a_crowded_bucket_is_searched_by_halves() {
        let words: Vec<String> = (0..3000).map(|i| format!("w{i} and a tail that makes it long")).collect();
        let owned = Words::from_strings(&words);
        let all_in_one = [0, 3000, 3000];
        let low: Vec<&String> =
            words.iter().filter(|word| Term::of(word.as_bytes(), 0, word.len()).hash >> 63 == 0).collect();
        let view = Vocabulary::new(&owned.keys, &owned.arena, &all_in_one).unwrap();
        for word in low {
            assert!(view.find(Term::of(word.as_bytes(), 0, word.len()), word.as_bytes()).is_some());
        }
    }

    #[test]
    fn a_long_word_outside_the_arena_is_refused() {
        let mut owned = Words::from_strings(&["a word that is longer than a key"]);
        assert!(owned.view().checked().is_ok());
        owned.keys[0] = 1;
        assert!(owned.view().checked().is_err());
        owned.keys[0] = u64::MAX;
        assert!(owned.view().checked().is_err());
    }

    #[test]
    fn a_damaged_directory_is_refused() {
        let keys = [1, 1 << 56, 2, 1 << 56];
        for starts in [&[0u32, 2][..], &[0, 3, 2], &[1, 1, 2], &[0, 1, 9], &[], &[0, 1, 1, 2]] {
            assert!(Vocabulary::new(&keys, &[], starts).and_then(Vocabulary::checked).is_err());
        }
    }
}
