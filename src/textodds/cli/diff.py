"""``diff``: show how two models differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli.command import argument, command, option
from textodds.cli.option_types import Value, above_zero
from textodds.cli.output import aligned, as_json, counted, echo, faint, one_line, strong, weight
from textodds.cli.source import DEFAULTS, reading_options
from textodds.model.file import load

if TYPE_CHECKING:
    from textodds.study.diff import DecisionChanges, Difference

CLASSES = 20  # that are listed
WIDE = 60  # characters of a text that is shown


@command(
    "diff",
    examples=[
        "textodds diff yesterday.textodds today.textodds",
        "textodds diff yesterday.textodds today.textodds test.csv",
    ],
)
@argument("first", "A model file made by `train`.")
@argument("second", "The model file to compare with it, of the same kind.")
@argument("data", "Data to decide on, with labels or without.", nargs=-1)
@option(
    "What to show",
    "--top",
    type=Value(above_zero, "a whole number above 0"),
    default=10,
    metavar="N",
    help="Words, columns and examples that are named.",
)
@reading_options(labelled=True)
@option(
    "Running",
    "--threads",
    type=Value(above_zero, "a whole number above 0"),
    metavar="N",
    help="Threads to use; every number gives the same answer.",
)
@option("Running", "--json", "as_json_", is_flag=True, help="Print all of it as one JSON object on stdout.")
def diff(
    first: str,
    second: str,
    data: tuple[str, ...],
    top: int,
    threads: int | None = None,
    as_json_: bool = False,
    **options: Any,
) -> None:
    """Show how two models differ.

    In classes, words or columns, weights and recipe; and on DATA, if that is given, which decisions
    changed and, if it has labels, whether for better or worse.
    """
    from textodds.study.diff import diff as difference

    models = load(first, threads=threads), load(second, threads=threads)
    given = None if not data else data[0] if len(data) == 1 else [Path(path) for path in data]
    found = difference(*models, given, top=top, **_reading(options))
    if as_json_:
        echo(as_json(found.as_dict()))
        return
    for line in _lines(found, first, second):
        echo(line)


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    """The options for reading that were given, as `read` takes them."""
    chosen = {name: options[name] for name, usual in DEFAULTS.items() if options.get(name, usual) != usual}
    if chosen.pop("no_quoting", False):
        chosen["quoting"] = False
    if chosen.pop("no_header", False):
        chosen["header"] = False
    if "rejects" in chosen:
        chosen["rejects_path"] = chosen.pop("rejects")
    return chosen


def _lines(found: Difference, first: str, second: str) -> Iterator[str]:
    noun = "word" if found.kind == "texts" else "column"
    yield f"{strong(one_line(first))} → {strong(one_line(second))}"
    yield ""
    yield from _class_lines(found)
    yield ""
    yield f"{counted(found.features[0], noun)} → {counted(found.features[1], noun)}"
    for what, n, named in (("gained", found.n_gained, found.gained), ("lost", found.n_lost, found.lost)):
        if n:
            words = ", ".join(
                one_line(name) + ("" if count is None else faint(f" {weight(count)}"))
                for name, count in named
            )
            yield f"  {what} {n:,}: {words}" + (", …" if n > len(named) else "")
    if found.between is not None and found.moved:
        yield ""
        label, rival = map(one_line, found.between)
        yield f"what moved most, in log-odds of {label} against {rival}"
        rows = [[faint("word"), faint("before"), faint("after"), faint("change")]]
        rows += [[one_line(w), f"{x:+.4f}", f"{y:+.4f}", f"{y - x:+.4f}"] for w, x, y in found.moved]
        yield from aligned(rows)
    if found.shifted:
        yield ""
        yield "what moved most, from 0 (the same) to 1 (nothing in common)"
        rows = [[faint("column"), faint("in class"), faint("distance")]]
        rows += [[one_line(name), one_line(label), f"{far:.4f}"] for name, label, far in found.shifted]
        yield from aligned(rows, left=2)
    if found.recipe:
        yield ""
        yield "made differently"
        rows = [[faint("what"), faint("before"), faint("after")]]
        rows += [[one_line(path), _short(x), _short(y)] for path, x, y in found.recipe]
        yield from aligned(rows, left=3)
    if found.decisions is not None:
        yield ""
        yield from _decision_lines(found.decisions)


def _class_lines(found: Difference) -> Iterator[str]:
    rows = [[faint("class"), *map(faint, ("rows before", "after", "prior before", "after"))]]
    order = sorted(found.classes, key=lambda name: (-max(_known(found.classes[name].documents)), name))
    for name in order[:CLASSES]:
        each = found.classes[name]
        documents = ["–" if n is None else "?" if n != n else weight(n) for n in each.documents]
        rows.append([one_line(name), *documents, *("–" if p is None else f"{p:.1%}" for p in each.prior)])
    yield from aligned(rows)
    if len(order) > CLASSES:
        yield faint(f"  and {counted(len(order) - CLASSES, 'smaller class')}")
    for what, names in (("added", found.added), ("removed", found.removed)):
        if names:
            yield f"  {what}: {', '.join(one_line(name) for name in names[:CLASSES])}"


def _known(documents: tuple[float | None, float | None]) -> list[float]:
    return [n for n in documents if n is not None and n == n] or [0.0]


def _short(value: Any) -> str:
    text = one_line("–" if value is None else value if isinstance(value, str) else as_json(value))
    return text if len(text) <= WIDE else text[: WIDE - 1] + "…"


def _decision_lines(found: DecisionChanges) -> Iterator[str]:
    yield f"{counted(found.n_changed, 'decision')} of {found.n:,} changed"
    if found.accuracy is not None and found.only is not None:
        before, after = found.accuracy
        first, second = (counted(n, "time") for n in found.only)
        yield (
            f"  accuracy {before:.2%} → {after:.2%}: only the first was right {first}, only the second "
            f"{second} (McNemar's exact p = {found.p_value:.3g})"
        )
    if not found.changed:
        return
    rows = [[faint("before"), faint("after"), faint("rows")]]
    rows += [[one_line(a), one_line(b), f"{n:,}"] for (a, b), n in list(found.changed.items())[:CLASSES]]
    yield from aligned(rows, left=2)
    yield ""
    rows = [[faint("row"), faint("before"), faint("after"), faint("content")]]
    for each in found.examples:
        (a, p), (b, q) = each.before, each.after
        rows.append(
            [f"{each.row:,}", f"{one_line(a)} {p:.2f}", f"{one_line(b)} {q:.2f}", _short(each.content)]
        )
    yield from aligned(rows, left=4)
