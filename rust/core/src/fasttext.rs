//! The features of a fastText classifier: words by name, and in numbered buckets what is hashed, which is runs of
//! letters and runs of words.
//!
//! The hash is that of fastText's files, so that their weights are found again: FNV-1a over bytes that count as signed.

use crate::error::Error;
use crate::key::Term;
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
        self.cut(text.as_bytes(), scratch);
        let sizes = self.ngrams.1 + 1 - self.ngrams.0;
        scratch.must_hold(scratch.edges.pairs().len(), sizes, row)?;
        let Scratch { text: bytes, edges, terms, .. } = scratch;
        if self.ngrams.0 == 1 {
            terms.extend(edges.pairs().map(|(start, end)| Term::of(bytes, start, end - start)));
        }
        if self.buckets == 0 {
            return Ok(());
        }
        if let Some(characters) = self.characters {
            scratch.must_hold_characters(&scratch.text, characters.1 + 1 - characters.0, row)?;
            self.push_letters(scratch, characters);
        }
        self.push_runs(scratch);
        Ok(())
    }

    /// The tokens of a text that are words, up to the one that ends it, and their hashes.
    fn cut(&self, text: &[u8], scratch: &mut Scratch) {
        let Scratch { text: bytes, edges, hashes, .. } = scratch;
        bytes.clear();
        bytes.reserve(text.len() + END.len() + 17);
        bytes.extend_from_slice(text);
        bytes.push(b' ');
        bytes.extend_from_slice(END);
        let last = bytes.len();
        bytes.extend_from_slice(&crate::analyse::PADDING);
        edges.clear();
        hashes.clear();
        let (mut start, mut hash) = (0, BASIS);
        for end in 0..=last {
            let byte = bytes[end]; // behind the last token stands a zero
            if !is_space(byte) {
                hash = mixed(hash, byte);
                continue;
            }
            let token = &bytes[start..end];
            if !token.is_empty() && !token.starts_with(LABEL) && !self.leaves_out(bytes, start, end) {
                edges.push(start, end);
                hashes.push(hash);
            }
            if token == END {
                break;
            }
            (start, hash) = (end + 1, BASIS);
        }
    }

    fn leaves_out(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let is_one = |words: &Words| words.view().find(Term::of(bytes, start, end - start), bytes).is_some();
        self.left_out.is_some_and(is_one)
    }

    /// The buckets of runs of letters of each word between `<` and `>`, neither of which is a run by itself.
    fn push_letters(&self, scratch: &mut Scratch, (shortest, longest): (usize, usize)) {
        let Scratch { text, edges, terms, .. } = scratch;
        let bits = bits_of(self.buckets);
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
                        terms.push(Term::bucket_beside_words(hash % self.buckets, bits));
                    }
                }
            }
        }
    }

    /// The buckets of runs of two words and more.
    fn push_runs(&self, scratch: &mut Scratch) {
        let Scratch { hashes, terms, .. } = scratch;
        let bits = bits_of(self.buckets);
        for (i, first) in hashes.iter().enumerate() {
            let mut hash = widened(*first);
            for (n, next) in hashes[i + 1..].iter().take(self.ngrams.1 - 1).enumerate() {
                hash = hash.wrapping_mul(116_049_371).wrapping_add(widened(*next));
                if n + 2 >= self.ngrams.0 {
                    terms.push(Term::bucket_beside_words((hash % u64::from(self.buckets)) as u32, bits));
                }
            }
        }
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

/// What divides tokens: six characters of white space, and zero.
#[inline(always)]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0B | 0x0C | 0)
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
    fn numbers_of_buckets_have_as_many_bits_as_they_need() {
        assert_eq!([1, 2, 3, 4, 5, 2_000_000, MOST_BUCKETS].map(bits_of), [1, 1, 2, 2, 3, 21, 31]);
    }
}
