//! From a document as given to the text that is tokenised: normal form, lower case, accents.

use std::borrow::Cow;

use crate::letters::{COMPOSES, LOWERS, about};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// A Unicode normal form to bring text into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Canonical composition: `e` and a combining acute become `é`.
    Nfc,
    /// Compatibility composition: also `ﬁ` becomes `fi`, full-width letters ordinary ones.
    Nfkc,
}

/// How text is brought into shape before it is tokenised.
///
/// The order is: normal form, lower case, accents. ASCII needs only the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// The normal form, or none.
    pub form: Option<Form>,
    /// Lower case as Python's `str.lower`: full mappings, final sigma.
    pub lower: bool,
    /// What becomes of accents.
    pub accents: Accents,
}

/// What becomes of accents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accents {
    /// They stay.
    Keep,
    /// Compatibility decomposition and removal of combining marks.
    Strip,
    /// Compatibility decomposition and removal of all that is not ASCII.
    Ascii,
}

impl Preparation {
    /// Append the prepared form of `text` to `out`, which must be empty.
    pub fn apply(self, text: &str, out: &mut String) {
        debug_assert!(out.is_empty());
        out.push_str(text);
        if text.is_ascii() {
            if self.lower {
                out.make_ascii_lowercase();
            }
            return;
        }
        if let Cow::Owned(normal) = self.normal(text) {
            *out = normal;
        }
        if self.lower {
            lower(out);
        }
        match self.accents {
            Accents::Keep => {}
            Accents::Strip => *out = out.nfkd().filter(|c| !is_combining(*c)).collect(),
            Accents::Ascii => *out = out.nfkd().filter(char::is_ascii).collect(),
        }
    }

    /// Whether each stretch of a text can be prepared by itself, without its surroundings.
    ///
    /// Compatibility forms can turn a character into several words, and sigma looks around.
    #[must_use]
    pub fn is_local(self, text: &str) -> bool {
        self.accents == Accents::Keep && self.form != Some(Form::Nfkc) && !(self.lower && text.contains('Σ'))
    }

    /// Whether preparing changes more than the case of ASCII letters.
    #[must_use]
    pub fn changes(self, text: &str) -> bool {
        let known = text.chars().fold(0, |all, c| if c.is_ascii() { all } else { all | about(c) });
        self.lower && known & LOWERS != 0
            || known & COMPOSES != 0 && matches!(self.normal(text), Cow::Owned(_))
    }

    /// Whether preparing may change more than that, by what is known of any character of a text.
    #[inline]
    #[must_use]
    pub(crate) fn may_change(self, known: u16) -> bool {
        self.lower && known & LOWERS != 0 || known & COMPOSES != 0
    }

    /// [`Self::apply`] to a stretch of a text for which [`Self::is_local`], and of which this much is known.
    pub(crate) fn apply_locally(self, stretch: &str, known: u16, out: &mut String) {
        if known & COMPOSES != 0 || !self.lower {
            return self.apply(stretch, out);
        }
        for c in stretch.chars() {
            if c.is_ascii() {
                out.push(c.to_ascii_lowercase());
            } else if about(c) & LOWERS != 0 {
                out.extend(c.to_lowercase());
            } else {
                out.push(c);
            }
        }
    }

    fn normal(self, text: &str) -> Cow<'_, str> {
        // Nothing below U+0300 (lead byte 0xCC) changes under NFC.
        let settled = text.bytes().fold(0, |most, byte| byte.max(most)) < 0xCC;
        match self.form {
            Some(Form::Nfc) if !settled && is_nfc_quick(text.chars()) != IsNormalized::Yes => {
                Cow::Owned(text.nfc().collect())
            }
            Some(Form::Nfkc) if is_nfkc_quick(text.chars()) != IsNormalized::Yes => {
                Cow::Owned(text.nfkc().collect())
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// Lower-case in place; ASCII stretches at full speed, the rest character by character.
fn lower(text: &mut String) {
    if text.contains('Σ') {
        *text = text.to_lowercase(); // the one letter whose lower case depends on its neighbours
        return;
    }
    let mut lowered = String::with_capacity(text.len() + 80);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let ascii = rest.bytes().position(|b| !b.is_ascii()).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(ascii);
        let from = lowered.len();
        lowered.push_str(head);
        lowered[from..].make_ascii_lowercase();
        let mut chars = tail.chars();
        if let Some(c) = chars.next() {
            lowered.extend(c.to_lowercase());
        }
        rest = chars.as_str();
    }
    *text = lowered;
}

/// Whether Python's `unicodedata.combining` is not zero: a canonical combining class is set.
fn is_combining(c: char) -> bool {
    canonical_combining_class(c) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(text: &str, form: Option<Form>, accents: Accents) -> String {
        let mut out = String::new();
        Preparation { form, lower: true, accents }.apply(text, &mut out);
        out
    }

    #[test]
    fn lower_case_knows_the_hard_letters() {
        assert_eq!(prepared("ΟΔΟΣ Σ", None, Accents::Keep), "οδος σ");
        assert_eq!(prepared("İstanbul STRASSE ß", None, Accents::Keep), "i\u{307}stanbul strasse ß");
        assert_eq!(prepared("ÉCOLE Zürich", None, Accents::Keep), "école zürich");
    }

    #[test]
    fn normal_forms_join_what_looks_the_same() {
        assert_eq!(prepared("e\u{301}", Some(Form::Nfc), Accents::Keep), "é");
        assert_eq!(prepared("ﬁn", Some(Form::Nfc), Accents::Keep), "ﬁn");
        assert_eq!(prepared("ﬁn", Some(Form::Nfkc), Accents::Keep), "fin");
    }

    #[test]
    fn accents_are_stripped_and_nothing_else() {
        assert_eq!(prepared("Crème Brûlée ﬁ", None, Accents::Strip), "creme brulee fi");
        assert_eq!(prepared("हिन्दी", None, Accents::Strip), "हिनदी"); // the virama has a combining class, the vowel signs have none
    }

    #[test]
    fn only_ascii_is_left_if_wanted() {
        assert_eq!(prepared("Crème ﬁ Жx हिन्दी ½", None, Accents::Ascii), "creme fi x  12");
    }

    #[test]
    fn nothing_below_u0300_changes_under_nfc() {
        for c in '\u{80}'..'\u{300}' {
            assert_eq!(c.to_string().nfc().collect::<String>(), c.to_string());
        }
    }
}
