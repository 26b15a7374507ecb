"""What ``inspect`` shows of the columns of a table: their distributions in each class, or their weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textodds.cli.output import counted, faint, one_line, strong, table
from textodds.model.tables.marginals import marginals

if TYPE_CHECKING:
    from textodds.model.tables.table_model import TableModel

CLASSES = 8  # of which distributions are shown, side by side


def distributions(model: TableModel) -> dict[str, Any]:
    """The distribution of each column in each class: ``mean`` and ``deviation``, or ``shares`` of values."""
    return {
        name: {
            label: {"mean": own[0], "deviation": math.sqrt(own[1])}
            if isinstance(own, tuple)
            else {"shares": own}
            for label, own in by_class.items()
        }
        for name, by_class in marginals(model).items()
    }


def weights_of(model: TableModel) -> list[dict[str, Any]] | None:
    """The weights of the features of softmax regression, as plain data; None of other models."""
    if model.recipe.linear is None:
        return None
    own: Any = model.product.parts[0]
    named = zip(own.features.names(), own.weights.tolist(), strict=True)
    return [
        {"column": column, "value": value, "weights": dict(zip(own.classes, row, strict=True))}
        for (column, value), row in named
    ]


def distribution_lines(about: dict[str, Any], top: int) -> Iterator[str]:
    """The same for people, of the largest classes, and of a column the most frequent values."""
    sizes = about["classes"]
    shown = sorted(sizes, key=lambda label: (-sizes[label], label))[:CLASSES]
    heads = [one_line(label) for label in shown]
    yield ""
    if about["weights"] is not None:
        told = _strongest(about["weights"], top)
        rows = [
            [one_line(f"{each['column']} {each['value']}".strip()), *_numbers(each["weights"], shown)]
            for each in told
        ]
        yield strong("weights of softmax regression, of standardised numbers, values and terms")
        yield from table(("feature", *heads), rows)
        if len(told) < len(about["weights"]):
            left = counted(len(about["weights"]) - len(told), "weight")
            yield faint(f"  and {left} of terms and of the numbers of vectors, which `--json` lists")
        yield ""
    numbers, values = [], []
    for name, by_class in about["distributions"].items():
        if "mean" in next(iter(by_class.values())):
            cells = [f"{by_class[label]['mean']:.4g} ± {by_class[label]['deviation']:.3g}" for label in shown]
            numbers.append([one_line(name), *cells])
        else:
            values.append((name, {label: own["shares"] for label, own in by_class.items()}))
    if numbers:
        yield strong("mean ± standard deviation of numbers, μ ± σ")
        yield from table(("column", *heads), numbers)
    for name, by_class in values:
        yield from [""] if numbers or name != values[0][0] else []
        total = {
            value: sum(sizes[label] * by_class[label].get(value, 0.0) for label in by_class)
            for value in dict.fromkeys(value for own in by_class.values() for value in own)
        }
        ranked = sorted(total, key=lambda value: -total[value])[:top]
        yield strong(f"P({one_line(name)} | class)")
        rows = [[one_line(value), *(f"{by_class[k].get(value, 0.0):.4f}" for k in shown)] for value in ranked]
        yield from table(("value", *heads), rows)
        if len(total) > len(ranked):
            yield faint(f"  and {counted(len(total) - len(ranked), 'other value')}, which `--json` lists")


def _strongest(weights: list[dict[str, Any]], top: int) -> list[dict[str, Any]]:
    """Those that are shown: of the terms of a text the strongest, of the numbers of a vector none."""
    told, terms = [], []
    for each in weights:
        if each["value"].startswith("“"):
            terms.append(each)
        elif not each["value"].startswith("["):
            told.append(each)
    terms.sort(key=lambda each: -max(map(abs, each["weights"].values())))
    return told + terms[:top]


def _numbers(weights: dict[str, float], shown: list[str]) -> list[str]:
    return [f"{weights[label]:+.4f}" for label in shown]
