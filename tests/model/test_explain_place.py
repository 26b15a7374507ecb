"""Terms are found where they stand in the text, or nowhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from explain_texts import LABELS, TEXTS
from pairs import together
from textodds.model.explain import placed_terms
from textodds.model.explain.place import placed_words, prepare
from textodds.text import TextSettings
from unicode_texts import texts

SETTINGS = [
    TextSettings(unit=unit, lower=lower, normal_form=form, strip_accents=strip, ngrams=ngrams)
    for unit, ngrams in [
        ("words", (1, 1)),
        ("words", (1, 3)),
        ("words", (2, 2)),
        ("whitespace", (1, 2)),
        ("sklearn", (1, 2)),
        ("characters", (1, 3)),
        ("characters-in-words", (2, 4)),
    ]
    for lower, form, strip in [
        (True, "NFC", False),
        (False, None, False),
        (True, "NFKC", False),
        (True, None, True),
    ]
]
SETTINGS += [
    TextSettings(characters=(2, 3)),
    TextSettings(stop_words=["a", "the"], ngrams=(1, 2)),
    TextSettings(hash_bits=6, ngrams=(1, 2), characters=(3, 3)),
    TextSettings(vocabulary=["a", "b a", "1"], ngrams=(1, 2)),
    TextSettings(vocabulary=["a", "é"], count_unknown=True),
]


@given(settings=st.sampled_from(SETTINGS), text=texts)
def test_every_term_has_a_place_whatever_the_text(settings, text):
    terms = placed_terms(settings, text)
    assert [term.name for term in terms] == settings.terms(text)
    for term in terms:
        assert term.spans, (term.name, text)
        assert all(0 <= start < end <= len(text) for start, end in term.spans)


@given(settings=st.sampled_from(SETTINGS), text=texts)
def test_what_stands_in_the_place_of_a_word_holds_the_word(settings, text):
    for word, spans in placed_words(settings, text):
        (start, end) = spans[0]
        there = prepare(settings, text[start:end])[0]
        assert word.replace("ς", "σ") in there.replace("ς", "σ")


@together
@pytest.mark.parametrize(
    ("settings", "text", "places"),
    [
        ({}, "Don't PANIC, don't", {"don't": ["Don't", "don't"], "panic": ["PANIC"]}),
        ({"strip_accents": True}, "Été e\u0301te\u0301", {"ete": ["Été", "e\u0301te\u0301"]}),
        ({"normal_form": "NFKC"}, "ﬁne Ｆｉｎｅ", {"fine": ["ﬁne", "Ｆｉｎｅ"]}),
        ({}, "ΟΔΟΣ ΟΔΟΣΑ", {"οδος": ["ΟΔΟΣ"], "οδοσα": ["ΟΔΟΣΑ"]}),
        ({}, "İstanbul is big", {"i̇stanbul": ["İstanbul"], "is": ["is"], "big": ["big"]}),
        ({}, "\u1112\u1161\u11ab x", {"한": ["\u1112\u1161\u11ab"], "x": ["x"]}),
        ({"stop_words": ["and"]}, "and a and", {"a": ["a"]}),
        ({"ngrams": (2, 2), "stop_words": ["the"]}, "see the cat", {"see cat": ["see", "cat"]}),
        ({"unit": "sklearn"}, "c cc ccc", {"cc": ["cc"], "ccc": ["ccc"]}),
        ({"unit": "characters", "ngrams": (3, 3)}, "a  b", {"a b": ["a  b"]}),
        ({"unit": "characters", "ngrams": (1, 1)}, "a  b", {"a": ["a"], " ": ["  "], "b": ["b"]}),
        (
            {"unit": "characters-in-words", "ngrams": (3, 3)},
            "Ab!",
            {" ab": ["Ab"], "ab!": ["Ab!"], "b! ": ["b!"]},
        ),
    ],
)
def test_places_by_hand(settings, text, places):
    got = {}
    for name, spans in placed_terms(TextSettings(**settings), text):
        got.setdefault(name, []).extend(text[start:end] for start, end in spans)
    assert got == places


OPTIONS = [
    {},
    {"unknown": "smooth"},
    {"hash_bits": 6},
    {"ngrams": (1, 2)},
    {"unit": "characters", "ngrams": (2, 3)},
    {"characters": (2, 3)},
    {"unit": "whitespace", "lower": False},
]
MODELS = [textodds.train(TEXTS, LABELS, **options) for options in OPTIONS]


@given(model=st.sampled_from(MODELS), text=st.one_of(texts, st.sampled_from(TEXTS)))
def test_stretches_do_not_overlap_and_add_up_to_the_words(model, text):
    got = model.explain(text)
    edges = [edge for stretch in got.stretches for edge in (stretch.start, stretch.end)]
    assert edges == sorted(edges)
    size = sum(abs(word.log_odds) for word in got.words)
    total = sum(word.log_odds for word in got.words)
    assert sum(stretch.log_odds for stretch in got.stretches) == pytest.approx(total, abs=1e-9 * (1 + size))


def test_unknown_words_are_listed_once_in_order():
    got = textodds.train(TEXTS, LABELS, learner="multinomial").explain("Zebra free? quagga, zebra")
    assert got.unknown_words == ("zebra", "quagga")
    assert got.unknown == 3
    shown = {stretch.word: stretch.known for stretch in got.stretches}
    assert shown == {"zebra": False, "free": True, "quagga": False}


def test_a_word_is_known_where_a_pair_with_it_is():
    model = textodds.train(["free phone", "at noon"], ["x", "y"], ngrams=(2, 2))
    assert model.explain("free phone noon").unknown_words == ("noon",)
