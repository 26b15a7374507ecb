"""Results that are dear, in a file: measured once, and again where what they depend on is another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from corpora import Corpus, Missing

Place = Callable[[Mapping[str, Any]], tuple[int, ...]]


class Measured(Protocol):
    """Whose results are kept, and what they depend on beside the data."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Those whose versions its results depend on."""

    def space(self) -> Any:
        """What it chooses from, as plain data."""


@dataclass
class Store:
    """A file of results, each under a key, with the means by which it came about."""

    path: Path
    place: Place  # of a result in the file

    def results(self) -> list[dict[str, Any]]:
        """Those that are there now."""
        if not self.path.is_file():
            return []
        found: list[dict[str, Any]] = json.loads(self.path.read_text(encoding="utf-8"))
        return found

    def once(
        self, key: dict[str, Any], means: dict[str, Any], measured: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """What is kept under a key if it came about by the same means, else measured now and kept."""
        for result in self.results():
            if all(result[name] == value for name, value in (key | means).items()):
                return result
        found = key | measured() | means
        others = [one for one in self.results() if any(one[name] != value for name, value in key.items())]
        lines = [json.dumps(one, ensure_ascii=False) for one in sorted([*others, found], key=self.place)]
        fresh = self.path.with_suffix(".new")
        fresh.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
        fresh.replace(self.path)  # at once: an interrupted run leaves a whole file
        return found


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of the packages of a peer, unless one is missing."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except ImportError as error:
            raise Missing(f"{package} is not installed") from error
    return found


def digest(corpus: Corpus) -> str:
    """The first digits of the digest of its files."""
    found = hashlib.sha256()
    for part in (corpus.train, corpus.test):
        with part.path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:12]
