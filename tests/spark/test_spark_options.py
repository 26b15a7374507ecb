"""Every option of `textodds.train` acts on Spark as on one machine, or is refused."""

from pathlib import Path

import pytest

from option_cases import CASED, folder  # noqa: F401 - a fixture, for every test
from textodds import spark as on_spark
from textodds.errors import TextoddsError


@CASED
def test_an_option_acts_on_spark_or_is_refused(spark, option, given, arguments, data, acts, there):
    df = spark.read.csv(str(Path(data or "mail.csv").resolve()), header=True, inferSchema=True)
    if there != "refused":
        model = on_spark.train(df, **{"learner": given.get("learner"), **there})
        assert acts is None or acts(model)
        return
    with pytest.raises(TextoddsError) as caught:
        on_spark.train(df, **given)
    assert caught.value.hint
