"""Models of fastText against fastText: every label and probability of 100,000 real texts."""

from __future__ import annotations

import json
import os
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
import textodds
from bench import Bench
from cases.exports import LEARNERS, rows_of, some
from corpora import Missing
from measure import run_child
from result import Result, Table, Target
from textodds.data import Batch

Floats = NDArray[np.float64]

ENOUGH, CLOSE = 100_000, 1e-5
TRUE = 1e-6  # as far as ours may be from exact arithmetic
WORST, EACH = 1000, 100  # texts that are computed exactly: those that differ most, and one of each hundred
LONG = frozenset(("20newsgroups", "imdb", "spamassassin", "webkb_raw"))
OF_LONG = 1000  # texts
TRAINED = 2000  # of each set
ADDED = 1e-5  # fastText adds it to each probability
NEAR = 1e-3  # of a step of fastText's table of the sigmoid

MODELS: dict[str, dict[str, Any]] = {
    "softmax, words": {},
    "softmax, pairs": {"wordNgrams": 2, "bucket": 200_000},
    "softmax, triples, 5 and more": {"wordNgrams": 3, "bucket": 100_003, "minCount": 5},
    "softmax, subwords": {"minn": 2, "maxn": 4, "bucket": 100_000},
    "softmax, all labels": {"wordNgrams": 2, "bucket": 100_000, "labels": "own"},
    "hs, all labels": {"loss": "hs", "wordNgrams": 2, "bucket": 100_000, "labels": "own"},
    "ova": {"loss": "ova", "wordNgrams": 2, "bucket": 100_000},
    "ns": {"loss": "ns", "wordNgrams": 2, "bucket": 100_000},
    "quantised": {"wordNgrams": 2, "bucket": 100_000, "quantise": {}},
    "quantised, pruned": {
        "wordNgrams": 2,
        "bucket": 100_000,
        "quantise": {"cutoff": 20_000, "retrain": True, "qnorm": True},
    },
    "quantised, pruned, subwords": {
        "minn": 2,
        "maxn": 3,
        "bucket": 50_000,
        "quantise": {"cutoff": 20_000, "dsub": 3},
    },
}

TRAIN = """
import json, sys
import fasttext
import numpy as np

folder, about = sys.argv[1], json.loads(sys.argv[2])
options, quantise = about["options"], about["quantise"]
lines = f"{folder}/{about['lines']}"
model = fasttext.train_supervised(lines, thread=1, verbose=0, dim=10, epoch=2, lr=0.3, **options)
if quantise is not None:
    model.quantize(input=lines, thread=1, verbose=0, **quantise)
model.save_model(f"{folder}/model.bin")
model = fasttext.load_model(f"{folder}/model.bin")
texts = open(f"{folder}/texts.txt", encoding="utf-8", newline="\\n").read().split("\\n")[:-1]
names = sorted(model.labels)
index = {name: k for k, name in enumerate(names)}
p = np.full((len(texts), len(names)), np.nan, dtype=np.float32)
for begin in range(0, len(texts), 1000):
    found = model.predict(texts[begin : begin + 1000], k=-1)
    for row, (labels, shares) in enumerate(zip(*found)):
        p[begin + row, [index[label] for label in labels]] = shares
np.save(f"{folder}/p.npy", p)
"""


def imported(bench: Bench) -> Result:
    """Labels and probabilities of converted models, and those of fastText."""
    result = Result(
        "imported",
        "Models from fastText",
        "Classifiers that fastText trained on texts of ten data sets, as `textodds.from_fasttext` converts "
        "them, against fastText itself on 100,000 texts of all ten, their line breaks spaces. Labels are "
        "the ten sets, or all labels of all sets.",
    )
    try:
        peers.module("fasttext")
        texts = _written(bench)
    except Missing as missing:
        result.skip(str(missing))
        return result
    columns = (
        "model",
        "labels",
        "texts",
        "other labels",
        "ties",
        "furthest",
        "ours from exact",
        "fastText's",
    )
    table = Table("", columns)
    result.tables.append(table)
    differ, furthest, inexact = 0, 0.0, 0.0
    for name, options in MODELS.items():
        print(f"  {name}", flush=True)
        their_names, theirs = _fasttext(bench, options)
        others, ties, far = _compared(bench.workspace / "model.bin", texts, their_names, theirs)
        exact = _from_exact(bench.workspace / "model.bin", texts, theirs, far)
        most = float(far.max())
        seen = {"differ": others, "ties": ties, "furthest": most, "ours_from_exact": exact[0]}
        result.raw.append({"model": name, **seen, "theirs_from_exact": exact[1]})
        distances = (f"{each:.1e}" for each in (most, *exact))
        table.rows.append((name, f"{theirs.shape[1]}", f"{len(texts):,}", str(others), str(ties), *distances))
        differ, furthest, inexact = differ + others, max(furthest, most), max(inexact, exact[0])
    result.targets += [
        Target("from fastText: texts compared, each model", True, ENOUGH, len(texts), "texts"),
        Target("from fastText: other labels than fastText's, all models", False, 0, differ, "texts"),
        Target("from fastText: probabilities differ by", False, CLOSE, furthest, ""),
        Target("from fastText: ours differ from exact arithmetic by", False, TRUE, inexact, ""),
    ]
    result.notes.append(
        f"fastText adds {ADDED:g} to each probability (of `hs` to each node's on the way): it is added to "
        "ours here. It looks the sigmoid of `ova` and `ns` up in a table: log-odds are held to the table's "
        "values, but for those within a thousandth of a step of the next. Ties: texts whose two highest "
        f"probabilities are within {2 * CLOSE:g} of each other. Exact: the formula computed from the same "
        f"file in double precision, of the {WORST:,} texts that differ most and of one in {EACH}: what "
        "fastText differs by is what it rounds in single precision (of `ova` and `ns`, its table)."
    )
    return result


