"""The arrays that learning is written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
SparseRows: TypeAlias = "sparse.csr_array"
Matrix: TypeAlias = "Floats | sparse.csr_array"  # rows of numbers, dense or sparse

FEW_CELLS = 1 << 14
"""Cells of a matrix whose products are not worth the threads of BLAS: these spin for 25 ms after each, which
a loop over small data never ends. Above, a product takes them and its sums stay as they are."""
