"""The model file that a service began with."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from textodds.errors import ModelFileError, TextoddsError, Unsupported
from textodds.model.file import load
from textodds.model.text_model import TextModel


class Base(NamedTuple):
    """The model in the file, as it was opened, and the SHA-256 of that file."""

    model: TextModel
    digest: str

    @property
    def cannot_learn(self) -> str | None:
        """Why the model cannot learn; None if it can."""
        try:
            self.model.must_be_counts()
            _ = self.model.tally
        except TextoddsError as error:
            return error.problem
        return None

    def has(self, name: str) -> bool:
        """Whether a document of this id was learned in training."""
        return self.model.document_ids is not None and name in self.model.document_ids


def open_model(path: Path) -> Base:
    """The model in a file, read from a copy: who writes over the file then does not pull it from under us."""
    try:
        with path.open("rb") as file, tempfile.NamedTemporaryFile(suffix=".textodds") as private:
            shutil.copyfileobj(file, private, 1 << 20)
            private.flush()
            private.seek(0)
            digest = hashlib.file_digest(private, "sha256").hexdigest()
            return Base(_of_texts(private.name, path), digest)
    except FileNotFoundError as error:
        raise ModelFileError(f"no model file at `{path}`", hint="make one: textodds train DATA") from error
    except OSError as error:
        raise ModelFileError(f"cannot open `{path}` as a model: {error.strerror or error}") from error


def _of_texts(private: str, path: Path) -> TextModel:
    try:
        model = load(private, threads=1)  # requests run side by side, each on one
    except ModelFileError as error:
        raise ModelFileError(error.problem.replace(private, str(path)), hint=error.hint) from error
    if not isinstance(model, TextModel):
        raise Unsupported(
            f"`{path}` is a model of tables, and the service reads texts",
            hint="serve a model that was trained on texts",
        )
    return model
