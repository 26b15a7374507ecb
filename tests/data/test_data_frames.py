import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unbatched import pairs, read_pairs, rows

from pairs import in_turn, together
from textodds.data import frames, read
from textodds.errors import BadRow, InputError, LengthMismatch, MissingColumn

COLUMNS = {"id": [1, 2, 3], "text": ["win", "", "see"], "label": ["spam", "ham", "ham"], "w": [1.0, 0.5, 2.0]}
ROWS = [("win", "spam", 1.0), ("", "ham", 0.5), ("see", "ham", 2.0)]


class OnlyAStream:
    """Some other library's table, of which nothing is known but the stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyAnArray:
    """Some other library's batch or column."""

    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


FRAMES = {
    "pyarrow Table": pa.table,
    "pyarrow RecordBatch": pa.record_batch,
    "pyarrow RecordBatchReader": lambda columns: pa.table(columns).to_reader(),
    "polars DataFrame": pl.DataFrame,
    "pandas DataFrame": pd.DataFrame,
    "an Arrow stream": lambda columns: OnlyAStream(pa.table(columns)),
    "an Arrow array": lambda columns: OnlyAnArray(pa.record_batch(columns)),
}
SERIES = {
    "pyarrow Array": pa.array,
    "pyarrow ChunkedArray": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "polars Series": pl.Series,
    "pandas Series": pd.Series,
    "pandas Series of objects": lambda values: pd.Series(values, dtype=object),
    "pandas Categorical": lambda values: pd.Series(values, dtype="category"),
    "pandas Series with an index": lambda values: pd.Series(values, index=range(100, 100 + len(values))),
    "an Arrow array": lambda values: OnlyAnArray(pa.array(values)),
    "NumPy array": np.array,
    "NumPy array of objects": lambda values: np.array(values, dtype=object),
    "list": list,
    "tuple": tuple,
}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
every_series = pytest.mark.parametrize("series", SERIES.values(), ids=SERIES)


@every_frame
def test_a_frame_gives_its_rows(frame):
    assert rows(read(frame(COLUMNS), weight="w")) == ROWS


@together
@every_frame
def test_numbers_as_labels_become_text(frame):
    assert read_pairs(frame({"text": ["a", "b"], "label": [3, 0]})) == [("a", "3"), ("b", "0")]
    assert read_pairs(frame({"text": ["a", "b"], "label": [3.0, 0.5]})) == [("a", "3"), ("b", "0.5")]
    assert read_pairs(frame({"text": ["a", "b"], "label": [True, False]})) == [("a", "true"), ("b", "false")]


@together
@every_frame
def test_null_text_and_null_or_empty_labels_are_bad_rows(frame):
    columns = {"text": ["a", None, "c", "d", "e"], "label": ["x", "x", None, "", "y"]}
    with pytest.raises(BadRow, match="row 2: text is null"):
        read_pairs(frame(columns))
    source = read(frame(columns), bad_rows="skip")
    assert pairs(source) == [("a", "x"), ("e", "y")]
    assert source.rejects.reasons == {"text is null": 1, "label is empty": 2}


@every_frame
def test_nan_labels_are_empty(frame):
    with pytest.raises(BadRow, match="row 2: label is empty"):
        read_pairs(frame({"text": ["a", "b"], "label": [1.0, float("nan")]}))


@together
@in_turn(1)
@every_frame
@pytest.mark.parametrize("weight", [None, float("nan"), float("inf"), -1.0])
def test_a_weight_that_cannot_be_used_is_a_bad_row_with_its_value(frame, weight):
    columns = {"text": ["a", "b"], "label": ["x", "y"], "w": [1.0, weight]}
    with pytest.raises(BadRow, match=r"row 2: weight is (null|`nan`|`inf`|`-1\.0`)"):
        rows(read(frame(columns), weight="w"))


@together
@every_frame
def test_a_missing_column_lists_what_is_there(frame):
    with pytest.raises(MissingColumn, match="has no text column; its columns are `a`, `b`"):
        read_pairs(frame({"a": ["x"], "b": ["y"]}))


@every_frame
def test_without_labels_none_are_needed(frame):
    assert read_pairs(frame({"text": ["a"]}), labelled=False) == [("a", None)]


@together
@every_frame
def test_a_frame_without_rows_gives_no_batch(frame):
    assert (
        list(read(frame({"text": pa.array([], pa.string()).to_numpy(False), "label": np.array([], str)})))
        == []
    )


