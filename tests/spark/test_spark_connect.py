"""textodds over Spark Connect, where the driver has no Java: the same as anywhere.

A process has either kind of session, so that of this file is in one of its own, which runs this file as well.
"""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cluster import LIGHT, Daemon, Driver, answer

import textodds

SERVER = {
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": LIGHT,
    "spark.sql.shuffle.partitions": "2",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",  # whichever is free
}

SOFTMAX = {"learner": textodds.SoftmaxRegression(C=0.1), "ngrams": (1, 1)}


# What the driver does.


def connect(url):
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")
    return SparkSession.builder.remote(url).getOrCreate().version


def spark():
    from pyspark.sql import SparkSession

    return SparkSession.active()


def frame(file):
    """The data as a DataFrame of Spark Connect, in three partitions."""
    df = spark().read.parquet(file).repartition(3)
    assert type(df).__module__.startswith("pyspark.sql.connect")
    return df


def trained(data, file):
    from textodds.spark import train

    train(frame(data), learner="multinomial").save(file)


def regressed(data, file):
    from textodds.spark import train

    train(frame(data), **SOFTMAX).save(file)


def predicted(data, model):
    """Labels and probabilities by text: as a column, and by SQL."""
    from textodds.spark import predict, register

    register(spark(), model, "mail")
    predict(model, frame(data), probabilities=True).createOrReplaceTempView("answers")
    both = spark().sql("SELECT text, prediction, mail_predict(text) AS asked FROM answers").toArrow()
    return both.to_pylist()


def explained(data, model):
    """Log-odds by text, and what explanations add up to."""
    from textodds.spark import explain

    found = explain(model, frame(data).limit(20))
    words = "aggregate(explanation.words.log_odds, 0D, (sum, each) -> sum + each)"
    total = f"explanation.start + {words} + explanation.remainder AS total"
    return found.selectExpr("text", "explanation.log_odds", total).toArrow().to_pylist()


def left_out(data, model):
    from textodds.spark import leave_one_out

    return leave_one_out(model, frame(data)).select("text", "label", "left_out.own").toArrow().to_pylist()


def measured(data, model, is_left_out):
    from textodds.spark import evaluate

    found = evaluate(model, frame(data), left_out=is_left_out)
    return found.accuracy, found.log_loss


def error_of(data):
    """The error for a row without a label."""
    from textodds.spark import train

    try:
        train(frame(data), learner="multinomial")
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def piped(data, folder):
    """Labels and probabilities of a pipeline, and of the same one saved and loaded; of both kinds."""
    from pyspark.ml import Pipeline, PipelineModel

    from textodds.spark import TextClassifier

    def answers(model):
        return sorted(
            [row.text, row.prediction, row.probability.toArray().tolist()]
            for row in model.transform(df).select("text", "prediction", "probability").distinct().collect()
        )

    df = frame(data)
    pipeline = Pipeline(stages=[TextClassifier(textCol="text", labelCol="label", learner="multinomial")])
    pipeline.write().overwrite().save(f"{folder}/pipeline")
    model = Pipeline.load(f"{folder}/pipeline").fit(df)
    model.write().overwrite().save(f"{folder}/model")
    return answers(model), answers(PipelineModel.load(f"{folder}/model"))


