"""Learning in batches, of estimators that want classes to be named first and of those that do not."""

import numpy as np


def learn_on(model, X, y, **more):
    """Learn from a batch; the first one names the classes that it has itself, later ones name none."""
    classes = None if hasattr(model, "classes_") else np.unique(y)
    return model.partial_fit(X, y, classes=classes, **more)
