"""What can be read only once is chosen for as well, and all of it is learned."""

import numpy as np
import pytest

import textodds
from textodds.data import read
from textodds.training.choose import pool_of

from .made_up import drawn

N = 4000
TEXTS, LABELS = drawn(N, 2)
FRESH = drawn(100, 2, seed=1)[0]


def passing():
    yield from zip(TEXTS, LABELS, strict=True)


@pytest.mark.slow
def test_a_stream_gives_the_model_that_a_list_gives(texts):
    given = {"learner": ["multinomial", "softmax"], "features": ["words", "pairs"]}
    model = textodds.train(*texts, **given)
    again = textodds.train(iter(zip(*texts, strict=True)), **given)
    assert again.recipe == model.recipe
    np.testing.assert_array_equal(again.predict_proba(FRESH), model.predict_proba(FRESH))


@pytest.mark.slow
def test_of_a_stream_that_memory_does_not_hold_counts_are_chosen_among_and_all_rows_learned():
    model = textodds.train(passing(), learner="auto", features=["words", "pairs"], memory=50_000_000)
    assert any("softmax" in line["name"] for line in model.info["chosen"]["tried"])
    small = textodds.train(passing(), learner="auto", features=["words"], memory=100_000)
    assert not any("softmax" in line["name"] for line in small.info["chosen"]["tried"])
    assert sum(small.class_documents.values()) == N
    recipe = small.recipe
    whole = textodds.train(TEXTS, LABELS, learner=recipe.learner, settings=recipe.settings)
    np.testing.assert_array_equal(small.score(FRESH)[0], whole.score(FRESH)[0])


def test_softmax_that_is_asked_for_learns_all_rows_of_a_stream_whatever_memory_there_is():
    model = textodds.train(passing(), learner="softmax", features=["words", "pairs"], memory=50_000)
    assert model.info["documents"] == N
    assert "chosen" not in model.info


@pytest.mark.slow
def test_an_open_recipe_learns_all_rows_of_a_stream(texts):
    model = textodds.train(iter(zip(*texts, strict=True)), learner="nb-softmax")
    assert model.info["documents"] == 300
    same = textodds.train(*texts, learner="nb-softmax")
    assert model.recipe == same.recipe
    np.testing.assert_array_equal(model.score(FRESH)[0], same.score(FRESH)[0])


def test_what_memory_holds_of_a_stream_is_looked_at_and_the_rest_still_comes():
    pooled = pool_of(read(passing()), memory=10_000)
    assert pooled.is_endless
    assert len(pooled.pool) <= N
    assert sum(map(len, pooled.batches)) == N


def test_a_source_that_can_be_read_again_is(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{t}\t{c}\n" for t, c in zip(TEXTS, LABELS, strict=True)))
    pooled = pool_of(read(path))
    assert (pooled.batches, pooled.is_endless, pooled.pool.total) == (None, False, N)
    given = {"learner": ["multinomial", "complement"], "features": ["words"]}
    assert textodds.train(path, **given).info["documents"] == N


@pytest.mark.slow
def test_rows_that_are_refused_are_counted_once_though_the_file_is_read_twice(tmp_path):
    path = tmp_path / "d.csv"
    rows = [f"{text},{label}" for text, label in zip(TEXTS[:300], LABELS, strict=False)]
    path.write_text("\n".join(["text,label", *rows, "no label,", "nor here,"]) + "\n")
    rejected = tmp_path / "rejected.jsonl"
    given = {"learner": ["multinomial", "bernoulli"], "bad_rows": "skip", "rejects_path": rejected}
    model = textodds.train(path, **given)
    assert model.info["rejected"] == 2
    assert len(rejected.read_text().splitlines()) == 2
    assert model.info["documents"] == 300


def test_a_stream_without_rows_is_said():
    with pytest.raises(textodds.errors.NoData, match="no row to learn from"):
        textodds.train(iter([]), learner="auto")
