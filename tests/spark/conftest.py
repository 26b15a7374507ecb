"""One small session of Spark for all tests here, and data for it."""

import os
import sys
import warnings

import pyarrow as pa
import pytest

PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"

QUIET = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # jobs here are too short to be compiled well
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
}


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/spark/" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings(PANDAS))
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # `python3` may be another, without textodds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = SparkSession.builder.master("local[2]").config(map=QUIET).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def mail():
    """400 short texts of three classes, some of them twice."""
    words = {
        "spam": "free prize win cash now click offer phone claim bonus".split(),
        "work": "meeting report deadline project budget review team plan call six".split(),
        "home": "dinner love kids weekend garden call mum see you six".split(),
    }
    texts, labels = [], []
    for i in range(400):
        label = ("spam", "work", "home")[(i * 7 // 3) % 3]
        own, other = words[label], words[("work", "home", "spam")[i % 3]]
        texts.append(
            " ".join(
                [own[i % 10], own[(i * 3 + 1) % 10], other[(i * 5) % 10], own[(i // 7) % 10]][: 2 + i % 3]
            )
        )
        labels.append(label)
    return pa.table({"text": texts, "label": labels})
