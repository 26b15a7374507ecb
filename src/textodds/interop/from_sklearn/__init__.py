"""Fitted pipelines of scikit-learn as models of ours; the way back is `textodds.to_sklearn`.

A pipeline that is linear in the words of a text is read in three parts, a file each: which terms a text has
(`terms`), what its row becomes on the way to the classifier (`steps`), and how the classifier scores that
(`classifiers`, of several labels a text `several_labels`). `pipeline` makes the model.
From outside: `from_sklearn`.
"""

from textodds.interop.from_sklearn.pipeline import from_sklearn

__all__ = ["from_sklearn"]
