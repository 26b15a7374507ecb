"""Moments add and subtract: learning in batches, merging and forgetting are ``+`` and ``-``.

Means are rounded, so that laws hold to digits: `same` asks for 1e-9 of the data's scale.
"""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pairs import together
from textodds.errors import BadWeight, InputError, LengthMismatch, NegativeCount
from textodds.stats import moments as module
from textodds.stats.moments import Moments

COLUMNS = 3
NAN, INF = float("nan"), float("inf")
both = pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])

number = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3),
    st.floats(-1, 1).map(lambda value: 1e8 + value),
    st.floats(-1e-6, 1e-6),
)
gappy = st.one_of(st.just(NAN), number)
label = st.sampled_from(["ham", "spam", "é 字"])
weight = st.one_of(st.integers(0, 3).map(float), st.floats(0.01, 5))


def table(cell=number, most=5, least=0):
    """Rows, labels and weights."""
    return st.integers(least, most).flatmap(
        lambda n: st.tuples(
            arrays(np.float64, (n, COLUMNS), elements=cell),
            st.lists(label, min_size=n, max_size=n),
            arrays(np.float64, n, elements=weight),
        )
    )


def joined(*tables):
    """The rows of all tables."""
    return (
        np.concatenate([rows for rows, _, _ in tables]),
        [name for _, labels, _ in tables for name in labels],
        np.concatenate([weights for _, _, weights in tables]),
    )


def moments(table, full=False):
    return Moments.of(*table, full=full)


def same(left, right, *tables):
    """Equal to 1e-9 of the largest distance between numbers of a column, or of their size for means."""
    assert left.classes == right.classes
    assert left.is_full == right.is_full
    rows = np.concatenate([rows for rows, _, _ in tables])
    total = sum(float(weights.sum()) for _, _, weights in tables)
    size = np.nanmax(np.abs(rows), axis=0, initial=0.0) if rows.size else np.zeros(left.n_columns)
    low, high = np.nanmin(rows, axis=0, initial=INF), np.nanmax(rows, axis=0, initial=-INF)
    width = np.where(high > low, high - low, 0.0)
    np.testing.assert_allclose(left.class_rows, right.class_rows, rtol=0, atol=1e-9 * max(total, 1e-300))
    np.testing.assert_allclose(left.count, right.count, rtol=0, atol=1e-9 * max(total, 1e-300))
    assert (np.abs(left.mean - right.mean) <= 1e-9 * size).all()
    spread = 1e-9 * width + 1e-14 * size  # numbers of size 1e8 are known to 1e-8 only
    allowed = total * (np.outer(spread, width) + np.outer(width, spread) + np.outer(spread, spread))
    allowed = allowed + np.finfo(np.float64).tiny  # products below it have no digits to compare
    if not left.is_full:
        allowed = np.diag(allowed)
    assert (np.abs(left.scatter - right.scatter) <= allowed).all()


def by_hand(table, full=False):
    """The same, one class and one column at a time: NumPy's own average and cov."""
    rows, labels, weights = table
    labels = np.array(labels, dtype=object)
    classes = tuple(sorted({name for name in labels if weights[labels == name].sum() > 0}))
    K, V = len(classes), rows.shape[1]
    class_rows, count, mean = np.zeros(K), np.zeros((K, 1 if full else V)), np.zeros((K, V))
    scatter = np.zeros((K, V, V) if full else (K, V))
    for k, name in enumerate(classes):
        own, u = rows[labels == name], weights[labels == name]
        class_rows[k] = u.sum()
        if full:
            count[k] = u.sum()
            mean[k] = np.average(own, axis=0, weights=u)
            scatter[k] = np.atleast_2d(np.cov(own.T, aweights=u, bias=True)) * u.sum()
            continue
        for v in range(V):
            there = ~np.isnan(own[:, v])
            count[k, v] = u[there].sum()
            if count[k, v] > 0:
                mean[k, v] = np.average(own[there, v], weights=u[there])
                scatter[k, v] = np.average((own[there, v] - mean[k, v]) ** 2, weights=u[there]) * count[k, v]
    return Moments(classes, class_rows, count, mean, scatter)


@both
@given(a=table())
def test_moments_are_those_of_numpy(full, a):
    same(moments(a, full), by_hand(a, full), a)


@given(a=table(gappy))
def test_missing_numbers_are_left_out_of_their_own_column_only(a):
    same(moments(a), by_hand(a), a)


@pytest.mark.slow
@given(a=table(gappy), b=table(gappy))
def test_moments_with_missing_numbers_add_up_and_subtract(a, b):
    same(moments(a) + moments(b), by_hand(joined(a, b)), a, b)
    same(moments(joined(a, b)) - moments(b), by_hand(a), a, b)


