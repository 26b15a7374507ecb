"""Model files: what is written of a model, and how it is read and checked again.

A header says which kind of model a file holds. One of texts is stored as vocabulary, fitted form and counts;
one of tables as its recipe and its statistics, from which it is made again when opened.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from textodds.data.labels import LabelType
from textodds.data.named_arrays import AnyArray, Arrays, NamedArrays
from textodds.errors import InputError, ModelFileError, Shrunk, Unsupported
from textodds.learn.forms.linear import check_prior
from textodds.learn.recipe import Recipe, is_of_documents
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.storage.container import (
    FORMAT,
    Tensors,
    contents,
    file_of,
    guarded,
    names_of,
    parsed,
    part_of,
    write,
)
from textodds.model.storage.stored_form import contents_of, form_of, parts, tensor
from textodds.model.text_model import TextModel
from textodds.model.text_updates import TextUpdates
from textodds.stats.tally import Tally, narrow
from textodds.text import Vocabulary
from textodds.text.plain import checked_info

if TYPE_CHECKING:
    from textodds.learn.calibration import Calibration
    from textodds.learn.word_prior import KnownWords
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.tables.table_model import TableModel, TableRecipe
    from textodds.model.tables.table_tally import TableTally
    from textodds.stats.corpus import Corpus
    from textodds.stats.document_ids import DocumentIds
    from textodds.stats.rows import Rows

    Model: TypeAlias = TextModel | TableModel
    AnyModel: TypeAlias = TextModel | TableModel | MultiLabelModel

M = TypeVar("M", TextModel, "MultiLabelModel")
TALLY = ("class_documents", "starts", "class_of", "occurrences", "documents")


def load(path: str | os.PathLike[str], *, threads: int | None = None, check: bool = False) -> AnyModel:
    """The model in a file: a `TextModel`, a `TableModel`, or a `MultiLabelModel`.

    Costs milliseconds: words and weights are mapped, and compared with their checksums; counts and documents
    are read, and compared, when they are first asked for. With ``check`` all of it is, at once.
    """

    def model(path: Path) -> AnyModel:
        header, arrays = contents(path)
        opened = _model(path, header, arrays, threads)
        if check:
            arrays.check()
            _ = (opened.tally if opened.has_counts else None, opened.corpus)
            if isinstance(opened, TextUpdates) and (prior := opened.recipe.neighbours) is not None:
                _ = prior.known
        return opened

    return guarded(path, model)


def load_one_label(path: str | os.PathLike[str], *, threads: int | None = None, check: bool = False) -> Model:
    """The model in a file, which must give one label."""
    found = load(path, threads=threads, check=check)
    if is_multilabel(found):
        raise Unsupported(
            f"`{os.fsdecode(path)}` is a model of several labels a text, and this is for models of one label",
            hint="for one of its labels: `textodds.load(PATH).of_label(LABEL)` in Python",
        )
    return found


def loads(file: bytes, threads: int | None = None) -> AnyModel:
    """The model in the bytes of a file; pickles of models call this and nothing else."""
    return guarded("a pickled model", lambda path: _model(path, *parsed(path, file), threads))


def _model(path: Path, header: dict[str, Any], arrays: Tensors, threads: int | None) -> AnyModel:
    """The model that the header and the arrays of a file hold, checked."""
    form = header.get("form", "linear")
    opened: AnyModel
    if form == "table":
        opened = _table_model(path, header, arrays)
    elif form == "labels":
        opened = _label_model(path, header, arrays, threads)
    else:
        opened = _text_model(path, header, arrays, threads)
    opened.file_format, opened.has_checksums = header["format"], arrays.has_checksums
    return opened


def load_texts(path: str | os.PathLike[str], *, threads: int | None = None) -> TextModel:
    """The model of texts in a file; one of tables is refused."""
    return guarded(path, lambda path: _text_model(path, *contents(path), threads))


def save(
    path: str | os.PathLike[str], model: AnyModel, *, counts: bool = True, documents: bool = True
) -> None:
    """Write a model file, with counts and documents if they are wanted.

    A crash leaves the old file or the new one.
    """
    write(path, *_contents(model, counts=counts, documents=documents))


def dumps(model: AnyModel) -> bytes:
    """The bytes of a model's file."""
    return file_of(*_contents(model, counts=True, documents=True))


