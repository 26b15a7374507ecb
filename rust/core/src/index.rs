//! How terms are found where much text is read: tokens in a hash table, n-grams as pairs of numbers.
//!
//! A vocabulary can be searched as it is stored, which is enough for a few texts. An n-gram is spelled out for that,
//! hashed, and found by two steps into memory far away. Here every prefix of an n-gram of the vocabulary has a
//! number, and an n-gram is found by the number of its first tokens and that of its last one: one step. Numbers are
//! those of the vocabulary or, where weights are packed, ranks: terms that are in most documents come first, so that
//! what most texts touch is close together.

use crate::analyse::{Analyser, Grams, PADDING};
use crate::fasttext::bits_of;
use crate::key::Term;
use crate::memory::filled;
use crate::opposed::Opposed;
use crate::pairs::Pairs;
use crate::processor::{at_its_best, prefetch};
use crate::table::Table;
use crate::tokenise::{Set, Unit};
use crate::vocabulary::Vocabulary;

/// Stands for a term without a number.
pub(crate) const NONE: u32 = u32::MAX;

/// The terms of a vocabulary, and perhaps what they are worth.
#[derive(Debug)]
pub(crate) struct Index {
    terms: usize,
    ngrams: (usize, usize),
    tokens: Table,
    pairs: Pairs,
    buckets: Vec<u32>, // of fastText, which has no n-grams as names
    /// What terms are worth, by rank; none if numbers are those of the vocabulary.
    pub(crate) packed: Option<Packed>,
    /// What features of fastText are worth, where that is one number each.
    pub(crate) opposed: Option<Opposed>,
}

/// What an index keeps of the weights of terms beside their numbers.
#[derive(Debug)]
pub(crate) enum Worth<'a> {
    Nothing,
    Packed(Packed),
    /// Of fastText's features: rows of two weights, each row a number and its opposite.
    Opposed(&'a [f64]),
}

/// Scales and weights of terms side by side, those of frequent terms first.
#[derive(Debug)]
pub(crate) struct Packed {
    ranks: Vec<u32>, // by number
    numbers: Vec<u32>,
    /// Rows of a scale and K weights.
    pub(crate) rows: Vec<f64>,
}

/// Width of a packed row of K weights: an even number, of which few go across lines of memory.
pub(crate) const fn width(classes: usize) -> usize {
    (classes + 1).next_multiple_of(2)
}

impl Packed {
    /// Pack the weights, rows of K, of terms with these scales: a low one is that of a frequent term.
    pub(crate) fn new(scale: &[f64], weights: &[f64], classes: usize) -> Self {
        let order = |number: usize| u64::from((scale[number] as f32).to_bits()) << 32 | number as u64;
        let mut order: Vec<u64> = (0..scale.len()).map(order).collect();
        order.sort_unstable();
        let numbers: Vec<u32> = order.into_iter().map(|both| both as u32).collect();
        let mut ranks = vec![0; scale.len()];
        let mut rows = filled(0.0, scale.len() * width(classes));
        for ((rank, number), row) in numbers.iter().enumerate().zip(rows.chunks_exact_mut(width(classes))) {
            let number = *number as usize;
            ranks[number] = rank as u32;
            row[0] = scale[number];
            row[1..=classes].copy_from_slice(&weights[number * classes..][..classes]);
        }
        Self { ranks, numbers, rows }
    }

    /// The number in the vocabulary of the term with this rank.
    #[inline(always)]
    pub(crate) fn number(&self, rank: u32) -> u32 {
        self.numbers[rank as usize]
    }

    /// Replace numbers by ranks.
    pub(crate) fn rank(&self, numbers: &mut [u32]) {
        numbers.iter_mut().for_each(|number| *number = self.ranks[*number as usize]);
    }
}

impl Index {
    /// How many bytes of text are worth the index of one term; nothing where an index gains too little.
    pub(crate) fn cost(analyser: &Analyser) -> Option<usize> {
        match analyser.grams {
            Grams::FastText(_) => Some(4),
            Grams::Tokens(_) if analyser.ngrams.1 > 1 || analyser.characters.is_some() => Some(16),
            _ => None,
        }
    }

