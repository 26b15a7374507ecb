"""Class-conditional distributions P(x | y), one file each.

A conditional is a frozen set of choices with a method ``fit(counts)`` that gives the linear form of
its log-likelihood, an `Estimate`. To add one, write a file.
"""

from textodds.conditionals.bernoulli import Bernoulli
from textodds.conditionals.complement import Complement
from textodds.conditionals.estimate import Conditional, Estimate
from textodds.conditionals.multinomial import Multinomial

__all__ = ["Bernoulli", "Complement", "Conditional", "Estimate", "Multinomial"]
