"""Texts of several fields: every field has words of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import hstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import textodds
from textodds.data.batch import BETWEEN_FIELDS
from textodds.errors import InputError
from textodds.model.explain.place import placed_terms
from textodds.text import TextSettings

FIELDS = ("subject", "body")
WAYS = (
    {},
    {"ngrams": (1, 2)},
    {"ngrams": (2, 3), "stop_words": "english"},
    {"characters": (2, 4)},
    {"unit": "characters", "ngrams": (2, 3)},
    {"unit": "characters-in-words", "ngrams": (2, 3)},
    {"unit": "whitespace", "lower": False},
    {"unit": "sklearn", "strip_accents": True},
)
texts_of_a_field = st.text(
    st.sampled_from("aA bB~é :ßÅ\n.1") | st.characters(exclude_characters=BETWEEN_FIELDS, codec="utf-8"),
    max_size=40,
)


def documents(n: int = 240) -> tuple[list[str], list[str], list[str]]:
    """Subjects, bodies and labels, whose words mean different things in the two."""
    random = np.random.default_rng(0)
    words = np.array(["free", "phone", "see", "you", "prize", "six", "call"])
    labels = np.where(random.random(n) < 0.4, "spam", "ham").tolist()
    subjects, bodies = [], []
    for label in labels:
        tilt = np.linspace(1, 4, len(words))
        p = tilt if label == "spam" else tilt[::-1]
        subjects.append(" ".join(random.choice(words, 3, p=p / p.sum())))
        bodies.append(" ".join(random.choice(words, 8, p=p[::-1] / p.sum())))
    return subjects, bodies, labels


def joined(*columns: list[str]) -> list[str]:
    return [BETWEEN_FIELDS.join(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("way", WAYS, ids=str)
@given(parts=st.lists(texts_of_a_field, min_size=2, max_size=2))
def test_the_terms_of_a_text_are_those_of_each_field_under_its_name(way, parts):
    plain, fields = TextSettings(**way), TextSettings(fields=FIELDS, **way)
    expected = []
    for name, part in zip(FIELDS, parts, strict=True):
        for term in plain.terms(part):
            is_gram = "characters" in way and term.startswith("~")
            expected.append((is_gram, f"~{name}:{term[1:]}" if is_gram else f"{name}:{term}"))
    expected.sort(key=lambda term: term[0])  # n-grams of characters stand behind all words
    assert fields.terms(BETWEEN_FIELDS.join(parts)) == [name for _, name in expected]


@pytest.mark.parametrize("way", WAYS, ids=str)
@given(parts=st.lists(texts_of_a_field, min_size=2, max_size=2))
def test_every_term_is_placed_in_its_own_field(way, parts):
    settings, text = TextSettings(fields=FIELDS, **way), BETWEEN_FIELDS.join(parts)
    places = placed_terms(settings, text)
    assert [term.name for term in places] == settings.terms(text)
    for term in places:
        for start, end in term.spans:
            first = term.name.removeprefix("~").startswith("subject:")
            assert end <= len(parts[0]) if first else start > len(parts[0])


def test_naive_bayes_of_fields_is_that_of_two_vectorisers_side_by_side():
    subjects, bodies, labels = documents()
    vectorisers = [CountVectorizer().fit(column) for column in (subjects, bodies)]

    def rows(*columns):
        return hstack([each.transform(column) for each, column in zip(vectorisers, columns, strict=True)])

    peer = MultinomialNB().fit(rows(subjects, bodies), labels)
    model = textodds.train(joined(subjects, bodies), labels, fields=FIELDS, sklearn=True, calibrate=False)
    new = documents(50)[:2]
    assert np.allclose(model.predict_log_proba(joined(*new)), peer.predict_log_proba(rows(*new)), atol=1e-12)


@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "complement", "softmax", "lda", "auto"])
def test_every_learner_explains_saves_and_loads_fields(learner, tmp_path):
    subjects, bodies, labels = documents()
    texts = joined(subjects, bodies)
    model = textodds.train(texts, labels, learner=learner, fields=FIELDS)
    why = model.explain(texts[0])
    assert {word.word.removeprefix("~").partition(":")[0] for word in why.words} <= set(FIELDS)
    model.save(tmp_path / "m.textodds")
    again = textodds.load(tmp_path / "m.textodds")
    assert again.recipe == model.recipe
    assert np.array_equal(again.predict_proba(texts), model.predict_proba(texts))


def test_fields_in_buckets_are_told_apart():
    settings = TextSettings(fields=FIELDS, hash_bits=18)
    first, second = settings.terms(f"free{BETWEEN_FIELDS}free")
    assert first != second


@pytest.mark.parametrize("names", ["subject", ["subject"], ["a", "a"], ["", "b"], ["~a", "b"], [1, 2]])
def test_names_that_cannot_tell_fields_apart_are_refused(names):
    with pytest.raises(InputError, match="fields"):
        TextSettings(fields=names)
