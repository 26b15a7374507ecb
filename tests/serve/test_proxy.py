"""Behind a proxy, under a path of its own: the same service, for its own pages and no others."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest

from pairs import together
from serve.browsing import Visits, answer, write
from serve.running import Answer
from serve.wire import problem, running
from textodds.errors import InputError
from textodds.serve.origins import PublicOrigin, is_other_site
from textodds.serve.settings import Settings

READ, WRITE = "r-" + "0123456789abcdef", "w-" + "0123456789abcdef"
TOKENS = {"TEXTODDS_READ_TOKEN": READ, "TEXTODDS_WRITE_TOKEN": WRITE}
PAGE = Path(__file__).parents[2] / "docs" / "serve.md"
LONG = 60.0


@together
@pytest.mark.parametrize(
    "address",
    [
        "",
        "mail.example",
        "//mail.example",
        "https:mail.example",
        "ftp://mail.example",
        "https://",
        "https:///mail",
        "https://user@mail.example",
        "https://mail.example?x",
        "https://mail.example#x",
        "https://mail.example:0",
        "https://mail.example:65536",
        "https://mail.example:x",
        "https://mail example",
        "https://*.example",
        "https://[::1",
        "https://müller.example",
        "https://mail.example/a/../b",
        "https://mail.example/a//b",
        "https://mail.example/%2e",
        'https://mail.example/"',
        "null",
        "*",
    ],
)
def test_an_address_that_is_no_origin_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(InputError) as refused:
        PublicOrigin.of(address)
    assert f"`{address}` is not an origin: " in refused.value.problem
    assert "https://mail.example" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("address", "site", "written"),
    [
        ("https://mail.example", b"https://mail.example", "https://mail.example"),
        ("https://Mail.Example:443/", b"https://mail.example", "https://mail.example"),
        ("http://10.0.0.7:80/a/b-c/", b"http://10.0.0.7", "http://10.0.0.7/a/b-c"),
        ("https://[::1]:8443/mail", b"https://[::1]:8443", "https://[::1]:8443/mail"),
    ],
)
def test_an_origin_is_what_browsers_send(address: str, site: bytes, written: str) -> None:
    assert (PublicOrigin.of(address).site, PublicOrigin.of(address).address) == (site, written)
    assert PublicOrigin.of(written) == PublicOrigin.of(address)


@together
@pytest.mark.parametrize(
    ("origin", "host", "is_other"),
    [
        (b"https://mail.example", b"mail.example", False),
        (b"https://mail.example", b"MAIL.example:443", False),
        (b"https://mail.example", b"mail.example:80", True),
        (b"http://mail.example", b"mail.example", True),
        (b"https://mail.example:444", b"mail.example", True),
        (b"https://mail.example", b"other.example:8443", True),
        (b"https://other.example:8443", b"other.example:8443", False),
        (b"https://other.example:8443", b"mail.example", True),
        (b"https://evil.example", b"mail.example", True),
        (b"https://mail.example.evil.example", b"mail.example", True),
        (b"https://evil.example/mail.example", b"mail.example", True),
        (b"null", b"mail.example", True),
        (b"", b"mail.example", True),
        (b"https://mail.example", b"127.0.0.1:8790", True),
        (b"http://127.0.0.1:8790", b"127.0.0.1:8790", False),
    ],
)
def test_only_pages_of_the_very_origin_may_ask(origin: bytes, host: bytes, is_other: bool) -> None:
    origins = [PublicOrigin.of("https://mail.example/mail"), PublicOrigin.of("https://other.example:8443")]
    assert is_other_site(origin, host, origins) == is_other


def test_an_origin_that_others_can_reach_needs_tokens() -> None:
    def settings(address: str, **tokens: str) -> Settings:
        return Settings(Path("m"), Path("j"), origins=(PublicOrigin.of(address),), **tokens)

    with pytest.raises(InputError, match=r"at `https://mail\.example/mail` others can reach the service"):
        settings("https://mail.example/mail")
    assert settings("https://mail.example", read_token=READ, write_token=WRITE).needs_token
    for here in ("https://localhost:8443", "https://[::1]/mail", "http://127.0.0.1"):
        assert not settings(here).needs_token


class Proxied:
    """A service behind nginx, with TLS, at a path."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.address, self.host = f"https://localhost:{port}/mail", f"example.org:{port}"
        self._port, self._trust = port, ssl.create_default_context(cafile=certificate)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        named = {"Host": self.host} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=LONG, context=self._trust)
        with contextlib.closing(connection):
            connection.request(method, path, body, named)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())

    def ask(self, path: str, token: str | None, body: object = None, **headers: str) -> Answer:
        """Ask as the page does."""
        headers = {"origin": f"https://{self.host}", "content_type": "application/json"} | headers
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        content = None if body is None else json.dumps(body).encode()
        return self.send("GET" if body is None else "POST", f"/mail{path}", content, **headers)


