import sqlite3

import duckdb
import pytest
from unbatched import pairs, read_pairs, rows

from textodds.data import read
from textodds.errors import BadFile, BadRow, InputError, MissingColumn

MAIL = (
    "CREATE TABLE mail AS SELECT * FROM (VALUES ('win', 'spam', 1.5), ('see', 'ham', 2.0)) t(text, label, w)"
)
PAIRS = [("win", "spam"), ("see", "ham")]


@pytest.fixture
def duck(tmp_path):
    path = tmp_path / "mail.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(MAIL)
    return path


@pytest.fixture
def lite(tmp_path):
    path = tmp_path / "mail.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, text, label, w)")
    connection.executemany(
        "INSERT INTO mail (text, label, w) VALUES (?, ?, ?)", [("win", "spam", 1.5), ("see", "ham", 2)]
    )
    connection.commit()
    connection.close()
    return path


def add(path, statement, *values):
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("name", ["mail.duckdb", "mail.ddb", "mail.db", "mail.data"])
def test_the_only_table_of_a_duckdb_file_is_read_whatever_the_name(duck, name):
    path = duck.rename(duck.with_name(name))
    assert read_pairs(path) == PAIRS


@pytest.mark.parametrize("name", ["mail.sqlite", "mail.sqlite3", "mail.db", "mail.data"])
def test_the_only_table_of_an_sqlite_file_is_read_whatever_the_name(lite, name):
    path = lite.rename(lite.with_name(name))
    assert read_pairs(path) == PAIRS


def test_a_query_chooses_and_names_columns(duck, lite):
    query = "SELECT text AS body, w AS label, w FROM mail ORDER BY w DESC"
    for path in (duck, lite):
        assert rows(read(path, query=query, text="body", weight="w")) == [
            ("see", "2", 2.0),
            ("win", "1.5", 1.5),
        ]


def test_a_query_without_a_source_can_name_files(tmp_path):
    (tmp_path / "mail.csv").write_text("text,label\nwin,spam\nsee,ham\n")
    assert read_pairs(None, query="SELECT * FROM 'mail.csv'") == PAIRS


def test_a_query_may_say_that_its_source_is_a_database(duck):
    assert read_pairs(duck, query="SELECT * FROM mail", format="database") == PAIRS


def test_a_query_can_be_read_again(duck):
    source = read(duck, query="SELECT * FROM mail")
    assert source.replayable
    assert pairs(source) == pairs(source) == PAIRS


def test_several_tables_are_listed_in_the_error(duck, lite):
    with duckdb.connect(str(duck)) as connection:
        connection.execute("CREATE TABLE more (text TEXT)")
    add(lite, "CREATE TABLE more (text TEXT)")
    for path in (duck, lite):
        with pytest.raises(InputError, match="has 2 tables: `mail`, `more`") as caught:
            read_pairs(path)
        assert "--query" in caught.value.hint


def test_no_table_is_an_error_and_no_bytes_are_no_rows(tmp_path):
    duckdb.connect(str(tmp_path / "none.duckdb")).close()
    with pytest.raises(InputError, match="has no tables"):
        read_pairs(tmp_path / "none.duckdb")
    (tmp_path / "empty.db").write_bytes(b"")
    assert read_pairs(tmp_path / "empty.db") == []


def test_a_table_name_is_quoted(tmp_path):
    path = tmp_path / "odd.db"
    add(path, 'CREATE TABLE "a ""b" (text, label)')
    add(path, 'INSERT INTO "a ""b" VALUES (?, ?)', "win", "spam")
    assert read_pairs(path) == [("win", "spam")]


def test_a_query_that_is_wrong_is_told_in_the_words_of_the_database(duck, lite):
    for path in (duck, lite):
        with pytest.raises(InputError, match=r"could not run the query: .*syntax error") as caught:
            read_pairs(path, query="SELEC 1")
        assert "SELEC 1" in caught.value.hint


def test_a_query_that_fails_halfway_is_told():
    text = "CASE WHEN i = 90000 THEN error('boom') ELSE 'a' END"
    query = f"SELECT {text} AS text, 'x' AS label FROM range(100000) t(i)"
    with pytest.raises(InputError, match="boom"):
        read_pairs(None, query=query)


def test_a_query_that_gives_no_rows_is_told(lite):
    with pytest.raises(InputError, match="the query returns no rows"):
        read_pairs(lite, query="PRAGMA cache_size = 100")


def test_a_missing_column_lists_what_is_there(duck, lite):
    for path in (duck, lite):
        with pytest.raises(MissingColumn, match="has no label column; its columns are `text`"):
            read_pairs(path, query="SELECT text FROM mail")


def test_a_database_is_not_written_to(duck, lite):
    for path in (duck, lite):
        before = path.read_bytes()
        with pytest.raises(InputError, match=r"read.?only"):
            read_pairs(path, query="DELETE FROM mail RETURNING text, label")
        assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_told(tmp_path):
    (tmp_path / "mail.db").write_text("text,label\n" * 1000)
    with pytest.raises(BadFile, match="cannot be read as a database"):
        read_pairs(tmp_path / "mail.db")


def test_a_damaged_sqlite_file_is_told(lite):
    lite.write_bytes(lite.read_bytes()[:200])
    with pytest.raises(InputError, match="cannot be read as a database"):
        read_pairs(lite)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((None, "x"), "text is null"),
        (("a", None), "label is empty"),
        (("a", ""), "label is empty"),
        ((b"a\xff", "x"), "invalid UTF-8 at byte 1 of the text"),
        ((3, "x"), r"text is 3 \(int\), not text"),
    ],
)
def test_a_bad_row_is_named_by_its_number(lite, values, reason):
    add(lite, "INSERT INTO mail (text, label) VALUES (?, ?)", *values)
    with pytest.raises(BadRow, match=rf"mail\.db, row 3: {reason}"):
        read_pairs(lite)


def test_text_in_sqlite_that_is_not_utf8_is_a_bad_row(lite):
    add(lite, "INSERT INTO mail (text, label) VALUES (CAST(? AS TEXT), 'x')", b"a\xff")
    source = read(lite, bad_rows="skip")
    assert pairs(source) == PAIRS
    assert source.rejects.count == 1


def test_types_of_duckdb_become_labels():
    query = """
        SELECT * FROM (VALUES ('a', 1)) t(text, n),
        (SELECT {0} AS label)
    """
    for expression, label in {
        "3::HUGEINT": "3",
        "2.50::DECIMAL(5, 2)": "2.50",
        "true": "true",
        "'u'::ENUM('u', 'v')": "u",
        "DATE '2026-01-31'": "2026-01-31",
        "3.0::DOUBLE": "3",
    }.items():
        assert read_pairs(None, query=query.format(expression)) == [("a", label)]


def test_long_results_come_in_batches():
    query = "SELECT 'text ' || i AS text, i % 3 AS label FROM range(50000) t(i)"
    batches = list(read(None, query=query))
    assert len(batches) > 1
    assert pairs(batches)[-1] == ("text 49999", "1")


def test_a_query_goes_with_a_database_or_with_nothing(tmp_path):
    with pytest.raises(InputError, match="the source is neither"):
        read(["a"], query="SELECT 1")
    with pytest.raises(InputError, match="`labels` does not apply: the source is a query"):
        read(None, ["x"], query="SELECT 1")
    with pytest.raises(BadFile, match="is a folder, not a file"):
        read(tmp_path, query="SELECT 1")
