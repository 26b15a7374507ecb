"""`TextClassifier`: raw texts where scikit-learn wants an estimator, exact batches, exact forgetting."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn import naive_bayes
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import textodds
from pairs import together
from textodds.errors import InputError, LengthMismatch, NegativeCount, NoData, Unsupported
from textodds.interop.estimators import (
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NBSoftmax,
    SoftmaxRegression,
    TextClassifier,
)
from textodds.learn import naive_bayes as core
from textodds.text import Weighting

COUNTS = ["multinomial", "bernoulli", "complement"]
FIXED = [core.MultinomialLearner(1.0), core.BernoulliLearner(1.0), core.ComplementLearner(1.0)]
WHOLE = ["softmax", "nb-softmax", "lda", "qda"]
TEXTS = ["free phone", "see you at six", "free prize", "at six?", "a phone", "dinner at home"]
Y = np.array([1, 0, 1, 0, 1, 0])


def mail(n=240, K=2):
    """Texts of a few words, and their classes, which overlap."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, K, n)
    rates = rng.gamma(0.5, size=40) * np.exp(0.8 * rng.normal(size=(K, 40)))
    rates /= rates.sum(axis=1, keepdims=True)
    texts = [" ".join(f"w{v}" for v in rng.choice(40, size=rng.integers(2, 12), p=rates[k])) for k in y]
    return texts, y


FORMS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "one column": lambda texts: np.array(texts, dtype=object)[:, None],
    "generator": iter,
    "bytes": lambda texts: [text.encode() for text in texts],
    "pandas": lambda texts: pd.Series(texts, index=range(len(texts), 0, -1)),
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas frame": lambda texts: pd.DataFrame({"anything": texts}),
    "polars": pl.Series,
    "polars frame": lambda texts: pl.DataFrame({"anything": texts}),
    "arrow": pa.array,
    "arrow chunks": lambda texts: pa.chunked_array([texts[:2], texts[2:]]),
    "arrow table": lambda texts: pa.table({"anything": texts}),
    "arrow stream": lambda texts: pa.table({"anything": texts}).to_reader(),
}


@together
@pytest.mark.parametrize("form", FORMS)
def test_texts_come_in_any_container(form):
    make = FORMS[form]
    expected = TextClassifier().fit(TEXTS, Y)
    model = TextClassifier().fit(make(TEXTS), Y)
    np.testing.assert_array_equal(model.predict_log_proba(make(TEXTS)), expected.predict_log_proba(TEXTS))
    np.testing.assert_array_equal(model.predict(make(TEXTS)), Y)
    batches = TextClassifier().partial_fit(make(TEXTS), Y).partial_fit(make(TEXTS), Y).forget(make(TEXTS), Y)
    np.testing.assert_array_equal(batches.predict_log_proba(TEXTS), expected.predict_log_proba(TEXTS))


@pytest.mark.parametrize("learner", COUNTS + WHOLE)
def test_the_model_is_that_of_train(learner):
    texts, y = mail()
    model = TextClassifier(learner=learner).fit(texts, y)
    expected = textodds.train(texts, y, learner=learner)
    assert model.model_.recipe == expected.recipe
    np.testing.assert_array_equal(model.predict_log_proba(texts), expected.predict_log_proba(texts))
    assert (model.model_.calibration is None) == (expected.calibration is None)
    assert model.score(texts, y) == expected.evaluate(texts, y).accuracy


@together
@pytest.mark.parametrize(
    ("choices", "recipe"),
    [
        ({"unit": "characters", "ngrams": (1, 3)}, {}),
        ({"characters": (2, 3), "lower": False, "strip_accents": True}, {}),
        ({"stop_words": ["w1", "w2"], "hash_bits": 10}, {}),
        ({"min_df": 3, "max_df": 0.5, "max_features": 20, "unknown": "smooth"}, {}),
        ({"vocabulary": ["w1", "w2", "w3"], "unknown": "count"}, {}),
        ({"normal_form": "NFKC", "threads": 1}, {"threads": 1, "normal_form": "NFKC"}),
        ({"normal_form": False}, {"normal_form": None}),
        ({"sklearn": True, "calibrate": False}, {}),
        (
            {"learner": SoftmaxRegression(C=1.0), "weighting": Weighting("binary")},
            {"learner": SoftmaxRegression(C=1.0).learner(), "weighting": Weighting("binary")},
        ),
    ],
    ids=str,
)
def test_choices_reach_the_recipe(choices, recipe):
    texts, y = mail()
    model = TextClassifier(**choices).fit(texts, y)
    expected = textodds.train(texts, y, **{"learner": "multinomial", **(recipe or choices)})
    assert model.model_.recipe == expected.recipe
    np.testing.assert_array_equal(model.predict_log_proba(texts), expected.predict_log_proba(texts))


