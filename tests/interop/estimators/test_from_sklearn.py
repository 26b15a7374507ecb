"""Fitted pipelines of scikit-learn as models of ours: the same labels, the same probabilities."""

import csv
import json
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectPercentile, VarianceThreshold, chi2
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import textodds
from pairs import cover, in_turn, together, turns
from textodds import from_sklearn
from textodds.cli import main
from textodds.data.values import label_of
from textodds.errors import InputError, Unsupported
from textodds.interop import estimators, vectorisers
from textodds.interop.linear_classes import LinearClasses
from textodds.interop.to_onnx import to_onnx
from textodds.interop.to_sklearn import to_sklearn
from unicode_texts import AWKWARD, texts

ODD = [
    "Don't",
    "i",
    "É",
    "E\u0301t\u0301e",
    "ﬁn",
    "~tilde",
    "1,000.50",
    "字",
    "ΟΔΟΣ",
    "a_b",
    "<UNK>",
    "#7",
    "İ",
]

VECTORISERS = {
    "count": CountVectorizer(),
    "count-pairs": CountVectorizer(ngram_range=(1, 2), stop_words="english", min_df=2, max_df=0.9),
    "count-binary": CountVectorizer(binary=True, max_features=40),
    "count-case": CountVectorizer(lowercase=False, strip_accents="unicode", token_pattern=r"(?u)\b\w+\b"),
    "count-ascii": CountVectorizer(strip_accents="ascii", token_pattern=r"[a-z]{2,}"),
    "count-whitespace": CountVectorizer(token_pattern=r"\S+", dtype=np.float64),
    "count-vocabulary": CountVectorizer(vocabulary=["own1x1", "shared0", "never", "own0x2", "ab", "shared3"]),
    "count-characters": CountVectorizer(analyzer="char", ngram_range=(1, 3)),
    "count-within-words": CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=2),
    "tfidf": TfidfVectorizer(),
    "tfidf-log": TfidfVectorizer(sublinear_tf=True, smooth_idf=False, ngram_range=(1, 3)),
    "tfidf-plain": TfidfVectorizer(norm=None),
    "tfidf-length": TfidfVectorizer(use_idf=False, binary=True),
    "tfidf-binary-log": TfidfVectorizer(binary=True, sublinear_tf=True, norm=None, use_idf=False),
    "tfidf-log-alone": TfidfVectorizer(sublinear_tf=True, norm=None, use_idf=False),
    "hashing": HashingVectorizer(n_features=2**9, alternate_sign=False),
    "hashing-counts": HashingVectorizer(n_features=2**8, alternate_sign=False, norm=None, ngram_range=(1, 2)),
    "hashing-binary": HashingVectorizer(n_features=2**6, alternate_sign=False, norm=None, binary=True),
    "our-count": vectorisers.CountVectorizer(ngram_range=(1, 2), stop_words=["shared0", "don", "I"]),
    "our-tfidf": vectorisers.TfidfVectorizer(sublinear_tf=True),
    "our-hashing": vectorisers.HashingVectorizer(n_features=2**10, alternate_sign=False, norm=None),
}
NAIVE = {
    "multinomial": naive_bayes.MultinomialNB(alpha=0.3),
    "multinomial-uniform": naive_bayes.MultinomialNB(fit_prior=False),
    "bernoulli": naive_bayes.BernoulliNB(alpha=0.5),
    "complement": naive_bayes.ComplementNB(),
    "complement-norm": naive_bayes.ComplementNB(alpha=0.1, norm=True),
    "our-multinomial": estimators.MultinomialNB(alpha=0.1),
    "our-multinomial-binary": estimators.MultinomialNB(binary=True),
    "our-bernoulli": estimators.BernoulliNB(),
    "our-complement": estimators.ComplementNB(alpha=0.2),
}
LINEAR = {
    "logistic": LogisticRegression(C=20.0),
    "logistic-of-a-prior": LinearClasses(C=20.0),
    "softmax": estimators.SoftmaxRegression(C=5.0),
    "nb-softmax": estimators.NBSoftmax(C=1.0),
    "our-lda": estimators.LinearDiscriminantAnalysis(shrinkage=0.5),
}
MARGINS = {
    "svc": LinearSVC(random_state=0),
    "svc-crammer": LinearSVC(multi_class="crammer_singer", random_state=0),
    "ridge": RidgeClassifier(alpha=0.5),
    "ridge-cv": RidgeClassifierCV(),
    "hinge": SGDClassifier(random_state=0),
    "huber": SGDClassifier(loss="huber", random_state=0, average=True),
    "perceptron": Perceptron(random_state=0),
}
CLASSIFIERS = NAIVE | LINEAR | MARGINS
BETWEEN = {
    "nothing": [],
    "tfidf": [TfidfTransformer()],
    "tfidf-log": [TfidfTransformer(sublinear_tf=True)],
    "tfidf-plain": [TfidfTransformer(norm=None)],
    "tfidf-twice": [TfidfTransformer(), TfidfTransformer()],
    "lengths": [Normalizer(), TfidfTransformer(use_idf=False), "passthrough", None],
    "best": [SelectKBest(chi2, k=30)],
    "best-then-tfidf": [SelectPercentile(chi2, percentile=40), TfidfTransformer()],
    "tfidf-then-best": [TfidfTransformer(), SelectKBest(chi2, k=25)],
    "tfidf-best-length": [TfidfTransformer(), SelectKBest(chi2, k=25), MaxAbsScaler(), Normalizer()],
    "scaled": [MaxAbsScaler()],
    "scaled-after": [TfidfTransformer(), StandardScaler(with_mean=False), VarianceThreshold()],
    "scaled-before": [StandardScaler(with_mean=False), Normalizer()],
    "not-scaled": [StandardScaler(with_mean=False, with_std=False), MaxAbsScaler()],
    "robust": [RobustScaler(with_centering=False)],
    "from-model": [SelectFromModel(LogisticRegression(), threshold="median")],
    "pipeline": [make_pipeline(SelectKBest(chi2, k=30), make_pipeline(TfidfTransformer()))],
}


