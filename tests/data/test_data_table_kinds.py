import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabled import kinds, read_table, rows

from pairs import together
from textodds.data import KINDS, Column, Schema
from textodds.data.arrow import MISSING, as_category, numbers_of
from textodds.errors import InputError, MissingColumn

SENTENCES = [f"this is sentence number {n} of many" for n in range(30)]


@together
@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        ([1, 2, 3, 4], "number", "numbers, 4 different"),
        ([1.5, None, 2.5, float("nan")], "number", "numbers, 2 different"),
        ([Decimal("1.5"), Decimal("2.5"), None], "number", "numbers, 2 different"),
        (["1", "-2.5", "+3e5", " 4 ", "?", "", ".5", "5."], "number", "numbers, 6 different"),
        (["1", "2", "inf", "3"], "category", "4 different values"),
        (["1", "2", "1e200", "3"], "category", "4 different values"),
        (["1", "2", "0x10", "3"], "category", "4 different values"),
        (["1", "2", "1_000", "3"], "category", "4 different values"),
        (["1", "2", "٣", "3"], "category", "4 different values"),
        ([0, 1, 0, None], "category", "two values"),
        (["0", "1.0", "0", "NA"], "category", "two values"),
        ([7, 7, 7], "category", "one value"),
        ([0.5, 1.5, 0.5], "number", "numbers, 2 different"),
        ([float("inf"), 1.0], "number", "numbers, 2 different"),
        ([True, False, None], "category", "true or false"),
        (["red", "green", "red", None], "category", "2 different values"),
        (["only", "only"], "category", "1 different value"),
        ([1, "a", 2, "a"], "category", "3 different values"),
        ([1, "2", 3.5, True, 2], "category", "4 different values"),
        ([1, "2", 3.5, 2], "number", "numbers, 3 different"),
        ([f"id-{n}" for n in range(20)], "ignore", "a different value in every row"),
        ([f"id-{min(n, 38)}" for n in range(40)], "ignore", "a different value in nearly every row"),
        ([f"id-{n}" for n in range(19)], "category", "19 different values"),
        ([f"id-{n % 15}" for n in range(30)], "category", "15 different values"),
        (SENTENCES, "text", "7 words on average"),
        (SENTENCES[:3], "text", "7 words on average"),
        (SENTENCES[:3] * 10, "category", "3 different values"),
        (["我喜欢这部电影", "这本书很无聊啊", "天气真的很好呢"], "text", "7 words on average"),
        ([None, None], "ignore", "no values"),
        ([" ", "?", "NaN", None], "ignore", "no values"),
        ([float("nan"), None], "ignore", "no values"),
        ([datetime.date(2020, 1, 1), None], "ignore", "dates are not used"),
        ([datetime.datetime(2020, 1, 1)], "ignore", "dates are not used"),
        ([datetime.time(12)], "ignore", "times are not used"),
        ([datetime.timedelta(1)], "ignore", "times are not used"),
        ([b"abc", b"\xff"], "ignore", "bytes are not used"),
        ([[1, 2], [3]], "ignore", "lists of different lengths"),
        ([["a"], ["b"]], "ignore", "lists and objects are not used"),
        ([[1, 2], [3, 4.5]], "vector", "vectors of 2 numbers"),
        ([[1.0], None, [2.0]], "vector", "vectors of 1 numbers"),
        (["[1, 2]", "[3, -4e1]"], "vector", "vectors of 2 numbers"),
        ([{"a": 1}], "ignore", "lists and objects are not used"),
        ([2**70, 3, 4], "number", "numbers, 3 different"),
    ],
)
def test_the_kind_of_a_column_is_found_from_its_values(values, kind, why):
    columns = {"c": values, "d": [1] * len(values)}
    column, _ = read_table(columns, labelled=False).schema.columns
    assert (column.kind, column.why) == (kind, why)


@together
@pytest.mark.parametrize(
    ("array", "kind", "why"),
    [
        (pa.array(["u", "v", None]).dictionary_encode(), "category", "2 different values"),
        (pa.array([1, 2, 3]).dictionary_encode(), "category", "3 different values"),
        (pa.array([None], pa.dictionary(pa.int8(), pa.string())), "ignore", "no values"),
        (pa.array(["1", "2", "3"], pa.string_view()), "number", "numbers, 3 different"),
        (pa.array([1, 2, 3], pa.uint64()), "number", "numbers, 3 different"),
        (pa.array([1, 2, 3], pa.float16()), "number", "numbers, 3 different"),
        (pa.array([1, 2, 3], pa.decimal128(38, 2)), "number", "numbers, 3 different"),
        (pa.nulls(3), "ignore", "no values"),
        (pa.array([b"ab"], pa.binary(2)), "ignore", "bytes are not used"),
    ],
)
def test_the_kind_of_a_column_is_found_from_its_type(array, kind, why):
    table = pa.table({"c": array, "d": pa.array([1] * len(array))})
    column, _ = read_table(table, labelled=False).schema.columns
    assert (column.kind, column.why) == (kind, why)


