"""Vectors in models of tables: alone, and with texts and other columns in one linear model."""

import numpy as np
import pytest

import textodds
from textodds.errors import BadRow, InputError
from textodds.model.tables.linear_table import labelled_rows
from textodds.study.generate import sample

BOTH = {"text": "text", "embedding": "vector"}


def made(n, seed, kinds=3, D=6):
    """Texts of few words and vectors, each of which tells classes apart in part."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(kinds, D))
    codes = random.integers(kinds, size=n)
    vectors = 0.9 * centres[codes] + random.normal(size=(n, D))
    words = [f"word{i}" for i in range(30)]
    texts = [
        " ".join([*random.choice(words, 6), *random.choice([f"own{k}x{i}" for i in range(6)], 2 * (i % 2))])
        for i, k in enumerate(codes)
    ]
    return texts, vectors, [f"class {k}" for k in codes]


def both(n, seed):
    texts, vectors, labels = made(n, seed)
    return {"text": texts, "embedding": vectors}, labels


@pytest.fixture(scope="module")
def model():
    return textodds.train(*both(400, 1), columns=BOTH)


def test_softmax_is_the_default_where_there_are_vectors(model):
    assert model.recipe.learner == "softmax"
    assert {block.kind for block in model.recipe.blocks} == {"terms", "vectors"}


def test_text_and_vector_together_are_better_than_each_alone(model):
    table, labels = both(600, 2)
    train, train_labels = both(400, 1)
    text = textodds.train(train["text"], train_labels, learner="softmax")
    vector = textodds.train({"embedding": train["embedding"]}, train_labels)
    alone = text.evaluate(table["text"], labels).log_loss
    by_vector = vector.evaluate({"embedding": table["embedding"]}, labels).log_loss
    assert model.evaluate(table, labels).log_loss < 0.97 * min(alone, by_vector)


def test_vectors_alone_are_logistic_regression_of_the_centred_vectors():
    from sklearn.linear_model import LogisticRegression

    _, vectors, labels = made(200, 3)
    model = textodds.train({"e": vectors}, labels, learner="softmax:C=2:tolerance=1e-10", calibrate=False)
    centred = vectors - vectors.mean(axis=0)
    rows = centred / np.sqrt((centred**2).sum(axis=1).mean())  # of squared length one on average
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(rows, labels)
    np.testing.assert_allclose(model.predict_proba({"e": vectors}), peer.predict_proba(rows), atol=1e-5)


def test_features_have_the_lengths_that_scales_say(model):
    data, features = labelled_rows(model.recipe.blocks, model.tally, model.corpus)
    dense = data.rows.toarray()
    for block, span in zip(model.recipe.blocks, features.spans, strict=True):
        assert (dense[:, span] ** 2).sum(axis=1).mean() == pytest.approx(block.scale**2)


def test_a_text_that_says_nothing_is_scaled_down():
    random = np.random.default_rng(4)
    _, vectors, labels = made(600, 4)
    noise = [" ".join(random.choice([f"n{i}" for i in range(300)], 30)) for _ in labels]
    model = textodds.train({"text": noise, "embedding": vectors}, labels, columns=BOTH)
    scales = {block.kind: block.scale for block in model.recipe.blocks}
    assert scales["terms"] < scales["vectors"]
    alone = textodds.train({"embedding": vectors}, labels)
    _, new, new_labels = made(600, 5)
    asked = {"text": noise, "embedding": new}
    loss = model.evaluate(asked, new_labels).log_loss
    assert loss < 1.05 * alone.evaluate({"embedding": new}, new_labels).log_loss


def test_the_explanation_adds_up_with_one_line_for_the_vector(model):
    table, _ = both(3, 6)
    for text, vector in zip(table["text"], table["embedding"], strict=True):
        why = model.explain({"text": text, "embedding": vector.tolist()})
        assert {name for name, _, _ in why.columns} == {"text", "embedding"}
        assert why.start + sum(odds for *_, odds in why.columns) == pytest.approx(why.log_odds)
        assert "6 numbers" in str(why)
        assert len(str(why)) < 400


@pytest.mark.parametrize("learner", ["softmax", "lda", "qda:shrinkage=0.1", "gaussian", "mixed"])
def test_vectors_alone_serve_every_learner_of_numbers(learner, tmp_path):
    _, vectors, labels = made(300, 7)
    model = textodds.train({"e": vectors}, labels, learner=learner)
    by_column = {f"e{d}": vectors[:, d] for d in range(6)}
    _, new, new_labels = made(300, 8)
    accuracy = model.evaluate({"e": new}, new_labels).accuracy
    assert accuracy > 0.6
    model.save(tmp_path / "model.textodds")
    opened = textodds.load(tmp_path / "model.textodds", check=True)
    np.testing.assert_array_equal(opened.predict_proba({"e": new}), model.predict_proba({"e": new}))
    if learner not in ("softmax", "mixed"):  # which have one scale for all numbers; and a covariance
        other = textodds.train(by_column, labels, learner=learner)
        asked = {f"e{d}": new[:, d] for d in range(6)}
        np.testing.assert_allclose(other.predict_proba(asked), model.predict_proba({"e": new}), rtol=1e-12)
        assert len(model.explain({"e": new[0]}).columns) == 1
        drawn, _ = sample(model, 4, seed=0)
        assert np.shape(drawn["e"]) == (4, 6)


def test_vectors_with_numbers_and_categories_learn_and_forget():
    texts, vectors, labels = made(320, 9)
    table = {
        "embedding": [None if i % 9 == 0 else row.tolist() for i, row in enumerate(vectors)],
        "size": [float(i % 5) for i in range(320)],
        "colour": ["red", "green", "blue", None] * 80,
        "text": texts,
    }
    part = {name: values[:300] for name, values in table.items()}
    rest = {name: values[300:] for name, values in table.items()}
    model = textodds.train(part, labels[:300], columns=BOTH)
    before = model.predict_proba(rest)
    model.learn(rest, labels[300:])
    whole = textodds.train(table, labels, like=model)
    np.testing.assert_array_equal(model.predict_proba(table), whole.predict_proba(table))
    model.forget(rest, labels[300:])
    np.testing.assert_array_equal(model.predict_proba(rest), before)


def test_embeddings_of_single_precision_are_kept_as_such(model, tmp_path):
    _, vectors, labels = made(200, 10, D=64)
    sizes = []
    for kind in (np.float32, np.float64):
        small = textodds.train({"e": vectors.astype(kind)}, labels, learner="softmax:C=1")
        small.save(tmp_path / "model")
        sizes.append((tmp_path / "model").stat().st_size)
        opened = textodds.load(tmp_path / "model")
        opened.forget({"e": vectors[:5].astype(kind)}, labels[:5])
    assert sizes[1] - sizes[0] == pytest.approx(200 * 64 * 4, rel=0.1)


def test_wrong_rows_are_refused_with_what_is_wrong(model):
    with pytest.raises(BadRow, match="`embedding` has 2 numbers, not 6"):
        model({"text": "word1", "embedding": [1.0, 2.0]})
    with pytest.raises(BadRow, match="row 2: `embedding` has no number at position 3"):
        model.predict({"text": ["", ""], "embedding": [[0.0] * 6, [0.0, 0.0, float("nan"), 0.0, 0.0, 0.0]]})
    with pytest.raises(InputError, match="`embedding` is one of vectors"):
        textodds.train(*both(30, 1), learner="categorical", columns=BOTH | {"text": "ignore"})


def test_a_vector_that_is_left_out_says_nothing(model):
    assert model({"text": "own1x1 own1x2"}).label == "class 1"
