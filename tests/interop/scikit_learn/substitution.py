"""A plugin of pytest that puts our classes in the place of scikit-learn's, and writes down what became of it.

It runs in a process of its own, where it is loaded before any test of scikit-learn is imported: those tests
then say ``from sklearn.naive_bayes import GaussianNB`` and get ours.
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import textodds

PLACES = {
    "naive_bayes": {
        "sklearn.naive_bayes": [
            "BernoulliNB",
            "CategoricalNB",
            "ComplementNB",
            "GaussianNB",
            "MultinomialNB",
        ],
    },
    "discriminant": {
        "sklearn.discriminant_analysis": ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
    },
    "text": {
        "sklearn.feature_extraction.text": [
            "CountVectorizer",
            "HashingVectorizer",
            "TfidfTransformer",
            "TfidfVectorizer",
        ],
    },
    "logistic": {
        "sklearn.linear_model": ["LogisticRegression"],
        "sklearn.linear_model._logistic": ["LogisticRegression"],
    },
}
"""Where scikit-learn has its classes, by the suite that tests them."""


def ours(name: str) -> type | None:
    """Our class of that name, if there is one that is an estimator."""
    if name == "LogisticRegression":
        if not hasattr(textodds.SoftmaxRegression, "get_params"):
            return None
        from logistic import LogisticRegression

        return LogisticRegression
    found = getattr(textodds, name, None)
    return found if hasattr(found, "get_params") else None


def substitute(suite: str) -> dict[str, type]:
    """Put ours in the place of theirs, where there are such; returns them by name."""
    places = PLACES[suite]
    # All of ours are imported before any is put in place, since some are subclasses of theirs.
    found = {name: kind for names in places.values() for name in names if (kind := ours(name)) is not None}
    for module, names in places.items():
        for name in names:
            if name in found:
                assert hasattr(importlib.import_module(module), name)
                setattr(importlib.import_module(module), name, found[name])
    return found


class Record:
    """What became of each test, and which of our classes it made an instance of."""

    def __init__(self, suite: str, path: Path) -> None:
        self.suite, self.path = suite, path
        self.ours = substitute(suite)
        self.tests: dict[str, dict[str, object]] = {}
        self.made: set[str] = set()
        self.held: dict[str, str] = {}
        for name, kind in self.ours.items():
            self._watch(name, kind)

    def _watch(self, name: str, kind: type) -> None:
        original = kind.__init__

        @functools.wraps(original)  # scikit-learn reads parameters from the signature
        def init(instance: object, *args: object, **choices: object) -> None:
            self.made.add(name)
            original(instance, *args, **choices)

        kind.__init__ = init

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """See what the names of their classes mean now, in their modules and in that of the tests."""
        tested = {item.module.__name__: item.module for item in session.items}
        for place, names in PLACES[self.suite].items():
            for module in (sys.modules[place], *tested.values()):
                for name in names:
                    if name in self.ours and hasattr(module, name):
                        kind = getattr(module, name)
                        self.held[f"{module.__name__}.{name}"] = f"{kind.__module__}.{kind.__qualname__}"

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a test: some draw from NumPy's generator without having seeded it."""
        np.random.seed(0)
        self.made.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write down how a test ended."""
        entry = self.tests.setdefault(report.nodeid.split("::", 1)[1], {"outcome": "passed", "seconds": 0.0})
        entry["seconds"] = round(float(entry["seconds"]) + report.duration, 4)
        if report.when == "call":
            entry["ours"] = sorted(self.made)
        if not report.passed:
            entry["outcome"] = "failed" if report.failed else "skipped"
            entry["message"] = _last_line(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write all of it down."""
        record = {"ours": sorted(self.ours), "held": self.held, "tests": self.tests}
        self.path.write_text(json.dumps(record), encoding="utf-8")


def _last_line(report: pytest.TestReport) -> str:
    """What a test said as it ended, in a line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message).split("\n", 1)[0]
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)[-200:]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which suite is run, and where to write what became of it."""
    parser.addoption("--of-suite")
    parser.addoption("--record", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    """Substitute, before anything is collected."""
    assert not any(name.startswith("sklearn.") and ".tests." in name for name in sys.modules)
    record = Record(config.getoption("--of-suite"), config.getoption("--record"))
    config.pluginmanager.register(record)
