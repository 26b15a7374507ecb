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
    from textodds.model.container import contents, write

    path = Path(tmp_path / "m")
    textodds.train(TEXTS, [1, 0] * 3, learner="multinomial").save(path)
    header, arrays = contents(path)
    for damaged in ({"kind": "complex", "dtype": "int64", "clean": False}, {"kind": "text"}, ["text"]):
        plain = {name: value for name, value in header.items() if name not in ("tensors", "xxh64")}
        write(tmp_path / "d", plain | {"labels": damaged}, dict(arrays))
        with pytest.raises(ModelFileError, match="header field `labels`"):
            textodds.load(tmp_path / "d")
