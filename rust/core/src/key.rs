//! Terms as fixed-size keys, and the hash that orders a vocabulary.
//!
//! A term of up to 15 bytes *is* its key: its bytes, zero-padded, and its length in the last byte.
//! Comparing two such terms compares two machine words and touches no other memory. A longer term
//! keeps its bytes in an arena and its key says where. Under feature hashing the key is the bucket.
//!
//! Keys and hash are part of the model file: changing them changes every model.

/// Longest term that fits inside its key.
pub const INLINE: usize = 15;
/// Stands before character n-grams that are counted beside words, so that `~the` is not the word `the`.
pub const MARK: u8 = b'~';
const BUCKET: u64 = 0xFE;
const BESIDE: u64 = 1 << 8; // of a bucket that stands beside words
const LONG: u64 = 0xFF;

// Digits of π. Neither can be matched by a key (the bytes of `A` are no UTF-8, the last byte of
// `B` is no tag), so neither factor of the product in `fold` is ever zero.
const A: u64 = 0x243F_6A88_85A3_08D3;
const B: u64 = 0x1319_8A2E_0370_7344;

/// A term of fixed size; the highest byte of `hi` says which kind.
///
/// | kind   | `lo`              | `hi`, from the lowest byte           |
/// |--------|-------------------|--------------------------------------|
/// | inline | bytes 0 to 7      | bytes 8 to 14, length 1 to 15        |
/// | bucket | bucket number     | number of bits, 1 beside words, `0xFE` |
/// | long   | offset in arena   | length (4 bytes), hash (3), `0xFF`   |
///
/// The zero key is no term: tables use it for an empty slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Key {
    /// See the table.
    pub lo: u64,
    /// See the table.
    pub hi: u64,
}

/// A term of a document: its key, whose long form points into the document's own text, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// The key.
    pub key: Key,
    /// [`Key::hash`] of it.
    pub hash: u64,
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The bytes of `MASKS[n]` keep the first n of 16.
pub(crate) const MASKS: [u128; 16] = {
    let mut masks = [0u128; 16];
    let mut n = 1;
    while n < 16 {
        masks[n] = (1u128 << (8 * n)) - 1;
        n += 1;
    }
    masks
};

impl Term {
    /// The term at `text[start..start + length]`, `length` at least 1.
    ///
    /// `text` should be padded by 16 bytes for speed; it need not be.
    #[inline(always)] // a call returns through memory, and reading that back stalls every token
    #[must_use]
    pub fn of(text: &[u8], start: usize, length: usize) -> Self {
        if length <= INLINE {
            Self::inline(load(text, start, length), length)
        } else {
            let hash = hash_long(&text[start..start + length]);
            let (lo, hi) = (start as u64, LONG << 56 | (hash & 0xFF_FFFF) << 32 | length as u64);
            Self { key: Key { lo, hi }, hash }
        }
    }

    /// The term of one `mark` and the bytes at `text[start..start + length]`; a long one goes behind the text.
    #[inline(always)]
    #[must_use]
    pub fn marked(text: &mut Vec<u8>, start: usize, length: usize, mark: u8) -> Self {
        if length < INLINE {
            let bytes = load(text, start, length) << 8 | u128::from(mark);
            return Self::inline(bytes, length + 1);
        }
        let from = text.len();
        text.push(mark);
        text.extend_from_within(start..start + length);
        Self::of(text, from, length + 1)
    }

    /// The term of some words of the text, `INLINE` bytes in all at most, with a space between them.
    #[inline(always)]
    #[must_use]
    pub fn joined(text: &[u8], words: &[(usize, usize)]) -> Self {
        let (mut bytes, mut length) = (0, 0);
        for (start, end) in words {
            if length > 0 {
                bytes |= u128::from(b' ') << (8 * length);
                length += 1;
            }
            bytes |= load(text, *start, end - start) << (8 * length);
            length += end - start;
        }
        Self::inline(bytes, length)
    }

