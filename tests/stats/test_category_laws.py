"""Tallies of categories form a group, bit for bit, and what is made of them is a distribution."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from textodds.errors import NegativeCount
from textodds.learn.conditionals.categorical import Categorical
from textodds.learn.conditionals.table import FullTable
from textodds.stats.categories import CategoryTally, CellTally, CodedColumn

NAMES = ("sky", "wind", "é 字")
both = pytest.mark.parametrize("kind", [CategoryTally, CellTally])

category = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "", "字"]), st.text(max_size=3))
label = st.sampled_from(["yes", "no", "maybe"])
weight = st.one_of(st.integers(0, 3).map(float), st.floats(0, 5, allow_nan=False))
row = st.tuples(st.tuples(category, category, category), label, weight)
rows = st.lists(row, max_size=8)
few = st.one_of(st.none(), st.sampled_from("abc"))
training = st.lists(st.tuples(st.tuples(few, few, few), label, weight), min_size=1, max_size=12).filter(
    lambda rows: any(twins.exact(row[2]) for row in rows)
)
choices = st.fixed_dictionaries(
    {"missing": st.sampled_from(["ignore", "category"]), "unseen": st.sampled_from(["ignore", "smooth"])}
)
alpha = st.sampled_from([0.0, 0.01, 1.0, 30.0])


def columns(rows, names=NAMES):
    """The columns of rows of (values, label, weight)."""
    return {name: [row[0][j] for row in rows] for j, name in enumerate(names)}


def tally(kind, rows):
    """The tally of such rows."""
    return kind.of(columns(rows), [row[1] for row in rows], [row[2] for row in rows])


def same(left, right):
    """Equal, down to the bytes of the plain form."""
    mine, theirs = left.arrays(), right.arrays()
    return (
        left == right
        and list(mine) == list(theirs)
        and all(mine[key].dtype == theirs[key].dtype for key in mine)
        and all(mine[key].tobytes() == theirs[key].tobytes() for key in mine)
    )


@pytest.mark.slow
@both
@given(a=rows, b=rows)
def test_tallies_add_up_to_the_tally_of_all_in_any_order(kind, a, b):
    assert same(tally(kind, a) + tally(kind, b), tally(kind, a + b))
    assert same(tally(kind, b) + tally(kind, a), tally(kind, a + b))


@pytest.mark.slow
@both
@given(a=rows, b=rows, c=rows)
def test_tallies_form_a_group(kind, a, b, c):
    A, B, C, nothing = (tally(kind, part) for part in (a, b, c, []))
    assert same((A + B) + C, A + (B + C))
    assert same(A + nothing, A)
    assert same(nothing + A, A)
    assert same(A - A, nothing)
    assert same((A + B) - B, A)
    assert same(tally(kind, a + b + c) - B, tally(kind, a + c))


@pytest.mark.slow
@both
@given(a=rows, b=rows)
def test_subtracting_more_than_there_is_is_an_error(kind, a, b):
    """Unless all that is too much weighs nothing."""
    A, B = tally(kind, a), tally(kind, b)
    if B.class_rows.any():
        with pytest.raises(NegativeCount):
            A - (A + B)
    else:
        assert same(A - (A + B), tally(kind, []))


@pytest.mark.slow
@both
@given(rows=rows, data=st.data())
def test_the_order_of_rows_columns_and_categories_does_not_matter(kind, rows, data):
    expected = tally(kind, rows)
    assert same(tally(kind, data.draw(st.permutations(rows))), expected)
    labels, weights = [row[1] for row in rows], [row[2] for row in rows]
    named = data.draw(st.permutations(list(columns(rows).items())))
    recoded = {}
    for name, values in named:
        names = data.draw(st.permutations(sorted({"not there", *values} - {None})))
        recoded[name] = CodedColumn(
            tuple(names),
            np.array([-1 if value is None else names.index(value) for value in values], dtype=np.int32),
        )
    assert same(kind.of(recoded, labels, weights), expected)


@pytest.mark.slow
@both
@given(rows=rows)
def test_a_weight_of_two_equals_the_row_twice_and_of_zero_its_absence(kind, rows):
    once = [(*row[:2], 1.0) for row in rows]
    assert same(tally(kind, [(*row[:2], 2.0) for row in rows]), tally(kind, once + once))
    assert same(tally(kind, rows + [(*row[:2], 0.0) for row in rows]), tally(kind, rows))
    unweighted = kind.of(columns(rows), [row[1] for row in rows])
    assert same(unweighted, tally(kind, once))
    quarters = tally(kind, [(*row[:2], 0.25) for row in rows])
    assert same(quarters + quarters + quarters + quarters, unweighted)


@both
@given(rows=rows)
def test_the_plain_form_is_read_back(kind, rows):
    expected = tally(kind, rows)
    assert same(kind.of_arrays(expected.arrays()), expected)


@both
@given(rows=rows, data=st.data())
def test_damaged_plain_forms_are_refused_or_are_some_other_tally(kind, rows, data):
    """Whatever number is changed, what is read has one form and can be counted with."""
    arrays = {key: array.copy() for key, array in tally(kind, rows).arrays().items()}
    key = data.draw(st.sampled_from(sorted(key for key in arrays if len(arrays[key]))))
    limits = np.iinfo(arrays[key].dtype)
    change = st.one_of(st.integers(0, 3), st.integers(limits.min, limits.max))
    arrays[key][data.draw(st.integers(0, len(arrays[key]) - 1))] = data.draw(change)
    try:
        read = kind.of_arrays(arrays)
    except ValueError:
        return
    nothing = read - read
    assert nothing.classes == ()
    assert same(read + nothing, read)


@given(rows=rows)
def test_counts_equal_those_of_dictionaries(rows):
    classes, single, cells = Counter(), Counter(), Counter()
    for values, label, weight in rows:
        exact = twins.exact(weight)
        classes[label] += exact
        cells[values, label] += exact
        for name, value in zip(NAMES, values, strict=True):
            single[name, value, label] += exact
    got, whole = tally(CategoryTally, rows), tally(CellTally, rows)
    assert list(got.classes) == sorted(label for label, n in classes.items() if n)
    for k, label in enumerate(got.classes):
        assert got.class_rows[k] == classes[label] == whole.class_rows[k]
        for j, name in enumerate(got.columns):
            assert got.missing[j, k] == single[name, None, label]
            for c, value in enumerate(got.categories[j]):
                assert got.counts[j][c, k] == single[name, value, label]
    for j, name in enumerate(got.columns):
        seen = {value for (column, value, _), n in single.items() if n and column == name}
        assert list(got.categories[j]) == sorted(seen - {None})
    order = [NAMES.index(name) for name in whole.columns]
    stored = {}
    for cell, k, units in zip(whole.cell_of, whole.class_of, whole.units, strict=True):
        values = [
            None if c < 0 else names[c]
            for c, names in zip(whole.cells[cell].tolist(), whole.categories, strict=True)
        ]
        key = tuple(values[order.index(j)] for j in range(3)), whole.classes[k]
        stored[key] = units * 2.0**-whole.fraction
    assert stored == {key: n for key, n in cells.items() if n}


@given(a=rows, b=rows)
def test_margins_of_combinations_are_the_counts_of_columns(a, b):
    assert same(tally(CellTally, a).marginals(), tally(CategoryTally, a))
    both = tally(CellTally, a) + tally(CellTally, b)
    assert same(both.marginals(), tally(CategoryTally, a + b))


def conditionals(alpha, choices):
    """Every conditional of categories, with the kind of tally it takes."""
    yield CategoryTally, Categorical(alpha, **choices)
    for backoff in ("independent", "uniform"):
        yield CellTally, FullTable(alpha, backoff, **choices)


@given(rows=training, new=st.lists(row, max_size=8), alpha=alpha, choices=choices)
def test_batches_equal_the_whole(rows, new, alpha, choices):
    for kind, conditional in conditionals(alpha, choices):
        estimate = conditional.fit(tally(kind, rows))
        whole = estimate.log_likelihood(columns(new))
        assert whole.shape == (len(new), len(estimate.classes))
        for i, one in enumerate(new):
            np.testing.assert_array_equal(estimate.log_likelihood(columns([one]))[0], whole[i])


@given(rows=training, alpha=alpha, choices=choices)
def test_probabilities_of_all_rows_sum_to_one(rows, alpha, choices):
    for kind, conditional in conditionals(alpha, choices):
        counted = tally(kind, rows)
        estimate = conditional.fit(counted)
        singles = tally(CategoryTally, rows)
        spaces = []
        for names, missing in zip(singles.categories, singles.missing, strict=True):
            cells = list(names)
            if choices["missing"] == "category" and missing.any():
                cells.append(None)
            if choices["unseen"] == "smooth":
                cells.append("never seen")
            spaces.append(cells or [None])  # a column of which nothing is known says nothing
        every = [(values, "", 1.0) for values in itertools.product(*spaces)]
        likelihood = np.exp(estimate.log_likelihood(columns(every, singles.columns)))
        np.testing.assert_allclose(likelihood.sum(axis=0), 1, rtol=1e-9)


@given(rows=training, alpha=alpha, backoff=st.sampled_from(["independent", "uniform"]), data=st.data())
def test_a_missing_value_sums_the_table_over_its_column(rows, alpha, backoff, data):
    singles = tally(CategoryTally, rows)
    estimate = FullTable(alpha, backoff).fit(tally(CellTally, rows))
    j = data.draw(st.sampled_from(range(3)))
    others = [[*names, None] for names in singles.categories]
    others[j] = [None]
    for values in itertools.product(*others):
        cells = [(*values[:j], value, *values[j + 1 :]) for value in singles.categories[j]] or [values]
        spread = [(cell, "", 1.0) for cell in cells]
        parts = np.exp(estimate.log_likelihood(columns(spread, singles.columns))).sum(axis=0)
        whole = np.exp(estimate.log_likelihood(columns([(values, "", 1.0)], singles.columns)))[0]
        np.testing.assert_allclose(whole, parts, rtol=1e-9, atol=1e-300)


@pytest.mark.slow
@given(rows=training, new=st.lists(row, max_size=5), alpha=alpha, choices=choices)
def test_renaming_classes_and_columns_permutes_the_answer(rows, new, alpha, choices):
    names = dict(zip(NAMES, ("z", "y", "x"), strict=True))
    classes = {"yes": "1", "no": "3", "maybe": "2"}

    def renamed(table):
        return {names[name]: values for name, values in table.items()}

    for kind, conditional in conditionals(alpha, choices):
        estimate = conditional.fit(tally(kind, rows))
        other = conditional.fit(
            kind.of(renamed(columns(rows)), [classes[row[1]] for row in rows], [row[2] for row in rows])
        )
        got, expected = (
            model.log_likelihood(table)
            for model, table in ((other, renamed(columns(new))), (estimate, columns(new)))
        )
        order = [other.classes.index(classes[name]) for name in estimate.classes]
        np.testing.assert_allclose(got[:, order], expected, rtol=1e-12, atol=1e-12)


@given(rows=training, new=st.lists(row, max_size=5), alpha=alpha, choices=choices)
def test_columns_add_up_to_the_likelihood(rows, new, alpha, choices):
    estimate = Categorical(alpha, **choices).fit(tally(CategoryTally, rows))
    parts = estimate.by_column(columns(new))
    assert parts.shape == (len(new), 3, len(estimate.classes))
    np.testing.assert_allclose(parts.sum(axis=1), estimate.log_likelihood(columns(new)), rtol=1e-12)


@pytest.mark.slow
@given(
    rows=training, new=st.lists(row, max_size=5), alpha=alpha, unseen=st.sampled_from(["ignore", "smooth"])
)
def test_missing_as_a_category_equals_a_name_for_it(rows, new, alpha, unseen):
    def named(rows):
        return [(tuple("\0 no" if value is None else value for value in row[0]), *row[1:]) for row in rows]

    for kind, conditional in conditionals(alpha, {"missing": "category", "unseen": unseen}):
        got = conditional.fit(tally(kind, rows)).log_likelihood(columns(new))
        expected = conditional.fit(tally(kind, named(rows))).log_likelihood(columns(named(new)))
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
