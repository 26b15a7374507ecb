"""Which of the words that were counted a model uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError


@dataclass(frozen=True)
class Selection:
    """A choice among counted words, made when a model is made and never stored in a tally.

    Counts go on for all words, so that documents learned later can lift a word over the limit.

    Parameters
    ----------
    min_df : int or float, default 1
        Fewest documents a word must be in; a float is a share of all documents.
    max_df : int or float, default 1.0
        Most documents a word may be in; a float is a share of all documents.
    max_features : int or None, default None
        Keep this many words at most, those that occur most often; ties go to the word that comes
        first in the alphabet.
    """

    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("min_df", self.min_df), ("max_df", self.max_df)):
            is_share = isinstance(value, float)
            if value < 0 or (is_share and value > 1):
                raise InputError(
                    f"{name} must be a whole number of documents or a share from 0.0 to 1.0, got {value!r}",
                    hint="1 means one document, 1.0 means all of them",
                )
        if self.max_features is not None and self.max_features < 1:
            raise InputError(f"max_features must be at least 1, got {self.max_features}")

    @property
    def keeps_all(self) -> bool:
        """Whether nothing can be left out."""
        is_open = self.max_df == 1.0 and isinstance(self.max_df, float)
        return self.max_features is None and is_open and self.min_df <= 1 and isinstance(self.min_df, int)

    def of_part(self, share: float) -> Selection:
        """The same for a share of the documents: numbers of documents shrink with it, down to 2.

        >>> Selection(min_df=50).of_part(0.1).min_df, Selection(min_df=2).of_part(0.1).min_df
        (5, 2)
        """

        def shrunk(limit: int | float) -> int | float:
            return limit if isinstance(limit, float) or limit <= 2 else max(2, round(limit * share))

        return Selection(shrunk(self.min_df), shrunk(self.max_df), self.max_features)

    def mask(
        self, df: NDArray[np.float64], occurrences: NDArray[np.float64], documents: float
    ) -> NDArray[np.bool_]:
        """Which words stay, by their document and total counts (V,) among so many documents.

        ``max_features`` is for the caller to break ties of: words as frequent as the last all stay.
        """
        low, high = (
            share * documents if isinstance(share, float) else share for share in (self.min_df, self.max_df)
        )
        if low > high:
            raise InputError(
                f"min_df {self.min_df} asks for more documents than max_df {self.max_df} allows",
                hint=f"there are {documents:g} documents",
            )
        keep = (df >= low) & (df <= high)
        if self.max_features is not None and keep.sum() > self.max_features:
            counts = occurrences[keep]
            last = np.partition(counts, -self.max_features)[-self.max_features]
            keep &= occurrences >= last
        return keep
