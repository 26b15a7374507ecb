//! The features of a fastText classifier: words by name, and in numbered buckets what is hashed, which is runs of
//! letters and runs of words.
//!
//! The hash is that of fastText's files, so that their weights are found again: FNV-1a over bytes that count as signed.

use crate::analyse::{PADDING, push_terms};
use crate::error::Error;
use crate::key::Term;
use crate::processor::at_its_best;
use crate::scan::{Edges, Runs, scan};
use crate::scratch::Scratch;
use crate::vocabulary::Words;

/// The word that ends every text; nothing behind it is read.
const END: &[u8] = b"</s>";
/// What a token begins with that is a label, known or not, and no word.
const LABEL: &[u8] = b"__label__";
/// Most buckets: the file has their number as 32 bits with a sign.
pub const MOST_BUCKETS: u32 = i32::MAX as u32;

/// How features are found: by runs of how many words and letters, in how many buckets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FastText<'a> {
    pub buckets: u32,
    pub ngrams: (usize, usize),
    pub characters: Option<(usize, usize)>,
    pub left_out: Option<&'a Words>,
}

impl FastText<'_> {
    /// Put the terms of `text` into `scratch`: its words, then runs of letters, then runs of words.
    pub fn analyse(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        self.read(text, row, scratch)?;
        let Scratch { terms, buckets, .. } = scratch;
        let bits = bits_of(self.buckets);
        terms.extend(buckets.iter().map(|bucket| Term::bucket_beside_words(*bucket, bits)));
        Ok(())
    }

    /// Put the words of `text` into `scratch` as terms, and its buckets, of runs of letters before those of words, as
    /// numbers.
    pub fn read(&self, text: &str, row: usize, scratch: &mut Scratch) -> Result<(), Error> {
        self.cut(text.as_bytes(), scratch);
        let sizes = self.ngrams.1 + 1 - self.ngrams.0;
        scratch.must_hold(scratch.edges.pairs().len(), sizes, row)?;
        let Scratch { text: bytes, edges, terms, buckets, .. } = scratch;
        terms.clear();
        buckets.clear();
        if self.ngrams.0 == 1 {
            push_terms(bytes, edges, terms);
        }
        if self.buckets == 0 {
            return Ok(());
        }
        if let Some(characters) = self.characters {
            scratch.must_hold_characters(&scratch.text, characters.1 + 1 - characters.0, row)?;
            self.push_letters(scratch, characters);
        }
        if self.ngrams.1 > 1 {
            let Scratch { text: bytes, edges, hashes, buckets, .. } = scratch;
            hash_tokens(bytes, edges, hashes);
            push_runs(hashes, self.ngrams, Divisor::new(self.buckets), buckets);
        }
        Ok(())
    }

    /// The tokens of a text that are words, up to the one that ends it.
    fn cut(&self, text: &[u8], scratch: &mut Scratch) {
        let Scratch { text: bytes, edges, .. } = scratch;
        scan(Runs::FastText, false, text, bytes, edges);
        let mut is_over = false;
        edges.retain(|start, end| {
            let token = &bytes[start..end];
            is_over |= token == END;
            !is_over && !token.starts_with(LABEL) && !self.leaves_out(bytes, start, end)
        });
        let last = bytes.len();
        edges.push(last, last + END.len());
        bytes.extend_from_slice(END);
        bytes.extend_from_slice(&PADDING);
    }

    fn leaves_out(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let is_one = |words: &Words| words.view().find(Term::of(bytes, start, end - start), bytes).is_some();
        self.left_out.is_some_and(is_one)
    }

    /// The buckets of runs of letters of each word between `<` and `>`, neither of which is a run by itself.
    fn push_letters(&self, scratch: &mut Scratch, (shortest, longest): (usize, usize)) {
        let Scratch { text, edges, buckets, .. } = scratch;
        let mut word = Vec::new();
        for (start, end) in edges.pairs().filter(|(start, end)| &text[*start..*end] != END) {
            word.clear();
            word.push(b'<');
            word.extend_from_slice(&text[start..end]);
            word.push(b'>');
            for from in (0..word.len()).filter(|i| begins_letter(word[*i])) {
                let (mut hash, mut to) = (BASIS, from);
                for n in 1..=longest {
                    if to == word.len() {
                        break;
                    }
                    hash = mixed(hash, word[to]);
                    to += 1;
                    while to < word.len() && !begins_letter(word[to]) {
                        hash = mixed(hash, word[to]);
                        to += 1;
                    }
                    if n >= shortest && !(n == 1 && (from == 0 || to == word.len())) {
                        buckets.push(hash % self.buckets);
                    }
                }
            }
        }
    }
}

