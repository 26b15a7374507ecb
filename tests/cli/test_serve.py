"""Transcripts of `textodds serve`: what it says when it starts, when it ends, and when it cannot."""

import http.client
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import forked
from pairs import together
from textodds.cli import main

from .transcripts import COMMAND, on_a_terminal, textodds

TOKENS = {"TEXTODDS_READ_TOKEN": "r" * 16, "TEXTODDS_WRITE_TOKEN": "w" * 16}


@pytest.fixture(autouse=True)
def without_tokens(monkeypatch):
    for name in TOKENS:
        monkeypatch.delenv(name, raising=False)


@together
@pytest.mark.parametrize(
    ("args", "err"),
    [
        ([], "error: MODEL is missing\n\nhint: see `textodds serve --help`\n"),
        (
            ["m", "more"],
            "error: got unexpected extra argument (more)\n\nhint: see `textodds serve --help`\n",
        ),
        (
            ["m", "--prot", "1"],
            "error: there is no option `--prot`; did you mean `--port`?\n\n"
            "hint: see `textodds serve --help`\n",
        ),
        *(
            (
                ["m", "--port", port],
                f"error: `--port` cannot be `{port}`\n\n"
                "hint: write a number from 0 to 65535; 0 for any that is free\n",
            )
            for port in ("x", "-1", "65536", "1.5", "")
        ),
        *(
            (
                ["m", "--timeout", seconds],
                f"error: `--timeout` cannot be `{seconds}`\n\nhint: write a number of seconds above 0\n",
            )
            for seconds in ("0", "-1", "nan", "inf", "x")
        ),
        *(
            (
                ["m", option, number],
                f"error: `{option}` cannot be `{number}`\n\nhint: write a whole number above 0\n",
            )
            for option in (
                *("--max-text", "--max-batch", "--max-body", "--max-upload", "--max-requests"),
                "--snapshot-every",
            )
            for number in ("0", "1e3")
        ),
    ],
)
def test_options_that_make_no_sense_are_said(capsys, args, err):
    assert main(["serve", *args]) == 2
    assert capsys.readouterr() == ("", err)


