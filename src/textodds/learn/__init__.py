"""The mathematics: every learner, its fitted form, the solvers, calibration.

Read `registry` first: the learners by name, and what each can do. A generative learner is a prior times one
of `conditionals` (`naive_bayes`, `em`, `discriminant`, `tables`); the discriminative ones are in `softmax`,
on the `solvers`. What comes out is one of `forms`: linear, where Bayes' rule stands, or quadratic. `recipe`
is every choice that makes a model of texts; `design` is the rows that learners fit, `held_out` what is kept
from them, `calibration` what is made of that; `covariance` and `fisher` are about covariances,
`bayes` and `class_sums` about estimators of matrices; `arrays` names the types of arrays.

From outside: `registry` and `recipe`, and the learners and forms by their modules.
"""
