"""The fitted form of a model of texts in its file: linear, quadratic, or through few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.data.named_arrays import AnyArray, Arrays
from textodds.errors import ModelFileError
from textodds.learn.forms.linear import LinearModel, Weights
from textodds.model.storage.container import SPAN_FORMAT, Tensors, part_of
from textodds.text.plain import LARGEST

if TYPE_CHECKING:
    from textodds.learn.forms.low_rank import FactoredModel
    from textodds.learn.forms.quadratic import QuadraticModel
    from textodds.model.text_model import Form


def contents_of(form: Form) -> tuple[dict[str, Any], Arrays]:
    """What the header says of a form, and its arrays."""
    if isinstance(form, LinearModel):
        return _linear_contents(form)
    from textodds.learn.forms.low_rank import FactoredModel

    if isinstance(form, FactoredModel):
        about: dict[str, Any] = {"form": "factored", "temperature": float(form.temperature)}
        return about, {f"factored.{name}": array for name, array in form.arrays().items()}
    return _quadratic_contents(form)


def form_of(shape: object, header: dict[str, Any], arrays: Tensors, classes: tuple[str, ...], V: int) -> Form:
    """The form that a file holds, checked."""
    if shape == "linear":
        return _linear(header, arrays, classes, V)
    if shape == "quadratic":
        return _quadratic(header, arrays, classes, V)
    if shape == "factored":
        return _factored(header, arrays, classes, V)
    raise ModelFileError("its form is neither linear nor quadratic")


def _linear_contents(form: LinearModel) -> tuple[dict[str, Any], Arrays]:
    arrays = parts("linear.", form, ("log_prior", "intercept"))
    arrays |= parts("linear.", form.weights, ("default", "slope", "base"))
    if form.weights.dense is not None:
        arrays["linear.dense"] = form.weights.dense.reshape(-1)
    else:
        arrays |= parts("linear.", form.weights, ("starts", "class_of", "exceptions"))
    return {"form": "linear", "presence": form.presence}, arrays


def _quadratic_contents(form: QuadraticModel) -> tuple[dict[str, Any], Arrays]:
    from textodds.learn.forms.quadratic import LowRank, SparseDiagonal

    assert isinstance(form.gaussians, (LowRank, SparseDiagonal))  # those that texts have
    about: dict[str, Any] = {"form": "quadratic", "temperature": form.temperature}
    if isinstance(form.gaussians, SparseDiagonal):
        about["covariance"] = "diagonal"  # of others, as in files of before, nothing is said
    elif any(span is not None for span in form.gaussians.spans):
        about["format"] = SPAN_FORMAT  # earlier versions ask for all directions
    gaussians = {f"quadratic.{name}": array for name, array in form.gaussians.arrays().items()}
    return about, parts("quadratic.", form, ("log_prior", "intercept")) | gaussians


def _factored(header: dict[str, Any], arrays: Tensors, classes: tuple[str, ...], V: int) -> FactoredModel:
    from textodds.learn.forms.low_rank import FactoredModel, Leaves

    get, K = partial(tensor, arrays), len(classes)
    prior, intercept = (get(f"factored.{name}", "f8", K) for name in ("log_prior", "intercept"))
    inner = get("factored.inner", "f8")
    found = part_of(arrays, "factored.leaves.")
    leaves = Leaves.of_arrays(found, K) if found else None
    J = K if leaves is None else K - 1
    output = get("factored.output", "f8") if "factored.output" in arrays else None
    M = J if output is None else output.size // J
    if M < 1 or inner.size != V * M or (output is not None and output.size != M * J):
        raise ModelFileError("the matrices of its features and its classes do not fit together")
    return FactoredModel(
        classes,
        prior,
        inner.reshape(V, M),
        None if output is None else output.reshape(M, J),
        leaves,
        _temperature(header),
        intercept,
    )


def _temperature(header: Mapping[str, object]) -> float:
    temperature = header["temperature"]
    if not isinstance(temperature, float) or not 1e-100 < temperature < 1e100:
        raise ModelFileError("its temperature is not a number above zero")
    return temperature


def tensor(arrays: Tensors, name: str, kind: str, length: int | None = None) -> AnyArray:
    """An array of a file, if it has the type and the length that it must."""
    if name not in arrays:
        raise ModelFileError(f"the tensor `{name}` is missing")
    array = arrays[name]
    if array.dtype != np.dtype(kind) or array.ndim != 1 or (length is not None and array.size != length):
        raise ModelFileError(f"the tensor `{name}` has the wrong type or size")
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            is_sound = np.dot(array, array) < LARGEST**2  # of NaN it is not, and it is the quickest to ask
        if not is_sound:
            raise ModelFileError(
                f"the tensor `{name}` holds a value that is not a finite number, or too large"
            )
    return array


def _linear(header: dict[str, Any], arrays: Tensors, classes: tuple[str, ...], V: int) -> LinearModel:
    get, K, dense = partial(tensor, arrays), len(classes), "linear.dense" in arrays
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
        presence=flag(header, "presence"),
        is_posterior=flag(header, "is_posterior"),
    )


def _quadratic(header: dict[str, Any], arrays: Tensors, classes: tuple[str, ...], V: int) -> QuadraticModel:
    from textodds.learn.forms.quadratic import LowRank, QuadraticModel, SparseDiagonal

    K = len(classes)
    prior, intercept = (tensor(arrays, f"quadratic.{name}", "f8", K) for name in ("log_prior", "intercept"))
    if not (np.isfinite(prior).all() and np.isfinite(intercept).all()):
        raise ModelFileError("its prior or intercept is not a number")
    covariance = header.get("covariance", "full")
    if covariance not in ("full", "diagonal"):
        raise ModelFileError("its covariance is neither full nor diagonal")
    kind = SparseDiagonal if covariance == "diagonal" else LowRank
    gaussians = kind.of_arrays(part_of(arrays, "quadratic."), K, V)
    return QuadraticModel(classes, prior, gaussians, _temperature(header), intercept)


def flag(header: Mapping[str, object], name: str) -> bool:
    """A field of a header that is yes or no."""
    value = header[name]
    if not isinstance(value, bool):
        raise ModelFileError(f"header field `{name}` must be true or false, got `{str(value)[:60]}`")
    return value


def parts(prefix: str, owner: object, names: tuple[str, ...]) -> Arrays:
    """Some arrays of an object, by the names that they have in a file."""
    return {prefix + name: np.asarray(getattr(owner, name)) for name in names}