    #[inline(always)]
    fn inline(bytes: u128, length: usize) -> Self {
        let (lo, hi) = (bytes as u64, (bytes >> 64) as u64 | (length as u64) << 56);
        Self { key: Key { lo, hi }, hash: fold(lo ^ A, hi ^ B) }
    }

    /// The term that stands for bucket `number` of `2^bits`.
    #[inline]
    #[must_use]
    pub fn bucket(number: u32, bits: u32) -> Self {
        let key = Key { lo: u64::from(number), hi: BUCKET << 56 | u64::from(bits) };
        Self { key, hash: key.lo << (64 - bits) }
    }

    /// The same in a vocabulary that has words too, none of which has a space: its name is `# number`.
    #[inline]
    #[must_use]
    pub fn bucket_beside_words(number: u32, bits: u32) -> Self {
        let Self { key, hash } = Self::bucket(number, bits);
        Self { key: Key { hi: key.hi | BESIDE, ..key }, hash }
    }
}

/// `length` bytes of a text, at most `INLINE`, and zeros.
#[inline(always)]
fn load(text: &[u8], start: usize, length: usize) -> u128 {
    match text.get(start..start + 16) {
        Some(chunk) => short_or_full(chunk) & MASKS[length & 15],
        None => short_load(&text[start..start + length]),
    }
}

#[cold]
fn short_load(bytes: &[u8]) -> u128 {
    let mut chunk = [0; 16];
    chunk[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(chunk)
}

/// A hash of a text, the same on every machine.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    hash_long(bytes)
}

#[inline(never)]
fn hash_long(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    for chunk in bytes.chunks(16) {
        let word = short_or_full(chunk);
        let (lo, hi) = (word as u64, (word >> 64) as u64);
        // The sum keeps distinct chunks apart even where a crafted `lo` makes the product zero.
        hash = fold(lo ^ A ^ hash, hi ^ B ^ hash.rotate_left(32)) ^ lo.wrapping_add(hi.rotate_left(32));
    }
    fold(hash ^ A, B)
}

#[inline(always)]
fn short_or_full(chunk: &[u8]) -> u128 {
    match chunk.first_chunk::<16>() {
        Some(full) => u128::from_le_bytes(*full),
        None => short_load(chunk),
    }
}

impl Key {
    fn tag(self) -> u64 {
        self.hi >> 56
    }

    /// Under feature hashing the number of bits, from 1 to 31.
    #[must_use]
    pub fn bucket_bits(self) -> Option<u32> {
        let bits = self.hi as u32 & 63;
        (self.tag() == BUCKET && (1..32).contains(&bits)).then_some(bits)
    }

    /// The number of a bucket, if this is one.
    #[inline]
    #[must_use]
    pub fn bucket(self) -> Option<u32> {
        (self.tag() == BUCKET).then_some(self.lo as u32)
    }

    /// Whether the bytes of the term are in an arena.
    #[inline]
    #[must_use]
    pub fn is_long(self) -> bool {
        self.tag() == LONG
    }

    /// Whether this is a term, its bytes inside `arena` if it is a long one.
    #[must_use]
    pub fn is_within(self, arena: &[u8]) -> bool {
        self.hi != 0
            && (!self.is_long() || self.arena_range().is_some_and(|range| arena.get(range).is_some()))
    }

