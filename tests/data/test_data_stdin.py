import gzip
import io
import json
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

SCRIPT = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from unbatched import pairs
from textodds.data import read
from textodds.errors import TextoddsError
try:
    source = read("-", **json.loads(sys.argv[1]))
    first = pairs(source)
    again = pairs(source) if source.replayable else None
    print(json.dumps([first, again, source.description]))
except TextoddsError as error:
    print(json.dumps(str(error)))
"""

ROWS = [["hello", "ham"], ["win", "spam"]]
CSV = b"text,label\nhello,ham\nwin,spam\n"
JSONL = b'{"text": "hello", "label": "ham"}\n{"text": "win", "label": "spam"}\n'
FASTTEXT = b"__label__ham hello\n__label__spam win\n"


def from_stdin(content, tests, **options):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(options), str(tests)],
        input=content,
        capture_output=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == b""
    return json.loads(done.stdout)


@pytest.fixture
def tests(request):
    return request.path.parent


def test_unlabelled_stdin_is_one_text_a_line_whatever_it_looks_like(tests):
    rows, again, description = from_stdin(b'hello\n{"a": 1}\n', tests, labelled=False)
    assert (rows, again, description) == ([["hello", None], ['{"a": 1}', None]], None, "stdin")


@pytest.mark.parametrize("content", [CSV, JSONL, FASTTEXT, gzip.compress(JSONL, mtime=0)])
def test_the_format_of_labelled_stdin_is_found_and_it_can_be_read_again(tests, content):
    assert from_stdin(content, tests) == [ROWS, ROWS, "stdin"]


@pytest.mark.parametrize(
    ("content", "name"), [(CSV, "csv"), (gzip.compress(JSONL, mtime=0), "jsonl"), (FASTTEXT, "fasttext")]
)
def test_labelled_stdin_of_a_known_format_is_read_as_it_comes(tests, content, name):
    assert from_stdin(content, tests, format=name) == [ROWS, None, "stdin"]


@pytest.mark.slow
def test_parquet_comes_through_stdin_by_way_of_a_file(tests):
    target = io.BytesIO()
    parquet.write_table(pa.table({"text": ["hello", "win"], "label": ["ham", "spam"]}), target)
    assert from_stdin(target.getvalue(), tests) == [ROWS, ROWS, "stdin"]


def test_stdin_that_does_not_show_its_format_is_told(tests):
    assert "cannot tell the format of `stdin`" in from_stdin(b"hello\n", tests)


def test_empty_stdin_gives_no_rows(tests):
    assert from_stdin(b"", tests) == [[], [], "stdin"]


def test_utf16_from_stdin_is_told(tests):
    answer = from_stdin("text,label\na,b\n".encode("utf-16"), tests, format="csv")
    assert answer.startswith("`stdin` cannot be read: the file is UTF-16")


def test_a_bad_line_of_stdin_is_named(tests):
    assert from_stdin(JSONL + b"nonsense\n", tests, format="jsonl").startswith("stdin, line 3: not JSON")