@every_frame
def test_a_frame_brings_its_own_labels(frame):
    with pytest.raises(InputError, match="`labels` does not apply: the source is a table"):
        read(frame(COLUMNS), ["x", "y", "z"])


@together
@pytest.mark.parametrize("frame", [*list(FRAMES.values())[:2], pl.DataFrame, pd.DataFrame])
def test_frames_in_memory_can_be_read_again(frame):
    source = read(frame(COLUMNS))
    assert source.replayable
    assert pairs(source) == pairs(source)


def test_a_reader_can_be_read_once_and_says_so_the_second_time():
    source = read(pa.table(COLUMNS).to_reader())
    assert not source.replayable
    assert len(pairs(source)) == 3
    with pytest.raises(InputError, match="can be read only once"):
        iter(source)


@every_series
def test_a_column_of_texts_goes_with_any_column_of_labels(series):
    texts, labels, weights = ["win", "", "see"], ["spam", "ham", "ham"], [1.0, 0.5, 2.0]
    assert rows(read(series(texts), series(labels), series(weights))) == ROWS
    assert rows(read(texts, series(labels), series(weights))) == ROWS
    assert rows(read(series(texts), labels, weights)) == ROWS
    assert rows(read(iter(texts), series(labels), series(weights))) == ROWS


@together
@every_series
def test_numbers_in_a_column_of_labels_become_text(series):
    assert read_pairs(["a", "b"], series([3, 4])) == [("a", "3"), ("b", "4")]
    assert read_pairs(["a", "b"], series([True, False])) == [("a", "true"), ("b", "false")]


@every_series
def test_columns_of_different_lengths_do_not_pair_up(series):
    with pytest.raises(LengthMismatch, match="got 2 documents but 3 labels"):
        rows(read(series(["a", "b"]), ["x", "y", "z"]))
    with pytest.raises(LengthMismatch, match="got 2 documents but 3 weights"):
        rows(read(["a", "b"], ["x", "y"], series([1.0, 2.0, 3.0])))


def test_a_stream_of_values_is_a_column():
    column = OnlyAStream(pa.chunked_array([["a"], ["b", "c"]]))
    assert read_pairs(column, list("xyz")) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert read_pairs(list("abc"), column) == [("a", "a"), ("b", "b"), ("c", "c")]


def test_a_duckdb_relation_is_a_stream_that_can_be_read_again():
    with duckdb.connect() as connection:
        source = read(connection.sql("SELECT 'a' AS text, 3 AS label"))
        assert pairs(source) == pairs(source) == [("a", "3")]


def test_types_that_only_pandas_knows_are_told_and_not_taken_for_their_numbers():
    frame = pd.DataFrame({"text": ["a"], "label": pd.period_range("2026-01", periods=1, freq="M")})
    with pytest.raises(InputError, match=r"the label column holds .*period.*, not text or numbers"):
        read_pairs(frame)
    column = pd.Series(pd.arrays.SparseArray([0, 3]))
    assert read_pairs(["a", "b"], column) == [("a", "0"), ("b", "3")]


def test_text_in_a_wrapping_is_text():
    json = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}']))
    assert read_pairs(pa.table({"text": json, "label": ["x"]})) == [('{"a": 1}', "x")]


def test_texts_are_handed_over_without_a_copy():
    texts = pa.array(["a long text, which no view would hold inline"] * 3)
    table = pa.table({"text": texts, "label": ["x", "y", "x"]})
    (batch,) = read(table)
    assert batch.texts.buffers()[2].address == texts.buffers()[2].address


def test_polars_texts_are_handed_over_as_views():
    (batch,) = read(pl.DataFrame(COLUMNS))
    assert batch.texts.type == pa.string_view()


def test_categorical_columns_stay_dictionaries():
    frame = pl.DataFrame(COLUMNS).with_columns(pl.col("label").cast(pl.Categorical))
    (batch,) = read(frame)
    assert pa.types.is_dictionary(batch.labels.type)
    assert read_pairs(frame) == [(text, label) for text, label, _ in ROWS]


def test_bad_rows_are_dropped_from_dictionaries():
    labels = pa.DictionaryArray.from_arrays([0, 1, None, 2, 0], ["x", "", "z"])
    table = pa.table({"text": list("abcde"), "label": labels})
    assert read_pairs(table, bad_rows="skip") == [("a", "x"), ("d", "z"), ("e", "x")]
    texts = pa.DictionaryArray.from_arrays([0, None, 1], [b"a", b"\xff"])
    assert read_pairs(pa.table({"text": texts, "label": list("xyz")}), bad_rows="skip") == [("a", "x")]


