"""What the Gaussian estimators share: rows of numbers, and their moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from textodds.errors import Unsupported
from textodds.interop.estimators.base import Generative, LabelledBatch
from textodds.learn.registry import Prior
from textodds.stats.moments import Moments

Floats = NDArray[np.float64]


class NotOfSparseRows(Unsupported, AttributeError):
    """What there is of dense rows only; an `AttributeError` so that ``hasattr`` says no."""


class NumberRows(Generative):
    """Rows of numbers, whose statistics are `Moments`."""

    priors: Any
    _full = False  # whether products of columns are needed
    _sparse = False  # whether sparse rows are taken
    _missing = False  # whether missing numbers are taken

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.input_tags.allow_nan = self._missing
        return tags

    def _prior(self) -> Prior:
        """The prior as a learner of the core takes it."""
        return "data" if self.priors is None else self._prior_by_name(self.priors, "priors")

    def _moments(self, wanted: str) -> Moments:
        """The statistics, which there are of dense rows only."""
        check_is_fitted(self)
        if not hasattr(self, "statistics_"):
            raise NotOfSparseRows(
                f"there is no {wanted} of sparse rows, whose covariance is never written out",
                hint="fit dense rows (`X.toarray()`) where there are few columns",
            )
        moments: Moments = self.statistics_
        return moments

    def _checked(self, X: Any, y: Any, *, first: bool, least: int) -> tuple[Any, Any, int]:
        rows, y = validate_data(self, X, y, reset=first, ensure_min_samples=least, **self._checks)
        return rows, y, rows.shape[0]

    def _rows(self, X: Any) -> Any:
        return validate_data(self, X, reset=False, **self._checks)

    @property
    def _checks(self) -> dict[str, Any]:
        # Moments take rows of any type of number block by block: a copy of all of them is not needed.
        return {
            "accept_sparse": "csr" if self._sparse else False,
            "ensure_all_finite": "allow-nan" if self._missing else True,
            "dtype": "numeric",
        }

    def _counted(self, batch: LabelledBatch) -> Moments:
        if sparse.issparse(batch.rows):
            raise Unsupported(
                "sparse rows are not learned in batches: their shrinkage is chosen on held-out rows of all",
                hint="give all rows to `fit`, or dense ones to `partial_fit`",
            )
        return Moments.of_codes(batch.rows, batch.codes, batch.classes, batch.weights, full=self._full)

    def _log_likelihood(self, density: Any, rows: Any) -> Floats:
        return np.asarray(density.log_density(rows.toarray() if sparse.issparse(rows) else rows))
