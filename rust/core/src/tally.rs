//! Tallies: exact counts by class and word, that add and subtract.
//!
//! A tally has one form only. Words stand in the order of their hash, the classes of a word and the
//! classes themselves in order, nothing that is zero is kept, and counts are whole numbers of
//! `2^-fraction` with the smallest fraction that serves. So two tallies of the same documents are
//! the same bytes, however the documents were divided, ordered or added up.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::Error;
use crate::key::Key;
use crate::threads::on_threads;

/// Bits behind the point where weights are not whole numbers.
pub const FRACTION: u32 = 30;

/// Words that are added up sooner on one thread than on several.
const FEW: usize = 1 << 12;

/// Counts by word and class; compressed rows, one per word.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally {
    /// 0, or [`FRACTION`] when a count is not whole.
    pub fraction: u32,
    /// Class names in order.
    pub classes: Vec<String>,
    /// Documents of each class.
    pub class_documents: Vec<i64>,
    /// Keys of the words in canonical order, `lo` and `hi` by turns.
    pub keys: Vec<u64>,
    /// Bytes of the long words.
    pub arena: Vec<u8>,
    /// Word `v` has the cells `starts[v]..starts[v + 1]`.
    pub starts: Vec<u64>,
    /// Class of each cell, increasing within a word.
    pub class_of: Vec<u32>,
    /// Occurrences of the word in the class.
    pub occurrences: Vec<i64>,
    /// Documents of the class that hold the word.
    pub documents: Vec<i64>,
}

/// One non-zero of a tally.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cell {
    /// The class.
    pub class: u32,
    /// Occurrences.
    pub occurrences: i64,
    /// Documents.
    pub documents: i64,
}

impl Tally {
    /// A tally without words, and room for some.
    #[must_use]
    pub fn with_capacity(words: usize, cells: usize) -> Self {
        let mut starts = Vec::with_capacity(words + 1);
        starts.push(0);
        Self {
            keys: Vec::with_capacity(2 * words),
            starts,
            class_of: Vec::with_capacity(cells),
            occurrences: Vec::with_capacity(cells),
            documents: Vec::with_capacity(cells),
            ..Self::default()
        }
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len() / 2
    }

