//! Which stretches of a text are tokens, by the full Unicode rules.
//!
//! [`crate::scan`] has found the tokens of ASCII text. In other text it finds stretches whose ends
//! are token ends under any rule; those that hold more than ASCII are cut up here.

use unicode_general_category::{GeneralCategory as G, get_general_category};
use unicode_segmentation::UnicodeSegmentation;

use crate::scan::{Edges, Runs, scan};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Words after Unicode Standard Annex #29 that hold a letter or digit.
    Words,
    /// Stretches between white space, as Python's `str.split`.
    Whitespace,
    /// scikit-learn's `(?u)\b\w\w+\b`: two or more of `\w`.
    Sklearn,
}

impl Unit {
    /// The runs of bytes that the tokens of a text are made of.
    #[must_use]
    pub fn runs(self) -> Runs {
        match self {
            Self::Words => Runs::JoinedWord,
            Self::Whitespace => Runs::NotSpace,
            Self::Sklearn => Runs::Word,
        }
    }

    /// Reduce the runs of an ASCII text to its tokens.
    pub fn tokens_of_ascii(self, text: &[u8], edges: &mut Edges) {
        match self {
            Self::Words if memchr::memchr(b'_', text).is_some() => {
                edges.retain(|start, end| has_alphanumeric(&text[start..end]));
            }
            Self::Sklearn => edges.retain(|start, end| end - start >= 2),
            _ => {}
        }
    }

    /// Find the tokens of any text, whose bytes are copied to `out`.
    pub fn tokens(self, text: &str, out: &mut Vec<u8>, edges: &mut Edges) {
        let ascii = scan(self.runs(), false, text.as_bytes(), out, edges);
        if ascii {
            return self.tokens_of_ascii(out, edges);
        }
        if self == Self::Words && text.contains('\u{200D}') {
            // A joiner can glue ASCII punctuation to what follows (WB3c): no stretches.
            edges.clear();
            return push_words(text, 0, edges);
        }
        let stretches: Vec<(usize, usize)> = edges.pairs().collect();
        edges.clear();
        for (start, end) in stretches {
            let stretch = &text[start..end];
            match self {
                Self::Words if stretch.is_ascii() => {
                    if has_alphanumeric(stretch.as_bytes()) {
                        edges.push(start, end);
                    }
                }
                Self::Words => push_words(stretch, start, edges),
                Self::Whitespace => push_runs(stretch, start, |c| !is_space(c), 1, edges),
                Self::Sklearn => push_runs(stretch, start, is_word, 2, edges),
            }
        }
    }
}

/// White space as Python's `str.isspace`: Unicode's, and the four ASCII separators.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1C'..='\x1F').contains(&c)
}

/// `\w` of Python's `re`: a letter or number of any script, or the underscore.
///
/// Marks are not `\w` there, which cuts Hindi words apart: the reason [`Unit::Words`] exists.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(
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

/// Underscores alone are no word.
fn has_alphanumeric(token: &[u8]) -> bool {
    token[0] != b'_' || token.iter().any(u8::is_ascii_alphanumeric)
}

/// The words of a stretch that begins at byte `at` of the text.
fn push_words(stretch: &str, at: usize, edges: &mut Edges) {
    if is_one_word(stretch) {
        return edges.push(at, at + stretch.len());
    }
    for (offset, word) in stretch.unicode_word_indices() {
        edges.push(at + offset, at + offset + word.len());
    }
}

/// Letters of alphabets in which a run of letters is always one word; most text ends here.
fn is_one_word(stretch: &str) -> bool {
    !stretch.is_empty()
        && stretch.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(c, '\u{C0}'..='\u{24F}' | '\u{400}'..='\u{481}' | '\u{48A}'..='\u{52F}')
                    && !matches!(c, '\u{D7}' | '\u{F7}')
        })
}

/// Runs of at least `least` characters that belong, in a stretch at byte `at` of the text.
fn push_runs(stretch: &str, at: usize, belongs: impl Fn(char) -> bool, least: usize, edges: &mut Edges) {
    let mut start = 0;
    let mut length = 0;
    for (offset, c) in stretch.char_indices() {
        if belongs(c) {
            if length == 0 {
                start = offset;
            }
            length += 1;
        } else {
            if length >= least {
                edges.push(at + start, at + offset);
            }
            length = 0;
        }
    }
    if length >= least {
        edges.push(at + start, at + stretch.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(unit: Unit, text: &str) -> Vec<&str> {
        let mut edges = Edges::default();
        unit.tokens(text, &mut Vec::new(), &mut edges);
        edges.pairs().map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn words_are_what_a_reader_would_call_words() {
        let english = tokens(Unit::Words, "I can't pay £1,000.50 _now_ -- ok?");
        assert_eq!(english, ["I", "can't", "pay", "1,000.50", "_now_", "ok"]);
        assert_eq!(tokens(Unit::Words, "नमस्ते दुनिया"), ["नमस्ते", "दुनिया"]);
        assert_eq!(tokens(Unit::Words, "l’été à 5 h"), ["l’été", "à", "5", "h"]);
        assert_eq!(tokens(Unit::Words, "___ ... ''"), [] as [&str; 0]);
    }

    #[test]
    fn the_sklearn_pattern_wants_two_word_characters() {
        assert_eq!(tokens(Unit::Sklearn, "I can't é éa _ __ 5 55"), ["can", "éa", "__", "55"]);
        assert_eq!(tokens(Unit::Sklearn, "I can't _ __ 5 55"), ["can", "__", "55"]);
    }

    #[test]
    fn white_space_is_that_of_python() {
        let text = " a\u{a0}b\x1cc\u{2028}d\u{200b}e\0 ";
        assert_eq!(tokens(Unit::Whitespace, text), ["a", "b", "c", "d\u{200b}e\0"]);
        assert_eq!(tokens(Unit::Whitespace, " a\x1cc\u{b}e\0\n"), ["a", "c", "e\0"]);
    }

    /// The fast paths against the annex, on a long walk through awkward characters.
    #[test]
    fn words_equal_the_annex_on_awkward_text() {
        let alphabet =
            "ab1_.':;,\"-(< \n\0éЖиאב״’·\u{301}\u{ad}\u{200d}\u{200b}ℹ🇬🇧😀カー字न्一٣Σ\u{338}\u{fe0f}";
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 1u64;
        for round in 0..60_000 {
            let next = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                alphabet[(state >> 33) as usize % alphabet.len()]
            };
            let text: String =
                (0..round % 150).map(next).filter(|c| round % 3 != 0 || c.is_ascii()).collect();
            assert_eq!(tokens(Unit::Words, &text), text.unicode_words().collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn letters_said_to_form_one_word_do() {
        for c in ('\u{C0}'..='\u{52F}').filter(|c| is_one_word(&c.to_string())) {
            let text = format!("a{c}{c}1");
            assert_eq!(text.unicode_words().collect::<Vec<_>>(), [text.as_str()]);
        }
    }
}
