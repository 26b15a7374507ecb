"""The mathematics: every learner, its fitted form, the solvers, calibration.

Read `registry` first: the learners by name, and what each can do. A generative learner is a prior times one
of `conditionals` (`naive_bayes`, `em`, `discriminant`, `tables`), joined by the rule in `bayes`; the
discriminative ones are in `softmax`, on the `solvers`. What comes out is one of `forms`: linear or quadratic.
`recipe` is every choice that makes a model of texts; `design` and `labelled_rows` are the rows that learners
fit, `folds` and `held_out` what is kept from them, `calibration` what is made of that; `shrinkage`,
`shrinkage_choice`, `covariance` and `fisher` are about covariances, `class_sums` about counts in matrices;
`arrays` names the types of arrays.

From outside: `registry` and `recipe`, and the learners and forms by their modules.
"""