@pytest.mark.slow
@both
@given(a=table(), b=table())
def test_moments_add_up_to_those_of_all_rows_in_any_order(full, a, b):
    A, B = moments(a, full), moments(b, full)
    same(A + B, moments(joined(a, b), full), a, b)
    same(B + A, A + B, a, b)


@pytest.mark.slow
@both
@given(a=table(), b=table(), c=table())
def test_addition_is_associative_and_has_a_zero(full, a, b, c):
    A, B, C = (moments(part, full) for part in (a, b, c))
    nothing = Moments.none((), COLUMNS, full=full)
    same((A + B) + C, A + (B + C), a, b, c)
    same(A + nothing, A, a)
    same(nothing + A, A, a)
    same(A - nothing, A, a)


@both
@given(a=table(), b=table())
def test_what_was_added_can_be_subtracted(full, a, b):
    A, B = moments(a, full), moments(b, full)
    same((A + B) - B, A, a, b)
    same(moments(joined(a, b), full) - B, A, a, b)


@both
@given(a=table())
def test_all_subtracted_leaves_no_class(full, a):
    left = moments(a, full) - moments(a, full)
    assert left.classes == ()
    assert left.n_columns == COLUMNS
    same(left + moments(a, full), moments(a, full), a)


@pytest.mark.slow
@both
@given(a=table(most=12), cuts=st.lists(st.integers(0, 12), max_size=3))
def test_batches_of_any_cut_equal_the_whole(full, a, cuts):
    rows, labels, weights = a
    ends = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    total = Moments.none((), COLUMNS, full=full)
    for i, j in itertools.pairwise(ends):
        total += moments((rows[i:j], labels[i:j], weights[i:j]), full)
    same(total, moments(a, full), a)


@both
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_blocks_of_rows_equal_the_whole(full, weighted, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)  # 64 rows
    random = np.random.default_rng(0)
    rows = random.normal(size=(1000, COLUMNS)) * [1, 1e-3, 100] + [0, 5, 1e5]
    labels = random.choice(["a", "b", "c"], 1000).tolist()
    weights = random.uniform(0, 3, 1000) if weighted else np.ones(1000)
    got = Moments.of(rows, labels, weights if weighted else None, full=full)
    same(got, by_hand((rows, labels, weights), full), (rows, labels, weights))


@both
@given(a=table())
def test_a_weight_of_two_equals_the_row_twice_and_of_zero_its_absence(full, a):
    rows, labels, weights = a
    ones = np.ones(len(rows))
    once = rows, labels, ones
    same(moments((rows, labels, 2 * ones), full), moments(joined(once, once), full), once, once)
    same(moments(joined(a, (rows[::-1], labels, 0 * weights)), full), moments(a, full), a)
    same(Moments.of(rows, labels, full=full), moments(once, full), once)


@both
@given(a=table(), data=st.data())
def test_the_order_of_rows_does_not_matter(full, a, data):
    order = data.draw(st.permutations(range(len(a[0]))))
    order = np.array(order, dtype=np.int64)
    permuted = a[0][order], [a[1][i] for i in order], a[2][order]
    same(moments(permuted, full), moments(a, full), a)


@both
@given(a=table(), order=st.permutations(range(COLUMNS)))
def test_permuting_columns_permutes_the_moments(full, a, order):
    rows, labels, weights = a
    got, plain = moments((rows[:, order], labels, weights), full), moments(a, full)
    scatter = plain.scatter[:, order][:, :, order] if full else plain.scatter[:, order]
    count = plain.count if full else plain.count[:, order]
    expected = Moments(plain.classes, plain.class_rows, count, plain.mean[:, order], scatter)
    same(got, expected, (rows[:, order], labels, weights))


@both
@given(a=table())
def test_renaming_classes_permutes_the_moments(full, a):
    names = {"ham": "3", "spam": "2", "é 字": "1"}
    renamed = moments((a[0], [names[name] for name in a[1]], a[2]), full)
    plain = moments(a, full)
    assert [names[name] for name in plain.classes] == list(renamed.classes)[::-1]
    back = np.arange(len(plain.classes))[::-1]
    flipped = (part[back] for part in (renamed.class_rows, renamed.count, renamed.mean, renamed.scatter))
    same(Moments(plain.classes, *flipped), plain, a)


