"""Measured quality, for people to read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from textodds.cli.output import aligned, counted, faint, one_line, strong, styled
from textodds.judge.evaluation import Evaluation

MATRIX_CLASSES = 12  # more columns do not fit on a terminal
CONFUSIONS = 20
CLASSES = 40


def headline(evaluation: Evaluation) -> list[str]:
    """The three measures with their intervals."""
    measures = (
        ("accuracy", evaluation.accuracy, evaluation.accuracy_interval),
        ("macro-F1", evaluation.macro_f1, evaluation.macro_f1_interval),
        ("log-loss", evaluation.log_loss, evaluation.log_loss_interval),
    )
    return aligned(
        [
            [name, strong(f"{value:.4f}"), faint(f"{low:.4f} to {high:.4f}")]
            for name, value, (low, high) in measures
        ]
    )


def report(evaluation: Evaluation) -> Iterator[str]:
    """Lines that say it all."""
    yield from headline(evaluation)
    yield faint(f"  on {counted(evaluation.n, 'row')}; ranges are 95 % intervals")
    if not math.isnan(evaluation.calibration_error):
        yield faint(
            f"  calibration error {evaluation.calibration_error:.4f}: probabilities are off by so much"
        )
    yield ""
    yield from _by_class(evaluation)
    yield ""
    yield from _matrix(evaluation) if len(evaluation.labels) <= MATRIX_CLASSES else _confusions(evaluation)
    if evaluation.no_evidence:
        rows = counted(evaluation.no_evidence, "row")
        yield ""
        yield f"  {rows} without a known word, answered by the prior alone"
    if evaluation.unknown_labels:
        named = ", ".join(
            f"{one_line(label)} ({rows:,})" for label, rows in evaluation.unknown_labels.items()
        )
        yield ""
        yield f"  labels the model does not have, always wrong: {named}"


def _by_class(evaluation: Evaluation) -> list[str]:
    table = evaluation.by_class()
    shown = sorted(sorted(table, key=lambda label: -table[label]["rows"])[:CLASSES])
    rows: list[Sequence[str]] = [[faint(name) for name in ("class", "precision", "recall", "F1", "rows")]]
    for label in shown:
        quality = table[label]
        parts = [f"{quality[name]:.4f}" for name in ("precision", "recall", "f1")]
        rows.append([one_line(label), *parts, f"{quality['rows']:,}"])
    lines = aligned(rows)
    if len(table) > len(shown):
        lines.append(
            faint(f"  and {counted(len(table) - len(shown), 'smaller class')}, which `--json` lists")
        )
    return lines


def _matrix(evaluation: Evaluation) -> list[str]:
    labels = evaluation.labels
    rows = [[faint("true label"), *(faint(f"→ {one_line(label)}") for label in labels)]]
    for label in labels:
        cells = [(answer, evaluation.confusion.get((label, answer), 0)) for answer in labels]
        rows.append([one_line(label), *(_cell(n, right=answer == label) for answer, n in cells)])
    return aligned(rows)


def _cell(n: int, *, right: bool) -> str:
    if n == 0:
        return faint("·")
    return styled(f"{n:,}", fg="green" if right else "red")


def _confusions(evaluation: Evaluation) -> list[str]:
    wrong = [(rows, pair) for pair, rows in evaluation.confusion.items() if pair[0] != pair[1]]
    if not wrong:
        return ["  no row was answered wrongly"]
    table = [[faint("true label"), faint("answered"), faint("rows")]]
    for rows, (label, answer) in sorted(wrong, key=lambda found: (-found[0], found[1]))[:CONFUSIONS]:
        table.append([one_line(label), one_line(answer), f"{rows:,}"])
    return aligned(table, left=2)
