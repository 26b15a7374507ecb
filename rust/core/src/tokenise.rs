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
    /// As many characters of a set as stand together, if they are so many at least.
    Runs(Set, usize),
}

/// Which characters belong to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// `\w` of Python's `re`.
    Word,
    /// `\S`: all but white space.
    NotSpace,
    /// Some of ASCII, a bit for each: `[a-z]`.
    Ascii(u128),
    /// The same, if nothing else of `\w` is beside: `\b[a-z]+\b`.
    WholeAscii(u128),
}

impl Unit {
    /// Stretches between white space, as Python's `str.split`.
    pub const WHITESPACE: Self = Self::Runs(Set::NotSpace, 1);
    /// scikit-learn's `(?u)\b\w\w+\b`: two or more of `\w`.
    pub const SKLEARN: Self = Self::Runs(Set::Word, 2);

    /// The unit that a pattern describes: `\w`, `\S` or a set such as `[a-z0-9]`, then `{n,}`; a set may
    /// stand between `\b` and `\b`.
    ///
    /// ```
    /// # use textodds_core::tokenise::Unit;
    /// assert_eq!(Unit::of_pattern(r"\w{2,}"), Some(Unit::SKLEARN));
    /// assert_eq!(Unit::of_pattern("a|b"), None);
    /// ```
    #[must_use]
    pub fn of_pattern(pattern: &str) -> Option<Self> {
        let bare = pattern.strip_prefix(r"\b").and_then(|rest| rest.strip_suffix(r"\b"));
        let (class, least) = bare.unwrap_or(pattern).strip_suffix(",}")?.rsplit_once('{')?;
        let set = match (class, bare) {
            (r"\w", None) => Set::Word,
            (r"\S", None) => Set::NotSpace,
            (_, None) => Set::Ascii(ascii_set(class)?),
            (_, Some(_)) => Set::WholeAscii(ascii_set(class)?),
        };
        let least = least.parse().ok().filter(|least| (1..=1000).contains(least))?;
        Some(Self::Runs(set, least))
    }

    /// The runs of bytes that the tokens of a text are made of.
    #[must_use]
    pub fn runs(self) -> Runs {
        match self {
            Self::Words => Runs::JoinedWord,
            Self::Runs(Set::NotSpace, _) => Runs::NotSpace,
            Self::Runs(..) => Runs::Word,
        }
    }

    /// Bytes that a token of an ASCII text must have at least, if that is all that makes a run one.
    #[must_use]
    pub fn least(self) -> Option<usize> {
        match self {
            Self::Runs(Set::Word | Set::NotSpace, least) => Some(least),
            _ => None,
        }
    }

    /// Find the tokens of a text, prepared; they are in `out`, where `edges` says.
    ///
    /// `loose`: there may be some among them that are shorter than [`Self::least`] bytes.
    pub fn tokens(
        self,
        text: &str,
        preparation: Preparation,
        loose: bool,
        out: &mut Vec<u8>,
        edges: &mut Edges,
    ) {
        scan(self.runs(), preparation.lower, text.as_bytes(), out, edges);
        if edges.is_ascii() {
            self.tokens_of_ascii(loose, out, edges);
        } else {
            self.tokens_of_any(text, preparation, out, edges);
        }
    }

    /// Reduce the runs of an ASCII text to its tokens.
    #[inline(always)]
    fn tokens_of_ascii(self, loose: bool, text: &[u8], edges: &mut Edges) {
        match self {
            Self::Words if memchr::memchr(b'_', text).is_none() => {}
            Self::Runs(Set::Word | Set::NotSpace, least) if loose || least == 1 => {}
            Self::Runs(Set::Ascii(set), least) => {
                for (start, end, _) in edges.take_runs() {
                    push_ascii(&text[start..end], start, set, least, edges);
                }
            }
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
                self.cut_ascii(&out[start..end], start, edges);
                continue;
            }
            let run = &text[start..end];
            if run.is_ascii() || !preparation.changes(run) {
                // Its lower case is in `out`, as long as it is. Only sets of ASCII tell the two apart.
                match self {
                    Self::Runs(Set::Ascii(_) | Set::WholeAscii(_), _) => {
                        self.cut(std::str::from_utf8(&out[start..end]).unwrap_or(run), start, edges);
                    }
                    _ => self.cut(run, start, edges),
                }
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
            Self::Runs(Set::WholeAscii(set), least) => {
                run.len() >= least && run.iter().all(|byte| belongs(*byte, set))
            }
            Self::Runs(_, least) => run.len() >= least,
        }
    }

    /// Append the tokens of a run of ASCII that stands at byte `at`.
    #[inline]
    fn cut_ascii(self, run: &[u8], at: usize, edges: &mut Edges) {
        match self {
            Self::Runs(Set::Ascii(set), least) => push_ascii(run, at, set, least, edges),
            _ if self.is_token(run) => edges.push(at, at + run.len()),
            _ => {}
        }
    }

