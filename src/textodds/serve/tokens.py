"""Who may ask what: tokens by name and scope, from the environment and from a file that is read again.

A line of the file is ``NAME SCOPE TOKEN [LAST DAY]``; the token may stand there as ``sha256:`` and a digest.
Only digests are kept, and every token is compared with all of them in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import stat
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic
from typing import Literal, NamedTuple

from textodds.errors import InputError, suggestion
from textodds.serve.settings import Settings, check_token

logger = logging.getLogger("textodds.serve")

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")  # each may do what those before it may
DIGEST = "sha256:"
MOST = 1 << 20  # bytes of the file
OTHERS = 0o077  # the rights of a file that concern others than its owner
EVERY = 1.0  # seconds between looks at the file


class Token(NamedTuple):
    """A token that is known here, by its digest."""

    name: str
    scope: Scope
    digest: bytes
    last_day: date | None = None  # in UTC

    def may(self, needs: str) -> bool:
        """Whether its scope allows what an endpoint needs."""
        return SCOPES.index(self.scope) >= SCOPES.index(needs)


class Tokens:
    """The tokens of a running service."""

    def __init__(self, settings: Settings) -> None:
        given = (("read", settings.read_token), ("admin", settings.write_token))
        names = {"read": "TEXTODDS_READ_TOKEN", "admin": "TEXTODDS_WRITE_TOKEN"}
        self._fixed = [
            Token(names[scope], scope, digest_of(token.encode()))  # type: ignore[arg-type]
            for scope, token in given
            if token is not None
        ]
        self._path = settings.tokens
        self._sign = None if self._path is None else _sign(self._path)
        self._of_file = [] if self._path is None else read_tokens(self._path)
        self._looked = monotonic()

    def of(self, token: bytes) -> Token | None:
        """The token that was sent, if it is known and has not expired."""
        if self._path is not None and monotonic() - self._looked >= EVERY:
            self.look()
        digest, found = digest_of(token), None
        for each in (*self._fixed, *self._of_file):  # all of them, so that time tells nothing
            if hmac.compare_digest(digest, each.digest):
                found = each
        if found is not None and found.last_day is not None and datetime.now(UTC).date() > found.last_day:
            return None
        return found

    def look(self, *, again: bool = False) -> None:
        """Read the file if it has changed, or ``again``; on an error the tokens stay as they were."""
        if self._path is None:
            return
        self._looked = monotonic()
        sign = _sign(self._path)
        if sign == self._sign and not again:
            return
        self._sign = sign
        try:
            self._of_file = read_tokens(self._path)
        except InputError as error:
            logger.error("the tokens stay as they were: %s; %s", error.problem, error.hint)
        else:
            logger.warning("read %d tokens from %s", len(self._of_file), self._path)


def digest_of(token: bytes) -> bytes:
    """The SHA-256 of a token."""
    return hashlib.sha256(token).digest()


def _sign(path: Path) -> tuple[int, ...]:
    """What tells a file that was written again from the one before."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode


def read_tokens(path: Path) -> list[Token]:
    """The tokens of a file, which nobody but its owner may read."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(MOST + 1)
    except OSError as error:
        raise InputError(
            f"cannot read the tokens in `{path}`: {error.strerror or error}", hint="name another `--tokens`"
        ) from error
    if os.name == "posix" and stat.S_IMODE(mode) & OTHERS:  # elsewhere the mode says nothing of others
        raise InputError(
            f"others may read or write the tokens in `{path}` (mode {stat.S_IMODE(mode):o})",
            hint=f"chmod 600 {path}",
        )
    if len(content) > MOST:
        raise InputError(f"`{path}` has more than {MOST:,} bytes", hint="it is to hold a token on each line")
    tokens = list(_tokens(path, content))
    if not tokens:
        raise InputError(f"`{path}` has no token", hint=f"write one: {_example()}")
    return tokens


def _tokens(path: Path, content: bytes) -> Iterator[Token]:
    names, digests = set[str](), set[bytes]()
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        try:
            token = _token(fields)
            if token.name in names or token.digest in digests:
                what = f"the name `{token.name}`" if token.name in names else f"the token of `{token.name}`"
                raise InputError(f"{what} is there twice", hint="give every token a name of its own")
        except InputError as error:
            raise InputError(f"line {number} of `{path}`: {error.problem}", hint=error.hint) from error
        names.add(token.name)
        digests.add(token.digest)
        yield token


def _token(fields: list[str]) -> Token:
    """The token of a line; no message shows it."""
    if not 3 <= len(fields) <= 4:
        raise InputError(f"it has {len(fields)} fields", hint=f"write NAME SCOPE TOKEN [DATE]: {_example()}")
    name, scope, secret, *rest = fields
    if not name.isprintable() or len(name) > 100:
        raise InputError("its name is not to be printed, or has more than 100 characters", hint=_example())
    if scope not in SCOPES:
        raise InputError(
            f"there is no scope `{scope[:20]}`{suggestion(scope, SCOPES)}",
            hint="the scopes are read, write and admin",
        )
    if secret.startswith(DIGEST):
        try:
            digest = bytes.fromhex(secret.removeprefix(DIGEST))
        except ValueError:
            digest = b""
        if len(digest) != 32:
            raise InputError(
                "its digest is not 64 hexadecimal digits", hint="printf %s TOKEN | sha256sum prints them"
            )
    else:
        check_token(secret)
        digest = digest_of(secret.encode())
    return Token(name, scope, digest, _day(rest[0]) if rest else None)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"`{text[:40]}` is not a date", hint="write its last day as 2027-01-31") from error


def _example() -> str:
    return f"alice read {secrets.token_urlsafe(24)} 2027-01-31"
