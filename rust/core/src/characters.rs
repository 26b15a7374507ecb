//! What the tokeniser knows of every character, as plain tables for programs in other languages.
//!
//! Nothing here is written down twice: the tables are what [`crate::prepare`] and [`crate::tokenise`] do to each
//! character, found by trying. Characters that behave alike are in one class.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, compose};
use unicode_segmentation::UnicodeSegmentation;

use crate::letters::is_word;
use crate::tokenise::is_space;

/// The classes of characters that rules of word boundaries know, by an example of each; the first stands for all
/// characters that no rule names.
pub const CLASSES: [(&str, char); 17] = [
    ("other", '!'),
    ("carriage return", '\r'),
    ("line feed", '\n'),
    ("newline", '\u{85}'),
    ("extend", '\u{301}'),
    ("joiner", '\u{200D}'),
    ("regional", '🇬'),
    ("katakana", 'カ'),
    ("hebrew", 'א'),
    ("letter", 'a'),
    ("single quote", '\''),
    ("double quote", '"'),
    ("middle of both", '.'),
    ("middle of letters", ':'),
    ("middle of numbers", ','),
    ("numeric", '1'),
    ("connector", '_'),
];
/// The class of blanks that stay together, behind those of [`CLASSES`].
pub const SPACE_CLASS: u16 = 17;

/// Flags of a character beside its class, which is in the lowest five bits.
pub const PICTURE: u16 = 1 << 5;
/// A letter or digit: what has one is a word.
pub const ALPHANUMERIC: u16 = 1 << 6;
/// Makes a sigma behind it a final one.
pub const CASED: u16 = 1 << 7;
/// Is passed over where a final sigma is looked for.
pub const IGNORED: u16 = 1 << 8;
/// `\w`.
pub const WORD: u16 = 1 << 9;
/// White space.
pub const SPACE: u16 = 1 << 10;

/// Characters from the first to the last that have the same number.
pub type Range = (u32, u32, u16);
/// A character, and those that stand for it.
pub type Mapping = (u32, Vec<u32>);

/// The tables.
#[derive(Debug, Default)]
pub struct Characters {
    /// Class and flags, where there are any.
    pub kinds: Vec<Range>,
    /// Canonical combining classes other than 0.
    pub combining: Vec<Range>,
    /// Lower case, where it is another.
    pub lower: Vec<Mapping>,
    /// Full canonical decompositions, without those of Hangul syllables.
    pub canonical: Vec<Mapping>,
    /// Full compatibility decompositions, where they are other ones.
    pub compatible: Vec<Mapping>,
    /// Two characters and the one that they compose to, without Hangul.
    pub composed: Vec<(u32, u32, u32)>,
}

/// The tables of all characters.
#[must_use]
pub fn characters() -> Characters {
    let known: Vec<(u16, u16)> =
        CLASSES.iter().map(|(_, example)| signature(*example)).chain([signature(' ')]).zip(0..).collect();
    let mut tables = Characters::default();
    for c in '\0'..=char::MAX {
        let number = u32::from(c);
        let sought = signature(c);
        let class = known.iter().find(|(own, _)| *own == sought).map_or(0, |(_, class)| *class);
        push(&mut tables.kinds, number, class | flags(c, class));
        push(&mut tables.combining, number, u16::from(canonical_combining_class(c)));
        if !c.to_lowercase().eq([c]) {
            tables.lower.push((number, numbers(c.to_lowercase())));
        }
        if !('\u{AC00}'..='\u{D7A3}').contains(&c) {
            push_forms(&mut tables, c);
        }
    }
    tables
}

fn numbers(characters: impl Iterator<Item = char>) -> Vec<u32> {
    characters.map(u32::from).collect()
}

/// Lengthen the last range, or begin another; there is none of zero.
fn push(ranges: &mut Vec<Range>, number: u32, value: u16) {
    match ranges.last_mut() {
        _ if value == 0 => {}
        Some((_, last, same)) if *same == value && *last + 1 == number => *last = number,
        _ => ranges.push((number, number, value)),
    }
}

fn push_forms(tables: &mut Characters, c: char) {
    let canonical: Vec<char> = [c].into_iter().nfd().collect();
    if canonical != [c] {
        tables.canonical.push((u32::from(c), numbers(canonical.iter().copied())));
        let (last, first) = canonical.split_last().unwrap_or((&c, &[]));
        let mut whole = first.iter().copied().nfc();
        if let (Some(first), None) = (whole.next(), whole.next())
            && compose(first, *last) == Some(c)
        {
            tables.composed.push((u32::from(first), u32::from(*last), u32::from(c)));
        }
    }
    let compatible: Vec<char> = [c].into_iter().nfkd().collect();
    if compatible != canonical {
        tables.compatible.push((u32::from(c), numbers(compatible.into_iter())));
    }
}

/// Where boundaries are among characters that every class treats differently: a bit for each that is not there.
fn signature(c: char) -> u16 {
    let around: [(&str, &str); 16] = [
        ("a", "a"),
        ("1", "1"),
        ("א", "א"),
        ("カ", ""),
        ("_", ""),
        (" ", ""),
        ("\r", ""),
        ("", "\u{301}"),
        ("", "\n"),
        ("🇬", ""),
        ("a", ""),
        ("a:", ""),
        ("1,", ""),
        ("א\"", ""),
        ("א", ""),
        ("\u{200D}", "😀"),
    ];
    let mut text = String::with_capacity(16);
    around.iter().enumerate().fold(0, |bits, (place, (before, behind))| {
        text.clear();
        text.push_str(before);
        text.push(c);
        text.push_str(behind);
        bits | u16::from(text.split_word_bounds().nth(1).is_none()) << place
    })
}

fn flags(c: char, class: u16) -> u16 {
    let flag = |is: bool, flag: u16| if is { flag } else { 0 };
    let is_final = |before: &str| format!("{before}{c}Σ").to_lowercase().ends_with('ς');
    let is_cased = is_final("");
    // A picture is not cut from a joiner before it; marks are cut from nothing.
    let is_picture = class != 4 && class != 5 && format!(" \u{200D}{c}").split_word_bounds().nth(1).is_none();
    flag(is_picture, PICTURE)
        | flag(c.to_string().unicode_words().next().is_some(), ALPHANUMERIC)
        | flag(is_cased, CASED)
        | flag(!is_cased && is_final("a"), IGNORED)
        | flag(is_word(c), WORD)
        | flag(is_space(c), SPACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_told_from_every_other() {
        let mut all: Vec<u16> = CLASSES.iter().map(|(_, c)| signature(*c)).chain([signature(' ')]).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), CLASSES.len() + 1);
    }

    /// What is not like any example would be taken for a sign that no rule names.
    #[test]
    fn every_character_is_like_an_example() {
        let known: Vec<u16> = CLASSES.iter().map(|(_, c)| signature(*c)).chain([signature(' ')]).collect();
        for c in ('\0'..='\u{3FFFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            assert!(known.contains(&signature(c)), "{c:?} {:b}", signature(c));
        }
    }

    #[test]
    fn tables_know_the_hard_letters() {
        let tables = characters();
        assert!(tables.lower.contains(&(0x130, vec![0x69, 0x307])));
        assert!(tables.canonical.contains(&(0xE9, vec![0x65, 0x301])));
        assert!(tables.composed.contains(&(0x65, 0x301, 0xE9)));
        assert!(tables.composed.iter().all(|(.., c)| *c != 0x958)); // excluded from composition
        assert!(tables.compatible.contains(&(0xFB01, vec![0x66, 0x69])));
    }
}
