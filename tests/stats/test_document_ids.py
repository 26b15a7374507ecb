"""What was learned, by id: against a dict, and what a file may hold of it."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs import together
from textodds.errors import InputError, LengthMismatch
from textodds.stats.document_ids import DocumentIds, hash_of

names = st.sampled_from([f"m{i}" for i in range(12)] + ["é", "a b", "\ud800"])
rows = st.lists(st.tuples(names, st.sampled_from(["ham", "spam", "eggs"])), max_size=10)


def of(pairs):
    """The ledger of pairs of which none contradicts another."""
    return DocumentIds.none().learn([name for name, _ in pairs], [label for _, label in pairs])[0]


def consistent(pairs):
    return list(dict(pairs).items())


def test_the_hash_is_the_first_quarter_of_sha_256():
    assert hash_of("m1") == int.from_bytes(hashlib.sha256(b"m1").digest()[:8], "little")


@given(steps=st.lists(st.tuples(st.booleans(), rows.map(consistent)), max_size=8))
def test_a_ledger_does_what_a_dict_does(steps):
    document_ids, twin = DocumentIds.none(), {}
    for is_learned, pairs in steps:
        wanted = [name for name, _ in pairs], [label for _, label in pairs]
        contradicted = any(twin.get(name, label) != label for name, label in pairs)
        verb = document_ids.learn if is_learned else document_ids.forget
        if contradicted:
            with pytest.raises(InputError, match="was learned as"):
                verb(*wanted)
            continue
        document_ids, changed = verb(*wanted)
        assert changed.tolist() == [(name in twin) != is_learned for name in wanted[0]]
        for name, label in pairs:
            twin.pop(name, None)
            if is_learned:
                twin[name] = label
        assert len(document_ids) == len(twin)
        assert {name: document_ids.label_of(name) for name in twin} == twin
        assert document_ids.classes == tuple(sorted(set(twin.values())))
        assert (np.diff(document_ids.ids.astype(object)) > 0).all()


@given(pairs=rows.map(consistent))
def test_learning_again_does_nothing_and_forgetting_leaves_no_trace(pairs):
    document_ids = of(pairs)
    again, fresh = document_ids.learn([name for name, _ in pairs], [label for _, label in pairs])
    assert again == document_ids
    assert not fresh.any()
    empty, there = document_ids.forget([name for name, _ in pairs], [label for _, label in pairs])
    assert empty == DocumentIds.none()
    assert there.all()


@given(pairs=rows.map(consistent), cut=st.integers(0, 10))
def test_ledgers_add_up_and_subtract(pairs, cut):
    a, b = of(pairs[:cut]), of(pairs[cut:])
    assert a + b == b + a == of(pairs)
    assert (a + b) - b == a


def test_the_same_document_in_both_cannot_be_added_nor_a_stranger_subtracted():
    with pytest.raises(InputError, match="1 documents are in both models"):
        _ = of([("m1", "ham"), ("m2", "ham")]) + of([("m1", "ham")])
    for other in ([("m3", "ham")], [("m1", "spam")]):
        with pytest.raises(InputError, match="1 documents of the second model are not in the first"):
            _ = of([("m1", "ham")]) - of(other)


def test_within_a_batch_the_second_of_the_same_is_a_repetition_and_two_labels_are_an_error():
    document_ids, fresh = DocumentIds.none().learn(["m1", "m1"], ["ham", "ham"])
    assert fresh.tolist() == [True, False]
    assert document_ids.forget(["m1", "m1"], ["ham", "ham"])[1].tolist() == [True, False]
    with pytest.raises(InputError, match="document `m1` was learned as `ham`, and now comes as `spam`"):
        DocumentIds.none().learn(["m1", "m1"], ["ham", "spam"])


def test_another_label_says_to_forget_first():
    with pytest.raises(InputError) as caught:
        of([("m1", "ham")]).learn(["m1"], ["spam"])
    assert "forget it under its old label first" in str(caught.value)
    with pytest.raises(InputError, match="was learned as `ham`, and is to be forgotten as `spam`"):
        of([("m1", "ham")]).forget(["m1"], ["spam"])


def test_an_error_leaves_the_ledger_as_it_was():
    document_ids = of([("m1", "ham")])
    with pytest.raises(InputError):
        document_ids.learn(["m2", "m1"], ["ham", "spam"])
    assert document_ids == of([("m1", "ham")])


@pytest.mark.parametrize("name", ["", None, 7])
def test_an_id_is_a_text(name):
    with pytest.raises(InputError, match="row 1 has the id"):
        DocumentIds.none().learn(["m1", name], ["ham", "ham"])


def test_ids_pair_up_with_labels():
    with pytest.raises(LengthMismatch, match="got 1 documents but 2 ids"):
        DocumentIds.none().learn(["m1", "m2"], ["ham"])


@given(pairs=rows.map(consistent))
def test_arrays_make_the_same_ledger_again(pairs):
    document_ids = of(pairs)
    again = DocumentIds.of_arrays(document_ids.arrays(), document_ids.classes)
    assert again == document_ids
    assert {name: again.label_of(name) for name, _ in pairs} == dict(pairs)


GOOD = {"ids": np.array([3, 5], np.uint64), "class_of": np.array([0, 1], np.uint32)}


@together
@pytest.mark.parametrize(
    ("changes", "classes", "problem"),
    [
        ({"ids": None}, ["a", "b"], "the array `ids` of the ledger is missing"),
        ({"ids": np.array([3, 5], np.int64)}, ["a", "b"], "the array `ids`"),
        ({"class_of": np.array([[0], [1]], np.uint32)}, ["a", "b"], "the array `class_of`"),
        ({"ids": np.array([5, 3], np.uint64)}, ["a", "b"], "out of order"),
        ({"ids": np.array([3, 3], np.uint64)}, ["a", "b"], "out of order"),
        ({"ids": np.array([3], np.uint64)}, ["a", "b"], "not as many"),
        ({"class_of": np.array([0, 2], np.uint32)}, ["a", "b"], "a label that is not there"),
        ({"class_of": np.array([0, 0], np.uint32)}, ["a", "b"], "one without a document"),
        ({}, ["b", "a"], "labels of the ledger are out of order"),
        ({}, ["a", 1], "labels of the ledger are out of order"),
    ],
)
def test_arrays_that_are_no_ledger_are_refused(changes, classes, problem):
    assert len(DocumentIds.of_arrays(GOOD, ["a", "b"])) == 2
    arrays = {name: array for name, array in {**GOOD, **changes}.items() if array is not None}
    with pytest.raises(InputError, match=problem):
        DocumentIds.of_arrays(arrays, classes)
