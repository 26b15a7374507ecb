"""What other programs make of our models: the same probabilities, the same labels."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import onnx
import onnxruntime
import pytest
from interop_cases import (
    CLASSES,
    DISCRIMINATIVE,
    GENERATIVE,
    LEARNERS,
    OF_OURS,
    OF_SCIKIT_LEARN,
    SETTINGS,
    WEIGHTINGS,
    documents,
    new_texts,
)
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

import textodds
from pairs import cover, in_turn, together
from textodds import SoftmaxRegression, TextModel
from textodds.errors import ModelFileError, Unsupported
from textodds.interop import full_matrix as full_weights
from textodds.interop.to_onnx import to_onnx
from textodds.interop.to_sklearn import Analyzer, to_sklearn
from textodds.learn.naive_bayes import BernoulliLearner, MultinomialLearner
from unicode_texts import AWKWARD


def can_be(learner, settings):
    """Whether there is such a model; the others are refused when they are trained."""
    return "unknown" not in settings or (learner in GENERATIVE and "transform" not in learner)


CASES = list(
    dict.fromkeys(
        [
            # How texts are cut meets each kind of row (counts, presence, weights), every learner each way.
            *cover(
                ("multinomial", "bernoulli", "nb-softmax"),
                CLASSES,
                SETTINGS,
                allowed=lambda *case: can_be(*case[::2]),
            ),
            *cover(LEARNERS, CLASSES, ("sklearn", "words-hashing", "words-union", "sklearn-union")),
        ]
    )
)
every_case = pytest.mark.parametrize(("learner", "classes", "settings"), CASES, ids=str)


@cache
def model_of(learner, classes, settings):
    """The model of a case on its documents; not to be changed."""
    return textodds.train(*documents(classes), learner=LEARNERS[learner], **SETTINGS[settings])


def assert_same(model, pipeline, texts):
    """The pipeline gives the probabilities, and where classes do not tie the labels, of the model."""
    expected = model.predict_proba(texts)
    got = pipeline.predict_proba(texts)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10)
    assert pipeline.classes_.tolist() == list(model.classes_)
    assert_same_labels(pipeline.predict(texts), model, texts)


def assert_same_labels(labels, model, texts):
    """The labels are those of the model, where classes do not tie."""
    second, first = np.sort(model.predict_proba(texts), axis=1)[:, -2:].T
    clear = first - second > 1e-9
    assert clear.mean() > 0.5
    assert labels[clear].tolist() == model.predict(texts)[clear].tolist()


def parts(estimator):
    """All estimators in a pipeline, from the outside in."""
    yield estimator
    steps = estimator.steps if isinstance(estimator, Pipeline) else []
    steps = estimator.transformer_list if isinstance(estimator, FeatureUnion) else steps
    for _, step in steps:
        yield from parts(step)


def run(model, texts):
    """Label and probabilities that ONNX Runtime gives."""
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    return session.run(None, {"rows": model.rows(texts).toarray()})


@together
@every_case
def test_the_pipeline_gives_the_probabilities_and_labels_of_the_model(learner, classes, settings):
    model = model_of(learner, classes, settings)
    assert_same(model, to_sklearn(model), new_texts(classes))


@together
@in_turn(3)
@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@pytest.mark.parametrize("learner", DISCRIMINATIVE)
@pytest.mark.parametrize(
    "settings", ["sklearn", "sklearn-hashing", "sklearn-union", "words-union", "union-hashing"]
)
def test_every_weighting_is_that_of_the_model(learner, settings, weighting):
    model = textodds.train(
        *documents(5), learner=LEARNERS[learner], weighting=weighting, **SETTINGS[settings]
    )
    assert_same(model, to_sklearn(model), new_texts(5))


def test_scales_of_any_origin_are_those_of_the_pipeline():
    trained = model_of("softmax", 5, "sklearn-union")
    scale = np.random.default_rng(0).exponential(size=len(trained.vocabulary)) * 3
    scale[::7] = 0.0
    model = TextModel(trained.recipe, trained.vocabulary, trained.linear, None, {}, scale=scale)
    assert_same(model, to_sklearn(model), new_texts(5))


@pytest.mark.parametrize(("kept", "names"), [("~", ["characters"]), ("", ["words"])])
def test_a_block_whose_terms_were_all_dropped_leaves_the_length_of_the_other_as_it_is(kept, names):
    trained = model_of("softmax", 2, "sklearn-union")
    terms = trained.vocabulary.words()
    numbers = np.array([v for v, term in enumerate(terms) if term.startswith("~") == bool(kept)])
    weights = textodds.learn.forms.linear.Weights.of_matrix(trained.linear.weights.rows(numbers))
    model = TextModel(
        trained.recipe,
        trained.vocabulary.select(numbers),
        replace(trained.linear, weights=weights),
        None,
        {},
        scale=trained.scale[numbers],
    )
    pipeline = to_sklearn(model)
    assert [name for name, _ in pipeline[0].transformer_list] == names
    assert_same(model, pipeline, new_texts(2))


@together
@pytest.mark.parametrize("settings", SETTINGS)
def test_our_tokeniser_is_in_the_pipeline_only_where_scikit_learn_has_none(settings):
    pipeline = to_sklearn(model_of("multinomial", 2, settings))
    ours = [
        part
        for part in parts(pipeline)
        if isinstance(getattr(part, "analyzer", None), Analyzer)
        or not type(part).__module__.startswith("sklearn.")
    ]
    assert bool(ours) == (settings in OF_OURS)


@pytest.mark.slow
def test_pickled_pipelines_of_scikit_learn_alone_open_where_textodds_is_not(tmp_path):
    cases = [case for case in CASES if case[1] != 12 and case[2] in OF_SCIKIT_LEARN]
    models = [
        # A calibrated softmax model has a last step of ours, which knows texts without words.
        textodds.train(*documents(K), learner=LEARNERS[learner], calibrate=False, **SETTINGS[settings])
        if learner in DISCRIMINATIVE
        else model_of(learner, K, settings)
        for learner, K, settings in cases
    ]
    texts = [new_texts(classes) for _, classes, _ in cases]
    pipelines = [to_sklearn(model) for model in models]
    (tmp_path / "pickle").write_bytes(pickle.dumps((pipelines, texts)))
    script = f"""
