"""Rows of tables are kept as they came, in an order of their own, and add and subtract."""

import numpy as np
import pyarrow as pa
import pytest

from textodds.data import Batch
from textodds.errors import InputError, NotLearned
from textodds.stats.categories import CodedColumn
from textodds.stats.corpus import reread
from textodds.stats.rows import RowKeeper, Rows
from textodds.text import TextSettings

KINDS = {"x": "number", "whole": "number", "c": "category", "t": TextSettings()}


def batch(n=50, seed=0):
    """Rows of every kind of column, some values missing and some rows alike."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    x[random.random(n) < 0.2] = np.nan
    columns = {
        "x": x,
        "whole": np.where(random.random(n) < 0.2, np.nan, random.integers(0, 300, n).astype(float)),
        "c": [None if random.random() < 0.2 else str(random.choice(["red", "grün", ""])) for _ in range(n)],
        "t": [" ".join(random.choice(["Leaf", "BARK", "ñu", "!!"], 3)) for _ in range(n)],
        "unused": np.arange(n) + 0.5,
    }
    labels = [str(random.choice(["a", "b\0", "é"])) for _ in range(n)]
    twice = [*range(n), 3, 3, 7]
    columns = {name: [values[i] for i in twice] for name, values in columns.items()}
    for name in ("x", "whole", "unused"):
        columns[name] = np.array(columns[name])
    columns["c"] = pa.array(columns["c"], pa.string())
    weights = random.choice([1.0, 0.5, 1 / 3], n)
    return Batch(columns, [labels[i] for i in twice], weights[twice])


def listed(rows):
    """The rows as plain values, in their order."""
    found = rows.batch(np.arange(len(rows)))
    columns = [
        values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()
        for values in found.columns.values()
    ]
    return list(zip(found.label_list(), found.weights.tolist(), *map(plain, columns), strict=True))


def plain(values):
    return ["missing" if value is None or value != value else value for value in values]


def test_rows_are_as_they_came_whatever_the_order_and_the_batches():
    whole = batch()
    rows = Rows.of([whole], KINDS)
    canonical = KINDS["t"].analyser.canonical(whole.columns["t"]).to_list()
    weights = np.round(whole.weights * 2.0**30) * 2.0**-30
    came = zip(
        whole.label_list(),
        weights.tolist(),
        *(plain(whole.columns[name].tolist()) for name in ("x", "whole", "c")),
        canonical,
        strict=True,
    )
    assert sorted(listed(rows), key=repr) == sorted(came, key=repr)
    order = np.random.default_rng(1).permutation(len(whole))
    assert listed(Rows.of([whole.take(order[:20]), whole.take(order[20:])], KINDS)) == listed(rows)
    turned = Rows.of([whole], dict(reversed(KINDS.items())))
    np.testing.assert_array_equal(turned.hashes, rows.hashes)


def test_rows_add_and_subtract():
    whole = batch()
    rows = Rows.of([whole], KINDS)
    a, b = (Rows.of([whole.take(part)], KINDS) for part in (range(20), range(20, len(whole))))
    assert listed(a + b) == listed(b + a) == listed(rows)
    assert listed(rows - b) == listed(a)
    assert (rows - b).classes == a.classes
    assert len(rows - rows) == 0
    with pytest.raises(NotLearned, match="was not learned as"):
        a - b
    with pytest.raises(InputError, match="different columns"):
        a + Rows.of([whole], {"x": "number"})


def test_numbers_that_are_equal_are_one_and_others_are_not():
    def hashes(values):
        return Rows.of([Batch({"x": np.array(values)}, ["a"] * len(values))], {"x": "number"}).hashes

    assert len(set(hashes([0.0, -0.0]).tolist())) == 1
    assert len(set(hashes([np.nan, -np.nan]).tolist())) == 1
    assert len(set(hashes([0.0, 5e-324, 1.0, np.nan, np.nextafter(1.0, 2)]).tolist())) == 5
    empty = CodedColumn.of(["", None])
    assert len(set(Rows.of([Batch({"c": empty}, ["a", "a"])], {"c": "category"}).hashes.tolist())) == 2


def test_arrays_come_back_and_are_the_same_on_any_way():
    whole, more = batch(), batch(seed=5)
    rows = Rows.of([whole], KINDS)
    arrays = rows.arrays()
    assert listed(Rows.of_arrays(arrays, rows.classes, KINDS)) == listed(rows)
    other = rows + Rows.of([more], KINDS) - Rows.of([more], KINDS)
    for name, part in other.arrays().items():
        np.testing.assert_array_equal(part, arrays[name])
    assert arrays["1.whole"].dtype == np.uint16


def test_texts_that_are_kept_are_prepared_once():
    kept = Rows.of([batch()], KINDS).batch(np.arange(50)).columns["t"].to_pylist()
    assert {word for text in kept for word in text.split()} == {"leaf", "bark", "ñu"}
    assert reread(KINDS["t"]).analyser.canonical(kept).to_list() == kept


def damages(arrays):
    """Arrays that are damaged, one after another."""
    for name, array in arrays.items():
        yield {key: part for key, part in arrays.items() if key != name}
        yield {**arrays, name: array[:-1]}
        yield {**arrays, name: array.reshape(1, -1)}
        yield {**arrays, name: array.astype(np.float32)}
    for name in ("class_of", "2.codes", "1.whole"):
        for value in (2**62, -(2**63), -1):
            changed = arrays[name].astype(np.int64)
            changed[0] = value
            yield {**arrays, name: changed}
    for value in (np.nan, -1.0, 0.0, np.inf):
        yield {**arrays, "weights": np.full_like(arrays["weights"], value)}
    for value in (np.inf, 1e100):
        yield {**arrays, "0.numbers": np.full_like(arrays["0.numbers"], value)}
    yield {**arrays, "hashes": arrays["hashes"][::-1]}
    yield {**arrays, "3.hashes": arrays["3.hashes"] + np.uint64(1)}
    yield {**arrays, "2.names.text": np.full_like(arrays["2.names.text"], 0xFF)}


def test_damaged_arrays_are_refused():
    rows = Rows.of([batch()], KINDS)
    arrays = rows.arrays()
    for damaged in damages(arrays):
        if "weights" not in damaged or (
            "3.arena" in damaged and len(damaged["3.arena"]) != len(arrays["3.arena"])
        ):
            continue  # all are 1 then
        with pytest.raises(InputError):
            Rows.of_arrays(damaged, rows.classes, KINDS)
    for classes in ((), ("a",), ("é", "b\0", "a"), ("a", "b", "c", "d")):
        with pytest.raises(InputError):
            Rows.of_arrays(arrays, classes, KINDS)


def test_of_too_many_rows_none_are_kept():
    keeper = RowKeeper(KINDS, most=2000)
    for seed in range(3):
        keeper.keep(batch(seed=seed))
    assert keeper.is_full
    assert keeper.rows() is None
    assert len(RowKeeper(KINDS).rows()) == 0


def test_a_sample_depends_on_the_rows_alone_and_is_fair():
    rows = Rows.of([batch(900)], KINDS)
    shuffled = Rows.of([batch(900).take(np.random.default_rng(3).permutation(903))], KINDS)
    a, b = rows.sample(300), shuffled.sample(300)
    np.testing.assert_array_equal(a.columns["x"], b.columns["x"])
    known = a.columns["x"][~np.isnan(a.columns["x"])]
    assert abs(known.mean()) < 0.2
