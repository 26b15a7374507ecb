"""Counts of rows that are numbers already, as a tally of texts would have them."""

import numpy as np
from scipy import sparse

from textodds.stats.tally import Counts


def counts_of_rows(rows, labels, weights=None):
    """The counts of rows (N, V), dense or sparse; every column is a feature, whether it occurs or not."""
    matrix = sparse.csr_array(rows, dtype=np.float64)
    classes, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    weight = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    member = sparse.csr_array((weight, (codes, np.arange(len(codes)))), (len(classes), len(codes)))  # (K, N)
    matrix.eliminate_zeros()
    present = matrix.copy()
    present.data[:] = 1.0
    occurrences, documents = (sparse.csc_array(member @ values) for values in (matrix, present))  # (K, V)
    for counts in (occurrences, documents):
        counts.sort_indices()
        counts.eliminate_zeros()
    return Counts(
        tuple(map(str, classes)),
        np.bincount(codes, weight, len(classes)).astype(np.float64),
        occurrences.indptr.astype(np.uint64),
        occurrences.indices.astype(np.uint32),
        occurrences.data,
        documents.data,
    )
