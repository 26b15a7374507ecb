"""How a model was chosen, for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textodds.cli.output import aligned, faint, one_line, strong

MOST = 4  # candidates that are named which there was no time for
Z = 1.96  # a 95 % interval


def chosen_lines(chosen: Any) -> Iterator[str]:
    """What was tried, what won, by how much, and how sure that is; nothing of what is no choice."""
    try:
        rows = [[faint(name) for name in ("tried", "log-loss", "accuracy", "behind by", "sure", "texts")]]
        rows += [_row(line, is_first=number == 0) for number, line in enumerate(chosen["tried"])]
        about = list(chosen_in_short(chosen))
        late, large = (_named(chosen.get(why, [])) for why in ("no_time", "no_room"))
    except (LookupError, TypeError, ValueError):
        return
    yield strong(about[0])
    yield from aligned(rows)
    if late:
        yield faint(f"  no time for {late} (a larger `--budget` has more)")
    if large:
        yield faint(f"  no room in memory for {large}")


def chosen_in_short(chosen: Any) -> Iterator[str]:
    """The same in a line."""
    try:
        tried = chosen["tried"]
        yield f"{one_line(tried[0]['name'])}: best of {len(tried)} on {chosen['held_out']:,} held-out texts"
    except (LookupError, TypeError, ValueError):
        return


def _named(names: list[str]) -> str:
    """Names in a row, the last of many only counted."""
    shown = [one_line(name) for name in names]
    if len(shown) > MOST:
        shown[MOST - 1 :] = [f"{len(shown) - MOST + 1} more"]
    return "; ".join(shown)


def _row(line: dict[str, Any], *, is_first: bool) -> list[str]:
    name, behind, sure = one_line(line["name"]), "", ""
    if is_first:
        name, behind = strong(name), "chosen"
    elif "behind" in line:
        behind, sure = f"{line['behind']:.4f} ± {Z * line['error']:.4f}", f"{line['sure']:.0%}"
    return [name, f"{line['log_loss']:.4f}", f"{line['accuracy']:.2%}", behind, sure, f"{line['texts']:,}"]
