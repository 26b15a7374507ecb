import pytest

import textodds
from textodds.data import Batch
from textodds.training.choose import Pool

from .made_up import drawn


@pytest.fixture(scope="session")
def texts():
    """300 texts of three classes, and their labels."""
    return drawn(300)


@pytest.fixture(scope="session")
def auto(texts):
    """The model that is chosen for them."""
    return textodds.train(*texts, learner="auto", budget=600)


@pytest.fixture(scope="session")
def pooled():
    """A function from texts, labels and weights to their pool."""
    return lambda texts, labels, weights=None: Pool.of([Batch(texts, labels, weights)])
