"""A model that several threads use at once: nothing learned is lost, and every answer is of one model."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

import textodds

TEXTS = ["free prize", "free phone", "see you", "at six"] * 10
LABELS = ["spam", "spam", "ham", "ham"] * 10
ROWS = [{"size": i % 7 + 3.0 * (i % 2), "colour": "red" if i % 3 else "blue"} for i in range(40)]
CODES = ["ab"[i % 2] for i in range(40)]


@pytest.fixture(params=["texts", "documents", "tables"])
def case(request):
    """How a model is made, data of its kind, and labels."""
    if request.param == "tables":
        return (lambda: textodds.train(ROWS, CODES, learner="mixed")), ROWS, CODES
    keep = request.param == "documents"
    return (lambda: textodds.train(TEXTS, LABELS, learner="multinomial", documents=keep)), TEXTS, LABELS


def together(*work):
    """Run functions in threads that take turns as often as they can; the first error is raised here."""
    failures = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(each,)) for each in work]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if failures:
        raise failures[0]


def near(a, b):
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=0)


def test_what_threads_learn_at_once_is_all_learned(case):
    make, data, labels = case
    model, expected = make(), make()
    steps = 12

    def learn(name):
        for i in range(steps):
            model.learn(data[i : i + 2], [labels[i], name])

    together(lambda: learn("new"), lambda: learn("newer"))
    for name in ("new", "newer"):
        for i in range(steps):
            expected.learn(data[i : i + 2], [labels[i], name])
    assert model.classes_ == expected.classes_
    assert model.class_documents == expected.class_documents
    # Moments of a table are sums of floats, which round by the order in which they are added.
    np.testing.assert_allclose(model.predict_proba(data), expected.predict_proba(data), rtol=1e-12)


def test_ids_learned_at_once_are_all_kept():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    names = [f"{side}{i}" for side in "ab" for i in range(12)]

    def learn(side):
        for i in range(12):
            assert model.learn("free lunch", "spam", ids=f"{side}{i}") == 1

    together(lambda: learn("a"), lambda: learn("b"))
    assert model.learn(["free lunch"] * 24, ["spam"] * 24, ids=names) == 0


def test_every_answer_is_that_of_one_model(case):
    make, data, _ = case
    model, with_class = make(), make()
    before = model.predict_proba(data)
    one = model(data[0])
    with_class.learn([data[0]] * 3, ["new"] * 3)
    after, other = with_class.predict_proba(data), with_class(data[0])
    labels_after = with_class.predict(data).tolist()
    labels_before = model.predict(data).tolist()
    stopped = threading.Event()

    def change():
        try:
            for _ in range(12):
                model.learn([data[0]] * 3, ["new"] * 3)
                model.forget([data[0]] * 3, ["new"] * 3)
        finally:
            stopped.set()

    def ask():
        while not stopped.is_set():
            found = model.predict_proba(data)
            assert any(near(found, each) for each in (before, after))
            answer = tuple(model(data[0]).probabilities.values())
            assert any(near(answer, tuple(each.probabilities.values())) for each in (one, other))
            assert model.predict(data).tolist() in (labels_before, labels_after)
            assert model.explain(data[0]).label in (one.label, other.label)
            assert sum(model.class_documents.values()) in (len(data), len(data) + 3)

    together(change, ask)


def test_a_model_is_copied_and_pickled_as_before():
    model = textodds.train(TEXTS, LABELS, learner="multinomial")
    for other in (copy.copy(model), copy.deepcopy(textodds.train(ROWS, CODES, learner="mixed"))):
        other.learn(*((["x"], ["new"]) if other.kind == "texts" else (ROWS[:1], ["new"])))
        assert "new" in other.classes_
    assert "new" not in model.classes_
    rows = textodds.train(ROWS, CODES, learner="mixed")
    assert pickle.loads(pickle.dumps(rows)).class_documents == rows.class_documents
