"""A sample that depends on the texts alone: not on order, batches, parts, or where they were read."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from textodds.data import Batch
from textodds.stats.sample import LARGEST_SHARE, SAMPLE, Example, HashSample, as_rows

text = st.one_of(st.sampled_from(["", "a", "b", "a b", "ä", "free phone"]), st.text(max_size=5))
label = st.sampled_from(["ham", "spam", "ä"])
weight = st.one_of(st.sampled_from([0.0, 0.25, 1.0, 2.0, 2.0**-30, 2.0**-40]), st.floats(0, 5))
rows_of = st.lists(st.tuples(text, label, weight), max_size=30)
size = st.integers(0, 12)


def batch(rows):
    weights = np.array([row[2] for row in rows], dtype=float)
    return Batch([row[0] for row in rows], [row[1] for row in rows], weights)


def drawn(rows, most):
    sample = HashSample(most)
    sample.offer(batch(rows))
    return sample


def state(sample):
    """All that a sample knows."""
    return sample.examples(), sample.columns(), sample.is_whole


@given(rows=rows_of, most=size, data=st.data())
def test_order_and_batches_make_no_difference(rows, most, data):
    other = HashSample(most)
    again = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(0, len(rows)))
    for part in (again[:cut], again[cut:]):
        assert [b.texts for b in other.passed([batch(part)])] == [[row[0] for row in part]]
    assert state(other) == state(drawn(rows, most))


@given(parts=st.lists(rows_of, min_size=1, max_size=4), most=size, data=st.data())
def test_samples_of_parts_merge_to_that_of_the_whole(parts, most, data):
    whole = drawn([row for part in parts for row in part], most)
    merged = HashSample(most)
    for part in data.draw(st.permutations(parts)):
        one = drawn(part, most)
        if data.draw(st.booleans()):  # sent as plain columns, as tasks send it
            sent = HashSample(most)
            sent.put(one.columns(), is_whole=one.is_whole)
            one = sent
        merged.merge(one)
    assert state(merged) == state(whole)


@given(rows=rows_of, extra=st.integers(0, 3))
def test_where_there_is_room_every_text_is_in_it_with_its_rows_and_exact_weight(rows, extra):
    weighing = [((text, label), twins.exact(w)) for text, label, w in rows if twins.exact(w)]
    distinct = len({text for (text, _), _ in weighing})
    sample = drawn(rows, distinct + extra)
    assert sample.is_whole
    times, total = Counter(pair for pair, _ in weighing), Counter()
    for pair, w in weighing:
        total[pair] += w
    found = sample.examples()
    assert {(e.text, e.label): e.rows for e in found} == times
    assert len(found) == len(times)
    for e in found:
        mean = total[e.text, e.label] / times[e.text, e.label]
        assert e.weight == pytest.approx(float(mean), rel=1e-15, abs=0)
    columns = sample.columns()
    exact = [Fraction(w, 2**30) for w in columns["weight"]]
    assert dict(zip(zip(columns["text"], columns["label"], strict=True), exact, strict=True)) == total


@given(rows=rows_of, most=st.integers(1, 12))
def test_a_smaller_sample_is_the_beginning_of_a_larger_one(rows, most):
    """Texts have one order, whatever the size; and all copies of those that are kept are counted."""
    all_of_them = drawn(rows, 100).columns()
    few = drawn(rows, most)
    kept = list(dict.fromkeys(all_of_them["text"]))[:most]
    n = sum(text in kept for text in all_of_them["text"])
    assert few.columns() == {name: values[:n] for name, values in all_of_them.items()}
    assert few.is_whole == (len(set(all_of_them["text"])) <= most)


def test_it_is_not_whole_if_one_of_its_parts_was_not():
    """Even where the texts of that part that it has are few enough."""
    part = drawn([("a", "x", 1.0), ("b", "x", 1.0)], 1)
    larger = HashSample(10)
    larger.merge(part)
    assert not larger.is_whole
    sent = HashSample(10)
    sent.put(part.columns(), is_whole=part.is_whole)
    assert not sent.is_whole
    onward = HashSample(10)
    onward.merge(sent)
    assert not onward.is_whole


def test_a_text_that_stands_in_a_sample_by_chance_does_not_count_for_much():
    rows = [(f"text {i}", "x", 1.0) for i in range(400)] + [("text 7", "x", 1.0)] * 100_000
    whole = {e.text: e.rows for e in drawn(rows, 400).examples()}
    assert whole["text 7"] == 100_001
    for most in range(100, 400, 50):
        found = drawn(rows, most)
        if "text 7" in {e.text for e in found.examples()}:
            break
    assert not found.is_whole
    assert {e.text: e.rows for e in found.examples()}["text 7"] == int(LARGEST_SHARE * (most + 100_000))


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_sample_is_fair(share):
    """Of what there is, a share that is near what chance would make it, and other texts bring others."""
    texts = [f"{'rare' if i < 20_000 * share else 'frequent'} {i}" for i in range(20_000)]
    sample = HashSample(2000)
    sample.offer(Batch(texts, None, None))
    found = [e.text for e in sample.examples()]
    assert len(set(found)) == 2000
    error = np.sqrt(share * (1 - share) / 2000)
    for some in (found, found[:1000]):  # the first are as good a sample
        got = np.mean([text.startswith("rare") for text in some])
        assert abs(got - share) < 5 * error * np.sqrt(2000 / len(some))
    numbers = np.array([int(text.split()[1]) for text in found])
    assert abs(numbers.mean() - 9999.5) < 5 * 20_000 / np.sqrt(12 * 2000)
    assert abs(np.corrcoef(numbers, np.arange(2000))[0, 1]) < 5 / np.sqrt(2000)


def test_columns_of_arrow_are_drawn_from_as_lists_are():
    rows = [(f"text {i % 17}", "ab"[i % 2], 1.0) for i in range(60)]
    table = Batch(pa.array([row[0] for row in rows]), pa.array([row[1] for row in rows]), None)
    sample = HashSample(5)
    sample.offer(table)
    assert state(sample) == state(drawn(rows, 5))


def test_a_text_is_there_once_for_each_of_its_labels():
    rows = [("see", "ham", 1.0), ("see", "spam", 3.0), ("see", "ham", 0.5)]
    assert drawn(rows, 1).examples() == [Example("see", "ham", 0.75, 2.0), Example("see", "spam", 3.0, 1.0)]
    unlabelled = HashSample(1)
    unlabelled.offer(Batch(["see", "see"], None, None))
    assert unlabelled.examples() == [Example("see", "", 1.0, 2.0)]


counts = st.lists(st.integers(1, 60), min_size=1, max_size=30)


@given(counts=counts)
def test_rows_stand_for_as_many_as_there_were(counts):
    examples = [Example(str(i), "x", 1.0, float(n)) for i, n in enumerate(counts)]
    assert np.bincount(as_rows(examples), minlength=len(counts)).tolist() == counts


@given(counts=st.lists(st.integers(1, 10**7), min_size=2, max_size=30))
def test_of_too_many_rows_each_example_has_its_share(counts):
    counts = [*counts, 10**4]
    examples = [Example(str(i), "x", 1.0, float(n)) for i, n in enumerate(counts)]
    found = as_rows(examples)
    assert len(found) == SAMPLE
    assert (np.diff(found) >= 0).all()
    share = np.array(counts) * SAMPLE / sum(counts)
    assert (np.abs(np.bincount(found, minlength=len(counts)) - share) <= 1).all()


def test_no_examples_are_no_rows():
    assert len(as_rows([])) == 0
    assert HashSample(5).examples() == []
    assert HashSample(5).is_whole
