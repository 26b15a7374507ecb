"""Exported models at work: what each target answers to texts, and models and texts to ask."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from interop_cases import LEARNERS, SETTINGS, documents

import textodds
from label_texts import label_texts
from textodds.interop.portable.plain_model import as_json, plain_model
from textodds.interop.portable.to_c import to_c
from textodds.interop.portable.to_python import runtime, to_python
from unicode_texts import AWKWARD

TEXTS = {name: settings for name, settings in SETTINGS.items() if "hash_bits" not in settings}
"""How texts are cut, where that can be exported."""

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


def awkward_texts(n: int, seed: int = 0) -> list[str]:
    """Texts of characters that are hard to cut, known words between them."""
    draw = random.Random(seed)
    signs = [*AWKWARD, *["shared0 ", " own0x1", " "] * 6]
    return ["".join(draw.choices(signs, k=draw.randint(0, 60))) for _ in range(n)]


@cache
def model_of(learner: str, classes: int, settings: str):
    """A model of how texts are cut, calibrated where that is better; not to be changed."""
    return textodds.train(*documents(classes), learner=LEARNERS[learner], **TEXTS[settings])


@cache
def several_labels(learner: str = "multinomial"):
    """A model of several labels a text; not to be changed."""
    return textodds.train(*label_texts(300), learner=learner)


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


def assert_same(model, texts, answers, atol=1e-9):
    """Labels and probabilities are those of the model; where two classes tie, either label will do."""
    labels, p = answers
    expected = model.predict_proba(texts)
    np.testing.assert_allclose(p, expected, rtol=0, atol=atol)
    ours = model.predict(texts)
    if not isinstance(labels[0], str):
        assert [set(each) for each in labels] == [set(each) for each in ours]
        return
    second, first = np.sort(expected, axis=1)[:, -2:].T
    clear = first - second > 1e-9
    assert clear.mean() > 0.4
    assert np.array(labels)[clear].tolist() == np.asarray(ours)[clear].tolist()


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
