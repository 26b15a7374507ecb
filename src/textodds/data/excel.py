"""Spreadsheets: a sheet of an Excel or OpenDocument file, whose first row has the names of the columns.

They are read by `python-calamine`, which is an extra: 0.9 MB, in Rust, and reads .xlsx, .xlsb, .xls and .ods.
DuckDB would have to download its extension. A sheet is held in memory, of which there are a million rows at
most.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textodds.data import files
from textodds.data.admission import Parts
from textodds.data.columns import ColumnRequest
from textodds.data.files import File
from textodds.data.rejects import Origin
from textodds.data.row_parts import Row, row_parts
from textodds.errors import BadFile, InputError, require, suggestion


def parts(file: File, sheet: str | int | None, request: ColumnRequest, *, header: bool) -> Parts:
    """Parts of the rows of a sheet; blank rows are passed over, and columns without a name."""
    if file.size == 0:
        return
    rows = _rows(file, sheet)
    first = next(rows, None)
    if first is None:
        return
    at, cells = first
    width = max((place for place, cell in enumerate(cells, start=1) if cell != ""), default=0)
    names = [_written(cell).strip() for cell in cells] if header else [str(k) for k in range(1, width + 1)]
    chosen = [place for place, name in enumerate(names) if name]

    def listed() -> Iterator[Row]:
        following = rows if header else _behind((at, cells), rows)
        for number, row in following:
            padded = row + [""] * (len(names) - len(row))
            yield [_value(padded[place], request) for place in chosen], None, None, number, None

    yield from row_parts(listed(), [names[place] for place in chosen], request, Origin(file.name, "row"))


def _behind(
    first: tuple[int, list[Any]], rows: Iterator[tuple[int, list[Any]]]
) -> Iterator[tuple[int, list[Any]]]:
    yield first
    yield from rows


def _rows(file: File, sheet: str | int | None) -> Iterator[tuple[int, list[Any]]]:
    """The rows of a sheet that are not blank, with their numbers."""
    require("python_calamine", why=f"reading the spreadsheet `{file.name}`")
    from python_calamine import CalamineError, CalamineWorkbook

    with files.trouble(file):
        try:
            with files.unpacked(file.path, ".xlsx", but="zip") as path, Path(path).open("rb") as stream:
                book = CalamineWorkbook.from_filelike(stream)
                name = _sheet_of(file, sheet, book.sheet_names)
                rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        except (CalamineError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise BadFile(
                f"`{file.name}` cannot be read as a spreadsheet: {error}",
                hint="open it where it was made, and save it as .xlsx or as CSV in UTF-8",
            ) from error
    for number, row in enumerate(rows, start=1):
        if any(cell != "" for cell in row):
            yield number, row


def _sheet_of(file: File, sheet: str | int | None, names: list[str]) -> str:
    """The name of the sheet that is meant: by its name, or by its number from 1."""
    if not names:
        raise BadFile(f"`{file.name}` has no sheets")
    if sheet is None:
        return names[0]
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise InputError(
        f"`{file.name}` has no sheet `{sheet}`{suggestion(str(sheet), names)}",
        hint=f"its sheets are {', '.join(f'`{name}`' for name in names[:50])}",
    )


def _value(cell: object, request: ColumnRequest) -> object:
    """A cell as it is read: of texts as written; of a table as it is, and null where it is blank."""
    if request.is_of_texts:
        return _written(cell)
    return None if cell == "" else cell


def _written(cell: object) -> str:
    """A cell as people write it: whole numbers without a point, dates as ISO 8601 has them."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, (datetime.date, datetime.time)) else str(cell)