def _contents(model: AnyModel, *, counts: bool, documents: bool) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model's file."""
    model.follow()
    if isinstance(model, TextUpdates):
        has_counts = counts and model.has_counts
        header, arrays = _text_contents(model, model.tally if has_counts else None)
    else:
        if not counts:
            raise InputError("a model of a table is its counts", hint="leave `--no-counts` out")
        has_counts, (header, arrays) = True, _table_contents(model)
    corpus = model.corpus if counts and documents else None
    can_learn = has_counts or corpus is not None
    ids = model.document_ids if can_learn else None  # of use only where more can be learned
    if ids is not None or isinstance(model, TextUpdates):
        header["ledger"] = None if ids is None else ids.classes
    if corpus is not None:
        header["documents"] = corpus.classes
    if model.labels != LabelType():  # of text, as in files of before, nothing is said
        header["labels"] = model.labels.as_dict()
    for prefix, part in _beside(model, ids, corpus):
        if part is not None:
            arrays |= {f"{prefix}.{name}": array for name, array in part.arrays().items()}
    if isinstance(model, TextUpdates) and corpus is not None and model.recipe.neighbours is not None:
        known = model.recipe.neighbours.known.arrays(model.vocabulary)
        arrays |= {f"neighbours.{name}": array for name, array in known.items()}
    return {"format": FORMAT} | header, arrays


def _beside(
    model: AnyModel, ids: DocumentIds | None, corpus: Corpus | Rows | None
) -> Iterable[tuple[str, Any]]:
    """What a file may hold beside the form and the counts, by the names that it has there."""
    yield from (("typical", model.typical), ("honest", model.held_out), ("ledger", ids), ("corpus", corpus))


def _text_contents(model: TextUpdates, tally: Tally | None) -> tuple[dict[str, Any], Arrays]:
    form, vocabulary = model.form, model.vocabulary
    header: dict[str, Any] = {
        "classes": form.classes,
        "is_posterior": form.is_posterior,
        "recipe": model.recipe.as_dict(),
        "info": model.info if tally is None else {**model.info, "fingerprint": tally.fingerprint()},
        "tally": None,
        "calibration": None if model.calibration is None else model.calibration.as_dict(),
    }
    arrays = parts("vocabulary.", vocabulary, ("keys", "arena", "directory"))
    about, form_arrays = contents_of(form)
    header |= about
    arrays |= form_arrays
    if model.scale is not None:
        arrays["vocabulary.scale"] = model.scale
    if is_multilabel(model):
        assert model.odds is not None
        assert model.thresholds is not None
        header |= {"form": "labels", "goal": str(model.goal)}
        header["info"] = {**header["info"], "class_documents": model.class_documents}
        arrays |= {f"odds.{name}": array for name, array in model.odds.arrays().items()}
        arrays["labels.thresholds"] = model.thresholds
        if model.held_labels is not None:
            arrays |= {f"held.{name}": array for name, array in model.held_labels.arrays().items()}
    if tally is not None:
        header["tally"] = {"classes": tally.classes, "fraction": tally.fraction, "pruned": tally.pruned}
        arrays |= {f"tally.{part}": narrow(getattr(tally, part)) for part in TALLY}
        if not np.array_equal(tally.vocabulary.keys, vocabulary.keys):
            arrays |= parts("tally.", tally.vocabulary, ("keys", "arena"))
    return header, arrays


def _table_contents(model: TableModel) -> tuple[dict[str, Any], Arrays]:
    header = {
        "form": "table",
        "classes": list(model.class_names),
        "recipe": model.recipe_as_dict(),
        "info": model.info,
    }
    arrays: Arrays = {}
    for at, (block, statistic) in enumerate(zip(model.recipe.blocks, model.tally.parts, strict=True)):
        counted: Arrays = block.arrays(statistic)  # type: ignore[arg-type]
        arrays |= {f"{at}.{name}": array for name, array in counted.items()}
    if model.recipe.linear is not None:
        own: Any = model.product.parts[0]
        arrays |= {"linear.weights": own.weights.reshape(-1), "linear.intercept": own.intercept}
    return header, arrays


def tally_arrays(tally: Tally) -> Arrays:
    """A tally as arrays, with its words; for files that hold several."""
    arrays = {part: narrow(getattr(tally, part)) for part in TALLY}
    about = np.array([tally.fraction, tally.pruned], dtype=np.int64)
    return arrays | {"keys": tally.vocabulary.keys, "arena": tally.vocabulary.arena, "about": about}


def tally_of_arrays(arrays: Arrays, classes: tuple[str, ...]) -> Tally:
    """The tally that `tally_arrays` made arrays of."""
    about = arrays["about"]
    if about.dtype != np.int64 or about.shape != (2,):
        raise ModelFileError("its counts are damaged")
    header = {"classes": list(classes), "fraction": int(about[0]), "pruned": int(about[1])}
    nothing = Vocabulary(np.zeros(0, np.uint64), np.zeros(0, np.uint8))
    named = {f"tally.{name}": array for name, array in arrays.items()}
    return _tally(Path("the file"), header, named, nothing)


