"""Softmax regression.

`regression` has the learners, `penalty` how strong they are held, chosen on held-out rows, and what naive
Bayes contributes, `odds_ratios` ratios with standard errors.
"""