@cache
def documents(classes, seed=0):
    """Texts of words shared by all, words of each class's own, and odd ones, some repeated; and labels."""
    random = np.random.default_rng([classes, seed])
    said, labels = [], []
    for row in range(12 * classes):
        k = row % classes if row < 10 * classes else 0
        words = [
            *random.choice([f"shared{i}" for i in range(9)], 4),
            *random.choice([f"own{k}x{i}" for i in range(8)], random.integers(1, 9)),
            *random.choice(ODD, 3),
        ]
        said.append(random.choice([" ", "  ", ", ", "\n"]).join(words))
        labels.append(f"class {k}")
    return said, labels


def new_texts(classes):
    """Texts that are not among the documents, and some that are odd."""
    odd = ["", " ", "unheard of", "SHARED0 " * 60, "own0x0 own1x0 zzz own0x0", "Ünïcödé 字", "I don't"]
    return documents(classes, 1)[0] + odd


def fitted(steps, classes=2, labels=None):
    """A pipeline of copies of these steps, fitted on the documents."""
    said, own = documents(classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that something has not converged, or that stop words are odd
        return clone(make_pipeline(*steps)).fit(said, own if labels is None else labels)


def expected_of(pipeline, said):
    """What the pipeline says of texts: probabilities, or its scores normalised, and in what order."""
    if hasattr(pipeline, "predict_proba"):
        return pipeline.predict_proba(said)
    scores = pipeline.decision_function(said)
    if scores.ndim == 1:
        scores = np.stack([-scores / 2, scores / 2], axis=1)
    return softmax(scores, axis=1)


def assert_same(model, pipeline, said):
    """The model has the probabilities and, where classes do not tie, the labels of the pipeline."""
    names = [str(label) for label in pipeline.classes_]
    assert model.classes_ == tuple(sorted(names))
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    expected = expected_of(pipeline, said)[:, order]
    np.testing.assert_allclose(model.predict_proba(said), expected, rtol=0, atol=1e-10)
    second, first = np.sort(expected, axis=1)[:, -2:].T
    clear = first - second > 1e-12
    assert clear.mean() > 0.1
    labels = np.array([str(label) for label in pipeline.predict(said)], dtype=object)
    assert model.predict(said)[clear].tolist() == labels[clear].tolist()


OFTEN = ("multinomial", "bernoulli", "complement", "logistic", "svc")
CASES = {
    *turns([*VECTORISERS], OFTEN, (5, 2), times=2),
    *cover(("count", "count-binary", "tfidf-log", "hashing-counts"), CLASSIFIERS, (2, 5)),
}


@together
@pytest.mark.parametrize(("vectoriser", "classifier", "classes"), sorted(CASES))
def test_every_vectoriser_and_classifier_gives_the_answers_of_the_pipeline(vectoriser, classifier, classes):
    pipeline = fitted([VECTORISERS[vectoriser], CLASSIFIERS[classifier]], classes)
    assert_same(from_sklearn(pipeline), pipeline, new_texts(classes))


@together
@in_turn(3)
@pytest.mark.parametrize(
    ("vectoriser", "classifier"),
    [
        *(("count", classifier) for classifier in OFTEN),
        ("count-binary", "multinomial"),
        ("count-binary", "bernoulli"),
        ("hashing-counts", "complement"),
        ("hashing-counts", "logistic"),
    ],
)
@pytest.mark.parametrize("between", BETWEEN)
def test_every_step_between_gives_the_answers_of_the_pipeline(vectoriser, between, classifier):
    pipeline = fitted([VECTORISERS[vectoriser], *BETWEEN[between], CLASSIFIERS[classifier]], 5)
    assert_same(from_sklearn(pipeline), pipeline, new_texts(5))


@together
@pytest.mark.parametrize(
    "between", ["nothing", "tfidf-plain", "lengths", "best", "tfidf-best-length", "scaled"]
)
@pytest.mark.parametrize("vectoriser", ["tfidf", "hashing", "tfidf-log-alone"])
def test_norms_and_scales_may_follow_one_another(vectoriser, between):
    pipeline = fitted([VECTORISERS[vectoriser], *BETWEEN[between], LogisticRegression()], 5)
    assert_same(from_sklearn(pipeline), pipeline, new_texts(5))


OF_TWO = {
    "log-loss": SGDClassifier(loss="log_loss", random_state=0),
    "logistic-without-intercept": LogisticRegression(fit_intercept=False),
    "logistic-without-penalty": LogisticRegression(C=np.inf, max_iter=10),
    "logistic-liblinear": LogisticRegression(solver="liblinear", class_weight={"class 1": 3.0}),
    "ridge-without-intercept": RidgeClassifier(fit_intercept=False),
    "bernoulli-of-rows": naive_bayes.BernoulliNB(binarize=None),
    "bernoulli-above-a-half": naive_bayes.BernoulliNB(binarize=0.5),
    "multinomial-prior": naive_bayes.MultinomialNB(class_prior=[0.9, 0.1]),
    "multinomial-odd-prior": naive_bayes.MultinomialNB(class_prior=[3.0, 1.0]),
    "multinomial-least-alpha": naive_bayes.MultinomialNB(alpha=0.0, force_alpha=False),
    "our-prior": estimators.MultinomialNB(class_prior={"class 1": 0.2, "class 0": 0.8}),
    "our-without-smoothing": estimators.BernoulliNB(alpha=1e-9),
}


@together
@pytest.mark.parametrize("classifier", OF_TWO)
def test_choices_of_classifiers_are_theirs(classifier):
    pipeline = fitted([CountVectorizer(binary=classifier == "bernoulli-of-rows"), OF_TWO[classifier]])
    assert_same(from_sklearn(pipeline), pipeline, new_texts(2))


def test_the_recipe_has_the_prior_and_the_smoothing_that_were_used():
    for choices, prior, alpha in (
        ({}, "data", 1.0),
        ({"fit_prior": False, "alpha": 0.5}, "uniform", 0.5),
        ({"class_prior": [3.0, 1.0]}, {"class 0": 0.75, "class 1": 0.25}, 1.0),
        ({"alpha": 0.0, "force_alpha": False}, "data", 1e-10),
    ):
        learner = from_sklearn(
            fitted([CountVectorizer(), naive_bayes.MultinomialNB(**choices)])
        ).recipe.learner
        assert learner.prior == (pytest.approx(prior) if isinstance(prior, dict) else prior)
        assert learner.alpha == alpha


def test_bernoulli_of_rows_that_are_not_binary_is_linear_in_them():
    counts = fitted([CountVectorizer(), MaxAbsScaler(), naive_bayes.BernoulliNB(binarize=None)])
    model = from_sklearn(counts)
    assert_same(model, counts, new_texts(2))
    assert textodds.learn.registry.name_of(model.recipe.learner) == "softmax"


def test_penalties_and_searches_of_logistic_regression_are_its_own():
    lasso = fitted([TfidfVectorizer(), LogisticRegression(l1_ratio=1.0, solver="liblinear", C=3.0)])
    model = from_sklearn(lasso)
    assert_same(model, lasso, new_texts(2))
    assert model.recipe.learner.C is None
    search = fitted([TfidfVectorizer(), LogisticRegressionCV(cv=3, scoring="accuracy", **CV)], 5)
    assert_same(from_sklearn(search), search, new_texts(5))


CV = (
    {"use_legacy_attributes": False} if "use_legacy_attributes" in LogisticRegressionCV().get_params() else {}
)


def test_what_scikit_learn_computes_in_single_precision_agrees_to_that():
    pipeline = fitted([TfidfVectorizer(dtype=np.float32), LogisticRegression()])
    said = new_texts(2)
    np.testing.assert_allclose(
        from_sklearn(pipeline).predict_proba(said), pipeline.predict_proba(said), atol=1e-6
    )


def test_discriminant_analysis_fitted_on_dense_rows_can_be_put_behind_a_vectoriser():
    said, labels = documents(5)
    vectoriser = CountVectorizer(max_features=20).fit(said)
    rows = vectoriser.transform(said).toarray()
    for classes in (labels, ["a" if label == "class 0" else "b" for label in labels]):
        lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2).fit(rows, classes)
        pipeline = make_pipeline(vectoriser, lda)
        model = from_sklearn(pipeline)
        assert_same(model, pipeline, new_texts(5))
        np.testing.assert_allclose(np.exp(model.form.log_prior), lda.priors_)


