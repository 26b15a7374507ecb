import gzip
import json
import random
import subprocess
import sys

import pytest

from textodds.data import Batch, read

HEAVY = "{'pyarrow', 'duckdb', 'pandas', 'polars', 'sqlite3'}"


def loaded_by(code):
    """Which of the heavy modules ``code`` loads."""
    script = f"import sys\n{code}\nprint(sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import textodds.data") == "[]"


def test_lists_load_nothing_heavy():
    rows = "['a', 'é', None], ['x', 3, 'y'], [1, 2, 3]"
    code = f"from textodds.data import read\nfor _ in read({rows}, bad_rows='skip'): pass"
    assert loaded_by(code) == "[]"


def test_csv_files_load_nothing_heavy(tmp_path):
    (tmp_path / "mail.csv").write_text("text,label\na,x\nb,\n")
    code = "from textodds.data import read\nfor _ in read('mail.csv', bad_rows='skip'): pass"
    assert loaded_by(code) == "[]"


def test_json_lines_load_nothing_heavy(tmp_path):
    (tmp_path / "mail.jsonl").write_text('{"text": "a", "label": "x"}\n')
    assert loaded_by("from textodds.data import read\nfor _ in read('mail.jsonl'): pass") == "[]"


def test_pandas_and_polars_are_recognised_without_the_other():
    frame = "pandas.DataFrame({'text': ['a'], 'label': ['x']})"
    code = f"import pandas\nfrom textodds.data import read\nread({frame})"
    assert "polars" not in loaded_by(code)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_progress_can_be_polled_up_to_the_size(tmp_path, pack):
    noise = random.Random(0)
    lines = [json.dumps({"text": noise.randbytes(150).hex(), "label": "x"}) for _ in range(40_000)]
    path = tmp_path / "mail.jsonl"
    path.write_bytes(pack("\n".join(lines).encode()))
    source = read(path)
    assert source.size == path.stat().st_size
    assert source.bytes_read == 0
    seen = [source.bytes_read for _ in source]
    assert seen == sorted(seen)
    assert 0 < seen[0] < source.size
    assert source.bytes_read == source.size
    iter(source)
    assert source.bytes_read == 0


def test_what_is_not_a_file_has_no_size():
    assert read(["a"], ["x"]).size is None
    assert read(None, query="SELECT 'a' AS text, 'x' AS label").size is None


def test_a_source_shows_what_it_is():
    assert repr(read(["a"], ["x"])) == "<Source: a list of 1 text>"


def test_the_length_of_a_batch_is_that_of_its_texts():
    assert len(Batch(["a", "b"], None, None)) == 2


def test_two_passes_at_once_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "mail.jsonl"
    path.write_text('{"text": "a", "label": "x"}\n' * 40_000)
    source = read(path)
    one, two = iter(source), iter(source)
    assert [len(batch) for batch in one] == [len(batch) for batch in two]


def test_memory_stays_bounded_whatever_the_size_of_the_data():
    """400 MB of text pass through a process that may not hold half of it."""
    code = """
import resource
from textodds.data import prefetched, read
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = sum(len(batch) for batch in prefetched(read((f"{n} " * 1000, "x") for n in range(80_000))))
assert count == 80_000
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 60_000, grown  # kilobytes
"""
    assert loaded_by(code) == "[]"
