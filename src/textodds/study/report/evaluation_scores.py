"""What probabilities are worth: whether they can be believed, and how well they put rows in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from textodds.judge.evaluation import BINS, RESAMPLES, Evaluation, Interval, wilson
from textodds.study.report import figures
from textodds.study.report.evaluation_data import EvaluationData
from textodds.study.report.html import Markup, beside, figure, name, paragraph, section, table
from textodds.study.report.inline import svg
from textodds.study.report.palette import MOST
from textodds.study.report.ranking_curves import DISTINCT, RankingCurve

SHARES = (1.0, 0.99, 0.95, 0.9, 0.8, 0.5)  # shares of the rows of which it is said how they do


def scores_sections(evaluation: Evaluation, gathered: EvaluationData) -> Iterator[Markup]:
    """Sections on probabilities, on answering only what is sure, and on ROC and precision-recall."""
    yield _reliability(evaluation)
    yield _coverage(gathered.of_answers)
    yield _ranking(gathered)


def calibration_interval(reliability: Sequence[tuple[int, float, float]]) -> Interval:
    """An interval of the calibration error: rows are drawn again, with replacement, within its bins.

    Errors of drawn rows are too large by about as much as the error itself is, since chance adds to both;
    so the quantiles are taken from twice the error (the basic bootstrap: Davison and Hinkley 1997, 5.2).
    """
    n = sum(rows for rows, _, _ in reliability)
    if not n:
        return math.nan, math.nan
    rows, said, right = (np.array(part, dtype=np.float64) for part in zip(*reliability, strict=True))
    error = float(np.sum(rows * np.abs(said - right)) / n)
    shares = np.clip(np.concatenate([rows * right, rows * (1 - right)]) / n, 0, 1)
    drawn = np.random.default_rng(0).multinomial(n, shares / shares.sum(), size=RESAMPLES)
    hits, misses = drawn[:, : len(rows)], drawn[:, len(rows) :]
    errors = np.abs(said * (hits + misses) - hits).sum(axis=1) / n
    low, high = np.quantile(errors, [0.025, 0.975])
    return max(2 * error - float(high), 0.0), min(max(2 * error - float(low), 0.0), 1.0)


def _reliability(evaluation: Evaluation) -> Markup:
    bins = evaluation.reliability
    intervals = [wilson(round(right * rows), rows) for rows, _, right in bins]
    picture = figures.reliability(bins, intervals, BINS)
    said = sum(rows * said for rows, said, _ in bins) / evaluation.n
    low, high = evaluation.accuracy_interval
    drift = "as sure as it should be, as far as so many rows can tell"
    if not low <= said <= high:
        drift = "surer than it should be" if said > high else "less sure than it could be"
    return section(
        "Can its probabilities be believed?",
        f"On average the answers were said to be {said:.1%} probable, and {evaluation.accuracy:.1%} of them "
        f"are right: the model is {drift}. Group by group, probabilities are off by "
        f"{evaluation.calibration_error:.4f} on average, the calibration error.",
        beside(
            figure(
                svg(picture),
                f"Answers in {BINS} groups by how probable they were said to be: how often they are right, "
                "with 95 % intervals, and how many there are. Where the points are on the line, "
                "probabilities can be taken as they are.",
                "Reliability diagram; the table has its numbers.",
            ),
            table(
                ["said, on average", "rows", "right", "95 % interval"],
                [
                    [f"{said:.3f}", f"{rows:,}", f"{right:.3f}", f"{low:.3f}–{high:.3f}"]
                    for (rows, said, right), (low, high) in zip(bins, intervals, strict=True)
                ],
            ),
        ),
    )


def _coverage(answers: RankingCurve) -> Markup:
    n = answers.n_positives + answers.n_negatives
    rows = []
    for share in SHARES:
        answered, right = round(share * n), answers.above(share)
        low, high = wilson(round(right * answered), max(answered, 1))
        least = 1 / (1 + math.exp(-answers.least(share)))
        measured = (f"{right:.4f}", f"{low:.4f}–{high:.4f}", f"{least:.4f}")
        rows.append([f"{share:.0%}", f"{answered:,}", *measured])
    return section(
        "If only the surest are answered",
        "Rows in the order of how sure the model is of its answer. Leaving the least sure to people, or to "
        "another model, is worth it where the curve is steep on its right.",
        beside(
            figure(
                svg(figures.coverage(*answers.coverage())),
                "The share of right answers among those that are given, if only so many rows are answered.",
                "Coverage curve; the table has some of its points.",
            ),
            table(["answered", "rows", "right", "95 % interval", "probability from"], rows),
        ),
    )


def _ranking(gathered: EvaluationData) -> Markup:
    heading = "ROC, and precision against recall"
    if not gathered.of_class:
        return section(
            heading,
            f"Not drawn: these curves are of one class against all others, and can be told apart for 2 to "
            f"{MOST} classes. Of more, the measures class by class say as much.",
        )
    curves = {
        label: curve for label, curve in gathered.of_class.items() if curve.n_positives and curve.n_negatives
    }
    if not curves:
        return section(heading, "Not drawn: the data has no two classes that the model knows.")
    rows = [
        [name(label), f"{curve.n_positives:,.0f}", f"{curve.auc:.4f}", f"{curve.average_precision:.4f}"]
        for label, curve in curves.items()
    ]
    two = " Of two classes each has the other's ROC curve, mirrored, and the same area."
    axes = ("share of the other rows called so", "share of the class called so")
    roc = figures.curves({label: curve.roc() for label, curve in curves.items()}, axes, diagonal=True)
    pairs = {label: curve.precision_recall() for label, curve in curves.items()}
    parts: list[Markup] = [
        beside(
            figure(
                svg(roc),
                "ROC: what share of a class is found, for what share of the others."
                + (two if len(curves) == 2 else ""),
                "ROC curves; the table has the areas under them.",
            ),
            figure(
                svg(figures.curves(pairs, ("recall", "precision"))),
                "Precision against recall: what share of those called so is right, for what share found.",
                "Precision-recall curves; the table has the average precision.",
            ),
        ),
        table(["class against all others", "rows", "area under ROC", "average precision"], rows),
    ]
    if absent := [label for label in gathered.of_class if label not in curves]:
        parts.append(paragraph(f"Without a row in the data, and so without a curve: {', '.join(absent)}."))
    if not all(curve.is_exact for curve in curves.values()):
        told = f"There are more than {DISTINCT:,} distinct scores: neighbours were rounded to one, which "
        parts.append(paragraph(told + "changes areas by less than one in ten thousand.", note=True))
    return section(heading, *parts)
