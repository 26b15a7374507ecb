"""Labels that are paths in a tree: answered and measured at each level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textodds
from label_texts import LABELS, label_texts
from textodds.data.label_sets import name_of
from textodds.errors import InputError
from textodds.judge.label_evaluation import evaluate_labels
from textodds.judge.label_tree import LabelTree, by_level, path

PATHS = ("news", "sport/cricket", "sport/football/cup", "sport/football/league")


def test_an_answer_stops_where_it_is_no_longer_sure() -> None:
    tree = LabelTree.of(PATHS)
    p = np.array([[0.1, 0.1, 0.5, 0.3], [0.1, 0.6, 0.2, 0.1], [0.3, 0.3, 0.2, 0.2], [0.55, 0.15, 0.15, 0.15]])
    at_half = tree.answers(p, 0.5)
    assert [node for node, _ in at_half] == ["sport/football/cup", "sport/cricket", "sport", "news"]
    assert [node for node, _ in tree.answers(p, 0.75)] == ["sport/football", "sport", "", ""]
    assert at_half[2][1] == pytest.approx(0.7)


@given(st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4), st.floats(0.0, 1.0))
def test_probabilities_fall_on_the_way_down_and_answers_are_at_least_as_sure_as_asked(
    raw: list[float], threshold: float
) -> None:
    tree = LabelTree.of(PATHS)
    p = np.array([raw]) / sum(raw)
    by_node = dict(zip(tree.nodes, tree.probabilities(p)[0], strict=True))
    for node in tree.nodes:
        for above in path(node):
            assert by_node[above] >= by_node[node] - 1e-12
    node, probability = tree.answers(p, threshold)[0]
    assert probability >= threshold - 1e-12
    assert node == "" or probability == pytest.approx(by_node[node])


def test_accuracy_by_level_is_that_of_labels_cut_there() -> None:
    rows = {
        ("sport/football/cup", "sport/football/cup"): 5,
        ("sport/football/cup", "sport/football/league"): 2,
        ("sport/cricket", "sport/football/cup"): 1,
        ("news", "sport/cricket"): 2,
    }
    levels, ancestors = by_level(rows)
    assert [each.accuracy for each in levels] == pytest.approx([8 / 10, 7 / 10, 5 / 8])
    assert [each.answered for each in levels] == pytest.approx([1.0, 1.0, 0.8])
    shared = 5 * 3 + 2 * 2 + 1 * 1
    assert ancestors["recall"] == pytest.approx(shared / (7 * 3 + 1 * 2 + 2 * 1))
    assert ancestors["precision"] == pytest.approx(shared / (8 * 3 + 2 * 2))


def test_a_model_of_one_label_answers_at_each_level() -> None:
    texts, sets = label_texts(400)
    names = {"angry": "mood/angry", "praise": "mood/praise", "billing": "money", "outage": "technical/outage"}
    rows = [(text, names[own[0]]) for text, own in zip(texts, sets, strict=True) if own]
    model = textodds.train(rows, learner="multinomial")
    new = [text for text, _ in rows[:50]]
    p = dict(zip(model.class_names, model.predict_proba(new).T, strict=True))
    for at, (node, probability) in enumerate(model.predict_tree(new, threshold=0.6)):
        assert probability >= 0.6 or not node
        if node == "mood":
            assert probability == pytest.approx(p["mood/angry"][at] + p["mood/praise"][at])
    levels = model.evaluate(rows).by_level()
    assert levels[0].accuracy >= levels[1].accuracy
    with pytest.raises(InputError, match="not a probability"):
        model.predict_tree(new, threshold=3)


def test_several_labels_are_measured_and_answered_at_each_level() -> None:
    names = ("mood/angry", "money", "technical/outage", "mood/praise")
    texts, sets = label_texts(400)
    paths = [[names[LABELS.index(label)] for label in own] for own in sets]
    model = textodds.train(texts, paths, learner="multinomial:alpha=0.3")
    found = model.evaluate(texts, paths)
    assert found.by_level.keys() == {1, 2}
    assert found.by_level[2] == pytest.approx(found.micro_f1)
    for whole, cut in zip(model.predict(texts[:80]), model.predict_tree(texts[:80]), strict=True):
        assert set(whole) <= set(cut)  # a label that is given is given whole
        assert all(not other.startswith(f"{node}/") for node in cut for other in cut)


def test_micro_f1_by_level_is_counted_by_hand() -> None:
    p = np.array([[0.9, 0.1, 0.1], [0.1, 0.9, 0.9]])
    truth = [name_of(["a/x"]), name_of(["a/x", "b"])]
    found = evaluate_labels([(p, truth)], ("a/x", "a/y", "b"), np.full(3, 0.5))
    # Cut at the first level: {a} and {a}, then {a, b} and {a, b}; whole: one of three is wrong.
    assert found.by_level == {1: pytest.approx(1.0), 2: pytest.approx(2 * 2 / 6)}