def test_a_smoothing_for_each_column_follows_its_word():
    said, _ = documents(2)
    alpha = np.linspace(0.1, 2.0, len(CountVectorizer().fit(said).vocabulary_))
    pipeline = fitted([CountVectorizer(), naive_bayes.MultinomialNB(alpha=alpha)])
    model = from_sklearn(pipeline)
    assert_same(model, pipeline, new_texts(2))
    column = pipeline[0].vocabulary_["shared3"]
    assert model.recipe.learner.alpha[model.vocabulary.find(["shared3"])[0]] == alpha[column]


def test_without_smoothing_possible_classes_have_the_same_probabilities():
    said = documents(2, 1)[0]
    with np.errstate(all="ignore"):
        pipeline = fitted([CountVectorizer(), naive_bayes.MultinomialNB(alpha=0.0)])
        expected = pipeline.predict_proba(said)
    some = ~np.isnan(expected).any(axis=1)
    assert some.any()
    np.testing.assert_allclose(from_sklearn(pipeline).predict_proba(said)[some], expected[some], atol=1e-8)


@together
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("kind", [estimators.MultinomialNB, estimators.BernoulliNB, estimators.ComplementNB])
def test_our_estimators_without_smoothing_agree_in_the_digits_that_are_left(kind, classes):
    said, labels = documents(classes)
    pipeline = make_pipeline(CountVectorizer(), kind(alpha=0.0))
    pipeline.fit(
        [f"{text} {label.replace(' ', '')}" for text, label in zip(said, labels, strict=True)], labels
    )
    new = [*new_texts(classes), "class0 class1", "class0 shared1", "class1"]
    np.testing.assert_allclose(
        from_sklearn(pipeline).predict_proba(new), pipeline.predict_proba(new), rtol=0, atol=1e-7
    )


