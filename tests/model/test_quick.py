"""Quick updates: exact for counts; for what is fitted bounded, and undone by their opposite."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from pairs import together
from textodds._kernels import Table
from textodds.data import Batch
from textodds.errors import InputError
from textodds.learn.forms.linear import LinearModel, log_softmax
from textodds.model.quick import (
    QuickForm,
    QuickLinear,
    QuickMultinomial,
    Recounted,
    Unmoved,
    _moved,
    quick_form,
)
from textodds.model.scorer import TextScorer
from textodds.model.text_model import TextModel
from textodds.stats.tally import Tally

NONE = Batch([], [], None)
SHIFT = np.array([0.1, -0.3])
WORDS = "free win cash prize call now noon see lunch home pneumonoultramicroscopic".split()


def _batch(n: int, seed: int, more: tuple[str, ...] = ()) -> Batch:
    random = Random(seed)
    labels = [("ham", "spam")[i % 2] for i in range(n)]
    return Batch([" ".join([*random.choices([*WORDS, *more], k=6), label]) for label in labels], labels, None)


def _trained(learner: str, **options: Any) -> TextModel:
    batch = _batch(120, 0)
    model = textodds.train(batch.texts, batch.labels, learner=learner, threads=1, **options)
    assert isinstance(model, TextModel)
    return model


def _must_score_alike(form: QuickForm, model: TextModel, scorer: TextScorer) -> None:
    """Refuse changed rows that give a text another score than the same weights in one piece, in a bit."""
    mine = TextScorer(model.recipe, form.vocabulary, form.form, model.scale, form.changes)
    texts = [*_batch(8, 7, ("new1", "new3", "new3", f"a-new-long-word-{'x' * 5}")).texts, "", "unheard"]
    for one, other in ((mine, scorer), (mine.shifted(SHIFT), scorer.shifted(SHIFT))):
        for found, expected in zip(one.score(texts, 1), other.score(texts, 1), strict=True):
            assert np.array_equal(found, expected)
        assert [one.one(text) for text in texts] == [other.one(text) for text in texts]
    for found, expected in zip(mine.counts(texts), scorer.counts(texts), strict=True):
        assert np.array_equal(found, expected)


def _must_be_of(form: QuickForm | None, model: TextModel) -> None:
    """Refuse a form that differs in a bit from that of a model."""
    assert form is not None
    _must_score_alike(form, model, model.scorer)
    assert isinstance(form.form, LinearModel)
    assert form.form.classes == model.classes_
    assert form.vocabulary.words() == model.vocabulary.words()
    for part in ("log_prior", "intercept"):
        assert np.array_equal(getattr(form.form, part), getattr(model.linear, part))
    every = np.arange(len(model.vocabulary))
    assert np.array_equal(form.form.weights.rows(every), model.linear.weights.rows(every))


@together
@pytest.mark.parametrize(
    ("learner", "options", "kind"),
    [
        ("multinomial", {}, QuickMultinomial),
        ("multinomial:alpha=0.1", {}, QuickMultinomial),
        ("multinomial:alpha=0.0", {}, QuickMultinomial),
        ("multinomial:binary", {}, QuickMultinomial),
        ("multinomial", {"ngrams": (1, 2)}, QuickMultinomial),
        ("multinomial", {"min_df": 2}, Recounted),
        ("multinomial", {"unknown": "smooth"}, Recounted),
        ("multinomial", {"hash_bits": 12}, Recounted),
        ("bernoulli", {}, Recounted),
        ("complement", {}, Recounted),
    ],
)
def test_of_counts_the_change_is_exact(learner: str, options: dict[str, Any], kind: type[QuickForm]) -> None:
    model = _trained(learner, **options)
    form: QuickForm | None = quick_form(model)
    assert isinstance(form, kind)
    batches = [_batch(3, seed, (f"new{seed}", f"a-new-long-word-{'x' * seed}")) for seed in range(1, 12)]
    for batch in batches:
        assert form is not None
        form = form.changed(NONE, batch)
        model.learn(batch.texts, batch.labels)
        _must_be_of(form, model)
    for batch, other in zip(batches, _batch(11, 99).texts, strict=True):
        assert form is not None
        form = form.changed(batch, Batch([other], ["ham"], None))
        model.forget(batch.texts, batch.labels)
        model.learn(other, "ham")
        _must_be_of(form, model)


def test_of_counts_a_change_of_the_classes_or_below_nothing_takes_all_counts() -> None:
    form = quick_form(_trained("multinomial"))
    assert form.changed(NONE, Batch(["noon"], ["eggs"], None)) is None
    assert form.changed(Batch(["never there"], ["ham"], None), NONE) is None
    assert form.changed(Batch(["free " * 1000], ["ham"], None), NONE) is None


@together
@pytest.mark.parametrize("learner", ["softmax:C=3", "nb-softmax:C=3", "lda", "complement:transform"])
def test_of_weights_the_change_is_bounded_and_undone_by_its_opposite(learner: str) -> None:
    model = _trained(learner)
    form = quick_form(model)
    assert isinstance(form, QuickLinear)
    one = Batch(["free win cash unheard"], ["ham"], None)
    after = form.changed(NONE, one)
    row = model.scorer.rows(one.texts).scipy()
    moved = np.abs(after.weights - form.weights)
    assert (moved.max(axis=1) > 0).sum() <= row.nnz
    strength = after.C if after.C is not None else 4.0 / float(row.power(2).sum())
    assert moved.max() <= strength * row.max() / 2 + 1e-12
    assert np.abs(after.changed(one, NONE).weights - form.weights).max() < 1e-7
    _must_score_alike(after, model, TextScorer(model.recipe, model.vocabulary, after.form, model.scale))
    new = after.changed(NONE, Batch(["cash unheard"], ["eggs"], None))
    assert new.form.classes == ("eggs", "ham", "spam")
    scorer = TextScorer(model.recipe, model.vocabulary, new.form, model.scale, new.changes)
    assert np.array_equal(
        scorer.score(one.texts, 1)[0],
        TextScorer(model.recipe, model.vocabulary, new.form, model.scale).score(one.texts, 1)[0],
    )
    assert form.form is model.form  # as it was


def test_words_that_go_and_come_again_are_known_as_often_as_they_are_there() -> None:
    model = _trained("multinomial", calibrate=False)
    form: QuickForm | None = quick_form(model)
    for texts in (["xyzzy plugh"], ["plugh xyzzy xyzzy"]):
        for sign in (1, -1, 1, -1):
            assert form is not None
            batch = Batch(texts, ["ham"], None)
            form = form.changed(*((NONE, batch) if sign > 0 else (batch, NONE)))
            (model.learn if sign > 0 else model.forget)(texts, ["ham"])
            _must_be_of(form, model)


def test_what_no_one_document_moves_stays() -> None:
    model = _trained("qda")
    form = quick_form(model)
    assert isinstance(form, Unmoved)
    assert form.changed(NONE, Batch(["free"], ["ham"], None)) is form


@together
@pytest.mark.parametrize("K", [2, 3, 50])
@pytest.mark.parametrize("q", [1e-6, 0.5, 30.0, 1e5])
def test_the_step_is_where_its_slope_is_nothing(K: int, q: float) -> None:
    random = np.random.default_rng(K)
    for scores in (np.zeros(K), 5 * random.normal(size=K), 500 * random.normal(size=K)):
        found = _moved(scores, 1, q)
        target = np.eye(K)[1]
        assert np.abs(scores + q * (target - np.exp(log_softmax(found))) - found).max() < 1e-6 * max(q, 1.0)


def test_a_grown_vocabulary_is_the_one_of_all_words() -> None:
    random = Random(5)
    words = ["".join(random.choices("abcdefghé", k=random.randint(1, 30))) for _ in range(3000)]
    some, others = (Tally.of([" ".join(part)], ["x"]) for part in (words[:2000], words[1900:]))
    new = np.flatnonzero(some.vocabulary.find(others.vocabulary.words()) < 0)
    grown, places = some.vocabulary.grown(others.vocabulary.select(new))
    both = (some + others).vocabulary
    assert grown.words() == both.words()
    assert np.array_equal(grown.find(both.words()), np.arange(len(both)))
    assert np.array_equal(places, np.sort(places))


@given(st.data(), st.integers(1, 5), st.integers(0, 700))
def test_a_table_that_is_changed_by_rows_is_the_array_and_leaves_the_one_before(
    data: st.DataObject, K: int, V: int
) -> None:
    array = np.arange(float(V * K)).reshape(V, K)
    table, versions = Table(array.reshape(-1), K), []
    for n in range(1, 5):
        versions.append((table, array))
        numbers = data.draw(st.lists(st.integers(0, max(V, 1) - 1), max_size=9, unique=True)) if V else []
        new = data.draw(st.integers(0, 40))
        rows = np.array([*numbers, *range(len(array), len(array) + new)], dtype=np.int64)
        values = np.random.default_rng(n).normal(size=(len(rows), K))
        table = table.changed(rows, values)
        array = np.concatenate([array, np.zeros((new, K))])
        array[rows] = values
    for table, array in versions:
        assert np.array_equal(table.rows(np.arange(len(table))), array)
    for wrong in (-1, len(table)):
        with pytest.raises(InputError, match="no row"):
            table.rows(np.array([wrong]))
    with pytest.raises(InputError, match="no row"):
        table.changed(np.array([len(table) + 1]), np.ones((1, K)))
    with pytest.raises(InputError, match="one row"):
        table.changed(np.array([0]), np.ones((1, K + 1)))
