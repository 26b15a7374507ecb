"""The pool is a fair sample in bounded memory, and so is its head."""

import collections

import numpy as np
import pytest
from scipy import stats

from textodds.data import Batch
from textodds.training.choose import Pool


def numbered(n, size=1):
    """n texts that are their own numbers, in batches of a hundred; each is ``size`` characters or more."""
    for start in range(0, n, 100):
        rows = range(start, min(start + 100, n))
        yield Batch([f"{i:0{size}d}" for i in rows], [f"k{i % 3}" for i in rows], np.arange(len(rows)) + 0.5)


def test_few_texts_are_all_kept_with_their_labels_and_weights_in_another_order():
    pool = Pool.of(numbered(1000))
    assert pool.total == len(pool) == 1000
    numbers = [int(text) for text in pool.texts]
    assert sorted(numbers) == list(range(1000))
    assert numbers != list(range(1000))
    assert pool.labels == [f"k{i % 3}" for i in numbers]
    np.testing.assert_array_equal(pool.weights, [i % 100 + 0.5 for i in numbers])
    assert pool.classes == ("k0", "k1", "k2")
    np.testing.assert_array_equal(pool.codes, [i % 3 for i in numbers])


def test_the_same_texts_make_the_same_pool_however_they_come():
    first = Pool.of(numbered(1000), most=200)
    again = Pool.of(numbered(1000), most=200)
    assert first.texts == again.texts


def test_of_many_texts_as_many_are_kept_as_asked_for_and_all_are_counted():
    pool = Pool.of(numbered(5000), most=400)
    assert (len(pool), pool.total) == (400, 5000)
    assert len(set(pool.texts)) == 400


@pytest.mark.parametrize("memory", [1 << 20, 3000], ids=["by number", "by memory"])
def test_what_is_kept_and_its_head_come_from_all_parts_of_the_stream(memory):
    """Where a text stands says nothing of whether it is kept: every tenth of the stream has its share."""
    pool = Pool.of(numbered(20_000, size=10), most=600, memory=memory)
    assert len(pool) <= memory / 10
    for part in (pool, pool.head(len(pool) // 3)):
        tenth = collections.Counter(int(text) // 2000 for text in part.texts)
        assert stats.chisquare([tenth[i] for i in range(10)]).pvalue > 1e-3
        thirds = collections.Counter(part.labels)
        assert stats.chisquare([thirds[f"k{k}"] for k in range(3)]).pvalue > 1e-3


@pytest.mark.parametrize("size", [10, 1000, 50_000])
def test_memory_is_bounded_whatever_the_size_of_the_texts(size):
    """Between two looks at the sizes texts of a tenth of what was seen may come, but no place is added."""
    pool = Pool.of(numbered(3000, size), memory=100_000)
    assert pool.total == 3000
    assert sum(map(len, pool.texts)) <= max(100_000, size)
    assert len(pool) >= min(3000, 100_000 // size) / 4  # halved, no more often than needed


def test_texts_that_grow_are_noticed():
    def growing():
        for i in range(200):
            yield Batch(["x" * (10 * i)] * 20, ["a"] * 20, None)

    pool = Pool.of(growing(), memory=200_000)
    assert sum(map(len, pool.texts)) <= 1.5 * 200_000
    assert pool.total == 4000


def test_a_head_is_the_first_texts_and_still_knows_how_many_there_are():
    pool = Pool.of(numbered(300))
    head = pool.head(120)
    assert head.texts == pool.texts[:120]
    assert head.labels == pool.labels[:120]
    np.testing.assert_array_equal(head.weights, pool.weights[:120])
    assert head.total == 300


def test_no_texts_make_an_empty_pool():
    pool = Pool.of([])
    assert (len(pool), pool.total, pool.classes, pool.mean_size) == (0, 0, (), 0.0)
