"""A model of counts that Spark trained is that of one machine, bit for bit, whatever the partitions."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from naive import trained_here, trained_there

import textodds
from textodds.errors import VocabularyPruned
from textodds.learn.naive_bayes import BernoulliLearner, ComplementLearner, MultinomialLearner
from textodds.spark.count import bits_of


@pytest.fixture(scope="module")
def mails(spark, mail):
    """The texts as a DataFrame of two partitions."""
    return spark.createDataFrame(mail).cache()


@pytest.fixture(scope="module")
def many():
    """9,000 rows of 40 classes, more distinct texts than a sample has room for, and some texts often."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 40, 9000)
    words = np.minimum(random.zipf(1.4, (9000, 5)), 3000)
    texts = [
        f"w{a} w{b} w{c} w{d} w{e} class{k if a % 5 else k // 2}"
        for (a, b, c, d, e), k in zip(words.tolist(), codes.tolist(), strict=True)
    ]
    texts[::9] = ["w1 w1 class3 class4"] * 1000
    return pa.table({"text": texts, "label": [f"c{k}" for k in codes]})


def partitioned(spark, table, places):
    """The rows of a table in partitions: ``places`` has the numbers of the rows of each."""
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    parts = [[rows[i] for i in place] for place in places]
    kinds = {pa.string(): "string", pa.float64(): "double"}
    schema = ", ".join(f"{field.name} {kinds[field.type]}" for field in table.schema)
    return spark.createDataFrame(
        spark.sparkContext.parallelize(parts, len(parts)).flatMap(lambda part: part), schema
    )


def same(found, expected, folder):
    """Equal in every bit that is kept in a model file, but for the name of the source."""
    assert found.info["source"] == "a DataFrame of Spark"
    found.info = {**found.info, "source": expected.info["source"]}
    assert found.info == expected.info
    assert found.tally == expected.tally
    assert found.tally.fingerprint() == expected.tally.fingerprint()
    assert found.vocabulary.words() == expected.vocabulary.words()
    for name in ("log_prior", "intercept"):
        assert getattr(found.form, name).tobytes() == getattr(expected.form, name).tobytes()
    files = [Path(folder) / name for name in ("found", "expected")]
    for model, file in zip((found, expected), files, strict=True):
        model.save(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def by_class(table):
    """The numbers of the rows of each class, the classes in order."""
    labels = np.array(table["label"].to_pylist())
    return [np.flatnonzero(labels == label).tolist() for label in sorted(set(labels))]


def test_one_class_in_each_partition_and_empty_partitions_between(spark, mail, tmp_path):
    home, spam, work = by_class(mail)
    df = partitioned(spark, mail, [[], home, [], spam + work])
    assert df.rdd.getNumPartitions() == 4
    same(trained_there(df, typical=True), trained_here(mail, typical=True), tmp_path)


PLACES = {
    "one partition": lambda n: [range(n)],
    "three partitions": lambda n: [range(k, n, 3) for k in range(3)],
    "seven partitions, rows in no order": lambda n: np.array_split(
        np.random.default_rng(1).permutation(n), 7
    ),
}


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES.keys())
def test_partitions_and_order_make_no_difference(spark, mail, places, tmp_path):
    df = partitioned(spark, mail, places(len(mail)))
    same(trained_there(df), trained_here(mail), tmp_path)


def test_there_may_be_more_partitions_than_rows(spark, mail, tmp_path):
    few = mail.slice(0, 5)
    df = partitioned(spark, few, [[], [2], [0, 1], [], [4], [3]])
    same(trained_there(df), trained_here(few), tmp_path)


def test_weights_of_fractions_and_a_smoothing_that_is_chosen(spark, mail, tmp_path):
    weights = np.random.default_rng(2).choice([0.0, 1 / 3, 0.5, 1.0, 2.75], len(mail))
    table = mail.append_column("how much", pa.array(weights))
    learner = MultinomialLearner(alpha=None)
    df = spark.createDataFrame(table).repartition(3)
    found = trained_there(df, weight="how much", learner=learner)
    expected = trained_here(table, weight="how much", learner=learner)
    assert found.tally.fraction == 30
    same(found, expected, tmp_path)


LABELS = {
    "whole numbers": [3, 10, -1],
    "truth values": [True, False, False],
    "numbers": [1.0, 0.5, -2.25],
    "decimals": [Decimal("1.00"), Decimal("0.50"), Decimal("2.50")],
    "bytes": [b"spam", b"home \xc3\xa4", b"work"],
}


