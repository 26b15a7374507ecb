"""All models on the same rows, with intervals, tests, times and learning curves.

Candidates, documents and paired answers are those of `textodds.training.choose`. `entry` is
`textodds.compare`; `laboratory` has the order of the work, `measurement` one model, `comparison` the outcome.
"""

from textodds.study.compare.comparison import Comparison
from textodds.study.compare.entry import compare

__all__ = ["Comparison", "compare"]
