"""One suite over every learner, layout of the weights, and way of making terms. No skips."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import textodds
from textodds import TextModel
from textodds.learn.forms.linear import Weights
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner

LEARNERS = {
    "multinomial": MultinomialLearner(),
    "multinomial-binary": MultinomialLearner(alpha=0.1, binary=True),
    "multinomial-uniform": MultinomialLearner(alpha=0.01, prior="uniform"),
    "bernoulli": BernoulliLearner(),
    "bernoulli-uniform": BernoulliLearner(alpha=0.1, prior="uniform"),
    "complement": ComplementLearner(),
    "complement-norm": ComplementLearner(alpha=0.1, norm=True),
    "complement-transform": ComplementLearner(transform=True),
    "complement-norm-transform": ComplementLearner(alpha=0.5, norm=True, transform=True),
}
CLASSES = (2, 12)
SETTINGS = {
    "words": {},
    "hashing": {"hash_bits": 9},
    "ngrams": {"ngrams": (1, 2), "stop_words": ["shared0"]},
    "characters": {"unit": "characters-in-words", "ngrams": (3, 3)},
    "selection": {"min_df": 2, "max_df": 0.9, "max_features": 60},
    "unknown-smooth": {"unknown": "smooth"},
    "unknown-first": {"unknown": "first", "max_features": 50},
    "unknown-count": {
        "unknown": "count",
        "vocabulary": [f"shared{i}" for i in range(9)] + ["own0x0", "own1x3"],
    },
}
CASES = [
    (learner, classes, settings)
    for learner in LEARNERS
    for classes in CLASSES
    for settings in SETTINGS
    if not ("transform" in learner and "unknown" in settings)  # refused, see test_semantics.py
]
every_case = pytest.mark.parametrize(("learner", "classes", "settings"), CASES, ids=lambda value: str(value))


@cache
def documents(classes, seed=0):
    """Texts of words shared by all and words of each class's own, some repeated, and their labels."""
    random = np.random.default_rng([classes, seed])
    shared = [f"shared{i}" for i in range(9)]
    texts, labels = [], []
    for row in range(5 * classes):
        k = row % classes
        own = [f"own{k}x{i}" for i in range(12)]
        texts.append(" ".join([*random.choice(shared, 4), *random.choice(own, random.integers(0, 9))]))
        labels.append(f"class {k:02}")
    return tuple(texts), tuple(labels)


def new_texts(classes):
    """Texts that are not among the documents, and some that are odd."""
    return [
        *documents(classes, 1)[0],
        "",
        "unheard of",
        "shared0 " * 300,
        "own0x0 own1x0 zzz own0x0",
        "Ünïcödé 字",
    ]


def trained(learner, settings, texts, labels, weights=None):
    """A model of a case."""
    return textodds.train(list(texts), list(labels), weights, learner=LEARNERS[learner], **SETTINGS[settings])


@cache
def model_of(learner, classes, settings):
    """The model of a case on its documents; not to be changed."""
    return trained(learner, settings, *documents(classes))


def same_bits(left, right, texts):
    """Two models give the same bits."""
    assert left.classes_ == right.classes_
    for got, expected in zip(left.score(texts), right.score(texts), strict=True):
        np.testing.assert_array_equal(got, expected)


def close(got, expected):
    """Equal up to rounding, relative to the largest."""
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_layouts_are_what_they_are_meant_to_be(learner):
    assert model_of(learner, 2, "words").linear.weights.dense is not None
    assert model_of(learner, 12, "words").linear.weights.dense is None


@every_case
def test_rows_sum_to_one(learner, classes, settings):
    probabilities = model_of(learner, classes, settings).predict_proba(new_texts(classes))
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)


