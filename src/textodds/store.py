"""The model file: safetensors, memory-mapped, checked before use, written whole or not at all.

Layout, format 3; format 1 had no weighting, format 2 no quadratic models and no tables. The free-text
header holds one entry ``textodds``, a JSON object: format version, form (linear, quadratic or table),
classes, recipe (text settings, selection, unknown words, learner, weighting) and what is known of the data.
The tensors are the arrays of `Vocabulary`, `LinearModel` and `Tally` under the names below. Nothing
in the file is code, and opening it reads the header and maps the rest.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.errors import InputError, ModelFileError
from textodds.linear import LinearModel, Weights
from textodds.recipe import Recipe
from textodds.tally import Tally
from textodds.text import Vocabulary

if TYPE_CHECKING:
    from textodds.calibrate import Calibration
    from textodds.density import Typical
    from textodds.honest import Honest
    from textodds.ledger import Ledger
    from textodds.quadratic import QuadraticModel

FORMAT = 3
DTYPES = {"F64": "<f8", "F32": "<f4", "U64": "<u8", "I64": "<i8", "U32": "<u4", "U16": "<u2", "U8": "|u1"}

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Stored:
    """What a model file holds. ``tally`` reads the counts when they are wanted, if they are there."""

    recipe: Recipe
    vocabulary: Vocabulary
    form: LinearModel | QuadraticModel
    tally: Callable[[], Tally] | None
    info: dict[str, Any]
    scale: NDArray[np.float64] | None = None  # (V,)
    typical: Typical | None = None
    calibration: Calibration | None = None
    honest: Honest | None = None
    ledger: Ledger | None = None


def save(path: str | os.PathLike[str], stored: Stored) -> None:
    """Write a model file; a crash leaves the old file or the new one."""
    form = stored.form
    header: dict[str, Any] = {
        "format": FORMAT,
        "form": "linear" if isinstance(form, LinearModel) else "quadratic",
        "classes": form.classes,
        "is_posterior": form.is_posterior,
        "recipe": stored.recipe.as_dict(),
        "info": stored.info,
        "tally": None,
        "ledger": None if stored.ledger is None else stored.ledger.classes,
        "calibration": None if stored.calibration is None else stored.calibration.as_dict(),
    }
    arrays: Arrays = {
        "vocabulary.keys": stored.vocabulary.keys,
        "vocabulary.arena": stored.vocabulary.arena,
        "vocabulary.directory": stored.vocabulary.directory,
    }
    if isinstance(form, LinearModel):
        header["presence"] = form.presence
        arrays |= _linear_arrays(form)
    else:
        header["temperature"] = form.temperature
        arrays |= _quadratic_arrays(form)
    if stored.scale is not None:
        arrays["vocabulary.scale"] = stored.scale
    if stored.typical is not None:
        arrays |= {f"typical.{name}": array for name, array in stored.typical.arrays().items()}
    if stored.honest is not None:
        arrays |= {f"honest.{name}": array for name, array in stored.honest.arrays().items()}
    if stored.ledger is not None:
        arrays |= {f"ledger.{name}": array for name, array in stored.ledger.arrays().items()}
    if stored.tally is not None:
        tally = stored.tally()
        header["tally"] = {"classes": tally.classes, "fraction": tally.fraction, "pruned": tally.pruned}
        arrays |= {f"tally.{part}": narrowed(getattr(tally, part)) for part in TALLY}
        if not np.array_equal(tally.vocabulary.keys, stored.vocabulary.keys):
            arrays |= {"tally.keys": tally.vocabulary.keys, "tally.arena": tally.vocabulary.arena}
    write(path, header, arrays)


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write a file of a header and arrays; a crash leaves the old file or the new one."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    metadata = {"textodds": json.dumps(header, ensure_ascii=False)}
    with replacing(path) as temporary:
        try:
            save_file(
                {name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary, metadata
            )
        except SafetensorError as error:
            raise ModelFileError(
                f"cannot write `{path}`: {error}", hint="is the disk full? The file there before is untouched"
            ) from error


def _linear_arrays(linear: LinearModel) -> Arrays:
    weights = linear.weights
    arrays: Arrays = {
        "linear.log_prior": linear.log_prior,
        "linear.intercept": linear.intercept,
        "linear.default": weights.default,
        "linear.slope": weights.slope,
        "linear.base": weights.base,
    }
    if weights.dense is not None:
        return {**arrays, "linear.dense": weights.dense.reshape(-1)}
    return arrays | {
        f"linear.{part}": getattr(weights, part) for part in ("starts", "class_of", "exceptions")
    }


def _quadratic_arrays(form: QuadraticModel) -> Arrays:
    from textodds.quadratic import LowRank

    assert isinstance(form.gaussians, LowRank)  # the only one that texts have
    arrays: Arrays = {"log_prior": form.log_prior, "intercept": np.asarray(form.intercept)}
    arrays |= form.gaussians.arrays()
    return {f"quadratic.{name}": array for name, array in arrays.items()}


TALLY = ("class_documents", "starts", "class_of", "occurrences", "documents")


def tally_arrays(tally: Tally) -> Arrays:
    """A tally as arrays, with its words; for files that hold several."""
    arrays = {part: narrowed(getattr(tally, part)) for part in TALLY}
    about = np.array([tally.fraction, tally.pruned], dtype=np.int64)
    return arrays | {"keys": tally.vocabulary.keys, "arena": tally.vocabulary.arena, "about": about}


def tally_of_arrays(arrays: Mapping[str, NDArray[Any]], classes: tuple[str, ...]) -> Tally:
    """The tally that `tally_arrays` made arrays of."""
    about = arrays["about"]
    if about.dtype != np.int64 or about.shape != (2,):
        raise ModelFileError("its counts are damaged")
    header = {"classes": list(classes), "fraction": int(about[0]), "pruned": int(about[1])}
    nothing = Vocabulary(np.zeros(0, np.uint64), np.zeros(0, np.uint8))
    return _tally(
        Path("the file"), header, {f"tally.{name}": array for name, array in arrays.items()}, nothing
    )


def narrowed(counts: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in the smallest type that holds them."""
    most = int(counts.max()) if len(counts) else 0
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32, np.int64) if most <= np.iinfo(kind).max)
    return counts.astype(kind)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file that takes the place of ``path`` at the end, safely on disk, or vanishes."""
    path = Path(os.path.realpath(path))  # behind a link, what it leads to is replaced
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise ModelFileError(
            f"cannot write `{path}`: {error.strerror}",
            hint="choose a folder that exists and may be written to",
        ) from error
    temporary = Path(name)
    try:
        os.close(handle)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if mode is None:
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask
        temporary.chmod(mode)
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ModelFileError(
            f"cannot write `{path}`: {error.strerror or error}", hint="the file there before is untouched"
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def damaged(path: str | os.PathLike[str], problem: str) -> ModelFileError:
    """The error for a file that is not as it was written."""
    return ModelFileError(
        f"`{os.fspath(path)}` is damaged or no model of ours: {problem}",
        hint="train it again, or fetch it again from where it came",
    )


T = TypeVar("T")


def load(path: str | os.PathLike[str]) -> Stored:
    """Open a model file of texts. Costs milliseconds, whatever the size of the model."""
    return guarded(path, _load)


def guarded(path: str | os.PathLike[str], read: Callable[[Path], T]) -> T:
    """What ``read`` makes of a file, whose every surprise is a `ModelFileError`."""
    path = Path(path)
    try:
        return read(path)
    except ModelFileError as error:
        if str(path) in error.problem:
            raise
        raise damaged(path, error.problem) from error
    except (
        InputError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise damaged(path, str(error)) from error


def contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model file, neither of them believed yet."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.textodds")], n=1)
        raise ModelFileError(
            f"no model file at `{path}`",
            hint=f"did you mean `{path.parent / near[0]}`?"
            if near
            else f"make one: textodds train DATA -o {path}",
        ) from error
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        reason = error.strerror if isinstance(error, OSError) else "it is empty"
        raise ModelFileError(f"cannot open `{path}` as a model: {reason}") from error
    data = np.frombuffer(mapped, dtype=np.uint8)
    metadata, places = _kernels.layout(data)
    header = _header(metadata)
    return header, {name: _array(data, *place) for name, *place in places}  # type: ignore[arg-type]


def _load(path: Path) -> Stored:
    header, arrays = contents(path)
    if header.get("form") == "table":
        raise ModelFileError("it is a model of tables, not of texts")

    def get(name: str, kind: str, length: int | None = None) -> NDArray[Any]:
        if name not in arrays:
            raise ModelFileError(f"the tensor `{name}` is missing")
        array = arrays[name]
        if array.dtype != np.dtype(kind) or array.ndim != 1 or (length is not None and array.size != length):
            raise ModelFileError(f"the tensor `{name}` has the wrong type or size")
        return array

    classes = names_of(header["classes"])
    K = len(classes)
    vocabulary = Vocabulary(get("vocabulary.keys", "u8"), get("vocabulary.arena", "u1"))
    vocabulary.__dict__["directory"] = get("vocabulary.directory", "u4")
    V = len(vocabulary)
    form: LinearModel | QuadraticModel
    if header.get("form", "linear") == "linear":  # older files have no other
        form = _linear(header, classes, V, get, dense="linear.dense" in arrays)
    elif header["form"] != "quadratic":
        raise ModelFileError("its form is neither linear nor quadratic")
    else:
        form = _quadratic(header, classes, V, get, arrays)
    counts = header["tally"]
    recipe = Recipe.of_dict(header["recipe"])
    read = None if counts is None else lambda: _tally(path, counts, arrays, vocabulary)
    scale = None if recipe.weighting is None else get("vocabulary.scale", "f8", V)
    typical = None
    if "typical.surprise" in arrays:
        from textodds.density import Typical

        typical = Typical.of_arrays({part: arrays[f"typical.{part}"] for part in ("length", "surprise")})
    calibration = honest = ledger = None
    if (found := header.get("calibration")) is not None:
        from textodds.calibrate import Calibration

        calibration = Calibration.of_dict(found)
        if len(calibration.slopes) != 1 or np.size(calibration.bias) not in (1, K):
            raise ModelFileError("its calibration is not that of its classes")
    if "honest.truth" in arrays:
        from textodds.honest import Honest

        parts = {name.removeprefix("honest."): array for name, array in arrays.items()}
        honest = Honest.of_arrays(parts, K)
    if (names := header.get("ledger")) is not None:
        from textodds.ledger import Ledger

        parts = {part: arrays[f"ledger.{part}"] for part in ("ids", "class_of")}
        ledger = Ledger.of_arrays(parts, names)
    info = dict(header["info"])
    return Stored(recipe, vocabulary, form, read, info, scale, typical, calibration, honest, ledger)


def _linear(
    header: dict[str, Any],
    classes: tuple[str, ...],
    V: int,
    get: Callable[..., NDArray[Any]],
    *,
    dense: bool,
) -> LinearModel:
    K = len(classes)
    weights = Weights(
        get("linear.default", "f8", K),
        get("linear.slope", "f8"),
        get("linear.base", "f8"),
        dense=get("linear.dense", "f8", V * K).reshape(V, K) if dense else None,
        starts=None if dense else get("linear.starts", "u8", V + 1),
        class_of=None if dense else get("linear.class_of", "u4"),
        exceptions=None if dense else get("linear.exceptions", "f8"),
    )
    return LinearModel(
        classes,
        get("linear.log_prior", "f8", K),
        get("linear.intercept", "f8", K),
        weights,
        presence=_flag(header["presence"]),
        is_posterior=_flag(header["is_posterior"]),
    )


def _quadratic(
    header: dict[str, Any],
    classes: tuple[str, ...],
    V: int,
    get: Callable[..., NDArray[Any]],
    arrays: Arrays,
) -> QuadraticModel:
    from textodds.quadratic import LowRank, QuadraticModel

    K, temperature = len(classes), header["temperature"]
    prior, intercept = (get(f"quadratic.{name}", "f8", K) for name in ("log_prior", "intercept"))
    if not isinstance(temperature, float) or not 1e-100 < temperature < 1e100:
        raise ModelFileError("its temperature is not a number above zero")
    if not (np.isfinite(prior).all() and np.isfinite(intercept).all()):
        raise ModelFileError("its prior or intercept is no number")
    parts = {name.removeprefix("quadratic."): array for name, array in arrays.items()}
    return QuadraticModel(classes, prior, LowRank.of_arrays(parts, K, V), temperature, intercept)


def names_of(names: Any) -> tuple[str, ...]:
    """Class names: a list of text, sorted, none twice."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ModelFileError("the class names are damaged")
    if any(a >= b for a, b in itertools.pairwise(names)):
        raise ModelFileError("the class names are out of order")
    return tuple(names)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ModelFileError("its header says neither yes nor no where it must")
    return value


def _header(metadata: dict[str, str]) -> dict[str, Any]:
    if "textodds" not in metadata:
        raise ModelFileError("it has no textodds header")
    header = json.loads(metadata["textodds"])
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise ModelFileError("its header is no textodds header")
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"it has format {header['format']}, this version reads up to {FORMAT}: upgrade textodds"
        )
    return header


def _array(data: NDArray[np.uint8], dtype: str, shape: list[int], start: int, end: int) -> NDArray[Any]:
    if dtype not in DTYPES:
        raise ModelFileError(f"a tensor has the type {dtype}, which no model has")
    kind = np.dtype(DTYPES[dtype])
    part = data[start:end]
    if start % kind.itemsize:
        part = part.copy()  # made by another writer: not aligned
    return part.view(kind).reshape(shape)


def _tally(path: Path, header: dict[str, Any], arrays: Arrays, vocabulary: Vocabulary) -> Tally:
    """The counts, widened to the types of `Tally` and checked."""

    def get(name: str) -> NDArray[Any]:
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
        return tally.checked()
    except (InputError, ModelFileError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"the counts in `{path}` are damaged: {error}") from error