@together
@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([10, 2, 30], ("10", "2", "30")),
        ([True, False], ("false", "true")),
        ([1.0, 0.0], ("0", "1")),
        ([-1, 1], ("-1", "1")),
        (["ö", "a b", "B"], ("B", "a b", "ö")),
    ],
    ids=str,
)
@pytest.mark.parametrize("classifier", ["multinomial", "logistic", "svc"])
def test_labels_become_text_in_the_order_of_their_names(classifier, labels, names):
    y = [labels[row % len(labels)] for row in range(len(documents(2)[0]))]
    pipeline = fitted([CountVectorizer(), CLASSIFIERS[classifier]], labels=y)
    model = from_sklearn(pipeline)
    assert model.classes_ == names
    column = [names.index(label_of(label)) for label in pipeline.classes_]
    said = new_texts(2)
    np.testing.assert_allclose(model.predict_proba(said)[:, column], expected_of(pipeline, said), atol=1e-10)


def test_a_classifier_of_one_class_says_it():
    said, _ = documents(2)
    for kind in (naive_bayes.MultinomialNB, naive_bayes.ComplementNB):
        pipeline = make_pipeline(CountVectorizer(), kind()).fit(said, ["only"] * len(said))
        model = from_sklearn(pipeline)
        assert model.predict(["a", "b"]).tolist() == ["only", "only"]
        assert model.predict_proba(["a"]).tolist() == [[1.0]]


# Any text at all.


