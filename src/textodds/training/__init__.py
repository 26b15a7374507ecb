"""From data to a model, and which one.

`train` is `textodds.train`, the one way in. `plan` says what is asked, and decides between texts and a table.
Then come `choose` (which features and learner; the bench of `compare` too), `semisupervision` (unlabelled
texts), `stream` (one pass, bounded memory) or `tables`, with `table_columns`.

From outside: `train.train`; of a plan, `train.train_on`; and `choose`.
"""