def _written(bench: Bench) -> list[str]:
    """Test texts and as many training texts as it takes, each one line; files to train on."""
    tests, trains, lines, own = [], [], [], []
    for data in LEARNERS:
        texts, labels = rows_of(data, "train")
        tests += some(rows_of(data, "test")[0], OF_LONG if data in LONG else None)
        trains += [] if data in LONG else texts
        step = max(1, len(texts) // TRAINED)
        for text, label in zip(texts[::step], labels[::step], strict=True):
            lines.append(f"__label__{data} {_line(text)}\n")
            own.append(f"__label__{data}:{'-'.join(label.split())} {_line(text)}\n")
    for name, content in (("sets.txt", lines), ("own.txt", own)):
        (bench.workspace / name).write_text("".join(content), encoding="utf-8")
    texts = [_line(text) for text in chain(tests, some(trains, max(ENOUGH - len(tests), 0)))]
    if bench.quick:
        texts = some(texts, 2000)
    (bench.workspace / "texts.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return texts


def _line(text: str) -> str:
    return " ".join(text.split())


def _fasttext(bench: Bench, options: dict[str, Any]) -> tuple[list[str], Floats]:
    """The labels of a model that fastText trains, and what it says of all texts."""
    own = {name: each for name, each in options.items() if name not in ("quantise", "labels")}
    lines = "own.txt" if "labels" in options else "sets.txt"
    about = json.dumps({"options": own, "quantise": options.get("quantise"), "lines": lines})
    # The wheel reads memory that it has not written; glibc fills new memory with zeros for 255.
    os.environ["MALLOC_PERTURB_"] = "255"
    run_child([sys.executable, "-W", "ignore", "-c", TRAIN, str(bench.workspace), about])
    del os.environ["MALLOC_PERTURB_"]
    p = np.load(bench.workspace / "p.npy").astype(np.float64)
    labels = {
        line.split(" ", 1)[0].removeprefix("__label__")
        for line in (bench.workspace / lines).open(encoding="utf-8")
    }
    return sorted(labels), p


def _compared(path: Path, texts: list[str], names: list[str], theirs: Floats) -> tuple[int, int, Floats]:
    """Texts of another label, texts whose label is a tie, and of each text how far a probability is."""
    model = textodds.from_fasttext(path)
    assert list(model.classes_) == names
    others, ties, furthest = 0, 0, np.zeros(len(texts))
    for begin in range(0, len(texts), 5000):
        block, p = texts[begin : begin + 5000], theirs[begin : begin + 5000]
        ours, held = _as_fasttext(model, block)
        said = np.isfinite(p)
        apart = np.where(said & held, np.abs(ours - np.where(said, p, 0.0)), 0.0)
        furthest[begin : begin + 5000] = apart.max(axis=1)
        p = np.where(said, p, 0.0)
        second, first = np.sort(p, axis=1)[:, -2:].T
        tied = first - second <= 2 * CLOSE
        ties += int(tied.sum())
        best = model.predict_proba(block).argmax(axis=1)
        others += int((best != p.argmax(axis=1))[~tied].sum())
    return others, ties, furthest


def _from_exact(path: Path, texts: list[str], theirs: Floats, far: Floats) -> tuple[float, float]:
    """How far our probabilities and fastText's are at most from those of exact arithmetic."""
    from fasttext_exact import Exact

    of = np.union1d(np.argsort(far, kind="stable")[-WORST:], np.arange(0, len(texts), EACH))
    model, exact = textodds.from_fasttext(path), Exact(path)
    p, printed = (np.array(each) for each in zip(*(exact(texts[i]) for i in of), strict=True))
    ours = np.abs(model.predict_proba([texts[i] for i in of]) - p)
    return float(ours.max()), float(np.nanmax(np.abs(theirs[of] - printed)))


def _as_fasttext(model: Any, texts: list[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """Our probabilities as fastText would print them, and which of them can be held to its own."""
    from fasttext_models import table_sigmoid

    if hasattr(model, "thresholds"):
        scores = model.score_batch(Batch(texts))[0]
        steps = (scores + 8) * 32
        return table_sigmoid(scores) + ADDED, np.abs(steps - np.round(steps)) >= NEAR
    leaves = getattr(model.form, "leaves", None)
    if leaves is None:
        p = model.predict_proba(texts) + ADDED
    else:
        inner = model.scorer.kernel.score(texts, 1)[0]
        nodes = inner if model.form.output is None else inner @ model.form.output
        ways = 1 / (1 + np.exp(-nodes[:, leaves.nodes] * leaves.sign)) + ADDED
        p = np.multiply.reduceat(ways, leaves.starts[:-1], axis=1)
    return p, np.ones(p.shape, dtype=bool)