    /// An index of a vocabulary whose n-grams are joined of tokens; none if they are something else.
    pub(crate) fn new(analyser: &Analyser, vocabulary: &Vocabulary<'_>, worth: Worth<'_>) -> Option<Self> {
        let (terms, ngrams) = (vocabulary.len(), analyser.ngrams);
        let (tokens, pairs, buckets) = (Table::default(), Pairs::default(), Vec::new());
        let (packed, weights) = match worth {
            Worth::Nothing => (None, None),
            Worth::Packed(packed) => (Some(packed), None),
            Worth::Opposed(weights) => (None, Some(weights)),
        };
        let mut index = Self { terms, ngrams, tokens, pairs, buckets, packed, opposed: None };
        let unit = match analyser.grams {
            _ if terms >= NONE as usize / 4 => return None,
            Grams::FastText(buckets) => {
                match weights {
                    Some(weights) => index.opposed = Some(Opposed::new(vocabulary, buckets, weights)),
                    None => index.add_buckets(vocabulary, buckets as usize),
                }
                return Some(index);
            }
            Grams::Tokens(unit) if analyser.joins_any() => unit,
            _ => return None,
        };
        let marks = analyser.characters.is_some() && unit != Unit::Runs(Set::NotSpace, 1);
        let mut longer: Vec<(u32, u8)> = Vec::new(); // number and length of n-grams
        let mut name = Vec::new();
        for number in 0..terms as u32 {
            let key = vocabulary.key(number as usize);
            if key.bucket().is_some() || marks && key.is_marked(vocabulary.arena()) {
                continue; // which is no token
            }
            name.clear();
            key.append(vocabulary.arena(), &mut name);
            match 1 + memchr::memchr_iter(b' ', &name).count() {
                1 => {
                    let end = name.len();
                    name.extend_from_slice(&PADDING);
                    let mut rank = index.rank(number);
                    index.tokens.slot(Term::of(&name, 0, end), &name, &mut rank);
                }
                n if n <= ngrams.1 => longer.push((number, n as u8)),
                _ => {}
            }
        }
        longer.sort_by_key(|(_, n)| *n); // prefixes first
        let mut next = terms as u32; // of what is no term, but begins one
        for (number, _) in longer {
            name.clear();
            vocabulary.key(number as usize).append(vocabulary.arena(), &mut name);
            index.insert(&mut name, index.rank(number), &mut next);
        }
        index.pairs.settle();
        Some(index)
    }

    /// Put in fastText's words, and its buckets by their numbers.
    fn add_buckets(&mut self, vocabulary: &Vocabulary<'_>, buckets: usize) {
        self.buckets = filled(NONE, buckets);
        for number in 0..self.terms as u32 {
            let key = vocabulary.key(number as usize);
            match key.bucket() {
                None => {
                    let hash = key.hash(vocabulary.arena());
                    self.tokens.slot(Term { key, hash }, vocabulary.arena(), &mut number.clone());
                }
                Some(bucket) => {
                    // Others cannot be found by a name either.
                    if let Some(place) = self.buckets.get_mut(bucket as usize)
                        && Term::bucket_beside_words(bucket, bits_of(buckets as u32)).key == key
                    {
                        *place = number;
                    }
                }
            }
        }
    }

    /// Append the numbers of words and buckets that have one to `found`.
    pub(crate) fn find_buckets(&self, words: (&[Term], &[u8]), buckets: &[u32], found: &mut Vec<u32>) {
        let from = found.len();
        self.tokens.find_all(words.0, words.1, NONE, found);
        look_up(&self.buckets, buckets, found);
        let mut kept = from;
        for i in from..found.len() {
            found[kept] = found[i];
            kept += usize::from(found[i] != NONE);
        }
        found.truncate(kept);
    }

    fn rank(&self, number: u32) -> u32 {
        self.packed.as_ref().map_or(number, |packed| packed.ranks[number as usize])
    }

    /// Put in an n-gram of several tokens, and what it begins with.
    fn insert(&mut self, name: &mut Vec<u8>, rank: u32, next: &mut u32) {
        let end = name.len();
        name.extend_from_slice(&PADDING);
        let (mut start, mut before) = (0, NONE);
        while start <= end {
            let stop = memchr::memchr(b' ', &name[start..end]).map_or(end, |length| start + length);
            if stop == start {
                return; // two spaces: no tokens give that
            }
            let token = self.tokens.slot(Term::of(name, start, stop - start), name, next).id;
            before = match before {
                NONE => token,
                _ if stop == end => self.pairs.number(before, token, &mut rank.clone()),
                _ => self.pairs.number(before, token, next),
            };
            start = stop + 1;
        }
    }

    /// Append to `found` the numbers of the tokens of a document and of their n-grams that have one.
    ///
    /// How many terms there are in all.
    pub(crate) fn find(
        &self,
        (tokens, text): (&[Term], &[u8]),
        [seconds, firsts]: &mut [Vec<u32>; 2],
        found: &mut Vec<u32>,
    ) -> usize {
        seconds.clear();
        self.tokens.find_all(tokens, text, NONE, seconds);
        let mut all = 0;
        if self.ngrams.0 == 1 {
            all += tokens.len();
            push_terms(seconds, self.terms as u32, found);
        }
        if self.ngrams.1 > 1 {
            firsts.clear();
            firsts.extend_from_slice(seconds);
        }
        for n in 2..=self.ngrams.1.min(tokens.len()) {
            self.pairs.find_all(firsts, &seconds[n - 1..], NONE);
            if n >= self.ngrams.0 {
                all += firsts.len();
                push_terms(firsts, self.terms as u32, found);
            }
        }
        all
    }
}

at_its_best! {
    /// Append what stands in the places of buckets.
    fn look_up(places: &[u32], buckets: &[u32], found: &mut Vec<u32>) {
        found.reserve(buckets.len());
        for (i, bucket) in buckets.iter().enumerate() {
            if let Some(soon) = buckets.get(i + 32) {
                prefetch(places, *soon as usize);
            }
            found.push(places.get(*bucket as usize).copied().unwrap_or(NONE));
        }
    }
}

at_its_best! {
    /// Append the numbers that are of terms, and not only of what begins one.
    fn push_terms(numbers: &[u32], terms: u32, found: &mut Vec<u32>) {
        let from = found.len();
        found.resize(from + numbers.len(), 0);
        let (room, mut n) = (&mut found[from..], 0);
        for number in numbers {
            room[n] = *number;
            n += usize::from(*number < terms);
        }
        found.truncate(from + n);
    }
}
