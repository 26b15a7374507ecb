"""Class-conditional distributions P(x | y), one file each.

A conditional is a frozen set of choices with a method ``fit`` that makes its estimate from a statistic that
adds and subtracts: of words from `textodds.tally.Counts`, of numbers from `textodds.moments.Moments`, of
categories from `textodds.categories`. To add one, write a file.
"""

from textodds.conditionals.bernoulli import Bernoulli
from textodds.conditionals.categorical import Categorical
from textodds.conditionals.complement import Complement
from textodds.conditionals.estimate import Conditional, Estimate
from textodds.conditionals.gaussian import Gaussian
from textodds.conditionals.multinomial import Multinomial
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
