"""Exported models at work: what each target answers to texts."""

from __future__ import annotations

import atexit
import csv
import importlib.util
import io
import itertools
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow
import pytest

from textodds.interop.portable.plain_model import as_json, plain_model
from textodds.interop.portable.to_c import to_c
from textodds.interop.portable.to_python import runtime, to_python
from textodds.interop.portable.to_sql import to_sql

NUMBERS = itertools.count()

NODE = """
import { Model } from "./model.mjs";
import { readFileSync } from "node:fs";
const answers = JSON.parse(readFileSync("asked.json", "utf8")).map(([data, texts]) => {
  const model = new Model(data);
  return texts.map((text) => [model.predict(text), model.probabilities(text)]);
});
console.log(JSON.stringify(answers));
"""


def needed(program: str) -> str:
    """Where a program is; without it tests are skipped, but under CI=true they fail."""
    found = shutil.which(program)
    if found is None:
        absent = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        absent(f"there is no {program}")
    return str(found)


Asked = list[tuple[object, list[str]]]
"""Models, and texts to ask each."""


def by_python(asked: Asked):
    """Labels and probabilities by files of Python's standard library."""
    for model, texts in asked:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"exported{next(NUMBERS)}.py"
            to_python(model, path)
            module = module_at(path)
        found = [module.predict(text) for text in texts]
        yield [label for label, _ in found], np.array([list(p.values()) for _, p in found])


