"""The MLflow flavour: models as MLflow models, whose artefact is the model file.

Reached as ``textodds.mlflow``. MLflow is imported where it is used: this module costs nothing without it.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import textodds
from textodds.errors import InputError, require, suggestion
from textodds.model.file import load
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.tables.table_model import TableModel
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    import pandas as pd
    from mlflow.models import Model as MlflowModel
    from mlflow.models import ModelSignature
    from mlflow.models.model import ModelInfo
    from numpy.typing import NDArray

    from textodds.model.file import AnyModel

__all__ = ["FLAVOR_NAME", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "textodds"
FILE = "model.textodds"
TEXT = "text"  # which column holds the texts, where there are several


def save_model(
    model: AnyModel,
    path: str | os.PathLike[str],
    *,
    mlflow_model: MlflowModel | None = None,
    signature: ModelSignature | None = None,
    input_example: object = None,
    pip_requirements: object = None,
    extra_pip_requirements: list[str] | None = None,
    conda_env: object = None,
    counts: bool = True,
    documents: bool = True,
    **options: object,
) -> None:
    """Save a model as an MLflow model in a new folder.

    The folder holds the model file (no pickle), the signature, an example of an input, and the requirements:
    this version of textodds, unless ``pip_requirements`` or ``conda_env`` say otherwise. ``counts`` and
    ``documents`` are those of ``model.save``; other options are those of ``mlflow.pyfunc.save_model``.

    Examples
    --------
    >>> import tempfile, textodds
    >>> from pathlib import Path
    >>> model = textodds.train(["free phone", "see you at six"], ["spam", "ham"])
    >>> folder = Path(tempfile.mkdtemp()) / "mail"
    >>> textodds.mlflow.save_model(model, folder)
    >>> textodds.mlflow.load_model(folder)("a free offer").label
    'spam'
    """
    pyfunc, models = _mlflow()
    _must_be_model(model)
    if pip_requirements is None and conda_env is None:
        needed = f"textodds[mlflow]=={textodds.__version__}"
        pip_requirements, extra_pip_requirements = [needed, *(extra_pip_requirements or ())], None
    saved = models.Model() if mlflow_model is None else mlflow_model
    saved.add_flavor(FLAVOR_NAME, textodds_version=textodds.__version__, data=f"data/{FILE}", code=None)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        model.save(file, counts=counts, documents=documents)
        pyfunc.save_model(
            path=os.fspath(path),
            loader_module=__name__,
            data_path=str(file),
            mlflow_model=saved,
            signature=_signature(model) if signature is None else signature,
            input_example=_example(model) if input_example is None else input_example,
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            conda_env=conda_env,
            **options,
        )


def log_model(model: AnyModel, name: str | None = None, **options: object) -> ModelInfo:
    """Log a model to the current run, or to a new one; the information that MLflow has of it.

    ``name`` is that of the logged model. Options are those of `save_model`, and those that every flavour's
    ``log_model`` has: ``registered_model_name``, ``tags``, ``metadata``, ``model_type``, ``step`` and others.
    """
    from textodds.interop import mlflow as flavor

    _, models = _mlflow()
    _must_be_model(model)
    return models.Model.log(artifact_path=None, name=name, flavor=flavor, model=model, **options)


def load_model(model_uri: str | os.PathLike[str], dst_path: str | os.PathLike[str] | None = None) -> AnyModel:
    """The model that was saved or logged, by its folder or by a URI of MLflow (``models:/…``, ``runs:/…``).

    What has to be downloaded is kept in ``dst_path`` if that is given, else in a folder of MLflow's choice.
    """
    _, models = _mlflow()
    from mlflow.artifacts import download_artifacts

    kept = None if dst_path is None else os.fspath(dst_path)
    folder = Path(download_artifacts(artifact_uri=os.fspath(model_uri), dst_path=kept))
    flavors: Mapping[str, Mapping[str, Any]] = models.Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise InputError(
            f"`{os.fspath(model_uri)}` is not a model of textodds; its flavours are {', '.join(flavors)}",
            hint="open it with `mlflow.pyfunc.load_model`",
        )
    return load(folder / flavors[FLAVOR_NAME]["data"])


def _load_pyfunc(path: str) -> PyfuncModel:
    """The model as ``mlflow.pyfunc.load_model`` wants it, by the path of its file."""
    return PyfuncModel(load(path))


class PyfuncModel:
    """A model with the face that MLflow gives to all: a frame in, labels or probabilities out."""

    def __init__(self, model: AnyModel) -> None:
        self._model = model

    def get_raw_model(self) -> AnyModel:
        """The model itself."""
        return self._model

    def predict(
        self, data: object, params: Mapping[str, object] | None = None
    ) -> NDArray[np.generic] | list[list[Any]] | pd.DataFrame:
        """The label of each text or row, or a list of its labels where it may have several.

        With ``params={"proba": True}`` it is a frame of probabilities, a column for each class.

        Texts come as a list, an array, a series, or a frame whose only column they are, or whose column
        `text`. Rows come as a frame, or as a list of dicts.
        """
        given = dict(params or {})
        proba = given.pop("proba", False)
        if not isinstance(proba, bool | np.bool_):
            raise InputError(f"the parameter `proba` must be true or false, got {proba!r}")
        if given:
            name = next(iter(given))
            raise InputError(
                f"there is no parameter `{name}`{suggestion(name, ['proba'])}", hint="the only one is `proba`"
            )
        items = data if _reads_rows(self._model) else _texts(data)
        if not proba:
            found = self._model.predict(items)
            return [list(labels) for labels in found] if isinstance(self._model, MultiLabelModel) else found
        import pandas as pd

        index = data.index if isinstance(data, pd.DataFrame | pd.Series) else None
        return pd.DataFrame(
            self._model.predict_proba(items), columns=list(self._model.class_names), index=index
        )


def _mlflow() -> tuple[Any, Any]:
    """MLflow's modules of generic models and of what a model is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own type hints, when it is imported
        require("mlflow", "pandas", why="an MLflow model")
        import mlflow.models
        import mlflow.pyfunc
    return mlflow.pyfunc, mlflow.models


