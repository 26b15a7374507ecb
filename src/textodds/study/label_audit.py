r"""Labels of texts with several that look missing or wrong, by the model of the other texts.

Each document gets its probabilities from a model of the other folds. With :math:`a_k` the mean probability
of label k among held-out texts that have it, and :math:`b_k` among those that do not, label k

.. math::
    \text{looks missing if it is not there and } p_k \ge a_k, \qquad
    \text{looks wrong if it is there and } p_k \le b_k                                      \tag{1}

so that a rare label, which is seldom probable, is held to what is usual for it (confident learning).

References
----------
Northcutt, Jiang, Chuang (2021), *Confident Learning: Estimating Uncertainty in Dataset Labels*, JAIR 70.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from textodds import _kernels
from textodds.data import Batch
from textodds.data.batch import BETWEEN_FIELDS, taken
from textodds.data.label_sets import labels_in
from textodds.errors import InputError, Unsupported
from textodds.judge.notebook import paragraph, section, table
from textodds.learn.arrays import Floats, Mask
from textodds.learn.held_out import FEWEST
from textodds.model.multilabel.label_fit import out_of_fold
from textodds.model.multilabel.multilabel_model import MultiLabelModel

MISSING, WRONG = "looks missing", "looks wrong"


@dataclass(frozen=True, slots=True)
class LabelSuspect:
    """A label that a text lacks or has, and should not, by the model of other texts.

    ``row`` counts from 1, in the order of the data, and is None where they were not given; the text is then
    the one that the model keeps: its words, prepared. ``labels`` are those that the text has.
    """

    row: int | None
    label: str
    verdict: str
    probability: float
    labels: tuple[str, ...]
    text: str


@dataclass(frozen=True, repr=False)
class LabelAudit:
    """What was found in ``n`` documents: of each kind the most suspicious first, and how many there are."""

    missing: tuple[LabelSuspect, ...]
    wrong: tuple[LabelSuspect, ...]
    counts: dict[str, int]
    n: int

    @property
    def suspects(self) -> tuple[LabelSuspect, ...]:
        """Labels that look missing, then those that look wrong."""
        return self.missing + self.wrong

    def sentence(self) -> str:
        """How many there are, in words."""
        return (
            f"{self.n:,} texts, each by a model of others: "
            f"labels that look missing {self.counts[MISSING]:,}, that look wrong {self.counts[WRONG]:,}"
        )

    def __repr__(self) -> str:
        lines = [f"<LabelAudit: {self.sentence()}>"]
        lines += [
            f"  {each.label} {each.verdict}, p {each.probability:.2g}: {each.text[:60]!r}"
            for each in (*self.missing[:5], *self.wrong[:5])
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [each.label, each.verdict, f"{each.probability:.2g}", ", ".join(each.labels), each.text]
            for each in self.suspects
        ]
        head = ("label", "", "p(label)", "labels of the text", "text")
        return section("LabelAudit", paragraph(self.sentence()), table(head, rows, left=5))


def audit_labels(
    model: MultiLabelModel, data: Iterable[Batch] | None = None, *, most: int = 100
) -> LabelAudit:
    """The labels of a model's documents that look missing or wrong, at most ``most`` of each kind.

    Parameters
    ----------
    model : MultiLabelModel
        A model that keeps its documents, at least 100.
    data : source, optional
        The texts that it was trained on, labelled (``model.read(path, labelled=True)``): suspects then have
        their row and the text as it is there.
    most : int, default 100
        How many of each kind are listed.

    Examples
    --------
    >>> import textodds
    >>> kinds = "refund my card", "parcel is late", "refund the late parcel"
    >>> texts = [f"{text}, number {i}" for i in range(50) for text in kinds]
    >>> labels = [["billing"], ["delivery"], ["billing", "delivery"]] * 49 + [["billing"], ["delivery"], []]
    >>> audit_labels(textodds.train(texts, labels, learner="multinomial")).counts
    {'looks missing': 2, 'looks wrong': 0}
    """
    model = model.now()
    if not model.has_documents:
        raise Unsupported(
            "labels are audited by a model's documents, and this one kept none",
            hint="train it again without `--no-documents` (documents=True)",
        )
    corpus, held = model.corpus, model.held_labels
    assert corpus is not None
    if held is None:
        raise InputError(
            f"labels are audited by held-out texts, of which there must be {FEWEST}, got {len(corpus):,}",
            hint="label more texts",
        )
    usual = _usual(held.p.astype(np.float64), held.truth)
    best: dict[str, list[tuple[float, int, int, float]]] = {MISSING: [], WRONG: []}
    counts, n = {MISSING: 0, WRONG: 0}, 0
    for rows, p, truth in out_of_fold(model):
        n += len(rows)
        for verdict, odd in zip((MISSING, WRONG), _odd(p, truth, *usual), strict=True):
            counts[verdict] += int(odd.sum())
            at, k = np.nonzero(odd)
            share = p[at, k]
            surprise = -np.log(np.maximum(share if verdict == WRONG else 1.0 - share, 1e-300))
            found = zip(surprise.tolist(), rows[at].tolist(), k.tolist(), share.tolist(), strict=True)
            best[verdict] = heapq.nsmallest(most, [*best[verdict], *((-s, i, k, q) for s, i, k, q in found)])
    suspects = {verdict: tuple(_suspects(model, verdict, some)) for verdict, some in best.items()}
    if data is not None:
        places = _places(data, model, {i for some in best.values() for _, i, _, _ in some})
        suspects = {
            verdict: tuple(
                replace(each, row=places[i][0], text=places[i][1]) if i in places else each
                for each, (_, i, _, _) in zip(some, best[verdict], strict=True)
            )
            for verdict, some in suspects.items()
        }
    return LabelAudit(suspects[MISSING], suspects[WRONG], counts, n)


def _usual(p: Floats, truth: Mask) -> tuple[Floats, Floats]:
    """The mean probability of each label among texts that have it and among those that do not, (K,)."""
    there = truth.sum(axis=0)
    with_it = np.where(truth, p, 0.0).sum(axis=0) / np.maximum(there, 1)
    without = np.where(truth, 0.0, p).sum(axis=0) / np.maximum(len(p) - there, 1)
    return np.where(there > 0, with_it, 1.0), without


def _odd(p: Floats, truth: Mask, with_it: Floats, without: Floats) -> tuple[Mask, Mask]:
    """(1): whether each label looks missing, and whether it looks wrong, (N, K)."""
    missing = ~truth & (p >= np.maximum(with_it, 0.5))
    wrong = truth & (p <= np.minimum(without, 0.5))
    return missing, wrong


def _suspects(
    model: MultiLabelModel, verdict: str, found: Iterable[tuple[float, int, int, float]]
) -> Iterator[LabelSuspect]:
    corpus = model.corpus
    assert corpus is not None
    for _, i, k, share in found:
        (text,) = corpus.texts(np.array([i]))
        labels = labels_in(corpus.classes[int(corpus.codes[i])])
        shown = " ".join(text.replace(BETWEEN_FIELDS, " | ").split())
        yield LabelSuspect(None, model.class_names[k], verdict, share, labels, shown)


def _places(data: Iterable[Batch], model: MultiLabelModel, wanted: set[int]) -> dict[int, tuple[int, str]]:
    """The row, from 1, and the text in the data of some documents of a model."""
    corpus = model.corpus
    assert corpus is not None
    keys = {(int(corpus.hashes[i]), corpus.classes[int(corpus.codes[i])]): i for i in wanted}
    found: dict[int, tuple[int, str]] = {}
    first = 0
    for batch in data:
        names = batch.label_list()
        for at, pair in enumerate(zip(_kernels.text_hashes(batch.texts).tolist(), names, strict=True)):
            i = keys.get(pair)
            if i is not None and i not in found:
                (text,) = taken(batch.texts, [at]) or ("",)
                found[i] = first + at + 1, text
        first += len(batch)
    return found
