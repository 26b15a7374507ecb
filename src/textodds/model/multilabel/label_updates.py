"""How a model of several labels learns and forgets: documents and counts are by set of labels."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data import Batch, Source
from textodds.data.label_sets import is_set, labels_in, labels_of_sets, name_of
from textodds.data.labels import Label
from textodds.errors import InputError, NotLearned, Unsupported
from textodds.judge.thresholds import Goal
from textodds.learn.forms.linear import LinearModel
from textodds.learn.multilabel.membership import Membership
from textodds.learn.multilabel.odds import LabelOdds
from textodds.learn.recipe import Recipe
from textodds.model.basis import Basis, Following
from textodds.model.multilabel.label_prediction import HeldLabels
from textodds.model.one_state import of_one_state
from textodds.model.text_updates import TextUpdates
from textodds.stats.corpus import Corpus
from textodds.stats.tally import Tally
from textodds.text import Vocabulary

if TYPE_CHECKING:
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

Floats = NDArray[np.float64]


class LabelUpdates(TextUpdates):
    """What a model of several labels rests on; what it says is a function of its recipe and its documents."""

    kind, noun, rests_on = "texts", "text", "documents"
    _item_type, keeps_ids = (str, Mapping), True
    several_labels = True

    form: LinearModel
    goal: Goal = Goal()
    odds: Following[LabelOdds] = Following()
    thresholds: Following[Floats] = Following()
    held_labels: Following[HeldLabels] = Following()

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: LinearModel,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        **how: Any,
    ) -> None:
        super().__init__(recipe, vocabulary, form, tally, info, **how)
        self.odds, self.thresholds = LabelOdds.none(len(form.classes)), np.full(len(form.classes), 0.5)
        self.held_labels = None

    def labels_in(self, classes: Iterable[str]) -> tuple[str, ...]:
        """The labels of sets."""
        return labels_of_sets(classes)

    def resolving(self, source: Source) -> Source:
        """The source, whose labels have the names that the model knows them by."""
        known, labels = frozenset(self.class_names), self.labels

        def name(given: str) -> str:
            several = labels_in(given) if is_set(given) else (given,)
            return name_of(labels.resolved(each, known) for each in several)

        source.label_name = name
        return source

    @property
    @of_one_state
    def class_documents(self) -> dict[str, float]:
        """Texts, or their total weight, with each label in training."""
        basis = self.tally if self.has_counts else self.corpus
        if basis is None:
            known = self.info.get("class_documents", {})
            return {label: float(known.get(label, 0.0)) for label in self.class_names}
        totals = Membership.of(basis.classes, self.class_names).totals(basis.class_rows)
        return dict(zip(self.class_names, totals.tolist(), strict=True))

    @property
    def n_texts(self) -> float:
        """Total weight of the documents."""
        return float(self.info.get("documents") or 0.0)

    def _update(self, sign: int, ids: Any, data: object, labels: object, weights: object, **how: Any) -> int:
        if isinstance(data, self._item_type):
            own = [labels] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
            data, labels, ids = [self.row_of(data)], [own], [ids] if isinstance(ids, str) else ids
        return super()._update(sign, ids, data, labels, weights, **how)

    def relabel(
        self, text: str | Mapping[str, str], *, add: Iterable[Label] = (), remove: Iterable[Label] = ()
    ) -> tuple[Label, ...]:
        """Give a text that was learned more labels, or take some from it; the labels it then has.

        The model is that of training on the text with its new labels. Raises `NotLearned`, and changes
        nothing, if the text was not learned or does not have a label that is to be taken from it.
        """
        given = self.row_of(text)
        with self._writing:
            before = self._set_of(given)
            more, less = ([self.class_name(each) for each in some] for some in (add, remove))
            for label in less:
                if label not in before:
                    raise NotLearned(f"the text was not learned with the label `{label}`")
            now = sorted(({*before} | {*more}) - {*less})
            if now == sorted(before):
                return self.labels.values(now)
            old, new = (self.basis_of([Batch([given], [name_of(each)])]) for each in (before, now))
            self.stand_on(self.basis - old + new)
        return self.labels.values(now)

    def _set_of(self, text: str) -> tuple[str, ...]:
        """The labels that a text was learned with."""
        corpus = self.corpus
        if corpus is None:
            raise Unsupported(
                "a model without its documents does not know the labels of a text",
                hint="forget the text with its old labels, and learn it with the new ones",
            )
        at = np.flatnonzero(corpus.hashes == _kernels.text_hashes([text])[0])
        sets = {corpus.classes[k] for k in corpus.codes[at].tolist()}
        if len(sets) != 1:
            why = "was not learned" if not sets else f"was learned with {len(sets)} different sets of labels"
            raise NotLearned(f"the text {why}", hint="check the text, or forget and learn it with its labels")
        return labels_in(sets.pop())

    def _install_counts(self, tally: Tally) -> None:
        from textodds.model.multilabel.label_fit import form_of

        before = self.class_names
        self._install(self.recipe, *form_of(tally, self.recipe))
        self._tally = tally
        if self.class_names != before:
            self._fit_thresholds_to(before)

    def _fit_thresholds_to(self, before: tuple[str, ...]) -> None:
        """Keep calibration and thresholds by label; labels that are new have what is usual."""
        known = dict(zip(before, (self.__dict__.get("_thresholds") if before else ()), strict=True))  # type: ignore[arg-type]
        odds: LabelOdds | None = self.__dict__.get("_odds")
        self.odds = (odds or LabelOdds.none(len(before))).of_labels(before, self.class_names)
        usual = float(np.median(list(known.values()))) if known else 0.5
        self.thresholds = np.array([known.get(name, usual) for name in self.class_names])
        self.held_labels = None

    def _install_basis(self, basis: Basis[Tally, Corpus]) -> dict[str, Any]:
        if basis.corpus is None or not self.recipe.learner.entry.needs_documents:
            assert basis.tally is not None
            self._install_counts(basis.tally)
            self.corpus, self._is_behind = basis.corpus, basis.corpus is not None
            if basis.corpus is None:
                self.held_labels = None
            return {}
        from textodds.model.multilabel.label_fit import fit_labels

        found = fit_labels(
            basis.corpus,
            self.recipe,
            {},
            goal=self.goal,
            start=cast("MultiLabelModel", copy.copy(self)),
            threads=self.threads,
        )
        self._install(self.recipe, found.vocabulary, found.form, found.scale)
        self.corpus, self._tally, self._is_behind = basis.corpus, None, False
        self.odds, self.thresholds, self.held_labels = found.odds, found.thresholds, found.held_labels
        return found.info

    def _stand_on(self, basis: Basis[Tally, Corpus]) -> None:
        super()._stand_on(basis)
        if not self.has_documents:
            self.info["earlier"] = True

    def _recipe_with(self, other: Self, basis: Basis[Tally, Corpus], sign: int) -> Recipe:
        mine, theirs = self.recipe, other.recipe
        if not (mine.chooses_smoothing and theirs.chooses_smoothing):
            return replace(mine, chooses_smoothing=False)
        if basis.corpus is not None and basis.tally is not None:
            from textodds.model.multilabel.label_fit import best_alpha

            return mine.with_smoothing(best_alpha(basis.corpus, basis.tally, mine, self.threads), chosen=True)
        from textodds.model.fit import between

        return mine if sign < 0 else between((self.tally, mine), (other.tally, theirs))

    def _must_be_like(self, other: Self) -> None:
        super()._must_be_like(other)
        if self.goal != other.goal:
            raise InputError(
                f"the goals of the models differ: {self.goal} and {other.goal}",
                hint="give both the same goal: `model.with_goal('f1')`",
            )

    def _followed(self) -> dict[str, Any]:
        from textodds.model.multilabel.label_fit import calibrate, held_by_counts

        found = copy.copy(self)
        found._is_behind, found.info = False, dict(self.info)
        assert found.corpus is not None
        calibrate(
            cast("MultiLabelModel", found),
            held_by_counts(found.corpus, found.tally, found.recipe, found.class_names, found.threads),
        )
        parts = {f"_{name}": found.__dict__[f"_{name}"] for name in ("odds", "thresholds", "held_labels")}
        return {**parts, "info": found.info}