@pytest.mark.parametrize(
    ("learner", "reference"),
    [
        (MultinomialNB(), naive_bayes.MultinomialNB()),
        (core.BernoulliLearner(1.0), naive_bayes.BernoulliNB()),
        (core.ComplementLearner(alpha=0.3), naive_bayes.ComplementNB(alpha=0.3)),
    ],
    ids=COUNTS,
)
def test_the_numbers_are_those_of_the_pipeline_of_scikit_learn(learner, reference):
    texts, y = mail(K=4)
    u = np.arange(len(y)) % 3 / 4
    model = TextClassifier(learner=learner, sklearn=True, calibrate=False).fit(texts, y, u)
    # Words that are in texts of no weight alone are words to scikit-learn, and none to us.
    words = CountVectorizer().fit([text for text, each in zip(texts, u, strict=True) if each])
    theirs = reference.fit(words.transform(texts), y, u)
    np.testing.assert_allclose(
        model.predict_proba(texts), theirs.predict_proba(words.transform(texts)), rtol=0, atol=1e-10
    )


@pytest.mark.realdata
def test_real_texts_have_the_probabilities_of_the_pipeline_of_scikit_learn(real_data):
    (texts, y), (new, truth) = real_data("sms_spam")
    theirs = make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB()).fit(texts, y)
    ours = TextClassifier(learner=MultinomialNB(), sklearn=True, calibrate=False).fit(texts, y)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    assert ours.score(new, truth) == theirs.score(new, truth)


@together
@pytest.mark.parametrize("learner", [*FIXED, core.MultinomialLearner(alpha=0.1, binary=True)], ids=str)
@pytest.mark.parametrize("settings", [{}, {"min_df": 2, "ngrams": (1, 2)}, {"hash_bits": 12}], ids=str)
def test_batches_equal_the_whole_bit_for_bit(learner, settings):
    texts, y = mail(K=3)
    u = np.arange(len(y)) % 4 / 2
    order = np.argsort(-y, kind="stable")  # classes come one after another
    model = TextClassifier(learner=learner, calibrate=False, **settings)
    for part in np.array_split(order, 5):
        model.partial_fit([texts[i] for i in part], y[part], sample_weight=u[part])
    whole = TextClassifier(learner=learner, calibrate=False, **settings).fit(texts, y, u)
    np.testing.assert_array_equal(model.classes_, whole.classes_)
    assert model.model_.tally == whole.model_.tally
    np.testing.assert_array_equal(model.predict_log_proba(texts), whole.predict_log_proba(texts))


@pytest.mark.parametrize("learner", FIXED, ids=str)
def test_what_is_forgotten_was_never_learned(learner):
    texts, y = mail(K=3)
    u = np.arange(len(y)) % 4 / 2
    model = TextClassifier(learner=learner, calibrate=False).fit(texts, y, u)
    model.forget(texts[:100], y[:100], u[:100])
    rest = TextClassifier(learner=learner, calibrate=False).fit(texts[100:], y[100:], u[100:])
    assert model.model_.tally == rest.model_.tally
    np.testing.assert_array_equal(model.predict_log_proba(texts), rest.predict_log_proba(texts))


def test_what_was_not_learned_cannot_be_forgotten_and_nothing_changes():
    model = TextClassifier().fit(TEXTS, Y)
    before = model.predict_log_proba(TEXTS)
    with pytest.raises(NegativeCount):
        model.forget(["never seen"], [1])
    with pytest.raises(NegativeCount):
        model.forget(["free phone"], [0])
    np.testing.assert_array_equal(model.predict_log_proba(TEXTS), before)


def test_a_class_whose_texts_are_all_forgotten_is_impossible_until_it_has_some():
    model = TextClassifier().fit([*TEXTS, *["bonjour"] * 4], [*Y, *[2] * 4])
    model.forget(["bonjour"] * 4, [2] * 4)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(["bonjour"])[0, 2] == 0
    assert model.partial_fit(["bonjour"] * 4, [2] * 4).predict(["bonjour"]) == [2]