@cache
def awkward_pipeline(vectoriser, classifier):
    random = np.random.default_rng(0)
    letters = list(AWKWARD + " ab" * 60)
    said = ["".join(random.choice(letters, 60)) for _ in range(120)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(clone(vectoriser), clone(classifier)).fit(said, ["x", "y", "z"] * 40)
    return pipeline, from_sklearn(pipeline)


UNUSUAL = [
    (CountVectorizer(), naive_bayes.MultinomialNB(alpha=0.1)),
    (CountVectorizer(lowercase=False, ngram_range=(1, 3)), naive_bayes.ComplementNB()),
    (TfidfVectorizer(strip_accents="unicode", token_pattern=r"\w+"), LogisticRegression(C=100)),
    (CountVectorizer(strip_accents="ascii", token_pattern=r"[a-zA-Z_]+"), naive_bayes.BernoulliNB()),
    (TfidfVectorizer(token_pattern=r"\S+", sublinear_tf=True), LinearSVC(random_state=0)),
    (TfidfVectorizer(analyzer="char", ngram_range=(1, 4)), LogisticRegression(C=100)),
    (CountVectorizer(analyzer="char_wb", ngram_range=(2, 5)), naive_bayes.MultinomialNB()),
    (HashingVectorizer(n_features=2**14, alternate_sign=False), LogisticRegression(C=100)),
    (vectorisers.TfidfVectorizer(), estimators.SoftmaxRegression(C=10.0)),
]


@pytest.mark.parametrize(("vectoriser", "classifier"), UNUSUAL, ids=str)
@given(said=st.lists(texts, min_size=1, max_size=5))
def test_any_text_has_the_answers_of_the_pipeline(vectoriser, classifier, said):
    pipeline, model = awkward_pipeline(vectoriser, classifier)
    expected = expected_of(pipeline, said)
    np.testing.assert_allclose(model.predict_proba(said), expected, rtol=0, atol=1e-10)
    second, first = np.sort(expected, axis=1)[:, -2:].T
    for label, answer, margin in zip(
        pipeline.predict(said), model.predict(said), first - second, strict=True
    ):
        assert label == answer or margin < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("vectoriser", ["count", "tfidf", "count-characters", "hashing"])
@given(said=st.lists(texts, min_size=4, max_size=12), new=st.lists(texts, min_size=1, max_size=4))
def test_any_texts_to_learn_from_give_the_answers_of_the_pipeline(vectoriser, said, new):
    pipeline = make_pipeline(clone(VECTORISERS[vectoriser]), naive_bayes.MultinomialNB())
    try:
        pipeline.fit(said, np.arange(len(said)) % 3)
    except ValueError as error:
        assert "empty vocabulary" in str(error)  # noqa: PT017
        return
    model = from_sklearn(pipeline)
    np.testing.assert_allclose(
        model.predict_proba(new + said), pipeline.predict_proba(new + said), rtol=0, atol=1e-10
    )


# What else can be done with the model.

SOME = [
    ("count", "multinomial", 5),
    ("count-binary", "multinomial", 2),
    ("count-pairs", "bernoulli", 5),
    ("count", "complement", 2),
    ("tfidf", "multinomial", 5),
    ("tfidf-log", "logistic", 5),
    ("tfidf", "svc", 2),
    ("hashing", "logistic", 5),
    ("hashing-counts", "multinomial", 2),
    ("count-characters", "softmax", 2),
    ("our-tfidf", "our-lda", 5),
]
some = pytest.mark.parametrize(("vectoriser", "classifier", "classes"), SOME)


@cache
def pipeline_of(vectoriser, classifier, classes):
    """A fitted pipeline; not to be changed."""
    return fitted([VECTORISERS[vectoriser], CLASSIFIERS[classifier]], classes)


@some
def test_the_way_back_gives_the_answers_of_the_first_pipeline(vectoriser, classifier, classes):
    first = pipeline_of(vectoriser, classifier, classes)
    model = from_sklearn(first)
    back = to_sklearn(model)
    said = new_texts(classes)
    np.testing.assert_allclose(back.predict_proba(said), expected_of(first, said), rtol=0, atol=1e-10)
    assert all(type(step).__module__.startswith("sklearn.") for _, step in back.steps)
    if "hashing" not in vectoriser:  # there buckets are chosen by a function
        assert_same(from_sklearn(back), back, said)


@some
def test_a_saved_model_says_the_same_in_the_same_bits(vectoriser, classifier, classes, tmp_path):
    model = from_sklearn(pipeline_of(vectoriser, classifier, classes))
    model.save(tmp_path / "model")
    again = textodds.load(tmp_path / "model")
    said = new_texts(classes)
    np.testing.assert_array_equal(again.score(said)[0], model.score(said)[0])
    assert again.recipe.as_dict() == model.recipe.as_dict()
    assert again.info == model.info
    assert again.form.is_posterior == model.form.is_posterior == (classifier not in ("svc", "complement"))


@some
def test_words_of_an_explanation_add_up_to_the_log_odds(vectoriser, classifier, classes):
    pipeline = pipeline_of(vectoriser, classifier, classes)
    model = from_sklearn(pipeline)
    text = documents(classes, 1)[0][0]
    why = model.explain(text)
    p = dict(zip(model.classes_, expected_of(pipeline, [text])[0], strict=True))
    assert why.label == pipeline.predict([text])[0]
    assert why.log_odds == pytest.approx(np.log(p[why.label] / p[why.rival]), abs=1e-7)
    assert len(why.words) > 0
    assert sum(odds for _, odds in why.lines) == pytest.approx(why.log_odds, abs=1e-10)


@some
def test_evaluation_measures_what_scikit_learn_does(vectoriser, classifier, classes):
    pipeline = pipeline_of(vectoriser, classifier, classes)
    said, labels = documents(classes, 1)
    found = from_sklearn(pipeline).evaluate(said, labels)
    assert found.accuracy == pytest.approx(pipeline.score(said, labels), abs=1e-12)


@some
def test_the_command_line_takes_it(vectoriser, classifier, classes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pipeline = pipeline_of(vectoriser, classifier, classes)
    from_sklearn(pipeline).save("model.textodds")
    said = [text.replace("\n", " ") for text in documents(classes, 1)[0][:5]]
    (tmp_path / "new.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
    assert main(["predict", "model.textodds", "new.txt"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    expected = expected_of(pipeline, said)
    assert [label for label, _ in lines] == pipeline.predict(said).tolist()
    assert [p for _, p in lines] == [f"{p:.4f}" for p in expected.max(axis=1)]
    assert main(["inspect", "model.textodds"]) == 0
    shown = capsys.readouterr().out
    assert "converted from scikit-learn" in shown
    assert type(pipeline[-1]).__name__ in shown
    assert main(["inspect", "model.textodds", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] is False
    assert main(["diff", "model.textodds", "model.textodds", "new.txt"]) == 0
    assert main(["inspect", "model.textodds", "--between", "class 0", "class 1"]) == 0
    assert main(["explain", "model.textodds", "--say", said[0]]) == 0


@some
def test_it_neither_learns_nor_forgets_and_says_so(vectoriser, classifier, classes):
    model = from_sklearn(pipeline_of(vectoriser, classifier, classes))
    before = model.score(["shared0 own0x1"])[0]
    for change in (model.learn, model.forget):
        with pytest.raises(Unsupported, match=r"counts|documents"):
            change("shared0 own0x1", "class 0")
    for combine in (lambda: model + model, lambda: model - model):
        with pytest.raises(Unsupported, match=r"counts|documents"):
            combine()
    np.testing.assert_array_equal(model.score(["shared0 own0x1"])[0], before)


def test_the_model_of_naive_bayes_is_the_one_that_training_makes():
    said, labels = documents(5)
    for name, learner in (
        ("multinomial", textodds.learn.naive_bayes.MultinomialLearner(alpha=0.3)),
        ("bernoulli", textodds.learn.naive_bayes.BernoulliLearner(alpha=0.5)),
        ("complement-norm", textodds.learn.naive_bayes.ComplementLearner(alpha=0.1, norm=True)),
    ):
        model = from_sklearn(pipeline_of("count", name, 5))
        trained = textodds.train(said, labels, learner=learner, sklearn=True, calibrate=False)
        assert model.recipe.as_dict() == trained.recipe.as_dict()
        assert model.class_documents == trained.class_documents
        assert model.vocabulary.words() == trained.vocabulary.words()
        np.testing.assert_allclose(model.score(said)[0], trained.score(said)[0], rtol=1e-12)
        if name != "complement-norm":
            np.testing.assert_allclose(model.log_density(said), trained.log_density(said), rtol=1e-12)
            given = {f"class {k}": share for k, share in enumerate((0.5, 0.2, 0.1, 0.1, 0.1))}
            for prior in ("uniform", "data", given):
                np.testing.assert_allclose(
                    model.with_prior(prior).predict_proba(said),
                    trained.with_prior(prior).predict_proba(said),
                    atol=1e-10,
                )


def test_a_prior_that_is_given_is_what_another_takes_the_place_of():
    said, labels = documents(5)
    pipeline = pipeline_of("tfidf", "logistic", 5)
    share = {label: labels.count(label) / len(labels) for label in set(labels)}
    plain, known = from_sklearn(pipeline), from_sklearn(pipeline, prior=share)
    np.testing.assert_allclose(known.predict_proba(said), plain.predict_proba(said), rtol=0, atol=1e-12)
    tilted = pipeline.predict_proba(said) / [share[name] for name in pipeline.classes_]
    np.testing.assert_allclose(
        known.with_prior("uniform").predict_proba(said),
        tilted / tilted.sum(axis=1, keepdims=True),
        atol=1e-10,
    )
    with pytest.raises(InputError, match="the classes are class 0"):
        from_sklearn(pipeline, prior={"class 0": 1.0})
    for name in ("multinomial", "svc"):
        with pytest.raises(InputError, match="leave prior out"):
            from_sklearn(pipeline_of("tfidf" if name == "svc" else "count", name, 2), prior={"class 0": 1.0})


def test_a_prior_may_name_labels_that_are_no_text():
    pipeline = fitted([CountVectorizer(), LogisticRegression()], labels=[0, 1] * 12)
    model = from_sklearn(pipeline, prior={1: 0.25, 0: 0.75})
    np.testing.assert_allclose(np.exp(model.form.log_prior), [0.75, 0.25])


def test_the_recipe_says_what_was_chosen():
    steps = [
        ("words", VECTORISERS["count-pairs"]),
        ("weights", TfidfTransformer()),
        ("best", SelectKBest(chi2, k=9)),
    ]
    balanced = LogisticRegression(C=7.0, class_weight="balanced")
    pipeline = clone(Pipeline([*steps, ("decide", balanced)])).fit(*documents(2))
    model = from_sklearn(pipeline)
    recipe = model.recipe
    assert (recipe.settings.ngrams, recipe.settings.unit, recipe.unknown) == ((1, 2), "sklearn", "ignore")
    assert set(recipe.settings.stop_words) == set(pipeline[0].get_stop_words())
    assert (recipe.selection.min_df, recipe.selection.max_df) == (2, 0.9)
    assert recipe.weighting == textodds.Weighting("count")
    assert recipe.learner == replace(
        textodds.learn.softmax.regression.SoftmaxLearner(), C=7.0, class_weight="balanced"
    )
    assert len(model.vocabulary) == len(pipeline[0].vocabulary_)  # all have a part in the length of a text
    assert list(model.info["converted"]["steps"]) == ["words", "weights", "best", "decide"]
    assert model.info["converted"]["steps"]["decide"].startswith("sklearn.linear_model.")
    best = fitted([CountVectorizer(), SelectKBest(chi2, k=9), naive_bayes.MultinomialNB()])
    assert len(from_sklearn(best).vocabulary) == 9


def test_it_goes_on_to_other_programs():
    onnxruntime = pytest.importorskip("onnxruntime")
    model = from_sklearn(pipeline_of("tfidf-log", "logistic", 5))
    said = new_texts(5)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    _, probabilities = session.run(None, {"rows": model.rows(said).toarray()})
    np.testing.assert_allclose(probabilities, model.predict_proba(said), atol=1e-10)
    estimator = estimators.TextClassifier.of(model)
    np.testing.assert_allclose(estimator.predict_proba(said), model.predict_proba(said))


def test_a_converted_model_opens_without_scikit_learn(tmp_path):
    from_sklearn(pipeline_of("tfidf-log", "logistic", 5)).save(tmp_path / "model")
    script = f"""
import sys
sys.modules["sklearn"] = None  # whatever imports it fails
import textodds
print(textodds.load({str(tmp_path / "model")!r})("own3x1 own3x2").label)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("class 3\n", "")


def test_the_pipeline_is_left_as_it_was():
    pipeline = fitted([TfidfVectorizer(), SelectKBest(chi2, k=20), MaxAbsScaler(), LogisticRegression()])
    before = pickle.dumps(pipeline)
    from_sklearn(pipeline)
    assert pickle.dumps(pipeline) == before


# What is refused: where, why, and what to do instead.


class OwnVectorizer(CountVectorizer):
    pass


class OwnClassifier(LogisticRegression):
    pass


def refused(pipeline):
    with pytest.raises(Unsupported) as caught:
        from_sklearn(pipeline)
    return caught.value


NB = naive_bayes.MultinomialNB()
REFUSED = {
    "a function that cuts texts": (
        [CountVectorizer(analyzer=str.split), NB],
        "countvectorizer",
        "analyzer is a function",
    ),
    "a function that cuts words": (
        [CountVectorizer(tokenizer=str.split, token_pattern=None), NB],
        "countvectorizer",
        "tokenizer is a function",
    ),
    "a function before": (
        [CountVectorizer(preprocessor=str.lower), NB],
        "countvectorizer",
        "preprocessor is a function",
    ),
    "a function of accents": (
        [TfidfVectorizer(strip_accents=str.lower), NB],
        "tfidfvectorizer",
        "strip_accents is a function",
    ),
    "another pattern": (
        [CountVectorizer(token_pattern=r"[^,]+"), NB],
        "countvectorizer",
        r"token_pattern='[^,]+'",
    ),
    "a pattern with a group": (
        [CountVectorizer(token_pattern=r"(\w)\w+"), NB],
        "countvectorizer",
        "token_pattern=",
    ),
    "long runs": ([CountVectorizer(ngram_range=(1, 17)), NB], "countvectorizer", "from 1 to 16"),
    "narrow numbers": ([CountVectorizer(dtype=np.uint8), NB], "countvectorizer", "uint8"),
    "the norm l1": ([TfidfVectorizer(norm="l1"), NB], "tfidfvectorizer", "norm='l1'"),
    "a norm between": ([CountVectorizer(), Normalizer("max"), NB], "normalizer", "norm='max'"),
    "a hash with signs": (
        [HashingVectorizer(n_features=2**8), LinearSVC()],
        "hashingvectorizer",
        "alternate_sign",
    ),
    "an odd hash": (
        [HashingVectorizer(n_features=1000, alternate_sign=False), NB],
        "hashingvectorizer",
        "n_features=1,000",
    ),
    "a hash of one": (
        [HashingVectorizer(n_features=1, alternate_sign=False), NB],
        "hashingvectorizer",
        "n_features=1 ",
    ),
    "a subclass that counts": (
        [OwnVectorizer(), NB],
        "ownvectorizer",
        "not a supported text vectoriser",
    ),
    "vectorisers side by side": (
        [FeatureUnion([("a", CountVectorizer())]), NB],
        "featureunion",
        "side by side",
    ),
    "logarithms of tf-idf": (
        [TfidfVectorizer(), TfidfTransformer(sublinear_tf=True), LinearSVC()],
        "tfidftransformer",
        "values that are not counts",
    ),
    "logarithms twice": (
        [
            TfidfVectorizer(sublinear_tf=True, norm=None, use_idf=False),
            TfidfTransformer(sublinear_tf=True),
            NB,
        ],
        "tfidftransformer",
        "values that are not counts",
    ),
    "a projection": ([CountVectorizer(), TruncatedSVD(2), LinearSVC()], "truncatedsvd", "mixes words"),
    "a function between": (
        [CountVectorizer(), FunctionTransformer(abs, accept_sparse=True), NB],
        "functiontransformer",
        "holds no code",
    ),
    "values cut off": ([CountVectorizer(), MaxAbsScaler(clip=True), NB], "maxabsscaler", "clip=True"),
    "a threshold of occurrences": (
        [CountVectorizer(), naive_bayes.BernoulliNB(binarize=1.0)],
        "bernoullinb",
        "binarize=1.0",
    ),
    "a threshold of tf-idf": (
        [TfidfVectorizer(), naive_bayes.BernoulliNB(binarize=0.1)],
        "bernoullinb",
        "binarize=0.1",
    ),
    "a calibrated classifier": (
        [CountVectorizer(), CalibratedClassifierCV(LinearSVC(), cv=2)],
        "calibratedclassifiercv",
        "textodds.train calibrates",
    ),
    "modified Huber loss": (
        [CountVectorizer(), SGDClassifier(loss="modified_huber")],
        "sgdclassifier",
        "modified_huber",
    ),
    "one against the rest": (
        [CountVectorizer(), OneVsRestClassifier(LogisticRegression())],
        "onevsrestclassifier",
        "each class against the rest",
    ),
    "another classifier": (
        [CountVectorizer(), DummyClassifier()],
        "dummyclassifier",
        "not a supported linear classifier",
    ),
    "a subclass that decides": (
        [CountVectorizer(), OwnClassifier()],
        "ownclassifier",
        "not a supported linear classifier",
    ),
    "a classifier of texts": ([Normalizer(), NB], "normalizer", "not a supported text vectoriser"),
}


@together
@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_converted_is_refused_with_step_reason_and_advice(what):
    steps, step, reason = REFUSED[what]
    pipeline = make_pipeline(*steps)
    if step != "normalizer" or len(steps) == 3:
        pipeline = fitted(steps)
    error = refused(pipeline)
    assert f"step `{step}` (" in error.problem
    assert reason in str(error)
    assert error.hint


@pytest.mark.parametrize("centred", [StandardScaler(), RobustScaler()], ids=str)
def test_rows_without_zeros_are_refused(centred):
    said, labels = documents(2)
    vectoriser = CountVectorizer()
    rows = vectoriser.fit_transform(said).toarray()
    pipeline = make_pipeline(vectoriser, centred.fit(rows), LogisticRegression().fit(rows, labels))
    assert "=True leaves no zero in a row" in refused(pipeline).problem


def test_probabilities_of_one_class_against_the_rest_are_refused():
    error = refused(fitted([CountVectorizer(), SGDClassifier(loss="log_loss", random_state=0)], 5))
    assert "each class against the rest" in error.problem
    assert "LogisticRegression" in error.hint


def test_older_ways_of_logistic_regression_are_known():
    pipeline = fitted([CountVectorizer(), LogisticRegression()], 5)
    pipeline[-1].multi_class = "ovr"
    assert "each class against the rest" in refused(pipeline).problem
    pipeline[-1].multi_class, pipeline[-1].solver = "auto", "liblinear"
    assert "each class against the rest" in refused(pipeline).problem
    pair = fitted([CountVectorizer(), LogisticRegression()])
    once = from_sklearn(pair).predict_log_proba(["shared0 own0x1"])
    pair[-1].multi_class = "multinomial"  # scikit-learn then had the softmax of both -d and d
    twice = from_sklearn(pair).predict_log_proba(["shared0 own0x1"])
    np.testing.assert_allclose(np.diff(twice), 2 * np.diff(once))


def test_several_labels_for_one_text_are_refused():
    said, _ = documents(2)
    y = np.random.default_rng(0).integers(0, 2, (len(said), 3))
    pipeline = make_pipeline(CountVectorizer(), RidgeClassifier()).fit(said, y)
    assert "several labels to one text" in refused(pipeline).problem


def test_what_is_no_pipeline_is_refused_with_where_one_is():
    pipeline = pipeline_of("count", "multinomial", 2)
    search = GridSearchCV(pipeline, {}, cv=2).fit(*documents(2))
    assert "best_estimator_" in refused(search).hint
    assert_same(from_sklearn(search.best_estimator_), search, new_texts(2))
    assert "model_" in refused(estimators.TextClassifier().fit(*documents(2))).hint
    assert "make_pipeline" in refused(pipeline[-1]).hint
    assert "make_pipeline" in refused(pipeline[:1]).hint
    assert "of type str" in refused("pipeline").problem


@pytest.mark.parametrize(
    "vectoriser", [CountVectorizer(), TfidfVectorizer(), vectorisers.CountVectorizer()], ids=str
)
def test_what_is_not_fitted_is_refused(vectoriser):
    said, labels = documents(2)
    assert "it is not fitted" in refused(make_pipeline(clone(vectoriser), NB)).problem
    assert "`multinomialnb`" in refused(make_pipeline(clone(vectoriser).fit(said), clone(NB))).problem
    rows = CountVectorizer().fit_transform(said)
    between = make_pipeline(clone(vectoriser).fit(said), TfidfTransformer(), clone(NB).fit(rows, labels))
    assert "`tfidftransformer`" in refused(between).problem


def test_parts_that_do_not_belong_together_are_refused():
    said, labels = documents(2)
    few = CountVectorizer(max_features=7).fit(said)
    rows = CountVectorizer().fit_transform(said)
    for part in (clone(NB).fit(rows, labels), LogisticRegression().fit(rows, labels)):
        assert "is given 7" in refused(make_pipeline(few, part)).problem
    error = refused(make_pipeline(few, TfidfTransformer().fit(rows), clone(NB).fit(rows, labels)))
    assert f"fitted on {rows.shape[1]} columns and is given 7" in error.problem


def test_weights_that_are_no_numbers_are_refused():
    pipeline = make_pipeline(CountVectorizer(), naive_bayes.BernoulliNB(alpha=0.0))
    with np.errstate(all="ignore"):
        pipeline.fit(["always here", "always there", "never"], ["x", "x", "y"])
    assert "not numbers" in refused(pipeline).problem
    hashed = fitted(
        [VECTORISERS["hashing-counts"], TfidfTransformer(norm=None, smooth_idf=False), LinearSVC()]
    )
    assert "smooth_idf=True" in refused(hashed).hint


def test_terms_that_are_no_text_are_refused():
    said, labels = documents(2)
    pipeline = make_pipeline(CountVectorizer(), clone(NB)).fit(
        [*said, "half\ud800word"], [*labels, "class 0"]
    )
    pipeline[0].vocabulary_ = {f"{word}\ud800": column for word, column in pipeline[0].vocabulary_.items()}
    assert "not valid Unicode" in refused(pipeline).problem


def test_labels_that_are_written_alike_are_refused():
    pipeline = fitted([CountVectorizer(), clone(NB)])
    pipeline[-1].classes_ = np.array([1, "1"], dtype=object)
    assert "different labels are the same text" in refused(pipeline).problem


def test_files_are_refused(tmp_path):
    said, labels = documents(2)
    paths = [tmp_path / f"{row}.txt" for row in range(len(said))]
    for path, text in zip(paths, said, strict=True):
        path.write_text(text, encoding="utf-8")
    pipeline = make_pipeline(CountVectorizer(input="filename"), clone(NB)).fit(paths, labels)
    assert "it reads files" in refused(pipeline).problem


# Real data.

REAL = {
    "sms_spam": [
        (CountVectorizer(), naive_bayes.MultinomialNB()),
        (CountVectorizer(ngram_range=(1, 2), min_df=2), naive_bayes.BernoulliNB()),
        (TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10.0)),
        (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=3), LinearSVC(random_state=0)),
        (
            HashingVectorizer(n_features=2**16, alternate_sign=False),
            SGDClassifier(loss="log_loss", random_state=0),
        ),
    ],
    "20newsgroups": [
        (vectorisers.CountVectorizer(stop_words="english"), naive_bayes.MultinomialNB(alpha=0.01)),
        (vectorisers.TfidfVectorizer(min_df=3), naive_bayes.ComplementNB()),
        (
            vectorisers.TfidfVectorizer(min_df=3, sublinear_tf=True),
            SGDClassifier(random_state=0, max_iter=5, tol=None),
        ),
    ],
}


@pytest.fixture
def long_fields():
    """Letters to a newsgroup may be longer than Python's reader of CSV allows by default."""
    before = csv.field_size_limit(1 << 24)
    yield
    csv.field_size_limit(before)


@pytest.mark.long
@pytest.mark.realdata
@pytest.mark.usefixtures("long_fields")
@pytest.mark.parametrize(
    ("name", "vectoriser", "classifier"),
    [(name, *parts) for name, pairs in REAL.items() for parts in pairs],
    ids=str,
)
def test_real_texts_have_the_answers_of_the_pipeline(name, vectoriser, classifier, real_data):
    train, (said, labels) = real_data(name)
    pipeline = make_pipeline(clone(vectoriser), clone(classifier)).fit(*train)
    model = from_sklearn(pipeline)
    expected = expected_of(pipeline, said)
    np.testing.assert_allclose(model.predict_proba(said), expected, rtol=0, atol=1e-10)
    assert model.predict(said).tolist() == pipeline.predict(said).tolist()
    assert model.evaluate(said, labels).accuracy == pytest.approx(pipeline.score(said, labels), abs=1e-12)