def _text_model(path: Path, header: dict[str, Any], arrays: Tensors, threads: int | None) -> TextModel:
    """The model that the header and the arrays of a file hold, checked; counts and documents are not read."""
    if header.get("form") == "table":
        raise ModelFileError("it is a model of tables, not of texts")
    if header.get("form") == "labels":
        raise ModelFileError("it is a model of several labels a text, not of one")
    model = _of_texts(TextModel, path, header, arrays, threads)
    check_prior(model.recipe.learner.prior)
    if (plain := header.get("calibration")) is not None:
        from textodds.learn.calibration import Calibration

        model.calibration = calibration = Calibration.of_dict(plain)
        sizes = {np.size(calibration.bias), np.size(calibration.rate)}
        if len(calibration.slopes) != 1 or not sizes <= {1, len(model.class_names)}:
            raise ModelFileError("its calibration is not that of its classes")
    return model


def _of_texts(kind: type[M], path: Path, header: dict[str, Any], arrays: Tensors, threads: int | None) -> M:
    """A model of texts, of one label or of several, without its calibration."""
    get = partial(tensor, arrays)
    classes = names_of(header["classes"])
    vocabulary = Vocabulary(get("vocabulary.keys", "u8"), get("vocabulary.arena", "u1"))
    vocabulary.__dict__["directory"] = get("vocabulary.directory", "u4")
    shape = header.get("form", "linear")
    form = form_of("linear" if shape == "labels" else shape, header, arrays, classes, len(vocabulary))
    recipe, counts = Recipe.of_dict(header["recipe"]), header["tally"]
    if "neighbours.terms" in arrays:
        from textodds.learn.word_prior import WordPrior

        read_known = partial(_known_words, path, arrays, vocabulary)
        recipe = replace(recipe, neighbours=WordPrior.of_dict(header["recipe"]["neighbours"], read_known))
    info = checked_info(header["info"])
    fingerprint = info.get("fingerprint")
    read = None if counts is None else lambda: _tally(path, counts, arrays, vocabulary, fingerprint)
    scale = None if recipe.weighting is None else get("vocabulary.scale", "f8", len(vocabulary))
    model = kind(recipe, vocabulary, form, read, dict(info), scale=scale, threads=threads)  # type: ignore[arg-type]
    model.labels = LabelType.of_dict(header.get("labels"))
    _add_parts(model, header, arrays)
    if (labels := header.get("documents")) is not None:
        if counts is None and not is_of_documents(recipe):
            raise ModelFileError("it has documents, but not their counts")
        model._corpus = partial(_corpus, path, arrays, names_of(labels), recipe)
    return model


def _known_words(path: Path, arrays: Tensors, vocabulary: Vocabulary) -> KnownWords:
    """What the recipe knows of words, checked."""
    from textodds.learn.word_prior import KnownWords

    with _undamaged(f"the known words in `{path}`"):
        return KnownWords.of_arrays(part_of(arrays, "neighbours."), vocabulary)


def _label_model(path: Path, header: dict[str, Any], arrays: Tensors, threads: int | None) -> MultiLabelModel:
    """The model of several labels that the header and the arrays of a file hold, checked."""
    from textodds.judge.thresholds import NEVER, Goal
    from textodds.learn.multilabel.odds import LabelOdds
    from textodds.model.multilabel.label_prediction import HeldLabels
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

    model = _of_texts(MultiLabelModel, path, header, arrays, threads)
    K = len(model.class_names)
    model.goal = Goal.of(str(header["goal"]))
    model.odds = LabelOdds.of_arrays(part_of(arrays, "odds."), K)
    thresholds = tensor(arrays, "labels.thresholds", "f8", K)
    if not ((thresholds >= 0) & (thresholds <= NEVER)).all():
        raise ModelFileError("a threshold is not a probability")
    model.thresholds = thresholds
    if "held.p" in arrays:
        model.held_labels = HeldLabels.of_arrays(part_of(arrays, "held."), K)
    return model


def _corpus(path: Path, arrays: Tensors, classes: tuple[str, ...], recipe: Recipe) -> Corpus:
    """The documents, checked."""
    from textodds.stats.corpus import Corpus

    with _undamaged(f"the documents in `{path}`"):
        return Corpus.of_arrays(part_of(arrays, "corpus."), classes, recipe.settings)


@contextmanager
def _undamaged(what: str) -> Iterator[None]:
    """Call what is wrong with documents an error of their file."""
    try:
        yield
    except InputError as error:
        raise ModelFileError(f"{what} are damaged: {error.problem}") from error


