"""The files that are to be answered, and what the files of their answers are called."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from textodds.data import files
from textodds.data.compression import PACKED, without_suffix
from textodds.data.rejects import SUFFIX as REJECTED
from textodds.data.row_file import FORMATS
from textodds.errors import BadFile, InputError

USUAL = "csv"  # for what is read in a format that is not written: lines, mail, spreadsheets
NEVER = ("folder", "database")  # are not files of rows


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to be answered: where it lies, the path of its answers within the output, and its bytes."""

    path: str
    name: str
    size: int


def found_files(
    inputs: Sequence[str], output: Path, *, format_: str | None, output_format: str | None
) -> list[InputFile]:
    """The files that ``inputs`` mean, in the order of their names; never those in the output."""
    if output_format is not None and output_format not in FORMATS:
        raise InputError(
            f"answers cannot be written as `{output_format}`", hint=f"write one of {', '.join(FORMATS)}"
        )
    if format_ in NEVER:
        raise InputError(
            f"the answers to a {format_} are one file, not one for each",
            hint="name a file: `-o answers.csv`",
        )
    taken: dict[str, InputFile] = {}
    for path, relative in _paths(inputs, output, format_):
        name = output_name(relative, format_, output_format)
        before = taken.get(name)
        if before is not None and not Path(path).samefile(before.path):
            raise InputError(
                f"the answers to `{before.path}` and `{path}` would both be `{output / name}`",
                hint="answer them in two runs, with two folders for the output",
            )
        target = output / name
        if target.exists() and target.samefile(path):
            raise InputError(
                f"the answers would replace `{path}`, which is to be read",
                hint="name another folder with `-o`",
            )
        taken.setdefault(name, InputFile(path, name, files.named(path).size))
    if not taken:
        raise BadFile(
            f"there is no data in {', '.join(f'`{each}`' for each in inputs)}",
            hint="name files, a pattern such as 'data/*.parquet', or the folder that they are in",
        )
    return [taken[name] for name in sorted(taken)]


def output_name(relative: str, format_: str | None, output_format: str | None) -> str:
    """The path of the answers to a file, in its format where that can be written.

    >>> output_name("de/part-0.parquet", None, None), output_name("a.jsonl.gz", None, "csv")
    ('de/part-0.parquet', 'a.csv.gz')
    >>> output_name("a.txt", None, None), output_name("a.tsv.zip", None, None)
    ('a.txt.csv', 'a.tsv.gz')
    """
    plain = without_suffix(relative)
    packing = relative[len(plain) :]
    named = files.format_of_name(plain)
    stem = plain[: -len(Path(plain).suffix)] if named in FORMATS else plain
    wanted = output_format or (format_ or named if (format_ or named) in FORMATS else USUAL)
    ending = Path(plain).suffix if named == wanted else f".{wanted}"
    if wanted == "parquet" or not packing:
        return stem + ending
    return stem + ending + (packing if packing.lower() in PACKED else ".gz")


def _paths(inputs: Iterable[str], output: Path, format_: str | None) -> Iterator[tuple[str, str]]:
    """Each path with the part of it that its answers keep: below a folder, or from a wildcard on."""
    within = output.resolve()
    for given in inputs:
        if given == files.STDIN or (Path(given).exists() and files.named(given).is_pipe):
            raise InputError(
                "stdin and pipes have no name to call their answers by", hint="name a file: `-o answers.csv`"
            )
        if files.is_folder(given):
            root, paths = Path(given), _in_folder(Path(given), format_)
        else:
            paths = iter(files.found(given))
            is_pattern = glob.has_magic(given) and not Path(given).exists()
            root = _fixed(given) if is_pattern else Path(given).parent
            if not is_pattern and within in Path(given).resolve().parents:
                raise InputError(
                    f"`{given}` lies in `{output}`, where the answers go",
                    hint="name another folder with `-o`",
                )
        for path in paths:
            if within not in Path(path).resolve().parents or within == root.resolve():
                yield path, Path(path).relative_to(root).as_posix()


def _in_folder(folder: Path, format_: str | None) -> Iterator[str]:
    """The files of data in a folder and below it, but for names that begin with a dot or a low line."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith((".", "_")) for part in parts) or path.name.endswith(REJECTED):
            continue
        is_data = format_ is not None or files.format_of_name(path.name) not in (None, *NEVER)
        if is_data and path.is_file():
            yield str(path)


def _fixed(pattern: str) -> Path:
    """The folder before the first wildcard of a pattern."""
    parts = Path(pattern).parts
    wild = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:wild])