def _must_be_model(model: object) -> None:
    if not isinstance(model, TextModel | TableModel | MultiLabelModel):
        raise InputError(
            f"`textodds.mlflow` saves what `textodds.train` returns, got {type(model).__name__}",
            hint="of a `TextClassifier` give its `model_`; save other estimators with `mlflow.sklearn`",
        )


def _reads_rows(model: AnyModel) -> bool:
    return isinstance(model, TableModel) or bool(model.recipe.settings.fields)


def _columns(model: AnyModel) -> list[tuple[str, str]]:
    """The columns that a model of rows reads, with their kinds."""
    if isinstance(model, TableModel):
        return [(column.name, column.kind) for column in model.schema.used]
    return [(name, "text") for name in model.recipe.settings.fields]


def _texts(data: Any) -> Any:
    """The texts of a frame or of an array with one column; what is neither stays as it is."""
    columns = getattr(data, "columns", None)
    if columns is not None:
        if len(columns) == 1:
            return data.iloc[:, 0].tolist()
        if TEXT in columns:
            return data[TEXT].tolist()
        shown = ", ".join(map(str, list(columns)[:10]))
        raise InputError(
            f"the model reads one text, and the frame has {len(columns)} columns: {shown}",
            hint=f"give the column of texts alone, or name it `{TEXT}`",
        )
    if isinstance(data, np.ndarray):
        if data.ndim == 2 and data.shape[1] == 1:
            data = data[:, 0]
        return data.tolist()
    return data


def _signature(model: AnyModel) -> ModelSignature:
    """What the model takes and gives.

    Numbers and categories are of any type: MLflow would refuse whole numbers where it expects others, and
    numbers where it expects the text of a category; reading them checks the values.
    """
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema
    from mlflow.types.schema import AnyType, Array

    inputs = [
        ColSpec("string" if kind == "text" else AnyType(), name, required=False)
        for name, kind in (_columns(model) if _reads_rows(model) else ())
    ]
    kind = {bool: "boolean", int: "long", float: "double"}.get(type(model.classes_[0]), "string")
    output = ColSpec(Array(kind) if isinstance(model, MultiLabelModel) else kind)
    return ModelSignature(
        inputs=Schema(inputs or [ColSpec("string")]),
        outputs=Schema([output]),
        params=ParamSchema([ParamSpec("proba", "boolean", default=False)]),
    )


def _example(model: AnyModel) -> object:
    """An input of the kind that the model reads."""
    if not _reads_rows(model):
        return ["an example of a text"]
    usual: dict[str, object] = {"number": 1.0, "category": "an example", "text": "an example"}
    row = {name: usual.get(kind) for name, kind in _columns(model)}
    if isinstance(model, TableModel):
        row |= {each.name: [1.0] * each.size for each in model.schema.used if each.size is not None}
    return [row]
