"""Documents by their ids as they pass."""

import numpy as np
import pytest

from textodds.data import Batch
from textodds.errors import LengthMismatch
from textodds.model.id_filter import IdFilter
from textodds.stats.document_ids import DocumentIds


def batch(*texts):
    return Batch(list(texts), ["ham"] * len(texts), np.arange(1.0, len(texts) + 1))


def test_what_comes_again_is_left_out_within_a_batch_and_across_batches():
    id_filter = IdFilter(DocumentIds.none(), ["1", "2", "1", "2", "3"], 1)
    first, second = id_filter.passing([batch("a", "b", "a"), batch("b", "c")])
    assert (first.texts, first.weights.tolist()) == (["a", "b"], [1, 2])
    assert (second.texts, second.weights.tolist()) == (["c"], [2])
    assert (id_filter.rows, id_filter.left_out) == (3, 2)
    assert len(id_filter.finish()) == 3


def test_what_is_not_there_is_not_forgotten():
    ledger, _ = DocumentIds.none().learn(["1"], ["ham"])
    id_filter = IdFilter(ledger, ["1", "9"], -1)
    (passed,) = id_filter.passing([batch("a", "z")])
    assert passed.texts == ["a"]
    assert len(id_filter.finish()) == 0


def test_without_a_ledger_all_rows_pass_and_too_many_ids_are_an_error():
    id_filter = IdFilter(None, (), 1)
    assert [len(each) for each in id_filter.passing([batch("a"), batch("b", "c")])] == [1, 2]
    assert (id_filter.rows, id_filter.left_out, id_filter.finish()) == (3, 0, None)
    id_filter = IdFilter(DocumentIds.none(), ["1", "2"], 1)
    list(id_filter.passing([batch("a")]))
    with pytest.raises(LengthMismatch):
        id_filter.finish()
