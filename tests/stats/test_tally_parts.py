"""Tallies in parts: what is cut adds up again, in any order; what outgrows memory loses the rarest words."""

import math
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import twins
from textodds import Tally
from textodds.stats.tally import Sum
from unicode_texts import awkward, texts

WORDS = ["a", "b", "c", "é", "x" * 15, "x" * 16, "y" * 40, "字", "1,000", *(f"w{i}" for i in range(30))]

text = st.one_of(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), texts)
label = st.one_of(st.sampled_from(["ham", "spam", "eggs"]), st.text(awkward, min_size=1, max_size=20))
weight = st.one_of(st.integers(0, 3).map(float), st.floats(0, 5, allow_nan=False))
rows_of = st.lists(st.tuples(text, label, weight), max_size=8)
bits = st.integers(0, 6)


def tally(rows):
    return Tally.of([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def same(left, right):
    """Equal, down to the bytes."""
    return left == right and left.fingerprint() == right.fingerprint() and left.pruned == right.pruned


def documents(counted):
    """Documents, by weight, that hold each word."""
    _, _, found = twins.as_dicts(counted)
    total = {}
    for (word, _), n in found.items():
        total[word] = total.get(word, 0) + n
    return total


@given(rows=rows_of, bits=bits)
def test_parts_add_up_to_the_whole(rows, bits):
    whole = tally(rows)
    parts = whole.cut(bits)
    assert len(parts) == 2**bits
    assert same(reduce(add, parts), whole)
    assert same(reduce(add, reversed(parts)), whole)


@given(rows=rows_of, bits=bits)
def test_each_word_is_in_one_part_and_documents_are_in_the_first(rows, bits):
    whole = tally(rows)
    parts = whole.cut(bits)
    words = [part.vocabulary.words() for part in parts]
    assert [word for some in words for word in some] == whole.vocabulary.words()  # in the order that they had
    assert parts[0].n_documents == whole.n_documents
    assert all(part.n_documents == 0 for part in parts[1:])
    for part in parts[1:]:  # no class without words is named
        assert {part.classes[k] for k in part.class_of} == set(part.classes)


@given(a=rows_of, b=rows_of, bits=bits)
def test_the_cut_of_a_sum_is_the_sum_of_cuts(a, b, bits):
    A, B = tally(a), tally(b)
    for left, right, both in zip(A.cut(bits), B.cut(bits), (A + B).cut(bits), strict=True):
        assert same(left + right, both)


def test_parts_are_of_about_one_size():
    parts = Tally.of([" ".join(f"word{i}" for i in range(32_000))], ["x"]).cut(5)
    sizes = np.array([len(part.vocabulary) for part in parts])
    assert (np.abs(sizes - 1000) < 5 * np.sqrt(1000)).all()


@given(several=st.lists(rows_of, max_size=8), data=st.data())
def test_a_sum_is_that_of_adding_one_by_one_in_any_order(several, data):
    adding = Sum()
    for rows in data.draw(st.permutations(several)):
        adding.add(tally(rows))
    total = adding.total()
    if not several:
        assert total is None
    else:
        assert same(total, tally([row for rows in several for row in rows]))


def test_a_sum_can_go_on_after_it_was_asked():
    adding = Sum()
    one, two = Tally.of(["a b"], ["x"]), Tally.of(["b c d"], ["y"])
    adding.add(one)
    assert same(adding.total(), one)
    adding.add(two)
    assert same(adding.total(), one + two)
    assert same(adding.total(), one + two)


def test_a_sum_touches_words_few_times():
    """Of n tallies of one size each is added about log n times, where one by one would be n."""
    touched = 0

    class Told(Tally):
        def __add__(self, other):
            nonlocal touched
            found = super().__add__(other)
            touched += len(found.vocabulary)
            return found

    adding, n = Sum(), 64
    for i in range(n):
        adding.add(Told.of([" ".join(f"word{i}x{j}" for j in range(20))], ["x"]))
    assert len(adding.total().vocabulary) == 20 * n
    assert touched <= 20 * n * (math.log2(n) + 1)


@given(rows=rows_of, memory=st.integers(1, 3000))
def test_within_memory_only_the_rarest_words_are_dropped(rows, memory):
    whole = tally(rows)
    assume(len(whole.vocabulary))
    less = whole.within(memory)
    if whole.nbytes <= memory:
        assert less is whole
        return
    before, after = documents(whole), documents(less)
    dropped = {word: n for word, n in before.items() if word not in after}
    assert dropped
    assert all(before[word] == n for word, n in after.items())  # what is left is as it was
    assert less.pruned == math.ceil(max(dropped.values()))
    assert all(n > max(dropped.values()) for n in after.values())
    assert twins.as_dicts(less)[0] == twins.as_dicts(whole)[0]
    for number in (1, 2):
        kept = {k: v for k, v in twins.as_dicts(whole)[number].items() if k[0] in after}
        assert twins.as_dicts(less)[number] == kept


def test_classes_alone_may_outgrow_memory():
    whole = Tally.of([""] * 50, [f"class {i}" for i in range(50)])
    assert not len(whole.vocabulary)
    assert same(whole.within(8), whole)


def spread(n=4000, seed=0):
    """Words of which some are in many documents and most in few."""
    random = np.random.default_rng(seed)
    texts = [" ".join(f"word{k}" for k in np.minimum(random.zipf(1.3, 12), n)) for _ in range(3000)]
    return Tally.of(texts, random.choice(["x", "y"], 3000).tolist())


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_what_is_dropped_leaves_room_but_not_too_much(share):
    whole = spread()
    memory = int(share * whole.nbytes)
    less = whole.within(memory)
    assert less.nbytes <= memory
    assert 1 <= less.pruned < max(documents(whole).values())
    # Words as rare as the rarest that were dropped go with them; of the rest half of the room is used.
    tied = sum(1 for n in documents(whole).values() if n == less.pruned)
    assert less.nbytes + tied * 2 * whole.nbytes / len(whole.class_of) >= memory / 3
    assert same(less + Tally.of([], []), less)
    less.checked()


def test_a_sum_that_outgrows_memory_says_so_and_keeps_the_frequent_words():
    parts = [spread(seed=seed) for seed in range(6)]
    exact = reduce(add, parts)
    adding = Sum(exact.nbytes // 3)
    for part in parts:
        adding.add(part)
    total = adding.total()
    assert total.nbytes <= exact.nbytes // 3
    assert total.pruned >= 1
    assert total.n_documents == exact.n_documents
    known, found = documents(exact), documents(total)
    for word in sorted(known, key=known.get, reverse=True)[:20]:
        assert found[word] == known[word]
    assert all(n <= known[word] for word, n in found.items())
    generous = Sum(2 * exact.nbytes)
    for part in parts:
        generous.add(part)
    assert same(generous.total(), exact)


@given(a=rows_of, b=rows_of, bits=bits)
def test_parts_and_sums_keep_in_mind_that_words_were_dropped(a, b, bits):
    less, other = replace(tally(a), pruned=7), replace(tally(b), pruned=3)
    assert all(part.pruned == 7 for part in less.cut(bits))
    adding = Sum()
    adding.add(other)
    adding.add(less)
    assert adding.total().pruned == 7
    assert less.within(1 << 20).pruned == 7


def test_what_is_left_has_the_one_form_of_its_counts():
    """Weights of a half that make whole numbers for all but the words that are dropped."""
    rows = [("often", "x", 0.5)] * 400 + [(f"rare{i}", "x", 0.5) for i in range(40)]
    whole = tally(rows)
    less = whole.within(whole.nbytes - 1)
    assert less.vocabulary.words() == ["often"]
    assert same(less + tally([]), less)