/// Tokens that are hashed together.
const LANES: usize = 8;

at_its_best! {
    /// The hash of each token of a text with [`PADDING`] behind it: of eight at once, whose lengths nobody can guess.
    fn hash_tokens(text: &[u8], edges: &Edges, hashes: &mut Vec<u32>) {
        hashes.clear();
        hashes.reserve(edges.pairs().len() + LANES);
        let mut tokens = edges.pairs();
        while tokens.len() > 0 {
            let (mut places, mut words, mut lengths) = ([(0, 0); LANES], [[0u32; LANES]; 4], [0u32; LANES]);
            let n = tokens.len().min(LANES);
            for (lane, (start, end)) in tokens.by_ref().take(n).enumerate() {
                places[lane] = (start, end);
                lengths[lane] = (end - start) as u32;
                let chunk = text.get(start..start + 16).and_then(|chunk| chunk.first_chunk()).unwrap_or(&[0; 16]);
                let chunk = u128::from_le_bytes(*chunk);
                for (part, word) in words.iter_mut().enumerate() {
                    word[lane] = (chunk >> (32 * part)) as u32;
                }
            }
            let longest = lengths.iter().fold(0, |most, length| most.max(*length));
            let mut hash = [BASIS; LANES];
            for (part, word) in words.iter().enumerate().take_while(|(part, _)| (4 * part) < longest as usize) {
                for byte in 0..4 {
                    let at = (4 * part + byte) as u32;
                    for lane in 0..LANES {
                        let next = mixed(hash[lane], (word[lane] >> (8 * byte)) as u8);
                        hash[lane] = if at < lengths[lane] { next } else { hash[lane] };
                    }
                }
            }
            for ((start, end), hash) in places.iter().zip(&mut hash).filter(|((start, end), _)| end - start > 16) {
                *hash = text[start + 16..*end].iter().fold(*hash, |hash, byte| mixed(hash, *byte));
            }
            hashes.extend_from_slice(&hash[..n]);
        }
    }
}

at_its_best! {
    /// The buckets of runs of two words and more, by the hashes of words.
    fn push_runs(hashes: &[u32], ngrams: (usize, usize), divisor: Divisor, buckets: &mut Vec<u32>) {
        buckets.reserve(hashes.len() * (ngrams.1 - 1));
        for (i, first) in hashes.iter().enumerate() {
            let mut hash = widened(*first);
            for (n, next) in hashes[i + 1..].iter().take(ngrams.1 - 1).enumerate() {
                hash = hash.wrapping_mul(116_049_371).wrapping_add(widened(*next));
                if n + 2 >= ngrams.0 {
                    buckets.push(divisor.remainder(hash));
                }
            }
        }
    }
}

/// Remainders by one divisor, without a division for each.
#[derive(Debug, Clone, Copy)]
struct Divisor {
    by: u64,
    inverse: u64,
}

impl Divisor {
    fn new(by: u32) -> Self {
        Self { by: u64::from(by), inverse: u64::MAX / u64::from(by) }
    }

    /// The quotient is found to within two.
    #[inline(always)]
    fn remainder(self, number: u64) -> u32 {
        let quotient = (u128::from(number) * u128::from(self.inverse) >> 64) as u64;
        let rest = number - quotient * self.by;
        let rest = rest.min(rest.wrapping_sub(self.by));
        rest.min(rest.wrapping_sub(self.by)) as u32
    }
}

