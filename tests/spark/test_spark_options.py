"""Every option of `textodds.train` acts on Spark as on one machine, or is refused."""

from pathlib import Path

import pytest

from option_cases import CASED, folder  # noqa: F401 - a fixture, for every test
from textodds import spark as on_spark
from textodds.errors import TextoddsError

SCHEMAS = {}
"""Of the files of the cases, which are the same for every test: Spark reads each once to find its types."""


def read(spark, name):
    reader = spark.read.schema(SCHEMAS[name]) if name in SCHEMAS else spark.read.option("inferSchema", True)
    df = reader.csv(str(Path(name).resolve()), header=True)
    SCHEMAS[name] = df.schema
    return df


@CASED
def test_an_option_acts_on_spark_or_is_refused(spark, option, given, arguments, data, acts, there):
    df = read(spark, data or "mail.csv")
    if there != "refused":
        model = on_spark.train(df, **{"learner": given.get("learner"), **there})
        assert acts is None or acts(model)
        return
    with pytest.raises(TextoddsError) as caught:
        on_spark.train(df, **given)
    assert caught.value.hint
