"""Models from fastText on Spark: predictions and explanations are those of one machine."""

import pyarrow as pa
import pytest

import textodds
from fasttext_files import whole
from textodds import spark as on_spark

TEXTS = ["free phone see you", "you you größe #1", "unknown words alone", "", None, "free free"] * 20
KINDS = {
    "pairs": {},
    "letters": {"minn": 2, "maxn": 3},
    "quantised": {"quantise": (2, True)},
    "tree": {"loss": "hs"},
    "several": {"loss": "ova"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_those_of_the_model(spark, kind, tmp_path):
    (tmp_path / "model.bin").write_bytes(whole(**KINDS[kind])[0])
    model = textodds.from_fasttext(tmp_path / "model.bin")
    model.save(tmp_path / "mail.textodds")
    rows = pa.table({"number": range(len(TEXTS)), "text": TEXTS})
    asked = spark.createDataFrame(rows).repartition(3)
    answers = on_spark.predict(tmp_path / "mail.textodds", asked, probabilities=True).orderBy("number")
    for row in answers.collect():
        said = row["prediction"]
        if row["text"] is None:
            assert said is None
            continue
        expected = model(row["text"])
        assert said["probabilities"] == pytest.approx(expected.probabilities, rel=1e-12)
        if kind == "several":
            assert said["labels"] == list(expected.labels)
        else:
            assert said["label"] == expected.label
