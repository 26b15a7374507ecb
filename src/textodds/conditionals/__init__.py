"""Class-conditional distributions P(x | y), one file each.

A conditional is a frozen set of choices with a method ``fit`` that makes its estimate from a statistic that
adds and subtracts: of words from `textodds.tally.Counts`, of numbers from `textodds.moments.Moments`, of
categories from `textodds.categories`. To add one, write a file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textodds.conditionals.bernoulli import Bernoulli
from textodds.conditionals.complement import Complement
from textodds.conditionals.estimate import Conditional, Estimate
from textodds.conditionals.multinomial import Multinomial

if TYPE_CHECKING:
    from textodds.conditionals.categorical import Categorical
    from textodds.conditionals.gaussian import Gaussian
    from textodds.conditionals.product import Product
    from textodds.conditionals.table import FullTable

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
    return getattr(import_module(f"textodds.conditionals.{_OF_COLUMNS[name]}"), name)
