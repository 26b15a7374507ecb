import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unbatched import pairs, read_pairs, rows

from pairs import together
from textodds.data import frames, read, row_parts
from textodds.errors import BadRow, InputError, LengthMismatch


def test_a_list_of_texts_goes_with_labels_and_weights():
    assert rows(read(["a", "b"], ["x", "y"], [1, 2])) == [("a", "x", 1.0), ("b", "y", 2.0)]


def test_a_short_list_is_one_batch_of_lists():
    (batch,) = read(["a", "b"], ["x", "y"])
    assert (batch.texts, batch.labels, batch.weights) == (["a", "b"], ["x", "y"], None)
    assert len(batch) == 2


def test_a_long_list_comes_in_slices():
    batches = list(read(["a"] * 150_000, ["x"] * 150_000))
    assert [len(batch) for batch in batches] == [65_536, 65_536, 18_928]


def test_texts_without_labels_are_an_error_where_labels_are_wanted():
    with pytest.raises(InputError, match="a list of 2 texts comes without labels"):
        read(["a", "b"])
    assert read_pairs(["a", "b"], labelled=False) == [("a", None), ("b", None)]


def test_labels_are_given_where_they_are_handed_over_though_none_are_needed():
    assert read_pairs(["a"], ["x"], labelled=False) == [("a", "x")]


@together
@pytest.mark.parametrize("kind", [list, tuple, iter, lambda items: (item for item in items)])
def test_pairs_triples_and_dicts_are_rows(kind):
    assert read_pairs(kind([("a", "x"), ("b", 2)])) == [("a", "x"), ("b", "2")]
    assert rows(read(kind([("a", "x", 1), ["b", "y", 0.5]]))) == [("a", "x", 1.0), ("b", "y", 0.5)]
    assert read_pairs(kind([{"text": "a", "label": "x"}, {"label": "y", "text": "b"}])) == [
        ("a", "x"),
        ("b", "y"),
    ]


def test_keys_of_dicts_can_be_named():
    assert rows(read([{"a": "t", "b": "x", "c": 2}], text="a", label="b", weight="c")) == [("t", "x", 2.0)]


def test_labels_of_pairs_are_left_out_where_none_are_wanted():
    assert read_pairs([("a", None), ("b", "x")], labelled=False) == [("a", None), ("b", None)]


@together
@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([("a", "x"), ("b", None)], "label is empty"),
        ([("a", "x"), (None, "y")], "text is null"),
        ([("a", "x"), ("b",)], "1 items, where 2 items are expected"),
        ([("a", "x"), "b"], "a str, where 2 items are expected"),
        ([("a", "x", 1), ("b", "y", -1)], "weight is `-1`"),
        ([{"text": "a", "label": "x"}, {"text": "b"}], "label is empty"),
        ([{"text": "a", "label": "x"}, "b"], "a str, where a dict is expected"),
        ([("a", "x"), None], "a NoneType, where 2 items are expected"),
    ],
)
def test_a_bad_row_is_named_by_its_number_from_one(items, reason):
    for source in (items, iter(items)):
        with pytest.raises(BadRow, match=rf"of (2 )?rows, row 2: {reason}"):
            read_pairs(source)


def test_a_null_in_a_list_of_texts_is_a_bad_row():
    with pytest.raises(BadRow, match="a list of 2 texts, row 1: text is null"):
        read_pairs([None, "b"], ["x", "y"])
    assert read_pairs([None, "b"], ["x", "y"], bad_rows="skip") == [("b", "y")]


def test_tuples_of_other_sizes_are_told():
    with pytest.raises(InputError, match="row 1 of a list of 1 row has 4 items"):
        read_pairs([("a", "b", 1, 2)])


def test_lists_that_differ_in_length_are_told_at_once():
    with pytest.raises(LengthMismatch, match="got 2 documents but 1 labels"):
        read(["a", "b"], ["x"])
    with pytest.raises(LengthMismatch, match="got 1 documents but 2 weights"):
        read(["a"], ["x"], [1, 2])


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ("ab", "x", "got 2 documents but 1 labels"),
        ("a", "xyz", "got 1 documents but 2 labels"),
        ("", "x", "got 0 documents but 1 labels"),
    ],
)
def test_iterators_that_differ_in_length_are_told_when_one_runs_out(texts, labels, message):
    with pytest.raises(LengthMismatch, match=message):
        read_pairs(iter(texts), iter(labels))
    with pytest.raises(LengthMismatch, match=message.replace("labels", "weights")):
        rows(read(iter(texts), itertools.repeat("x", len(texts)), (1 for _ in labels)))


