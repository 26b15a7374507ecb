"""Several labels a text on Spark: predictions are those of one machine, and counts by set of labels add."""

import numpy as np
import pyarrow as pa
import pytest

import textodds
from label_texts import label_texts
from textodds import spark as on_spark
from textodds.errors import InputError, Unsupported
from textodds.learn.naive_bayes import MultinomialLearner

TEXTS, SETS = label_texts(400)
ASKED = [
    "my invoice is broken",
    None,
    "",
    "terrible terrible service",
    "nothing known xyz",
    "great and quick",
]


@pytest.fixture(scope="module")
def tickets(spark):
    rows = pa.table({"text": TEXTS, "label": pa.array(SETS, pa.list_(pa.string()))})
    return spark.createDataFrame(rows).repartition(3).cache()


@pytest.fixture(scope="module")
def asked(spark):
    return spark.createDataFrame(pa.table({"number": range(len(ASKED)), "text": ASKED})).coalesce(1).cache()


@pytest.fixture(scope="module")
def model():
    return textodds.train(TEXTS, SETS, learner=MultinomialLearner(0.3))


def by_number(df):
    return [row.asDict(recursive=True) for row in df.orderBy("number").collect()]


def test_predictions_are_those_of_the_model(spark, asked, model, tmp_path):
    model.save(tmp_path / "tickets.textodds")
    rows = by_number(on_spark.predict(tmp_path / "tickets.textodds", asked, probabilities=True))
    assert [row["text"] for row in rows] == ASKED
    for row in rows:
        if row["text"] is None:
            assert row["prediction"] is None
            continue
        expected = model(row["text"])
        assert row["prediction"]["labels"] == list(expected.labels)
        assert row["prediction"]["evidence"] == expected.evidence
        assert row["prediction"]["probabilities"] == pytest.approx(expected.probabilities, rel=1e-12)
    plain = by_number(on_spark.predict(model, asked))
    assert set(plain[0]["prediction"]) == {"labels", "evidence"}


def test_explanations_and_sql_know_several_labels(spark, asked, model):
    on_spark.register(spark, model, "tickets")
    asked.createOrReplaceTempView("tickets_asked")
    said = "SELECT text, tickets_predict(text) AS said, tickets_explain(text) AS why FROM tickets_asked"
    for row in spark.sql(said).collect():
        if row.text is None:
            assert row.said is None
            continue
        assert row.said.labels == list(model(row.text).labels)
        assert row.why.label == model.explain(row.text).label
        assert row.why.log_odds == pytest.approx(model.explain(row.text).log_odds)


@pytest.mark.parametrize("goal", [None, "precision=0.8"])
def test_multinomial_is_counted_by_set_of_labels_as_on_one_machine(tickets, goal):
    learner = MultinomialLearner(0.3)
    there = on_spark.train(tickets, learner=learner, goal=goal)
    here = textodds.train(TEXTS, SETS, learner=learner, goal=goal)
    assert there.class_names == here.class_names
    assert there.class_documents == here.class_documents
    assert there.goal == here.goal
    np.testing.assert_allclose(
        there.predict_proba(TEXTS, calibrate=False), here.predict_proba(TEXTS, calibrate=False), rtol=1e-12
    )
    np.testing.assert_allclose(there.predict_proba(TEXTS), here.predict_proba(TEXTS), rtol=0, atol=1e-6)
    np.testing.assert_allclose(there.thresholds, here.thresholds, rtol=0, atol=1e-6)
    assert there.predict(TEXTS) == here.predict(TEXTS)
    assert not there.has_documents


def test_the_smoothing_is_chosen_and_weights_and_bad_rows_count(spark):
    weights = np.random.default_rng(0).choice([0.5, 1.0, 1 / 3], 401)
    rows = pa.table(
        {
            "text": [*TEXTS, None],
            "label": pa.array([*SETS[:-1], None, ["angry"]], pa.list_(pa.string())),
            "weight": weights,
        }
    )
    df = spark.createDataFrame(rows).repartition(2)
    model = on_spark.train(df, weight="weight", learner="multinomial", bad_rows="skip")
    assert model.info["rejected"] == 1
    assert model.recipe.learner.alpha is not None
    assert model.held_labels is not None
    assert model.n_texts == pytest.approx(weights[:400].sum())


def test_what_takes_one_machine_says_so(spark, tickets, model):
    for how in ({}, {"learner": "softmax"}, {"learner": "multinomial", "typical": True}):
        with pytest.raises(Unsupported, match="several labels a text are learned by multinomial") as error:
            on_spark.train(tickets, **how)
        assert "one machine" in error.value.hint
    one = spark.createDataFrame(pa.table({"text": ["a", "b"], "label": ["x", "y"]}))
    with pytest.raises(InputError, match="`goal` is for several labels"):
        on_spark.train(one, learner="multinomial", goal="f1")
    with pytest.raises(InputError, match="label_separator") as error:
        on_spark.train(one, learner="multinomial", label_separator="|")
    assert "array" in error.value.hint
    with pytest.raises(Unsupported, match="predicts and explains"):
        on_spark.evaluate(model, one)
    with pytest.raises(Unsupported, match="are arrays, several a row"):
        on_spark.evaluate(textodds.train(["a", "b"], ["x", "y"]), tickets)
    with pytest.raises(Unsupported, match="are arrays, several a row"):
        on_spark.TextClassifier(learner="multinomial").fit(tickets)
