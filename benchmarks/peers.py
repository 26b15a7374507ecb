"""The programs textodds is measured against. Each is left out, with the reason, where it is missing."""

from __future__ import annotations

import csv
import ctypes
import importlib
import itertools
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from corpora import Missing, Part

WORD = re.compile(r"\w+|[^\w\s]")

FASTTEXT = {"dim": 10, "wordNgrams": 2, "lr": 0.5, "epoch": 5, "thread": 1, "verbose": 0}
M_PERTURB = -6  # of glibc's `mallopt`
VW = "--loss_function logistic -b 22 --ngram 2 --quiet"


@cache
def _absence(module: str) -> str | None:
    try:
        importlib.import_module(module)
    except Exception as error:  # a broken wheel can raise anything
        return f"{module} cannot be imported ({type(error).__name__}: {error})"
    return None


def module(name: str) -> Any:
    """A module; `Missing` says why not."""
    if reason := _absence(name):
        raise Missing(reason)
    return importlib.import_module(name)


# scikit-learn


def sklearn_pipeline() -> Any:
    """CountVectorizer and MultinomialNB with their defaults, not fitted."""
    module("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), MultinomialNB())


def sklearn_fit(rows: tuple[list[str], list[str]]) -> Any:
    """That pipeline, fitted."""
    texts, labels = rows
    return sklearn_pipeline().fit(texts, labels)


def tfidf(**options: Any) -> Any:
    """TfidfVectorizer with logarithmic counts, not fitted."""
    module("sklearn")
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, **options)


def sklearn_softmax(rows: tuple[list[str], list[str]], ngrams: tuple[int, int]) -> Any:
    """TfidfVectorizer and LogisticRegression of C = 1, fitted; 200 steps, since 100 are too few for some."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(tfidf(ngram_range=ngrams), LogisticRegression(C=1.0, max_iter=200))
    return pipeline.fit(*rows)


def sklearn_solve(rows: Any, labels: list[str], solver: str, C: float, max_iter: int) -> Any:
    """LogisticRegression by one of its solvers, fitted in so many steps and no fewer."""
    module("sklearn")
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, solver=solver, tol=1e-12, max_iter=max_iter, random_state=0)
    return model.fit(rows, labels)


def rows_by_csv(path: Path) -> tuple[list[str], list[str]]:
    """Texts and labels of a file, by the standard library."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def rows_by_pandas(path: Path) -> tuple[list[str], list[str]]:
    """Texts and labels of a file, by pandas."""
    frame = module("pandas").read_csv(path, keep_default_na=False, dtype=str)
    return frame["text"].tolist(), frame["label"].tolist()


def readers() -> dict[str, Callable[[Path], tuple[list[str], list[str]]]]:
    """The ways to read a CSV file for scikit-learn that are there."""
    found: dict[str, Callable[[Path], tuple[list[str], list[str]]]] = {"csv": rows_by_csv}
    if _absence("pandas") is None:
        found["pandas"] = rows_by_pandas
    return found


def sklearn_streamed(path: Path, classes: list[str]) -> Any:
    """HashingVectorizer and MultinomialNB, 1,000 rows at a time; predicts as a pipeline does."""
    module("sklearn")
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    vectorizer, model = HashingVectorizer(alternate_sign=False, norm=None), MultinomialNB()
    with path.open(newline="", encoding="utf-8") as file:
        for rows in _chunks(csv.DictReader(file), 1000):
            counts = vectorizer.transform(row["text"] for row in rows)
            model.partial_fit(counts, [row["label"] for row in rows], classes=classes)
    return make_pipeline(vectorizer, model)


def _chunks(rows: Iterable[dict[str, str]], size: int) -> Iterator[list[dict[str, str]]]:
    iterator = iter(rows)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


# fastText and Vowpal Wabbit, which expect words to be found beforehand: this is not timed


def words(text: str) -> str:
    """Lower-case words and marks with spaces between them, as fastText's tutorial advises."""
    return " ".join(WORD.findall(text.lower()))


def write_fasttext(part: Part, path: Path) -> Path:
    """The rows in the format of fastText."""
    with path.open("w", encoding="utf-8") as file:
        for text, label in zip(part.texts, part.labels, strict=True):
            file.write(f"__label__{label} {words(text)}\n")
    return path


def fasttext_train(path: Path, **options: Any) -> Any:
    """fastText with bigrams, ten dimensions and fast steps: on IMDB faster and better than its defaults."""
    fasttext = module("fasttext")
    # The wheel reads memory that it has not written, and may meet NaN; for 255 glibc fills it with zeros.
    fill = getattr(ctypes.CDLL(None), "mallopt", lambda option, byte: None)
    fill(M_PERTURB, 255)
    try:
        return fasttext.train_supervised(str(path), **{**FASTTEXT, **options})
    finally:
        fill(M_PERTURB, 0)


def fasttext_labels(model: Any, texts: list[str]) -> list[str]:
    """What it predicts for texts that `words` has prepared."""
    return [labels[0].removeprefix("__label__") for labels in model.predict(texts)[0]]


def write_vw(part: Part, path: Path, classes: list[str]) -> Path:
    """The rows in the format of Vowpal Wabbit."""
    number = {name: k + 1 for k, name in enumerate(classes)}
    with path.open("w", encoding="utf-8") as file:
        for text, label in zip(part.texts, part.labels, strict=True):
            found = words(text).replace(":", " ").replace("|", " ")
            file.write(f"{number[label]} | {found}\n")
    return path


def vw_train(data: Path, model: Path, n_classes: int) -> Path:
    """One pass of logistic regression on hashed bigrams."""
    workspace = module("vowpalwabbit").Workspace(f"--oaa {n_classes} {VW} -d {data} -f {model}")
    workspace.finish()
    return model


def vw_labels(model: Path, data: Path, classes: list[str]) -> list[str]:
    """What it predicts for the rows of a file."""
    told = model.with_suffix(".predictions")
    workspace = module("vowpalwabbit").Workspace(f"-t -i {model} -d {data} -p {told} --quiet")
    workspace.finish()
    return [classes[int(float(line.split()[0])) - 1] for line in told.read_text().splitlines()]


# LIBLINEAR


def liblinear_problem(rows: Any, codes: Any) -> Any:
    """The rows in the form of LIBLINEAR, with a one added to each for the bias, which is penalised."""
    utilities = module("liblinear.liblinearutil")
    return utilities.problem(codes.astype(float), rows.copy(), 1)  # a copy, since it sorts what it is given


def liblinear_train(problem: Any, options: str) -> Any:
    """A model of that problem."""
    utilities = module("liblinear.liblinearutil")
    ctypes.CDLL(None).srand(1)  # its order of the rows, and so its precision, is random
    return utilities.train(problem, utilities.parameter(f"{options} -B 1 -q"))


def liblinear_weights(model: Any) -> tuple[Any, Any]:
    """Weights (V, 1) and bias (1,) of a model of two classes, for class 1 against class 0."""
    import numpy as np

    found = np.ctypeslib.as_array(model.w, (model.get_nr_feature() + 1,))
    signed = found * (1.0 if model.get_labels()[0] == 1 else -1.0)
    return signed[:-1, None], signed[-1:]


# wc


def wc() -> str:
    """The path of ``wc``."""
    found = shutil.which("wc")
    if found is None:
        raise Missing("there is no command wc")
    return found


def write_lines(part: Part, path: Path) -> Path:
    """The texts alone, one after another: what ``wc`` is to count the words of."""
    with path.open("w", encoding="utf-8") as file:
        for text in part.texts:
            file.write(text)
            file.write("\n")
    return path
