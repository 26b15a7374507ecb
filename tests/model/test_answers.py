import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import textodds
from textodds.errors import BadRow, InputError, MissingColumn
from textodds.model.output.answers import free_names

TEXTS = ["win a free phone", "free prize", "see you at six", "lunch at noon", "zebra"]
TABLE = {"id": [3, 1, 4, 1, 5], "message": TEXTS, "label": ["a", None, "c", "d", "e"]}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table, "batch": pa.record_batch}


@pytest.fixture(scope="module")
def model():
    data = {"message": TEXTS[:4], "kind": ["spam", "spam", "ham", "ham"]}
    return textodds.train(data, label="kind", learner="multinomial")


def columns_of(frame):
    table = pa.Table.from_pandas(frame, preserve_index=False) if isinstance(frame, pd.DataFrame) else frame
    return table.to_dict(as_series=False) if isinstance(table, pl.DataFrame) else table.to_pydict()


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_comes_back_as_it_was_with_the_answers_behind(model, kind):
    frame = KINDS[kind](TABLE)
    answered = model.predict_frame(frame, proba=True, top=2)
    assert type(answered) is type(frame)
    found = columns_of(answered)
    top = ["label_1", "probability_1", "label_2", "probability_2"]
    assert list(found) == [*TABLE, "predicted_label", "probability", *top, "p(ham)", "p(spam)"]
    assert {name: found[name] for name in TABLE} == TABLE
    assert columns_of(frame) == TABLE  # which is not changed itself
    p = model.predict_proba(frame)
    assert found["predicted_label"] == model.predict(frame).tolist()
    assert np.array_equal(np.column_stack([found["p(ham)"], found["p(spam)"]]), p)
    assert found["probability"] == found["probability_1"] == p.max(axis=1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_below_the_threshold_there_is_no_label(model, kind):
    found = columns_of(model.predict_frame(KINDS[kind](TABLE), threshold=0.7))
    p = model.predict_proba(TEXTS)
    labels = [
        label if most >= 0.7 else None
        for label, most in zip(model.predict(TEXTS), p.max(axis=1), strict=True)
    ]
    assert found["predicted_label"] == labels
    assert None in labels
    assert found["probability"] == p.max(axis=1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_is_missing_is_an_error_or_a_row_without_an_answer(model, kind, tmp_path):
    frame = KINDS[kind]({"message": ["free", None, "at"], "n": [1, 2, 3]})
    with pytest.raises(BadRow, match="row 2: text is null"):
        model.predict_frame(frame)
    answered = model.predict_frame(frame, bad_rows="skip", rejects_path=tmp_path / "bad.jsonl")
    found = columns_of(answered)
    assert found["label"] == ["spam", None, "ham"]
    assert found["probability"][1] is None
    assert found["n"] == [1, 2, 3]


def test_the_index_of_pandas_stays(model):
    frame = pd.DataFrame({"message": ["free", "at"]}, index=["b", "b"])
    assert model.predict_frame(frame).index.equals(frame.index)
    assert model.predict_frame(frame)["label"].tolist() == ["spam", "ham"]


def test_a_frame_of_no_rows_has_the_columns_all_the_same(model):
    assert list(model.predict_frame(pd.DataFrame({"message": []}))) == ["message", "label", "probability"]


def test_tables_are_answered_too():
    table = {"height": [1.9, 1.8, 1.6, 1.7], "hair": ["short", "short", "long", "long"]}
    model = textodds.train(table, ["m", "m", "f", "f"])
    answered = model.predict_frame(pd.DataFrame(table))
    assert answered["label"].tolist() == ["m", "m", "f", "f"]
    assert answered["probability"].tolist() == model.predict_proba(table).max(axis=1).tolist()


def test_the_most_probable_classes_come_best_first(model):
    p = model.predict_proba(TEXTS)
    assert model.classes == model.classes_ == ("ham", "spam")
    assert [label for ((label, _),) in model.top(TEXTS, 1)] == model.predict(TEXTS).tolist()
    for row, pairs in zip(p, model.top(TEXTS, 5), strict=True):
        assert dict(pairs) == dict(zip(model.classes, row.tolist(), strict=True))
        assert pairs == sorted(pairs, key=lambda pair: -pair[1])


def test_what_is_no_frame_or_has_another_column_is_told(model):
    with pytest.raises(InputError, match="expected a frame, got list"):
        model.predict_frame(TEXTS)
    with pytest.raises(MissingColumn, match="has no column `message`; its columns are `text`"):
        model.predict(pd.DataFrame({"text": TEXTS}))
    assert len(model.predict_frame(pd.DataFrame({"text": TEXTS}), text="text")) == 5
    with pytest.raises(InputError, match="`threshold` is 7"):
        model.predict_frame(pd.DataFrame(TABLE), threshold=7)
    with pytest.raises(InputError, match="`top` is 0"):
        model.predict_frame(pd.DataFrame(TABLE), top=0)


def test_names_that_are_taken_are_not_used_again():
    assert free_names(["label", "p(a)"], ["LABEL ", "predicted_label", "p(a)"]) == {
        "label": "predicted_label_2",
        "p(a)": "predicted_p(a)",
    }
