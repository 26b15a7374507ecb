"""Our weights of counts are scikit-learn's, to the last bit."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from same import assert_same_deed, assert_same_result
from scipy import sparse
from sklearn import config_context

from pairs import pairwise, together

TEXTS = ["free phone free calls", "see you at the café", "free at last", "", "you see the phone"]
COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [1, 3, 0, 0], [0, 70, 1, 0]])

weights = st.fixed_dictionaries(
    {},
    optional={
        "norm": st.sampled_from(["l1", "l2", None]),
        "use_idf": st.booleans(),
        "smooth_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
    },
)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 6))
numbers = st.one_of(
    arrays(np.int64, shapes, elements=st.sampled_from([0, 0, 0, 1, 2, 3, 50])),
    arrays(np.float64, shapes, elements=st.sampled_from([0, 0, 0.1, 1, 2.5, 1e-300, 1e300, 3, -2])),
    arrays(np.float32, shapes, elements=st.sampled_from([0, 0, 0.125, 1, 2.5, 3, -2])),
)


def shuffled(counts):
    """The same rows, their columns in the order in which they came, as a vectoriser has them."""
    rows = sparse.csr_matrix(counts)
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:end] = rows.indices[start:end][::-1].copy()
        rows.data[start:end] = rows.data[start:end][::-1].copy()
    rows.has_sorted_indices = False
    return rows


def with_zeros(counts):
    """The same rows, zeros written out."""
    N, V = counts.shape
    return sparse.csr_matrix((counts.ravel(), np.tile(np.arange(V), N), np.arange(N + 1) * V), shape=(N, V))


def with_long_indices(counts):
    rows = sparse.csr_matrix(counts)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


FORMS = {
    "matrix": sparse.csr_matrix,
    "array": sparse.csr_array,
    "columns": sparse.csc_matrix,
    "array of columns": sparse.csc_array,
    "triples": sparse.coo_matrix,
    "dense": np.asarray,
    "list": np.ndarray.tolist,
    "shuffled": shuffled,
    "zeros": with_zeros,
    "long": with_long_indices,
}


@pytest.mark.slow
@given(weights, numbers, st.sampled_from(sorted(FORMS)), st.booleans(), st.data())
@settings(max_examples=80)
def test_weights_are_scikit_learns(choices, counts, form, is_array, data):
    kind_of_others = data.draw(st.sampled_from([counts.dtype, np.dtype(np.float64), np.dtype(np.float32)]))
    others = data.draw(st.permutations(range(len(counts))))

    def weighed(kind):
        with config_context(sparse_interface="sparray" if is_array else "spmatrix"):
            transformer = kind(**choices).fit(FORMS[form](counts))
            rows = transformer.transform(FORMS[form](counts[others].astype(kind_of_others)))
            return [
                rows,
                getattr(transformer, "idf_", None),
                kind(**choices).fit_transform(FORMS[form](counts)),
            ]

    assert_same_deed("TfidfTransformer", weighed)


@pairwise
@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("form", ["matrix", "array", "columns", "array of columns", "shuffled", "dense"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32])
@pytest.mark.parametrize("sublinear_tf", [False, True])
def test_rows_are_changed_in_place_only_as_scikit_learn_does(copy, form, dtype, sublinear_tf):
    def weighed(kind):
        rows = FORMS[form](COUNTS.astype(dtype))
        out = kind(sublinear_tf=sublinear_tf).fit(rows).transform(rows, copy=copy)
        shares = sparse.issparse(rows) and np.shares_memory(rows.data, out.data)
        return [rows, out, shares, out is rows]

    assert_same_result("TfidfTransformer", weighed)


def test_rows_that_may_not_be_written_to_give_what_scikit_learn_gives():
    for copy in (True, False):
        assert_same_deed(
            "TfidfTransformer", lambda kind, copy=copy: kind().fit(COUNTS).transform(frozen(), copy=copy)
        )


def frozen():
    rows = sparse.csr_matrix(COUNTS.astype(float))
    rows.data.flags.writeable = False
    return rows


@together
@pytest.mark.parametrize(
    "idf",
    [
        np.array([1.0, 2.0, 3.0, 0.5]),
        np.array([1, 2, 3, 4]),
        np.array([1, 2, 3, 4], dtype=np.float32),
        np.array([1.0, 2.0]),
        np.arange(8.0),
        np.arange(8.0)[::2],
        [1.0, 2.0, 3.0, 4.0],
        np.array([1.0, np.nan, np.inf, -1.0]),
    ],
    ids=str,
)
def test_weights_set_by_hand_are_used(idf):
    def used(kind):
        transformer = kind()
        transformer.idf_ = idf
        return transformer.transform(sparse.csr_matrix(COUNTS.astype(float)))

    def replaced(kind):
        transformer = kind().fit(COUNTS)
        transformer.idf_ = idf
        return transformer.transform(sparse.csr_matrix(COUNTS.astype(float)))

    assert_same_deed("TfidfTransformer", used)
    assert_same_deed("TfidfTransformer", replaced)


@together
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((0, 3)),
        np.ones((2, 5)),
        np.array([["a"]]),
        np.array([[np.nan, 1.0, 2.0, 3.0]]),
        sparse.csr_array(np.array([[np.inf, 1.0, 2.0, 3.0]])),
        sparse.csr_array(np.ones((2, 5))),
        sparse.csr_array((0, 4)),
        [1, 2],
        None,
        "text",
        TEXTS,
    ],
    ids=lambda X: repr(X).replace("\n", " ")[:40],
)
def test_bad_rows_give_scikit_learns_errors(X):
    assert_same_deed("TfidfTransformer", lambda kind: kind().fit(X))
    assert_same_deed("TfidfTransformer", lambda kind: kind().fit(COUNTS).transform(X))
    assert_same_deed("TfidfTransformer", lambda kind: kind().transform(X))
    assert_same_deed("TfidfTransformer", lambda kind: kind(use_idf=False).transform(X))


@together
@pytest.mark.parametrize(
    "choices", [{"norm": "max"}, {"norm": 2}, {"use_idf": "yes"}, {"smooth_idf": None}], ids=str
)
def test_bad_choices_give_scikit_learns_errors(choices):
    assert_same_deed("TfidfTransformer", lambda kind: kind(**choices).fit_transform(COUNTS))
    rows = sparse.csr_matrix(COUNTS.astype(float))
    assert_same_deed("TfidfTransformer", lambda kind: kind().fit(rows).set_params(**choices).transform(rows))


def test_a_transformer_can_be_pickled_and_names_its_columns():
    def lived(kind):
        transformer = pickle.loads(pickle.dumps(kind().fit(COUNTS)))
        return [
            transformer.transform(COUNTS),
            transformer.get_feature_names_out(),
            transformer.n_features_in_,
        ]

    assert_same_result("TfidfTransformer", lived)


# The same within `TfidfVectorizer`


def test_weights_of_a_vectoriser_can_be_seen_and_set():
    def seen(kind):
        vectoriser = kind().fit(TEXTS)
        before = [vectoriser.idf_, vectoriser.transform(TEXTS)]
        vectoriser.idf_ = vectoriser.idf_ * 2
        after = [vectoriser.idf_, vectoriser.transform(TEXTS)]
        vectoriser.idf_ = np.arange(len(vectoriser.vocabulary_))
        return [*before, *after, vectoriser.transform(TEXTS)]

    def moved(kind):
        first = kind().fit(TEXTS)
        second = kind(vocabulary=first.vocabulary_)
        second.idf_ = first.idf_
        third = pickle.loads(pickle.dumps(second))
        return [second.transform(TEXTS), second.idf_, third.transform(TEXTS)]

    assert_same_result("TfidfVectorizer", seen)
    assert_same_result("TfidfVectorizer", moved)


@together
@pytest.mark.parametrize(
    "choices", [{}, {"vocabulary": ["free", "see"]}, {"use_idf": False}, {"vocabulary": {"free": 0}}], ids=str
)
def test_weights_that_do_not_fit_give_scikit_learns_errors(choices):
    def set_to(kind, fitted):
        vectoriser = kind(**choices)
        if fitted:
            vectoriser.fit(TEXTS)
        vectoriser.idf_ = np.array([1.0, 2.0])
        return [vectoriser.idf_, vectoriser.transform(TEXTS)]

    assert_same_deed("TfidfVectorizer", lambda kind: set_to(kind, False))
    assert_same_deed("TfidfVectorizer", lambda kind: set_to(kind, True))
    assert_same_deed("TfidfVectorizer", lambda kind: kind(**choices).fit(TEXTS).idf_)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
def test_a_word_in_no_text_has_scikit_learns_weight(norm):
    """Without `smooth_idf` it is infinite, which scikit-learn refuses to normalise."""
    choices = {"vocabulary": ["free", "never"], "smooth_idf": False, "norm": norm}
    assert_same_deed("TfidfVectorizer", lambda kind: kind(**choices).fit_transform(TEXTS))
    assert_same_deed("TfidfVectorizer", lambda kind: kind(**choices).fit(TEXTS).transform(["free never"]))


def test_choices_of_weights_count_when_it_is_fitted():
    def changed(kind):
        vectoriser = kind().fit(TEXTS).set_params(norm=None, sublinear_tf=True, use_idf=False)
        return [
            vectoriser.transform(TEXTS),
            vectoriser.fit(TEXTS).transform(TEXTS),
            vectoriser.fit_transform(TEXTS),
        ]

    assert_same_result("TfidfVectorizer", changed)


@together
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, "float32", float, int, bool, complex])
def test_every_dtype_gives_scikit_learns_weights(dtype):
    assert_same_deed("TfidfVectorizer", lambda kind: kind(dtype=dtype).fit_transform(TEXTS))
    assert_same_deed("TfidfVectorizer", lambda kind: kind(dtype=dtype).fit(TEXTS).transform(TEXTS[::-1]))
