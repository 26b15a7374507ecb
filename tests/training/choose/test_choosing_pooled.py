"""Softmax regression pooled with naive Bayes in the choice of `textodds.train`."""

import numpy as np
import pytest

import textodds
from textodds.cli import main
from textodds.errors import TextoddsError
from textodds.model.parameters import parameter_count as parameters_of

pytestmark = pytest.mark.slow


def two_kinds(n, seed=0):
    """Texts of two classes: eight words that come together, and eight rare ones that are independent.

    Naive Bayes takes the eight for as many witnesses, and softmax regression learns rare words slowly.
    """
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        k = i % 2
        chorus = k if random.random() > 0.2 else 1 - k
        rare = [
            f"r{2 * int(random.integers(400)) + (k if random.random() < 0.75 else 1 - k)}" for _ in range(8)
        ]
        texts.append(" ".join([*(f"chorus{chorus}v{v}" for v in range(8)), *rare]))
        labels.append(f"k{k}")
    return texts, labels


TEXTS = two_kinds(800)
NEW = two_kinds(1500, seed=1)


def loss_of(model):
    at = [model.class_names.index(label) for label in NEW[1]]
    return -model.predict_log_proba(NEW[0])[np.arange(len(at)), at].mean()


@pytest.fixture(scope="module")
def pooled():
    return textodds.train(*TEXTS, features="words", threads=1)


def test_a_pool_is_taken_where_it_is_better_and_is_better_on_new_texts(pooled):
    assert pooled.recipe.learner.naive_bayes > 0
    chosen = pooled.info["chosen"]
    assert chosen["tried"][0]["name"].endswith("with naive Bayes")
    alone = [line for line in chosen["tried"] if not line["name"].endswith("with naive Bayes")]
    named = textodds.train(*TEXTS, features="words", learner=["softmax", "nb-softmax", "multinomial"])
    assert not getattr(named.recipe.learner, "naive_bayes", 0.0)
    assert chosen["log_loss"] < min(line["log_loss"] for line in alone)
    assert loss_of(pooled) < loss_of(named)
    assert chosen["log_loss"] == pytest.approx(loss_of(pooled), rel=0.2)


def test_it_is_the_same_on_any_number_of_threads_and_when_the_recipe_is_trained_again(pooled, tmp_path):
    again = textodds.train(*TEXTS, features="words", threads=2)
    for name, model in (("one", pooled), ("two", again)):
        model.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    recipe = pooled.recipe
    more = {"settings": recipe.settings, "weighting": recipe.weighting, "min_df": recipe.selection.min_df}
    same = textodds.train(*TEXTS, learner=recipe.learner, **more)
    np.testing.assert_array_equal(same.predict_proba(NEW[0]), pooled.predict_proba(NEW[0]))


def test_it_learns_forgets_and_merges_as_if_trained_on_what_is_left(pooled):
    recipe = pooled.recipe
    more = {"settings": recipe.settings, "weighting": recipe.weighting, "min_df": recipe.selection.min_df}
    texts, labels = TEXTS
    begun = textodds.train(texts[:600], labels[:600], learner=recipe.learner, **more)
    begun.learn(texts[600:], labels[600:])
    rest = textodds.train(texts[600:], labels[600:], learner=recipe.learner, **more)
    merged = textodds.train(texts[:600], labels[:600], learner=recipe.learner, **more) + rest
    for model in (begun, merged):
        np.testing.assert_allclose(model.predict_proba(NEW[0]), pooled.predict_proba(NEW[0]), atol=2e-4)
        assert model.predict(NEW[0]).tolist() == pooled.predict(NEW[0]).tolist()
    fewer = merged - rest
    expected = textodds.train(texts[:600], labels[:600], learner=recipe.learner, **more)
    np.testing.assert_allclose(fewer.predict_proba(NEW[0]), expected.predict_proba(NEW[0]), atol=2e-4)


def test_top_words_and_explanations_are_of_the_whole(pooled):
    label, rival = "k1", "k0"
    shown = pooled.hyperplane(label, rival, None)
    weights = dict(shown.words)
    told = pooled.explain("chorus1v1 r1 r2", label, rival)
    rows = pooled.rows(["chorus1v1 r1 r2"]).toarray()[0]
    for part in told.parts:
        at = int(pooled.vocabulary.find([part.word])[0])
        assert part.log_odds == pytest.approx(weights[part.word] * rows[at], abs=1e-9)


def test_without_calibration_nothing_is_pooled():
    model = textodds.train(*TEXTS, features="words", calibrate=False)
    assert not getattr(model.recipe.learner, "naive_bayes", 0.0)


def test_without_time_nothing_is_pooled():
    model = textodds.train(*TEXTS, features="words", budget=0.0)
    assert not any("with naive Bayes" in line["name"] for line in model.info["chosen"]["tried"])


def test_train_and_inspect_say_so(pooled, tmp_path, capsys):
    path = tmp_path / "m.textodds"
    pooled.save(path)
    assert main(["inspect", str(path)]) == 0
    told = capsys.readouterr().out
    assert f"naive bayes {pooled.recipe.learner.naive_bayes:g}" in told
    assert "with naive Bayes: best of" in told
    K, V = 2, len(pooled.vocabulary)
    assert parameters_of(pooled).n == (K - 1) * (V + 1) + K * (V - 1)


def test_what_cannot_be_pooled_says_so(pooled):
    with pytest.raises(TextoddsError, match="naive Bayes is pooled"):
        pooled.odds_ratios("k0", "k1", ["r1"], *TEXTS)
