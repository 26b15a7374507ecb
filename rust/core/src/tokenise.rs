//! Which stretches of a text are tokens, by the full Unicode rules.
//!
//! [`crate::scan`] has found the tokens of ASCII text. In other text it finds stretches whose ends
//! are token ends under any rule; those that hold more than ASCII are cut up here.

use unicode_segmentation::UnicodeSegmentation;

use crate::letters::{FOLLOWS, LETTER, WORD, about};
use crate::prepare::Preparation;
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

    /// Find the tokens of a text, prepared; they are in `out`, where `edges` says.
    pub fn tokens(self, text: &str, preparation: Preparation, out: &mut Vec<u8>, edges: &mut Edges) {
        scan(self.runs(), preparation.lower, text.as_bytes(), out, edges);
        if edges.is_ascii() {
            self.tokens_of_ascii(out, edges);
        } else {
            self.tokens_of_any(text, preparation, out, edges);
        }
    }

    /// Reduce the runs of an ASCII text to its tokens.
    #[inline(always)]
    fn tokens_of_ascii(self, text: &[u8], edges: &mut Edges) {
        match self {
            Self::Words if memchr::memchr(b'_', text).is_none() => {}
            Self::Whitespace => {}
            _ => edges.retain(|start, end| self.is_token(&text[start..end])),
        }
    }

    /// Reduce the runs of any text to its tokens. Those that preparation changes go behind the text.
    #[inline(never)]
    fn tokens_of_any(self, text: &str, preparation: Preparation, out: &mut Vec<u8>, edges: &mut Edges) {
        let runs = edges.take_runs();
        if !preparation.is_local(text) || self.has_hangers_on(text, &runs) {
            let mut prepared = String::with_capacity(text.len());
            preparation.apply(text, &mut prepared);
            scan(self.runs(), false, prepared.as_bytes(), out, edges);
            let runs = edges.take_runs();
            if self.has_hangers_on(&prepared, &runs) {
                return push_words(&prepared, 0, edges);
            }
            return runs
                .into_iter()
                .for_each(|(start, end, _)| self.cut(&prepared[start..end], start, edges));
        }
        let mut prepared = String::new();
        for (start, end, may_be_high) in runs {
            if !may_be_high {
                if self.is_token(&out[start..end]) {
                    edges.push(start, end);
                }
                continue;
            }
            let run = &text[start..end];
            if run.is_ascii() || !preparation.changes(run) {
                self.cut(run, start, edges); // its lower case is in `out`, as long as it is
                continue;
            }
            prepared.clear();
            preparation.apply(run, &mut prepared);
            self.cut(&prepared, out.len(), edges);
            out.extend_from_slice(prepared.as_bytes());
        }
    }

    /// Whether a run of ASCII is a token.
    #[inline(always)]
    fn is_token(self, run: &[u8]) -> bool {
        match self {
            Self::Words => has_alphanumeric(run),
            Self::Whitespace => true,
            Self::Sklearn => run.len() >= 2,
        }
    }

    /// Whether a run hangs on the punctuation before it, so that the annex must see the whole text:
    /// a mark that begins a run (WB4), or a joiner (`WB3c`). Rare, and mostly by mistake.
    fn has_hangers_on(self, text: &str, runs: &[(usize, usize, bool)]) -> bool {
        let hangs = |run: &str| {
            let first = run.chars().next().unwrap_or('a');
            !first.is_ascii() && about(first) & (FOLLOWS | LETTER) == FOLLOWS
        };
        self == Self::Words
            && (text.contains('\u{200D}')
                || runs.iter().any(|&(start, end, may_be_high)| may_be_high && hangs(&text[start..end])))
    }

    /// Append the tokens of a run that stands at byte `at`.
    #[inline]
    fn cut(self, run: &str, at: usize, edges: &mut Edges) {
        match self {
            _ if run.is_ascii() => {
                if self.is_token(run.as_bytes()) {
                    edges.push(at, at + run.len());
                }
            }
            Self::Words => push_words(run, at, edges),
            Self::Whitespace => push_runs(run, at, |c| !is_space(c), 1, edges),
            Self::Sklearn => push_runs(run, at, |c| about(c) & WORD != 0, 2, edges),
        }
    }
}

/// White space as Python's `str.isspace`: Unicode's, and the four ASCII separators.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1C'..='\x1F').contains(&c)
}

/// Underscores alone are no word.
#[inline(always)]
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

/// Whether a letter comes first and only what belongs to its word behind it; most text ends here.
fn is_one_word(stretch: &str) -> bool {
    let mut characters = stretch.chars();
    characters.next().is_some_and(|c| about(c) & LETTER != 0) && characters.all(|c| about(c) & FOLLOWS != 0)
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
    use crate::prepare::Form;

    const AS_IS: Preparation = Preparation { form: None, lower: false, strip_accents: false };

    fn tokens(unit: Unit, text: &str) -> Vec<String> {
        prepared_tokens(unit, text, AS_IS)
    }

    fn prepared_tokens(unit: Unit, text: &str, preparation: Preparation) -> Vec<String> {
        let (mut out, mut edges) = (Vec::new(), Edges::default());
        unit.tokens(text, preparation, &mut out, &mut edges);
        edges.pairs().map(|(start, end)| String::from_utf8(out[start..end].to_vec()).unwrap()).collect()
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

    /// The fast paths against the annex, on a long walk through awkward characters, prepared or not.
    #[test]
    fn words_equal_the_annex_on_awkward_text() {
        let alphabet = "aB1_.':;,\"-(< \n\0éÉЖиאב״’·\u{301}\u{ad}\u{200d}\u{200b}ℹ🇬🇧😀カー字न्ि一٣Σİ\u{338}\u{316}\u{5b0}\u{5b4}\u{fe0f}";
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 1u64;
        for round in 0..60_000 {
            let next = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                alphabet[(state >> 33) as usize % alphabet.len()]
            };
            let text: String = (0..round % 150)
                .map(next)
                .filter(|c| round % 3 != 0 || c.is_ascii())
                .filter(|c| round % 2 != 0 || !matches!(c, 'Σ' | '\u{200d}'))
                .collect();
            for form in [None, Some(Form::Nfc), Some(Form::Nfkc)] {
                let preparation = Preparation { form, lower: round % 5 > 0, strip_accents: round % 7 == 0 };
                let mut whole = String::new();
                preparation.apply(&text, &mut whole);
                let expected: Vec<&str> = whole.unicode_words().collect();
                assert_eq!(
                    prepared_tokens(Unit::Words, &text, preparation),
                    expected,
                    "{text:?} {preparation:?}"
                );
            }
        }
    }

    /// Every letter beside every kind of neighbour, and every mark behind one.
    #[test]
    fn what_is_said_to_form_one_word_does() {
        let all = || (0..0x3_0000).filter_map(char::from_u32).filter(|c| about(*c) & FOLLOWS != 0);
        let letters: Vec<char> = all().filter(|c| about(*c) & LETTER != 0).collect();
        let marks: Vec<char> = all().filter(|c| about(*c) & LETTER == 0).collect();
        let mut state = 7usize;
        let mut any = |from: &[char]| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            from[(state >> 33) % from.len()]
        };
        for c in &letters {
            let text: String = [*c, any(&marks), any(&letters), any(&letters), any(&marks), any(&marks), *c]
                .iter()
                .collect();
            assert!(is_one_word(&text));
            assert_eq!(text.unicode_words().collect::<Vec<_>>(), [text.as_str()], "{text:?}");
        }
    }
}
