//! What is known of a character, found once and looked up ever after.
//!
//! The rules are those of the Unicode crates; asking them for every character of every text would
//! cost more than all else. A table of the basic plane is filled block by block as text needs it.

use std::sync::OnceLock;

use unicode_general_category::{GeneralCategory as G, get_general_category};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// Composing (NFC) may change the character, its neighbours, or its place among marks.
pub const COMPOSES: u8 = 1;
/// Lower-casing changes the character.
pub const LOWERS: u8 = 2;
/// A run of such characters is one word after UAX #29, in any order.
pub const LETTER: u8 = 4;
/// Belongs to the word of the letter before it.
pub const FOLLOWS: u8 = 8;
/// `\w` of Python's `re`: a letter or number of any script, or the underscore.
///
/// Marks are not `\w` there, which cuts Hindi words apart: the reason why the annex is the default.
pub const WORD: u8 = 16;

const BLOCK: usize = 256;
static BLOCKS: [OnceLock<[u8; BLOCK]>; 256] = [const { OnceLock::new() }; 256];

/// What is known of a character: a sum of the constants above.
#[inline]
#[must_use]
pub fn about(c: char) -> u8 {
    let at = c as usize;
    match BLOCKS.get(at / BLOCK) {
        Some(block) => block.get_or_init(|| learned_block(at / BLOCK))[at % BLOCK],
        None => learned(c),
    }
}

#[cold]
fn learned_block(number: usize) -> [u8; BLOCK] {
    let character = |i: usize| char::from_u32((number * BLOCK + i) as u32);
    std::array::from_fn(|i| character(i).map_or(0, learned))
}

fn learned(c: char) -> u8 {
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    let is_one_word = |text: &str| text.unicode_words().eq([text]);
    let mut buffer = [0; 4];
    let text = c.encode_utf8(&mut buffer);
    let composes = is_nfc_quick(text.chars()) != IsNormalized::Yes || canonical_combining_class(c) != 0;
    let lowers = !c.to_lowercase().eq([c]);
    let follows = [format!("a{c}"), format!("1{c}"), format!("a{c}a"), format!("1{c}1"), format!("a{c}{c}1")]
        .iter()
        .all(|word| is_one_word(word));
    let leads = [format!("{c}"), format!("{c}{c}"), format!("{c}a"), format!("{c}1")]
        .iter()
        .all(|word| is_one_word(word));
    flag(composes, COMPOSES)
        | flag(lowers, LOWERS)
        | flag(follows && leads, LETTER)
        | flag(follows, FOLLOWS)
        | flag(is_word(c), WORD)
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
            ('\u{94D}', COMPOSES | FOLLOWS), // virama
            ('\u{93F}', FOLLOWS),            // a vowel sign
            ('\u{301}', COMPOSES | FOLLOWS),
            ('字', WORD),
            ('’', 0),
            ('_', FOLLOWS | WORD),
            ('😀', 0),
        ] {
            assert_eq!(about(c), expected, "{c:?}");
        }
    }
}
