"""Models on executors: sent once as a file, mapped by every task of a machine."""

from __future__ import annotations

import atexit
import copy
import hashlib
import os
import shutil
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from textodds.errors import InputError, Unsupported
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ModelOfTexts = TextModel | MultiLabelModel
ModelOrFile = TextModel | str | os.PathLike[str]
AnyModelOrFile = ModelOfTexts | str | os.PathLike[str]


@cache
def _folder() -> Path:
    """Where models wait for executors to fetch them, until the driver ends."""
    folder = Path(tempfile.mkdtemp(prefix="textodds-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def model_of(model: AnyModelOrFile) -> TextModel:
    """A model of one label a text that may be given by its file."""
    found = any_model_of(model)
    if isinstance(found, MultiLabelModel):
        raise Unsupported(
            "on Spark a model of several labels a text predicts and explains, and does nothing else",
            hint="measure it on one machine: model.evaluate(df.toPandas())",
        )
    return found


def any_model_of(model: AnyModelOrFile) -> ModelOfTexts:
    """A model of texts, of one label or of several, that may be given by its file."""
    from textodds.model.file import load

    found: object = load(model) if isinstance(model, str | os.PathLike) else model
    if not isinstance(found, TextModel | MultiLabelModel):
        raise InputError(
            f"on Spark a model of texts is asked, and this is {type(found).__name__}",
            hint="a model of tables answers on one machine: model.predict(rows)",
        )
    if fields := found.recipe.settings.fields:
        raise Unsupported(
            f"the model reads the columns {', '.join(fields)}, and on Spark a text is one column",
            hint="train it on one: df.withColumn('text', concat_ws('\\n', …))",
        )
    return found


def sent(spark: SparkSession, model: ModelOfTexts, *, counts: bool = False) -> str:
    """Send a model to the executors; the name under which they find it."""
    handle, part = tempfile.mkstemp(dir=_folder())  # of its own: pipelines fit in several threads
    os.close(handle)
    place = Path(part)
    if isinstance(model, MultiLabelModel):
        model = copy.copy(model)
        model.held_labels = None  # which only choose thresholds
    model.save(place, counts=counts, documents=False)
    with place.open("rb") as file:
        name = f"textodds-{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}.model"
    path = place.replace(_folder() / name)
    spark.addArtifact(str(path), file=True)
    return name


def loaded(name: str) -> TextModel:
    """The model of one label a text that was sent under a name."""
    found = any_loaded(name)
    assert isinstance(found, TextModel)
    return found


@lru_cache(maxsize=4)
def any_loaded(name: str) -> ModelOfTexts:
    """The model that was sent under a name; opened once by each process of an executor."""
    from pyspark import SparkFiles

    from textodds.model.file import load

    found = load(SparkFiles.get(name), threads=1)
    assert isinstance(found, TextModel | MultiLabelModel)
    return found