    /// Where in its arena a long term stands; nothing for the other kinds.
    #[must_use]
    pub fn arena_range(self) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(self.lo).ok()?;
        self.is_long().then_some(start..start.checked_add(self.hi as u32 as usize)?)
    }

    /// The hash of the term, whose long form stands in `arena`; 0 if the key points outside it.
    #[inline]
    #[must_use]
    pub fn hash(self, arena: &[u8]) -> u64 {
        match self.tag() {
            BUCKET => self.lo.checked_shl(64 - (self.hi as u32 & 63)).unwrap_or(0),
            LONG => self.arena_range().and_then(|range| arena.get(range)).map_or(0, hash_long),
            _ => fold(self.lo ^ A, self.hi ^ B),
        }
    }

    /// Whether two terms are the same, each with the bytes its long form points into.
    #[inline(always)] // see `Term::of`
    #[must_use]
    pub fn same(self, arena: &[u8], other: Self, other_arena: &[u8]) -> bool {
        self.hi == other.hi
            && if self.is_long() { self.same_long(arena, other, other_arena) } else { self.lo == other.lo }
    }

    #[inline(never)]
    fn same_long(self, arena: &[u8], other: Self, other_arena: &[u8]) -> bool {
        let mine = self.arena_range().and_then(|range| arena.get(range));
        let theirs = other.arena_range().and_then(|range| other_arena.get(range));
        mine.is_some() && mine == theirs
    }

    /// The order of terms with equal hashes, so that every vocabulary has one order only.
    #[must_use]
    pub fn order(self, arena: &[u8], other: Self, other_arena: &[u8]) -> std::cmp::Ordering {
        self.bytes(arena).cmp(&other.bytes(other_arena))
    }

    /// The bytes of a word; for a bucket `#number`, beside words `# number`. Empty if a long key points outside `arena`.
    #[must_use]
    pub fn bytes(self, arena: &[u8]) -> Vec<u8> {
        match self.tag() {
            BUCKET => {
                let space = if self.hi & BESIDE == 0 { "" } else { " " };
                format!("#{space}{}", self.lo).into_bytes()
            }
            LONG => {
                self.arena_range().and_then(|range| arena.get(range)).map_or_else(Vec::new, <[u8]>::to_vec)
            }
            length => {
                let mut bytes = self.lo.to_le_bytes().to_vec();
                bytes.extend_from_slice(&self.hi.to_le_bytes());
                bytes.truncate((length as usize).min(INLINE));
                bytes
            }
        }
    }

    /// Append the bytes of a word.
    pub fn append(self, arena: &[u8], out: &mut Vec<u8>) {
        match self.tag() {
            BUCKET | LONG => out.extend(self.bytes(arena)),
            length => {
                let bytes = (u128::from(self.lo) | u128::from(self.hi) << 64).to_le_bytes();
                out.extend_from_slice(&bytes[..(length as usize).min(INLINE)]);
            }
        }
    }

    /// Whether this is a term of characters beside words: see [`MARK`].
    #[must_use]
    pub fn is_marked(self, arena: &[u8]) -> bool {
        match self.tag() {
            BUCKET => false,
            LONG => self.arena_range().and_then(|range| arena.get(range)?.first()) == Some(&MARK),
            _ => self.lo as u8 == MARK,
        }
    }

    /// The same term with its long bytes moved to the end of `to`.
    #[inline(always)]
    #[must_use]
    pub fn moved(self, from: &[u8], to: &mut Vec<u8>) -> Self {
        if self.is_long() { self.moved_long(from, to) } else { self }
    }

    #[inline(never)]
    fn moved_long(self, from: &[u8], to: &mut Vec<u8>) -> Self {
        match self.arena_range().and_then(|range| from.get(range)) {
            Some(bytes) => {
                let lo = to.len() as u64;
                to.extend_from_slice(bytes);
                Self { lo, ..self }
            }
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_gives_its_bytes_back_whatever_its_length() {
        let text = "abcdefghijklmnopqrstuvwxyz".as_bytes();
        for length in 1..=text.len() {
            let term = Term::of(text, 0, length);
            assert_eq!(term.key.bytes(text), &text[..length]);
            assert_eq!(term.key.hash(text), term.hash);
            assert_eq!(term.key.is_long(), length > INLINE);
        }
    }

    /// Pinned: the order of every stored vocabulary depends on these.
    #[test]
    fn hashes_are_part_of_the_file_format() {
        let text = b"free pneumonoultramicroscopic";
        assert_eq!(Term::of(text, 0, 4).hash, 0xf7f0_4274_cad8_876f);
        assert_eq!(Term::of(text, 5, 24).hash, 0x7dfe_80bf_66e8_c98c);
        assert_eq!(Term::bucket(5, 20).hash, 5 << 44);
    }

    #[test]
    fn a_trailing_nul_makes_another_term() {
        assert_ne!(Term::of(b"a\0", 0, 1).key, Term::of(b"a\0", 0, 2).key);
    }
}