# What is asked of it.


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server of Spark Connect."""
    how = [word for name, value in SERVER.items() for word in ("--conf", f"{name}={value}")]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = ("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", *how, "--class", kind)
    found = Daemon("server", tmp_path_factory.mktemp("server"), *submit, "spark-internal")
    try:
        yield f"sc://127.0.0.1:{found.said('Spark Connect server started at: [^ ]*:([0-9]+)')[1]}"
    finally:
        found.stop()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    found = Driver(__file__, tmp_path_factory.mktemp("connect"))
    yield found
    found.stop()


@pytest.fixture
def driver(shared, server):
    shared.call("connect", server)
    return shared


@pytest.fixture(scope="module")
def data(mail, tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "mail.parquet"
    pq.write_table(mail, file)
    return str(file)


@pytest.fixture(scope="module")
def expected(mail):
    """The model that one machine makes of the data."""
    return textodds.train(mail, learner="multinomial", documents=False)


@pytest.fixture(scope="module")
def model(expected, tmp_path_factory):
    """Its file."""
    file = tmp_path_factory.mktemp("model") / "mail.textodds"
    expected.save(file)
    return str(file)


def test_a_model_is_that_of_one_machine_to_the_bit(driver, data, expected, tmp_path):
    driver.call("trained", data, str(tmp_path / "there"))
    there = textodds.load(tmp_path / "there")
    there.info = expected.info
    there.save(tmp_path / "same")
    expected.save(tmp_path / "here")
    assert (tmp_path / "same").read_bytes() == (tmp_path / "here").read_bytes()


def test_softmax_regression_has_the_optimum_of_one_machine(driver, data, mail, tmp_path):
    driver.call("regressed", data, str(tmp_path / "there"))
    there = textodds.load(tmp_path / "there").info["fit"]
    here = textodds.train(mail, **SOFTMAX).info["fit"]
    assert there["converged"]
    assert there["objective"] == pytest.approx(here["objective"], rel=1e-4)


def test_a_column_and_a_function_of_sql_have_the_predictions_of_the_model(
    driver, data, expected, model, mail
):
    rows = driver.call("predicted", data, model)
    assert sorted(row["text"] for row in rows) == sorted(mail["text"].to_pylist())
    texts = [row["text"] for row in rows]
    posterior = expected.predict_proba(texts)
    for row, label, each in zip(rows, expected.predict(texts), posterior, strict=True):
        assert row["prediction"] == row["asked"]
        assert row["asked"]["label"] == label
        assert dict(row["asked"]["probabilities"]) == dict(zip(expected.classes_, each, strict=True))


def test_explanations_add_up(driver, data, expected, model):
    rows = driver.call("explained", data, model)
    assert len(rows) == 20
    for row in rows:
        assert row["log_odds"] == pytest.approx(expected.explain(row["text"]).log_odds)
        assert row["total"] == pytest.approx(row["log_odds"])


def test_a_model_is_measured_as_on_one_machine(driver, data, expected, model, mail):
    here, left_out = expected.evaluate(mail), expected.leave_one_out(mail)
    assert driver.call("measured", data, model, False) == pytest.approx([here.accuracy, here.log_loss])
    assert driver.call("measured", data, model, True) == pytest.approx([left_out.accuracy, left_out.log_loss])


def test_each_row_is_seen_by_the_model_of_all_others(driver, data, expected, model, mail):
    rows = driver.call("left_out", data, model)
    texts, labels = mail["text"].to_pylist(), mail["label"].to_pylist()
    own = dict(zip(zip(texts, labels, strict=True), np.exp(expected.leave_one_out(mail).own), strict=True))
    assert len(rows) == len(mail)
    for row in rows:
        assert row["own"] == pytest.approx(own[row["text"], row["label"]])


def test_an_error_of_ours_is_raised_as_ours(driver, mail, tmp_path):
    labels = pa.array([None if i == 7 else label for i, label in enumerate(mail["label"].to_pylist())])
    pq.write_table(mail.set_column(1, "label", labels), tmp_path / "data.parquet")
    name, message = driver.call("error_of", str(tmp_path / "data.parquet"))
    assert name == "BadRow"
    assert "label" in message
    assert message.startswith("partition ")
    assert "Traceback" not in message


def test_a_pipeline_is_fitted_saved_and_loaded(driver, data, expected, tmp_path):
    fitted, loaded = driver.call("piped", data, str(tmp_path))
    assert fitted == loaded
    texts = [text for text, _, _ in fitted]
    assert [label for _, label, _ in fitted] == expected.predict(texts).tolist()
    np.testing.assert_allclose([each for _, _, each in fitted], expected.predict_proba(texts))


if __name__ == "__main__":
    answer(globals())
