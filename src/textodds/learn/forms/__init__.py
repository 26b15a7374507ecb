"""Fitted models.

`linear` is the one scorer of most learners, `quadratic` that of Gaussians; `equivalence` is between naive
Bayes and softmax regression.
"""
