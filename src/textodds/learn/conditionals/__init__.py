"""Class-conditional distributions P(x | y), one file each.

Here one asks how the words, numbers or categories of a class come about. A conditional is a frozen set of
choices with a method ``fit`` that makes its estimate from a statistic that adds and subtracts: of words from
`textodds.stats.tally.Counts`, of numbers from `textodds.stats.moments.Moments`, of categories from
`textodds.stats.categories`. Its docstring has the mathematics, once; learners and estimators refer to it.

Read `estimate` (what all of words give), then `multinomial`, `bernoulli`, `complement`; `gaussian` and
`sparse_gaussian`; `categorical` and `table`; `product` joins columns of different kinds. To add one of words,
write a file with the conditional and a learner derived from `textodds.learn.naive_bayes.CountLearner`, and an
`Entry` in `textodds.learn.registry`. Those of columns are imported from their files: a model of texts opens
without them.
"""

from textodds.learn.conditionals.bernoulli import Bernoulli
from textodds.learn.conditionals.complement import Complement
from textodds.learn.conditionals.estimate import Conditional, Estimate
from textodds.learn.conditionals.multinomial import Multinomial

__all__ = ["Bernoulli", "Complement", "Conditional", "Estimate", "Multinomial"]