@every_case
def test_the_label_is_the_most_probable_class(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    best = model.predict_proba(texts).argmax(axis=1)
    assert model.predict(texts).tolist() == [model.classes_[k] for k in best]


@every_case
def test_batch_equals_one_by_one(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    scores, evidence = model.score(texts)
    for i, text in enumerate(texts):
        np.testing.assert_array_equal(model.score([text])[0][0], scores[i])
        prediction = model(text)
        assert prediction.evidence == evidence[i, 0]
        assert prediction.label == model.classes_[scores[i].argmax()]
        close(list(prediction.probabilities.values()), model.predict_proba([text])[0])


@every_case
def test_permuting_documents_changes_nothing(learner, classes, settings):
    texts, labels = documents(classes)
    order = np.random.default_rng(0).permutation(len(texts))
    permuted = trained(learner, settings, [texts[i] for i in order], [labels[i] for i in order])
    model = model_of(learner, classes, settings)
    if "transform" in learner:  # sums of numbers that are not whole
        close(permuted.score(new_texts(classes))[0], model.score(new_texts(classes))[0])
    else:
        same_bits(permuted, model, new_texts(classes))


@every_case
def test_renaming_classes_permutes_the_answer(learner, classes, settings):
    texts, labels = documents(classes)
    names = {label: f"renamed {99 - k:02}" for k, label in enumerate(sorted(set(labels)))}
    renamed = trained(learner, settings, texts, [names[label] for label in labels])
    expected = model_of(learner, classes, settings).score(new_texts(classes))[0]
    close(renamed.score(new_texts(classes))[0], expected[:, ::-1])


@every_case
def test_a_weight_of_two_equals_two_rows(learner, classes, settings):
    texts, labels = documents(classes)
    weights = [2.0 if i % 3 else 1.0 for i in range(len(texts))]
    twice = [
        (text, label)
        for text, label, times in zip(texts, labels, weights, strict=True)
        for _ in range(int(times))
    ]
    weighted = trained(learner, settings, texts, labels, weights)
    repeated = trained(learner, settings, *zip(*twice, strict=True))
    if "transform" in learner:
        close(weighted.score(new_texts(classes))[0], repeated.score(new_texts(classes))[0])
    else:
        same_bits(weighted, repeated, new_texts(classes))


@every_case
def test_saving_and_loading_gives_the_same_bits(learner, classes, settings, tmp_path):
    model = model_of(learner, classes, settings)
    model.save(tmp_path / "model")
    loaded = textodds.load(tmp_path / "model")
    same_bits(loaded, model, new_texts(classes))
    assert loaded.recipe.as_dict() == model.recipe.as_dict()
    assert loaded.tally == model.tally
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    model.save(tmp_path / "bare", counts=False)
    same_bits(textodds.load(tmp_path / "bare"), model, new_texts(classes))


@every_case
def test_weights_as_exceptions_equal_the_full_matrix(learner, classes, settings):
    model = model_of(learner, classes, settings)
    matrix = model.linear.weights.rows(np.arange(len(model.vocabulary)))  # (V, K)
    default = matrix.min(axis=0)
    places, columns = np.nonzero(matrix != default)
    exceptions = Weights(
        default,
        np.zeros(0),
        np.zeros(0),
        starts=np.searchsorted(places, np.arange(len(matrix) + 1)).astype(np.uint64),
        class_of=columns.astype(np.uint32),
        exceptions=(matrix - default)[places, columns],
    )
    for weights in (exceptions, Weights.of_matrix(matrix)):
        linear = replace(model.linear, weights=weights)
        other = TextModel(model.recipe, model.vocabulary, linear, None, {})
        close(other.score(new_texts(classes))[0], model.score(new_texts(classes))[0])


@every_case
def test_the_linear_form_scores_as_the_kernel_does(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    rows = model.rows(texts)
    assert rows.shape == (len(texts), len(model.vocabulary))
    close(model.linear.scores(rows), model.score(texts)[0])
    close(model.linear.scores(rows.toarray()), model.score(texts)[0])


@every_case
def test_threads_do_not_matter(learner, classes, settings):
    texts, labels = documents(classes)
    one, four = (
        textodds.train(
            list(texts) * 40, list(labels) * 40, learner=LEARNERS[learner], threads=n, **SETTINGS[settings]
        )
        for n in (1, 4)
    )
    assert one.tally == four.tally
    same_bits(one, four, new_texts(classes) * 40)


@every_case
def test_explanations_add_up_to_the_scores(learner, classes, settings):
    model = model_of(learner, classes, settings)
    for text in new_texts(classes)[-8:]:
        scores = np.sort(model.score([text])[0][0])[::-1]
        explanation = model.explain(text)
        assert explanation.log_odds == pytest.approx(scores[0] - scores[1], abs=1e-9)


@every_case
def test_no_input_is_changed(learner, classes, settings):
    texts, labels = map(list, documents(classes))
    weights = np.linspace(0.5, 2, len(texts))
    before = copy.deepcopy((texts, labels, weights))
    model = trained(learner, settings, texts, labels, weights)
    model.predict_proba(texts)
    for now, then in zip((texts, labels, weights), before, strict=True):
        np.testing.assert_array_equal(now, then)


@every_case
def test_scoring_changes_no_model(learner, classes, settings):
    model = model_of(learner, classes, settings)
    before = model.tally.fingerprint(), len(model.vocabulary), model.score(new_texts(classes))[0]
    model.predict(["words nobody has ever seen"] * 3)
    model.explain("nor these")
    assert (model.tally.fingerprint(), len(model.vocabulary)) == before[:2]
    np.testing.assert_array_equal(model.score(new_texts(classes))[0], before[2])


LEARNING = [case for case in CASES if "transform" not in case[0]]


@pytest.mark.parametrize(("learner", "classes", "settings"), LEARNING, ids=lambda value: str(value))
def test_learning_adding_and_forgetting_equal_training(learner, classes, settings):
    texts, labels = documents(classes)
    half = len(texts) // 2
    whole = model_of(learner, classes, settings)
    learned = trained(learner, settings, texts[:half], labels[:half])
    learned.learn(list(texts[half:]), list(labels[half:]))
    same_bits(learned, whole, new_texts(classes))
    added = trained(learner, settings, texts[:half], labels[:half]) + trained(
        learner, settings, texts[half:], labels[half:]
    )
    same_bits(added, whole, new_texts(classes))
    learned.forget(list(texts[half:]), list(labels[half:]))
    same_bits(learned, trained(learner, settings, texts[:half], labels[:half]), new_texts(classes))
