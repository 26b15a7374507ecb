"""Models go where Python's objects go: into pickles, copies, joblib files and other processes."""

import copy
import multiprocessing
import pickle
import pickletools

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import textodds

TEXTS = [f"free phone {i % 7}" for i in range(60)] + [f"see you at {i % 5}" for i in range(60)]
LABELS = ["spam"] * 60 + ["ham"] * 60
ASKED = ["free", "see you", "a phone at 3", "", "unheard of"]
ROWS = [{"height": 150.0 + i % 40, "hair": "long" if i % 3 else "short"} for i in range(120)]
KINDS = ["tall" if i % 40 > 20 else "small" for i in range(120)]


def text_model(learner):
    return textodds.train(TEXTS, LABELS, learner=learner, threads=1)


MODELS = {
    "multinomial": (lambda: text_model("multinomial"), ASKED),
    "softmax": (lambda: text_model("softmax:C=1"), ASKED),
    "chosen": (lambda: text_model(None), ASKED),
    "lda": (lambda: text_model("lda"), ASKED),
    "table": (lambda: textodds.train(ROWS, KINDS), ROWS[:9]),
}


def learned(model):
    new = "free at last" if isinstance(model, textodds.TextModel) else {"height": 151.0, "hair": "long"}
    model.learn(new, model.classes_[0])
    return model


def reloaded(model, path):
    model.save(path)
    return textodds.load(path)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("state", ["trained", "loaded", "after learn"])
def test_a_pickled_model_answers_to_the_bit_and_goes_on_learning(name, state, tmp_path):
    made, asked = MODELS[name]
    model = made()
    if state == "loaded":
        model = reloaded(model, tmp_path / "m")
    if state == "after learn":
        model = learned(model)
    joblib.dump(model, tmp_path / "m.joblib")
    copies = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "m.joblib")]
    for other in [*copies, copy.copy(model), copy.deepcopy(model)]:
        assert type(other) is type(model)
        assert np.array_equal(other.predict_proba(asked), model.predict_proba(asked))
        assert other.class_documents == model.class_documents
        before = model.predict_proba(asked)
        learned(other)
        assert np.array_equal(model.predict_proba(asked), before)
        assert np.array_equal(other.predict_proba(asked), learned(copy.copy(model)).predict_proba(asked))


@pytest.mark.parametrize("name", MODELS)
def test_a_pickle_is_the_file_and_little_more(name, tmp_path):
    model = MODELS[name][0]()
    model.save(tmp_path / "m")
    size = (tmp_path / "m").stat().st_size
    assert size <= len(pickle.dumps(model)) < size + 300


def test_a_pickle_names_nothing_but_the_function_that_reads_a_model_file():
    found = [arg for code, arg, _ in pickletools.genops(pickle.dumps(text_model("multinomial"), 2)) if
             code.name == "GLOBAL" and "codecs" not in arg]  # fmt: skip
    assert found == ["textodds.model.file loads"]


def test_a_pickle_whose_file_is_damaged_is_refused_as_a_file_would_be():
    damaged = pickle.dumps(text_model("multinomial")).replace(b"spam", b"spat")
    with pytest.raises(textodds.errors.ModelFileError, match="a pickled model"):
        pickle.loads(damaged)


def test_a_model_without_its_counts_is_pickled_as_it_is(tmp_path):
    text_model("multinomial").save(tmp_path / "m", counts=False)
    model = textodds.load(tmp_path / "m")
    other = pickle.loads(pickle.dumps(model))
    assert not other.has_counts
    assert np.array_equal(other.predict_proba(ASKED), model.predict_proba(ASKED))


def answers(model):
    return model.predict_proba(ASKED)


def test_a_model_goes_to_another_process_and_back():
    model = text_model("multinomial")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert np.array_equal(pool.apply(answers, (model,)), answers(model))
        assert np.array_equal(answers(pool.apply(copy.copy, (model,))), answers(model))


@pytest.mark.parametrize("name", ["multinomial", "softmax", "table"])
def test_joblib_asks_a_model_in_threads_and_in_processes(name, tmp_path):
    made, asked = MODELS[name]
    model = made()
    joblib.dump(model, tmp_path / "m.joblib", compress=3)
    expected = model.predict_proba(asked)
    for backend, other in (("threading", model), ("loky", joblib.load(tmp_path / "m.joblib"))):
        with joblib.parallel_config(backend, n_jobs=2):
            parts = joblib.Parallel()(joblib.delayed(other.predict_proba)([row]) for row in asked)
        np.testing.assert_allclose(np.concatenate(parts), expected, rtol=1e-12)
    get_reusable_executor().shutdown(wait=True)


def test_a_large_model_goes_to_the_processes_of_joblib():
    """Which send arrays of more than `max_nbytes` as files; a model is bytes, and is not taken apart."""
    words = [f"word{i}" for i in range(40_000)]
    texts = [" ".join(words[i::4]) for i in range(4)]
    model = textodds.train(texts, ["a", "b"] * 2, learner="multinomial", min_df=1)
    assert len(pickle.dumps(model)) > 1_000_000
    parts = joblib.Parallel(n_jobs=2, max_nbytes=1000)(
        joblib.delayed(model.predict)([text]) for text in texts
    )
    assert np.concatenate(parts).tolist() == model.predict(texts).tolist()
    get_reusable_executor().shutdown(wait=True)