import pickle, sys
from pathlib import Path
import numpy as np
sys.modules["textodds"] = None  # whatever imports it fails
folder = Path({str(tmp_path)!r})
pipelines, texts = pickle.loads((folder / "pickle").read_bytes())
np.savez(folder / "said.npz", *[p.predict_proba(t) for p, t in zip(pipelines, texts, strict=True)])
assert not [name for name in sys.modules if name.startswith("textodds.")]
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = np.load(tmp_path / "said.npz")
    assert len(said) == len(cases) > 30
    for got, model, new in zip(said.values(), models, texts, strict=True):
        np.testing.assert_allclose(got, model.predict_proba(new), rtol=0, atol=1e-10)


@together
@pytest.mark.parametrize("settings", OF_OURS)
def test_a_pipeline_with_our_tokeniser_survives_pickling(settings):
    model = model_of("bernoulli", 5, settings)
    assert_same(model, pickle.loads(pickle.dumps(to_sklearn(model))), new_texts(5))


@together
@pytest.mark.parametrize("settings", ["sklearn", "sklearn-hashing", "sklearn-union", "words"])
@pytest.mark.parametrize("learner", ["multinomial", "softmax"])
def test_a_pipeline_is_fitted_and_can_be_trained_anew(learner, settings):
    pipeline = to_sklearn(model_of(learner, 2, settings))
    check_is_fitted(pipeline)
    assert repr(pipeline)
    anew = clone(pipeline).fit(*documents(2))
    assert anew.score(*documents(2)) == 1.0
    assert anew[-1].coef_.shape == pipeline[-1].coef_.shape


@together
@pytest.mark.parametrize(
    "settings", ["sklearn", "characters-plain", "whitespace-plain", "words", "sklearn-union"]
)
def test_awkward_characters_are_cut_alike(settings):
    random = np.random.default_rng(0)
    letters = list(AWKWARD + " ab" * 40)
    texts = ["".join(random.choice(letters, 60)) for _ in range(200)]
    model = textodds.train(
        texts[:100], ["a", "b"] * 50, learner=MultinomialLearner(alpha=0.1), **SETTINGS[settings]
    )
    assert len(model.vocabulary) > 100
    assert_same(model, to_sklearn(model), texts)


