"""Several labels a text: for each label, whether a text has it.

`membership` says which labels a set of labels has. `counts` is naive Bayes of each label against the rest,
`logistic` is logistic regression of all labels in one pass over the rows; both end as one linear form whose
scores are log-odds, a column for each label. `odds` makes probabilities of them.
"""
