"""Labels come back as they came, from every way a label can be given, after files and pickles too."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import textodds
from pairs import together
from textodds.cli import main
from textodds.errors import InputError, ModelFileError

TEXTS = ["free phone", "see you", "free prize", "see me", "free", "see"]

GIVEN = {
    "integers": ([1, 0] * 3, int, (0, 1)),
    "booleans": ([True, False] * 3, bool, (False, True)),
    "numbers": ([0.5, 1.0] * 3, float, (0.5, 1.0)),
    "text": (["1", "0"] * 3, str, ("0", "1")),
    "NumPy array": (np.array([1, 0] * 3, dtype=np.int16), np.int16, (0, 1)),
    "NumPy scalars": ([np.int8(1), np.int8(0)] * 3, np.int8, (0, 1)),
    "NumPy booleans": (np.array([True, False] * 3), bool, (False, True)),
    "pandas categories": (pd.Series(pd.Categorical([7, 3] * 3)), int, (3, 7)),
    "pandas categories of text": (pd.Series(pd.Categorical(["b", "a"] * 3)), str, ("a", "b")),
    "pandas Int64": (pd.Series([1, 0] * 3, dtype="Int64"), int, (0, 1)),
    "pandas boolean": (pd.Series([True, False] * 3, dtype="boolean"), bool, (False, True)),
    "polars": (pl.Series([1, 0] * 3), int, (0, 1)),
    "Arrow": (pa.array([1, 0] * 3, pa.uint8()), np.uint8, (0, 1)),
    "a generator": ((i for i in [1, 0] * 3), int, (0, 1)),
}


@pytest.mark.parametrize("name", [name for name in GIVEN if name != "a generator"])
def test_labels_come_back_as_they_came_also_from_a_file_and_a_pickle(name, tmp_path):
    labels, kind, classes = GIVEN[name]
    one, other = pa.array(labels).to_pylist()[:2]
    model = textodds.train(TEXTS, labels, learner="multinomial")
    model.save(tmp_path / "m")
    for each in (model, textodds.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert each.classes_ == classes
        assert type(each.classes_[0]) is type(classes[0])
        answers = each.predict(["free", "see"])
        assert answers.tolist() == [one, other]
        if kind is str:
            assert answers.dtype == object
        else:
            assert answers.dtype == np.dtype(kind)
        said = each("free")
        assert said.label == one
        assert type(said.label) is type(classes[0])
        assert set(said.probabilities) == set(classes)


def test_labels_of_a_generator_come_back_too():
    labels, _, classes = GIVEN["a generator"]
    assert textodds.train(TEXTS, labels, learner="multinomial").classes_ == classes


def test_rows_of_a_dataset_with_numbers_for_labels_have_numbers_again():
    rows = [{"text": text, "label": at % 2} for at, text in enumerate(TEXTS)]  # as iterating a dataset gives
    model = textodds.train(rows, learner="multinomial")
    assert model.predict(["see"]).tolist() == [1]


def test_labels_of_a_table_come_back_as_they_came(tmp_path):
    frame = pd.DataFrame({"height": [1.5, 1.6, 1.9, 2.0] * 5, "tall": [False, False, True, True] * 5})
    model = textodds.train(frame, label="tall", columns={"height": "number"})
    model.save(tmp_path / "m")
    for each in (model, textodds.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert each.predict(frame[["height"]].head(4)).tolist() == [False, False, True, True]
        assert each({"height": 2.0}).label is True
        assert each.explain({"height": 2.0}, True, False).label == "true"


def test_typed_labels_are_taken_wherever_a_label_is():
    model = textodds.train(TEXTS, [1, 0] * 3, learner="multinomial")
    assert model.explain("free", 1, 0).log_odds > 0
    assert model.top_words(1, 1)[0][0] == "free"
    assert model.hyperplane(1, 0).label == "1"
    assert model.with_prior({1: 0.01, 0: 0.99})("?").probabilities[1] == pytest.approx(0.01)
    losses = textodds.Losses.of({(0, 1): 20}, model.classes_)
    assert losses.matrix.tolist() == [[0, 20], [1, 0]]
    model.learn("a free one", 1)
    model.forget(["a free one"], np.array([1]))
    assert model.evaluate(TEXTS, [1, 0] * 3).accuracy == 1.0
    assert model.evaluate(TEXTS, [True, False] * 3).unknown_labels == {"true": 3, "false": 3}
    prior = textodds.train(TEXTS, [1, 0] * 3, learner="multinomial")
    assert prior.classes_ == (0, 1)


def test_true_of_a_csv_file_is_true_of_a_frame_whichever_came_first(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "label": [True, False] * 3})
    numbers = pd.DataFrame({"text": TEXTS, "label": [1.0, 0.0] * 3})
    for each, name in (
        (frame, "bools.csv"),
        (numbers, "numbers.csv"),
        (numbers.astype({"label": int}), "i.csv"),
    ):
        each.to_csv(tmp_path / name, index=False)
        of_frame = textodds.train(each, learner="multinomial")
        of_file = textodds.train(tmp_path / name, learner="multinomial")
        assert of_frame.evaluate(tmp_path / name).accuracy == 1.0
        assert of_frame.learn(tmp_path / name) == 6
        assert len(of_frame.classes_) == 2
        if name != "numbers.csv":  # whose labels are the text 1.0
            assert of_file.evaluate(each).accuracy == 1.0
            assert of_file.learn(each) == 6
            assert len(of_file.classes_) == 2


def test_true_of_a_csv_file_and_of_a_frame_are_one_class_in_a_merged_model(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "label": [True, False] * 3})
    frame.to_csv(tmp_path / "bools.csv", index=False)
    for documents in (True, False):
        of_frame = textodds.train(frame, learner="multinomial", documents=documents)
        of_file = textodds.train(tmp_path / "bools.csv", learner="multinomial", documents=documents)
        for merged in (of_frame + of_file, of_file + of_frame):
            assert merged.class_documents == {"false": 6, "true": 6}
            assert merged.predict(["free", "see"]).tolist() == [True, False]
        assert (of_frame + of_frame - of_file).class_documents == {"false": 3, "true": 3}
    third = textodds.train([*TEXTS, "hm"], [*["True", "False"] * 3, "maybe"], learner="multinomial")
    merged = textodds.train(frame, learner="multinomial") + third
    assert merged.class_documents == {"False": 6, "True": 6, "maybe": 1}
    table = pd.DataFrame({"n": [1.0, 9.0] * 5, "label": [True, False] * 5})
    table.to_csv(tmp_path / "table.csv", index=False)
    wanted = {"columns": {"n": "gaussian"}, "label": "label"}
    both = textodds.train(table, **wanted) + textodds.train(tmp_path / "table.csv", **wanted)
    assert both.classes_ == (False, True)


CATEGORIES = pd.Categorical(["high", "low"] * 3, categories=["low", "medium", "high"], ordered=True)


@pytest.mark.parametrize("given", ["a frame", "a series", "a categorical", "a Parquet file"])
def test_categories_of_pandas_come_back_as_categories_all_of_them_in_their_order(given, tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "risk": CATEGORIES})
    if given == "a Parquet file":
        frame.to_parquet(tmp_path / "risks.parquet")
        model = textodds.train(tmp_path / "risks.parquet", label="risk", learner="multinomial")
    elif given == "a frame":
        model = textodds.train(frame, label="risk", learner="multinomial")
    else:
        labels = frame["risk"] if given == "a series" else CATEGORIES
        model = textodds.train(TEXTS, labels, learner="multinomial")
    model.save(tmp_path / "m")
    new = pd.DataFrame({"text": ["free", "see", "?"]}, index=[7, 8, 9])
    for each in (model, textodds.load(tmp_path / "m"), pickle.loads(pickle.dumps(model)), model + model):
        found = each.predict_frame(new, top=2)
        assert found["label"].dtype == frame["risk"].dtype
        assert found["label"].tolist()[:2] == ["high", "low"]
        assert found["label_2"].dtype == frame["risk"].dtype
        assert each.predict_frame(new, threshold=0.6)["label"].isna().tolist() == [False, False, True]
        assert each.predict_frame(pl.DataFrame(new))["label"].dtype == pl.Enum(["low", "medium", "high"])
        of_arrow = each.predict_frame(pa.Table.from_pandas(new))["label"].combine_chunks()
        assert of_arrow.dictionary.to_pylist() == ["low", "medium", "high"]
        assert of_arrow.type.ordered
        assert each.predict(new["text"]).tolist()[:2] == ["high", "low"]  # NumPy has no categories
    model.learn("nothing to see", "none at all")
    assert model.predict_frame(new)["label"].cat.categories.tolist() == [
        "low",
        "medium",
        "high",
        "none at all",
    ]


def test_categories_that_are_numbers_are_categories_of_numbers():
    frame = pd.DataFrame({"text": TEXTS, "stars": pd.Categorical([5, 1] * 3, categories=[1, 3, 5])})
    model = textodds.train(frame, label="stars", learner="multinomial")
    found = model.predict_frame(frame.drop(columns="stars"))
    assert found["label"].dtype == frame["stars"].dtype
    assert found["label"].tolist() == [5, 1] * 3
    assert model.predict_frame(pl.DataFrame({"text": TEXTS}))["label"].to_list() == [5, 1] * 3


def test_models_of_other_categories_are_merged_to_plain_labels():
    one = textodds.train(TEXTS, CATEGORIES, learner="multinomial")
    other = textodds.train(TEXTS, ["high", "low"] * 3, learner="multinomial")
    for merged in (one + other, other + one):
        assert merged.predict_frame(pd.DataFrame({"text": ["free"]}))["label"].tolist() == ["high"]
        assert merged.labels.categories is None


@pytest.mark.parametrize(
    ("labels", "pandas_type", "missing", "polars_type", "arrow_type"),
    [
        ([1, 0], "int64", "Int64", pl.Int64, pa.int64()),
        (np.array([1, 0], np.uint8), "uint8", "UInt8", pl.UInt8, pa.uint8()),
        ([True, False], "bool", "boolean", pl.Boolean, pa.bool_()),
        ([0.5, 1.0], "float64", "float64", pl.Float64, pa.float64()),
    ],
)
def test_frames_and_files_have_labels_of_the_type_of_training(
    labels, pandas_type, missing, polars_type, arrow_type, tmp_path, capsys
):
    model = textodds.train(TEXTS, np.tile(labels, 3), learner="multinomial")
    new = pd.DataFrame({"text": ["free", "see", "?"]})
    assert model.predict_frame(new)["label"].dtype == pandas_type
    unsure = model.predict_frame(new, threshold=0.6)["label"]
    assert unsure.dtype == missing
    assert unsure.isna().tolist() == [False, False, True]
    assert model.predict_frame(pl.DataFrame(new), threshold=0.6)["label"].dtype == polars_type
    assert model.predict_frame(pa.Table.from_pandas(new), threshold=0.6)["label"].type == arrow_type
    model.save(tmp_path / "m")
    new.to_csv(tmp_path / "new.csv", index=False)
    for name in ("a.parquet", "a.jsonl"):
        line = ["predict", str(tmp_path / "m"), str(tmp_path / "new.csv"), "-o", str(tmp_path / name)]
        assert main([*line, "--threshold", "0.6", "--top", "1"]) == 0
    written = pd.read_parquet(tmp_path / "a.parquet", dtype_backend="pyarrow")
    assert written["label"].dtype.pyarrow_dtype == arrow_type
    rows = [json.loads(row) for row in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == [*np.asarray(labels).tolist(), None]
    assert type(rows[0]["label_1"]) is type(np.asarray(labels).tolist()[0])


@together
@pytest.mark.parametrize("labels", [[1, "1"], [True, 1], ["true", True], [0.5, "x"]], ids=str)
def test_labels_of_mixed_types_are_refused(labels):
    with pytest.raises(InputError, match="labels are of mixed types"):
        textodds.train(["a", "b"], labels)
    with pytest.raises(InputError, match="labels are of mixed types"):
        textodds.train(pd.DataFrame({"n": [1.0, 2.0]}), labels)


def test_a_label_that_is_none_of_the_models_type_is_refused_and_nothing_is_changed():
    model = textodds.train(TEXTS, [1, 0] * 3, learner="multinomial")
    with pytest.raises(InputError, match="the labels of the model are whole numbers, and `spam` is not"):
        model.learn("free", "spam")
    assert model.classes_ == (0, 1)
    model.learn("something new", 2)
    assert model.classes_ == (0, 1, 2)


def test_models_of_text_and_of_numbers_are_merged_by_the_names_of_their_labels():
    numbers = textodds.train(TEXTS, [1, 0] * 3, learner="multinomial")
    words = textodds.train(TEXTS, ["1", "x"] * 3, learner="multinomial")
    assert (numbers + numbers).classes_ == (0, 1)
    assert (numbers + words).classes_ == ("0", "1", "x")


@together
@pytest.mark.parametrize(
    ("one", "other", "classes"),
    [
        ([1, 0], ["1", "0"], (0, 1)),
        ([1, 0], ["1", "x"], ("0", "1", "x")),
        ([1, 0], [1.5, 0.0], (0.0, 1.0, 1.5)),
        ([True, False], [1, 0], ("0", "1", "false", "true")),
    ],
)
def test_the_type_of_labels_does_not_depend_on_the_order_of_merging(one, other, classes):
    first, second = (textodds.train(TEXTS, labels * 3, learner="multinomial") for labels in (one, other))
    for merged in (first + second, second + first):
        assert merged.classes_ == classes
        assert [type(label) for label in merged.classes_] == [type(label) for label in classes]
    assert (first + second - second).class_names == first.class_names


def test_a_model_that_is_like_another_has_its_type_of_labels():
    model = textodds.train(TEXTS, [1, 0] * 3, learner="multinomial")
    assert textodds.train(like=model).classes_ == (0, 1)
    assert textodds.train(TEXTS, ["1", "0"] * 3, like=model).classes_ == (0, 1)


def test_an_estimator_around_a_model_has_its_labels():
    model = textodds.train(TEXTS, [1, 0] * 3, learner="multinomial")
    assert textodds.TextClassifier.of(model).predict(["free"]).tolist() == [1]


def test_json_has_labels_as_text(tmp_path, capsys):
    path = tmp_path / "m"
    textodds.train(TEXTS, [1, 0] * 3, learner="multinomial").save(path)
    assert main(["predict", str(path), "--say", "free", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "1"


def test_a_header_with_a_type_of_labels_that_there_is_not_is_refused(tmp_path):
    from textodds.model.storage.container import contents, write

    path = Path(tmp_path / "m")
    textodds.train(TEXTS, [1, 0] * 3, learner="multinomial").save(path)
    header, arrays = contents(path)
    for damaged in (
        {"kind": "complex", "dtype": "int64", "clean": False},
        {"kind": "text"},
        ["text"],
        {"kind": "text", "dtype": "int64", "clean": False, "categories": ["a", "a"], "ordered": False},
        {"kind": "text", "dtype": "int64", "clean": False, "categories": ["a", 1], "ordered": False},
        {"kind": "text", "dtype": "int64", "clean": False, "categories": ["a"], "ordered": "no"},
    ):
        plain = {name: value for name, value in header.items() if name not in ("tensors", "xxh64")}
        write(tmp_path / "d", plain | {"labels": damaged}, dict(arrays))
        with pytest.raises(ModelFileError, match="header field `labels`"):
            textodds.load(tmp_path / "d")
