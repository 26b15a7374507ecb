"""Measurements kept in a file as they come, so that a later run goes on where one was stopped.

JSON lines: first what the measurements are of, then one measurement a line. A line that was cut short when a
process ended is passed over.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from textodds.errors import InputError
from textodds.judge.evaluation import Evaluation
from textodds.study.compare.measurement import Documents, Duration, Measurement, Task
from textodds.training.choose.pool import Pool
from textodds.training.choose.trial import Answers

FORMAT = 1


class MeasurementCache:
    """A file of measurements of the same data, split in the same way."""

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path = Path(path)
        self._about = {"textodds_comparison": FORMAT, **about}
        self.found: dict[Task, Measurement] = {}
        try:
            self._open()
        except OSError as error:
            raise InputError(
                f"cannot keep measurements in `{self.path}`: {(error.strerror or str(error)).lower()}",
                hint="name a file in a folder that exists and may be written to",
            ) from error

    def _open(self) -> None:
        if not self.path.exists() or not self.path.stat().st_size:
            self._write(self._about)
            return
        head, *lines = list(self._lines())
        if head is None or head.get("textodds_comparison") != FORMAT:
            raise InputError(
                f"`{self.path}` is not a file of kept measurements", hint="name another file, or a new one"
            )
        differing = [name for name, value in self._about.items() if head.get(name) != value]
        if differing:
            raise InputError(
                f"the measurements in `{self.path}` are of other data or another split "
                f"({', '.join(differing)} differ)",
                hint="name another file, or delete this one to begin anew",
            )
        for line in lines:
            if line is not None and (each := _measurement(line)) is not None:
                self.found[each.task] = each

    def _lines(self) -> Iterator[dict[str, Any] | None]:
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for text in file:
                try:
                    line = json.loads(text)
                except json.JSONDecodeError:
                    line = None
                yield line if isinstance(line, dict) else None

    def add(self, measurement: Measurement) -> None:
        """Keep one more."""
        self._write(_plain(measurement))

    def _write(self, line: dict[str, Any]) -> None:
        with self.path.open("a+b") as file:
            if file.tell():  # a line that was cut short must not swallow this one
                file.seek(-1, os.SEEK_END)
                ended = file.read(1) == b"\n"
                file.write(b"" if ended else b"\n")
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")


def _plain(each: Measurement) -> dict[str, Any]:
    times = {"training": astuple(each.training), "predicting": astuple(each.predicting)}
    plain: dict[str, Any] = {**vars(each), **times}
    del plain["answers"], plain["evaluation"]
    if each.answers is not None:
        plain["rows"] = len(each.answers.right)
        packed = {"right": np.packbits(each.answers.right), "loss": each.answers.loss.astype("<f4")}
        plain |= {name: base64.b85encode(bits.tobytes()).decode() for name, bits in packed.items()}
    if each.evaluation is not None:
        plain["evaluation"] = each.evaluation.as_dict()
    return plain


def _measurement(plain: dict[str, Any]) -> Measurement | None:
    """The measurement on a line, or None where it is not as it was written."""
    try:
        answers = None
        if "right" in plain:
            n = int(plain["rows"])
            bits = np.frombuffer(base64.b85decode(plain["right"]), np.uint8)
            right = np.unpackbits(bits, count=n)
            loss = np.frombuffer(base64.b85decode(plain["loss"]), "<f4").astype(np.float64)
            if len(right) != n or len(loss) != n:
                return None
            answers = Answers(right.astype(np.bool_), loss)
        return Measurement(
            str(plain["name"]),
            int(plain["size"]),
            int(plain["repeat"]),
            Duration(*map(float, plain["training"])),
            Duration(*map(float, plain["predicting"])),
            answers,
            str(plain["reason"]),
            _evaluation(plain["evaluation"]) if "evaluation" in plain else None,
            int(plain["bytes"]),
            str(plain["made"]),
            tuple(map(str, plain["notes"])),
            int(plain.get("parameters", 0)),  # which files of before do not have
        )
    except (KeyError, TypeError, ValueError):
        return None


def _evaluation(plain: dict[str, Any]) -> Evaluation:
    """The evaluation that `Evaluation.as_dict` made plain data of."""

    def interval(name: str) -> tuple[float, float]:
        low, high = (math.nan if end is None else float(end) for end in plain[name])
        return low, high

    return Evaluation(
        int(plain["n"]),
        float(plain["accuracy"]),
        interval("accuracy_interval"),
        float(plain["macro_f1"]),
        interval("macro_f1_interval"),
        math.nan if plain["log_loss"] is None else float(plain["log_loss"]),
        interval("log_loss_interval"),
        {(cell["label"], cell["predicted"]): int(cell["rows"]) for cell in plain["confusion"]},
        {str(label): int(rows) for label, rows in plain["unknown_labels"].items()},
        int(plain["no_evidence"]),
        tuple(
            (int(part["rows"]), float(part["probability"]), float(part["accuracy"]))
            for part in plain["reliability"]
        ),
    )


def fingerprint(pool: Documents) -> str:
    """A hash of all documents."""
    found = hashlib.blake2b(digest_size=16)
    head = [] if isinstance(pool, Pool) else [repr(pool.kinds)]
    rows = zip(pool.labels, pool.contents(), strict=True)
    for part in [*head, *(part for row in rows for part in row)]:
        whole = part.encode("utf-8", "surrogatepass")
        found.update(len(whole).to_bytes(8, "little"))
        found.update(whole)
    weights = pool.weights if isinstance(pool, Pool) else pool.rows.weights
    if weights is not None and not (weights == 1.0).all():
        found.update(weights.tobytes())
    return found.hexdigest()
