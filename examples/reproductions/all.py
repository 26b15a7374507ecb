"""All reproductions, one after the other, and the page of their results.

    python examples/reproductions/all.py                      # print every table
    python examples/reproductions/all.py languages nbsvm      # of some of them
    python examples/reproductions/all.py --write              # into docs/reproductions.md and docs/pictures/

On the page a table stands between `<!-- script: name of the table -->` and `<!-- end -->`; what is written
around it stays.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from data_sets import ROOT
from results import Results
from script import Run, draw, told
from textodds.errors import InputError, TextoddsError, suggestion

SCRIPTS = (
    "laboratory",
    "event_models",
    "complement",
    "nbsvm",
    "languages",
    "spam_costs",
    "height_and_weight",
)
PAGE = ROOT / "docs" / "reproductions.md"

TABLE = re.compile(r"<!-- (\w+): (.+?) -->\n(.*?)<!-- end -->", re.DOTALL)
"""A table on the page: its script, its name, and what is written."""


def script(name: str) -> Run:
    """The function that runs a reproduction."""
    if name not in SCRIPTS:
        raise InputError(
            f"there is no reproduction `{name}`{suggestion(name, SCRIPTS)}",
            hint=f"one of {', '.join(SCRIPTS)}",
        )
    run: Run = import_module(name).run
    return run


def tables_of(page: str) -> list[tuple[str, str]]:
    """The script and the name of every table on a page."""
    return [(found[1], found[2]) for found in TABLE.finditer(page)]


def written(page: str, name: str, results: Results) -> str:
    """The page with the tables of one script as they are now."""
    places = [table for script, table in tables_of(page) if script == name]
    if sorted(places) != sorted(results.tables):
        raise InputError(
            f"the page has the tables {places} of `{name}`, which makes {list(results.tables)}",
            hint="write `<!-- script: name of the table -->` and `<!-- end -->` where each should stand",
        )

    def now(found: re.Match[str]) -> str:
        if found[1] != name:
            return found[0]
        return f"<!-- {name}: {found[2]} -->\n\n{results.tables[found[2]].markdown()}\n\n<!-- end -->"

    return TABLE.sub(now, page)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0, or 2 if it could not be done."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", metavar="SCRIPT", help=f"some of {', '.join(SCRIPTS)}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="use a small part of the data, to try it out")
    how.add_argument("--write", action="store_true", help="write tables and pictures into the documentation")
    options = parser.parse_args(arguments)
    try:
        for name, run in [(name, script(name)) for name in options.names or SCRIPTS]:
            results = run(options.quick)
            print(f"{name}\n\n{told(results)}\n", flush=True)
            if options.write:
                write(PAGE, name, results)
    except TextoddsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def write(page: Path, name: str, results: Results) -> None:
    """Put the tables of a script on the page, and its pictures beside it."""
    page.write_text(written(page.read_text(encoding="utf-8"), name, results), encoding="utf-8")
    draw(results, page.parent / "pictures")


if __name__ == "__main__":
    raise SystemExit(main())
