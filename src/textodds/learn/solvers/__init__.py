"""Solvers of the softmax regression problem, which know nothing of text.

Read `objective` first: what is minimised, and the proof of an optimum. `solve` is used unless another is
asked for, with `newton` and `dense`; `descent` has the published methods, `lbfgs_sums` is for rows that are
elsewhere. `separable` says whether there is an optimum, `information` how sure one can be of it.
"""
