r"""Columns of categories, and counts of them that add and subtract.

As in `textodds.tally`, ``tally(A) + tally(B) - tally(C)`` is bit for bit the tally of the rest, and
nothing that depends on a choice (smoothing, what a missing value means) is stored. `CategoryTally`
counts each column by itself, `CellTally` whole combinations. Both have one form: columns, classes and
categories are sorted, and what has no row left is not there.
"""

from textodds.categories.cells import CellTally
from textodds.categories.coded import Coded
from textodds.categories.columns import coded_columns
from textodds.categories.tally import CategoryTally

__all__ = ["CategoryTally", "CellTally", "Coded", "coded_columns"]
