"""What all cases of one run share: the data, the folder to work in, models made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import peers
import textodds
from corpora import Corpora, Corpus
from textodds import TextSettings

ONE = "textodds, 1 thread"
TWO = "textodds, 2 threads"
SAME = "textodds, 1 thread, scikit-learn's words"
CALIBRATED = "textodds, 1 thread, calibrated"
SKLEARN = "scikit-learn"


@dataclass
class Bench:
    """One run of the benchmark."""

    workspace: Path  # temporary, outside the repository
    rounds: int
    quick: bool
    corpora: Corpora = field(init=False)
    _made: dict[tuple[str, str], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.corpora = Corpora(self.workspace)

    def corpora_for_all(self) -> list[str]:
        """The data sets of the cases that are run on all."""
        promised = ["imdb", "20newsgroups"]
        return promised + (["sms_spam"] if self.quick else ["ag_news_subset", "langid_lingua", "sms_spam"])

    def model(self, corpus: Corpus, kind: str = ONE) -> Any:
        """A model trained once: a textodds model, or scikit-learn's pipeline."""
        if (corpus.name, kind) not in self._made:
            self._made[corpus.name, kind] = trained(kind, corpus.train.rows)
        return self._made[corpus.name, kind]

    def keep(self, corpus: Corpus, kind: str, model: Any) -> None:
        """Keep a model that was trained anyway."""
        self._made[corpus.name, kind] = model

    def fasttext(self, corpus: Corpus) -> Any:
        """A fastText model, trained once."""
        peers.module("fasttext")
        if (corpus.name, "fastText") not in self._made:
            path = peers.write_fasttext(corpus.train, self.workspace / f"{corpus.name}.fasttext")
            self.keep(corpus, "fastText", peers.fasttext_train(path))
        return self._made[corpus.name, "fastText"]


def trained(kind: str, rows: tuple[list[str], list[str]]) -> Any:
    """A model of one of the kinds that are compared, from texts and labels in memory."""
    texts, labels = rows
    if kind == SKLEARN:
        return peers.sklearn_fit(rows)
    settings = TextSettings.sklearn() if kind == SAME else TextSettings()
    threads = 2 if kind == TWO else 1
    counted = {"learner": "multinomial:alpha=1", "threads": threads, "settings": settings}
    return textodds.train(texts, labels, calibrate=kind == CALIBRATED, **counted)


def accuracy(predicted: Any, labels: list[str]) -> float:
    """The share of right answers."""
    return float(np.mean(np.asarray(predicted) == np.asarray(labels)))