def test_a_declared_class_without_texts_is_impossible_until_it_has_some():
    model = TextClassifier().partial_fit(TEXTS, Y, classes=[2, 0, 1])
    assert model.predict_proba(["bonjour"])[0, 2] == 0
    assert model.predict_log_proba(["bonjour"])[0, 2] == -np.inf
    model.partial_fit(["bonjour"] * 4, [2] * 4)
    assert model.predict(["bonjour"]) == [2]
    with pytest.raises(InputError, match=r"\[7\] in y do not exist"):
        model.partial_fit(["x"], [7], classes=[0, 1, 2])
    assert model.partial_fit(["hello"], [7]).classes_.tolist() == [0, 1, 2, 7]


def test_the_calibration_is_that_of_all_batches():
    texts, y = mail()
    whole = TextClassifier(learner=MultinomialNB()).fit(texts, y)
    model = TextClassifier().partial_fit(texts[:150], y[:150]).partial_fit(texts[150:], y[150:])
    assert whole.model_.calibration is not None
    np.testing.assert_array_equal(model.predict_proba(texts), whole.predict_proba(texts))


@together
@pytest.mark.parametrize("learner", [*WHOLE, SoftmaxRegression(), core.ComplementLearner(transform=True)])
def test_learners_that_need_all_texts_neither_learn_on_nor_forget(learner):
    model = TextClassifier(learner=learner)
    for method in ("partial_fit", "forget"):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError) as caught:
            getattr(model, method)
        assert isinstance(caught.value.__cause__, Unsupported)


@together
@pytest.mark.parametrize(
    "labels",
    [[3, 10, 200], [-1.0, 0.0, 2.0], ["b", "a", "ä"], [False, True], np.array(["x", "y"], dtype=object)],
    ids=str,
)
@pytest.mark.parametrize("learner", ["multinomial", "softmax"])
def test_labels_keep_their_type_and_order(labels, learner):
    labels = np.asarray(labels)
    codes = np.arange(60) % len(labels)
    texts = [f"word{k} common{i % 7}" for i, k in enumerate(codes)]
    model = TextClassifier(learner=learner).fit(texts, labels[codes])
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.classes_.dtype == model.predict(texts).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(texts), labels[codes])
    columns = [model.classes_.tolist().index(label) for label in labels[codes]]
    assert (model.predict_proba(texts)[np.arange(60), columns] > 0.5).all()


@pytest.mark.parametrize("K", [2, 3])
def test_decisions_are_log_odds_of_two_classes_and_log_probabilities_of_more(K):
    texts, y = mail(K=K)
    model = TextClassifier().fit(texts, y)
    L = model.predict_log_proba(texts)
    expected = L[:, 1] - L[:, 0] if K == 2 else L
    np.testing.assert_allclose(model.decision_function(texts), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(texts).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("learner", COUNTS + WHOLE)
def test_a_pickle_gives_the_same_bits_and_holds_the_model_file(learner, tmp_path):
    texts, y = mail(K=3)
    model = TextClassifier(learner=learner, threads=1).fit(texts, y)
    assert isinstance(model.__getstate__()["model_"], bytes)
    assert isinstance(model.model_, textodds.TextModel)  # asking for the state leaves it as it was
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    for other in (pickle.loads(pickle.dumps(model)), joblib.load(buffer)):
        np.testing.assert_array_equal(other.predict_log_proba(texts), model.predict_log_proba(texts))
        assert other.get_params() == model.get_params()
        assert other.model_.threads == 1
    if learner in COUNTS:
        for each in (model, other):
            each.forget(texts[:50], y[:50])
        np.testing.assert_array_equal(other.predict_log_proba(texts), model.predict_log_proba(texts))
    assert pickle.loads(pickle.dumps(clone(model))).get_params() == model.get_params()


def test_a_clone_has_the_choices_and_nothing_learned():
    model = TextClassifier(learner=NBSoftmax(C=2.0), ngrams=(1, 2)).fit(*mail())
    other = clone(model)
    assert not hasattr(other, "classes_")
    assert other.learner is not model.learner
    assert other.get_params()["learner__C"] == 2.0
    with pytest.raises(NotFittedError):
        other.predict(["x"])


def test_an_estimator_around_a_loaded_model_is_fitted_and_learns_on(tmp_path):
    texts, y = mail()
    options = {"min_df": 2, "ngrams": (1, 2), "normal_form": None, "calibrate": False}
    made = textodds.train(texts, y, learner="multinomial", **options)
    made.save(tmp_path / "m")
    model = TextClassifier.of(textodds.load(tmp_path / "m"))
    assert model.classes_.tolist() == [0, 1]  # as they were in training
    np.testing.assert_array_equal(model.predict_log_proba(texts), made.predict_log_proba(texts))
    again = clone(model).fit(texts, y.astype(str))
    assert again.model_.recipe == made.recipe
    np.testing.assert_array_equal(again.predict_log_proba(texts), made.predict_log_proba(texts))
    model.forget(texts[:10], y[:10])
    assert (
        model.model_.tally
        == textodds.train(texts[10:], y[10:], learner="multinomial", ngrams=(1, 2), normal_form=None).tally
    )
    with pytest.raises(InputError, match="not a model of texts"):
        TextClassifier.of(made.tally)


def test_an_explanation_is_that_of_the_model():
    model = TextClassifier().fit(TEXTS, Y)
    assert model.explain("a free phone") == model.model_.explain("a free phone")
    asked = model.explain("a free phone", 0, 1)
    assert (asked.label, asked.rival) == ("0", "1")
    assert asked == model.model_.explain("a free phone", "0", "1")
    assert model.explain("a free phone", 0, "others").rival == "others"


def test_a_grid_search_reaches_the_choices_and_those_of_its_learner():
    texts, y = mail()
    grid = {"learner__C": [1e-4, 1.0], "ngrams": [(1, 1), (1, 2)]}
    search = GridSearchCV(TextClassifier(learner=SoftmaxRegression()), grid, scoring="neg_log_loss", cv=3)
    search.fit(texts, y)
    assert search.best_params_["learner__C"] == 1.0
    assert search.best_estimator_.model_.recipe.learner.C == 1.0
    assert search.best_estimator_.model_.recipe.settings.ngrams == search.best_params_["ngrams"]
    naive = GridSearchCV(
        TextClassifier(learner=MultinomialNB(), calibrate=False),
        {"learner__alpha": [1.0, 1e6]},
        scoring="neg_log_loss",
    )
    assert naive.fit(texts, y).best_estimator_.model_.recipe.learner.alpha == 1.0
    learners = GridSearchCV(TextClassifier(), {"learner": ["multinomial", "lda"], "min_df": [1, 3]}, cv=2)
    assert learners.fit(np.array(texts), y).best_score_ > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["multinomial", "softmax"])
