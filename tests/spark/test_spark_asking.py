"""Asking a model on Spark: the numbers that it gives on one machine, as columns and in SQL."""

import numpy as np
import pyarrow as pa
import pytest
from naive import trained_here, trained_there

from textodds import spark as on_spark
from textodds.errors import NoData
from textodds.learn.naive_bayes import BernoulliLearner
from textodds.learn.softmax.regression import SoftmaxLearner

TEXTS = ["free prize now", None, "", "dinner with mum, mum and the kids", "nothing known", "call call six"]

ODD = {"text": "the `text`.of it", "label": "a.label", "weight": "how much"}


@pytest.fixture(scope="module")
def model(mail):
    found = trained_here(mail)
    assert found.calibration is not None
    return found


@pytest.fixture(scope="module")
def asked(spark):
    """Texts to ask of, one of them null."""
    rows = pa.table({"number": range(len(TEXTS)), "text": TEXTS, "prediction": ["old"] * len(TEXTS)})
    return spark.createDataFrame(rows).coalesce(1).cache()


@pytest.fixture(scope="module")
def odd(spark, mail):
    """Labelled rows with weights under names that Spark would take for something else, and the same rows."""
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(mail))
    table = pa.table([mail["text"], mail["label"], pa.array(weights)], list(ODD.values()))
    return table, spark.createDataFrame(table).cache()


def by_number(df):
    return [row.asDict(recursive=True) for row in df.orderBy("number").collect()]


def same_prediction(found, expected):
    assert found["label"] == expected.label
    assert found["evidence"] == expected.evidence
    assert found["probability"] == pytest.approx(expected.probability, rel=1e-12)


def test_predictions_are_those_of_the_model(asked, model, tmp_path):
    """Of a model that is given by its file; and a column of that name is replaced."""
    model.save(tmp_path / "mail.textodds")
    df = on_spark.predict(tmp_path / "mail.textodds", asked, probabilities=True)
    assert df.columns == asked.columns
    rows = by_number(df)
    assert [row["text"] for row in rows] == TEXTS
    for row in rows:
        if row["text"] is None:
            assert row["prediction"] is None
            continue
        expected = model(row["text"])
        same_prediction(row["prediction"], expected)
        assert row["prediction"]["probabilities"] == pytest.approx(expected.probabilities, rel=1e-12)


def test_predictions_of_a_softmax_model_by_another_name(asked, mail):
    softmax = trained_here(mail, learner=SoftmaxLearner(C=1.0), ngrams=(1, 2))
    df = on_spark.predict(softmax, asked, "text", column="said `so`.far")
    assert df.columns == [*asked.columns, "said `so`.far"]
    for row in by_number(df):
        assert row["prediction"] == "old"
        if row["text"] is not None:
            assert set(row["said `so`.far"]) == {"label", "probability", "evidence"}
            same_prediction(row["said `so`.far"], softmax(row["text"]))


def test_explanations_are_those_of_the_model(asked, model):
    for row in by_number(on_spark.explain(model, asked)):
        if row["text"] is None:
            assert row["explanation"] is None
            continue
        found, expected = row["explanation"], model.explain(row["text"])
        assert (found["label"], found["rival"]) == (expected.label, expected.rival)
        for name in ("probability", "log_odds", "start", "remainder"):
            assert found[name] == pytest.approx(getattr(expected, name), rel=1e-12, abs=1e-12)
        assert [(word["word"], word["count"]) for word in found["words"]] == [
            (word.word, word.count) for word in expected.words
        ]
        total = found["start"] + found["remainder"] + sum(word["log_odds"] for word in found["words"])
        assert total == pytest.approx(found["log_odds"], abs=1e-9)


def test_sql_knows_a_model_that_is_registered(spark, asked, model):
    on_spark.register(spark, model, "mail")
    asked.createOrReplaceTempView("asked")
    rows = spark.sql(
        "SELECT text, mail_predict(text) AS said, get(mail_explain(text).words, 0).word AS first FROM asked"
    ).collect()
    for row in rows:
        if row.text is None:
            assert row.said is None
            assert row.first is None
        else:
            expected = model(row.text)
            same_prediction(row.said, expected)
            assert row.said.probabilities == pytest.approx(expected.probabilities, rel=1e-12)
            words = model.explain(row.text).words
            assert row.first == (words[0].word if words else None)


def test_bytes_are_asked_of_as_texts_and_broken_ones_have_no_answer(spark, model):
    rows = [(0, b"free prize"), (1, b"free \xff"), (2, None)]
    df = spark.createDataFrame(rows, "number int, body binary").coalesce(1)
    found = by_number(on_spark.predict(model, df))
    same_prediction(found[0]["prediction"], model("free prize"))
    assert found[1]["prediction"] is None
    assert found[2]["prediction"] is None