    /// Whether a run hangs on the punctuation before it, so that the annex must see the whole text:
    /// a mark that begins a run (WB4), be there blanks before it (`WB3d`), or a joiner (`WB3c`). Rare, and
    /// mostly by mistake.
    fn has_hangers_on(self, text: &str, runs: &[(usize, usize, bool)]) -> bool {
        let hangs = |run: &str| {
            let first = run.chars().find(|c| !c.is_whitespace()).unwrap_or('a');
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
            _ if run.is_ascii() => self.cut_ascii(run.as_bytes(), at, edges),
            Self::Words => push_words(run, at, edges),
            Self::Runs(Set::NotSpace, least) => push_runs(run, at, |c| !is_space(c), least, edges),
            Self::Runs(Set::Word, least) => push_runs(run, at, |c| about(c) & WORD != 0, least, edges),
            Self::Runs(Set::Ascii(set), least) => push_ascii(run.as_bytes(), at, set, least, edges),
            Self::Runs(Set::WholeAscii(_), _) => {
                for word in run.split(|c| about(c) & WORD == 0).filter(|word| !word.is_empty()) {
                    let offset = word.as_ptr().addr() - run.as_ptr().addr();
                    self.cut_ascii(word.as_bytes(), at + offset, edges);
                }
            }
        }
    }
}

/// The ASCII characters of a set such as `[a-zA-Z0-9_]`, letters, digits and underscores only.
fn ascii_set(class: &str) -> Option<u128> {
    let mut rest = class.strip_prefix('[')?.strip_suffix(']')?.bytes().peekable();
    let mut set = 0;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    while let Some(first) = rest.next() {
        let mut last = first;
        if rest.next_if_eq(&b'-').is_some() {
            last = rest.next()?;
        }
        if !is_word(first) || !is_word(last) || first > last {
            return None;
        }
        (first..=last).filter(|byte| is_word(*byte)).for_each(|byte| set |= 1 << byte);
        if (first..=last).any(|byte| !is_word(byte)) {
            return None; // [A-z] has brackets in it, which the scan does not look at
        }
    }
    (set != 0).then_some(set)
}

#[inline(always)]
fn belongs(byte: u8, set: u128) -> bool {
    byte < 0x80 && set >> byte & 1 == 1
}

/// Runs of at least `least` bytes of a set, in a stretch at byte `at` of the text.
fn push_ascii(stretch: &[u8], at: usize, set: u128, least: usize, edges: &mut Edges) {
    let mut from = 0;
    for run in stretch.split(|byte| !belongs(*byte, set)) {
        if run.len() >= least {
            edges.push(at + from, at + from + run.len());
        }
        from += run.len() + 1;
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
    use crate::prepare::{Accents, Form};

    const AS_IS: Preparation = Preparation { form: None, lower: false, accents: Accents::Keep };

    fn tokens(unit: Unit, text: &str) -> Vec<String> {
        prepared_tokens(unit, text, AS_IS)
    }

    fn prepared_tokens(unit: Unit, text: &str, preparation: Preparation) -> Vec<String> {
        let (mut out, mut edges) = (Vec::new(), Edges::default());
        unit.tokens(text, preparation, false, &mut out, &mut edges);
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
        assert_eq!(tokens(Unit::SKLEARN, "I can't é éa _ __ 5 55"), ["can", "éa", "__", "55"]);
        assert_eq!(tokens(Unit::SKLEARN, "I can't _ __ 5 55"), ["can", "__", "55"]);
    }

    #[test]
    fn patterns_of_the_simple_kind_are_understood() {
        let of = |pattern: &str, text: &str| tokens(Unit::of_pattern(pattern).unwrap(), text);
        assert_eq!(of(r"\w{1,}", "I can't é"), ["I", "can", "t", "é"]);
        assert_eq!(of(r"\S{3,}", "I can't, é été\u{a0}x"), ["can't,", "été"]);
        assert_eq!(of("[a-z]{2,}", "ab1cd_e éfg Hij x9"), ["ab", "cd", "fg", "ij"]);
        assert_eq!(of("[a-zA-Z0-9]{3,}", "ab1_cde éfgh"), ["ab1", "cde", "fgh"]);
        let lowered = Preparation { lower: true, ..AS_IS };
        let letters = Unit::of_pattern("[a-z]{1,}").unwrap();
        assert_eq!(prepared_tokens(letters, "Ab1Cd é Ÿz", lowered), ["ab", "cd", "z"]);
        assert_eq!(of(r"\b[a-z]{2,}\b", "ab1 cd éfg hi_j kl, m no"), ["cd", "kl", "no"]);
        for other in
            ["a|b", r"\w+", r"\b\w{2,}\b", "[^a]{1,}", "[a-é]{1,}", "[A-z]{1,}", r"\w{0,}", "[]{1,}", "{1,}"]
        {
            assert_eq!(Unit::of_pattern(other), None, "{other}");
        }
    }

    #[test]
    fn white_space_is_that_of_python() {
        let text = " a\u{a0}b\x1cc\u{2028}d\u{200b}e\0 ";
        assert_eq!(tokens(Unit::WHITESPACE, text), ["a", "b", "c", "d\u{200b}e\0"]);
        assert_eq!(tokens(Unit::WHITESPACE, " a\x1cc\u{b}e\0\n"), ["a", "c", "e\0"]);
    }

    /// The fast paths against the annex, on a long walk through awkward characters, prepared or not.
    #[test]
    fn words_equal_the_annex_on_awkward_text() {
        let alphabet = "aB1_.':;,\"-(< \n\0éÉЖиאב״’·\u{301}\u{ad}\u{200d}\u{200b}ℹ🇬🇧😀カー字न्ि一٣Σİ\u{338}\u{316}\u{5b0}\u{5b4}\u{fe0f}\u{3000}";
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut state = 1u64;
        for round in 0..90_000 {
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
                let accents = [Accents::Strip, Accents::Ascii, Accents::Keep][(round % 7).min(2)];
                let preparation = Preparation { form, lower: round % 5 > 0, accents };
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