def test_it_is_scored_and_calibrated_by_scikit_learn(learner):
    texts, y = mail()
    model = TextClassifier(learner=learner)
    assert cross_val_score(model, texts, y, cv=3).min() > 0.6
    assert cross_val_score(model, pd.Series(texts), y, cv=3, scoring="roc_auc").min() > 0.7
    P = CalibratedClassifierCV(model, cv=3).fit(texts, y).predict_proba(texts)
    assert (P.argmax(axis=1) == y).mean() > 0.7
    assert cross_val_predict(model, pl.Series(texts), y, method="predict_proba", cv=2).shape == (len(y), 2)


def test_a_text_column_of_a_frame_is_chosen_by_its_name():
    texts, y = mail()
    expected = TextClassifier().fit(texts, y).predict_proba(texts)
    columns = {"age": np.arange(len(y)), "text": texts}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        for output in ("default", "pandas", "polars"):
            choose = ColumnTransformer([("text", "passthrough", ["text"])]).set_output(transform=output)
            pipeline = make_pipeline(choose, TextClassifier()).fit(frame, y)
            np.testing.assert_array_equal(pipeline.predict_proba(frame), expected)
        with pytest.raises(InputError, match="one column, and here are 2"):
            TextClassifier().fit(frame, y)
        np.testing.assert_array_equal(
            TextClassifier().fit(frame["text"], y).predict_proba(frame[["text"]]), expected
        )


def test_weights_are_routed_as_metadata():
    u = np.where(Y == 1, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(TextClassifier().set_fit_request(sample_weight=True))
        pipeline.fit(TEXTS, Y, sample_weight=u)
        scores = cross_val_score(
            TextClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            TEXTS,
            Y,
            params={"sample_weight": np.ones(6)},
            cv=2,
        )
        TextClassifier().set_partial_fit_request(classes=True, sample_weight=True)
    assert set(pipeline.predict(TEXTS)) == {0}
    assert len(scores) == 2


def test_priors_of_a_learner_are_in_the_order_of_the_classes():
    model = TextClassifier(learner=LinearDiscriminantAnalysis(priors=[0.9, 0.1]), min_df=1)
    texts, y = mail()
    assert model.fit(texts, y).model_.recipe.learner.prior == {"0": 0.9, "1": 0.1}
    model = TextClassifier(learner=MultinomialNB(class_prior=[0.9, 0.1]), calibrate=False)
    np.testing.assert_allclose(model.partial_fit(texts, y).predict_proba(["never"]), [[0.9, 0.1]])


def test_its_tags_say_texts():
    tags = get_tags(TextClassifier())
    assert is_classifier(TextClassifier())
    assert (tags.input_tags.string, tags.input_tags.one_d_array, tags.input_tags.two_d_array) == (
        True,
        True,
        False,
    )
    assert tags.target_tags.required
    model = TextClassifier().fit(pd.DataFrame({"text": TEXTS}), Y)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "feature_names_in_")


