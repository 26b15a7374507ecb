//! The fast paths to words against the annex.

use unicode_normalization::char::canonical_combining_class;

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
        let text: String =
            [*c, any(&marks), any(&letters), any(&letters), any(&marks), any(&marks), *c].iter().collect();
        assert!(survey(&text).1);
        assert_eq!(text.unicode_words().collect::<Vec<_>>(), [text.as_str()], "{text:?}");
    }
}

/// Characters of every kind, beside each other: what is known of each, against the annex.
#[test]
fn words_equal_the_annex_on_characters_of_every_kind() {
    let mut kinds: Vec<Vec<char>> = vec![Vec::new(); 512];
    let all = (0x80..0x3_0000).chain(0xE_0000..0xE_0200).filter_map(char::from_u32);
    // Marks that are newer than the table of words are none there.
    let is_known = |c: &char| canonical_combining_class(*c) == 0 || about(*c) & FOLLOWS != 0;
    all.filter(is_known).for_each(|c| kinds[usize::from(about(c))].push(c));
    kinds.push("aA1_.':;,\"- カー字’·\u{301}\u{200d}אגב\u{5b0}".chars().collect());
    kinds.retain(|kind| !kind.is_empty());
    let mut state = 11u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let preparation = Preparation { form: Some(Form::Nfc), lower: true, ..AS_IS };
    let (mut whole, mut edges) = (String::new(), Edges::default());
    for _ in 0..60_000 {
        let text: String = (0..=next(9))
            .map(|_| {
                let kind = &kinds[if next(3) == 0 { kinds.len() - 1 } else { next(kinds.len()) }];
                kind[next(kind.len())]
            })
            .collect();
        edges.clear();
        push_words(&text, 0, &mut edges);
        let words: Vec<&str> = edges.pairs().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(words, text.unicode_words().collect::<Vec<_>>(), "{text:?}");
        whole.clear();
        preparation.apply(&text, &mut whole);
        let expected: Vec<&str> = whole.unicode_words().collect();
        assert_eq!(prepared_tokens(Unit::Words, &text, preparation), expected, "{text:?}");
    }
}