    /// Whether no word was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn key(&self, word: usize) -> Key {
        Key { lo: self.keys[2 * word], hi: self.keys[2 * word + 1] }
    }

    /// The cells of a word.
    fn range(&self, word: usize) -> Range<usize> {
        self.starts[word] as usize..self.starts[word + 1] as usize
    }

    /// Append a word, which must follow the last in order, unless all its cells are zero.
    pub fn push(&mut self, key: Key, arena: &[u8], cells: &[Cell]) {
        for cell in cells.iter().filter(|cell| cell.occurrences != 0 || cell.documents != 0) {
            self.class_of.push(cell.class);
            self.occurrences.push(cell.occurrences);
            self.documents.push(cell.documents);
        }
        let end = self.class_of.len() as u64;
        if end > *self.starts.last().unwrap_or(&0) {
            let key = key.moved(arena, &mut self.arena);
            self.keys.extend([key.lo, key.hi]);
            self.starts.push(end);
        }
    }

    /// Append word `word` of `other` as it is, but for the names of its classes.
    fn push_word(&mut self, other: &Self, word: usize, class: &[u32]) {
        let cells = other.range(word);
        self.class_of.extend(other.class_of[cells.clone()].iter().map(|k| class[*k as usize]));
        self.occurrences.extend_from_slice(&other.occurrences[cells.clone()]);
        self.documents.extend_from_slice(&other.documents[cells]);
        let key = other.key(word).moved(&other.arena, &mut self.arena);
        self.keys.extend([key.lo, key.hi]);
        self.starts.push(self.class_of.len() as u64);
    }

    /// `self + sign × other`, `sign` 1 or −1. Linear in the non-zeros of both. Each thread adds up a range of hashes.
    ///
    /// # Errors
    /// [`Error::NegativeCount`] naming the first count that would go below zero, unless `lenient`,
    /// which puts zero there; [`Error::Overflow`] past 64 bits.
    pub fn combined(&self, other: &Self, sign: i64, lenient: bool, threads: usize) -> Result<Self, Error> {
        let fraction = self.fraction.max(other.fraction);
        let (a, b) = (self.scaled(fraction)?, other.scaled(fraction)?);
        let mut classes: Vec<String> = a.classes.iter().chain(&b.classes).cloned().collect();
        classes.sort_unstable();
        classes.dedup();
        let renumbered = |old: &[String]| -> Vec<u32> {
            old.iter().map(|name| classes.binary_search(name).map_or(0, |k| k as u32)).collect()
        };
        let (class_a, class_b) = (renumbered(&a.classes), renumbered(&b.classes));
        let sum =
            Sum { a: &a, b: &b, class_a: &class_a, class_b: &class_b, sign, lenient, classes: &classes };

        let n = if a.len().max(b.len()) < FEW { 1 } else { threads.max(1) };
        let ranges: Vec<_> = a.ranges(n).into_iter().zip(b.ranges(n)).collect();
        let mut parts = on_threads(ranges, |(i, j)| sum.words(i, j)).into_iter();
        let mut out = parts.next().transpose()?.unwrap_or_else(|| Self::with_capacity(0, 0));
        parts.try_for_each(|part| part.map(|part| out.append(&part)))?;
        out.fraction = fraction;
        out.class_documents = vec![0; classes.len()];
        for (k, count) in class_a.iter().zip(&a.class_documents) {
            out.class_documents[*k as usize] = *count;
        }
        for (k, count) in class_b.iter().zip(&b.class_documents) {
            let total = &mut out.class_documents[*k as usize];
            *total = sum.added(*total, *count, *k, None)?;
        }
        out.classes = classes;
        Ok(out.canonical())
    }

    /// The words in `n` ranges of hashes of the same size.
    fn ranges(&self, n: usize) -> Vec<Range<usize>> {
        let step = u64::MAX / n as u64;
        let mut bounds: Vec<usize> = (0..n as u64).map(|part| self.first_from(part * step)).collect();
        bounds.push(self.len());
        bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    /// The first word whose hash is so much at least.
    fn first_from(&self, hash: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle).hash(&self.arena) < hash {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Put the words of another tally, all of which follow, behind these.
    fn append(&mut self, other: &Self) {
        let (cells, bytes) = (self.class_of.len() as u64, self.arena.len() as u64);
        self.starts.extend(other.starts[1..].iter().map(|start| cells + start));
        self.keys.extend(other.keys.as_chunks::<2>().0.iter().flat_map(|&[lo, hi]| {
            let key = Key { lo, hi };
            [if key.is_long() { lo + bytes } else { lo }, hi]
        }));
        self.arena.extend_from_slice(&other.arena);
        self.class_of.extend_from_slice(&other.class_of);
        self.occurrences.extend_from_slice(&other.occurrences);
        self.documents.extend_from_slice(&other.documents);
    }

    /// The tally in `2^bits` parts, each with the words of a range of hashes, the first with the documents too.
    ///
    /// Parts of the same range add up to that part of the sum. Linear.
    #[must_use]
    pub fn cut(&self, bits: u32) -> Vec<Self> {
        let class: Vec<u32> = (0..self.classes.len() as u32).collect();
        let mut parts = Vec::with_capacity(1 << bits);
        let mut word = 0;
        for number in 0..1u64 << bits {
            let mut part = Self::with_capacity(self.len() >> bits, self.class_of.len() >> bits);
            while word < self.len()
                && self.key(word).hash(&self.arena).checked_shr(64 - bits).unwrap_or(0) <= number
            {
                part.push_word(self, word, &class);
                word += 1;
            }
            part.fraction = self.fraction;
            part.classes.clone_from(&self.classes);
            part.class_documents =
                if number == 0 { self.class_documents.clone() } else { vec![0; self.classes.len()] };
            parts.push(part.canonical());
        }
        parts
    }

    /// The same counts as whole numbers of `2^-fraction`.
    fn scaled(&self, fraction: u32) -> Result<std::borrow::Cow<'_, Self>, Error> {
        if self.fraction == fraction {
            return Ok(std::borrow::Cow::Borrowed(self));
        }
        let mut out = self.clone();
        out.fraction = fraction;
        let by = 1i64 << (fraction - self.fraction);
        for count in out.occurrences.iter_mut().chain(&mut out.documents).chain(&mut out.class_documents) {
            *count = count.checked_mul(by).ok_or(Error::Overflow)?;
        }
        Ok(std::borrow::Cow::Owned(out))
    }

    /// The one form of these counts: no class without documents and words, no needless fraction.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        let unit = 1i64 << self.fraction;
        let mut counts = self.occurrences.iter().chain(&self.documents).chain(&self.class_documents);
        if self.fraction > 0 && counts.all(|count| count % unit == 0) {
            for count in
                self.occurrences.iter_mut().chain(&mut self.documents).chain(&mut self.class_documents)
            {
                *count /= unit;
            }
            self.fraction = 0;
        }
        if self.class_documents.contains(&0) {
            let mut lives: Vec<bool> = self.class_documents.iter().map(|count| *count != 0).collect();
            for k in &self.class_of {
                lives[*k as usize] = true;
            }
            let mut next = 0;
            let numbers: Vec<u32> = lives
                .iter()
                .map(|alive| {
                    next += u32::from(*alive);
                    next.wrapping_sub(1)
                })
                .collect();
            for k in &mut self.class_of {
                *k = numbers[*k as usize];
            }
            let mut alive = lives.iter();
            self.classes.retain(|_| *alive.next().unwrap_or(&false));
            let mut alive = lives.iter();
            self.class_documents.retain(|_| *alive.next().unwrap_or(&false));
        }
        self
    }

    /// Whether the arrays fit together, for tallies that come from outside.
    ///
    /// # Errors
    /// [`Error::Malformed`] saying what does not fit.
    pub fn checked(self) -> Result<Self, Error> {
        let cells = self.class_of.len();
        let hash = |word: usize| self.key(word).hash(&self.arena);
        let in_order = |word: usize| {
            let (a, b) = (self.key(word), self.key(word + 1));
            hash(word).cmp(&hash(word + 1)).then_with(|| a.order(&self.arena, b, &self.arena)).is_lt()
        };
        let counts = [&self.class_documents, &self.occurrences, &self.documents];
        let fits = self.keys.len().is_multiple_of(2)
            && self.starts.len() == self.len() + 1
            && self.starts.first() == Some(&0)
            && self.starts.last() == Some(&(cells as u64))
            && self.starts.windows(2).all(|pair| pair[0] <= pair[1])
            && self.occurrences.len() == cells
            && self.documents.len() == cells
            && self.class_documents.len() == self.classes.len()
            && self.class_of.iter().all(|k| (*k as usize) < self.classes.len())
            && (self.fraction == 0 || self.fraction == FRACTION)
            && counts.iter().all(|counts| counts.iter().all(|count| *count >= 0))
            && (0..self.len()).all(|word| self.key(word).is_within(&self.arena))
            && (1..self.len()).all(|word| in_order(word - 1));
        if fits {
            Ok(self)
        } else {
            Err(Error::Malformed("the arrays of a tally do not fit together".into()))
        }
    }
}

