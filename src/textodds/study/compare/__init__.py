"""All models on the same rows, with intervals, tests, times and learning curves.

Candidates, documents and paired answers are those of `textodds.training.choose`. `entry` is
`textodds.compare`; `laboratory` has the order of the work, `measurement` one model, `comparison` the outcome.
`groups` holds out one group of rows after the other, `vocabulary` varies the number of words.
"""

from textodds.study.compare.comparison import Comparison
from textodds.study.compare.entry import compare
from textodds.study.compare.groups import GroupedComparison, compare_groups
from textodds.study.compare.vocabulary import VocabularyCurves, compare_vocabulary, mutual_information

__all__ = [
    "Comparison",
    "GroupedComparison",
    "VocabularyCurves",
    "compare",
    "compare_groups",
    "compare_vocabulary",
    "mutual_information",
]
