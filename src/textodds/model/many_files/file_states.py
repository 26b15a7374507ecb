"""Which files are done, and by which model: a small file of its own for each, beside the answers.

It is written twice: before an answer takes its name it says `begun`, and `done` after that. Whatever ends a
run in between, the next one knows that the file is to be done again, and that nobody else has written it. So
it need not be written safely: one that was cut off says `begun`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path

import textodds
from textodds.data.written_file import LONGEST_NAME
from textodds.errors import InputError
from textodds.model.many_files.inputs import InputFile
from textodds.model.output.answer_request import AnswerRequest

FOLDER, SUFFIX = ".textodds", ".state"
LONGEST = 1 << 20  # bytes of a state that are read
CUT_OFF: dict[str, object] = {}
NAMED = 3  # files that an error names


class FileState(Enum):
    """How an output stands to what is asked for now."""

    NEW = "not there, or not finished"
    DONE = "finished"
    CHANGED = "finished, of another state of the input"
    OTHER = "finished, by another model or with other options"
    FOREIGN = "not of a run like this"


@dataclass(frozen=True)
class Maker:
    """What answers follow from, besides the data: the model, by the digest of its file, and the options."""

    model: str
    options: str

    @classmethod
    def of(
        cls, digest: str, asked: AnswerRequest, reading: Mapping[str, object], output_format: str | None
    ) -> Maker:
        """The maker of these answers; options that are not as usual count, as does a file of losses."""
        said: dict[str, object] = {
            **_said(asked.decision, type(asked.decision)()),
            **_said(asked, AnswerRequest()),
        }
        said.pop("decision", None)
        files_of_losses = [Path(each) for each in asked.decision.loss if each.lower().endswith(".csv")]
        said["losses"] = [path.read_text() for path in files_of_losses if path.is_file()] or None
        unsaid = ("rejects_path",)
        said |= {name: value for name, value in reading.items() if name not in unsaid}
        said["output_format"] = output_format
        usual = (None, False, (), "stop")
        kept = {
            name: value for name, value in said.items() if not any(value is x or value == x for x in usual)
        }
        return cls(digest, json.dumps(kept, sort_keys=True, default=repr, ensure_ascii=False))


def _said(given: object, usual: object) -> dict[str, object]:
    """The fields of a dataclass that are not as usual."""
    return {
        each.name: value
        for each in fields(given)  # type: ignore[arg-type]
        if (value := getattr(given, each.name)) != getattr(usual, each.name)
    }


def digest_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class FileStates:
    """The states of the files in one folder of answers."""

    def __init__(self, output: Path, maker: Maker) -> None:
        self._output, self._maker = output, maker

    def standing(self, file: InputFile) -> FileState:
        """How the answers to a file stand."""
        target, state = self._output / file.name, self._read(file)
        if not target.exists():
            return FileState.NEW
        if state is None:
            return FileState.FOREIGN
        if state is CUT_OFF:
            return FileState.NEW
        if state.get("state") == "begun":  # what is there was to be replaced
            return FileState.NEW if self._is_ours(state) else FileState.OTHER
        if state.get("bytes") != target.stat().st_size:
            return FileState.FOREIGN
        if not self._is_ours(state):
            return FileState.OTHER
        return FileState.DONE if state.get("input") == identity_of(file) else FileState.CHANGED

    def _is_ours(self, state: Mapping[str, object]) -> bool:
        return state.get("model") == self._maker.model and state.get("options") == self._maker.options

    def left(self, files: Iterable[InputFile], *, force: bool) -> list[InputFile]:
        """The files that are to be done; refuses where that would replace what it should not."""
        standings = [(file, self.standing(file)) for file in files]
        for which in () if force else (FileState.OTHER, FileState.FOREIGN):
            names = sorted(file.name for file, standing in standings if standing is which)
            if names:
                raise self._refused(which, names)
        return [file for file, standing in standings if standing is not FileState.DONE]

    def _refused(self, which: FileState, names: list[str]) -> InputError:
        some = ", ".join(f"`{name}`" for name in names[:NAMED]) + (", …" if len(names) > NAMED else "")
        count = f"{len(names):,} file{'' if len(names) == 1 else 's'} in `{self._output}`"
        if which is FileState.FOREIGN:
            problem = f"{count} would be replaced that no run like this has written: {some}"
        else:
            problem = (
                f"{count} {'was' if len(names) == 1 else 'were'} made by {self._other(names[0])}: {some}"
            )
        return InputError(
            problem, hint="name another folder with `-o`, or replace them with `--force` (force=True)"
        )

    def _other(self, name: str) -> str:
        """Who has made a file, as far as that differs from what is asked for."""
        state = self._read(InputFile("", name, 0)) or {}
        if state.get("model") != self._maker.model:
            return "another model"
        return f"other options ({state.get('options')} rather than {self._maker.options})"

    def begin(self, file: InputFile) -> None:
        """The answers to a file are begun."""
        self._write(file, {"state": "begun"})

    def finish(self, file: InputFile, identity: list[int], rows: int) -> None:
        """They are where they belong, and are those to an input of this ``identity``."""
        size = (self._output / file.name).stat().st_size
        self._write(file, {"state": "done", "input": identity, "bytes": size, "rows": rows})

    def _path(self, file: InputFile) -> Path:
        folder, name = os.path.split(file.name)
        if len(os.fsencode(name)) > LONGEST_NAME - len(SUFFIX):
            name = hashlib.sha256(os.fsencode(name)).hexdigest()
        return self._output / FOLDER / folder / (name + SUFFIX)

    def _read(self, file: InputFile) -> dict[str, object] | None:
        try:
            with self._path(file).open("rb") as stream:
                written = stream.read(LONGEST)
        except FileNotFoundError:
            return None
        try:
            state = json.loads(written)
        except (ValueError, RecursionError):
            state = None
        return state if isinstance(state, dict) else CUT_OFF

    def _write(self, file: InputFile, state: Mapping[str, object]) -> None:
        path = self._path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {**state, "model": self._maker.model, "options": self._maker.options}
        path.write_text(json.dumps({**about, "textodds": textodds.__version__}) + "\n")


def identity_of(file: InputFile) -> list[int]:
    """What tells the input of a run from another under its name: its size, and when it was written."""
    status = Path(file.path).stat()
    return [status.st_size, status.st_mtime_ns]
