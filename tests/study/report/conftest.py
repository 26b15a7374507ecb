import numpy as np
import pytest


@pytest.fixture(scope="session")
def three():
    """Rows of three classes with covariances of their own, and labels."""
    draw = np.random.default_rng(7)
    means = [[0, 0], [3, 0.6], [1.4, 3.2]]
    covariances = [[[1, 0.8], [0.8, 1]], [[1.6, -0.9], [-0.9, 0.8]], [[0.25, 0], [0, 1.4]]]
    sizes = (120, 90, 60)
    parts = [draw.multivariate_normal(*each) for each in zip(means, covariances, sizes, strict=True)]
    return np.concatenate(parts), np.repeat(["a", "b", "c"], sizes).tolist()
