"""The pair that pipelines of `pyspark.ml` take: an estimator of texts, and its model."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame

from textodds.errors import InputError, ModelFileError
from textodds.model.file import load_texts
from textodds.model.text_model import TextModel
from textodds.spark.dataframes import must_be_frame, rows_of, text_of
from textodds.spark.prediction import shares
from textodds.spark.training import train

CHUNK = 64 << 20
"""Bytes of a model in one row of a table."""


ASIDE = "__textodds"
"""A column that is there while a DataFrame is transformed."""


def _param(name: str, about: str) -> Param[str]:
    """A parameter that is text."""
    return Param(Params._dummy(), name, about, TypeConverters.toString)


class _Columns(Params):
    """The columns that both read and write."""

    textCol = _param("textCol", "column of the texts")
    predictionCol = _param("predictionCol", "column of the predicted labels")
    probabilityCol = _param("probabilityCol", "column of the probabilities of all classes")

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(predictionCol="prediction", probabilityCol="probability")

    def _column(self, param: Param[str]) -> str | None:
        return self.getOrDefault(param) if self.isDefined(param) else None


class TextClassifier(
    _Columns, Estimator["TextClassifierModel"], DefaultParamsReadable["TextClassifier"], DefaultParamsWritable
):
    """A classifier of texts as a stage of a `pyspark.ml.Pipeline`.

    Parameters
    ----------
    textCol, labelCol, weightCol : str, optional
        Columns; the first two are found by their names if not given.
    predictionCol : str, default "prediction"
        Gets the predicted label, of the type of the labels.
    probabilityCol : str, default "probability"
        Gets a vector of the probabilities of ``model.class_names``, in their order; none if empty.
    **choices
        What `textodds.spark.train` takes beside columns, as plain values: ``learner="softmax"``, ``C=3.0``
        goes with a learner that is named, ``ngrams=(1, 2)``, ``min_df=2``, ``hash_bits=20``, ….
    """

    labelCol = _param("labelCol", "column of the labels")
    weightCol = _param("weightCol", "column of the weights")
    choices = _param("choices", "what train takes, as JSON")

    def __init__(
        self,
        *,
        textCol: str | None = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
        **choices: object,
    ) -> None:
        super().__init__()
        self._setDefault(choices="{}")
        given = {
            "textCol": textCol,
            "labelCol": labelCol,
            "weightCol": weightCol,
            "predictionCol": predictionCol,
            "probabilityCol": probabilityCol,
        }
        if choices:
            try:
                given["choices"] = json.dumps(choices)
            except TypeError as error:
                raise InputError(
                    f"a parameter is not a plain value: {error}",
                    hint="name the learner: learner='softmax', C=3.0",
                ) from error
        self._set(**{name: value for name, value in given.items() if value is not None})

    def _fit(self, dataset: DataFrame) -> TextClassifierModel:
        df = must_be_frame(dataset)
        columns = [self._column(param) for param in (self.textCol, self.labelCol, self.weightCol)]
        kind = rows_of(df, *columns, labelled=True).schema["label"].dataType.simpleString()
        model = train(df, *columns, **_arguments(json.loads(self.getOrDefault(self.choices))))
        assert isinstance(model, TextModel)  # labels are not arrays
        return self._copyValues(TextClassifierModel(model, kind))


def _arguments(choices: dict[str, Any]) -> dict[str, Any]:
    """Plain values as `train` takes them: those of a learner go to the learner."""
    from textodds.learn.registry import AUTO, LEARNERS, canonical, learner_named, settings_of

    for name, value in choices.items():
        if isinstance(value, list) and name != "learner":
            choices[name] = tuple(value)
    learner = choices.get("learner")
    if isinstance(learner, str) and learner != AUTO and not set(learner) & set(":,"):
        learner = canonical(learner)
        known = settings_of(LEARNERS[learner].load())
        own = {name: choices.pop(name) for name in list(choices) if name in known}
        choices["learner"] = learner_named(learner, **own)
    return choices


class TextClassifierModel(_Columns, Model, MLReadable["TextClassifierModel"], MLWritable):
    """A model of texts as a stage of a `pyspark.ml.PipelineModel`; made by `TextClassifier`.

    Attributes
    ----------
    model : TextModel
        The model itself, which also predicts, explains and saves outside Spark.
    """

    labelType = _param("labelType", "type of the labels")

    def __init__(self, model: TextModel, label_type: str = "string") -> None:
        super().__init__()
        self.model = model
        self._set(labelType=label_type)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        from pyspark.ml.functions import array_to_vector
        from pyspark.sql.functions import col, when

        df = must_be_frame(dataset)
        found: DataFrame = df.withColumn(
            ASIDE, shares(df.sparkSession, self.model)(text_of(df, self._column(self.textCol)))
        )
        label = col(f"{ASIDE}.label").cast(self.getOrDefault(self.labelType))
        found = found.withColumn(self.getOrDefault(self.predictionCol), label)
        if wanted := self.getOrDefault(self.probabilityCol):
            given = col(f"{ASIDE}.shares")
            found = found.withColumn(wanted, when(given.isNotNull(), array_to_vector(given)))
        return found.drop(ASIDE)

    def write(self) -> MLWriter:
        """What saves it, wherever Spark can write."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[TextClassifierModel]:
        """What loads it."""
        return _Reader(cls)


class _Writer(MLWriter):
    def __init__(self, instance: TextClassifierModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        """Parameters as `pyspark.ml` has them, and the model file cut into rows."""
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, spark)
        with tempfile.TemporaryDirectory(prefix="textodds-") as folder:
            file = Path(folder) / "model.textodds"
            self.instance.model.save(file)
            data = file.read_bytes()
        rows = [(number, data[at : at + CHUNK]) for number, at in enumerate(range(0, len(data), CHUNK))]
        spark.createDataFrame(rows, "number int, bytes binary").coalesce(1).write.parquet(f"{path}/model")


class _Reader(MLReader[TextClassifierModel]):
    def __init__(self, kind: type[TextClassifierModel]) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> TextClassifierModel:
        """What `_Writer` saved."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        rows = self.sparkSession.read.parquet(f"{path}/model").orderBy("number").collect()
        if [row.number for row in rows] != list(range(len(rows))) or not rows:
            raise ModelFileError(f"the model at `{path}` is incomplete", hint="save it again")
        folder = tempfile.mkdtemp(prefix="textodds-")  # the file is mapped as long as the model lives
        file = Path(folder) / "model.textodds"
        file.write_bytes(b"".join(bytes(row.bytes) for row in rows))
        instance = self.kind(load_texts(file))
        file.unlink()  # the map keeps what it needs
        Path(folder).rmdir()
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance
