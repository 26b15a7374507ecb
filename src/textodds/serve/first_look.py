"""What the page shows before anybody types: texts to try, given by the operator or chosen from training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from textodds.data.batch import taken
from textodds.data.label_sets import labels_in
from textodds.errors import NoData
from textodds.learn.forms.linear import log_softmax
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.tables.table_model import TableModel
from textodds.model.text_model import TextModel
from textodds.serve.blank import is_blank
from textodds.serve.protocol.look_messages import ShownExample
from textodds.serve.rows import Model, reads_rows
from textodds.serve.settings import Settings
from textodds.serve.updates.fold import Base
from textodds.stats.corpus import Corpus

MOST = 5
CLASSES = 4  # that a typical text is shown of
SAMPLE = 1000  # texts of training that examples are chosen from
LONGEST = 300  # characters of a text of training that is shown
SHORTEST = 3  # words


class Examples:
    """The examples of a service: those of a file, or chosen from the model when they are asked for."""

    def __init__(self, settings: Settings, model: Model) -> None:
        self._given = None if settings.examples is None else given_examples(model, settings.examples)
        self._is_open = not settings.needs_token
        self._chosen: tuple[str, list[ShownExample]] = "", []

    def of(self, base: Base) -> list[ShownExample]:
        """Examples for a model; where others may read, texts of training are not theirs to see."""
        if self._given is not None:
            return self._given
        if not self._is_open or is_blank(base.model):
            return []
        if self._chosen[0] != base.digest:
            self._chosen = base.digest, chosen_examples(base.model)
        return self._chosen[1]


def given_examples(model: Model, file: Path) -> list[ShownExample]:
    """The first texts or rows of a file, as an operator has put them there."""
    from textodds.study.report.evaluation_data import rows_as_given

    shown: list[ShownExample] = []
    for batch in model.read(file, labelled=False):
        some = list(range(min(len(batch), MOST - len(shown))))
        if isinstance(model, MultiLabelModel):
            found: list[Any] = list(taken(batch.texts, some) or ())
        else:
            found = rows_as_given(model, batch, some)
        for each in found:
            if reads_rows(model):
                row = each if isinstance(model, TableModel) else _fields(model, each)
                shown.append(ShownExample(row=row, about="given"))
            else:
                shown.append(ShownExample(text=each, about="given"))
        if len(shown) == MOST:
            break
    if not shown:
        raise NoData(f"`{file}` has no examples", hint="give a file with a text in each row")
    return shown


def _fields(model: TextModel | MultiLabelModel, text: str) -> dict[str, Any]:
    """The columns of a text of several."""
    return dict(zip(model.recipe.settings.fields, text.split("\x1f"), strict=False))


def chosen_examples(model: Model) -> list[ShownExample]:
    """Texts of training that show what the model does; none of a model that reads rows, or keeps no texts.

    For each of the largest classes the text whose probability is the median of those answered rightly; and
    the text that the model is least sure of.
    """
    if isinstance(model, TableModel) or reads_rows(model) or not isinstance(model.corpus, Corpus):
        return []
    sample = list(_readable(model.corpus))
    if not sample:
        return []
    texts = [text for text, _ in sample]
    labels = [label for _, label in sample]
    if isinstance(model, MultiLabelModel):
        first = {label: text for text, label in reversed(sample) if labels_in(label)}
        return [ShownExample(text=text, about="typical") for text in list(first.values())[:MOST]]
    scores = model.score(texts, calibrate=True)[0]
    shares = np.exp(log_softmax(scores))
    sure, answers = shares.max(axis=1), shares.argmax(axis=1)
    truth = np.array([model.class_names.index(label) for label in labels])
    shown: list[ShownExample] = []
    for k in np.argsort(-np.bincount(truth, minlength=len(model.class_names)), kind="stable").tolist():
        right = np.flatnonzero((answers == k) & (truth == k))
        if len(right) and len(shown) < CLASSES:
            order = right[np.argsort(sure[right], kind="stable")]
            shown.append(ShownExample(text=texts[int(order[len(order) // 2])], about="typical"))
    doubtful = texts[int(sure.argmin())]
    if doubtful not in [each.text for each in shown]:
        shown.append(ShownExample(text=doubtful, about="doubtful"))
    return shown


def _readable(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Texts and labels of a sample: long ones cut after a word, short ones left out if others are there."""
    sample = [(_cut(example.text), example.label) for example in corpus.sample(SAMPLE)]
    longer = [each for each in sample if len(each[0].split()) >= SHORTEST]
    yield from longer or [each for each in sample if each[0]]


def _cut(text: str) -> str:
    r"""A text on one line, without what is beyond the longest that is shown.

    >>> _cut("free\nphone"), len(_cut("word " * 100))
    ('free phone', 299)
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST + 1].rsplit(" ", 1)[0][:LONGEST]