@together
@pytest.mark.parametrize(
    "texts",
    [
        ["a", "b", None, "c"],
        ["a", "b", float("nan"), "c"],
        np.array(["a", "b", None, "c"]),
        np.array([["a"], ["b"], [np.nan], ["c"]], dtype=object),
        pd.Series(["a", "b", None, "c"]),
        pd.Series(["a", "b", np.nan, "c"], dtype=object),
        pl.Series(["a", "b", None, "c"]),
        pa.array(["a", "b", None, "c"]),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_a_missing_text_is_refused_by_its_row(texts):
    model = TextClassifier().fit(TEXTS, Y)
    for call in (lambda: model.predict(texts), lambda: TextClassifier().fit(texts, [0, 1, 0, 1])):
        with pytest.raises(InputError, match=r"^row 2: text is null"):
            call()


@together
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("free phone", r"Iterable over raw text documents expected, string object received\."),
        (["a", 3], r"row 1: text is 3 \(int\), not text"),
        ([["a"], ["b"]], "row 0: text is"),
        (b"free", "got a bytes"),
        ({"text": ["a", "b"]}, "got a dict"),
        (3, "got a int"),
        (np.array([["a", "b"], ["c", "d"]]), "one column, and here are 2"),
        (CountVectorizer().fit_transform(["ab"]), "expected texts"),
        (pd.Series([1, 2]), "the text column holds int64"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_column_of_texts_is_refused(X, message):
    model = TextClassifier().fit(TEXTS, Y)
    for call in (lambda: model.predict(X), lambda: TextClassifier().fit(X, [0, 1])):
        with pytest.raises(InputError, match=message):
            call()


def test_labels_and_weights_must_pair_up():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TextClassifier().fit(TEXTS, [0, 1])
    with pytest.raises(LengthMismatch):
        TextClassifier().fit(TEXTS, Y, [1.0])
    with pytest.raises(InputError, match="row 1 has the weight -1"):
        TextClassifier().fit(TEXTS, Y, [1, -1, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        TextClassifier().fit(TEXTS, None)
    with pytest.raises(ValueError, match="NaN"):
        TextClassifier().fit(TEXTS, [0, 1, 0, 1, 0, np.nan])
    with pytest.raises(InputError, match="mixed types"):
        TextClassifier().fit(TEXTS, Y).partial_fit(["x"], ["spam"])
    with pytest.raises(NoData):
        TextClassifier().fit([], [])


def test_no_texts_have_no_predictions():
    model = TextClassifier().fit(TEXTS, Y)
    assert model.predict([]).shape == (0,)
    assert model.predict_proba(pd.Series([], dtype=str)).shape == (0, 2)


@together
@pytest.mark.parametrize(
    "learner",
    [
        textodds.MultinomialNB(class_prior=[0.2, 0.8]),
        textodds.MultinomialNB(class_prior={True: 0.8, False: 0.2}),
        textodds.LinearDiscriminantAnalysis(priors=[0.2, 0.8]),
        SoftmaxRegression(C=1.0, class_weight={True: 2.0}),
    ],
    ids=str,
)
def test_what_a_learner_is_told_of_truth_values_is_of_the_classes(learner):
    model = TextClassifier(learner=learner).fit(TEXTS, np.array(Y, dtype=bool))
    assert model.classes_.tolist() == [False, True]
    assert model.model_.classes_ == ("false", "true")
    np.testing.assert_array_equal(model.predict(TEXTS), np.array(Y, dtype=bool))


@together
@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("multinomal", "did you mean `multinomial`"),
        ("categorical", "learns from tables"),
        (naive_bayes.MultinomialNB(), "not a textodds learner"),
        (None, "None is not a textodds learner"),
        (
            textodds.MultinomialNB,
            "the class textodds.interop.estimators.word_counts.MultinomialNB is not a textodds learner",
        ),
    ],
)
def test_what_is_no_learner_of_texts_is_refused(learner, message):
    with pytest.raises(InputError, match=message):
        TextClassifier(learner=learner).fit(TEXTS, Y)


def test_more_texts_than_a_slice_are_all_predicted():
    model = TextClassifier().fit(TEXTS, Y)
    many = TEXTS * 11_000
    np.testing.assert_array_equal(model.predict(many), np.tile(Y, 11_000))
