"""``compare --group`` and ``--over``: groups held out one by one, and models over the number of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.cli import model_files
from textodds.cli.options import paths_of
from textodds.cli.output import faint, one_line, say, show, strong, table
from textodds.cli.progress import progress
from textodds.errors import InputError
from textodds.study.compare import compare_groups, compare_vocabulary
from textodds.study.report.picture import picture_format, require_matplotlib

if TYPE_CHECKING:
    from textodds.cli.compare import CompareOptions
    from textodds.study.compare import GroupedComparison, VocabularyCurves


def compare_by(
    data: Sequence[str],
    group: str | None,
    over: str | None,
    picture: str | None,
    held_out: float | None,
    options: CompareOptions,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Run the protocol that the options of ``compare`` ask for."""
    how: dict[str, Any] = dict(options)
    for name in ("repeats", "budget"):
        del how[name]
    if over is None:
        if group is None or picture is not None:
            raise InputError("`--picture` is for `--over vocabulary`", hint="write a page: `--html FILE`")
        if held_out is not None or how.pop("sizes"):
            raise InputError("`--group` holds out groups", hint="leave out `--held-out` and `--sizes`")
        del how["seed"]
        with progress(quiet=quiet) as observer:
            grouped = compare_groups(paths_of(data, how["query"]), group=group, observer=observer, **how)
        show(grouped.as_dict() if json else None, _group_lines(grouped), json=json)
        return 0
    if picture is not None:
        require_matplotlib()
        picture_format(picture)
        model_files.must_be_writable(Path(picture), option="--picture")
    if how.pop("columns") is not None or how.pop("textbook"):
        raise InputError("`--over vocabulary` has no `--columns` and no `--textbook`", hint="leave them out")
    how |= {} if held_out is None else {"held_out": held_out}
    with progress(quiet=quiet) as observer:
        found = compare_vocabulary(paths_of(data, how["query"]), group=group, observer=observer, **how)
    if picture is not None:
        found.picture().save(picture)
    show(found.as_dict() if json else None, _vocabulary_lines(found), json=json)
    if picture is not None:
        say(f"wrote {strong(picture)}", quiet=quiet)
    return 0


def _group_lines(found: GroupedComparison) -> Iterator[str]:
    groups = list(found.by_group)
    what = strong(f"{len(groups)} groups")
    yield f"{what} by {one_line(found.group)}, each held out once: {found.n:,} rows"
    yield ""
    rows = []
    for name in found.models:
        low, high = found.accuracy_interval(name)
        each = [f"{found.by_group[group][name].evaluation.accuracy:.4f}" for group in groups]
        rows.append(
            [one_line(name), strong(f"{found.accuracy(name):.4f}"), faint(f"{low:.4f} to {high:.4f}"), *each]
        )
    held = [f"{found.by_group[group].setting.n_test:,}" for group in groups]
    rows.append([faint("held out"), faint(f"{found.n:,}"), "", *map(faint, held)])
    yield from table(("model", "accuracy", "", *map(one_line, groups)), rows, gap=2)
    refused = {
        (name, reason)
        for comparison in found.by_group.values()
        for name, reason in comparison.refused.items()
    }
    for name, reason in sorted(refused):
        yield f"  {name}: {one_line(reason)}"


def _vocabulary_lines(found: VocabularyCurves) -> Iterator[str]:
    yield f"{strong(one_line(found.source))}: {found.n:,} texts held out, {one_line(found.held_out)}"
    yield ""
    names = list(found.right)
    rows = [
        [f"{size:,}", *(f"{found.accuracy(name)[at]:.4f}" for name in names)]
        for at, size in enumerate(found.sizes)
    ]
    yield from table(("words", *map(one_line, names)), rows)
    yield ""
    for name in names:
        size, accuracy = found.best(name)
        yield f"  {one_line(name)} is best with {size:,} words: {accuracy:.4f}"
