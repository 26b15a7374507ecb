"""How a reproduction is run as a script: its options, and what it prints."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from results import Results
from textodds.errors import TextoddsError

Run = Callable[[bool], Results]
"""A reproduction: from whether to be quick to what was found."""


def main(run: Run, about: str | None, arguments: Sequence[str] | None = None) -> int:
    """Run a reproduction as its options say; 0, or 2 if it could not be done."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--quick", action="store_true", help="use a small part of the data, to try it out")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to a file, or to stdout if `-`")
    parser.add_argument("--pictures", metavar="FOLDER", type=Path, help="write the pictures to a folder")
    options = parser.parse_args(arguments)
    try:
        results = run(options.quick)
        if options.pictures is not None:
            draw(results, options.pictures)
    except TextoddsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.json != "-":
        print(told(results))
    if options.json is not None:
        write_json(results, options.json)
    return 0


def told(results: Results) -> str:
    """The tables for a terminal, each under its name."""
    return "\n\n".join(f"{name}\n\n{table.plain()}" for name, table in results.tables.items())


def draw(results: Results, folder: Path) -> None:
    """Write the pictures into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in results.pictures.items():
        picture.save(folder / name)


def write_json(results: Results, path: str) -> None:
    """Write the numbers of all tables as JSON."""
    plain = {name: table.as_list() for name, table in results.tables.items()}
    text = json.dumps(plain, indent=2, ensure_ascii=False)
    if path == "-":
        print(text)
    else:
        Path(path).write_text(text + "\n", encoding="utf-8")