@together
@pytest.mark.parametrize("missing", [*MISSING, *(f" {value}\t" for value in MISSING), None])
def test_what_is_missing_is_missing_for_numbers_and_categories_but_not_for_texts(missing):
    columns = {"n": ["1.5", missing, "2.5"], "c": ["u", missing, "v"], "t": ["u", missing, "v"]}
    row = rows(columns, labelled=False, columns={"t": "text"})[1]
    assert row == {"n": None, "c": None, "t": "" if missing is None else missing}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_categories_of_frames_are_categories(frame):
    columns = frame({"c": ["u", "v", None, "u"], "n": [1, 2, 3, 1]})
    if frame is pd.DataFrame:
        columns = columns.astype({"c": "category", "n": "category"})
    elif frame is pl.DataFrame:
        columns = columns.cast({"c": pl.Categorical})
    source = read_table(columns, labelled=False, columns={"n": "category"})
    assert [(row["c"], row["n"]) for row in rows(source)] == [("u", "1"), ("v", "2"), (None, "3"), ("u", "1")]


def test_kinds_can_be_given_by_name_in_any_case():
    columns = {"Age": ["1", "2", "3"], "id": [str(n) for n in range(3)], "label": ["x", "y", "x"]}
    source = read_table(columns, columns={" age": "category", "id": "ignore"})
    assert source.schema == Schema(
        (Column("Age", "category", "given"), Column("id", "ignore", "given")), "label"
    )
    assert rows(source)[0] == {"Age": "1", "LABEL": "x"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("category", ["2020-01-01", None]), ("text", ["2020-01-01", ""])],
)
def test_dates_are_read_if_asked_for(kind, expected):
    columns = {"c": [datetime.date(2020, 1, 1), None], "d": [1.5, 2.5]}
    assert [row["c"] for row in rows(columns, labelled=False, columns={"c": kind})] == expected


def test_booleans_are_numbers_if_asked_for():
    columns = {"c": [True, False, None]}
    assert [row["c"] for row in rows(columns, labelled=False, columns={"c": "number"})] == [1.0, 0.0, None]


def test_a_type_that_cannot_be_read_as_asked_is_told():
    columns = {"c": [datetime.date(2020, 1, 1)], "l": [[1]]}
    with pytest.raises(InputError, match=r"column `c` holds date32\[day\], which cannot be read as numbers"):
        rows(columns, labelled=False, columns={"c": "number"})
    for kind in ("category", "text"):
        with pytest.raises(InputError, match=r"column `l` holds list<.*>, which cannot be read as text"):
            rows(columns, labelled=False, columns={"l": kind})


def test_an_unknown_column_or_kind_is_answered_with_its_near_miss():
    columns = {"age": [1.5, 2.5], "label": ["x", "y"], "w": [1, 1]}
    with pytest.raises(
        MissingColumn, match="has no column `aeg`; its columns are `age`, `label`, `w`"
    ) as caught:
        kinds(columns, columns={"aeg": "number"})
    assert "did you mean `age`?" in caught.value.hint
    with pytest.raises(InputError, match=r"column `age` is to be read as `'numbr'`.*did you mean `number`"):
        kinds(columns, columns={"age": "numbr"})
    with pytest.raises(InputError, match=r"column `label` of .* is the label, and has no kind"):
        kinds(columns, columns={"label": "category"})
    with pytest.raises(InputError, match=r"column `w` of .* is the weight, and has no kind"):
        kinds(columns, weight="w", columns={"w": "number"})
    with pytest.raises(InputError, match="a schema says of what kind"):
        kinds(columns, columns={"age": "number"}, schema=Schema((Column("age", "number", "given"),)))


def test_a_table_of_which_nothing_can_be_used_is_told():
    columns = {"id": [f"id-{n}" for n in range(30)], "label": ["x"] * 30}
    with pytest.raises(
        InputError, match=r"no column of .* there are `id` \(a different value in every row\)"
    ):
        rows(columns)
    with pytest.raises(InputError, match=r"no column of .* can be used; there are none"):
        rows({"label": ["x"]})
    with pytest.raises(InputError, match="the schema has no columns to read"):
        read_table(columns, schema=Schema((Column("id", "ignore", "given"),)))


