"""A file of tokens: names, scopes, last days; read again while the service runs."""

import hashlib
import logging
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from serve.test_tokens import ABSENT, READ, TOKENS, WRITE, asked, labelling_body
from serve.wire import problem, running
from textodds.errors import InputError
from textodds.serve import tokens as module
from textodds.serve.routes import ENDPOINTS
from textodds.serve.settings import Settings
from textodds.serve.tokens import Tokens, digest_of, read_tokens

ALICE, CRON, OPS = "alice-0123456789abcdef", "cron-0123456789abcdef", "ops-0123456789abcdef"
LINES = [
    f"alice read {ALICE}",
    "",
    "# learns at night",
    f"cron  write sha256:{hashlib.sha256(CRON.encode()).hexdigest()}",
    f"ops\tadmin {OPS} 2999-12-31",
]


def written(path: Path, *lines: str) -> Path:
    path.touch(0o600)
    path.write_text("\n".join(lines) + "\n")
    return path


def until(seen, seconds=60):
    """Wait for something to be so."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "tokens", *LINES)


def test_a_line_is_a_name_a_scope_and_a_token_or_its_digest(file):
    found = read_tokens(file)
    assert [(each.name, each.scope) for each in found] == [
        ("alice", "read"), ("cron", "write"), ("ops", "admin")
    ]  # fmt: skip
    assert [each.digest for each in found] == [digest_of(token.encode()) for token in (ALICE, CRON, OPS)]


@pytest.mark.parametrize(
    ("line", "problem", "hint"),
    [
        ("alice read", "line 1 of `{path}`: it has 2 fields", "NAME SCOPE TOKEN"),
        ("alice raed " + ALICE, "there is no scope `raed`; did you mean `read`?", "read, write and admin"),
        ("alice read short", "a token is 16 or more", "for example"),
        ("alice read sha256:abcd", "64 hexadecimal digits", "sha256sum"),
        (f"alice read {ALICE} 2027-31-01", "`2027-31-01` is not a date", "2027-01-31"),
        (f"alice read {ALICE}\nalice read {CRON}", "line 2 of `{path}`: the name `alice` is", "its own"),
        (f"alice read {ALICE}\nbob read {ALICE}", "line 2 of `{path}`: the token of `bob`", "its own"),
        ("# nobody", "has no token", "write one"),
    ],
)
def test_a_bad_line_is_named_and_its_token_is_not_shown(tmp_path, line, problem, hint):
    path = written(tmp_path / "tokens", line)
    with pytest.raises(InputError) as refused:
        read_tokens(path)
    assert problem.format(path=path) in refused.value.problem
    assert hint.split()[-1] in (refused.value.hint or "")
    assert ALICE not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_file_that_others_may_read_is_refused(file, mode):
    file.chmod(mode)
    with pytest.raises(InputError, match="others may read or write") as refused:
        read_tokens(file)
    assert refused.value.hint == f"chmod 600 {file}"


def test_a_token_works_on_its_last_day_and_not_after(tmp_path):
    today, ended = datetime.now(UTC).date(), None
    while ended != today:  # it may end meanwhile
        today = ended or today
        days = [today - timedelta(1), today, today + timedelta(1)]
        lines = [f"t{n} read token-{n}-0123456789 {day}" for n, day in enumerate(days)]
        found = Tokens(Settings(Path("m"), Path("j"), tokens=written(tmp_path / "tokens", *lines)))
        works = [found.of(f"token-{n}-0123456789".encode()) is not None for n in range(3)]
        ended = datetime.now(UTC).date()
    assert works == [False, True, True]


def test_a_file_is_read_again_when_it_changes_and_a_bad_one_changes_nothing(file, monkeypatch, caplog):
    monkeypatch.setattr(module, "EVERY", 0.0)
    found = Tokens(Settings(Path("m"), Path("j"), tokens=file))
    assert found.of(ALICE.encode()).name == "alice"
    written(file, LINES[0], "nonsense")
    with caplog.at_level(logging.ERROR):
        assert found.of(OPS.encode()).name == "ops"
    assert "the tokens stay as they were: line 2 of" in caplog.text
    caplog.clear()
    assert found.of(OPS.encode()).name == "ops"
    assert not caplog.text, "it is said once"
    written(file, *LINES[1:])
    assert found.of(ALICE.encode()) is None
    file.unlink()
    assert found.of(OPS.encode()).name == "ops"


def test_a_file_is_looked_at_once_a_second_at_most(file):
    found = Tokens(Settings(Path("m"), Path("j"), tokens=file))
    found._looked = time.monotonic() + 3600  # the second has not passed
    file.unlink()
    written(file, LINES[0])
    assert found.of(OPS.encode()).name == "ops"
    found.look()
    assert found.of(OPS.encode()) is None


@pytest.fixture(scope="module")
def scoped(trained, tmp_path_factory):
    """A service with tokens of both kinds, and its file."""
    folder = tmp_path_factory.mktemp("scoped")
    file = written(folder / "tokens", *LINES)
    options = ("--journal", str(folder / "journal"), "--tokens", str(file), "--compare", str(trained))
    with running(trained, *options, env=TOKENS) as found:
        yield found, file


def test_each_endpoint_asks_for_the_scope_that_it_needs(scoped):
    service, _ = scoped
    order = ["nothing", "read", "write", "admin"]
    by_scope = {"read": (ALICE, READ), "write": (CRON,), "admin": (OPS, WRITE)}
    for scope, given in by_scope.items():
        for client in map(service.client, given):
            for endpoint in ENDPOINTS:
                body = labelling_body(service.client(OPS), endpoint.path)
                answer = asked(client, endpoint, file=b"", body=body)  # refused at once, of whoever may send
                if order.index(endpoint.needs) > order.index(scope):
                    problem(answer, 403, f"token.{endpoint.needs}")
                elif endpoint.takes == "file":
                    problem(answer, 422)
                elif endpoint.path in ABSENT:
                    problem(answer, 404)
                else:
                    assert answer.status == 200, (scope, endpoint.path, answer.body)
    problem(service.client("nobody-0123456789abcdef").get("/v1/model"), 401, "token")


def test_tokens_are_changed_without_a_restart(scoped):
    service, file = scoped
    new = "new-0123456789abcdef"
    assert service.client(ALICE).get("/v1/model").status == 200
    written(file, f"new read {new}", *LINES[1:])
    until(lambda: service.client(new).get("/v1/model").status == 200)
    problem(service.client(ALICE).get("/v1/model"), 401, "token")
    assert service.client(READ).get("/v1/model").status == 200
    written(file, "nonsense")
    os.kill(service.process.pid, signal.SIGHUP)
    time.sleep(1.5)  # in which a bad file is looked at
    assert service.client(new).get("/v1/model").status == 200
    replaced = written(file.with_name("tokens.new"), *LINES)
    replaced.rename(file)
    os.kill(service.process.pid, signal.SIGHUP)
    until(lambda: service.client(ALICE).get("/v1/model").status == 200)
    problem(service.client(new).get("/v1/model"), 401, "token")


def test_with_a_file_of_tokens_it_may_listen_elsewhere(file):
    assert Settings(Path("m"), Path("j"), host="0.0.0.0", tokens=file).needs_token
    with pytest.raises(InputError, match="no tokens"):
        Settings(Path("m"), Path("j"), host="0.0.0.0")


def test_a_service_does_not_begin_with_a_bad_file(serve, tmp_path):
    path = written(tmp_path / "tokens", LINES[0])
    path.chmod(0o644)
    with pytest.raises(RuntimeError, match="chmod 600"):
        serve("--tokens", str(path))
