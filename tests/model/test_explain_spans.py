"""Terms placed as arrays against the same placed one by one; the kernel's row of a text against its twin."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textodds
from textodds.model.explain import by_word
from textodds.model.explain.spans import spans_of

TEXTS = [
    "Free phone, call now!",
    "see you at noon",
    "win £500 cash – now",
    "tHe Café is naïve",
    "ok o k :-)",
    "a",
]
LABELS = ["x", "y", "x", "y", "x", "y"]
RECIPES = [
    {"ngrams": (1, 3)},
    {"ngrams": (1, 2), "characters": (2, 5)},
    {"characters": (1, 4), "stop_words": ["the", "a"], "strip_accents": True},
    {"unit": "characters-in-words", "ngrams": (1, 5)},
    {"unit": "characters-in-words", "ngrams": (4, 6), "normal_form": "NFKC", "lower": False},
    {"learner": "bernoulli", "ngrams": (2, 2), "characters": (3, 3)},
    {"learner": "softmax", "ngrams": (1, 2), "characters": (2, 3), "min_df": 1},
]
# Signs that join words, marks, letters that lower case or a normal form makes longer or shorter, white space.
ALPHABET = "abE .,'!\n\t-@£é\u0301ﬁİΣß字한\u1112\u1161\u200d\x1c😀"


@pytest.fixture(scope="module", params=range(len(RECIPES)))
def model(request):
    recipe = {"learner": "multinomial", **RECIPES[request.param]}
    return textodds.train(TEXTS, LABELS, **recipe)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(ALPHABET, max_size=60), st.lists(st.sampled_from(TEXTS)).map(" ".join)))
def test_arrays_place_terms_as_they_are_placed_one_by_one(model, text):
    why = model.explain(text)
    usual = spans_of(why.reading)
    if usual is None:  # not the usual text: nothing is placed in arrays
        return
    terms = why.reading.terms
    ends = np.cumsum(usual.sizes)
    assert [
        [tuple(span) for span in usual.spans[end - n : end].tolist()]
        for n, end in zip(usual.sizes, ends, strict=True)
    ] == [list(term.spans) for term, _ in terms]
    assert (why.reading.row.places >= 0).tolist() == [known for _, known in terms]


@settings(max_examples=40, deadline=None)
@given(st.one_of(st.text(ALPHABET, max_size=60), st.lists(st.sampled_from(TEXTS)).map(" ".join)))
def test_stretches_are_the_same_to_the_bit(model, text):
    quick = model.explain(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_word, "spans_of", lambda reading: None)
        slow = model.explain(text)
        _ = slow.stretches
    assert quick.stretches == slow.stretches
    assert (quick.words, quick.unknown_words) == (slow.words, slow.unknown_words)


def test_texts_of_the_usual_kind_are_placed_in_arrays(model):
    for text in [*TEXTS, "", "  ", "new words, too", "l'été où"]:
        assert spans_of(model.explain(text).reading) is not None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["free", "phone", "zebra", "Noon", "£500", "!"])).map(" ".join))
def test_the_row_of_a_text_is_that_of_rows(model, text):
    places, features, counts, values, unknown = model.scorer.kernel.reading(text)
    _, expected, weighed, evidence = model.scorer.kernel.rows([text])
    assert features.tolist() == expected.tolist()
    assert values.tolist() == weighed.tolist()
    assert counts.tolist() == model.scorer.kernel.rows([text], False)[2].tolist()
    assert evidence.tolist() == model.scorer.kernel.score([text], 1)[1].tolist()
    assert unknown == evidence[0, 1] - evidence[0, 0]
    names = model.recipe.settings.terms(text)
    numbers = [int(number) for number in model.vocabulary.find(names)]  # the twin
    assert [int(features[place]) if place >= 0 else -1 for place in places] == numbers
    assert Counter(numbers) - Counter({-1: len(numbers)}) == Counter(
        dict(zip(features.tolist(), counts.tolist(), strict=True))
    )
