"""The data sets of the reproductions: where they are, and a small part of each to try a script on."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow

from textodds.data import read
from textodds.errors import BadFile

ROOT = Path(__file__).resolve().parents[2]

FEW = 600
"""Rows of a part of a data set that a quick run uses, about."""

Rows = tuple[list[str], list[str]]
"""Texts and their labels."""


def path_of(name: str, part: str = "train") -> Path:
    """The file of a part of a data set."""
    given = os.environ.get("TEXTODDS_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    path = folder / name / f"{part}.csv.gz"
    if not path.is_file():
        raise BadFile(
            f"no data set at `{path}`",
            hint="set TEXTODDS_DATA to the folder of the data sets; each is a folder with "
            "train.csv.gz and test.csv.gz, with the columns label and text",
        )
    return path


def rows_of(name: str, part: str = "train", *, quick: bool = False) -> Rows:
    """The texts and labels of a part of a data set; if ``quick``, every so many rows of it."""
    texts: list[str] = []
    labels: list[str] = []
    for batch in read(path_of(name, part)):
        texts += pyarrow.array(batch.texts).to_pylist()
        labels += batch.label_list()
    step = max(1, len(texts) // FEW) if quick else 1
    return texts[::step], labels[::step]
