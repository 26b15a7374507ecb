//! What is known of a character, found once and looked up ever after.
//!
//! The rules are those of the Unicode crates; asking them for every character of every text would
//! cost more than all else. A table is filled block by block as text needs it.

use std::sync::OnceLock;

use unicode_general_category::{GeneralCategory as G, get_general_category};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// Composing (NFC) may change the character, its neighbours, or its place among marks.
pub const COMPOSES: u16 = 1;
/// Lower-casing changes the character.
pub const LOWERS: u16 = 2;
/// A run of such characters is one word after UAX #29, in any order.
pub const LETTER: u16 = 4;
/// Belongs to the word of the letter before it.
pub const FOLLOWS: u16 = 8;
/// `\w` of Python's `re`: a letter or number of any script, or the underscore.
///
/// Marks are not `\w` there, which cuts Hindi words apart: the reason why the annex is the default.
pub const WORD: u16 = 16;

/// A word by itself after UAX #29, whatever stands beside it but marks: an ideograph, a letter of Thai.
pub const ALONE: u16 = 32;
/// Never part of a word, whatever stands beside it but marks: a bracket, an ideographic full stop.
pub const APART: u16 = 64;
/// A run of such characters is one word, if no letter, mark or underscore is beside it.
pub const KATAKANA: u16 = 128;
/// Belongs to the character before it, whatever that is: an accent, a vowel sign, a joiner.
pub const MARK: u16 = 256;

const BLOCK: usize = 256;
static BLOCKS: [OnceLock<[u16; BLOCK]>; 0x11_0000 / BLOCK] = [const { OnceLock::new() }; 0x11_0000 / BLOCK];

/// What is known of a character: a sum of the constants above.
#[inline]
#[must_use]
pub fn about(c: char) -> u16 {
    let at = c as usize;
    BLOCKS[at / BLOCK].get_or_init(|| learned_block(at / BLOCK))[at % BLOCK]
}

#[cold]
fn learned_block(number: usize) -> [u16; BLOCK] {
    let character = |i: usize| char::from_u32((number * BLOCK + i) as u32);
    std::array::from_fn(|i| character(i).map_or(0, learned))
}

fn learned(c: char) -> u16 {
    let flag = |is: bool, flag: u16| if is { flag } else { 0 };
    let text = Short::of(&[c]);
    let composes = is_nfc_quick(text.get().chars()) != IsNormalized::Yes || canonical_combining_class(c) != 0;
    let lowers = !c.to_lowercase().eq([c]);
    let are_words = |texts: &[&[char]]| texts.iter().all(|text| Short::of(text).is_one_word());
    let follows = are_words(&[&['a', c], &['1', c], &['a', c, 'a'], &['1', c, '1'], &['a', c, c, '1']]);
    let leads = || are_words(&[&[c], &[c, c], &[c, 'a'], &[c, '1']]);
    let breaks = !follows && is_apart(c);
    let runs = || are_words(&[&[c, c], &['カ', c], &[c, 'カ'], &['カ', c, 'カ']]);
    flag(composes, COMPOSES)
        | flag(lowers, LOWERS)
        | flag(follows && leads(), LETTER)
        | flag(follows, FOLLOWS)
        | flag(is_word(c), WORD)
        | flag(breaks && c.is_alphanumeric() && Short::of(&[c, c]).bounds().count() == 2, ALONE)
        | flag(breaks && !c.is_alphanumeric(), APART)
        | flag(!follows && !breaks && runs(), KATAKANA)
        | flag(follows && Short::of(&['字', c]).bounds().count() == 1, MARK)
}

/// Whether words end before a character and begin behind it, in any surroundings but marks.
fn is_apart(c: char) -> bool {
    let kinds = ['a', '1', '_', 'カ', 'א'];
    kinds.iter().all(|x| {
        let text = Short::of(&[*x, c, *x]);
        let places = [x.len_utf8(), x.len_utf8() + c.len_utf8()];
        text.bounds().skip(1).map(|(at, _)| at).eq(places)
    })
}

/// A text of a few characters that takes no memory elsewhere.
struct Short {
    bytes: [u8; 16],
    length: usize,
}

impl Short {
    fn of(characters: &[char]) -> Self {
        let (mut bytes, mut length) = ([0; 16], 0);
        for c in characters {
            length += c.encode_utf8(&mut bytes[length..]).len();
        }
        Self { bytes, length }
    }

    fn get(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    fn bounds(&self) -> impl Iterator<Item = (usize, &str)> {
        self.get().split_word_bound_indices()
    }

    fn is_one_word(&self) -> bool {
        self.get().unicode_words().eq([self.get()])
    }
}

/// Whether a character is `\w` of Python's `re`; see [`WORD`].
#[must_use]
pub fn is_word(c: char) -> bool {
    c == '_'
        || matches!(
            get_general_category(c),
            G::UppercaseLetter
                | G::LowercaseLetter
                | G::TitlecaseLetter
                | G::ModifierLetter
                | G::OtherLetter
                | G::DecimalNumber
                | G::LetterNumber
                | G::OtherNumber
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_marks_and_ideographs_are_told_apart() {
        for (c, expected) in [
            ('a', LETTER | FOLLOWS | WORD),
            ('É', LOWERS | LETTER | FOLLOWS | WORD),
            ('ж', LETTER | FOLLOWS | WORD),
            ('न', LETTER | FOLLOWS | WORD),
            ('\u{94D}', COMPOSES | FOLLOWS | MARK), // virama
            ('\u{93F}', FOLLOWS | MARK),            // a vowel sign
            ('\u{301}', COMPOSES | FOLLOWS | MARK),
            ('字', WORD | ALONE),
            ('ก', WORD | ALONE),
            ('カ', WORD | KATAKANA),
            ('。', APART),
            ('’', 0),
            ('.', 0),
            ('_', FOLLOWS | WORD),
            ('😀', APART),
            ('\u{20000}', WORD | ALONE),
        ] {
            assert_eq!(about(c), expected, "{c:?}");
        }
    }
}
