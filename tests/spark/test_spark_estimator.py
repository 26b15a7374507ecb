"""The estimator and its model in pipelines of pyspark.ml: fitted, copied, saved, loaded, measured."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from naive import trained_here
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import SQLTransformer

from textodds.errors import InputError, MissingColumn, ModelFileError, Unsupported
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.spark import TextClassifier, TextClassifierModel
from textodds.spark.models import sent

NUMBERS = {"spam": 2.0, "work": 0.0, "home": 1.0}


@pytest.fixture(scope="module")
def table(mail):
    """Texts with labels as numbers, as evaluators of Spark want them, and weights."""
    labels = pa.array([NUMBERS[label] for label in mail["label"].to_pylist()])
    weights = pa.array(np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(mail)))
    return pa.table({"body": mail["text"], "kind": labels, "times": weights})


@pytest.fixture(scope="module")
def df(spark, table):
    return spark.createDataFrame(table).cache()


@pytest.fixture(scope="module")
def pipeline():
    """Upper case, which our words are not, and then our classifier."""
    before = SQLTransformer(statement="SELECT *, concat('Dear ', upper(body)) AS said FROM __THIS__")
    words = {"learner": "multinomial", "min_df": 2, "ngrams": (1, 2)}
    after = TextClassifier(textCol="said", labelCol="kind", weightCol="times", **words)
    return Pipeline(stages=[before, after])


@pytest.fixture(scope="module")
def fitted(pipeline, df):
    return pipeline.fit(df)


@pytest.fixture(scope="module")
def answers(fitted, df):
    """What the pipeline says of the rows that it has learned from."""
    return fitted.transform(df).cache()


@pytest.fixture(scope="module")
def expected(table):
    """What the pipeline is to have learned, on one machine."""
    texts = [f"Dear {text.upper()}" for text in table["body"].to_pylist()]
    model = trained_here(
        texts, table["kind"].to_pylist(), table["times"].to_pylist(), min_df=2, ngrams=(1, 2)
    )
    return texts, model


def test_a_pipeline_learns_what_one_machine_does_and_answers_alike(fitted, answers, expected):
    texts, model = expected
    assert fitted.stages[1].model.tally == model.tally
    assert answers.columns == ["body", "kind", "times", "said", "prediction", "probability"]
    rows = answers.collect()
    assert [row.prediction for row in rows] == [float(label) for label in model.predict(texts)]
    vectors = np.array([row.probability.toArray() for row in rows])
    assert model.class_names == ("0", "1", "2")
    np.testing.assert_allclose(vectors, model.predict_proba(texts), rtol=1e-12)


def test_evaluators_of_spark_measure_what_we_measure(answers, table, expected):
    texts, model = expected
    ours = model.evaluate(texts, table["kind"].to_pylist())
    for metric, value in (("accuracy", ours.accuracy), ("logLoss", ours.log_loss)):
        evaluator = MulticlassClassificationEvaluator(labelCol="kind", metricName=metric)
        assert evaluator.evaluate(answers) == pytest.approx(value, rel=1e-9)


def test_what_is_saved_is_loaded(fitted, pipeline, df, answers, tmp_path):
    pipeline.write().overwrite().save(str(tmp_path / "estimator"))
    again = Pipeline.load(str(tmp_path / "estimator")).getStages()[1]
    assert isinstance(again, TextClassifier)
    assert again.uid == pipeline.getStages()[1].uid
    assert again.extractParamMap() == pipeline.getStages()[1].extractParamMap()

    fitted.write().overwrite().save(str(tmp_path / "model"))
    loaded = PipelineModel.load(str(tmp_path / "model"))
    assert isinstance(loaded.stages[1], TextClassifierModel)
    assert loaded.stages[1].uid == fitted.stages[1].uid
    assert loaded.stages[1].model.tally == fitted.stages[1].model.tally
    assert loaded.transform(df).collect() == answers.collect()


def test_a_model_that_is_not_whole_is_refused(spark, fitted, tmp_path):
    path = str(tmp_path / "model")
    fitted.stages[1].save(path)
    with pytest.raises(Exception, match="already exists"):
        fitted.stages[1].save(path)
    spark.createDataFrame([(1, b"rest")], "number int, bytes binary").write.mode("overwrite").parquet(
        f"{path}/model"
    )
    with pytest.raises(ModelFileError, match="is incomplete"):
        TextClassifierModel.load(path)


def test_labels_come_back_in_their_own_type(spark, mail):
    right = []
    for kind, value in (("boolean", "label = 'spam'"), ("int", "ascii(label) * 7")):
        rows = spark.createDataFrame(mail).selectExpr("text", f"cast({value} as {kind}) as label").coalesce(1)
        classifier = TextClassifier(probabilityCol="", predictionCol="said", learner="multinomial")
        found = classifier.fit(rows).transform(rows)
        assert found.columns == ["text", "label", "said"]
        assert found.schema["said"].dataType == rows.schema["label"].dataType
        right.append(found.where("said = label").count())
    assert min(right) > 0.95 * len(mail)


def test_texts_that_are_null_have_no_prediction(fitted, spark):
    df = spark.createDataFrame([(None,), ("free",)], "said string").coalesce(1)
    rows = fitted.stages[1].transform(df).collect()
    assert [row.prediction is None for row in rows] == [True, False]
    assert [row.probability is None for row in rows] == [True, False]


def test_a_fit_with_other_parameters_is_one_of_a_copy(df, table):
    estimator = TextClassifier(
        textCol="body", labelCol="kind", predictionCol="said", learner="multinomial", min_df=1
    )
    changed = {
        estimator.predictionCol: "other",
        estimator.choices: '{"learner": "multinomial", "min_df": 30, "calibrate": false}',
    }
    found = estimator.fit(df.coalesce(1), changed)
    assert found.getOrDefault("predictionCol") == "other"
    assert estimator.getOrDefault("predictionCol") == "said"
    expected = trained_here(table, text="body", label="kind", min_df=30, calibrate=False)
    assert found.model.vocabulary.words() == expected.vocabulary.words()
    assert found.model.calibration is None
    again = found.copy({found.predictionCol: "third"})
    assert again.model is found.model
    assert again.transform(df).columns[-2:] == ["third", "probability"]
    assert found.getOrDefault("predictionCol") == "other"


def test_choices_of_a_learner_go_to_the_learner(df, table):
    choices = {"learner": "softmax", "C": 0.01, "class_weight": {"0": 2.0}, "ngrams": (1, 1)}
    found = TextClassifier(textCol="body", labelCol="kind", **choices).fit(df.coalesce(1)).model
    learner = SoftmaxLearner(C=0.01, class_weight={"0": 2.0})
    assert found.recipe.learner == learner
    expected = trained_here(table, text="body", label="kind", learner=learner, ngrams=(1, 1))
    assert found.info["fit"]["objective"] == pytest.approx(expected.info["fit"]["objective"], rel=1e-4)


def test_choices_that_are_none_are_refused(df):
    columns = {"textCol": "body", "labelCol": "kind"}
    with pytest.raises(InputError, match="there is no option `min_fd`; did you mean `min_df`"):
        TextClassifier(**columns, min_fd=2).fit(df)
    with pytest.raises(InputError, match="there is no option `c`"):
        TextClassifier(**columns, learner="softmax", c=2).fit(df)
    with pytest.raises(InputError, match="unknown learner `sofmax`; did you mean `softmax`"):
        TextClassifier(**columns, learner="sofmax").fit(df)
    with pytest.raises(InputError, match=r"a parameter is not a plain value[\s\S]*learner='softmax', C=3.0"):
        TextClassifier(learner=SoftmaxLearner(C=1.0))
    with pytest.raises(Unsupported, match="is not supported on Spark"):
        TextClassifier(**columns, learner="lda").fit(df)
    with pytest.raises(MissingColumn, match="no words column"):
        TextClassifier(textCol="words", labelCol="kind").fit(df)
    with pytest.raises(InputError, match="`labels` is not supported on Spark"):
        TextClassifier(**columns, labels="kind").fit(df)


# such a case
def test_models_are_sent_from_several_threads_at_once(spark, mail):
    models = [trained_here(mail.slice(0, n), calibrate=False) for n in range(20, 60)]
    with ThreadPoolExecutor(8) as threads:
        names = list(threads.map(lambda model: sent(spark, model), models))
    assert len(set(names)) == len(models)
    assert names == [sent(spark, model) for model in models]
