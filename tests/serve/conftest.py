from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import textodds
from serve.browsing import browser, client_of, mail_file, mail_service, visit  # noqa: F401
from serve.running import Client, Running

MESSAGES = [
    ("spam", "win a free phone now"),
    ("spam", "free prize claim now call"),
    ("spam", "urgent call to win cash"),
    ("spam", "cash prize free entry"),
    ("ham", "see you at noon"),
    ("ham", "are you home now"),
    ("ham", "call me when you are home"),
    ("ham", "lunch at noon tomorrow"),
]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a few messages, without ids."""
    path = tmp_path_factory.mktemp("served") / "mail.textodds"
    rows = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
    textodds.train(*rows, learner="multinomial:alpha=1", calibrate=False).save(path)
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    """A copy of the model, for one test."""
    return Path(shutil.copy(trained, tmp_path / "mail.textodds"))


@pytest.fixture
def serve(model: Path) -> Iterator[Callable[..., Running]]:
    """Starts services of the model (or of another, given as ``path``), which end with the test."""
    running: list[Running] = []

    def start(*options: str, path: Path | None = None, **kwargs: Any) -> Running:
        running.append(Running(path or model, *options, **kwargs))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.kill()


@pytest.fixture
def client(serve: Callable[..., Running]) -> Iterator[Client]:
    """A client of a fresh service."""
    found = serve().client()
    yield found
    found.close()
