"""Labels that look wrong: every document under the model of all others, the least believed first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textodds.data import Observer, Source, read
from textodds.data.batch import taken
from textodds.errors import InputError, Unsupported
from textodds.judge.notebook import paragraph, section, table
from textodds.model.leave_one_out import LeftOutAnswers, left_out_answers, supports
from textodds.model.text_model import TextModel
from textodds.stats.tally import checked_threads
from textodds.study.duplicates import Repeat, Repeats, repeats
from textodds.training.labels import must_have_one_label
from textodds.training.plan import Running, plan_of, reading_and_words
from textodds.training.train import train_on

USUAL = "multinomial"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A document whose label is not the one that all others expect of it.

    ``row`` counts from 1, in the order of the data, without rows that were skipped as bad; ``p_label`` is the
    probability of the label it has, and ``suggested`` the label that is the most probable without it.
    """

    row: int
    label: str
    suggested: str
    p_label: float
    p_suggested: float
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The suspects, most suspicious first, and what all documents said when they were left out.

    ``repeats`` are the texts that come more than once, those under different labels first.
    """

    suspects: tuple[Suspect, ...]
    left_out: LeftOutAnswers
    model: TextModel
    repeats: Repeats

    @property
    def disagreements(self) -> int:
        """Documents whose label is not the most probable."""
        return int((self.left_out.answer != self.left_out.truth).sum())

    def _sentence(self) -> str:
        return (
            f"{len(self.left_out.truth):,} rows, each left out: {self.left_out.accuracy:.1%} have the label "
            f"that the others expect, {self.disagreements:,} have not"
        )

    def __repr__(self) -> str:
        lines = [f"<Audit: {self._sentence()}>"]
        lines += [
            f"  row {each.row}: {each.label}, expected {each.suggested}, p(label) {each.p_label:.2g}: "
            f"{each.text[:60]!r}"
            for each in self.suspects[:10]
        ]
        repeated = self.repeats.sentence()
        return "\n".join([*lines, *([f"  {repeated}"] if repeated else [])])

    def _repr_html_(self) -> str:
        suspects = [
            [each.row, each.label, each.suggested, f"{each.p_label:.2g}", each.text] for each in self.suspects
        ]
        head = ("row", "label", "expected", "p(label)", "text")
        parts = [paragraph(self._sentence()), table(head, suspects, left=5)]
        if self.repeats.groups:
            groups = [repeat_cells(each) for each in self.repeats.groups]
            parts += [paragraph(self.repeats.sentence())]
            parts += [table(("rows", "labels", "alike", "text"), groups, left=4)]
        return section("Audit", *parts)


def repeat_cells(repeat: Repeat, most: int = 6) -> list[str]:
    """Rows, labels, how alike and the text of a repeat, as a table shows them."""
    numbers = ", ".join(map(str, repeat.rows[:most])) + (", …" if len(repeat.rows) > most else "")
    labels = ", ".join(dict.fromkeys(repeat.labels))
    return [numbers, labels, "word for word" if repeat.exact else "nearly", repeat.text]


def audit(
    source: object,
    labels: object = None,
    weights: object = None,
    *,
    learner: object = None,
    most: int = 100,
    threads: int | None = None,
    textbook: bool = False,
    observer: Observer | None = None,
    **options: object,
) -> Audit:
    """The documents of a source whose labels look wrong, at most ``most``: another label is more probable.

    The source is read twice: to learn from it, and to leave out each of its documents. Nothing is held out
    and nothing fitted again: the model without a document is exact.

    Parameters
    ----------
    source, labels, weights, **options
        The data, how it is read, and how texts are cut, as for `textodds.train`.
    learner : learner or str, default "multinomial"
        A naive Bayes of counts; its smoothing is chosen, unless it is given.
    textbook : bool, default False
        Whether smoothing is 1 and nothing is calibrated, as in `textodds.train`.
    observer : Observer, optional
        Receives the progress.
    """
    reading, words = reading_and_words(options)
    how: Running = {"threads": checked_threads(threads), "textbook": textbook}
    plan = plan_of(USUAL if learner is None else learner, None, words, **how)
    if plan.pins is not None or plan.is_of_tables:
        raise InputError("`audit` takes one learner of texts", hint="name it: `--learner multinomial`")
    data, observer = read(source, labels, weights, **vars(reading)), observer or Observer()
    if not supports(plan.recipe()):
        raise Unsupported(
            "`audit` uses leave-one-out, which needs a learner of counts",
            hint="use the learner multinomial, bernoulli or complement",
        )
    if not data.replayable:
        raise InputError(
            f"{data.description} can be read only once, and is read several times here",
            hint="put it in a file first",
        )
    must_have_one_label(data, "audit", "put them in a file; or audit a model of them: `audit_labels(model)`")
    model = train_on(data, plan, observer)
    found = left_out_answers(model, observer.watched(data, data.ahead(), "looking"))
    chosen = found.suspects()[:most]
    texts = dict(_texts_at(data, {int(found.rows[i]) for i in chosen}))
    p_label, p_suggested = np.exp(found.log_p_truth), np.exp(found.log_p_answer)
    suspects = tuple(
        Suspect(
            int(found.rows[i]) + 1,
            found.classes[found.truth[i]],
            found.classes[found.answer[i]],
            float(p_label[i]),
            float(p_suggested[i]),
            texts[int(found.rows[i])],
        )
        for i in chosen.tolist()
    )
    return Audit(suspects, found, model, repeats(observer.watched(data, data.ahead(), "looking")))


def _texts_at(data: Source, rows: set[int]) -> Iterator[tuple[int, str]]:
    """The texts of some rows, by another pass that ends with the last of them."""
    first, left = 0, len(rows)
    for batch in data:
        mine = [i - first for i in rows if first <= i < first + len(batch)]
        for i, text in zip(mine, taken(batch.texts, mine) or (), strict=True):
            yield first + i, text
        first, left = first + len(batch), left - len(mine)
        if not left:
            return
