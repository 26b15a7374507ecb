"""The page in a real browser: a fresh context for every visit, and an eye on all that it does.

A browser lives as long as a test module: while Playwright runs, no other test of the process could run an
event loop of its own.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

import textodds
from serve.running import Client, Running

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 15_000  # milliseconds: other tests may want the machine too
VIOLATION = "addEventListener('securitypolicyviolation', (e) => console.error('CSP', e.violatedDirective))"
EMPTY = "try?text="  # a link to the page without a text

Rows = list[tuple[str, str]]


def mail(n: int, seed: int = 7) -> Rows:
    """(label, text) of three made-up kinds, which have words in common: some are hard to tell."""
    draw = random.Random(seed)
    words = {
        "spam": "win free prize cash claim urgent entry offer winner credit",
        "ham": "noon home lunch see tomorrow mum dinner sleep film tired",
        "work": "report meeting send draft budget client office minutes agenda review",
    }
    common = "now call you me at the a and to we".split()
    labels = [list(words)[i % 3] for i in range(n)]
    every = " ".join(words.values()).split()
    return [
        (label, " ".join(draw.choices(words[label].split(), k=2) + draw.choices(every + common, k=6)))
        for label in labels
    ]


def train(path: Path, rows: Rows, *, documents: bool = True, **recipe: Any) -> Path:
    """A model of some rows, saved, with its documents or without."""
    recipe = {"learner": "multinomial", **recipe}
    model = textodds.train([text for _, text in rows], [label for label, _ in rows], **recipe)
    model.save(path, documents=documents)
    return path


class Visits:
    """Opens pages in contexts of their own, and remembers what no page should do."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._allowed: list[str] = []
        self.troubles: list[str] = []

    def __call__(self, service: Running, view: str = EMPTY, **options: Any) -> Page:
        """The page of a service, at a view such as `files`, once it is ready; at first without an example."""
        context = self._browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(VIOLATION)
        context.on("console", lambda said: said.type == "error" and self._note(f"console: {said.text}"))
        context.on("weberror", lambda error: self._note(f"error: {error.error}"))
        context.on("request", lambda request: self._must_be_of(service, request.url))
        context.on("dialog", lambda dialog: (self._note(f"dialog: {dialog.message}"), dialog.dismiss()))
        self._contexts.append(context)
        page = context.new_page()
        page.goto(f"{service.address}/#{view}")
        return page

    def allow(self, *patterns: str) -> None:
        """Let errors be that the test brings about itself."""
        self._allowed += patterns

    def close(self) -> None:
        """End all visits; an error if there was any trouble."""
        for context in self._contexts:
            context.close()
        if self.troubles:
            pytest.fail("\n".join(self.troubles))

    def _must_be_of(self, service: Running, url: str) -> None:
        if not url.startswith((f"{service.address}/", f"blob:{service.address}/", "data:")):
            self._note(f"request: {url}")

    def _note(self, trouble: str) -> None:
        if not any(re.search(pattern, trouble) for pattern in self._allowed):
            self.troubles.append(trouble)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser. Where there is none tests are skipped, but under CI=true they fail."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent(f"there is no browser: none of {', '.join(NAMES)}")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser: Browser, serve: Callable[..., Running]) -> Iterator[Visits]:
    """Opens pages; the test fails on any error, violation or request elsewhere that it has not allowed.

    Of `serve` so that pages are closed before their services end.
    """
    visits = Visits(browser)
    yield visits
    visits.close()


@pytest.fixture(scope="module")
def mail_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of three classes, which knows how good it is."""
    return train(tmp_path_factory.mktemp("mail") / "mail.textodds", mail(240))


@pytest.fixture(scope="module")
def mail_service(mail_file: Path) -> Iterator[Running]:
    """A service of that model, for tests that teach it nothing."""
    service = Running(mail_file)
    yield service
    service.kill()


@pytest.fixture
def client_of() -> Iterator[Callable[..., Client]]:
    """Clients of services, which are closed with the test."""
    clients: list[Client] = []

    def make(service: Running, token: str | None = None) -> Client:
        clients.append(service.client(token))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def write(page: Page, text: str) -> None:
    """Put a text in the field."""
    page.get_by_label("Your text").fill(text)


def answer(page: Page) -> Locator:
    """Where the answer is."""
    return page.get_by_role("region", name="The answer")


def as_shown(p: float) -> re.Pattern[str]:
    """Matches a text that has a probability, rounded as little as to one digit after the point."""
    if p < 0.00005:
        return re.compile("< 0.01\u202f%")
    if p >= 0.99995:
        return re.compile("> 99.99\u202f%")
    digits = 2 if p < 0.01 or p > 0.99 else 1
    rounded = Decimal(100 * p).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return re.compile(rf"(?<![\d.]){re.escape(str(rounded))}\u202f%")


def signed(text: str) -> float:
    """The number of a text with a sign."""
    return float(text.replace("\u2212", "-"))


def choose(page: Page, kind: str, name: str, content: bytes | str) -> None:
    """Choose a file in the view `files` or `label`."""
    buffer = content.encode() if isinstance(content, str) else content
    page.locator(f"#{kind}-file").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": buffer}
    )
