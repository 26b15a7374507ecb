"""What goes wrong on Spark is said as elsewhere: errors of ours, with the row, the column and what to do."""

import math

import pyarrow as pa
import pytest
from naive import trained_here, trained_there

import textodds
from textodds import spark as on_spark
from textodds.errors import BadRow, InputError, MissingColumn, NoData, TextoddsError, Unsupported
from textodds.learn.naive_bayes import ComplementLearner
from textodds.learn.softmax.regression import SoftmaxLearner
from textodds.learn.solvers.descent import Descent
from textodds.spark.tasks import count_rows, parts_of
from textodds.text import TextSettings

SKETCHY = [
    ("free prize", "spam"),
    (None, "spam"),
    ("see you", None),
    ("see mum", ""),
    ("see you at six", "ham"),
    (None, None),
]


@pytest.fixture(scope="module")
def sketchy(spark):
    """Six rows, two of which can be learned from."""
    return spark.createDataFrame(SKETCHY, "text string, label string").coalesce(1).cache()


@pytest.fixture(scope="module")
def mails(spark, mail):
    """Forty texts of three classes."""
    return spark.createDataFrame(mail.slice(0, 40)).coalesce(1).cache()


@pytest.fixture
def unreadable(spark):
    """A row that cannot be read; an error that is another one tells that nobody has tried."""
    return spark.range(1).selectExpr("raise_error('read') as text", "'x' as label")


@pytest.fixture(scope="module")
def stopped(sketchy):
    """The error that training on these rows ends with."""
    with pytest.raises(BadRow) as raised:
        trained_there(sketchy)
    return raised.value


def test_a_bad_row_stops_training_and_is_shown(stopped):
    where = "partition 0 of the DataFrame, row 2"
    assert stopped.problem == f'{where}: text is null ({{"text": null, "label": "spam"}})'
    assert "bad_rows='skip'" in stopped.hint
    assert str(stopped) == f"{stopped.problem}\n\nhint: {stopped.hint}"


def test_a_bad_row_has_the_attributes_that_it_has_elsewhere(stopped):
    assert (stopped.where, stopped.line) == ("partition 0 of the DataFrame", 2)
    assert stopped.reason.startswith("text is null")


def test_bad_rows_that_are_skipped_are_counted(sketchy):
    found = trained_there(sketchy, bad_rows="skip")
    assert found.info["rejected"] == 4
    assert found.info["documents"] == 2
    assert found.tally == trained_here(["free prize", "see you at six"], ["spam", "ham"]).tally
    report = on_spark.evaluate(found, sketchy, bad_rows="skip")
    assert (report.n, report.accuracy) == (2, 1.0)
    with pytest.raises(BadRow, match="row 2: text is null"):
        on_spark.evaluate(found, sketchy)


def test_softmax_passes_over_the_same_bad_rows(spark, mail):
    table = pa.concat_tables([pa.table({"text": [None, "x"], "label": ["spam", None]}), mail.slice(0, 60)])
    df, learner = spark.createDataFrame(table).coalesce(1), SoftmaxLearner(C=0.01, tolerance=0.5)
    found = trained_there(df, learner=learner, ngrams=(1, 1), bad_rows="skip")
    assert found.info["rejected"] == 2
    assert found.info["documents"] == 60
    assert found.info["fit"]["converged"]


def test_bytes_that_are_not_utf_8_are_a_bad_row(spark):
    df = spark.createDataFrame([(b"a", "x"), (b"a \xff", "x")], "text binary, label string").coalesce(1)
    with pytest.raises(BadRow, match=r"row 2: invalid UTF-8 at byte 2 of the text \(.*a \\\\xff"):
        trained_there(df)


BAD_ROWS = {
    "a label that is not UTF-8": ({"label": [b"x", b"\xff"]}, "invalid UTF-8 at byte 0 of the label"),
    "a label that is no number": ({"label": [1.0, math.nan]}, "label is empty"),
    "a weight below zero": ({"weight": [0.0, -1.0]}, "weight is `-1.0`"),
    "a weight that is null": ({"weight": [1, None]}, "weight is null"),
    "a weight that is text": ({"weight": ["2", "2"]}, "weight is `2`"),
}