/// The adding up of two tallies, word by word.
struct Sum<'a> {
    a: &'a Tally,
    b: &'a Tally,
    class_a: &'a [u32],
    class_b: &'a [u32],
    sign: i64,
    lenient: bool,
    classes: &'a [String],
}

impl Sum<'_> {
    /// The sum of some words of a and those of b in the same range of hashes.
    fn words(&self, of_a: Range<usize>, of_b: Range<usize>) -> Result<Tally, Error> {
        let Self { a, b, .. } = *self;
        let cells = |tally: &Tally, words: &Range<usize>| tally.starts[words.end] - tally.starts[words.start];
        let most = cells(a, &of_a).max(cells(b, &of_b)) as usize;
        let mut out = Tally::with_capacity(of_a.len().max(of_b.len()), most);
        let hash = |tally: &Tally, words: &Range<usize>, i: usize| {
            (i < words.end).then(|| tally.key(i).hash(&tally.arena))
        };
        let (mut i, mut j, mut sums) = (of_a.start, of_b.start, Vec::new());
        let (mut hash_a, mut hash_b) = (hash(a, &of_a, i), hash(b, &of_b, j));
        loop {
            let order = match (hash_a, hash_b) {
                (None, None) => return Ok(out),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(x), Some(y)) => x.cmp(&y).then_with(|| a.key(i).order(&a.arena, b.key(j), &b.arena)),
            };
            if order.is_lt() {
                out.push_word(a, i, self.class_a);
            } else if order.is_gt() && self.sign > 0 {
                out.push_word(b, j, self.class_b);
            } else {
                sums.clear();
                self.cells(order.is_le().then_some(i), j, &mut sums)?;
                out.push(b.key(j), &b.arena, &sums);
            }
            if order.is_le() {
                i += 1;
                hash_a = hash(a, &of_a, i);
            }
            if order.is_ge() {
                j += 1;
                hash_b = hash(b, &of_b, j);
            }
        }
    }

    /// The cells of word `i` of a, if there is one, plus `sign` times word `j` of b, classes in order.
    fn cells(&self, i: Option<usize>, j: usize, out: &mut Vec<Cell>) -> Result<(), Error> {
        let Self { a, b, .. } = *self;
        let (mut x, mut y) = (i.map_or(0..0, |i| a.range(i)), b.range(j));
        while !x.is_empty() || !y.is_empty() {
            let class_x = if x.is_empty() { u32::MAX } else { self.class_a[a.class_of[x.start] as usize] };
            let class_y = if y.is_empty() { u32::MAX } else { self.class_b[b.class_of[y.start] as usize] };
            let class = class_x.min(class_y);
            let mut cell = Cell { class, occurrences: 0, documents: 0 };
            if class_x == class
                && let Some(at) = x.next()
            {
                (cell.occurrences, cell.documents) = (a.occurrences[at], a.documents[at]);
            }
            if class_y == class
                && let Some(at) = y.next()
            {
                cell.occurrences = self.added(cell.occurrences, b.occurrences[at], class, Some(j))?;
                cell.documents = self.added(cell.documents, b.documents[at], class, Some(j))?;
            }
            out.push(cell);
        }
        Ok(())
    }

    fn added(&self, count: i64, other: i64, class: u32, word: Option<usize>) -> Result<i64, Error> {
        let total = count.checked_add(self.sign * other).ok_or(Error::Overflow)?;
        if total >= 0 {
            return Ok(total);
        }
        if self.lenient {
            return Ok(0);
        }
        Err(Error::NegativeCount {
            word: word.map(|j| String::from_utf8_lossy(&self.b.key(j).bytes(&self.b.arena)).into_owned()),
            class: self.classes[class as usize].clone(),
        })
    }
}
