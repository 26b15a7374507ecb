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
