r"""Columns of categories, and counts of them that add and subtract.

As in `textodds.stats.tally`, ``tally(A) + tally(B) - tally(C)`` is bit for bit the tally of the rest, and
nothing that depends on a choice (smoothing, what a missing value means) is stored. `CategoryTally`
counts each column by itself, `CellTally` whole combinations. Both have one form: columns, classes and
categories are sorted, and what has no row left is not there (`exact.ExactTally`).

Read `columns` first (what a column may be; `arrow_columns` reads it), then `category_tally` and `cell_tally`;
`exact` has their arithmetic, and their form in a file. From outside: the names below.
"""

from textodds.stats.categories.category_tally import CategoryTally
from textodds.stats.categories.cell_tally import CellTally
from textodds.stats.categories.columns import CodedColumn, coded_columns

__all__ = ["CategoryTally", "CellTally", "CodedColumn", "coded_columns"]
