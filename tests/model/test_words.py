"""Words after Unicode Standard Annex #29, by example; and settings that cannot be."""

import pytest

from pairs import together
from textodds import TextSettings
from textodds.errors import InputError

AS_WRITTEN = TextSettings(lower=False, normal_form=None)


@together
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "The quick (“brown”) fox can’t jump 32.3 feet, right?",
            "The quick brown fox can’t jump 32.3 feet right",
        ),
        ("can't won't o'clock rock'n'roll", "can't won't o'clock rock'n'roll"),
        ("can’t l’été", "can’t l’été"),
        ("'quoted' dogs' 'tis", "quoted dogs tis"),
        ("1,000.50 3.14 1.000,50 5'10 1;2", "1,000.50 3.14 1.000,50 5'10 1;2"),
        ("12:30 a:b a,b a;b 1. .5", "12 30 a:b a b a b 1 5"),
        ("1\u202f000", "1\u202f000"),
        ("example.com e.g. U.S.A. end.", "example.com e.g U.S.A end"),
        ("foo_bar __init__ _ ___", "foo_bar __init__"),
        ("e-mail well-known", "e mail well known"),
        ("Crème e\u0301cole ÅNGSTRÖM", "Crème e\u0301cole ÅNGSTRÖM"),
        ("paral·lel co\u00adop", "paral·lel co\u00adop"),
        ("हिन्दी भाषा में", "हिन्दी भाषा में"),
        ("צה״ל צה\"ל ג'", "צה״ל צה\"ל ג'"),
        ("שלום, עולם!", "שלום עולם"),
        ("السلام عليكم ٣٫١٤", "السلام عليكم ٣٫١٤"),
        ("カタカナ コーヒー", "カタカナ コーヒー"),
        ("漢字 ひら", "漢 字 ひ ら"),
        ("한국어 좋아요", "한국어 좋아요"),
        ("สวัสดี", "ส วั ส ดี"),
        ("🇩🇪🇫🇷 👨‍👩‍👧 ❤️ 😀", ""),
        ("x\u200dy", "x\u200dy"),
        ("a\u200bb", "a b"),
        ("I C 5 я", "I C 5 я"),
        ("... -- !!! «»", ""),
        ("", ""),
    ],
)
def test_words_are_those_of_the_annex(text, words):
    assert AS_WRITTEN.terms(text) == (words.split(" ") if words else [])


def test_one_letter_words_are_kept_unlike_scikit_learns():
    assert TextSettings().terms("I am 5") == ["i", "am", "5"]
    assert TextSettings.sklearn().terms("I am 5") == ["am"]


def test_invisible_selectors_stay_inside_their_word():
    assert TextSettings().terms("a\ufe0fb c") == ["a\ufe0fb", "c"]


def test_normal_forms_make_one_word_of_two_spellings():
    assert TextSettings().terms("e\u0301cole") == TextSettings().terms("école") == ["école"]
    assert TextSettings(normal_form="NFKC").terms("ﬁn ｆｕｌｌ") == ["fin", "full"]


def test_word_ngrams_are_joined_by_a_space_and_come_after_single_words():
    assert TextSettings(ngrams=(1, 3)).terms("a b c") == ["a", "b", "c", "a b", "b c", "a b c"]
    assert TextSettings(ngrams=(2, 2)).terms("a") == []


def test_english_stop_words_are_left_out():
    assert TextSettings(stop_words="english").terms("The cat is on the mat") == ["cat", "mat"]


@together
@pytest.mark.parametrize("length", [1, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, 1_000_000])
@pytest.mark.parametrize("letter", ["a", "é"])
def test_words_of_any_length_come_out_whole(letter, length):
    word = letter * length
    assert TextSettings().terms(f"x {word} y") == ["x", word, "y"]


@together
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"unit": "word"}, "did you mean `words`"),
        ({"normal_form": "NFD"}, "NFD"),
        ({"ngrams": 2}, "pair"),
        ({"ngrams": (0, 1)}, "n-?grams"),
        ({"ngrams": (2, 1)}, "n-?grams"),
        ({"ngrams": (1, 17)}, "n-?grams"),
        ({"ngrams": (-1, 2)}, "-1"),
        ({"hash_bits": 0}, "hash.bits"),
        ({"hash_bits": 32}, "hash.bits"),
        ({"hash_bits": -1}, "-1"),
        ({"hash_bits": 8, "hash_seed": -1}, "-1"),
        ({"hash_bits": 8, "vocabulary": ["a"]}, "not both"),
        ({"stop_words": "klingon"}, "klingon"),
        ({"vocabulary": []}, "empty"),
        ({"count_unknown": True}, "vocabulary"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused_when_they_are_made(choices, message):
    with pytest.raises(InputError, match=message):
        TextSettings(**choices)


def test_equal_settings_are_equal_however_they_are_spelled():
    one = TextSettings(stop_words=["b", "a", "a"], ngrams=[1, 2], vocabulary=["y", "x"])
    assert one == TextSettings(stop_words=("a", "b"), ngrams=(1, 2), vocabulary={"x": 1, "y": 2})
    assert TextSettings(**one.as_dict()) == one


@together
@pytest.mark.parametrize("bad", ["\ud800", 5, None, b"bytes"])
def test_what_is_no_text_is_named_with_its_row(bad):
    with pytest.raises(InputError, match="text 1 "):
        TextSettings().analyser.terms(["fine", bad])
