"""Models on executors: sent once as a file, mapped by every task of a machine."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from textodds.errors import InputError, Unsupported
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ModelOrFile = TextModel | str | os.PathLike[str]


@cache
def _folder() -> Path:
    """Where models wait for executors to fetch them, until the driver ends."""
    folder = Path(tempfile.mkdtemp(prefix="textodds-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def model_of(model: ModelOrFile) -> TextModel:
    """A model of texts that may be given by its file."""
    from textodds.model.file import load_texts

    found: object = model if hasattr(model, "classes_") else load_texts(model)
    if not isinstance(found, TextModel):
        raise InputError(
            f"on Spark export a model of texts asked, and this is {type(found).__name__}",
            hint="a model of tables answers on one machine: model.predict(rows)",
        )
    if fields := found.recipe.settings.fields:
        raise Unsupported(
            f"the model reads the columns {', '.join(fields)}, and on Spark a text is one column",
            hint="train it on one: df.withColumn('text', concat_ws('\\n', …))",
        )
    return found


def sent(spark: SparkSession, model: TextModel, *, counts: bool = False) -> str:
    """Send a model to the executors; the name under which they find it."""
    handle, part = tempfile.mkstemp(dir=_folder())  # of its own: pipelines fit in several threads
    os.close(handle)
    place = Path(part)
    model.save(place, counts=counts, documents=False)
    with place.open("rb") as file:
        name = f"textodds-{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}.model"
    path = place.replace(_folder() / name)
    spark.addArtifact(str(path), file=True)
    return name


@lru_cache(maxsize=4)
def loaded(name: str) -> TextModel:
    """The model that was sent under a name; opened once by each process of an executor."""
    from pyspark import SparkFiles

    from textodds.model.file import load_texts

    return load_texts(SparkFiles.get(name), threads=1)
