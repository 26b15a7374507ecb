"""Tallies add and subtract exactly, in any order, batch and number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from textodds import Tally, TextSettings
from textodds.data import Batch
from textodds.errors import NegativeCount
from unicode_texts import awkward, texts

LONG = "pneumonoultramicroscopicsilicovolcanoconiosis"
WORDS = ["a", "b", "c", "é", "x" * 15, "x" * 16, "x" * 17, LONG, LONG.upper(), "naïve", "字", "1,000"]
SETTINGS = [
    {"unit": "words"},
    {"unit": "whitespace", "lower": False, "ngrams": (1, 3)},
    {"unit": "characters", "ngrams": (1, 2)},
    {"unit": "characters-in-words", "ngrams": (2, 5)},
    {"unit": "sklearn", "stop_words": ["xx", LONG]},
    {"unit": "whitespace", "hash_bits": 3},
    {"unit": "whitespace", "hash_bits": 31, "ngrams": (1, 2)},
    {"unit": "whitespace", "vocabulary": ["a", LONG, "not there"]},
    {"unit": "whitespace", "vocabulary": ["a", LONG, "not there"], "count_unknown": True},
]

text = st.one_of(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), texts)
label = st.one_of(st.sampled_from(["ham", "spam", "eggs"]), st.text(awkward, min_size=1, max_size=20))
whole = st.integers(0, 3).map(float)
fraction = st.floats(0, 5, allow_nan=False)
unweighted = st.lists(st.tuples(text, label), max_size=8)
weighted = st.lists(st.tuples(text, label, st.one_of(whole, fraction)), max_size=8)
threads = st.integers(1, 4)


def tally(rows, **options):
    """The tally of rows of (text, label) or (text, label, weight)."""
    weights = [row[2] for row in rows] if rows and len(rows[0]) == 3 else None
    return Tally.of([row[0] for row in rows], [row[1] for row in rows], weights, **options)


def same(left, right):
    """Equal, down to the bytes."""
    return left == right and left.fingerprint() == right.fingerprint() and left.pruned == right.pruned


@given(a=weighted, b=weighted)
def test_tallies_add_up_to_the_tally_of_all(a, b):
    assert same(tally(a) + tally(b), tally(a + b))


@given(a=weighted, b=weighted)
def test_what_was_added_can_be_subtracted(a, b):
    assert same(tally(a + b) - tally(b), tally(a))
    assert same((tally(a) + tally(b)) - tally(b), tally(a))


@given(a=weighted, b=weighted, c=weighted)
def test_addition_is_associative_and_commutative_and_has_a_zero(a, b, c):
    A, B, C, nothing = tally(a), tally(b), tally(c), tally([])
    assert same((A + B) + C, A + (B + C))
    assert same(A + B, B + A)
    assert same(A + nothing, A)
    assert same(nothing + A, A)
    assert same(A - nothing, A)
    assert same(A - A, nothing)


@given(rows=weighted, data=st.data())
def test_the_order_of_documents_does_not_matter(rows, data):
    assert same(tally(data.draw(st.permutations(rows))), tally(rows))


@given(rows=weighted, data=st.data(), n=threads)
def test_batches_and_threads_do_not_matter(rows, data, n):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    parts = [rows[i:j] for i, j in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    batches = [
        Batch(
            [row[0] for row in part],
            [row[1] for row in part],
            np.array([row[2] for row in part], dtype=float),
        )
        for part in parts
    ]
    assert same(Tally.count(batches, threads=n), tally(rows))


@given(
    rows=st.lists(st.tuples(text, label, st.sampled_from([1.0, 2.0, 0.25])), min_size=1, max_size=6),
    n=threads,
)
def test_threads_do_not_matter_where_there_is_enough_for_each(rows, n):
    """Less than 64 KiB of text goes to one thread; so the rows are repeated."""
    size = sum(len(row[0].encode()) for row in rows)
    many = rows * min(1 + 70_000 // (size + 1), 2_000)
    assert same(tally(many, threads=n), tally(many, threads=1))


@given(rows=unweighted)
def test_a_weight_of_two_equals_the_document_twice(rows):
    assert same(tally([(*row, 2) for row in rows]), tally(rows + rows))


@given(rows=unweighted)
def test_four_quarters_equal_the_document_once(rows):
    quarters = tally([(*row, 0.25) for row in rows])
    assert same(quarters + quarters + quarters + quarters, tally(rows))


@given(rows=weighted, zeros=unweighted, data=st.data())
def test_a_weight_of_zero_equals_absence(rows, zeros, data):
    mixed = data.draw(st.permutations(rows + [(*row, 0.0) for row in zeros]))
    assert same(tally(mixed), tally(rows))


@given(kept=unweighted, gone=unweighted)
def test_what_vanishes_leaves_no_trace(kept, gone):
    """Neither a class nor a word of what was subtracted is left, also not in the bytes of long words."""
    gone = [(f"{text} {LONG}", f"gone {label}") for text, label in gone]
    kept = [(text.lower().replace(LONG, ""), label) for text, label in kept]
    left = tally(kept + gone) - tally(gone)
    assert same(left, tally(kept))
    assert LONG.encode() not in left.vocabulary.arena.tobytes()
    assert not any(name.startswith("gone ") for name in left.classes)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@given(rows=weighted)
def test_counts_equal_the_twin(settings, rows):
    chosen = TextSettings(**settings)
    got = twins.as_dicts(tally(rows, settings=chosen))
    assert got == twins.tally(
        [chosen.terms(row[0]) for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    )


@given(rows=unweighted)
def test_whole_counts_equal_the_twin_without_a_fraction(rows):
    chosen = TextSettings()
    got = tally(rows)
    assert got.fraction == 0
    assert twins.as_dicts(got) == twins.tally(
        [chosen.terms(row[0]) for row in rows], [row[1] for row in rows]
    )


@given(rows=weighted)
def test_a_tally_has_one_form(rows):
    """Classes sorted and with documents, cells in order and above zero, no needless fraction."""
    got = tally(rows)
    assert list(got.classes) == sorted({row[1] for row in rows if twins.exact(row[2])})
    assert (got.class_documents > 0).all()
    assert (got.occurrences > 0).all()
    assert (got.documents > 0).all()
    assert (np.diff(got.starts.astype(np.int64)) > 0).all()
    for v in range(len(got.vocabulary)):
        assert (np.diff(got.class_of[int(got.starts[v]) : int(got.starts[v + 1])].astype(np.int64)) > 0).all()
    counts = np.concatenate([got.class_documents, got.occurrences, got.documents])
    assert got.fraction in (0, 30)
    assert got.fraction == 0 or (counts % 2**30 != 0).any()


@given(a=unweighted.filter(bool), b=unweighted)
def test_subtracting_what_is_not_there_is_an_error_that_names_it(a, b):
    missing = "zebra"
    word_of = [(f"{text} {missing}", label) for text, label in a]
    A = tally(a + b + a)
    with pytest.raises(NegativeCount, match=f"`{missing}` in class `"):
        _ = A - tally(word_of)
    with pytest.raises(NegativeCount, match="documents of class `nowhere`"):
        _ = A - tally([("", "nowhere")])


@given(rows=weighted)
def test_counts_as_numbers_are_the_exact_ones(rows):
    got = tally(rows)
    counts = got.counts()
    unit = 2.0**-got.fraction
    np.testing.assert_array_equal(counts.occurrences, got.occurrences * unit)
    np.testing.assert_array_equal(counts.class_documents, got.class_documents * unit)
    assert counts.n_features == len(got.vocabulary)
    assert counts.by_class(counts.occurrences).sum() == pytest.approx(
        counts.by_feature(counts.occurrences).sum()
    )
