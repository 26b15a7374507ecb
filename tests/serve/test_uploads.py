"""Files that are measured: in every form, and whatever is wrong with them."""

import gzip
import io
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textodds
from serve.conftest import MESSAGES
from serve.wire import HOST, connected, one_answer, problem, running
from textodds.cli import main
from textodds.serve.evaluate_file import measures
from textodds.serve.protocol import messages
from textodds.serve.records.journal import JournalEntry
from textodds.serve.updates.solver_process import PROGRAM

ROWS = [*MESSAGES, ("ham", 'free lunch, "at" noon'), ("spam", "call me at home"), ("ham", "ünïcode 🎉 prize")]


@pytest.fixture(scope="module")
def service(trained, tmp_path_factory):
    journal = str(tmp_path_factory.mktemp("uploads") / "journal")
    with running(trained, "--journal", journal) as found:
        yield found


@pytest.fixture
def send(service):
    """A function that sends a file."""
    client = service.client()

    def send(content, media="text/csv", query=""):
        return client.send("POST", f"/v1/evaluate{query}", content, content_type=media)

    yield send
    client.close()


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def parquet(**columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


CSV = ("label,text\n" + "".join(f"{label},{quoted(text)}\n" for label, text in ROWS)).encode()
FORMS = {
    "csv": (CSV, "text/csv"),
    "tsv": (
        ("label\ttext\n" + "".join(f"{label}\t{quoted(text)}\n" for label, text in ROWS)).encode(),
        "text/tab-separated-values",
    ),
    "jsonl": (
        "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in ROWS).encode(),
        "application/x-ndjson",
    ),
    "parquet": (
        parquet(label=[label for label, _ in ROWS], text=[text for _, text in ROWS]),
        "application/vnd.apache.parquet",
    ),
    "gz": (gzip.compress(CSV), "application/gzip"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_measures_of_the_library(send, trained, form):
    answer = send(*FORMS[form])
    assert answer.status == 200, answer.body
    msgspec.json.decode(answer.body, type=messages.EvaluateAnswer)
    found = answer.json()
    model = textodds.load(trained)
    shares = model.predict_proba([text for _, text in ROWS])
    best = [model.classes_[k] for k in shares.argmax(axis=1)]
    assert found["n"] == len(ROWS)
    assert found["accuracy"] == np.mean([a == label for a, (label, _) in zip(best, ROWS, strict=True)])
    low, high = found["accuracy_interval"]
    assert 0 <= low < found["accuracy"] < high <= 1
    rows = zip(shares, ROWS, strict=True)
    loss = -np.mean([np.log(share[model.classes_.index(label)]) for share, (label, _) in rows])
    assert found["log_loss"] == pytest.approx(loss, rel=1e-9)
    counted = {(c["label"], c["predicted"]): c["rows"] for c in found["confusion"]}
    for truth in model.classes_:
        for answered in model.classes_:
            right = sum((label, b) == (truth, answered) for b, (label, _) in zip(best, ROWS, strict=True))
            assert counted.get((truth, answered), 0) == right
    assert sum(part["rows"] for part in found["reliability"]) == len(ROWS)
    assert found["unknown_labels"] == {}


@pytest.mark.parametrize("more", [b"", b"eggs,free\neggs,noon\n"])
def test_an_evaluation_has_one_shape_by_http_on_the_command_line_and_in_a_file(
    send, trained, tmp_path, capsys, more
):
    """What a door adds stands beside it."""
    file, own = tmp_path / "test.csv", tmp_path / "own.textodds"
    file.write_bytes(CSV + more)
    wanted = json.loads(json.dumps(textodds.load(trained).evaluate(file).as_dict(), allow_nan=False))
    by_http = send(file.read_bytes()).json()
    assert {name: by_http.pop(name) is not None for name in ("report", "version")}["version"]
    assert by_http == wanted
    assert main(["evaluate", str(trained), str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == wanted
    assert main(["train", str(file), "--test", str(file), "-o", str(own), "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["quality"]
    kept = textodds.load(own).info["quality"]
    assert kept.pop("source") == str(file)
    assert kept == told == json.loads(json.dumps(textodds.load(own).evaluate(file).as_dict()))
    assert kept.keys() == wanted.keys()


def test_an_evaluation_of_unknown_labels_alone_has_no_log_loss(trained):
    found = textodds.load(trained).evaluate(["free"], ["eggs"]).as_dict()
    assert (found["log_loss"], found["log_loss_interval"]) == (None, [None, None])


def test_a_file_that_is_sent_is_utf8_whatever_the_encoding_of_training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the report goes
    texts = tmp_path / "mail.csv"
    texts.write_text("text,label\nPrämie,spam\nGrüße,ham\n", encoding="cp1252")
    model = textodds.train(texts, encoding="cp1252", learner="multinomial")
    assert model.info["reading"] == {"encoding": "cp1252"}
    expected = model.evaluate(["Prämie", "Grüße"], ["spam", "ham"])
    sent = tmp_path / "sent.csv"
    sent.write_text("text,label\nPrämie,spam\nGrüße,ham\n", encoding="utf-8")
    found = measures(model, str(sent), {})
    assert (found["accuracy"], found["no_evidence"]) == (expected.accuracy, 0)


def test_columns_are_found_by_the_names_that_are_given(send):
    file = CSV.replace(b"label,text", "Größe,was & wie".encode(), 1)
    problem(send(file), 422, "input.missing-column")
    found = send(file, query="?text=was%20%26%20wie&label=Gr%C3%B6%C3%9Fe")
    assert found.json()["n"] == len(ROWS)
    problem(send(CSV, query="?text=nothing"), 422, "input.missing-column")
    problem(send(CSV, query="?text=text&label=text"), 422)
    problem(send(CSV, query="?column=text"), 422, "input.fields")


def test_labels_that_the_model_does_not_have_are_counted_apart(send):
    found = send(CSV + b"eggs,free\neggs,noon\n").json()
    assert found["unknown_labels"] == {"eggs": 2}
    assert found["n"] == len(ROWS) + 2


@pytest.mark.parametrize(
    ("content", "media"),
    [
        (b"text\nfree\n", "text/csv"),
        (b"a,b\n1,2\n", "text/csv"),
        (b'label,text\nham,"free\n', "text/csv"),
        (b"label,text\nham,\xff\xfe\n", "text/csv"),
        (b"\xff\xfel\x00", "text/csv"),
        (b"\x00" * 1000, "text/csv"),
        (b"nonsense", "application/gzip"),
        (FORMS["parquet"][0][:-20], "application/vnd.apache.parquet"),
        (parquet(label=[1.5], text=[[1, 2]]), "application/vnd.apache.parquet"),
        (b'{"label": "ham", "text": 1}\n', "application/x-ndjson"),
        (b'{"label": "ham", "text": "\\ud800"}\n', "application/x-ndjson"),
        (b'{"label": "\\ud800", "text": "a"}\n', "application/x-ndjson"),
        (b"[" * 100_000, "application/x-ndjson"),
    ],
)
def test_a_file_that_cannot_be_measured_is_422_in_words(send, content, media):
    """Of what the sender can do: there are no options of the command line here, and no such file."""
    answer = send(content, media)
    found = problem(answer, 422)
    assert found["code"].startswith("input")
    assert b"upload-" not in answer.body  # nor any other name of ours
    assert b"textodds-" not in answer.body
    assert b"--" not in answer.body


@pytest.mark.parametrize(
    ("content", "media", "detail", "hint"),
    [
        (
            b"label,text\nham,a\nham\n",
            "text/csv",
            "the uploaded file, line 3: 1 fields where the header has 2",
            "correct the row",
        ),
        (
            b'{"label": "ham", "text": "upload.jsonl"}\n{"label": "ham", "text": 1}\n',
            "application/x-ndjson",
            "the uploaded file, line 2: text is 1 (int), not text",
            "correct the row",
        ),
        (
            parquet(label=["ham", None], text=["a", "b"]),
            "application/vnd.apache.parquet",
            "the uploaded file, row 2: label is empty",
            "correct the row",
        ),
        (
            b"upload.csv,text\nham,a\n",
            "text/csv",
            "the uploaded file has no label column; its columns are `upload.csv`, `text`",
            "name the columns in the query: /v1/evaluate?text=COLUMN&label=COLUMN",
        ),
        (
            "label,text\n".encode("utf-16"),
            "text/csv",
            "the uploaded file is in UTF-16, not in UTF-8",
            "send it in UTF-8",
        ),
        (
            gzip.compress(CSV)[:-9],
            "application/gzip",
            "the uploaded file ends in the middle of its gzip stream; it was cut off when copied or is "
            "still being written",
            "check it with `gzip -t FILE`, and copy it again",
        ),
        (b"", "text/csv", "the uploaded file is empty", "send its content as the body of the request"),
        (b"label,text\n", "text/csv", "the uploaded file has no rows to evaluate on", None),
    ],
)
def test_a_refusal_says_where_in_the_file_that_was_sent(send, content, media, detail, hint):
    found = problem(send(content, media), 422)
    assert (found["detail"], found.get("hint")) == (detail, hint)
    assert found["code"].startswith("input")


@pytest.mark.parametrize("media", ["application/json", "text/html", "multipart/form-data", "x" * 1000])
def test_another_type_is_415_and_names_those_that_are_read(send, media):
    found = problem(send(CSV, media), 415, "media-type")
    assert "text/csv" in found["hint"]
    assert len(found["detail"]) < 300


def test_the_report_opens_without_a_token_under_a_policy_of_its_own(trained, tmp_path):
    tokens = {"TEXTODDS_READ_TOKEN": "r" * 20, "TEXTODDS_WRITE_TOKEN": "w" * 20}
    with running(trained, "--journal", str(tmp_path / "journal"), env=tokens) as service:
        reader = service.client("r" * 20)
        evil = CSV + b'"<script>alert(1)</script>","<img src=x onerror=alert(2)>"\n'
        link = reader.send("POST", "/v1/evaluate", evil, content_type="text/csv").json()["report"]
        assert link.startswith("/v1/reports/")
        assert len(link) > 40
        page = service.client().get(link)
        assert page.status == 200
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "sandbox" in policy
        assert "script-src" not in policy
        assert b"<script>alert(1)" not in page.body
        assert b"<img src=x" not in page.body
        for wrong in (link[:-1], link + "x", "/v1/reports/0", "/v1/reports/%2e%2e"):
            problem(service.client().get(wrong), 404, "not-found")
        head = service.client().send("HEAD", link)
        assert (head.status, head.body) == (200, b"")


def test_nothing_is_left_in_the_folders_of_the_service(trained, tmp_path):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "model").mkdir()
    shutil.copy(trained, tmp_path / "model" / "m.textodds")
    env = {"TMPDIR": str(tmp_path / "temporary")}
    with running(tmp_path / "model" / "m.textodds", env=env) as service:
        client = service.client()
        assert client.send("POST", "/v1/evaluate", CSV, content_type="text/csv").status == 200
        problem(client.send("POST", "/v1/evaluate", b"nonsense", content_type="application/gzip"), 422)
        assert list((tmp_path / "temporary").rglob("upload*")) == []
        assert service.stop()[0] == 0
    assert list((tmp_path / "temporary").iterdir()) == []
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"m.textodds", "m.textodds.journal"}


def endless():
    """A file that takes much longer to measure than anyone waits for."""
    return b"label,text\n" + b"".join(b"l%d,free w%d\n" % (n, n) for n in range(60_000))


def children_of(pid):
    command = ["ps", "-o", "pid=", "--ppid", str(pid)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return {int(line) for line in told.split()}


def test_one_at_a_time_and_a_file_that_takes_too_long_is_ended_with_its_process(trained, tmp_path):
    with running(trained, "--timeout", "0.2", "--journal", str(tmp_path / "journal")) as service:
        first = []

        def evaluate():
            client = service.client()
            first.append(client.send("POST", "/v1/evaluate", endless(), content_type="text/csv"))

        thread = threading.Thread(target=evaluate)
        thread.start()
        end = time.monotonic() + 120
        while not children_of(service.process.pid):
            assert time.monotonic() < end
            time.sleep(0.02)
        client = service.client()
        answer = client.send("POST", "/v1/evaluate", CSV, content_type="text/csv")
        problem(answer, 503, "limit.uploads")
        assert client.post("/v1/classify", {"text": "free"}).status == 200
        thread.join()
        problem(first[0], 503, "limit.time")
        while children_of(service.process.pid):
            assert time.monotonic() < end
            time.sleep(0.02)
        while client.send("POST", "/v1/evaluate", b"", content_type="text/csv").status != 422:
            assert time.monotonic() < end
        status, log = service.stop()
        assert status == 0
        assert "Traceback" not in log


def until(what, seconds=120):
    """Wait for something to be so."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("behind", [b"", b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"])
def test_an_evaluation_ends_when_its_client_leaves(service, send, behind):
    file = endless()
    head = f"POST /v1/evaluate HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Length: {len(file)}\r\n"
    with connected(service.port) as leaving:
        leaving.sendall(head.encode() + HOST + b"\r\n" + file + behind)
        until(lambda: children_of(service.process.pid))
    until(lambda: not children_of(service.process.pid), 60)
    until(lambda: send(CSV).status == 200, 60)


def test_a_file_that_takes_too_long_is_always_told_so(trained, tmp_path):
    """However soon its time is over: before there is a process, while it begins, while it measures."""
    for timeout in ("0.001", "0.03", "0.1"):
        options = ("--timeout", timeout, "--journal", str(tmp_path / f"journal{timeout}"))
        with running(trained, *options) as service:
            for _ in range(2):
                answer = service.client().send("POST", "/v1/evaluate", endless(), content_type="text/csv")
                problem(answer, 503, "limit.time")


def is_alive(pid):
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_measures_and_what_solves_end_with_a_service_that_is_killed(tmp_path):
    """And leave nothing behind."""
    (tmp_path / "temporary").mkdir()
    rows = [*MESSAGES] * 300
    model = textodds.train([text for _, text in rows], [label for label, _ in rows], learner="multinomial")
    model.save(tmp_path / "m.textodds")
    with running(tmp_path / "m.textodds", env={"TMPDIR": str(tmp_path / "temporary")}) as service:
        correction = {"documents": [{"text": "free lunch", "label": "ham"}]}
        assert service.client().post("/v1/learn", correction).status == 200
        until(lambda: len(children_of(service.process.pid)) == 1)
        file = endless()
        head = f"POST /v1/evaluate HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Length: {len(file)}\r\n"
        with connected(service.port) as waiting:
            waiting.sendall(head.encode() + HOST + b"\r\n" + file)
            until(lambda: len(children_of(service.process.pid)) == 2)
            children = children_of(service.process.pid)
            service.kill()
    until(lambda: not any(is_alive(pid) for pid in children))
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_process_that_solves_ends_in_the_middle_of_its_work(trained, tmp_path):
    """It has many questions left when nobody is there any more to be told."""
    entries = [JournalEntry(n, 1, f"j{n}", "ham", "free lunch", "2026-11-18") for n in range(1, 1001)]
    (tmp_path / "folder").mkdir()
    shutil.copy(trained, tmp_path / "folder" / "begun.textodds")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "folder")]
    asked = "".join(json.dumps([entry]) + "\n" for entry in entries)
    told = subprocess.run(command, input=asked.encode(), capture_output=True, check=True, timeout=300)
    assert len(told.stdout.splitlines()) < len(entries)
    assert not (tmp_path / "folder").exists()


def test_a_small_file_that_unfolds_into_a_large_one_is_refused_and_others_go_on(trained, tmp_path):
    """A gigabyte in a few megabytes: the process that reads it is bounded, by memory and by time."""
    part = gzip.compress(b"label,text\nham," + b"free " * (1 << 20), 1)
    more = gzip.compress(b"free " * (8 << 20), 1)
    with running(trained, "--timeout", "0.3", "--journal", str(tmp_path / "journal")) as service:
        client = service.client()
        answer = client.send("POST", "/v1/evaluate", part + more * 30, content_type="application/gzip")
        assert answer.status in (200, 413, 422, 503)
        if answer.status != 200:
            problem(answer, answer.status)
        assert client.post("/v1/classify", {"text": "free"}).status == 200


def test_only_one_large_file_is_held_at_a_time(trained, tmp_path):
    """Who comes while another is still sending is refused before anything of the file is read."""
    head = b"POST /v1/evaluate HTTP/1.1\r\n" + HOST + b"Content-Type: text/csv\r\nContent-Length: 9\r\n\r\n"
    with running(trained, "--journal", str(tmp_path / "journal")) as service:
        with connected(service.port) as slow:
            slow.sendall(head + b"label")
            end = time.monotonic() + 120
            while True:
                answer = service.client().send("POST", "/v1/evaluate", CSV, content_type="text/csv")
                if answer.status == 503:
                    break
                assert time.monotonic() < end
            problem(answer, 503, "limit.uploads")
            slow.sendall(b",tex")
            assert one_answer(slow).status == 422
        assert service.client().send("POST", "/v1/evaluate", CSV, content_type="text/csv").status == 200
