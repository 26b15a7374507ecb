//! Which stretches of a text are tokens, by the full Unicode rules.
//!
//! [`crate::scan`] has found the tokens of ASCII text. In other text it finds stretches whose ends
//! are token ends under any rule; those that hold more than ASCII are cut up here.

use unicode_segmentation::UnicodeSegmentation;

use crate::letters::{ALONE, APART, FOLLOWS, KATAKANA, LETTER, MARK, WORD, about};
use crate::prepare::Preparation;
use crate::scan::{Edges, Runs, scan};

/// Joins pictures, and hangs on anything.
const JOINER: char = '\u{200D}';

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
                .for_each(|(start, end, _)| self.cut_run(&prepared[start..end], start, edges));
        }
        let mut prepared = String::new();
        for (start, end, may_be_high) in runs {
            if !may_be_high {
                self.cut_ascii(&out[start..end], start, edges);
                continue;
            }
            let run = &text[start..end];
            let (any, is_one_word) = survey(run);
            if is_one_word && self == Self::Words && !preparation.may_change(any) {
                edges.push(start, end);
            } else if !preparation.may_change(any) || !preparation.changes(run) {
                // Its lower case is in `out`, as long as it is. Only sets of ASCII tell the two apart.
                match self {
                    Self::Runs(Set::Ascii(_) | Set::WholeAscii(_), _) => {
                        self.cut_run(std::str::from_utf8(&out[start..end]).unwrap_or(run), start, edges);
                    }
                    _ => self.cut_run(run, start, edges),
                }
            } else {
                prepared.clear();
                preparation.apply_locally(run, any, &mut prepared);
                self.cut(&prepared, out.len(), edges);
                out.extend_from_slice(prepared.as_bytes());
            }
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
            && (text.contains(JOINER)
                || runs.iter().any(|&(start, end, may_be_high)| may_be_high && hangs(&text[start..end])))
    }

    /// Append the tokens of a run that stands at byte `at`.
    #[inline]
    fn cut_run(self, run: &str, at: usize, edges: &mut Edges) {
        if run.is_ascii() {
            self.cut_ascii(run.as_bytes(), at, edges);
        } else {
            self.cut(run, at, edges);
        }
    }

    /// The same of any stretch, such as a run that was prepared: U+037E becomes a semicolon.
    #[inline]
    fn cut(self, run: &str, at: usize, edges: &mut Edges) {
        match self {
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
    let before = edges.pairs().len();
    let done = push_plain_words(stretch, at, edges);
    if done < stretch.len() {
        edges.truncate(before);
        for (offset, word) in stretch.unicode_word_indices() {
            edges.push(at + offset, at + offset + word.len());
        }
    }
}

/// Append the words of a stretch as far as what is known of single characters tells where they end; most text
/// ends here. How far that is: where less than all of it, the annex must see the whole stretch.
fn push_plain_words(stretch: &str, at: usize, edges: &mut Edges) -> usize {
    let mut rest = stretch.char_indices().map(|(i, c)| (i, c, about(c))).peekable();
    let end_of = |next: Option<&(usize, char, u16)>| next.map_or(stretch.len(), |(i, _, _)| *i);
    while let Some((start, c, known)) = rest.next() {
        if known & (LETTER | KATAKANA) != 0 {
            let goes_on = if known & LETTER != 0 { FOLLOWS } else { KATAKANA };
            let mut last = known;
            while let Some((_, _, known)) = rest.next_if(|(_, c, known)| known & goes_on != 0 && *c != JOINER)
            {
                last = known;
            }
            // A mark or an underscore joins them (WB4, WB13a, WB13b), a letter does not.
            let joins = if goes_on == KATAKANA { hangs(rest.peek()) } else { last & LETTER == 0 };
            let beside = rest.peek().is_some_and(|(_, _, known)| known & (KATAKANA | FOLLOWS) != 0);
            if joins && beside || rest.peek().is_some_and(|(_, c, _)| *c == JOINER) {
                return start; // or a joiner, perhaps before a picture (WB3c)
            }
            edges.push(at + start, at + end_of(rest.peek()));
        } else if known & ALONE != 0 {
            while rest.next_if(|(_, c, known)| known & MARK != 0 && *c != JOINER).is_some() {}
            if rest.peek().is_some_and(|(_, c, _)| *c == JOINER) {
                return start;
            }
            edges.push(at + start, at + end_of(rest.peek()));
        } else if known & APART != 0 {
            if hangs(rest.peek()) {
                return start;
            }
        } else if is_ascii_mid(c) {
            // It holds words together only between two letters or digits, but for Hebrew.
            if rest.peek().is_some_and(|(_, _, known)| known & (ALONE | APART) == 0)
                || is_hebrew_before(stretch, start)
            {
                return start;
            }
        } else {
            return start;
        }
    }
    stretch.len()
}

/// Whether a character that is no letter may hang on the one before it: a mark, an underscore, a joiner.
fn hangs(next: Option<&(usize, char, u16)>) -> bool {
    next.is_some_and(|(_, _, known)| known & (FOLLOWS | LETTER) == FOLLOWS)
}

/// `.` `,` `'` `:` `;`, which hold words or numbers together.
fn is_ascii_mid(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | ':' | ';')
}

/// Whether a Hebrew letter, perhaps with marks, may stand before: an apostrophe belongs to its word (`WB7a`).
fn is_hebrew_before(stretch: &str, at: usize) -> bool {
    let mut before = stretch[..at].chars().rev();
    stretch[at..].starts_with('\'')
        && before
            .find(|c| about(*c) & LETTER != 0 || about(*c) & FOLLOWS == 0)
            .is_some_and(|c| ('\u{5d0}'..'\u{600}').contains(&c) || ('\u{fb1d}'..'\u{fb50}').contains(&c))
}

/// What is known of some character outside ASCII of a run, as a sum; and whether a letter comes first and only
/// what belongs to its word behind it.
fn survey(run: &str) -> (u16, bool) {
    let (mut any, mut all, mut first) = (0, FOLLOWS, 0);
    for (i, c) in run.char_indices() {
        let known = about(c);
        any |= if c.is_ascii() { 0 } else { known };
        all &= known;
        first = if i == 0 { known } else { first };
    }
    (any, first & LETTER != 0 && all & FOLLOWS != 0)
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
#[path = "tokenise_tests.rs"]
mod tests;