@given(a=table())
def test_the_diagonal_of_full_moments_is_the_diagonal_moments(a):
    full = moments(a, full=True)
    assert full.is_full
    same(full.diagonal(), moments(a), a)
    assert full.diagonal().diagonal() is not full
    np.testing.assert_array_equal(full.scatter, full.scatter.transpose(0, 2, 1))


@both
def test_classes_appear_and_vanish(full):
    a = np.array([[1.0, 2.0], [3.0, 5.0]]), ["x", "y"], np.ones(2)
    b = np.array([[7.0, 1.0], [2.0, 2.0]]), ["z", "x"], np.ones(2)
    both = moments(a, full) + moments(b, full)
    assert both.classes == ("x", "y", "z")
    assert both.class_rows.tolist() == [2.0, 1.0, 1.0]
    assert (both - moments(b, full)).classes == ("x", "y")
    assert (both - moments(a, full)).classes == ("x", "z")
    silent = Moments.of(a[0], ["x", "never"], [1.0, 0.0], full=full)
    assert silent.classes == ("x",)
    assert silent.mean.tolist() == [[1.0, 2.0]]


@both
def test_labels_that_differ_in_a_last_nul_are_two_classes(full):
    found = Moments.of([[1.0], [3.0]], ["x", "x\0"], full=full)
    assert found.classes == ("x", "x\0")