def module_at(path: Path):
    """A file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_node(asked: Asked):
    """Labels and probabilities by the JavaScript of a page, outside of one."""
    node = needed("node")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.mjs").write_text(runtime("model.js"), encoding="utf-8")
        (Path(folder) / "run.mjs").write_text(NODE, encoding="utf-8")
        parts = [
            f"[{as_json(plain_model(model, 'a page', 10**8))},{json.dumps(texts)}]" for model, texts in asked
        ]
        (Path(folder) / "asked.json").write_text(f"[{','.join(parts)}]", encoding="utf-8")
        done = subprocess.run([node, "run.mjs"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for found in json.loads(done.stdout):
        yield [label for label, _ in found], np.array([p for _, p in found])


HARNESS = r"""
#include <stdio.h>
#include "model.c"
int main(void)
{
    static double p[TEXTODDS_CLASSES];
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        char *text = malloc(length + 1); /* exactly as long as it must be: reading further is noticed */
        int32_t k;
        unsigned char given[TEXTODDS_CLASSES] = {0};
        if (!text || fread(text, 1, length, stdin) != length) return 2;
        text[length] = 0;
        k = strlen(text) == length ? predict(text, p) : predict_bytes(text, length, p);
        for (size_t i = 0; SEVERAL && i < TEXTODDS_CLASSES; i++) given[i] = p[i] >= textodds_thresholds[i];
        fwrite(&k, sizeof k, 1, stdout);
        fwrite(p, sizeof *p, TEXTODDS_CLASSES, stdout);
        fwrite(given, 1, TEXTODDS_CLASSES, stdout);
        free(text);
    }
    fwrite(textodds_names[0], 1, textodds_lengths[0], stderr);
    return 0;
}
"""
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
WATCHED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def by_c(asked: Asked):
    """Labels and probabilities by C, compiled strictly and run under sanitizers."""
    compiler = needed("cc")
    for model, texts in asked:
        with tempfile.TemporaryDirectory() as folder:
            to_c(model, Path(folder) / "model.c")
            (Path(folder) / "run.c").write_text(HARNESS, encoding="utf-8")
            build = [compiler, *STRICT, *WATCHED, "run.c", "-o", "run", "-lm"]
            built = subprocess.run(build, cwd=folder, capture_output=True, check=False)
            assert built.returncode == 0, built.stderr.decode()[:4000]
            content = [text.encode() for text in texts]
            given = b"".join(struct.pack("=I", len(each)) + each for each in content)
            done = subprocess.run(["./run"], cwd=folder, input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[:4000]
        assert done.stderr == model.class_names[0].encode()
        K = len(model.class_names)
        kind = np.dtype([("best", "<i4"), ("p", "<f8", K), ("given", "u1", K)])
        found = np.frombuffer(done.stdout, kind)
        names = np.array(model.class_names, dtype=object)
        if hasattr(model, "thresholds"):
            yield [list(names[given.astype(bool)]) for given in found["given"]], found["p"].reshape(-1, K)
        else:
            yield list(names[found["best"]]), found["p"].reshape(-1, K)


def predictions(run, name: str, texts: list[str], several: bool, classes: list[str]):
    """Labels and probabilities that the views give; ``run`` sends a query with its values."""
    found = run(f"SELECT id, class, probability FROM {name}_probabilities ORDER BY id, class")
    p = np.array([row[2] for row in found], dtype=float).reshape(len(texts), len(classes))
    given = run(f"SELECT id, label FROM {name}_predictions ORDER BY id, probability DESC")
    if not several:
        assert [row[0] for row in given] == list(range(len(texts)))
        return [row[1] for row in given], p
    labels: list[list[str]] = [[] for _ in texts]
    for number, label in given:
        labels[number].append(label)
    return labels, p


def by_sqlite(asked: Asked):
    """Labels and probabilities by SQLite."""
    for model, texts in asked:
        connection = sqlite3.connect(":memory:")
        connection.executescript(sql_of(model, "sqlite"))
        connection.executemany("INSERT INTO mail_texts VALUES (?, ?)", list(enumerate(texts)))
        run = lambda query: connection.execute(query).fetchall()  # noqa: B023, E731
        yield predictions(run, "mail", texts, hasattr(model, "thresholds"), model.class_names)
        connection.close()


def by_duckdb(asked: Asked):
    """Labels and probabilities by DuckDB."""
    for model, texts in asked:
        connection = duckdb.connect()
        connection.execute(sql_of(model, "duckdb"))
        frame = pyarrow.table({"id": list(range(len(texts))), "text": pyarrow.array(texts, pyarrow.string())})
        connection.register("given", frame)
        connection.execute("INSERT INTO mail_texts SELECT id, text FROM given")
        run = lambda query: connection.execute(query).fetchall()  # noqa: B023, E731
        yield predictions(run, "mail", texts, hasattr(model, "thresholds"), model.class_names)
        connection.close()


def sql_of(model, database: str) -> str:
    """A model as SQL, its tables beginning with `mail`."""
    with tempfile.TemporaryDirectory() as folder:
        to_sql(model, Path(folder) / "mail.sql", database)
        return (Path(folder) / "mail.sql").read_text(encoding="utf-8")


class Postgres:
    """A server of its own in a folder of its own, asked through `psql`."""

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        self.programs = found[-1].parent if found else Path(needed("initdb")).parent
        self.folder = tempfile.mkdtemp(prefix="textodds-pg-")
        if os.getuid() == 0:  # the server refuses to run as root
            shutil.chown(self.folder, "postgres", "postgres")
        self._must("initdb", "-D", f"{self.folder}/data", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8")
        options = f"-k {self.folder} -h '' -F -c jit=off"  # compiling the query takes longer than its work
        self._must(
            "pg_ctl", "-D", f"{self.folder}/data", "-o", options, "-l", f"{self.folder}/log", "-w", "start"
        )
        atexit.register(self.stop)

    def _must(self, program: str, *arguments: str, content: str = "") -> str:
        user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*user, str(self.programs / program), *arguments]
        output = Path(f"{self.folder}-{program}.out")
        with output.open("w+", encoding="utf-8") as file:  # a server that stays would hold a pipe open
            done = subprocess.run(
                command, input=content, text=True, stdout=file, stderr=subprocess.STDOUT, cwd="/", check=False
            )
            file.seek(0)
            said = file.read()
        output.unlink()
        assert done.returncode == 0, said[-3000:]
        return said

    def run(self, sql: str) -> str:
        """What the database says, comma-separated where rows are copied."""
        where = ("-h", self.folder, "-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1")
        return self._must("psql", *where, content=sql)

    def query(self, sql: str):
        """Rows of a query, as text but for the first column."""
        rows = csv.reader(io.StringIO(self.run(f"COPY ({sql}) TO STDOUT WITH CSV;"), newline=""))
        return [(int(row[0]), *row[1:]) for row in rows]

    def stop(self) -> None:
        """End the server, and forget it."""
        self._must("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def postgres() -> Postgres:
    """A server for all tests of a process."""
    return Postgres()


def by_postgres(asked: Asked):
    """Labels and probabilities by PostgreSQL."""
    server = postgres()
    for model, texts in asked:
        quoted = ["'" + text.replace("'", "''") + "'" for text in texts]
        rows = ", ".join(f"({number}, {text})" for number, text in enumerate(quoted))
        server.run("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;")
        server.run(sql_of(model, "postgres") + f"INSERT INTO mail_texts VALUES {rows}; ANALYZE;")
        yield predictions(server.query, "mail", texts, hasattr(model, "thresholds"), model.class_names)
