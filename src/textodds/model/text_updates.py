"""How a model of texts reads them, and how it learns, forgets and follows its documents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from textodds.data import Batch, Schema, Source, read
from textodds.data.batch import BETWEEN_FIELDS, as_fields
from textodds.errors import InputError, Unsupported, suggestion
from textodds.learn.recipe import Recipe, fitted, is_of_documents
from textodds.model.basis import Basis
from textodds.model.novelty import DensityModel
from textodds.model.one_state import of_one_state
from textodds.model.scorer import RowChanges, TextScorer
from textodds.stats.compressed_rows import stacked
from textodds.stats.corpus import Corpus, Keeper
from textodds.stats.sample import Example
from textodds.stats.tally import Tally, checked_threads

if TYPE_CHECKING:
    from textodds.learn.forms.linear import LinearModel
    from textodds.learn.forms.low_rank import FactoredModel
    from textodds.learn.forms.quadratic import QuadraticModel
    from textodds.model.text_model import TextModel
    from textodds.text import Vocabulary

    Form: TypeAlias = LinearModel | QuadraticModel | FactoredModel


class TextReading(DensityModel[Tally, Corpus, Example]):
    """How a model reads texts: by the columns of training, several of them as the fields of one text."""

    recipe: Recipe
    several_labels = False  # whether a text may have several

    @property
    def schema(self) -> Schema:
        """The columns that it was trained on, by name; none where its texts had no names."""
        known = self.info.get("columns")
        return Schema(()) if known is None else Schema.of_dict(known)

    def _combine(self, other: Self, sign: int) -> Self:
        model = super()._combine(other, sign)
        mine, theirs = self.schema, other.schema
        names = [[column.name for column in each.columns] for each in (mine, theirs)]
        if names[0] and names[0] == names[1] and mine.label == theirs.label:
            model.info["columns"] = mine.as_dict()
        if (known := self.info.get("reading")) and known == other.info.get("reading"):
            model.info["reading"] = known
        return model

    def read(self, *data: object, labelled: bool = False, **reading: Any) -> Source:
        """A source of texts; takes what `textodds.read` takes, and by default the columns of training."""
        given, *beside = data
        fields, text = self.recipe.settings.fields, reading.get("text")
        if text is not None and max(len(fields), 1) != (1 if isinstance(text, str) else len(text)):
            raise InputError(
                f"the model reads {', '.join(fields) or 'one column'}, and other columns are named for it",
                hint="name as many columns, in the same order; or none, where they are called as in training",
            )
        if fields and text is None:
            has_labels = bool(beside) and beside[0] is not None
            if isinstance(given, list) and (has_labels or all(isinstance(text, str) for text in given)):
                given = [self.row_of(text) for text in given]
            else:
                reading = reading | {"text": list(fields)}
        before = self.info.get("reading")
        if labelled and self.several_labels:
            reading = reading | {"several_labels": True}
        source = read(given, *beside, labelled=labelled, like=self.schema, before=before, **reading)
        return self.resolving(source)

    def row_of(self, text: object) -> str:
        """One text as the model reads it: of several columns, which are given by name, a text of fields."""
        fields = self.recipe.settings.fields
        if fields and isinstance(text, Mapping):
            for name in text:
                if name not in fields:
                    raise InputError(f"there is no column `{name}`{suggestion(str(name), fields)}")
            return as_fields([[str(text.get(name) or "")] for name in fields])[0]
        if not isinstance(text, str):
            raise InputError(
                f"a text must be str, got {type(text).__name__}", hint="for several texts use predict(texts)"
            )
        if fields and text.count(BETWEEN_FIELDS) != len(fields) - 1:
            raise InputError(
                f"the model reads the columns {', '.join(fields)}, and a text came without them",
                hint=f"give them by name: {dict.fromkeys(fields, '…')}",
            )
        return text

    def _batches(self, texts: object) -> Iterable[Batch]:
        if isinstance(texts, str):
            raise InputError("expected several texts, got one", hint="write [text], or call model(text)")
        if isinstance(texts, list) and self.recipe.settings.fields:
            texts = [self.row_of(text) for text in texts]
        if isinstance(texts, list):  # the usual case, without a detour
            return [Batch(texts, None, None)] if texts else []
        return self.read(texts)


class TextUpdates(TextReading):
    """How a model of texts learns and forgets: what it says is a function of its recipe and its documents."""

    vocabulary: Vocabulary
    form: Form
    scale: NDArray[np.float64] | None
    threads: int
    scorer: TextScorer

    def __init__(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: Form,
        tally: Callable[[], Tally] | Tally | None,
        info: dict[str, Any],
        *,
        scale: NDArray[np.float64] | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = checked_threads(threads)
        self.info, self._tally = info, tally
        self._install(recipe, vocabulary, form, scale)

    def _install(
        self,
        recipe: Recipe,
        vocabulary: Vocabulary,
        form: Form,
        scale: NDArray[np.float64] | None = None,
        changes: RowChanges | None = None,
    ) -> None:
        self.scorer = TextScorer(recipe, vocabulary, form, scale, changes)
        self.recipe, self.vocabulary, self.form, self.scale = recipe, vocabulary, form, scale
        noun = "word" if recipe.settings.has_words else "feature"
        self.class_names, self.extent = form.classes, (len(vocabulary), noun)

    @of_one_state
    def rows(self, texts: object) -> Any:
        """The texts as SciPy sparse rows of word counts, weighted if the recipe says so, (N, V)."""
        rows = [self.scorer.rows(batch.texts) for batch in self._batches(texts)]
        return stacked(rows, len(self.vocabulary)).scipy()

    def count(self, batches: Iterable[Batch]) -> Tally:
        """The counts of a stream of batches, by the settings of the model."""
        return Tally.count(batches, settings=self.recipe.settings, threads=self.threads)

    def _without_counts(self) -> Unsupported:
        entry = self.recipe.learner.entry
        if entry.needs_documents:
            return Unsupported(
                f"{entry.name} is not a model of counts",
                hint="train multinomial instead",
            )
        if not entry.is_merged:
            return Unsupported(
                "this model was learned from unlabelled texts too, whose classes it has guessed",
                hint="train it again on the data wanted; or train multinomial, which learns and forgets",
            )
        return super()._without_counts()

    def must_be_updatable(self) -> None:
        """Refuse a model that rests neither on counts nor on documents that it has."""
        entry, again = self.recipe.learner.entry, "train it again on the data wanted, and keep its documents"
        if self.has_documents:
            return
        if self.recipe.settings.buckets is not None:
            raise Unsupported(
                "a model that comes from fastText has neither documents nor counts, and cannot be updated",
                hint="train on the data instead: `textodds train DATA -o MODEL`",
            )
        if "neighbours" in self.info:
            option = "--vectors FILE" if "source" in self.info["neighbours"] else "--unlabelled TEXTS"
            raise Unsupported(
                "a model whose words know their neighbours cannot be updated without its documents",
                hint=f"train it again on all texts, and keep them: `textodds train DATA {option}`",
            )
        if entry.needs_documents:
            raise Unsupported(f"a model of {entry.name} without its documents cannot be updated", hint=again)
        if self.recipe.learner.rereads:
            raise Unsupported(
                "a complement model of transformed documents cannot be updated without them", hint=again
            )
        _ = self.tally

    def basis_of(self, batches: Iterable[Batch]) -> Basis[Tally, Corpus]:
        """What the model would rest on had it learned just these batches."""
        self.must_be_updatable()
        if not self.has_documents:
            return Basis(self.count(batches), None)
        keeper = Keeper(self.recipe.settings, most=None)
        passing = keeper.passed(batches)
        tally = self.count(passing) if self.has_counts else None
        for _ in passing:  # what is not counted is kept all the same
            pass
        return Basis(tally, keeper.corpus())

    def _install_basis(self, basis: Basis[Tally, Corpus]) -> dict[str, Any]:
        if basis.corpus is None or not is_of_documents(self.recipe):
            assert basis.tally is not None
            self._install_counts(basis.tally)
            self.corpus, self._is_behind = basis.corpus, basis.corpus is not None
            return {}
        from textodds.model.fit import fit_corpus

        model = fit_corpus(basis.corpus, self.recipe, {}, start=cast("TextModel", self), threads=self.threads)
        self._install(self.recipe, model.vocabulary, model.form, model.scale)
        self.corpus, self._tally, self._is_behind = basis.corpus, model._tally, False
        self.calibration, self.held_out = model.calibration, model.held_out
        if (prior := self.info.get("prior")) is not None:  # that was given in the place of the data's
            self._install_prior(prior)
            self.held_out = None
            model.info["prior"] = prior
        if (before := self.info.get("neighbours")) is not None:  # how the prior was found stays
            model.info["neighbours"] = {**before, **model.info["neighbours"]}
        return model.info

    def _must_be_like(self, other: Self) -> None:
        mine, theirs = self.recipe.as_dict(), other.recipe.as_dict()
        if self.recipe.learner.entry.is_penalised:  # whose learners have no prior among their settings
            mine["prior"], theirs["prior"] = (each.info.get("prior", "data") for each in (self, other))
        both_choose = self.recipe.chooses_smoothing and other.recipe.chooses_smoothing
        for plain in (mine, theirs):
            plain.pop("smoothing", None)
            if both_choose:
                plain["learner"].pop("alpha")
        differing = [part for part in mine | theirs if mine.get(part) != theirs.get(part)]
        if not differing:
            return
        hint = "train both with the same options"
        alphas = [plain["learner"].pop("alpha", None) for plain in (mine, theirs)]
        if differing == ["learner"] and mine == theirs:
            differing = [f"alpha is {alphas[0]} in one and {alphas[1]} in the other"]
            hint = "give both the same alpha, such as `--learner multinomial:alpha=1`"
        raise InputError(f"the models have different settings: {', '.join(differing)}", hint=hint)

    def _recipe_with(self, other: Self, basis: Basis[Tally, Corpus], sign: int) -> Recipe:
        mine, theirs = self.recipe, other.recipe
        if not (mine.chooses_smoothing and theirs.chooses_smoothing):
            return replace(mine, chooses_smoothing=False)
        from textodds.model.fit import between, chosen_again

        if basis.corpus is not None:
            return chosen_again(basis, mine)
        return mine if sign < 0 else between((self.tally, mine), (other.tally, theirs))

    def follow(self) -> None:
        """Find again what follows from the documents, if they have changed."""
        if not self._is_behind:
            return
        with self._writing:
            if self._is_behind:  # no other thread has found it
                model = self.now()
                # In one step: whoever sees that it has followed sees all that was found.
                model.__dict__.update(model._followed(), _is_behind=False)

    def _followed(self) -> dict[str, Any]:
        """What follows from the documents, by the names of attributes."""
        from textodds.model.fit import follow

        found = follow(cast("TextModel", self))
        info = {**self.info, **found.info}
        if found.calibration is not None:
            info.pop("uncalibrated", None)
        parts = {f"_{name}": getattr(found, name) for name in ("calibration", "held_out", "typical")}
        return {**parts, "info": info}

    def rereading(self) -> Self:
        """The same model for the texts of its `corpus`, which are prepared already."""
        corpus = self.corpus
        assert corpus is not None
        model = copy.copy(self)
        model._is_behind = False
        model._install(replace(self.recipe, settings=corpus.reread), self.vocabulary, self.form, self.scale)
        return model

    def _install_counts(self, tally: Tally) -> None:
        self._install(self.recipe, *fitted(tally, self.recipe))
        self._tally = tally
