"""``diff``: show how two models differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

from textodds.cli.commands import argument, command
from textodds.cli.options import (
    Reading,
    paths_of,
    reading_of,
    reading_options,
    refuse_reading,
    running_options,
    top_option,
)
from textodds.cli.output import as_json, counted, faint, one_line, shortened, show, strong, table, weight
from textodds.cli.summaries import CLASSES, smaller_classes
from textodds.model.file import load_one_label

if TYPE_CHECKING:
    from textodds.study.diff import DecisionChanges, Difference


@command(
    "diff",
    examples=[
        "textodds diff yesterday.textodds today.textodds",
        "textodds diff yesterday.textodds today.textodds test.csv",
    ],
)
@argument("first", "A model file made by `train`.")
@argument("second", "The model file to compare with, of the same kind.")
@argument("data", "Data to predict with both, labelled or not.", nargs=-1)
@top_option(10, "Number of words, columns and examples shown.")
@reading_options(labelled=True)
@running_options(json="Print everything as one JSON object on stdout.", quiet=False)
def diff(
    first: str,
    second: str,
    data: tuple[str, ...],
    top: int,
    threads: int | None,
    as_json_: bool,
    **options: Unpack[Reading],
) -> None:
    """Show how two models differ.

    Compares classes, words or columns, weights and recipe; with DATA, also predictions and, if it has
    labels, accuracy.
    """
    from textodds.study.diff import diff as compare_models

    if not data:
        refuse_reading("there is none")
    models = load_one_label(first, threads=threads), load_one_label(second, threads=threads)
    given = paths_of(data, None) if data else None
    difference = compare_models(*models, given, top=top, **reading_of(options))
    show(difference.as_dict(), _lines(difference, first, second), json=as_json_)


def _lines(difference: Difference, first: str, second: str) -> Iterator[str]:
    noun = "word" if difference.kind == "texts" else "column"
    yield f"{strong(one_line(first))} → {strong(one_line(second))}"
    yield ""
    yield from _class_lines(difference)
    yield ""
    yield f"{counted(difference.features[0], noun)} → {counted(difference.features[1], noun)}"
    for what, n, named in (
        ("gained", difference.n_gained, difference.gained),
        ("lost", difference.n_lost, difference.lost),
    ):
        if n:
            words = ", ".join(
                one_line(name) + ("" if count is None else faint(f" {weight(count)}"))
                for name, count in named
            )
            yield f"  {what} {n:,}: {words}" + (", …" if n > len(named) else "")
    if difference.between is not None and difference.moved:
        yield ""
        label, rival = map(one_line, difference.between)
        yield f"largest changes, in log-odds of {label} against {rival}"
        rows = [[one_line(w), f"{x:+.4f}", f"{y:+.4f}", f"{y - x:+.4f}"] for w, x, y in difference.moved]
        yield from table(("word", "before", "after", "change"), rows)
    if difference.shifted:
        yield ""
        yield "largest changes, from 0 (the same) to 1 (disjoint)"
        rows = [[one_line(name), one_line(label), f"{far:.4f}"] for name, label, far in difference.shifted]
        yield from table(("column", "in class", "distance"), rows, left=2)
    if difference.recipe:
        yield ""
        yield "made differently"
        rows = [[one_line(path), _short(x), _short(y)] for path, x, y in difference.recipe]
        yield from table(("what", "before", "after"), rows, left=3)
    if difference.decisions is not None:
        yield ""
        yield from _decision_lines(difference.decisions)


def _class_lines(difference: Difference) -> Iterator[str]:
    rows = []
    order = sorted(
        difference.classes, key=lambda name: (-max(_known(difference.classes[name].documents)), name)
    )
    for name in order[:CLASSES]:
        each = difference.classes[name]
        documents = ["–" if n is None else "?" if n != n else weight(n) for n in each.documents]
        rows.append([one_line(name), *documents, *("–" if p is None else f"{p:.1%}" for p in each.prior)])
    yield from table(("class", "rows before", "after", "prior before", "after"), rows)
    yield from smaller_classes(len(order), CLASSES)
    for what, names in (("added", difference.added), ("removed", difference.removed)):
        if names:
            yield f"  {what}: {', '.join(one_line(name) for name in names[:CLASSES])}"


def _known(documents: tuple[float | None, float | None]) -> list[float]:
    return [n for n in documents if n is not None and n == n] or [0.0]


def _short(value: object) -> str:
    return shortened("–" if value is None else value if isinstance(value, str) else as_json(value))


def _decision_lines(changes: DecisionChanges) -> Iterator[str]:
    yield f"{counted(changes.n_changed, 'decision')} of {changes.n:,} changed"
    if changes.accuracy is not None and changes.only is not None:
        before, after = changes.accuracy
        first, second = (counted(n, "time") for n in changes.only)
        yield (
            f"  accuracy {before:.2%} → {after:.2%}: only the first correct {first}, only the second "
            f"{second} (McNemar's exact p = {changes.p_value:.3g})"
        )
    if not changes.changed:
        return
    rows = [[one_line(a), one_line(b), f"{n:,}"] for (a, b), n in list(changes.changed.items())[:CLASSES]]
    yield from table(("before", "after", "rows"), rows, left=2)
    yield ""
    rows = []
    for each in changes.examples:
        decisions = [f"{one_line(label)} {p:.2f}" for label, p in (each.before, each.after)]
        rows.append([f"{each.row:,}", *decisions, _short(each.content)])
    yield from table(("row", "before", "after", "content"), rows, left=4)
