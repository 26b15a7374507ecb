"""Models of several labels a text in other programs, and theirs here: the same probabilities and labels."""

import json
import pickle
from functools import cache

import numpy as np
import onnxruntime
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import textodds
from label_texts import LABELS, label_texts
from pairs import in_turn, together
from textodds import from_sklearn, to_onnx, to_sklearn
from textodds.errors import Unsupported
from textodds.learn.naive_bayes import MultinomialLearner
from textodds.model.multilabel.multilabel_model import MultiLabelModel

TEXTS, SETS = label_texts(400)
NEW = [*label_texts(1000, seed=9)[0], "", "zzz", "down down down", "Ünïcödé 字"]
MATRIX = MultiLabelBinarizer(classes=LABELS).fit_transform(SETS)
CASES = {
    "multinomial": {"learner": "multinomial"},
    "presence": {"learner": MultinomialLearner(0.1, binary=True)},
    "uncalibrated": {"learner": "multinomial", "calibrate": False, "sklearn": True},
    "softmax": {"learner": "softmax", "sklearn": True, "goal": "cost=1:5"},
    "characters": {"learner": "softmax:C=3", "characters": (2, 3), "goal": "precision=0.8"},
    "hashed": {"learner": "softmax:C=3", "hash_bits": 10},
}


@cache
def model_of(case):
    """The model of a case; not to be changed."""
    return textodds.train(TEXTS, SETS, **CASES[case])


def given(model, texts):
    return model.given(model.predict_proba(texts)).astype(np.int64)


@together
@pytest.mark.parametrize("case", CASES)
def test_a_pipeline_of_scikit_learn_gives_the_same(case):
    model = model_of(case)
    pipeline = pickle.loads(pickle.dumps(to_sklearn(model)))
    np.testing.assert_allclose(pipeline.predict_proba(NEW), model.predict_proba(NEW), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(pipeline.predict(NEW), given(model, NEW))
    assert pipeline.classes_.tolist() == list(model.classes_)


@together
@pytest.mark.parametrize("case", CASES)
def test_a_file_of_onnx_gives_the_same(case):
    model = model_of(case)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    labels, probabilities = session.run(["labels", "probabilities"], {"rows": model.rows(NEW).toarray()})
    np.testing.assert_allclose(probabilities, model.predict_proba(NEW), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(labels, given(model, NEW))
    assert labels.dtype == np.int64
    about = session.get_modelmeta().custom_metadata_map
    assert json.loads(about["classes"]) == list(model.class_names)
    assert json.loads(about["thresholds"]) == model.thresholds.tolist()


def test_a_model_of_one_label_is_exported():
    model = textodds.train(TEXTS, [[each for each in row if each == "angry"] for row in SETS])
    assert model.class_names == ("angry",)
    np.testing.assert_allclose(
        to_sklearn(model).predict_proba(NEW), model.predict_proba(NEW), rtol=0, atol=1e-10
    )


def test_what_was_exported_is_not_fitted_again():
    with pytest.raises(Unsupported, match="not fitted again"):
        to_sklearn(model_of("multinomial")).fit(TEXTS, MATRIX)


THEIRS = {
    "logistic": (TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=3.0)),
    "descent": (TfidfVectorizer(ngram_range=(1, 2)), SGDClassifier(loss="log_loss", random_state=0)),
    "multinomial": (CountVectorizer(), MultinomialNB()),
    "presence": (CountVectorizer(binary=True), MultinomialNB(alpha=0.1)),
    "weighted": (TfidfVectorizer(), MultinomialNB()),
}
EXTRA = {
    "as they are": lambda Y: Y,
    "one never": lambda Y: np.hstack([Y, 0 * Y[:, :1]]),
    "one always": lambda Y: np.hstack([Y, 0 * Y[:, :1] + 1]),
}


@in_turn(2)
@pytest.mark.parametrize("columns", EXTRA)
@pytest.mark.parametrize("kind", THEIRS)
@pytest.mark.filterwarnings("ignore:Label .* is present in all:UserWarning")
@pytest.mark.filterwarnings("ignore:Label not .* is present in all:UserWarning")
def test_one_versus_rest_on_a_matrix_becomes_a_model(kind, columns, tmp_path):
    vectoriser, classifier = THEIRS[kind]
    Y = EXTRA[columns](MATRIX)
    pipeline = make_pipeline(vectoriser, OneVsRestClassifier(classifier)).fit(TEXTS, Y)
    model = from_sklearn(pipeline, labels=[*LABELS, "zeal"][: Y.shape[1]])
    assert isinstance(model, MultiLabelModel)
    np.testing.assert_allclose(model.predict_proba(NEW), pipeline.predict_proba(NEW), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(given(model, NEW), pipeline.predict(NEW))
    model.save(tmp_path / "model")
    again = textodds.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


def test_labels_keep_the_columns_that_they_name():
    pipeline = make_pipeline(CountVectorizer(), OneVsRestClassifier(MultinomialNB())).fit(TEXTS, MATRIX)
    model = from_sklearn(pipeline, labels=["z", "y", "x", "w"])
    assert model.class_names == ("w", "x", "y", "z")
    np.testing.assert_allclose(
        model.predict_proba(NEW)[:, ::-1], pipeline.predict_proba(NEW), rtol=0, atol=1e-10
    )


def refused(vectoriser, classifier, y=MATRIX, **how):
    pipeline = make_pipeline(vectoriser, classifier).fit(TEXTS, y)
    with pytest.raises(Unsupported) as error:
        from_sklearn(pipeline, **how)
    return str(error.value)


def test_what_cannot_be_converted_is_refused_with_what_to_do():
    one = ["a" if row else "b" for row in SETS]
    assert "labels=[…]" in refused(CountVectorizer(), OneVsRestClassifier(MultinomialNB()))
    assert "leave `labels` out" in refused(CountVectorizer(), MultinomialNB(), one, labels=["a", "b"])
    few = refused(CountVectorizer(), OneVsRestClassifier(MultinomialNB()), labels=["a"])
    assert "4 columns, and 1 labels are named" in few
    twice = refused(CountVectorizer(), OneVsRestClassifier(MultinomialNB()), labels=["a", "a", "b", "c"])
    assert "named twice" in twice
    for classifier in (LinearSVC(), BernoulliNB(), SGDClassifier(loss="hinge")):
        said = refused(TfidfVectorizer(), OneVsRestClassifier(classifier), labels=LABELS)
        assert "not linear in words" in said
    of_one = OneVsRestClassifier(LogisticRegression())
    assert "one label a text" in refused(CountVectorizer(), of_one, one, labels=LABELS)
