"""What models of texts and of tables share: learning and forgetting, answers, measures, a file."""

from __future__ import annotations

import copy
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Source
from textodds.data.frames import split_of
from textodds.data.label_sets import is_set
from textodds.data.labels import Label, LabelType, spellings, told
from textodds.data.values import Unusable, label_of
from textodds.errors import InputError, SimilarLabels, Unsupported, suggestion
from textodds.learn.forms.linear import log_softmax
from textodds.learn.registry import Prior
from textodds.model.basis import Basis, D, Following, ModelBasis, T
from textodds.model.id_filter import IdFilter
from textodds.model.one_state import OneState, of_one_state
from textodds.model.prediction import Prediction
from textodds.stats.tally import Additive

if TYPE_CHECKING:
    from textodds.judge.evaluation import Evaluation
    from textodds.judge.novelty import Typical
    from textodds.learn.calibration import Calibration
    from textodds.learn.held_out import HeldOut
    from textodds.learn.recipe import Recipe
    from textodds.model.file import AnyModel
    from textodds.model.tables.table_model import TableRecipe
    from textodds.stats.document_ids import DocumentIds

Floats = NDArray[np.float64]
OTHERS = "others"  # the rival that is all other classes together


Ids: TypeAlias = str | Sequence[str] | None


class UpdatableModel(OneState, ModelBasis[T, D], Additive, ABC, Generic[T, D]):
    """A model that learns more, forgets, and is merged by what it rests on: documents, or counts of them."""

    kind: ClassVar[str]  # what it is a model of: texts, or tables
    noun: ClassVar[str]  # what one thing that it learns is called
    without_evidence = "the prior"  # what answers a text without a known word, or a row without a value
    rests_on: ClassVar[str]  # what many of them are called where they are counted
    _item_type: ClassVar[type | tuple[type, ...]]  # of one such thing
    keeps_ids: ClassVar[bool]

    class_names: tuple[str, ...]  # the labels as text, sorted
    labels = LabelType()  # what they were in training
    recipe: Recipe | TableRecipe
    info: dict[str, Any]
    file_format: int | None = None  # of the file that it was read from
    has_checksums = False  # whether that had them
    typical: Following[Typical] = Following()
    calibration: Following[Calibration] = Following()
    held_out: Following[HeldOut] = Following()
    document_ids: DocumentIds | None = None

    @property
    def classes_(self) -> tuple[Label, ...]:
        """The labels, of the type they had in training, in the order of the columns of probabilities."""
        return self.labels.values(self.class_names)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels, in the order of the columns of probabilities; `classes_` is the same."""
        return self.classes_

    def class_number(self, label: object) -> int:
        """The number of a class."""
        name = self.class_name(label)
        if name not in self.class_names:
            raise InputError(
                f"there is no class `{name}`{suggestion(name, self.class_names)}",
                hint=f"the classes are {', '.join(self.class_names[:20])}",
            )
        return self.class_names.index(name)

    def class_name(self, label: object) -> str:
        """What the model calls a label of any type, be there such a class or not."""
        try:
            return self.labels.resolved(label_of(label), self.class_names)
        except Unusable as error:
            raise InputError(str(error), hint="a label is text, a number, or true or false") from error

    def resolving(self, source: Source) -> Source:
        """The source, whose labels have the names that the model knows them by."""
        known, labels = frozenset(self.class_names), self.labels

        def name(given: str) -> str:
            if is_set(given):
                raise InputError(
                    "the data have several labels a row, and the model gives one",
                    hint="train a model of several labels on such data: `textodds train`",
                )
            return labels.resolved(given, known)

        source.label_name, source.takes_label_sets = name, True
        return source

    @property
    @abstractmethod
    def class_documents(self) -> dict[str, float]:
        """Texts or rows, or their total weight, of each class in training."""

    def basis_of(self, batches: Iterable[Batch]) -> Basis[T, D]:
        """What the model would rest on had it learned just these batches."""
        self.must_be_updatable()
        return Basis(self.count(batches), None)

    @abstractmethod
    def count(self, batches: Iterable[Batch]) -> T:
        """The counts of a stream of batches, by the choices of the model."""

    @abstractmethod
    def read(self, *data: object, labelled: bool = False, **reading: Any) -> Iterable[Batch]:
        """A source of what the model reads; takes what `train` takes as data."""

    @abstractmethod
    def _install_counts(self, tally: T) -> None:
        """Become the model of other counts; on an error nothing is changed."""

    def _install_basis(self, basis: Basis[T, D]) -> dict[str, Any]:
        """Become the model of another basis; what is to be known of it. On an error nothing is changed."""
        assert basis.tally is not None
        self._install_counts(basis.tally)
        return {}

    def _of_counts(self, tally: T) -> Self:
        """The model that the same recipe makes of other counts."""
        model = copy.copy(self)
        model._corpus, model._is_behind = None, False
        model.info, model.typical, model.calibration = {}, None, None
        model.held_out = model.document_ids = model.file_format = None
        model._install_counts(tally)
        return model

    def learn(
        self,
        data: object,
        labels: object = None,
        weights: object = None,
        *,
        ids: Ids = None,
        new_class: bool = True,
        **reading: object,
    ) -> int:
        """Learn more documents, as if trained on them too; returns how many were new.

        With ``ids``, documents whose id was learned before are left out; `InputError`, and nothing is
        changed, if one was learned under another label. Rows of tables have no ids. Labels that the model
        does not have are new classes; without ``new_class`` they are an `InputError`, and nothing is changed.
        """
        return self._update(1, ids, data, labels, weights, new_class=new_class, **reading)

    def check_classes(self, names: Iterable[str], *, new: bool) -> None:
        """Refuse labels that the model does not have, unless they may be ``new``; say which look alike."""
        fresh = sorted(set(self.labels_in(names)) - set(self.class_names))
        if fresh and not new:
            raise InputError(
                f"the model has no class `{fresh[0]}`{suggestion(fresh[0], self.class_names)}",
                hint="correct the label; or, if it is a new class, say so: `--new-class` (new_class=True)",
            )
        every = spellings({**dict.fromkeys(fresh, 0.0), **self.class_documents}) if fresh else {}
        alike = {name: group for name, group in every.items() if not group.keys().isdisjoint(fresh)}
        if alike and self.labels.kind == "text":
            warnings.warn(
                f"a new class looks like one that the model has: {told(alike)}", SimilarLabels, stacklevel=4
            )

    def forget(
        self, data: object, labels: object = None, weights: object = None, *, ids: Ids = None, **reading: Any
    ) -> int:
        """Forget documents, as if they had never been learned; returns how many were forgotten.

        Raises `NotLearned`, and changes nothing, if they were not learned before; a model without its
        documents can only tell by its counts, and raises `NegativeCount`. With ``ids``, documents whose id
        is not there are left out.
        """
        return self._update(-1, ids, data, labels, weights, **reading)

    def _update(
        self,
        sign: int,
        ids: Ids,
        data: object,
        labels: object,
        weights: object,
        *,
        new_class: bool = True,
        **reading: Any,
    ) -> int:
        is_one_label = isinstance(labels, str) or not isinstance(labels, Iterable | None)
        if isinstance(data, self._item_type) and is_one_label:
            data, labels, ids = [self.row_of(data)], [labels], [ids] if isinstance(ids, str) else ids
        elif isinstance(labels, str) and isinstance(data, Sized) and not isinstance(data, str):
            labels = [labels] * len(data)
        batches = self.read(data, labels, weights, labelled=True, **reading)
        if ids is None:  # counting keeps nobody waiting
            passing = IdFilter(None, (), sign)
            basis = self.basis_of(passing.passing(batches))
            if sign > 0:
                self.check_classes(basis.classes, new=new_class)
            self.change(basis, sign)
            return passing.rows
        with self.replaced() as model:
            passing = IdFilter(model.ledger_for(sign), ids, sign)
            basis = model.basis_of(passing.passing(batches))
            document_ids = passing.finish()
            if passing.rows:
                if sign > 0:
                    model.check_classes(basis.classes, new=new_class)
                model.change(basis, sign)
            model.document_ids = document_ids
        return passing.rows

    def row_of(self, item: Any) -> object:
        """One thing to learn or to answer, as `read` takes several in a list."""
        return item

    def ledger_for(self, sign: int) -> DocumentIds:
        """The ledger to learn (``sign`` 1) or to forget (-1) by."""
        from textodds.stats.document_ids import DocumentIds

        if not self.keeps_ids:
            raise Unsupported("ids are kept of texts, not of rows of tables", hint="leave them out")
        if self.document_ids is None and sign < 0:
            raise Unsupported(
                "the model has learned no text by an id, and cannot forget by one",
                hint="forget the texts without ids; or learn with ids from the start",
            )
        return self.document_ids or DocumentIds.none()

    def change(self, basis: Basis[T, D], sign: int) -> None:
        """Add to what it rests on (``sign`` 1) or take away (-1); on an error nothing is changed."""
        with self._writing:
            if sign > 0:
                names = self.labels_in(basis.classes)
                self.labels.must_fit(name for name in names if name not in self.class_names)
            self.stand_on(self.basis + basis if sign > 0 else self.basis - basis)

    def stand_on(self, basis: Basis[T, D]) -> None:
        """Rest on something else; on an error nothing is changed."""
        with self.replaced() as model:
            model._stand_on(basis)

    def _stand_on(self, basis: Basis[T, D]) -> None:
        if not basis.classes:
            one = self.rests_on.removesuffix("s")
            raise InputError(f"that would forget every {one}", hint="delete the model instead")
        before = self.class_names
        known = self.info.items()  # but what was said of another model
        kept = {name: part for name, part in known if name not in ("quality", "fingerprint", "left_out")}
        self.info = kept | self._install_basis(basis) | {"documents": basis.n_documents}
        if self.has_documents:
            return
        if self.calibration is not None:  # it stays that of the model before, and promises nothing
            self.calibration = self.calibration.of_classes(before, self.class_names)
            self.info["earlier"] = True
        self.held_out = None

    @abstractmethod
    def _must_be_like(self, other: Self) -> None:
        """Refuse to merge with a model that was made differently."""

    def _recipe_with(self, other: Self, basis: Basis[T, D], sign: int) -> Recipe | TableRecipe:
        """The recipe of what two models make together, which rests on a basis."""
        return self.recipe

    @of_one_state
    def _combine(self, other: Self, sign: int) -> Self:
        other = other.now()
        self._must_be_like(other)
        mine, theirs = self.basis, other.basis
        names = self.labels.spelled_with(mine.classes, other.labels, theirs.classes)
        if names != (mine.classes, theirs.classes):
            mine, theirs = mine.with_classes(names[0]), theirs.with_classes(names[1])
        basis = mine + theirs if sign > 0 else mine - theirs
        if not basis.classes:
            raise InputError("the model would be empty")
        model = copy.copy(self)
        if sign > 0:
            model.labels = self.labels.together_with(other.labels, self.labels_in(basis.classes))
        model.file_format = model.document_ids = None
        model.recipe = self._recipe_with(other, basis, sign)
        model.info = model._install_basis(basis) | {"documents": basis.n_documents}
        if not model.has_documents:
            model.typical = model.held_out = None
            model.calibration = self._calibration_between(other, names, model.class_names, sign)
            model.info |= {"earlier": True} if model.calibration is not None else {}
        if self.document_ids is not None or other.document_ids is not None:
            from textodds.stats.document_ids import DocumentIds

            first, second = (each.document_ids or DocumentIds.none() for each in (self, other))
            model.document_ids = first + second if sign > 0 else first - second
        return model

    def _calibration_between(
        self, other: Self, names: tuple[tuple[str, ...], ...], classes: tuple[str, ...], sign: int
    ) -> Calibration | None:
        """A calibration for two models together whose documents are not there to find one."""
        if self.calibration is None or other.calibration is None:
            return None
        shares = (self.tally.n_documents, other.tally.n_documents if sign > 0 else 0.0)
        pairs = zip((self.calibration, other.calibration), names, strict=True)
        parts = [calibration.of_classes(own, classes) for calibration, own in pairs]
        return type(self.calibration).between(parts, shares)


class BaseModel(UpdatableModel[T, D], Generic[T, D]):
    """A trained classifier: what `textodds.TextModel` and `textodds.TableModel` have in common."""

    extent: tuple[int, str]  # how many features the model has, and what one is called

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the bytes of its file, which are checked when they are read; joblib does the same."""
        from textodds.model.file import dumps, loads

        model = cast("AnyModel", self.now())
        return loads, (dumps(model), getattr(model, "threads", None))

    def __repr__(self) -> str:
        number, feature = self.extent
        return f"<{type(self).__name__}: {len(self.classes_)} classes, {number:,} {feature}s>"

    def _repr_html_(self) -> str:
        from textodds.model.notebook import model_html

        return model_html(self.now())

    @property
    @of_one_state
    def class_documents(self) -> dict[str, float]:
        """Texts or rows, or their total weight, of each class in training."""
        if not self.has_counts and self.has_documents:
            corpus = self.corpus
            assert corpus is not None
            return dict(zip(corpus.classes, corpus.class_rows.tolist(), strict=True))
        if not self.has_counts and isinstance(known := self.info.get("class_documents"), dict):
            return {label: float(known.get(label, 0.0)) for label in self.class_names}
        return dict(zip(self.class_names, self.tally.class_rows.tolist(), strict=True))

    @abstractmethod
    def answer(self, item: Any) -> Prediction[str]:
        """The prediction for one text or row, with labels as text, whatever they were in training."""

    @of_one_state
    def __call__(self, item: Any) -> Prediction[Label]:
        """The prediction for one text, or for a row: a dict of its columns, those left out being missing."""
        answer = self.answer(item)
        is_text = self.labels.kind == "text"
        return cast("Prediction[Label]", answer) if is_text else answer.of_type(self.labels)

    @abstractmethod
    def score_batch(self, batch: Batch, *, calibrate: bool = True) -> tuple[Floats, NDArray[np.uint32]]:
        """Scores (N, K), whose softmax is p(class | x), and known and all terms or columns (N, 2)."""

    def _batches(self, data: object) -> Iterable[Batch]:
        """Batches of texts or rows without labels."""
        return self.read(data)

    @abstractmethod
    def _install_prior(self, prior: Prior) -> None:
        """Become the model under another prior."""

    @of_one_state
    def _scores(self, data: object, *, calibrate: bool) -> tuple[Floats, NDArray[np.uint32]]:
        parts = [self.score_batch(batch, calibrate=calibrate) for batch in self._batches(data)]
        if not parts:
            return np.zeros((0, len(self.classes_))), np.zeros((0, 2), np.uint32)
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    @of_one_state
    def predict(self, data: object) -> NDArray[np.generic]:
        """The most probable label of each text or row, (N,), of the type that labels had in training."""
        labels = self.labels.array(self.class_names)
        return np.asarray(labels[self._scores(data, calibrate=True)[0].argmax(axis=1)])

    @of_one_state
    def predict_log_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``log p(class | x)``, (N, K); without ``calibrate`` the raw posterior."""
        return log_softmax(self._scores(data, calibrate=calibrate)[0])

    def predict_proba(self, data: object, *, calibrate: bool = True) -> Floats:
        """``p(class | x)``, (N, K), rows summing to one; without ``calibrate`` the raw posterior."""
        return np.exp(self.predict_log_proba(data, calibrate=calibrate))

    @of_one_state
    def predict_frame(
        self,
        frame: object,
        *,
        proba: bool = False,
        top: int | None = None,
        threshold: float | None = None,
        **reading: object,
    ) -> Any:
        """A frame of the same kind (pandas, polars, Arrow): its columns, followed by the answers.

        These are ``label`` and ``probability``; with ``top=3`` also ``label_1``, ``probability_1``, … of the
        three most probable classes; with ``proba`` the probability ``p(CLASS)`` of every class, in the
        order of `classes`. Below the ``threshold`` there is no label (None). An answer whose name the
        frame has already is called ``predicted_label``, and so on. A row that cannot be read is an error,
        or with ``bad_rows="skip"`` has no answer.
        """
        from textodds.model.output.answers import AnswerColumns, answered_frame

        wanted = AnswerColumns(self.classes_, proba=proba, top=top, threshold=threshold)
        return answered_frame(self, frame, wanted, **reading)

    def predict_tree(
        self, data: object, *, threshold: float = 0.5, separator: str = "/"
    ) -> list[tuple[str, float]]:
        """Of labels that are paths in a tree, the deepest node that is sure enough, with its probability.

        A model that is sure of ``sport/football`` and not of ``sport/football/cup`` says the former; one that
        is sure of nothing says ``""``. The probability of a node is that of all labels at or below it.
        """
        from textodds.judge.label_tree import LabelTree

        return LabelTree.of(self.class_names, separator).answers(self.predict_proba(data), threshold)

    def top(self, data: object, k: int = 3) -> list[list[tuple[Label, float]]]:
        """The ``k`` most probable labels of each text or row, with their probabilities, best first."""
        from textodds.model.output.answers import top_classes

        return top_classes(self.classes_, self.predict_proba(data), k)

    def evaluate(self, source: object, labels: object = None, **reading: object) -> Evaluation:
        """Measured quality on labelled data; takes what `train` takes as data, of splits the one `test`."""
        source, _ = split_of(source, "test")
        return self.evaluate_batches(self.read(source, labels, labelled=True, **reading))

    @of_one_state
    def evaluate_batches(self, batches: Iterable[Batch]) -> Evaluation:
        """Measured quality on a stream of batches."""
        from textodds.judge.evaluation import evaluate, scored_batches

        return evaluate(scored_batches(self, batches), self.class_names)

    def _sides(self, scores: Floats, label: Label | None, rival: Label | None) -> tuple[int, int | None]:
        """The class to explain and its rival, of scores (K,): by default the answer and the runner-up.

        None stands for all other classes together.
        """
        if len(self.classes_) < 2:
            raise Unsupported("a model with one class has no odds to explain")
        order = np.argsort(-scores, kind="stable").tolist()
        chosen: int = order[0] if label is None else self.class_number(label)
        if rival is None:
            return chosen, next(k for k in order if k != chosen)
        if rival == OTHERS and OTHERS not in self.class_names:
            return chosen, None
        if chosen == self.class_number(rival):
            asked = f"`{rival}` is the answer" if label is None else f"`{label}` cannot be its own rival"
            raise InputError(asked, hint="name another class, or none")
        return chosen, self.class_number(rival)

    @of_one_state
    def with_prior(self, prior: Prior) -> Self:
        """The same model under another prior: ``uniform``, ``data``, or by class."""
        self.follow()
        model = copy.copy(self)
        model.held_out = None  # of other answers
        if isinstance(prior, Mapping):
            prior = {self.class_name(label): share for label, share in prior.items()}
        model._install_prior(prior)
        return model

    @of_one_state
    def save(self, path: str | os.PathLike[str], *, counts: bool = True, documents: bool = True) -> None:
        """Write the model to a file.

        Without ``documents`` the file is smaller; counts still learn and forget, but calibration and
        promises stay those of the model before. Without ``counts``, which leaves out the documents too, it
        holds no word that the model does not use, and cannot learn, forget or be merged. A model of a table
        is its counts, which cannot be left out.
        """
        from textodds.model.file import save

        save(path, cast("AnyModel", self), counts=counts, documents=documents)
