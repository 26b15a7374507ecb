"""What a word's occurrences in a document are worth: tf-idf and its kin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError, suggestion

FREQUENCIES = ("count", "log", "binary")


@dataclass(frozen=True)
class Weighting:
    r"""From counts to the values of a row.

    Model
    -----
    Word v, which occurs :math:`n_{iv}` times in document i and is in :math:`d_v` of N documents, has

    .. math::
        x_{iv} = \frac{f(n_{iv})\, g_v}{\lVert f(n_i)\, g \rVert}, \qquad
        g_v = 1 + \ln\frac{1 + N}{1 + d_v}                                          \tag{1}

    Parameters
    ----------
    frequency : str, default "log"
        :math:`f`: ``count`` leaves n as it is, ``log`` is :math:`1 + \ln n`, ``binary`` is 1.
    idf : bool, default True
        Whether to multiply by :math:`g_v`; documents count by their weight in it.
    smooth : bool, default True
        The ones under the logarithm of (1); without them it is :math:`\ln(N / d_v)`.
    unit : bool, default True
        Whether to divide by the length of the row. Characters beside words are a block of their own:
        each block then gets half of the squared length.

    Differs
    -------
    Equal to scikit-learn's ``TfidfVectorizer`` with ``sublinear_tf=True``; its own default is
    ``frequency="count"``. With characters beside words, to a ``FeatureUnion`` of two of them, divided
    by √2.

    Examples
    --------
    >>> Weighting().idf_of(np.array([1.0, 3.0]), 3.0).round(3)
    array([1.693, 1.   ])
    """

    frequency: str = "log"
    idf: bool = True
    smooth: bool = True
    unit: bool = True

    def __post_init__(self) -> None:
        if self.frequency not in FREQUENCIES:
            raise InputError(
                f"unknown term frequency `{self.frequency}`{suggestion(self.frequency, FREQUENCIES)}",
                hint=f"one of {', '.join(FREQUENCIES)}",
            )

    def idf_of(self, documents: NDArray[np.float64], n: float) -> NDArray[np.float64]:
        """:math:`g`, (V,), of words in so many of n documents; ones without idf."""
        if not self.idf:
            return np.ones(len(documents))
        one = float(self.smooth)
        return np.asarray(1.0 + np.log((one + n) / (one + documents)))  # (1)

    def as_dict(self) -> dict[str, Any]:
        """The weighting as plain data, for the model file."""
        return asdict(self)