def test_a_longer_iterator_of_labels_is_told_even_if_the_rest_is_null():
    with pytest.raises(LengthMismatch):
        read_pairs(iter(["a"]), iter(["x", None]))


def test_a_generator_is_read_as_it_comes():
    made = []

    def texts():
        for n in itertools.count():
            made.append(n)
            yield f"text {n}", "x"

    stream = iter(read(texts()))
    assert len(next(stream)) == 16_384
    assert len(made) == 16_384
    stream.close()


def test_long_documents_are_batched_by_their_size():
    documents = (("x" * (1 << 20), "y") for _ in range(10))
    assert [len(batch) for batch in read(documents)] == [4, 4, 2]


def test_a_single_document_may_exceed_a_batch():
    (batch,) = read(iter(["x" * (5 << 20)]), iter(["y"]))
    assert len(batch.texts[0]) == 5 << 20


def test_a_generator_can_be_read_once_and_a_list_again():
    assert read(["a"], ["x"]).replayable
    assert read([("a", "x")]).replayable
    for source in (read(iter(["a"]), ["x"]), read(["a"], iter(["x"])), read(iter([("a", "x")]))):
        assert not source.replayable
        assert pairs(source) == [("a", "x")]
        with pytest.raises(InputError, match="can be read only once, and has been"):
            iter(source)


def test_what_is_empty_gives_no_batch():
    assert list(read([], [])) == []
    assert list(read([])) == []
    assert list(read(iter([]))) == []


def test_a_text_in_place_of_labels_is_told():
    with pytest.raises(InputError, match="`labels` is 'spam', not one for each text"):
        read(["a", "b", "c", "d"], "spam")
    with pytest.raises(InputError, match="`weights` is 2, not one for each text"):
        read(["a"], ["x"], 2)


@together
@pytest.mark.parametrize("source", [3, None, b"bytes", {"a": 1}, object()])
def test_what_holds_no_texts_is_told(source):
    with pytest.raises(InputError, match=r"cannot read texts from an? "):
        read(source)


def test_rows_with_labels_of_their_own_take_no_others():
    with pytest.raises(
        InputError, match="`labels` does not apply: the source is rows with labels of their own"
    ):
        read([("a", "x")], ["y"])


def test_options_of_files_do_not_go_with_lists():
    with pytest.raises(InputError, match="`format` does not apply: the source is not a file"):
        read(["a"], ["x"], format="csv")
    with pytest.raises(InputError, match="`header` does not apply"):
        read(["a"], ["x"], header=False)


def test_sources_describe_themselves():
    assert read(["a"] * 40, ["x"] * 40).description == "a list of 40 texts"
    assert read(np.array(["a"]), ["x"]).description == "a numpy ndarray of 1 text"
    assert read([("a", "x")]).description == "a list of 1 row"
    assert read(iter(["a"]), ["x"]).description == "an iterator of texts"


def test_the_input_is_not_changed():
    texts, labels, weights = ["a", None, "c"], [1, 2, ""], [1, 2, 3]
    read_pairs(texts, labels, weights, bad_rows="skip")
    assert (texts, labels, weights) == (["a", None, "c"], [1, 2, ""], [1, 2, 3])


@given(
    st.lists(st.tuples(st.none() | st.text(), st.none() | st.text(max_size=2), st.floats())),
    st.integers(1, 5),
    st.integers(1, 50),
)
def test_every_shape_in_batches_of_any_size_gives_the_same_rows(documents, n_rows, n_bytes):
    texts, labels, weights = zip(*documents, strict=True) if documents else ((), (), ())
    shapes = [
        lambda: read(texts, labels, weights, bad_rows="skip"),
        lambda: read(iter(texts), labels, weights, bad_rows="skip"),
        lambda: read(documents, bad_rows="skip"),
        lambda: read(iter(documents), bad_rows="skip"),
        lambda: read(
            [{"text": t, "label": y, "weight": w} for t, y, w in documents], weight="weight", bad_rows="skip"
        ),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_parts, "BATCH_ROWS", n_rows)
        patch.setattr(row_parts, "BATCH_BYTES", n_bytes)
        patch.setattr(frames, "SLICE_ROWS", n_rows)
        results = [rows(shape()) for shape in shapes]
    assert all(result == results[0] for result in results)
    assert results[0] == [(t, y, w) for t, y, w in documents if t is not None and y and 0 <= w <= 2**32]
