"""Addresses of a service behind a proxy, as browsers know them: of what site a page is that asks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from textodds.errors import InputError

PORTS = {"http": 80, "https": 443}
NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")
EXAMPLE = "give it as browsers show it, for example https://mail.example or https://example.org/mail"


@dataclass(frozen=True)
class PublicOrigin:
    """Where a proxy has put the service.

    >>> PublicOrigin.of("https://Example.org:443/mail/")
    PublicOrigin(scheme='https', name='example.org', port=443, prefix='/mail')
    """

    scheme: str
    name: str  # in brackets, if it is an address of IPv6
    port: int
    prefix: str  # of all paths, without a slash at its end

    @classmethod
    def of(cls, address: str) -> PublicOrigin:
        """The origin at an address, or an error that says what is wrong with it."""
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError as error:
            raise InputError(f"`{address}` is not an origin: {error}", hint=EXAMPLE) from error
        scheme, place = parts.scheme, parts.netloc.lower()
        name = place if port is None else place.rpartition(":")[0]
        wrong = None
        if scheme not in PORTS or "://" not in address:
            wrong = "it must begin with http:// or https://"
        elif "@" in place or "?" in address or "#" in address:
            wrong = "it has a scheme, a host, a port and a path, and nothing else"
        elif not place.isascii():
            wrong = "a host is written in ASCII, as browsers send it (`xn--…`)"
        elif port == 0 or not NAME.fullmatch(name):
            wrong = f"`{place}` is not a host" if place else "it has no host"
        elif not PREFIX.fullmatch(parts.path.rstrip("/")):
            wrong = f"`{parts.path}` is not a path of letters, digits, and . _ ~ -"
        if wrong is not None:
            raise InputError(f"`{address}` is not an origin: {wrong}", hint=EXAMPLE)
        return cls(scheme, name, port or PORTS[scheme], parts.path.rstrip("/"))

    @property
    def hosts(self) -> tuple[bytes, ...]:
        """What `Host` may be; browsers leave out the port that is usual."""
        full = f"{self.name}:{self.port}".encode()
        return (self.name.encode(), full) if self.port == PORTS[self.scheme] else (full,)

    @property
    def site(self) -> bytes:
        """What browsers send as `PublicOrigin`."""
        return f"{self.scheme}://".encode() + self.hosts[0]

    @property
    def address(self) -> str:
        """Where the service is."""
        return self.site.decode() + self.prefix


def is_other_site(origin: bytes, host: bytes, origins: Iterable[PublicOrigin]) -> bool:
    """Whether a page asks that is not of the site it asks, by the headers `PublicOrigin` and `Host`.

    Of the hosts that proxies pass on, only the very origins count, scheme and port included; of others (which
    reach the service itself) those that name the same host.
    """
    sites = [known.site for known in origins if host.lower() in known.hosts]
    return origin not in sites if sites else origin.partition(b"://")[2] != host