def test_where_there_is_nothing_to_ask_there_is_no_answer(asked, model):
    df = on_spark.predict(model, asked.where("number < 0"))
    assert df.collect() == []
    assert df.schema["prediction"].dataType.fieldNames() == ["label", "probability", "evidence"]


def test_a_model_of_columns_with_odd_names(odd):
    table, df = odd
    found = trained_there(df, **ODD)
    expected = trained_here(table, **ODD)
    assert found.tally == expected.tally
    assert found.calibration.slopes.tobytes() == expected.calibration.slopes.tobytes()
    found = on_spark.evaluate(expected, df, ODD["text"], ODD["label"])
    same_evaluation(found, expected.evaluate(table, text=ODD["text"], label=ODD["label"]))
    said = on_spark.predict(expected, df, ODD["text"]).select("prediction.label").toArrow()["label"]
    assert said.to_pylist() == expected.predict(table[ODD["text"]]).tolist()


def same_evaluation(found, expected):
    for name in ("n", "accuracy", "accuracy_interval", "macro_f1", "macro_f1_interval", "confusion"):
        assert getattr(found, name) == getattr(expected, name)
    assert (found.no_evidence, found.unknown_labels) == (expected.no_evidence, expected.unknown_labels)
    assert found.log_loss == pytest.approx(expected.log_loss, rel=1e-12)
    assert found.log_loss_interval == pytest.approx(expected.log_loss_interval, rel=1e-9)
    np.testing.assert_allclose(np.array(found.reliability), np.array(expected.reliability), rtol=1e-9)


def test_an_evaluation_is_that_of_one_machine(spark, mail, model):
    """In several partitions, and with a label that the model does not have."""
    table = pa.concat_tables([mail, pa.table({"text": ["free", "zzz"], "label": ["news", "work"]})])
    found = on_spark.evaluate(model, spark.createDataFrame(table).repartition(3))
    expected = model.evaluate(table)
    assert expected.unknown_labels == {"news": 1}
    assert expected.no_evidence == 1
    same_evaluation(found, expected)


def test_leaving_out_is_that_of_one_machine(odd):
    table, df = odd
    model = trained_here(table, **ODD)
    expected = model.leave_one_out(table, **ODD)
    names = (ODD["text"], ODD["label"], ODD["weight"])
    rows = on_spark.leave_one_out(model, df, *names, column="out").select("out").toArrow()["out"].to_pylist()
    assert len(rows) == len(table)
    weighing = [i for i, row in enumerate(rows) if row is not None]
    assert weighing == expected.rows.tolist()  # rows without weight were not learned
    assert [rows[i]["label"] for i in weighing] == [
        model.classes_[k] for k in expected.log_posterior.argmax(axis=1)
    ]
    own, top = np.exp(expected.own), np.exp(expected.log_posterior.max(axis=1))
    np.testing.assert_allclose([rows[i]["own"] for i in weighing], own, rtol=1e-12)
    np.testing.assert_allclose([rows[i]["probability"] for i in weighing], top, rtol=1e-12)


def test_an_evaluation_by_leaving_out_is_that_of_one_machine(odd):
    table, df = odd
    model = trained_here(table, **ODD)
    expected = model.leave_one_out(table, **ODD)
    found = on_spark.evaluate(model, df, *ODD.values(), left_out=True)
    assert found.n == len(expected.rows)
    assert found.accuracy == expected.accuracy
    assert found.log_loss == pytest.approx(expected.log_loss, rel=1e-12)


def test_a_partition_whose_rows_have_no_weight_has_nothing_to_leave_out(spark, mail, model):
    df = spark.createDataFrame(mail.slice(0, 3)).coalesce(1).selectExpr("*", "0.0D as w")
    rows = on_spark.leave_one_out(model, df, weight="w").collect()
    assert [row.left_out for row in rows] == [None] * 3
    with pytest.raises(NoData):
        on_spark.evaluate(model, df, weight="w", left_out=True)


def test_leaving_out_of_bernoulli_passes_over_rows_that_cannot_have_been_learned(spark, mail):
    model = trained_here(mail, learner=BernoulliLearner())
    expected = model.leave_one_out(mail)
    bad = pa.table({"text": ["free", None], "label": [None, "spam"]})
    df = spark.createDataFrame(pa.concat_tables([bad, mail])).coalesce(1)
    rows = on_spark.leave_one_out(model, df).select("left_out").toArrow()["left_out"].to_pylist()
    assert rows[:2] == [None, None]
    np.testing.assert_allclose([row["own"] for row in rows[2:]], np.exp(expected.own), rtol=1e-12)
    report = on_spark.evaluate(model, df, left_out=True, bad_rows="skip")
    assert report.n == len(mail)
    assert report.accuracy == expected.accuracy
    assert report.log_loss == pytest.approx(expected.log_loss, rel=1e-12)
