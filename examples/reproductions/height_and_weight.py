"""Height and weight: Gaussian classes and logistic regression on 10,000 people.

    python examples/reproductions/height_and_weight.py

The example of lectures on Gaussian naive Bayes ("Generative classifiers and naive Bayes", Furnari). Height
and weight go together within each sex, which naive Bayes cannot know: models with tilted ellipses are better,
and as both sexes have about the same ellipse, one for both (LDA) is enough.
"""

from __future__ import annotations

import csv
import gzip
from typing import Any

import numpy as np
from sklearn import discriminant_analysis, naive_bayes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import textodds
from data_sets import path_of
from results import Results, Share, Table
from script import main

REFERENCE = {"Gaussian naive Bayes": 88.30, "logistic regression": 92.00}
"""Accuracy of scikit-learn in percent, as it was reported of this split."""

THEIRS = {
    "Gaussian naive Bayes": naive_bayes.GaussianNB(),
    "LDA": discriminant_analysis.LinearDiscriminantAnalysis(),
    "QDA": discriminant_analysis.QuadraticDiscriminantAnalysis(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
}
OURS = {
    "Gaussian naive Bayes": textodds.GaussianNB(),
    "LDA": textodds.LinearDiscriminantAnalysis(),
    "QDA": textodds.QuadraticDiscriminantAnalysis(),
    "logistic regression": make_pipeline(StandardScaler(), textodds.SoftmaxRegression(C=1.0)),
}


def people(part: str) -> tuple[Any, list[str]]:
    """Height in inches and weight in pounds, (N, 2), and the sex of each."""
    with gzip.open(path_of("tab_weight_height", part), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = np.array([[float(row["height_in"]), float(row["weight_lb"])] for row in rows])
    return numbers, [row["label"] for row in rows]


def run(quick: bool) -> Results:
    """Accuracy of each model, by scikit-learn and by textodds, and whether they answer alike."""
    train, test = people("train"), people("test")
    if quick:
        train = train[0][::10], train[1][::10]
    rows = []
    for name, ours in OURS.items():
        theirs, our = (model.fit(*train).predict(test[0]) for model in (THEIRS[name], ours))
        shares = (
            Share.of(int((answers == np.array(test[1])).sum()), len(test[1])) for answers in (theirs, our)
        )
        rows.append((name, REFERENCE.get(name), *shares, int((theirs != our).sum())))
    columns = ("model", "reference %", "scikit-learn %", "textodds %", "answers that differ")
    formats = {**dict.fromkeys(columns, ""), "reference %": ".2f"}
    return Results({"Height and weight": Table(formats, tuple(rows))})


if __name__ == "__main__":
    raise SystemExit(main(run, __doc__))
