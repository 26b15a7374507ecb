"""How a service is to run: where it listens, who may ask, and how much."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from textodds.errors import InputError
from textodds.serve.origins import PublicOrigin

LEAST_TOKEN = 16  # characters of a token: fewer could be guessed


@dataclass(frozen=True)
class Settings:
    """Where the model is, where to listen, who may ask, and what a request may have at most."""

    model: Path
    journal: Path
    host: str = "127.0.0.1"
    port: int = 8790
    read_token: str | None = field(default=None, repr=False)
    write_token: str | None = field(default=None, repr=False)
    origins: tuple[PublicOrigin, ...] = ()  # where proxies have put it
    tokens: Path | None = None  # a file of more tokens, each with a name and a scope
    audit: Path | None = None  # where to write who has corrected what
    text: int = 100_000  # characters of a text
    explained: int = 20_000  # characters of a text that is explained, which takes a hundred times as long
    batch: int = 1000  # texts of a request
    body: int = 4 << 20  # bytes of a request
    upload: int = 64 << 20  # bytes of a file
    requests: int = 128  # at the same time
    seconds: float = 10.0  # that a request may take
    upload_seconds: float = 120.0  # that measuring a file may take
    snapshot_every: int = 10_000  # corrections
    read_only: bool = False  # whether to answer by the model file alone, without a journal
    new: bool = False  # whether to begin with a model that has learned nothing
    classes: tuple[str, ...] = ()  # that texts can be labelled with from the start
    accept_loss: bool = False  # whether to go on without corrections that only a snapshot has
    title: str | None = None  # of the page, in the place of the name of the file
    data_link: str | None = None  # where the data are, for who reads the page
    examples: Path | None = None  # a file of texts to try
    compare: Path | None = None  # another model, to compare with

    def __post_init__(self) -> None:
        given = [token for token in (self.read_token, self.write_token) if token is not None]
        public = [each.address for each in self.origins if not is_loopback(each.name.strip("[]"))]
        if not self.needs_token and (public or not is_loopback(self.host)):
            example = (f"TEXTODDS_{kind}_TOKEN={secrets.token_urlsafe(24)}" for kind in ("READ", "WRITE"))
            place = public[0] if public else self.host
            instead = "leave out `--origin`" if public else "listen on 127.0.0.1"
            raise InputError(
                f"at `{place}` others can reach the service, and there are no tokens to tell them apart",
                hint=f"set two secrets, for example {' '.join(example)}; or give `--tokens FILE`; "
                f"or {instead}",
            )
        if len(given) == 1 or (given and self.read_token == self.write_token):
            raise InputError(
                "reading and writing need tokens of their own", hint="set both, to two different secrets"
            )
        for token in given:
            check_token(token)
        if self.data_link is not None and not self.data_link.startswith(("https://", "http://")):
            raise InputError(
                f"`--data-link` must be an address on the web, got `{self.data_link}`",
                hint="for example https://example.org/data",
            )

    @property
    def snapshot(self) -> Path:
        """The model with what the journal has: read instead of both on the next start.

        Of a new model it is the model file.
        """
        if self.new:
            return self.model
        return self.journal.with_name(self.journal.name + ".snapshot")

    @property
    def needs_token(self) -> bool:
        """Whether a request must say who sends it."""
        return self.read_token is not None or self.write_token is not None or self.tokens is not None


def check_token(token: str) -> None:
    """Refuse a token that could be guessed, or that a header cannot have."""
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"a token is {LEAST_TOKEN} or more letters, digits and signs, without spaces",
            hint=f"for example {secrets.token_urlsafe(24)}",
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
