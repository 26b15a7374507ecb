"""Models as functions of DuckDB: `textodds_predict(model, text)` in any query."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textodds.errors import Unsupported, require
from textodds.model.file import load
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MODELS = 8  # that are kept open


def register(connection: DuckDBPyConnection) -> None:
    """Give a connection the functions ``textodds_predict`` and ``textodds_probability``.

    Both take the path of a model file and a text: the label, and how probable it is. A text that is NULL
    gives NULL. A model is opened once, and again when its file has changed.

    Examples
    --------
    >>> import duckdb, tempfile, textodds
    >>> model = textodds.train(["free phone", "see you at six"] * 3, ["spam", "ham"] * 3)
    >>> connection = duckdb.connect()
    >>> register(connection)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/mail.textodds")
    ...     query = f"SELECT textodds_predict('{folder}/mail.textodds', 'a free one')"
    ...     connection.execute(query).fetchall()
    [('spam',)]
    """
    require("duckdb", why="functions of DuckDB")
    require("pyarrow", why="functions of DuckDB")
    import duckdb
    import pyarrow as pa

    def made(answers: Callable[[TextModel, list[str]], list[Any]], kind: pa.DataType) -> Callable[..., Any]:
        def scored(models: Any, texts: Any) -> Any:  # DuckDB evaluates these types
            return pa.array(_answered(models.to_pylist(), texts.to_pylist(), answers), kind)

        return scored

    text, double = duckdb.sqltype("VARCHAR"), duckdb.sqltype("DOUBLE")
    options: dict[str, Any] = {"type": "arrow", "null_handling": "special"}
    labels = made(lambda model, texts: list(model.predict(texts).astype(str)), pa.string())
    shares = made(lambda model, texts: model.predict_proba(texts).max(axis=1).tolist(), pa.float64())
    connection.create_function("textodds_predict", labels, [text, text], text, **options)
    connection.create_function("textodds_probability", shares, [text, text], double, **options)


def _answered(
    paths: list[str | None], texts: list[str | None], answers: Callable[[TextModel, list[str]], list[Any]]
) -> list[Any]:
    """Answers in the order of the rows, those of one model at a time."""
    out: list[Any] = [None] * len(texts)
    rows: dict[str, list[int]] = {}
    for row, (path, text) in enumerate(zip(paths, texts, strict=True)):
        if path is not None and text is not None:
            rows.setdefault(path, []).append(row)
    for path, own in rows.items():
        about = Path(path).stat() if Path(path).exists() else None
        model = _opened(path, None if about is None else (about.st_mtime_ns, about.st_size, about.st_ino))
        for row, answer in zip(own, answers(model, [texts[row] or "" for row in own]), strict=True):
            out[row] = answer
    return out


@lru_cache(MODELS)
def _opened(path: str, changed: tuple[int, ...] | None) -> TextModel:
    """A model of texts; ``changed`` tells one state of its file from the next."""
    model = load(path)
    if not isinstance(model, TextModel):
        raise Unsupported(
            f"`{path}` is not a model of one label a text, and `textodds_predict` gives one",
            hint="predict with `textodds predict`, which takes every model",
        )
    return model