def program(name: str) -> str:
    """A program. Where it is missing tests are skipped, but under CI=true they fail."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent(f"there is no {name}")
    return path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate that is signed by itself, and its key."""
    certificate, key = folder / "proxy.pem", folder / "proxy.key"
    command = [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-out", str(certificate), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def configured(folder: Path, port: int, service: int, certificate: Path, key: Path) -> Path:
    """The configuration that the documentation shows, with the ports and files of a test."""
    (block,) = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    changes = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/ssl/example.org.pem": str(certificate),
        "/etc/ssl/example.org.key": str(key),
        "http://127.0.0.1:8790/": f"http://127.0.0.1:{service}/",
    }
    for shown, here in changes.items():
        assert block.count(shown) == 1
        block = block.replace(shown, here)
    paths = "".join(
        f"{kind}_temp_path {folder / kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    path = folder / "nginx.conf"
    path.write_text(
        f"daemon off;\nmaster_process off;\npid {folder / 'nginx.pid'};\nerror_log {folder / 'error.log'};\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{paths}{block}}}\n"
    )
    return path


@pytest.fixture(scope="module")
def proxied(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder, nginx, port = tmp_path_factory.mktemp("proxy"), program("nginx"), free_port()
    certificate, key = certified(folder)
    origins = ("--origin", f"https://example.org:{port}/mail", "--origin", f"https://localhost:{port}/mail")
    with running(trained, *origins, "--journal", str(folder / "journal"), env=TOKENS) as service:
        path = configured(folder, port, service.port, certificate, key)
        process = subprocess.Popen(
            [nginx, "-p", str(folder), "-c", str(path), "-e", str(folder / "error.log")]
        )
        try:
            found, end = Proxied(port, certificate), time.monotonic() + LONG
            while True:
                with contextlib.suppress(OSError):
                    if found.send("GET", "/mail/healthz").status == 200:
                        break
                assert process.poll() is None, (folder / "error.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.05)
            yield found
        finally:
            process.kill()
            process.wait()


def test_the_page_and_all_its_parts_are_found_under_the_path(proxied: Proxied) -> None:
    assert proxied.send("GET", "/mail").status == 301
    page = proxied.send("GET", "/mail/")
    assert page.status == 200
    pending = re.findall(r'(?:href|src)="([^"#]+)"', page.body.decode())
    seen, base = set(), "/mail/"
    pending = [urljoin(base, link) for link in pending]
    while pending:
        path = pending.pop()
        assert path.startswith("/mail/")
        part = proxied.send("GET", path)
        assert part.status == 200, path
        seen.add(path)
        links = re.findall(r'from "(\./[^"]+)"', part.body.decode()) if path.endswith(".js") else []
        pending += [link for each in links if (link := urljoin(path, each)) not in seen]
    parts = {"/mail/page/app.js", "/mail/page/api.js", "/mail/page/style.css", "/mail/openapi.json"}
    assert parts | {"/mail/docs"} <= seen


def test_the_description_says_where_the_service_is(proxied: Proxied) -> None:
    told = proxied.ask("/openapi.json", None).json()
    assert told["servers"] == [{"url": f"https://{proxied.host}/mail"}, {"url": proxied.address}]


def test_it_answers_learns_and_measures_by_token(proxied: Proxied) -> None:
    document = {"id": "proxied", "text": "win a free phone now", "label": "ham"}
    problem(proxied.ask("/v1/classify", None, {"text": "free"}), 401, "token")
    before = proxied.ask("/v1/classify", READ, {"text": "free"}).json()
    problem(proxied.ask("/v1/learn", READ, {"documents": [document]}), 403, "token.write")
    assert proxied.ask("/v1/learn", WRITE, {"documents": [document]}).status == 200
    assert proxied.ask("/v1/classify", READ, {"text": "free"}).json()["version"] != before["version"]
    file = b"label,text\nspam,win a free phone now\nham,see you at noon\n"
    headers = {"content_type": "text/csv", "authorization": f"Bearer {READ}"}
    report = proxied.send("POST", "/mail/v1/evaluate", file, **headers).json()["report"]
    assert proxied.send("GET", f"/mail{report}").status == 200


def test_pages_of_other_sites_are_refused_whatever_they_claim(proxied: Proxied) -> None:
    port = proxied.host.partition(":")[2]
    for origin in (
        "https://evil.example",
        f"https://evil.example:{port}",
        f"http://{proxied.host}",
        "https://example.org",
        f"https://localhost:{port}",  # an origin, too, but another than the one that is asked
        "null",
    ):
        claims = {"x_forwarded_host": "evil.example", "x_forwarded_proto": "http", "forwarded": "host=evil"}
        for more in ({}, claims):
            refused = proxied.ask("/v1/classify", WRITE, {"text": "free"}, origin=origin, **more)
            problem(refused, 403, "origin")
            assert "access-control-allow-origin" not in refused.headers


def test_a_large_body_passes_and_one_that_is_too_large_is_refused_in_words(proxied: Proxied) -> None:
    headers = {"content_type": "application/json", "authorization": f"Bearer {READ}"}
    whole = b'{"text": "free"' + b" " * (3 << 20) + b"}"
    assert proxied.send("POST", "/mail/v1/classify", whole, **headers).status == 200
    more = whole[:-1] + b" " * (3 << 20) + b"}"
    problem(proxied.send("POST", "/mail/v1/classify", more, **headers), 413, "limit.body")


def test_a_head_that_is_too_large_is_refused(proxied: Proxied) -> None:
    assert proxied.send("GET", "/mail/healthz", x_long="y" * 200_000).status in (400, 431)
    assert proxied.send("GET", "/mail/healthz").status == 200


@pytest.mark.long
def test_the_page_works_under_the_path_with_a_token(proxied: Proxied, visit: Visits) -> None:
    visit.allow("status of 401")
    page = visit(proxied, ignore_https_errors=True)  # type: ignore[arg-type]
    page.locator("#token-text").fill(WRITE)
    page.locator("#token-form button[type=submit]").click()
    write(page, "win a free phone now")
    answer(page).get_by_text("spam").first.wait_for()
