"""Models within DuckDB's queries and pandas' frames."""

import os

import duckdb
import numpy as np
import pandas as pd
import pytest
from exported_models import model_of, several_labels
from interop_cases import new_texts

import textodds
from textodds.errors import InputError
from textodds.interop import in_duckdb, in_pandas

TEXTS = [*new_texts(5), None]


@pytest.fixture
def connection(tmp_path):
    """A connection with the functions, and a model beside it."""
    model_of("multinomial", 5, "words").save(tmp_path / "mail.textodds")
    connection = duckdb.connect()
    in_duckdb.register(connection)
    connection.register("given", pd.DataFrame({"id": range(len(TEXTS)), "text": TEXTS}))
    yield connection
    connection.close()


QUERY = "SELECT textodds_predict($1, text), textodds_probability($1, text) FROM given ORDER BY id"


def test_duckdb_gives_the_labels_and_probabilities_of_the_model(connection, tmp_path):
    model = model_of("multinomial", 5, "words")
    rows = connection.execute(QUERY, [str(tmp_path / "mail.textodds")]).fetchall()
    assert rows[-1] == (None, None)
    assert [label for label, _ in rows[:-1]] == model.predict(TEXTS[:-1]).tolist()
    shares = np.array([share for _, share in rows[:-1]])
    np.testing.assert_array_equal(shares, model.predict_proba(TEXTS[:-1]).max(axis=1))


def test_duckdb_opens_a_model_again_that_has_changed(connection, tmp_path):
    path = tmp_path / "mail.textodds"
    connection.execute(QUERY, [str(path)]).fetchall()
    other = textodds.train(["own0x0", "own1x0"] * 3, ["new", "newer"] * 3, learner="multinomial")
    other.save(path)
    os.utime(path, ns=(0, 0))
    assert {row[0] for row in connection.execute(QUERY, [str(path)]).fetchall()} == {"new", "newer", None}


def test_duckdb_says_what_is_wrong_with_a_model(connection, tmp_path):
    with pytest.raises(duckdb.Error, match="no model file at"):
        connection.execute(QUERY, [str(tmp_path / "other.textodds")]).fetchall()
    several_labels().save(tmp_path / "several.textodds")
    with pytest.raises(duckdb.Error, match="is not a model of one label a text"):
        connection.execute(QUERY, [str(tmp_path / "several.textodds")]).fetchall()


def test_pandas_keeps_the_index_and_what_is_missing(tmp_path):
    model = model_of("multinomial", 5, "words")
    model.save(tmp_path / "mail.textodds")
    frame = pd.DataFrame({"text": TEXTS}, index=range(7, 7 + len(TEXTS)))
    for given in (model, tmp_path / "mail.textodds"):
        said, shares = frame.textodds.predict(given), frame.textodds.predict_proba(given)
        assert said.tolist() == [*model.predict(TEXTS[:-1]), None]
        assert said.index.equals(frame.index)
        assert shares.index.equals(frame.index)
        np.testing.assert_array_equal(shares.iloc[:-1], model.predict_proba(TEXTS[:-1]))
        assert shares.iloc[-1].isna().all()
    assert frame["text"].textodds.predict(model).equals(said)
    assert frame.iloc[:0].textodds.predict(model).empty


def test_pandas_takes_tables_and_several_labels():
    rows = pd.DataFrame({"age": [20.0, 30, 60, 70] * 8, "label": ["young", "young", "old", "old"] * 8})
    model = textodds.train(rows, label="label", learner="gaussian")
    assert rows.textodds.predict(model).tolist() == list(model.predict(rows))
    assert rows.textodds.predict_proba(model).columns.tolist() == list(model.classes_)
    texts = pd.Series(["terrible invoice", "great", None])
    assert texts.textodds.predict(several_labels()).tolist()[:2] == several_labels().predict(
        texts[:2].tolist()
    )


def test_pandas_names_a_column_that_is_not_there():
    with pytest.raises(InputError, match="the frame has no column `text`; did you mean `texts`"):
        in_pandas.Frame(pd.DataFrame({"texts": ["a"]})).predict(model_of("multinomial", 5, "words"))