def _table_model(path: Path, header: dict[str, Any], arrays: Tensors) -> TableModel:
    """The table model that the header and the arrays of a file hold, checked."""
    from textodds.model.tables.table_model import TableModel, TableRecipe
    from textodds.model.tables.table_tally import TableTally

    classes = names_of(header["classes"])
    recipe = TableRecipe.of_dict(header["recipe"])
    check_prior(recipe.prior)
    parts = tuple(
        block.of_arrays(part_of(arrays, f"{at}."), classes) for at, block in enumerate(recipe.blocks)
    )
    if any(each.classes != classes for each in parts):
        raise ModelFileError("its parts have different classes")
    tally, info = TableTally(parts), dict(checked_info(header["info"]))
    if recipe.linear is not None:
        model: TableModel = _linear_table(recipe, tally, info, arrays)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Shrunk)  # said when it was trained
            model = TableModel(recipe, tally, info)
    model.labels = LabelType.of_dict(header.get("labels"))
    _add_parts(model, header, arrays)
    model.calibration = _table_calibration(header["recipe"], len(model.product.parts), classes)
    if (labels := header.get("documents")) is not None:
        if names_of(labels) != classes:
            raise ModelFileError("its rows have other classes than it has")
        model._corpus = partial(_rows, path, arrays, classes, recipe)
    return model


def _linear_table(
    recipe: TableRecipe, tally: TableTally, info: dict[str, Any], arrays: Tensors
) -> TableModel:
    """The model of softmax regression whose weights a file holds."""
    from textodds.model.tables.linear_table import LinearTableModel, TableWeights
    from textodds.model.tables.table_features import TableFeatures

    K, features = len(tally.classes), TableFeatures.of(recipe.blocks, tally)
    weights = tensor(arrays, "linear.weights", "f8", features.n_features * K).reshape(-1, K)
    own = TableWeights(tally.classes, features, weights, tensor(arrays, "linear.intercept", "f8", K))
    return LinearTableModel(recipe, tally, info, weights=own)


def _table_calibration(plain: dict[str, Any], blocks: int, classes: tuple[str, ...]) -> Calibration | None:
    """How the evidence of so many blocks is weighed, by what a file says."""
    found, before = plain["calibration"], tuple(map(str, plain["calibrated_classes"]))
    if found is None:
        return None
    from textodds.learn.calibration import Calibration

    calibration = Calibration.of_dict(found)
    if len(calibration.slopes) != blocks or np.any(calibration.rate):
        raise ModelFileError("its calibration is not that of its blocks")
    if np.size(calibration.bias) != len(before):
        raise ModelFileError("its calibration is not that of its classes")
    return calibration if before == classes else calibration.of_classes(before, classes)


def _rows(path: Path, arrays: Tensors, classes: tuple[str, ...], recipe: TableRecipe) -> Rows:
    """The rows of a table, checked."""
    from textodds.stats.rows import Rows

    with _undamaged(f"the rows in `{path}`"):
        return Rows.of_arrays(part_of(arrays, "corpus."), classes, recipe.kinds)


def _add_parts(model: AnyModel, header: dict[str, Any], arrays: Tensors) -> None:
    """Give a model what a file may hold beside its form and its counts."""
    if "typical.surprise" in arrays:
        from textodds.judge.novelty import Typical

        model.typical = Typical.of_arrays(part_of(arrays, "typical."))
    if "honest.truth" in arrays:
        from textodds.learn.held_out import HeldOut

        model.held_out = HeldOut.of_arrays(part_of(arrays, "honest."), len(model.classes_))
    if (names := header.get("ledger")) is not None:
        from textodds.stats.document_ids import DocumentIds

        model.document_ids = DocumentIds.of_arrays(part_of(arrays, "ledger."), names)


def _tally(
    path: Path,
    header: dict[str, Any],
    arrays: NamedArrays,
    vocabulary: Vocabulary,
    fingerprint: object = None,
) -> Tally:
    """The counts, widened to the types of `Tally` and checked, also against a ``fingerprint``."""

    def get(name: str) -> AnyArray:
        array = arrays[f"tally.{name}"]
        if array.dtype.kind not in "ui" or array.ndim != 1 or (len(array) and array.min() < 0):
            raise ValueError(f"the tensor `tally.{name}` has the wrong type or shape")
        return array

    try:
        if "tally.keys" in arrays:
            vocabulary = Vocabulary(get("keys").astype(np.uint64), get("arena").astype(np.uint8))
        fraction, pruned = header["fraction"], header["pruned"]
        if not all(isinstance(number, int) and number >= 0 for number in (fraction, pruned)):
            raise ValueError("their header is damaged")
        tally = Tally(
            fraction,
            names_of(header["classes"]),
            get("class_documents").astype(np.int64),
            vocabulary,
            get("starts").astype(np.uint64),
            get("class_of").astype(np.uint32),
            get("occurrences").astype(np.int64),
            get("documents").astype(np.int64),
            pruned,
        )
        tally = tally.checked()
        if isinstance(fingerprint, str) and tally.fingerprint() != fingerprint:
            raise ValueError("they are not those of the fingerprint in its header")
        return tally
    except (InputError, ModelFileError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"the counts in `{path}` are damaged: {error}") from error
