"""From data to a model, and which one.

`train` is `textodds.train`, the one way in. It reads the source, decides between texts and a table, and goes
on to `choose` (which features and learner), `from_counts` (smoothing and calibration), `semisupervised`
(unlabelled texts), `stream` (one pass, bounded memory) or `tables`, with `table_columns`.

From outside: `train.train`, and `observer.Observer`, who is told how far it has come.
"""
