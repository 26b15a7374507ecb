"""Many files: each has a file of answers, as if it were alone; what is finished is not done again."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import os
import shutil
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import textodds
from pairs import together
from textodds.cli import main
from textodds.errors import BadFile, FilesFailed, InputError
from textodds.model.many_files import run as run_module
from textodds.model.many_files import workers as workers_module
from textodds.model.many_files.inputs import InputFile, found_files, output_name
from textodds.model.many_files.shards import checked_shard, shard_of

SPAM = ["win a free phone now", "free prize inside", "claim your free cash prize", "win cash now"]
HAM = ["see you at six", "lunch at noon tomorrow?", "the meeting is at six", "call me when you are home"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of one label, of several, and of a table."""
    folder = tmp_path_factory.mktemp("models")
    texts, labels = [*SPAM, *HAM] * 30, [*["spam"] * 4, *["ham"] * 4] * 30
    textodds.train(texts, labels, learner="multinomial", typical=True).save(folder / "one.textodds")
    textodds.train(texts, labels, learner="multinomial:alpha=3").save(folder / "other.textodds")
    sets = [["a"] if at % 3 else ["a", "b"] for at in range(len(texts))]
    textodds.train(texts, sets, learner="multinomial").save(folder / "several.textodds")
    table = pa.table({"size": [1.5, 2.0, 9.0, 8.5] * 40, "colour": ["red", "red", "blue", "blue"] * 40})
    textodds.train(table, ["small", "small", "large", "large"] * 40).save(folder / "table.textodds")
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of files of texts, in formats that are written too, and packed."""
    monkeypatch.chdir(tmp_path)
    Path("in/de").mkdir(parents=True)
    texts = [f"{text} {n}" for n in range(5) for text in (*SPAM, *HAM)]
    lines = [json.dumps({"text": text, "n": n}) for n, text in enumerate(texts)]
    parquet.write_table(pa.table({"text": texts, "n": range(len(texts))}), "in/de/a.parquet")
    parquet.write_table(pa.table({"text": texts[:7]}), "in/de/b.parquet", row_group_size=3)
    Path("in/c.csv").write_text("text;n\n" + "".join(f'"{text}";{n}\n' for n, text in enumerate(texts)))
    Path("in/d.jsonl").write_text("\n".join(lines))
    Path("in/e.json.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    Path("in/f.jsonl.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    Path("in/g.tsv.bz2").write_bytes(bz2.compress(("text\n" + "\n".join(texts)).encode()))
    Path("in/empty.csv").write_text("text\n")
    Path("in/_SUCCESS").write_text("")
    Path("in/notes.md").write_text("not data")
    return Path("in")


NAMES = [
    "c.csv",
    "d.jsonl",
    "de/a.parquet",
    "de/b.parquet",
    "e.json.gz",
    "empty.csv",
    "f.jsonl.xz",
    "g.tsv.bz2",
]


def written(folder):
    """The bytes of all files of answers, by their names; no temporary file is left."""
    found = {str(path.relative_to(folder)): path for path in Path(folder).rglob("*") if path.is_file()}
    assert not [name for name in found if name.endswith(".part")]
    return {name: path.read_bytes() for name, path in sorted(found.items()) if ".textodds" not in name}


OPTIONS = {
    "none": ([], {}),
    "columns": (["--proba", "--top", "2"], {"proba": True, "top": 2}),
    "threshold": (["--threshold", "0.8"], {"threshold": 0.8}),
    "loss": (
        ["--loss", "ham->spam: 20", "--abstain", "0.5"],
        {"loss": "ham->spam: 20", "abstain": 0.5},
    ),
    "promise": (["--max-error", "0.4"], {"max_error": 0.4}),
    "set": (["--set", "0.9"], {"sets": 0.9}),
    "prior": (["--prior", "uniform", "--familiarity"], {"prior": "uniform", "familiarity": True}),
    "one column": (["--keep", "text"], {"keep": "text"}),
    "answers alone": (["--keep", "none", "--proba"], {"keep": [], "proba": True}),
}


@pytest.mark.parametrize("which", OPTIONS)
def test_each_file_is_answered_as_if_it_were_alone(models, data, which):
    said, options = OPTIONS[which]
    model = str(models / "one.textodds")
    assert main(["predict", model, "in", "-o", "out/", "--workers", "1", "--quiet", *said]) == 0
    assert list(written("out")) == NAMES
    Path("alone").mkdir()
    for name in NAMES:
        target = f"alone/{Path(name).name}"
        assert main(["predict", model, f"in/{name}", "-o", target, "--quiet", *said]) == 0
        assert Path(target).read_bytes() == Path("out", name).read_bytes(), name
    done = textodds.predict_files(model, data, "out", workers=1, **options)
    assert (len(done.files), done.skipped) == (0, len(NAMES))  # the same in Python: nothing is left to do


def test_several_labels_and_tables_are_answered_too(models, data, capsys):
    several = str(models / "several.textodds")
    assert main(["predict", several, "in", "-o", "out/", "--workers", "1", "--goal", "recall=0.9"]) == 0
    assert main(["predict", several, "in/d.jsonl", "-o", "alone.jsonl", "--goal", "recall=0.9"]) == 0
    assert Path("alone.jsonl").read_bytes() == Path("out/d.jsonl").read_bytes()
    capsys.readouterr()
    assert main(["predict", several, "in", "-o", "losses/", "--loss", "a->b: 2"]) == 2
    assert "`--loss` is for one label a text" in capsys.readouterr().err
    Path("rows").mkdir()
    for number in range(3):
        Path(f"rows/{number}.csv").write_text("size,colour\n" + f"{number},red\n8,blue\n")
    assert main(["predict", str(models / "table.textodds"), "rows/*.csv", "-o", "sizes/", "--proba"]) == 0
    assert list(written("sizes")) == ["0.csv", "1.csv", "2.csv"]
    assert (
        Path("sizes/1.csv").read_text().startswith("size,colour,label,probability,p(large),p(small)\n1,red,")
    )


def test_workers_write_the_same_bytes(models, data):
    here = textodds.predict_files(models / "one.textodds", "in", "out", workers=1, proba=True)
    model = textodds.load(models / "one.textodds")
    there = textodds.predict_files(model, "in", "other", workers=2, proba=True)
    assert written("out") == written("other")
    assert (there.rows, there.unknown, len(there.files)) == (here.rows, here.unknown, len(NAMES))
    # a model in memory is the same as its file
    assert textodds.predict_files(model, "in", "out", proba=True).skipped == len(NAMES)


def test_finished_files_are_skipped_and_those_that_changed_are_done_again(models, data, capsys):
    command = ["predict", str(models / "one.textodds"), "in", "-o", "out/", "--workers", "1"]
    assert main(command) == 0
    assert capsys.readouterr().err.endswith("wrote out: 8 files, 247 rows\n")
    before = {name: Path("out", name).stat().st_mtime_ns for name in NAMES}
    Path("in/d.jsonl").write_text('{"text": "another free prize"}\n')
    Path("out/c.csv").unlink()
    assert main(command) == 0
    assert capsys.readouterr().err.endswith("wrote out: 2 files, 41 rows; skipped 6 files finished before\n")
    after = {name: Path("out", name).stat().st_mtime_ns for name in NAMES}
    assert [name for name in NAMES if after[name] != before[name]] == ["c.csv", "d.jsonl"]
    assert Path("out/d.jsonl").read_text().startswith('{"text": "another free prize", "label": "spam"')


def test_files_by_another_model_or_other_options_are_refused_and_replaced_by_force(models, data, capsys):
    def run(model, *more):
        status = main(["predict", str(models / model), "in", "-o", "out/", "--workers", "1", *more])
        return status, capsys.readouterr().err

    assert run("one.textodds")[0] == 0
    first = written("out")
    status, said = run("other.textodds")
    assert status == 2
    assert "8 files in `out` were made by another model: `c.csv`, `d.jsonl`, `de/a.parquet`, …" in said
    assert "--force" in said
    status, said = run("one.textodds", "--top", "2")
    assert status == 2
    assert 'made by other options ({} rather than {"top": 2})' in said
    assert written("out") == first
    assert run("other.textodds", "--force")[0] == 0
    second = written("out")
    assert second != first
    assert "skipped 8 files" in run("other.textodds", "--force")[1]  # which are what they would be
    Path("foreign").mkdir()
    Path("foreign/c.csv").write_text("mine\n")
    assert main(["predict", str(models / "one.textodds"), "in", "-o", "foreign"]) == 2
    assert "would be replaced that no run like this has written: `c.csv`" in capsys.readouterr().err
    assert Path("foreign/c.csv").read_text() == "mine\n"


def test_a_state_that_was_cut_off_or_says_begun_is_done_again(models, data):
    model = models / "one.textodds"
    textodds.predict_files(model, "in", "out", workers=1)
    first = written("out")
    Path("out/.textodds/c.csv.state").write_text("")
    Path("out/.textodds/d.jsonl.state").write_text('{"state": "don')
    begun = json.loads(Path("out/.textodds/e.json.gz.state").read_text()) | {"state": "begun"}
    Path("out/.textodds/e.json.gz.state").write_text(json.dumps(begun))
    done = textodds.predict_files(model, "in", "out", workers=1)
    assert [Path(each.output).name for each in done.files] == ["c.csv", "d.jsonl", "e.json.gz"]
    assert written("out") == first


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_bad_file_stops_no_other_and_is_named_at_the_end(models, data, capsys, workers):
    Path("in/de/cut.parquet").write_bytes(Path("in/de/a.parquet").read_bytes()[:-100])
    Path("in/quote.csv").write_text('text,n\nfine,1\n"open,2\n')
    Path("in/column.csv").write_text("words,n\nfree prize,1\n")
    command = ["predict", str(models / "one.textodds"), "in", "-o", "out/", "--workers", workers]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "wrote out: 8 files, 247 rows\nerror: 3 files have no answers:\n" in said
    for name in ("in/de/cut.parquet", "in/quote.csv, line 3", "in/column.csv"):
        assert name in said
    assert list(written("out")) == NAMES
    for name in ("de/cut.parquet", "quote.csv", "column.csv"):
        Path("in", name).unlink()
    assert main(command) == 0
    assert "skipped 8 files finished before" in capsys.readouterr().err


def test_in_python_what_failed_is_an_error_that_has_the_summary(models, data):
    Path("in/quote.csv").write_text('text,n\nfine,1\n"open,2\n')
    with pytest.raises(FilesFailed, match="1 file has no answers") as caught:
        textodds.predict_files(models / "one.textodds", "in", "out", workers=1)
    assert [each.path for each in caught.value.failed] == ["in/quote.csv"]
    assert len(caught.value.summary.files) == len(NAMES)


def test_a_worker_that_is_killed_costs_the_file_it_was_at(models, data, monkeypatch):
    monkeypatch.setattr(
        workers_module,
        "MAIN",
        "import os, textodds.model.many_files.worker as worker\n"
        "before = worker.answer_file\n"
        "def answer(file, *more):\n"
        "    os.kill(os.getpid(), 9) if file.name == 'd.jsonl' else None\n"
        "    return before(file, *more)\n"
        "worker.answer_file = answer\n"
        "worker.main()",
    )
    with pytest.raises(
        FilesFailed, match=r"in/d.jsonl: the process that answered it was killed \(SIGKILL\)"
    ) as caught:
        textodds.predict_files(models / "one.textodds", "in", "out", workers=2)
    assert len(caught.value.summary.files) == len(NAMES) - 1


def test_a_model_that_is_replaced_while_a_run_begins_is_refused(models, data, monkeypatch):
    model = data.parent / "model.textodds"
    shutil.copy(models / "one.textodds", model)
    digest_of = run_module.digest_of

    def replaced(path):
        (models.parent / "next").write_bytes((models / "other.textodds").read_bytes())
        (models.parent / "next").replace(path)
        return digest_of(path)

    monkeypatch.setattr(run_module, "digest_of", replaced)
    with pytest.raises(InputError, match="has changed since the run began"):
        textodds.predict_files(model, "in", "out", workers=1)
    assert not Path("out").exists()


def test_skipped_rows_go_to_a_file_for_each(models, data, capsys):
    Path("in/null.jsonl").write_text('{"text": null}\n{"text": "free prize"}\n')
    command = ["predict", str(models / "one.textodds"), "in", "-o", "out/", "--workers", "1"]
    assert main([*command, "--bad-rows", "skip", "--rejects", "bad"]) == 0
    said = capsys.readouterr().err
    assert "skipped 1 row; they are in bad\n1 row could not be read, and has no answer\n" in said
    assert json.loads(Path("bad/null.jsonl.rejected.jsonl").read_text())["reason"] == "text is null"
    assert Path("out/null.jsonl").read_text().startswith('{"text": null, "label": null')


def test_one_format_for_all(models, data):
    done = textodds.predict_files(models / "one.textodds", "in", "out", workers=1, output_format="parquet")
    assert len(done.files) == len(NAMES)
    tables = {name: parquet.read_table(Path("out", name)) for name in written("out")}
    assert sorted(tables) == sorted(output_name(name, None, "parquet") for name in NAMES)
    assert tables["d.parquet"]["label"] == tables["de/a.parquet"]["label"]


def test_patterns_keep_the_path_from_their_first_wildcard_on(models, data):
    found = found_files(["in/*/*.parquet", "in/c.csv"], Path("out"), format_=None, output_format=None)
    assert [(each.path, each.name) for each in found] == [
        ("in/c.csv", "c.csv"),
        ("in/de/a.parquet", "de/a.parquet"),
        ("in/de/b.parquet", "de/b.parquet"),
    ]
    # answers in a folder below the data are not data
    textodds.predict_files(models / "one.textodds", "in/**/*.parquet", "in/out", workers=1)
    again = textodds.predict_files(models / "one.textodds", "in/**/*.parquet", "in/out", workers=1)
    assert again.skipped == 2
    assert textodds.predict_files(models / "one.textodds", "in", "in/out", workers=1).skipped == 2


@together
@pytest.mark.parametrize(
    ("relative", "format_", "output_format", "name"),
    [
        ("a.csv", None, None, "a.csv"),
        ("x.y/a.CSV.GZ", None, None, "x.y/a.CSV.GZ"),
        ("a.ndjson.zst", None, None, "a.ndjson.zst"),
        ("a.parquet.gz", None, None, "a.parquet"),
        ("a.xlsx", None, None, "a.xlsx.csv"),
        ("a.txt.gz", None, None, "a.txt.csv.gz"),
        ("a.txt", "jsonl", None, "a.txt.jsonl"),
        ("a.csv.xz", None, "jsonl", "a.jsonl.xz"),
        ("a.tsv.zip", None, "parquet", "a.parquet"),
    ],
)
def test_names_of_answers(relative, format_, output_format, name):
    assert output_name(relative, format_, output_format) == name


def test_what_cannot_be_is_refused(models, data, capsys):
    model = models / "one.textodds"

    def refused(match, *inputs, error=InputError, **options):
        with pytest.raises(error, match=match):
            textodds.predict_files(model, list(inputs), options.pop("output", "out"), **options)
        assert not Path("out").exists()

    Path("more").mkdir()
    Path("more/c.csv").write_text("text\nfree\n")
    refused("`in/c.csv` and `more/c.csv` would both be", "in", "more")
    refused("stdin and pipes have no name", "-")
    refused("would replace `in/c.csv`", "in", output="in")
    refused("no file matches", "in/*.nothing", error=BadFile)
    Path("nothing").mkdir()
    refused("there is no data in `nothing`", "nothing", error=BadFile)
    refused("is not a shard", "in", shard="0/3")
    refused("is not a shard", "in", shard="4/3")
    refused("workers must be", "in", workers=0)
    refused("`query` does not apply", "in", query="SELECT 1")
    refused("there is no option `colour`", "in", colour="red")
    refused("cannot be written as `xml`", "in", output_format="xml")
    refused("the answers to a folder are one file", "in", format="folder")
    assert main(["predict", str(model), "in/c.csv", "-o", "a.csv", "--workers", "2"]) == 2
    assert "`--workers` is for many files" in capsys.readouterr().err
    assert main(["predict", str(model), "-o", "out/"]) == 2
    assert "the answers to stdin are one file" in capsys.readouterr().err


sizes = st.lists(st.integers(0, 1000), max_size=60)


@given(sizes, st.integers(1, 20), st.randoms())
def test_shards_are_disjoint_complete_and_balanced_whatever_the_order(lengths, of, random):
    files = [InputFile(f"in/{n}", f"{n}", size) for n, size in enumerate(lengths)]
    shuffled = random.sample(files, len(files))
    shards = [shard_of(files, (number, of)) for number in range(1, of + 1)]
    assert [shard_of(shuffled, (number, of)) for number in range(1, of + 1)] == shards
    assert sorted(each.name for shard in shards for each in shard) == sorted(each.name for each in files)
    loads = [sum(each.size + 1 for each in shard) for shard in shards]
    assert max(loads) - min(loads) <= max(lengths, default=0) + 1


def test_shards_together_are_the_whole(models, data):
    textodds.predict_files(models / "one.textodds", "in", "whole", workers=1)
    for number in (2, 3, 1):
        textodds.predict_files(models / "one.textodds", "in", "out", workers=1, shard=f"{number}/3")
    assert written("out") == written("whole")
    assert checked_shard(" 3 / 16 ") == (3, 16)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_is_killed_at_any_moment_goes_on_where_it_was(models, tmp_path, monkeypatch, workers):
    import random

    from forked import start

    monkeypatch.chdir(tmp_path)
    model, chance = str(models / "one.textodds"), random.Random(workers)
    Path("in").mkdir()
    for number in range(12):
        texts = [f"{chance.choice(SPAM + HAM)} {n}" for n in range(chance.randrange(1, 4000))]
        if number % 3:
            parquet.write_table(pa.table({"text": texts}), f"in/{number}.parquet")
        else:
            Path(f"in/{number}.csv").write_text("text\n" + "\n".join(texts) + "\n")
    textodds.predict_files(model, "in", "whole", workers=1, proba=True)
    command = ["predict", model, "in", "-o", "out/", "--proba", "--workers", str(workers)]
    finished: dict[str, int] = {}
    for _ in range(20 if workers == 1 else 4):
        process = start(*command, env={"OPENBLAS_NUM_THREADS": "1"})
        time.sleep(chance.uniform(0.0, 0.06 if workers == 1 else 0.9))
        with contextlib.suppress(ProcessLookupError):  # on a fast machine it is done by then
            os.kill(process.pid, signal.SIGKILL)
        process.communicate(60)
        for name, when in finished.items():  # what is finished is never touched again
            assert Path("out", name).stat().st_mtime_ns == when
        states = {
            path.name: json.loads(path.read_text() or "{}") for path in Path("out").glob(".textodds/*.state")
        }
        for name, state in states.items():
            if state.get("state") == "done":
                target = Path("out", name.removesuffix(".state"))
                finished[target.name] = target.stat().st_mtime_ns
        if len(finished) == 12:
            break
    last = start(*command, env={})
    _, err = last.communicate(120)
    assert last.wait(60) == 0, err
    assert written("out") == written("whole")
