"""Exported models against the models themselves: every label and probability of thousands of real texts."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import textodds
from bench import Bench
from corpora import Missing, folder
from result import Result, Table, Target, digits
from textodds.interop.portable.to_page import to_page

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "interop"))  # what exports are run by

Floats = NDArray[np.float64]
Model = textodds.TextModel
Texts = list[str]
Asked = list[tuple[Model, Texts]]
Answers = Iterator[tuple[list[str], Floats]]

LEARNERS = {
    "20newsgroups": "multinomial",
    "ag_news_subset": "softmax:C=10:ngrams=1-2",
    "imdb": "bernoulli",
    "langid_lingua": "multinomial:unit=characters-in-words:ngrams=1-3",
    "mr": "nb-softmax:C=1",
    "reuters_r8": "complement",
    "sms_spam": "softmax:C=10:characters=2-4",
    "spamassassin": "multinomial:sklearn",
    "subjectivity": "multinomial:binary",
    "webkb_raw": "multinomial:strip_accents",
}
OF_WORDS = {
    "ag_news_subset": "softmax:C=10:unit=words:ngrams=1-2",
    "langid_lingua": "multinomial:unit=words:ngrams=1",
    "mr": "nb-softmax:C=1:unit=words:ngrams=1-2",
    "reuters_r8": "complement:unit=words:ngrams=1",
    "sms_spam": "softmax:C=10:unit=words:ngrams=1-3",
    "subjectivity": "bernoulli:unit=words:ngrams=1",
}
"""Databases cut words, and take long for long texts."""
SHORT = {
    "ag_news_subset": 300,
    "langid_lingua": 4000,
    "mr": 2500,
    "reuters_r8": 86,
    "sms_spam": 1114,
    "subjectivity": 2000,
}
"""Texts of each set for what is slow: 10,000."""
EVENLY = dict.fromkeys(LEARNERS, 1010)

TRAINED = 1500  # texts of each set
ENOUGH, CLOSE = 10_000, 1e-9
TIE = 1e-9  # classes whose probabilities differ by less may change places


class Way(NamedTuple):
    """How an export is run, on models of which learners, and on how many texts of each set: or all."""

    answers: Callable[[Asked], Answers]
    learners: dict[str, str]
    texts: dict[str, int] | None
    features: int = 20_000


class Found(NamedTuple):
    """What was compared on one set: texts whose label is another, is a tie; how far off probabilities are."""

    data: str
    texts: int
    size: int
    differ: int
    ties: int
    furthest: float


def exports(bench: Bench) -> Result:
    """Labels and probabilities of what a model is exported to, on real texts."""
    result = Result(
        "exports",
        "Exported models",
        "Models of ten data sets (1,500 training texts and another learner each, up to 20,000 features; for "
        "databases six sets and 5,000), exported and run on test texts: labels that are not the model's, and "
        "how far a probability is from the model's at most. Texts are drawn evenly from each set.",
    )
    table = Table("", ("export", "sets", "texts", "MB", "other labels", "ties", "furthest"))
    result.tables.append(table)
    for data, learner in LEARNERS.items():
        trained(data, learner, 20_000)
    with ThreadPoolExecutor() as pool:
        for name, found in pool.map(lambda way: _compared(way, quick=bench.quick), _ways().items()):
            if isinstance(found, Missing):
                result.skip(f"{name}: {found}")
                continue
            result.raw += [{"export": name, **each._asdict()} for each in found]
            _sum(name, found, result, table)
    result.notes.append(
        f"Ties: texts whose two most probable classes differ by less than {TIE:g}, of which either may be "
        "the label. C is compiled strictly and run under the sanitizers of addresses and undefined "
        "behaviour. Zero bytes are taken out of texts for databases."
    )
    return result


def _sum(name: str, found: list[Found], result: Result, table: Table) -> None:
    texts, size, differ, ties = (sum(each[i] for each in found) for i in range(1, 5))
    furthest = max(each.furthest for each in found)
    shown = (f"{texts:,}", digits(size / 1e6), str(differ), str(ties), f"{furthest:.1e}")
    table.rows.append((name, str(len(found)), *shown))
    result.targets.append(Target(f"{name}: texts compared", True, ENOUGH, texts, "texts"))
    result.targets.append(Target(f"{name}: other labels than the model's", False, 0, differ, "texts"))
    result.targets.append(Target(f"{name}: probabilities differ by", False, CLOSE, furthest, ""))


def _ways() -> dict[str, Way]:
    import exported as run

    databases = {"DuckDB": run.by_duckdb, "SQLite": run.by_sqlite, "PostgreSQL": run.by_postgres}
    return {
        "page, its JavaScript in node": Way(run.by_node, LEARNERS, None),
        "page, in Chromium": Way(_by_chromium, LEARNERS, EVENLY),
        "Python file": Way(run.by_python, LEARNERS, SHORT),
        "C": Way(run.by_c, LEARNERS, EVENLY),
        **{f"SQL in {name}": Way(answers, OF_WORDS, SHORT, 5000) for name, answers in databases.items()},
        "ONNX, of rows": Way(_by_onnx, LEARNERS, EVENLY),
        "scikit-learn's pipeline": Way(_by_sklearn, LEARNERS, EVENLY),
        "a function of DuckDB": Way(_by_function, LEARNERS, EVENLY),
        "pandas' accessor": Way(_by_pandas, LEARNERS, EVENLY),
        "reader in JavaScript": Way(_by_reader, OF_WORDS, SHORT),
    }


def _compared(way: tuple[str, Way], *, quick: bool) -> tuple[str, list[Found] | Missing]:
    """Run an export on its sets, and count what differs."""
    name, (answers, learners, texts, features) = way
    found = []
    try:
        for data, learner in learners.items():
            if texts is not None and data not in texts:
                continue
            most = 50 if quick else None if texts is None else texts[data]
            given = [
                text.replace("\0", "") if "SQL" in name else text
                for text in some(rows_of(data, "test")[0], most)
            ]
            found.append(_differences(data, trained(data, learner, features), given, answers))
            print(f"  {name}: {found[-1]}", flush=True)
    except Missing as missing:
        return name, missing
    return name, found


def _differences(data: str, model: Model, given: Texts, answers: Callable[[Asked], Answers]) -> Found:
    expected, ours = model.predict_proba(given), model.predict(given)
    second, first = np.sort(expected, axis=1)[:, -2:].T
    tied = first - second <= TIE
    ((labels, p),) = answers([(model, given)])
    differ = int((np.array(labels, dtype=object)[~tied] != ours[~tied]).sum())
    size = sum(len(text.encode()) for text in given)
    return Found(data, len(given), size, differ, int(tied.sum()), float(np.abs(p - expected).max()))


@cache
def rows_of(data: str, part: str) -> tuple[Texts, Texts]:
    path = folder() / data / f"{part}.csv.gz"
    if not path.is_file():
        raise Missing(f"no file {path}")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


@cache
def trained(data: str, learner: str, features: int) -> Model:
    texts, labels = rows_of(data, "train")
    step = max(1, len(texts) // TRAINED)
    model = textodds.train(texts[::step], labels[::step], learner=learner, max_features=features, threads=1)
    assert isinstance(model, Model)
    return model


def some(texts: Texts, most: int | None) -> Texts:
    """Texts from all over a list, at most so many."""
    if most is None or len(texts) <= most:
        return texts
    return [texts[i] for i in np.linspace(0, len(texts) - 1, most).astype(int)]


def _blocks(texts: Texts, most: int = 200) -> Iterable[Texts]:
    return (texts[a:b] for a, b in pairwise([*range(0, len(texts), most), len(texts)]))


def _by_chromium(asked: Asked) -> Answers:
    """By the page itself, opened as a file in a browser."""
    import shutil

    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise Missing("there is no chromium")
    answer = "[module_api.model.predict(text), Array.from(module_api.model.probabilities(text))]"
    ask = f"texts => texts.map(text => {answer})"
    with tempfile.TemporaryDirectory() as where, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for model, texts in asked:
            to_page(model, Path(where) / "mail.html")
            page = browser.new_page()
            page.goto((Path(where) / "mail.html").as_uri())
            said = [each for block in _blocks(texts) for each in page.evaluate(ask, block)]
            page.close()
            yield [label for label, _ in said], np.array([p for _, p in said])
        browser.close()


def _by_onnx(asked: Asked) -> Answers:
    """By onnxruntime, of rows that the model makes."""
    import onnxruntime

    for model, texts in asked:
        session = onnxruntime.InferenceSession(textodds.to_onnx(model).SerializeToString())
        said = [session.run(None, {"rows": model.rows(block).toarray()}) for block in _blocks(texts)]
        yield [label for labels, _ in said for label in labels], np.vstack([p for _, p in said])


def _by_sklearn(asked: Asked) -> Answers:
    """By a pipeline of scikit-learn."""
    for model, texts in asked:
        pipeline = textodds.to_sklearn(model)
        yield list(pipeline.predict(texts)), pipeline.predict_proba(texts)


def _by_function(asked: Asked) -> Answers:
    """By `textodds_predict` in DuckDB, whose probability is that of its label only."""
    import duckdb
    import pyarrow as pa

    from textodds.interop.in_duckdb import register

    for model, texts in asked:
        with tempfile.TemporaryDirectory() as where:
            path = f"{where}/mail.textodds"
            model.save(path)
            connection = duckdb.connect()
            register(connection)
            connection.register("given", pa.table({"id": range(len(texts)), "text": texts}))
            query = "SELECT textodds_predict($1, text), textodds_probability($1, text) FROM given ORDER BY id"
            rows = connection.execute(query, [path]).fetchall()
            connection.close()
        p = model.predict_proba(texts)
        p[np.arange(len(texts)), p.argmax(axis=1)] = [share for _, share in rows]
        yield [label for label, _ in rows], p


def _by_pandas(asked: Asked) -> Answers:
    """By the accessor of frames."""
    import pandas as pd

    from textodds.interop.in_pandas import Frame

    for model, texts in asked:
        frame = Frame(pd.DataFrame({"text": texts}))
        yield frame.predict(model).tolist(), frame.predict_proba(model).to_numpy()


def _by_reader(asked: Asked) -> Answers:
    """By the example of a reader of model files in another language."""
    import subprocess

    from exported import needed

    node, root = needed("node"), Path(__file__).resolve().parents[2]
    reader = root / "examples" / "reader" / "read_model.mjs"
    for model, texts in asked:
        with tempfile.TemporaryDirectory() as where:
            model.save(f"{where}/mail.textodds")
            command = [node, str(reader), f"{where}/mail.textodds", "--json"]
            lines = "".join(json.dumps(text) + "\n" for text in texts)
            done = subprocess.run(command, input=lines.encode(), capture_output=True, check=True)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        shares = [[each["probabilities"][name] for name in model.class_names] for each in said]
        yield [each["label"] for each in said], np.array(shares)