def refused(capsys, *args):
    """What a start that is refused says."""
    assert main(["serve", *args, "--port", "0"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_journal_for_a_service_that_only_reads_is_refused(model, capsys):
    told = refused(capsys, "mail.textodds", "--read-only", "--journal", "j")
    assert told == ("error: `--read-only` cannot be combined with `--journal`\n\nhint: give one of them\n")
    assert {path.name for path in Path().iterdir()} == {"mail.csv", "mail.textodds"}


def test_a_missing_model_is_said_and_nothing_is_made(tmp_path):
    done = forked.run("serve", "missing.textodds", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: no model file at `missing.textodds`\n\nhint: make one: textodds train "
    )
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_model_is_said(mail, capsys):
    assert refused(capsys, "mail.csv").startswith("error: `mail.csv` is not a valid textodds model file")


@pytest.mark.parametrize("journal", ["mail.csv", ".", "nowhere/journal"])
def test_a_journal_that_is_none_is_said_and_left_as_it_was(model, capsys, journal):
    before = Path(journal).read_bytes() if Path(journal).is_file() else None
    told = refused(capsys, "mail.textodds", "--journal", journal)
    assert told.startswith(f"error: cannot open the journal `{journal}`: ")
    assert "\n\nhint: name another file with `--journal`\n" in told
    assert before is None or Path(journal).read_bytes() == before
    assert {path.name for path in Path().iterdir()} == {"mail.csv", "mail.textodds"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_others_are_not_let_in_without_tokens(model, capsys, host):
    problem, hint = refused(capsys, "mail.textodds", "--host", host).split("\n\n")
    assert problem == (
        f"error: at `{host}` others can reach the service, and there are no tokens to tell them apart"
    )
    read, write = re.findall(r"TEXTODDS_(?:READ|WRITE)_TOKEN=([\w-]{32})", hint)
    assert read != write
    assert not Path("mail.textodds.journal").exists()


@pytest.mark.parametrize(
    ("tokens", "problem"),
    [
        (("r" * 16, None), "reading and writing need tokens of their own"),
        ((None, "w" * 16), "reading and writing need tokens of their own"),
        (("s" * 16, "s" * 16), "reading and writing need tokens of their own"),
        (("r" * 15, "w" * 16), "a token is 16 or more letters, digits and signs, without spaces"),
        (("r" * 16, "w w" * 16), "a token is 16 or more letters, digits and signs, without spaces"),
        (("r" * 16, "ü" * 16), "a token is 16 or more letters, digits and signs, without spaces"),
        (("r" * 16, "w" * 16 + "\n"), "a token is 16 or more letters, digits and signs, without spaces"),
    ],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_tokens_that_would_not_do_are_said_but_not_shown(model, monkeypatch, capsys, tokens, problem, host):
    given = {name: token for name, token in zip(TOKENS, tokens, strict=True) if token is not None}
    for name, token in given.items():
        monkeypatch.setenv(name, token)
    told = refused(capsys, "mail.textodds", "--host", host)
    assert told.startswith(f"error: {problem}\n\nhint: ")
    assert not any(token in told for token in given.values())


def test_a_host_that_is_nobodys_is_said(model):
    env = {**os.environ, **TOKENS}
    for host in ("192.0.2.1", "nowhere.invalid"):
        done = textodds("serve", "mail.textodds", "--port", "0", "--host", host, env=env)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: cannot listen on {host}, port 0: ") or done.stderr.startswith(
            f"error: cannot listen on `{host}`: "
        )


def started(*options, **settings):
    """A service, and the first line that it says on stderr."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "mail.textodds", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )
    return process, process.stderr.readline()


def ended(process, number=signal.SIGTERM):
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def asked(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_that_it_has_stopped(model, number):
    process, line = started()
    address = re.fullmatch(r"serving mail\.textodds at http://127\.0\.0\.1:(\d+)/\n", line)
    assert address
    assert asked(int(address[1]), "GET", "/healthz")[0] == 200
    assert ended(process, number) == (0, "", "stopped\n")


def test_it_says_how_many_corrections_there_are(model):
    for n, more in enumerate(("", " and 1 correction of mail.textodds.journal", " and 2 corrections of j")):
        options = ("--journal", "j") if n == 2 else ()
        if n == 2:
            Path("mail.textodds.journal").rename("j")
        process, line = started(*options)
        found = re.fullmatch(rf"serving mail\.textodds{more} at http://127\.0\.0\.1:(\d+)/\n", line)
        assert found, line
        body = json.dumps({"documents": [{"text": "free", "label": "ham"}]})
        assert asked(int(found[1]), "POST", "/v1/learn", body)[0] == 200
        assert ended(process) == (0, "", "stopped\n")
        if n == 0:
            assert Path("mail.textodds.journal").exists()
        if n == 1:
            Path("mail.textodds.journal.snapshot").unlink()


def test_a_model_that_cannot_learn_is_served_and_said_to_be_so(mail):
    assert main(["train", "mail.csv", "--learner", "softmax", "--no-documents", "--quiet"]) == 0
    process, _ = started()
    why = process.stderr.readline()
    assert why.startswith("read-only: ")
    assert ended(process) == (0, "", "stopped\n")


def test_quiet_says_nothing(model):
    process = subprocess.Popen(
        [*COMMAND, "serve", "mail.textodds", "--port", "0", "--quiet", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told = json.loads(process.stdout.readline())
    assert asked(int(told["address"].rsplit(":", 1)[1].strip("/")), "GET", "/healthz")[0] == 200
    assert ended(process) == (0, "", "")


def test_with_tokens_it_listens_to_all(model):
    process, line = started("--host", "0.0.0.0", env={**os.environ, **TOKENS})
    port = int(re.fullmatch(r"serving mail\.textodds at http://0\.0\.0\.0:(\d+)/\n", line)[1])
    assert asked(port, "GET", "/healthz")[0] == 200
    assert asked(port, "GET", "/v1/model")[0] == 401
    assert ended(process) == (0, "", "stopped\n")


def test_sighup_says_what_became_of_it(model):
    process, line = started()
    process.send_signal(signal.SIGHUP)
    assert re.search(r"WARNING the model file has not changed: [0-9a-f]{12}\.0\n", process.stderr.readline())
    Path("mail.textodds").write_bytes(b"nonsense")
    process.send_signal(signal.SIGHUP)
    told = process.stderr.readline()
    assert "ERROR the model was not reloaded: `mail.textodds` is not a valid textodds model file" in told
    port = int(re.search(r":(\d+)/", line)[1])
    assert asked(port, "POST", "/v1/classify", '{"text": "free"}')[0] == 200
    assert ended(process)[0] == 0


def test_the_help_names_every_option():
    shown = on_a_terminal([*COMMAND, "serve", "--help"])
    for option in (
        "--host",
        "--port",
        "--journal",
        "--snapshot-every",
        "--max-text",
        "--max-batch",
        "--timeout",
    ):
        assert option in shown