@pytest.mark.parametrize("values", LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_kind(spark, mail, values, tmp_path):
    names = dict(zip(("spam", "home", "work"), values, strict=True))
    labels = pa.array([names[label] for label in mail["label"].to_pylist()])
    texts = mail["text"].cast(pa.binary()) if isinstance(values[0], bytes) else mail["text"]
    table = pa.table({"text": texts, "label": labels})
    found = trained_there(spark.createDataFrame(table))
    assert len(found.classes_) == len(set(values))
    same(found, trained_here(table), tmp_path)


RECIPES = {
    "words hashed into buckets": {"hash_bits": 7, "ngrams": (1, 2)},
    "some words": {"min_df": 3, "max_df": 0.2, "max_features": 20},
    "bernoulli, with typical texts": {"learner": BernoulliLearner(alpha=0.3), "typical": True},
    "complement, as an estimator": {"learner": textodds.ComplementNB(alpha=2.0)},
    "complement with a norm": {"learner": ComplementLearner(norm=True), "calibrate": False},
    "a prior": {"learner": MultinomialLearner(alpha=0.1, prior="uniform", binary=True)},
    "triples": {"features": "triples"},
    "letters": {"features": "letters"},
    "first occurrences as unknown": {"unknown": "first"},
    "words given": {"vocabulary": ["free", "call", "nowhere"], "unknown": "count"},
    "as scikit-learn, not calibrated": {"sklearn": True, "stop_words": ["call"], "calibrate": False},
}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())
def test_recipes_make_what_they_make_on_one_machine(mails, mail, recipe, tmp_path):
    same(trained_there(mails, **recipe), trained_here(mail, **recipe), tmp_path)


def test_more_texts_than_a_sample_holds_and_many_classes(spark, many, tmp_path):
    """The sample is of the same texts, each as often as it came, wherever they were."""
    shuffled = many.take(np.random.default_rng(3).permutation(len(many)))
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 700)
    try:
        df = spark.createDataFrame(shuffled).repartition(3)
        found = trained_there(df, typical=True, learner=MultinomialLearner(alpha=None))
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", before)
    assert len(found.classes_) == 40
    assert len(set(many["text"].to_pylist())) > 5000
    same(found, trained_here(many, typical=True, learner=MultinomialLearner(alpha=None)), tmp_path)


def test_a_sum_of_many_parts_is_that_of_few(spark, mails, mail, tmp_path):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", 300)
    try:
        assert bits_of(spark.conf.get("spark.sql.shuffle.partitions")) > bits_of(before)
        found = trained_there(mails)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    same(found, trained_here(mail), tmp_path)


def test_words_that_outgrow_memory_are_dropped_with_a_warning(spark, many):
    exact = trained_here(many)
    memory = 200_000
    assert exact.tally.nbytes > memory / 2
    with pytest.warns(VocabularyPruned, match=r"outgrew 0.191 MiB: words seen in at most \d+ documents"):
        found = trained_there(spark.createDataFrame(many), memory=memory)
    assert found.tally.nbytes <= memory
    assert found.tally.pruned >= 1
    assert found.classes_ == exact.classes_
    assert found.tally.class_documents.tolist() == exact.tally.class_documents.tolist()
    assert 100 < len(found.vocabulary) < len(exact.vocabulary)
    frequent = ["w1", "w2", "class3"]
    assert found.tally.table(frequent).tolist() == exact.tally.table(frequent).tolist()
    some = many.slice(0, 500)
    assert found.evaluate(some).accuracy > 0.9 * exact.evaluate(some).accuracy


def test_features_that_are_left_open_are_chosen(mails, mail):
    found = trained_there(mails, features=["words", "pairs"], learner=["multinomial", "bernoulli"])
    tried = {trial["name"] for trial in found.info["chosen"]["tried"]}
    # A learner that is far behind on words is not tried on pairs.
    assert {"multinomial, words", "bernoulli, words"} < tried
    assert found.info["documents"] == len(mail)
    expected = trained_here(
        mail,
        learner=found.recipe.learner,
        settings=found.recipe.settings,
        min_df=found.recipe.selection.min_df,
    )
    assert found.tally == expected.tally
    assert (found.predict(mail["text"]) == expected.predict(mail["text"])).mean() > 0.99
