"""Class-conditional distributions P(x | y), one file each.

Here one asks how the words, numbers or categories of a class come about. A conditional is a frozen set of
choices with a method ``fit`` that makes its estimate from a statistic that adds and subtracts: of words from
`textodds.stats.tally.Counts`, of numbers from `textodds.stats.moments.Moments`, of categories from
`textodds.stats.categories`. Its docstring has the mathematics, once; learners and estimators refer to it.

Read `estimate` (what all of words give), then `multinomial`, `bernoulli`, `complement`; `gaussian` and
`sparse_gaussian`; `categorical` and `table`; `product` joins columns of different kinds. To add one of words,
write a file with the conditional and a learner derived from `textodds.learn.naive_bayes.CountLearner`, and an
`Entry` in `textodds.learn.registry`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textodds.learn.conditionals.bernoulli import Bernoulli
from textodds.learn.conditionals.complement import Complement
from textodds.learn.conditionals.estimate import Conditional, Estimate
from textodds.learn.conditionals.multinomial import Multinomial

if TYPE_CHECKING:
    from textodds.learn.conditionals.categorical import Categorical
    from textodds.learn.conditionals.gaussian import Gaussian
    from textodds.learn.conditionals.product import Product
    from textodds.learn.conditionals.table import FullTable

__all__ = [
    "Bernoulli",
    "Categorical",
    "Complement",
    "Conditional",
    "Estimate",
    "FullTable",
    "Gaussian",
    "Multinomial",
    "Product",
]

_OF_COLUMNS = {
    "Categorical": "categorical",
    "FullTable": "table",
    "Gaussian": "gaussian",
    "Product": "product",
}


def __getattr__(name: str) -> Any:
    """Import what is about columns when it is first wanted: a model of texts opens without."""
    if name not in _OF_COLUMNS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"textodds.learn.conditionals.{_OF_COLUMNS[name]}"), name)