@pytest.mark.parametrize(("column", "reason"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_tasks_name_values_that_cannot_be_used(column, reason):
    """The task itself, on batches as Spark hands them over: the second row of the second batch is bad."""
    good = pa.RecordBatch.from_pydict({"text": ["a"], "label": ["x"], "weight": [1.0]})
    bad = pa.RecordBatch.from_pydict({"text": ["b", "c"], "label": ["x", "y"], "weight": [1.0, 2.0]} | column)
    row = r"row 2" if column.get("weight") == ["2", "2"] else r"row 3"
    with pytest.raises(BadRow, match=f"of the DataFrame, {row}: {reason}"):
        list(count_rows(iter([good, bad]), TextSettings().as_dict(), 2, 1 << 20, 10, "stop"))
    skipped = [-1 - part for part, _ in parts_of(count_rows(iter([good, bad]), None, 2, 1 << 20, 10, "skip"))]
    assert skipped == [0]


def test_columns_that_are_missing_are_listed(mails):
    with pytest.raises(
        MissingColumn, match="the DataFrame has no txt column; its columns are `text`, `label`"
    ):
        trained_there(mails, text="txt")
    with pytest.raises(MissingColumn, match="no kind column"):
        trained_there(mails, label="kind")
    with pytest.raises(MissingColumn, match="no w column"):
        trained_there(mails, weight="w")
    with pytest.raises(MissingColumn, match="has no label column"):
        trained_there(mails.select("text"))
    with pytest.raises(MissingColumn, match="has no text column"):
        trained_there(mails.select("label"))
    model = trained_here(["a", "b"], ["x", "y"])
    for ask in (on_spark.predict, on_spark.explain):
        with pytest.raises(MissingColumn, match="has no text column"):
            ask(model, mails.select("label"))
    for ask in (on_spark.evaluate, on_spark.leave_one_out):
        with pytest.raises(MissingColumn, match="has no label column"):
            ask(model, mails.select("text"))
    with pytest.raises(InputError, match="both column"):
        trained_there(mails, text="text", label="text")


def test_a_column_that_is_no_text_is_refused_before_a_job_runs(spark):
    df = spark.createDataFrame([(1, "a")], "text int, label string")
    model = trained_here(["a", "b"], ["x", "y"])
    for asked in (
        lambda: trained_there(df),
        lambda: on_spark.predict(model, df),
        lambda: on_spark.explain(model, df),
        lambda: on_spark.evaluate(model, df),
        lambda: on_spark.leave_one_out(model, df),
        lambda: on_spark.TextClassifier().fit(df),
    ):
        with pytest.raises(InputError, match="the column `text` holds int, not text"):
            asked()


def test_data_of_other_kinds_is_sent_to_the_other_train(mail):
    frame, model = mail.to_pandas(), trained_here(["a", "b"], ["x", "y"])
    for asked in (
        lambda: trained_there(frame),
        lambda: on_spark.predict(model, frame),
        lambda: on_spark.explain(model, frame),
        lambda: on_spark.evaluate(model, frame),
        lambda: on_spark.leave_one_out(model, frame),
        lambda: on_spark.TextClassifier().fit(frame),
        lambda: on_spark.TextClassifierModel(model).transform(frame),
    ):
        with pytest.raises(InputError, match=r"expected a Spark DataFrame, got pandas\S*DataFrame"):
            asked()


UNSUPPORTED = {
    "lda": {"learner": "lda"},
    "qda": {"learner": "qda"},
    "complement with transform": {"learner": ComplementLearner(transform=True)},
}


@pytest.mark.parametrize("given", UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_learners_of_one_machine_are_refused_before_a_job_runs(unreadable, given):
    with pytest.raises(
        Unsupported, match=r"is not supported on Spark[\s\S]*on Spark: multinomial, bernoulli"
    ):
        trained_there(unreadable, **given)


def test_learners_of_tables_are_refused(mails):
    for name in ("mixed", "categorical", "table"):
        with pytest.raises(InputError, match=f"{name} learns from tables, not from texts"):
            trained_there(mails, learner=name)


def test_softmax_without_a_penalty_or_by_another_solver_is_refused_before_a_job_runs(unreadable):
    for learner in (
        SoftmaxLearner(C=math.inf),
        SoftmaxLearner(alpha=0.0),
        SoftmaxLearner(C=1.0, descent=Descent(rate=0.1, epochs=3)),
    ):
        with pytest.raises(Unsupported, match="on Spark softmax regression has a penalty, and one solver"):
            trained_there(unreadable, learner=learner, ngrams=(1, 1))


def test_a_penalty_of_the_bias_is_refused_before_a_job_runs(unreadable):
    with pytest.raises(Unsupported, match="on Spark the bias has no penalty"):
        on_spark.train(unreadable, learner="softmax:C=1:penalise_bias:ngrams=1-1")


def test_typical_texts_of_a_model_that_has_none_are_refused_before_a_job_runs(unreadable):
    for learner in (ComplementLearner(), SoftmaxLearner(C=1.0)):
        with pytest.raises(Unsupported, match="`typical` needs a generative model"):
            trained_there(unreadable, learner=learner, typical=True)


def test_choices_that_are_none_are_refused(mails):
    with pytest.raises(InputError, match="there is no option `ngram`; did you mean `ngrams`"):
        trained_there(mails, ngram=(1, 2))
    with pytest.raises(InputError, match="unknown learner `multinomal`; did you mean `multinomial`"):
        trained_there(mails, learner="multinomal")
    with pytest.raises(InputError, match="unknown policy for bad rows `ignore`"):
        trained_there(mails, bad_rows="ignore")


def test_what_cannot_be_made_of_the_rows_is_said(spark, sketchy, mails):
    nothing = spark.createDataFrame([], "text string, label string")
    with pytest.raises(NoData, match="the DataFrame has no row to learn from"):
        trained_there(nothing)
    with pytest.raises(NoData, match="no row to learn from: all 1 were rejected"):
        trained_there(sketchy.where("text is null and label is not null"), bad_rows="skip")
    model = trained_here(["a", "b"], ["x", "y"])
    with pytest.raises(NoData, match="no rows to evaluate on"):
        on_spark.evaluate(model, nothing)
    with pytest.raises(NoData, match="no word is left of"):
        trained_there(mails, min_df=40)


def test_rows_without_weight_are_nothing_to_learn_from(sketchy):
    df = sketchy.where("text like 'free%'").selectExpr("*", "0.0D as w")
    with pytest.raises(NoData, match="no document has a weight above zero"):
        trained_there(df, weight="w")


def test_softmax_says_what_it_cannot_make_of_the_rows(mails):
    with pytest.raises(InputError, match="no word is left to learn from"):
        trained_there(mails, learner=SoftmaxLearner(C=1.0), ngrams=(1, 1), min_df=40)
    with pytest.raises(InputError, match="every row that counts is of one class, `spam`"):
        trained_there(mails.where("label = 'spam'"), learner=SoftmaxLearner(C=1.0), ngrams=(1, 1))
    learner = SoftmaxLearner(C=1.0, class_weight={"ham": 2.0})
    with pytest.raises(InputError, match="there is no class `ham`"):
        trained_there(mails, learner=learner, ngrams=(1, 1))


def test_an_error_that_is_not_ours_stays_what_it_is(spark):
    from pyspark.errors import PySparkException

    df = spark.range(1).selectExpr("raise_error('the disk is on fire') as text", "'x' as label")
    with pytest.raises(PySparkException, match="the disk is on fire") as raised:
        trained_there(df)
    assert not isinstance(raised.value, TextoddsError)


def test_of_two_columns_that_spark_takes_for_one_the_named_is_read(spark):
    df = spark.createDataFrame([("a b", "x", "no")], "Text string, label string, text string")
    assert trained_there(df, text="text").tally.vocabulary.words() == ["no"]


def test_a_model_of_tables_is_not_asked_on_spark(mails):
    model = textodds.train({"age": [1.0, 2.0, 3.0, 4.0]}, ["x", "y", "x", "y"])
    with pytest.raises(InputError, match="on Spark a model of texts is asked, and this is TableModel"):
        on_spark.predict(model, mails)


def test_leaving_out_takes_counts_and_labels_that_were_learned(mails, mail):
    softmax = trained_here(mail, learner=SoftmaxLearner(C=1.0), ngrams=(1, 1))
    with pytest.raises(Unsupported, match="counts"):
        on_spark.evaluate(softmax, mails, left_out=True)
    with pytest.raises(InputError, match="`nowhere`"):
        on_spark.evaluate(trained_here(mail), mails.selectExpr("text", "'nowhere' as label"), left_out=True)
