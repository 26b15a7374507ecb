"""Files that are sent to be measured: in a process of their own, which can be ended, and their reports.

Drawing a report takes seconds, and a file can be made to take hours: neither may hold up who wants to
know what one text is.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Coroutine
from http import HTTPStatus
from pathlib import Path
from time import monotonic
from typing import Any

from textodds.errors import BadFile, InputError
from textodds.serve.protocol.problems import Problem, unavailable
from textodds.serve.rows import Model
from textodds.serve.updates.fold import ServedModel

logger = logging.getLogger("textodds.serve")

SUFFIXES = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/vnd.apache.parquet": "parquet",
    "application/gzip": "csv.gz",
}
"""How the name of a file ends here, by what it says it is; it never has the name that the sender gave it."""
MODEL = "model.textodds"
TEXT_SUFFIX = re.compile(r"\.(csv|tsv|jsonl|ndjson|txt|log|parquet|xlsx)(\.gz)?$")

REPORTS, KEPT_SECONDS = 16, 3600.0


class Uploads:
    """Measures files, one at a time, and keeps the latest reports."""

    def __init__(self) -> None:
        self._taken: asyncio.Task[Any] | None = None  # the request whose file is read or measured
        self._reports: dict[str, tuple[float, bytes]] = {}

    def take(self) -> None:
        """Let the request under way send its file, unless another does."""
        if self._taken is not None:
            raise unavailable("limit.uploads", "another file is being measured")
        self._taken = asyncio.current_task()

    def release(self) -> None:
        """The request under way has its answer."""
        if self._taken is asyncio.current_task():
            self._taken = None

    def report(self, key: str) -> bytes:
        """The page of an evaluation."""
        made, page = self._reports.get(key, (0.0, b""))
        if not page or monotonic() - made > KEPT_SECONDS:
            raise Problem(
                HTTPStatus.NOT_FOUND, "not-found", "there is no such report any more", hint="evaluate again"
            )
        return page

    async def evaluate(
        self,
        serving: ServedModel,
        content: bytes | bytearray,
        media: str,
        columns: dict[str, str | None],
    ) -> dict[str, Any]:
        """The measures of a model on a labelled file, and the key of their report."""
        if media not in SUFFIXES:
            raise Problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "media-type",
                f"a file of the type `{media[:80]}` cannot be measured",
                hint=f"send one of {', '.join(SUFFIXES)} in `Content-Type`",
            )
        if not content:
            raise InputError("the uploaded file is empty", hint="send its content as the body of the request")
        name = f"upload-{secrets.token_hex(8)}.{SUFFIXES[media]}"  # which no text of the file has in it
        with tempfile.TemporaryDirectory(prefix="textodds-") as folder:
            await _finished(asyncio.to_thread(_lay_out, Path(folder), serving.model, name, content))
            measures = await self._told_by("evaluate_file", folder, MODEL, name, json.dumps(columns))
            page = Path(folder, "report.html")
            measures["report"] = self._keep(page.read_bytes()) if page.exists() else None
            return measures

    async def texts(self, content: bytes | bytearray, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """The texts of a file that is to be labelled, and what is known of it; its name tells the format."""
        if not content:
            raise InputError("the uploaded file is empty", hint="send its content as the body of the request")
        ending = TEXT_SUFFIX.search(name.lower())
        here = f"upload-{secrets.token_hex(8)}{ending[0] if ending else '.csv'}"
        with tempfile.TemporaryDirectory(prefix="textodds-") as folder:
            await _finished(asyncio.to_thread(_write, Path(folder, here), content))
            await self._told_by("labelling.read_texts", folder, here, json.dumps(options))
            found: dict[str, Any] = await asyncio.to_thread(_read_json, Path(folder, "texts.json"))
            return found

    async def _told_by(self, program: str, folder: str, *arguments: str) -> dict[str, Any]:
        """What a program of this package prints of files in a folder, in a process of its own."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"textodds.serve.{program}", *arguments),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,  # stays open: the process ends when the service does
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "TEXTODDS_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            said, complaint = await asyncio.gather(process.stdout.read(), process.stderr.read())
            await process.wait()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        try:
            measures: dict[str, Any] = json.loads(said)
        except ValueError as error:
            logger.error(
                "measuring ended with %s: %s", process.returncode, complaint.decode(errors="replace")
            )
            raise BadFile(
                "the uploaded file cannot be measured: it is damaged, or takes too much memory",
                hint="send fewer rows",
            ) from error
        if (problem := measures.pop("problem", None)) is not None:
            refusal = InputError(problem, hint=measures["hint"])
            refusal.code = measures["code"]
            raise refusal
        return measures

    def _keep(self, page: bytes) -> str:
        """The key of a report: who has it may read that report, and nobody can guess it."""
        while len(self._reports) >= REPORTS:
            del self._reports[next(iter(self._reports))]
        key = secrets.token_urlsafe(24)
        self._reports[key] = (monotonic(), page)
        return key


def _write(path: Path, content: bytes | bytearray) -> None:
    path.write_bytes(content)


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def _lay_out(folder: Path, model: Model, name: str, content: bytes | bytearray) -> None:
    """Write what is to be measured, and on what."""
    model.save(folder / MODEL)
    Path(folder, name).write_bytes(content)


async def _finished(work: Coroutine[Any, Any, None]) -> None:
    """Wait for work that cannot be called off: what it writes may be removed only after it."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise
