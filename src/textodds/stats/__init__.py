"""What is counted, and why it adds and subtracts.

Read `tally` first (words by class), then `moments` (numbers), `moment_tally` (the same by `exact_sums`) and
`categories` (columns of categories): each is a sufficient statistic with ``+`` and ``-``, and none stores a
choice such as smoothing. `corpus` and `rows` keep what a model stands on. `documents` has texts as sparse
rows, for learners that need all of them at once. `sample` has fair samples of what passes by, `document_ids`
says which documents a model holds.

From outside: any of these modules; nothing here knows of learners or models.
"""