/// The bits that the numbers of so many buckets have, 1 at least.
#[must_use]
pub fn bits_of(buckets: u32) -> u32 {
    (32 - buckets.saturating_sub(1).leading_zeros()).max(1)
}

const BASIS: u32 = 2_166_136_261;

/// The hash with one more byte, which counts as a signed one.
#[inline(always)]
fn mixed(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as i8 as u32).wrapping_mul(16_777_619)
}

/// The hash of a word as a number of 64 bits, with its sign.
#[inline(always)]
fn widened(hash: u32) -> u64 {
    hash as i32 as u64
}

#[inline(always)]
fn begins_letter(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(reader: FastText<'_>, text: &str) -> Vec<String> {
        let mut scratch = Scratch::default();
        reader.analyse(text, 0, &mut scratch).unwrap();
        let (terms, bytes) = scratch.terms();
        terms.iter().map(|term| String::from_utf8(term.key.bytes(bytes)).unwrap()).collect()
    }

    const WORDS: FastText<'_> = FastText { buckets: 0, ngrams: (1, 1), characters: None, left_out: None };

    #[test]
    fn a_text_ends_with_its_last_word_whether_it_says_so_or_not() {
        assert_eq!(terms(WORDS, ""), ["</s>"]);
        assert_eq!(terms(WORDS, " a\u{b}B\0c\n"), ["a", "B", "c", "</s>"]);
        assert_eq!(terms(WORDS, "a </s> b"), ["a", "</s>"]);
        assert_eq!(terms(WORDS, "a\u{a0}b </s>b"), ["a\u{a0}b", "</s>b", "</s>"]);
    }

    #[test]
    fn labels_are_no_words() {
        let labels = Words::from_strings(&["x:ham"]);
        let reader = FastText { left_out: Some(&labels), ..WORDS };
        assert_eq!(terms(reader, "x:ham x:ha __label__no see __label__"), ["x:ha", "see", "</s>"]);
    }

    #[test]
    fn runs_of_words_and_letters_have_buckets() {
        let pairs = FastText { buckets: 100, ngrams: (1, 3), ..WORDS };
        assert_eq!(terms(pairs, "a b").len(), 3 + 3);
        let letters = FastText { buckets: 7, characters: Some((1, 2)), ..WORDS };
        assert_eq!(terms(letters, "aé").len(), 2 + 5); // <a a aé é é>
    }

    #[test]
    fn remainders_are_those_of_a_division() {
        let mut number = 88_172_645_463_325_252u64;
        for by in [1, 2, 3, 7, 50_000, 2_000_000, 1 << 30, MOST_BUCKETS - 1, MOST_BUCKETS] {
            let divisor = Divisor::new(by);
            for edge in [0, 1, u64::from(by) - 1, u64::from(by), u64::MAX - 1, u64::MAX] {
                assert_eq!(u64::from(divisor.remainder(edge)), edge % u64::from(by));
            }
            for _ in 0..2000 {
                number ^= number << 13;
                number ^= number >> 7;
                number ^= number << 17;
                assert_eq!(u64::from(divisor.remainder(number)), number % u64::from(by));
            }
        }
    }

    #[test]
    fn tokens_of_any_length_have_the_hash_of_their_bytes() {
        let words: Vec<String> = (1..70).map(|n| "é".repeat(n % 7) + &"xyz".repeat(n / 3 + 1)).collect();
        let text = words.join(" ");
        let (mut bytes, mut edges, mut hashes) = (Vec::new(), Edges::default(), Vec::new());
        scan(Runs::FastText, false, text.as_bytes(), &mut bytes, &mut edges);
        bytes.extend_from_slice(&PADDING);
        hash_tokens(&bytes, &edges, &mut hashes);
        let expected = words.iter().map(|word| word.bytes().fold(BASIS, mixed));
        assert_eq!(hashes, expected.collect::<Vec<u32>>());
    }

    #[test]
    fn numbers_of_buckets_have_as_many_bits_as_they_need() {
        assert_eq!([1, 2, 3, 4, 5, 2_000_000, MOST_BUCKETS].map(bits_of), [1, 1, 2, 2, 3, 21, 31]);
    }
}
