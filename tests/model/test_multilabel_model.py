"""Models of several labels: what they say follows from their documents, whatever way they got there."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import textodds
from label_texts import LABELS, label_texts
from pairs import together
from textodds.errors import InputError, LabelsRead, ModelFileError, NotLearned, Unsupported

TEXTS, SETS = label_texts(420)
NEW = label_texts(60, seed=5)[0]
COUNTS, SOFTMAX = "multinomial:alpha=0.3", "softmax:C=4:ngrams=1:min_df=1"


def trained(texts: list[str], sets: list[list[str]], learner: str = COUNTS, **how: Any) -> Any:
    return textodds.train(texts, sets, learner=learner, threads=1, **how)


@pytest.fixture(scope="module", params=[COUNTS, SOFTMAX])
def model(request: pytest.FixtureRequest) -> Any:
    return trained(TEXTS, SETS, request.param)


@pytest.fixture
def own(model: Any) -> Any:
    """A model that a test may change."""
    return copy.deepcopy(model)


def same(one: Any, other: Any) -> None:
    """Two models say the same: to the last bit if they are counts, within the proven gap if not."""
    assert one.class_names == other.class_names
    p, q = one.predict_proba(NEW), other.predict_proba(NEW)
    if one.recipe.learner.entry.needs_documents:
        np.testing.assert_allclose(p, q, atol=5e-3)
    else:
        assert (p == q).all()
        assert (one.thresholds == other.thresholds).all()


def test_train_on_lists_gives_a_model_of_several_labels(model: Any) -> None:
    assert isinstance(model, textodds.MultiLabelModel)
    assert model.classes_ == LABELS
    assert model.class_documents == {label: sum(label in own for own in SETS) for label in LABELS}
    p = model.predict_proba(NEW)
    assert p.shape == (60, 4)
    assert ((p >= 0) & (p <= 1)).all()
    for row, labels in zip(p, model.predict(NEW), strict=True):
        given = [k for k in range(4) if row[k] >= model.thresholds[k]]
        assert set(labels) == {LABELS[k] for k in given}


def test_it_tells_labels_apart(model: Any) -> None:
    new, truth = label_texts(300, seed=9)
    found = model.evaluate(new, truth)
    assert found.micro_f1 > 0.85
    assert found.macro_f1 > 0.75
    assert found.calibration_error < 0.05


def test_one_text_is_answered_as_many(model: Any) -> None:
    p = model.predict_proba(NEW[:5])
    for text, row in zip(NEW[:5], p, strict=True):
        answer = model(text)
        assert list(answer.probabilities.values()) == row.tolist()
        assert answer.labels == model.predict([text])[0]
        assert [name for name, _ in answer.top(2)] == [LABELS[k] for k in np.argsort(-row)[:2]]


def test_a_text_without_a_known_word_has_the_shares_of_training(model: Any) -> None:
    answer = model("zzz qqq")
    assert answer.evidence == 0
    n = len(TEXTS)
    for label, p in answer.probabilities.items():
        with_label = model.class_documents[label]
        assert p == pytest.approx((with_label + 0.5) / (n + 1.0))


@given(st.data())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_way_to_the_same_documents_is_the_same_model(own: Any, data: st.DataObject) -> None:
    """Learn, forget, merge and subtract in any order; at least 300 texts, so that calibration is on."""
    learner = SOFTMAX if own.recipe.learner.entry.needs_documents else COUNTS
    more, their = label_texts(40, seed=3)
    kept = list(range(len(TEXTS)))
    changed = copy.deepcopy(own)
    for _ in range(data.draw(st.integers(1, 3))):
        act = data.draw(st.sampled_from(["forget", "minus"]))
        gone = data.draw(st.lists(st.sampled_from(kept), min_size=1, max_size=8, unique=True))
        texts, sets = [TEXTS[i] for i in gone], [SETS[i] for i in gone]
        if act == "forget":
            assert changed.forget(texts, sets) == len(gone)
        else:
            changed = changed - trained(texts, sets, learner) if any(sets) else changed
            if not any(sets):
                continue
        kept = [i for i in kept if i not in gone]
    if data.draw(st.booleans()):
        changed.learn(more, their)
    else:
        changed = changed + trained(more, their, learner)
    same(changed, trained([TEXTS[i] for i in kept] + more, [SETS[i] for i in kept] + their, learner))


def test_learning_and_forgetting_a_new_label_leaves_no_trace(own: Any) -> None:
    before = own.predict_proba(NEW)
    own.learn("a new kind of ticket", ["fresh", "angry"])
    assert "fresh" in own.classes_
    own.forget("a new kind of ticket", ["angry", "fresh"])
    assert own.classes_ == LABELS
    assert np.allclose(own.predict_proba(NEW), before, atol=5e-3)


def test_one_label_of_a_text_can_be_changed(own: Any) -> None:
    at = next(i for i, labels in enumerate(SETS) if labels == ["billing"])
    assert own.relabel(TEXTS[at], add=["outage"], remove=["billing"]) == ("outage",)
    sets = [["outage"] if i == at else labels for i, labels in enumerate(SETS)]
    same(own, trained(TEXTS, sets, SOFTMAX if own.recipe.learner.entry.needs_documents else COUNTS))
    with pytest.raises(NotLearned, match="not learned with the label `billing`"):
        own.relabel(TEXTS[at], remove=["billing"])


def test_what_was_not_learned_is_not_forgotten(own: Any) -> None:
    before = own.predict_proba(NEW[:3])
    with pytest.raises(NotLearned):
        own.forget(TEXTS[0], ["praise", "outage", "angry", "billing"])
    assert (own.predict_proba(NEW[:3]) == before).all()


def test_a_file_holds_the_model(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "m.textodds")
    opened = textodds.load(tmp_path / "m.textodds", check=True)
    assert isinstance(opened, textodds.MultiLabelModel)
    assert (opened.predict_proba(NEW) == model.predict_proba(NEW)).all()
    assert opened.predict(NEW) == model.predict(NEW)
    assert (opened.goal, opened.class_documents) == (model.goal, model.class_documents)
    opened.learn("great thanks", ["praise"])
    assert (pickle.loads(pickle.dumps(model)).predict_proba(NEW) == model.predict_proba(NEW)).all()


def test_a_file_without_documents_still_answers(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "m.textodds", counts=False)
    opened = textodds.load(tmp_path / "m.textodds")
    assert (opened.predict_proba(NEW) == model.predict_proba(NEW)).all()
    assert opened.class_documents == model.class_documents
    with pytest.raises(Unsupported):
        opened.learn("great", ["praise"])


@pytest.mark.parametrize("name", ["odds.slopes", "labels.thresholds", "held.p"])
def test_a_damaged_file_is_refused(model: Any, tmp_path: Path, name: str) -> None:
    from textodds.model import file
    from textodds.model.storage import container

    header, arrays = file._contents(model, counts=True, documents=True)
    arrays[name] = arrays[name] - 5.0
    container.write(tmp_path / "bad.textodds", header, arrays)
    with pytest.raises(ModelFileError):
        textodds.load(tmp_path / "bad.textodds")


def test_explanations_of_a_label_add_up_to_its_log_odds(model: Any) -> None:
    for text in [*NEW[:5], "zzz qqq"]:  # the last without a known word
        for label in LABELS:
            found = model.explain(text, label)
            p = model(text).probabilities[label]
            assert found.log_odds == pytest.approx(np.log(p / (1 - p)), abs=1e-6)
            assert sum(odds for _, odds in found.lines) == pytest.approx(found.log_odds, abs=1e-9)


def test_the_model_of_one_label_says_what_the_model_says_of_it(model: Any) -> None:
    for k, label in enumerate(LABELS):
        one = model.of_label(label)
        at = one.class_names.index(label)
        np.testing.assert_allclose(one.predict_proba(NEW)[:, at], model.predict_proba(NEW)[:, k], atol=1e-9)
    assert model.top_words("outage", 5)[0][0] in ("down", "offline", "error", "broken", "timeout")


def test_other_goals_and_thresholds_give_other_labels(model: Any) -> None:
    sure = model.with_goal("precision=0.9")
    many = model.with_thresholds(0.05)
    n = [sum(map(len, each.predict(NEW))) for each in (sure, model, many)]
    assert n[0] <= n[1] < n[2]
    assert model.with_thresholds({"angry": 1.0}).thresholds[0] == 1.0
    with pytest.raises(InputError, match="not a probability"):
        model.with_thresholds(1.5)


def test_few_texts_are_not_calibrated_and_say_so() -> None:
    few = trained(TEXTS[:40], SETS[:40])
    assert "100 texts" in few.info["uncalibrated"]
    assert (few.thresholds == 0.5).all()
    with pytest.raises(Unsupported, match="no held-out answers"):
        few.with_goal("f1")


def test_models_of_one_label_and_of_several_are_told_apart() -> None:
    one = textodds.train(TEXTS, [own[0] if own else "none" for own in SETS], learner="multinomial")
    assert isinstance(one, textodds.TextModel)
    with pytest.raises((InputError, Unsupported), match="several labels"):
        one.evaluate(TEXTS, ["|".join(own) for own in SETS], label_separator="|")
    with pytest.raises(InputError, match="`goal` is for several labels"):
        textodds.train(TEXTS, ["a", "b"] * 210, goal="f1")


@together
@pytest.mark.parametrize("learner", ["bernoulli", "complement", "nb-softmax", "lda"])
def test_learners_of_one_label_are_refused_with_those_of_several(learner: str) -> None:
    with pytest.raises(Unsupported, match="multinomial and softmax"):
        trained(TEXTS, SETS, learner)


def test_the_choice_is_the_same_on_any_number_of_threads() -> None:
    one, two = (textodds.train(TEXTS, SETS, threads=n) for n in (1, 2))
    assert one.recipe.as_dict() == two.recipe.as_dict()
    assert (one.predict_proba(NEW) == two.predict_proba(NEW)).all()
    assert {each["name"] for each in one.info["tried"]} >= {"multinomial, words", "softmax, pairs"}


def test_labels_keep_their_type() -> None:
    numbers = [[LABELS.index(label) for label in own] for own in SETS]
    found = trained(TEXTS, numbers)
    assert found.classes_ == (0, 1, 2, 3)
    assert found("invoice refund charge").labels[0] == 1
    assert found.evaluate(TEXTS, numbers).unknown_labels == {}


def test_a_frame_comes_back_with_lists_of_labels(model: Any) -> None:
    import pandas as pd

    frame = model.predict_frame(pd.DataFrame({"text": NEW[:4]}), top=1, proba=True)
    assert [tuple(each) for each in frame["labels"]] == model.predict(NEW[:4])
    assert list(frame.columns) == ["text", "labels", "label_1", "probability_1", *(f"p({x})" for x in LABELS)]


def test_labels_that_look_like_several_are_pointed_out() -> None:
    joined = ["|".join(own) or "none" for own in SETS]
    with pytest.warns(LabelsRead, match=r"look like several, .*`--label-separator '\|'`"):
        textodds.train(TEXTS, joined, learner="multinomial:alpha=1")