def test_the_kinds_found_do_not_hang_on_how_rows_of_json_are_cut():
    mixed = [{"a": 1, "b": n, "d": 1.5} for n in range(3)] + [
        {"a": "x", "b": n + 0.5, "c": [1]} for n in range(3)
    ]
    from textodds.data import row_parts

    for size in (1, 2, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_parts, "BATCH_ROWS", size)
            assert kinds(mixed, labelled=False) == {
                "a": "category",
                "b": "number",
                "d": "number",
                "c": "vector",
            }


def test_later_rows_are_read_as_the_kind_found_whatever_their_type(monkeypatch):
    from textodds.data import kinds as kinds_of_columns
    from textodds.data import row_parts, source

    for module in (row_parts, kinds_of_columns, source):
        monkeypatch.setattr(module, "BATCH_ROWS", 3)
    items = [
        {"n": 1.5, "c": "u"},
        {"n": 2.5, "c": "v"},
        {"n": 3, "c": "u"},
        {"n": " 4.5 ", "c": 7},
        {"n": 5, "c": True},
    ]
    assert rows(items, labelled=False)[3:] == [{"n": 4.5, "c": "7"}, {"n": 5.0, "c": "true"}]


@given(st.floats(allow_nan=False) | st.integers(-(2**53), 2**53) | st.booleans())
def test_a_category_is_the_same_whether_it_was_typed_or_written(value):
    from textodds.data.values import written

    typed = written(value, "value")
    assert as_category(typed) == typed
    if not isinstance(value, float) or value.is_integer():
        assert as_category(str(value)) == typed or abs(value) >= 1e16


@given(
    st.text(max_size=6)
    | st.from_regex(r"[+-]?[0-9]{0,3}[.,_ ]?[0-9]{0,3}(e[+-]?[0-9]{1,3})?", fullmatch=True)
)
def test_a_number_is_a_number_whatever_else_is_in_its_column(text):
    """The fast way for columns that are fine, and the slow way for others, agree on each value."""
    assert "word" not in text
    alone, problems = numbers_of("c", pa.array([text]))
    beside, others = numbers_of("c", pa.array([text, "word"]))
    assert np.array_equal(alone, beside[:1], equal_nan=True)
    assert set(others) - {1} == set(problems)
    if not problems and not np.isnan(alone[0]):
        assert float(text) == alone[0]


def test_schemas_survive_their_dict():
    schema = read_table({"a": [1, 2, 3], "b": ["u", "v", "u"], "label": ["x", "y", "x"]}).schema
    assert Schema.of_dict(schema.as_dict()) == schema
    assert [schema.names(kind) for kind in KINDS] == [["a"], [], ["b"], [], []]
    with pytest.raises(InputError, match="not a kind of column; did you mean `number`"):
        schema.names("nmber")


COLUMN = {"name": "a", "kind": "number", "why": "given"}


@together
@pytest.mark.parametrize(
    "data",
    [
        None, 3, "x", [], {}, {"columns": []}, {"label": None}, {"label": None, "columns": [], "more": 1},
        {3: None, "columns": []}, {"label": 3, "columns": []}, {"label": ["a"], "columns": []},
        {"label": "a", "columns": [COLUMN]}, {"label": "\udfff", "columns": [COLUMN]},
        *({"label": None, "columns": columns} for columns in (
            None, {}, "abc", [None], [{}], [COLUMN, COLUMN], [COLUMN | {"name": 3}],
            [COLUMN | {"name": "\ud800"}], [COLUMN | {"kind": "wrong"}], [COLUMN | {"kind": []}],
            [COLUMN | {"why": {}}], [COLUMN | {"more": 1}],
        )),
    ],
)  # fmt: skip
def test_a_hostile_dict_is_no_schema(data):
    with pytest.raises((InputError, TypeError)):
        Schema.of_dict(data)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["label", "columns", "name", "kind", "why"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(json_like)
def test_of_dict_takes_what_as_dict_gives_and_nothing_else(data):
    try:
        schema = Schema.of_dict(data)
    except (InputError, TypeError):
        return
    assert schema.as_dict() == data


def test_a_schema_is_checked_when_it_is_made():
    for columns in ([Column("a", "number", "x")], ("a",), None):
        with pytest.raises(TypeError, match="a tuple of `Column`"):
            Schema(columns)
    with pytest.raises(InputError, match="two columns without a name"):
        Schema((Column("", "number", "x"), Column("", "number", "x")))
