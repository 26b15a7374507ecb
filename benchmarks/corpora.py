"""The data sets: raw files outside the repository, unpacked into a temporary folder."""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

csv.field_size_limit(sys.maxsize)

HERE = Path(__file__).resolve().parent


class Missing(Exception):
    """A data set, a peer or a command is not there: what needs it is skipped."""


def folder() -> Path:
    """Where the data sets are: ``TEXTODDS_DATA``, or ``../shared/data`` beside the repository."""
    given = os.environ.get("TEXTODDS_DATA")
    return Path(given) if given else HERE.parent.parent / "shared" / "data"


@dataclass(frozen=True)
class Part:
    """One half of a corpus, as a plain CSV file."""

    path: Path

    @cached_property
    def rows(self) -> tuple[list[str], list[str]]:
        with self.path.open(newline="", encoding="utf-8") as file:
            read = list(csv.DictReader(file))
        return [row["text"] for row in read], [row["label"] for row in read]

    @property
    def texts(self) -> list[str]:
        return self.rows[0]

    @property
    def labels(self) -> list[str]:
        return self.rows[1]

    @cached_property
    def size(self) -> int:
        """Bytes of text, in UTF-8."""
        return sum(len(text.encode()) for text in self.texts)

    def fresh(self) -> list[str]:
        """New copies of the texts.

        CPython keeps the UTF-8 form of a string that was once asked for it, so that whoever
        reads the same strings a second time would have part of the work done.
        """
        return [text.encode().decode() for text in self.texts]


@dataclass(frozen=True)
class Corpus:
    """Training and test texts with their labels."""

    name: str
    title: str
    train: Part
    test: Part

    @property
    def n_classes(self) -> int:
        return len(set(self.train.labels))


TITLES = {
    "imdb": "IMDB",
    "20newsgroups": "20 Newsgroups",
    "ag_news_subset": "AG News subset",
    "langid_lingua": "79 languages",
    "sms_spam": "SMS spam",
    "mr": "Movie reviews (MR)",
    "reuters_r8": "Reuters R8",
    "webkb_raw": "WebKB",
    "spamassassin": "SpamAssassin",
    "subjectivity": "Subjectivity",
    "tab_adult": "Adult",  # a table: only its files, it has no texts
}


class Corpora:
    """The corpora that are there, each unpacked when it is first asked for."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self._known: dict[str, Corpus] = {}

    def __getitem__(self, name: str) -> Corpus:
        if name not in self._known:
            parts = [self._unpacked(name, half) for half in ("train", "test")]
            self._known[name] = Corpus(name, TITLES[name], *parts)
        return self._known[name]

    def head(self, name: str, n: int) -> Corpus:
        """A corpus with its first so many training rows only."""
        whole = self[name]
        part = Part(self.workspace / f"{name}-train-{n}.csv")
        with part.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("label", "text"))
            writer.writerows(zip(whole.train.labels[:n], whole.train.texts[:n], strict=True))
        return Corpus(f"{name}-{n}", f"{whole.title}, {n:,} rows", part, whole.test)

    def _unpacked(self, name: str, half: str) -> Part:
        source = folder() / name / f"{half}.csv.gz"
        if not source.is_file():
            raise Missing(f"{TITLES[name]}: no file {source}")
        target = self.workspace / f"{name}-{half}.csv"
        with gzip.open(source, "rb") as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
        return Part(target)