def test_pandas_objects_of_several_types_are_read_one_by_one():
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": pd.Series(["x", 3, np.nan], dtype=object)})
    source = read(frame, bad_rows="skip")
    assert pairs(source) == [("a", "x"), ("b", "3")]
    assert source.rejects.reasons == {"label is empty": 1}


def test_pandas_columns_are_named_by_whatever_they_are_called():
    frame = pd.DataFrame({0: ["a"], 1: ["x"]})
    assert read_pairs(frame, text="0", label="1") == [("a", "x")]


def test_two_columns_of_one_name_are_refused_where_one_is_wanted():
    frame = pd.DataFrame([["a", "x", "b"]], columns=["text", "label", "text"])
    with pytest.raises(InputError, match="two columns named `text`"):
        read_pairs(frame)
    frame.columns = ["note", "label", "note"]
    assert read_pairs(frame.assign(text="c")) == [("c", "x")]


def test_a_column_of_nulls_is_all_bad_rows():
    assert read_pairs(pa.table({"text": pa.nulls(2), "label": ["x", "y"]}), bad_rows="skip") == []
    assert read_pairs(pa.table({"text": ["a", "b"], "label": pa.nulls(2)}), bad_rows="skip") == []


def test_a_text_column_of_numbers_is_told():
    with pytest.raises(InputError, match="the text column holds int64, not text"):
        read_pairs(pa.table({"text": [1], "label": ["x"]}))


def test_weights_that_are_text_are_bad_rows():
    with pytest.raises(BadRow, match="row 1: weight is `heavy`"):
        rows(read(pa.table({"text": ["a"], "label": ["x"], "w": ["heavy"]}), weight="w"))


def test_a_stream_is_never_collected():
    """The first batch arrives although the stream would never end."""
    schema = pa.schema({"text": pa.string(), "label": pa.string()})
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield pa.record_batch([["a"], ["x"]], schema=schema)

    stream = iter(read(pa.RecordBatchReader.from_batches(schema, endless())))
    assert pairs([next(stream)]) == [("a", "x")]
    assert len(taken) <= 2
    stream.close()


def test_a_stream_that_breaks_off_is_told():
    schema = pa.schema({"text": pa.string(), "label": pa.string()})

    def broken():
        yield pa.record_batch([["a"], ["x"]], schema=schema)
        raise OSError("the line went dead")

    with pytest.raises(InputError, match="the line went dead"):
        read_pairs(OnlyAStream(pa.RecordBatchReader.from_batches(schema, broken())))


def test_frames_describe_themselves():
    assert read(pd.DataFrame(COLUMNS)).description == "a pandas DataFrame of 3 rows"
    assert read(pl.DataFrame(COLUMNS)).description == "a polars DataFrame of 3 rows"
    assert read(pa.table(COLUMNS)).description == "a pyarrow Table of 3 rows"
    assert read(pa.table(COLUMNS).to_reader()).description == "a pyarrow RecordBatchReader"


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.none() | st.text(max_size=20), st.none() | st.text(max_size=3)), min_size=1),
    st.sampled_from(
        [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
    ),
    st.integers(1, 7),
    st.integers(1, 7),
)
def test_arrow_of_any_chunks_in_slices_of_any_size_gives_the_rows_of_the_list(documents, kind, chunk, size):
    """The checks of Arrow arrays and those of Python objects are two codes with one meaning."""
    texts, labels = zip(*documents, strict=True)
    columns = [
        pa.chunked_array([pa.array(column[at : at + chunk], kind) for at in range(0, len(column), chunk)])
        for column in (texts, labels)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "SLICE_ROWS", size)
        patch.setattr(frames, "SLICE_ROWS", size)
        listed = read(list(texts), list(labels), bad_rows="skip")
        expected = pairs(listed)
        assert expected == [(text, label) for text, label in documents if text is not None and label]
        table = pa.table(dict(zip(("text", "label"), columns, strict=True)))
        for source in (table, table.to_reader()):
            arrow = read(source, bad_rows="skip")
            assert pairs(arrow) == expected
            assert arrow.rejects.reasons == listed.rejects.reasons
