"""Rows of numbers and of categories, and the tabular data sets."""

import csv
import gzip

import numpy as np
import pytest


@pytest.fixture
def numbers():
    """600 rows of 6 columns in 4 unequal classes of different covariances, and their labels."""
    rng = np.random.default_rng(7)
    y = rng.choice(4, size=600, p=[0.4, 0.3, 0.2, 0.1])
    turns = rng.normal(size=(4, 6, 6)) + 2 * np.eye(6)
    X = np.einsum("nv,nvw->nw", rng.normal(size=(600, 6)), turns[y]) + rng.normal(size=(4, 6))[y] * 3
    return X * [1, 10, 0.1, 1, 5, 1] + [0, 100, 0, -3, 0, 0], y


@pytest.fixture
def categories():
    """500 rows of 4 columns of whole numbers from 0, without a gap, in 3 classes."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 500)
    X = np.stack(
        [(rng.integers(0, size, 500) + y * rng.integers(0, 2, 500)) % size for size in (2, 3, 12, 4)], 1
    )
    return X, y


@pytest.fixture(scope="session")
def table_data(data_folder):
    """A function from the name of a tabular data set to (X, y) of its train and its test part, as text."""

    def part(name, which):
        with gzip.open(data_folder / name / f"{which}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        X = np.array([[value for key, value in row.items() if key != "label"] for row in rows], dtype=object)
        return X, np.array([row["label"] for row in rows])

    return lambda name: (part(name, "train"), part(name, "test"))