def test_stop_words_that_no_text_can_hold_are_not_handed_on():
    pipeline = to_sklearn(model_of("multinomial", 2, "sklearn-odd-stop-words"))
    assert pipeline["terms"].stop_words == ["shared1"]


def test_a_model_from_a_file_under_another_prior_is_exported_with_it(tmp_path):
    model_of("bernoulli", 2, "sklearn").save(tmp_path / "model", counts=False)
    model = textodds.load(tmp_path / "model").with_prior({"class 00": 0.001, "class 01": 0.999})
    assert_same(model, to_sklearn(model), new_texts(2))
    np.testing.assert_allclose(run(model, new_texts(2))[1], model.predict_proba(new_texts(2)), atol=1e-10)


@together
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("learner", [MultinomialLearner(alpha=0), BernoulliLearner(alpha=0)], ids=str)
def test_without_smoothing_the_digits_that_are_left_agree(learner, classes):
    model = textodds.train(*documents(classes), learner=learner, sklearn=True)
    texts = documents(classes, 1)[0]
    expected = model.predict_proba(texts)
    np.testing.assert_allclose(to_sklearn(model).predict_proba(texts), expected, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run(model, texts)[1], expected, rtol=0, atol=1e-7)


def test_a_label_that_ends_in_nothing_keeps_it():
    model = textodds.train(["aa", "bb"], ["x\0", "x"])
    assert to_sklearn(model).predict(["aa"]).tolist() == model.predict(["aa"]).tolist() == ["x\0"]


@together
@pytest.mark.parametrize(
    ("learner", "classes", "settings"),
    cover(
        LEARNERS,
        CLASSES,
        ("sklearn", "words-hashing", "words-union", "unknown-smooth"),
        allowed=lambda *case: can_be(*case[::2]),
    ),
    ids=str,
)
def test_onnx_runtime_gives_the_probabilities_and_labels_of_the_model(learner, classes, settings):
    model, texts = model_of(learner, classes, settings), new_texts(classes)
    label, probabilities = run(model, texts)
    np.testing.assert_allclose(probabilities, model.predict_proba(texts), rtol=0, atol=1e-10)
    assert_same_labels(label, model, texts)


@together
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_graph_is_valid_and_says_what_goes_in_and_comes_out(learner):
    model = model_of(learner, 5, "sklearn")
    proto = to_onnx(model)
    onnx.checker.check_model(proto, full_check=True)
    assert (proto.ir_version, [opset.version for opset in proto.opset_import]) == (8, [17])
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    told = [(each.name, each.type, each.shape) for each in (*session.get_inputs(), *session.get_outputs())]
    assert told == [
        ("rows", "tensor(double)", ["N", len(model.vocabulary)]),
        ("label", "tensor(string)", ["N"]),
        ("probabilities", "tensor(double)", ["N", 5]),
    ]