@both
@pytest.mark.parametrize("n", [100, 200_000])
@pytest.mark.parametrize("offset", [1e8, -1e8])
def test_large_means_keep_the_digits_of_small_variances(full, n, offset):
    """The naive sum of squares would have no digit of the variance left."""
    random = np.random.default_rng(n)
    small = np.round(random.normal(size=(n, 2)) * 2**20) / 2**20  # exact beside 1e8
    shifted = small + offset
    np.testing.assert_array_equal(shifted - offset, small)
    got = Moments.of(shifted, ["a"] * n, full=full)
    expected = Moments.of(small, ["a"] * n, full=full)
    first, rest = (["a"] * len(part) for part in (small[: n // 3], small[n // 3 :]))
    of_first = Moments.of(shifted[: n // 3], first, full=full)
    of_rest = Moments.of(shifted[n // 3 :], rest, full=full)
    left = Moments.of(small[n // 3 :], rest, full=full)
    for found, wanted in ((got, expected), (of_first + of_rest, expected), (got - of_first, left)):
        np.testing.assert_allclose(found.scatter, wanted.scatter, rtol=2e-8, atol=2e-8 * n)
        np.testing.assert_allclose(found.mean - offset, wanted.mean, rtol=0, atol=1e-13 * abs(offset))


@both
@given(a=table(), b=table(least=1))
def test_subtracting_more_than_there_is_is_an_error_that_changes_nothing(full, a, b):
    assume(b[2].sum() > 0)
    A, B = moments(a, full), moments(joined(a, b), full)
    before = [part.copy() for part in (A.class_rows, A.count, A.mean, A.scatter)]
    with pytest.raises(NegativeCount, match="class `") as caught:
        A - B
    assert caught.value.hint == "only rows that were learned can be forgotten"
    for part, then in zip((A.class_rows, A.count, A.mean, A.scatter), before, strict=True):
        np.testing.assert_array_equal(part, then)


@both
def test_subtracting_a_class_that_is_not_there_names_it(full):
    A = Moments.of([[1.0]], ["x"], full=full)
    with pytest.raises(NegativeCount, match="class `y` has rows of weight 0, and 2 would be taken away"):
        A - Moments.of([[1.0], [1.0]], ["y", "y"], full=full)


def test_subtracting_numbers_of_a_column_that_had_none_is_an_error():
    A = Moments.of([[NAN, 1.0], [NAN, 2.0], [4.0, 3.0]], ["x"] * 3)
    with pytest.raises(NegativeCount):
        A - Moments.of([[1.0, 1.0], [2.0, 2.0]], ["x"] * 2)


@both
def test_subtracting_numbers_far_from_all_that_were_added_is_an_error(full):
    A = Moments.of([[0.0], [1.0], [0.0]], ["x"] * 3, full=full)
    with pytest.raises(NegativeCount):
        A - Moments.of([[50.0]], ["x"], full=full)


@both
@pytest.mark.parametrize("value", [74.375, 0.1, 1e8 + 0.1, -1e15 / 3])
def test_equal_rows_that_were_added_can_be_subtracted(full, value):
    """They do not vary but for rounding, which is no sign that they were never there."""
    random = np.random.default_rng(0)
    for _ in range(300):
        a, b = (
            (np.full((n, 1), value), ["x"] * n, random.uniform(0.01, 5, n)) for n in random.integers(1, 6, 2)
        )
        A, B = moments(a, full), moments(b, full)
        assert (A + B - B).class_rows == pytest.approx(a[2].sum(), rel=1e-9)
        assert (moments(joined(a, b), full) - B).mean.ravel() == pytest.approx([value], rel=1e-9)


@pytest.mark.slow
@both
@given(a=table(), b=table())
def test_neither_sums_nor_differences_change_their_parts(full, a, b):
    rows, weights = a[0].copy(), a[2].copy()
    A, B, both = moments(a, full), moments(b, full), moments(joined(a, b), full)
    parts = [part for each in (A, B, both) for part in (each.class_rows, each.count, each.mean, each.scatter)]
    before = [part.copy() for part in parts]
    _ = A + B
    _ = both - B
    for now, then in zip(parts, before, strict=True):
        np.testing.assert_array_equal(now, then)
    np.testing.assert_array_equal(a[0], rows)
    np.testing.assert_array_equal(a[2], weights)


@both
@given(a=table(), b=table())
def test_weights_and_variances_are_never_below_zero(full, a, b):
    for each in ((moments(a, full) + moments(b, full)) - moments(b, full), moments(a, full)):
        assert (each.class_rows > 0).all()
        assert (each.diagonal().scatter >= 0).all()
        assert np.isfinite(each.scatter).all()


@together
@both
@pytest.mark.parametrize("value", [INF, -INF, 1e101, -1e200, 1e308])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 1.0, 0.5]], ids=["rows", "weights"])
def test_a_number_too_large_is_refused_by_row_and_column(full, value, weights):
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, value], [7.0, 8.0]])
    with pytest.raises(InputError, match=f"row 2 has {value:g} in column 1".replace("+", r"\+")) as caught:
        Moments.of(rows, ["a", "b", "a", "b"], weights, full=full)
    assert "below 1e+100" in caught.value.hint


@together
@both
@pytest.mark.parametrize("values", [(1e101, -1e101), (1e100, 0.0), (1e200, -1e200), (INF, -INF)], ids=str)
def test_numbers_too_large_are_refused_whatever_their_mean(full, values):
    wrong = f"row 0 has {values[0]:g} in column 0".replace("+", r"\+")
    with pytest.raises(InputError, match=wrong):
        Moments.of(np.array(values)[:, None], ["a", "a"], full=full)


def test_a_missing_number_in_full_moments_is_refused_by_row_and_column():
    with pytest.raises(InputError, match="row 1 has a missing number in column 2") as caught:
        Moments.of([[1.0, 2.0, 3.0], [1.0, 2.0, NAN]], ["a", "a"], full=True)
    assert "GaussianNB" in caught.value.hint


@both
def test_the_row_of_a_later_block_is_named_by_its_place_in_all(full, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)  # 64 rows
    rows = np.ones((200, 2))
    rows[150, 1] = INF
    with pytest.raises(InputError, match="row 150 has inf in column 1"):
        Moments.of(rows, ["a"] * 200, full=full)


@together
@both
@pytest.mark.parametrize("value", [-1.0, NAN, INF, -INF])
def test_a_bad_weight_is_refused_by_its_row(full, value):
    with pytest.raises(BadWeight, match=f"row 2 has the weight {value:g}"):
        Moments.of(np.ones((4, 1)), ["a"] * 4, [1.0, 0.0, value, -5.0], full=full)


@both
def test_weights_whose_sum_is_no_number_are_refused(full):
    with np.errstate(all="ignore"), pytest.raises(BadWeight):
        Moments.of([[1.0, 2.0], [3.0, 5.0]], ["a", "a"], [1e308, 1e308], full=full)


@both
def test_lengths_that_do_not_fit_are_refused(full):
    rows = np.ones((3, 2))
    with pytest.raises(LengthMismatch, match="3 documents but 2 labels"):
        Moments.of(rows, ["a", "b"], full=full)
    with pytest.raises(LengthMismatch, match="3 documents but 4 weights"):
        Moments.of(rows, ["a"] * 3, np.ones(4), full=full)
    with pytest.raises(InputError, match="must be a matrix, got 1 dimension"):
        Moments.of(np.ones(3), ["a"] * 3, full=full)


def test_moments_of_other_columns_or_kinds_are_not_added():
    a = Moments.of([[1.0, 2.0]], ["x"])
    for other in (Moments.of([[1.0]], ["x"]), Moments.of([[1.0, 2.0]], ["x"], full=True)):
        for combined in (lambda other=other: a + other, lambda other=other: a - other):
            with pytest.raises(InputError, match="cannot be added or subtracted"):
                combined()