@pytest.mark.parametrize("learner", ["multinomial", "nb-softmax"])
def test_the_metadata_is_enough_to_make_rows_of_texts(learner):
    texts, labels = documents(2)
    pairs = textodds.TextSettings.sklearn(ngrams=(1, 2))
    model = textodds.train(list(texts), list(labels), learner=LEARNERS[learner], settings=pairs)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    about = session.get_modelmeta().custom_metadata_map
    assert about["textodds"] == textodds.__version__
    assert json.loads(about["classes"]) == list(model.classes_)
    assert json.loads(about["recipe"]) == json.loads(json.dumps(model.recipe.as_dict()))
    words, texts = json.loads(about["words"]), new_texts(2)
    settings = json.loads(about["recipe"])["settings"]
    rows = CountVectorizer(vocabulary=words, ngram_range=tuple(settings["ngrams"])).transform(texts).toarray()
    rows = rows.astype(np.float64)
    if model.scale is not None:
        rows[rows > 0] = 1 + np.log(rows[rows > 0])
        rows *= json.loads(about["scale"])
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(rows, model.rows(texts).toarray(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_batch_may_have_any_number_of_rows(n):
    model = model_of("bernoulli", 5, "words")
    label, probabilities = run(model, new_texts(5)[:n]) if n else run_on_nothing(model)
    assert (label.shape, probabilities.shape) == ((n,), (n, 5))


def run_on_nothing(model):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    return session.run(None, {"rows": np.zeros((0, len(model.vocabulary)))})


def test_one_class_is_always_right_in_onnx():
    label, probabilities = run(textodds.train(["aa bb"], ["only"]), ["aa", ""])
    assert (label.tolist(), probabilities.tolist()) == (["only", "only"], [[1.0], [1.0]])


def test_the_file_is_what_is_returned_and_takes_the_place_of_another(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    proto = to_onnx(model_of("multinomial", 2, "words"), path)
    assert path.read_bytes() == proto.SerializeToString()
    assert onnx.load(path) == proto
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(ModelFileError, match="cannot write"):
        to_onnx(model_of("multinomial", 2, "words"), tmp_path / "nowhere" / "model.onnx")


def test_a_model_of_one_class_is_refused_by_scikit_learn():
    with pytest.raises(
        Unsupported, match="a model of one class, `only`, is not a classifier for scikit-learn"
    ):
        to_sklearn(textodds.train(["aa"], ["only"]))


@pytest.mark.parametrize("exported", [to_sklearn, to_onnx])
def test_a_model_without_words_is_refused(exported):
    with pytest.raises(Unsupported, match="the model has no words to export"):
        exported(textodds.train(["", "!"], ["x", "y"]))


@pytest.mark.parametrize("exported", [to_sklearn, to_onnx])
def test_a_matrix_too_large_for_others_is_refused_before_it_is_made(exported, monkeypatch):
    model = model_of("multinomial", 12, "words")
    monkeypatch.setattr(full_weights, "MOST_CELLS", 100)
    with pytest.raises(
        Unsupported, match=r"words and 12 classes need a matrix of 0\.0 GB, too large to export"
    ):
        exported(model)


def test_a_file_too_large_for_onnx_is_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["textodds.interop.to_onnx"], "LARGEST", 1000)
    with pytest.raises(Unsupported, match="an ONNX file holds up to 2 GB"):
        to_onnx(model_of("multinomial", 2, "words"))


def test_without_onnx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(Unsupported, match="writing ONNX needs onnx") as caught:
        to_onnx(model_of("multinomial", 2, "words"))
    assert caught.value.hint == "pip install 'textodds[onnx]'"


def test_importing_the_package_loads_neither_library():
    code = "import sys, textodds; print({'sklearn', 'onnx', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_every_name_of_the_package_is_there_and_no_other():
    for name in ("to_onnx", "to_sklearn"):
        assert callable(getattr(textodds, name))
        assert name in dir(textodds)
    with pytest.raises(AttributeError, match="no attribute 'to_fortran'"):
        _ = textodds.to_fortran


@pytest.mark.long
@in_turn(1)
@pytest.mark.realdata
@pytest.mark.parametrize("sklearn", [True, False], ids=["sklearn", "words"])
@pytest.mark.parametrize("learner", ["multinomial", "bernoulli", "complement", "softmax", "nb-softmax"])
def test_real_texts_get_the_same_probabilities_everywhere(real_data, learner, sklearn):
    train, (texts, _) = real_data("sms_spam")
    model = textodds.train(*train, learner=LEARNERS[learner], sklearn=sklearn)
    pipeline = to_sklearn(model)
    assert_same(model, pipeline, texts)
    assert pipeline.predict(texts).tolist() == model.predict(texts).tolist()
    label, probabilities = run(model, texts[:200])
    np.testing.assert_allclose(probabilities, model.predict_proba(texts[:200]), rtol=0, atol=1e-10)
    assert label.tolist() == model.predict(texts[:200]).tolist()


@pytest.mark.long
@pytest.mark.realdata
def test_real_texts_of_eight_classes_with_words_and_characters_get_the_same_probabilities(real_data):
    train, (texts, _) = real_data("reuters_r8")
    model = textodds.train(
        *train, learner=SoftmaxRegression(C=10.0), sklearn=True, characters=(2, 4), min_df=5
    )
    assert_same(model, to_sklearn(model), texts)
