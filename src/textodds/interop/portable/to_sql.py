"""A model as tables and views of a database, which score a table of texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from textodds.data.written_file import replacing
from textodds.errors import InputError, Unsupported, suggestion
from textodds.interop.portable.characters import SPACE, WORD, Mapping
from textodds.interop.portable.plain_model import PlainModel, plain_model, text_plan
from textodds.interop.portable.to_python import runtime
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel
from textodds.text import TextSettings

MOST_WEIGHTS = 2_000_000
_ROWS = 500  # rows a statement

COMPOSITION = """CASE WHEN b.last < n.class OR b.is_next = 1 THEN
      CASE WHEN b.letter BETWEEN 4352 AND 4370 AND n.c BETWEEN 4449 AND 4469
          THEN 44032 + ((b.letter - 4352) * 21 + n.c - 4449) * 28
        WHEN b.letter BETWEEN 44032 AND 55203 AND (b.letter - 44032) % 28 = 0 AND n.c BETWEEN 4520 AND 4546
          THEN b.letter + n.c - 4519
        ELSE pair.whole END END"""
"""What the last letter and the next character compose to, Hangul by arithmetic; NULL if to nothing."""

Cell = str | int | float | None
Rows = Iterable[Sequence[Cell]]


class SqlDialect(NamedTuple):
    """How a database says what others say differently."""

    title: str
    double: str
    char: str  # the function from a code point to a character
    characters: str  # texts as (id, pos, c)
    is_windowed: bool  # whether strings are joined in order by a window only
    has_indexes: bool
    holds_nul: bool
    advice: str = ""  # a comment


DIALECTS = {
    "duckdb": SqlDialect(
        "DuckDB",
        "DOUBLE",
        "chr",
        "SELECT id, unnest(generate_series(1, len(every))) AS pos, unicode(unnest(every)) AS c FROM "
        "(SELECT id, regexp_extract_all(text, '(?s).') AS every FROM {p}_texts) AS split",
        is_windowed=False,
        has_indexes=False,
        holds_nul=True,
    ),
    "sqlite": SqlDialect(
        "SQLite",
        "REAL",
        "char",
        "SELECT id, 1 AS pos, unicode(text) AS c, substr(text, 2) AS rest FROM {p}_texts WHERE text <> '' "
        "UNION ALL SELECT id, pos + 1, unicode(rest), substr(rest, 2) FROM characters WHERE rest <> ''",
        is_windowed=True,
        has_indexes=True,
        holds_nul=True,
    ),
    "postgres": SqlDialect(
        "PostgreSQL",
        "double precision",
        "chr",
        "SELECT t.id, s.pos, ascii(s.ch) AS c FROM {p}_texts AS t "
        "CROSS JOIN LATERAL regexp_split_to_table(t.text, '') WITH ORDINALITY AS s(ch, pos) WHERE s.ch <> ''",
        is_windowed=False,
        has_indexes=True,
        holds_nul=False,
        advice="-- SET jit = off first: compiling a query of this size takes longer than running it.\n",
    ),
}


def to_sql(model: TextModel | MultiLabelModel, path: str | os.PathLike[str], database: str) -> None:
    """Write a model as SQL for ``duckdb``, ``sqlite`` or ``postgres``.

    The statements make tables of the model, an empty table ``NAME_texts`` (id, text), and the views
    ``NAME_predictions`` (id, label, probability) and ``NAME_probabilities`` (also class, threshold) of what
    is in it; NAME is that of the file. Models of words and of their n-grams; probabilities agree to 1e-9.
    """
    if database not in DIALECTS:
        raise InputError(
            f"unknown database `{database}`{suggestion(database, DIALECTS)}",
            hint=f"one of {', '.join(DIALECTS)}",
        )
    dialect = DIALECTS[database]
    _must_be_of_words(model.recipe.settings, dialect.title)
    plain = plain_model(model, dialect.title, MOST_WEIGHTS, Path(path).stem)
    if not dialect.holds_nul and any("\0" in name for name in plain.classes):
        raise Unsupported(
            f"{dialect.title} has no strings with zero bytes, and a class has one", hint="rename it"
        )
    with replacing(path) as temporary:
        temporary.write_text("".join(_statements(plain, dialect)), encoding="utf-8")


def _must_be_of_words(settings: TextSettings, title: str) -> None:
    """Refuse what the views cannot cut."""
    is_ascii = "[" in settings.unit
    refused = {
        "unit": settings.unit.startswith("characters") or is_ascii,
        "characters": settings.characters is not None,
        "strip_accents": bool(settings.strip_accents),
    }
    for name, is_set in refused.items():
        if is_set:
            value = getattr(settings, name)
            raise Unsupported(
                f"{title} cannot cut texts with {name}={value!r}",
                hint="train on words or n-grams of words, or export to C, Python or a page",
            )


def prefix_of(name: str) -> str:
    """What the names of tables begin with: small letters, digits and underscores of the file's name.

    >>> prefix_of("Mail 2; DROP"), prefix_of("7")
    ('mail_2_drop', 'model_7')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "model"
    return plain[:40] if plain[0].isalpha() else f"model_{plain}"[:40]


def _statements(plain: PlainModel, dialect: SqlDialect) -> Iterable[str]:
    p = prefix_of(plain.name)
    yield f"-- A text classifier by textodds, for {dialect.title}: put texts into {p}_texts (id, text),\n"
    yield f"-- or make it a view of a table of yours; then SELECT * FROM {p}_predictions.\n"
    yield f"{dialect.advice}\nBEGIN;\n"
    for name, columns, rows in _tables(plain, dialect):
        written = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        yield f"CREATE TABLE {p}_{name} ({written});\n"
        yield from _inserts(f"{p}_{name}", rows, dialect)
        if dialect.has_indexes and name not in ("texts", "stop_words", "classes"):
            keys = "first, second" if name == "pairs" else next(iter(columns))
            yield f"CREATE INDEX {p}_{name}_by ON {p}_{name} ({keys});\n"
    yield _views(plain, dialect, p)
    yield "COMMIT;\n"


def _tables(plain: PlainModel, dialect: SqlDialect) -> Iterable[tuple[str, dict[str, str], Rows]]:
    """The name, the columns and the rows of each table."""
    whole, real, text = "INTEGER", dialect.double, "TEXT"
    tables, weights = plain.characters, plain.weights
    spans = {"first": whole, "last": whole, "value": whole}
    mapped = {"c": whole, "n": whole, "becomes": whole}
    apart = {
        **dict(tables.canonical),
        **(dict(tables.compatible) if plain.settings.normal_form == "NFKC" else {}),
    }
    yield "texts", {"id": "BIGINT", "text": text}, []
    yield "kinds", spans, tables.kinds
    yield "marks", spans, tables.combining
    yield "decompositions", mapped, _mapped(apart.items() if plain.settings.normal_form else [])
    yield "pairs", {"first": whole, "second": whole, "whole": whole}, tables.composed
    yield "lower", mapped, _mapped(tables.lower)
    yield "stop_words", {"word": text}, [(word,) for word in plain.settings.stop_words]
    scale = np.ones(len(plain.terms)) if plain.scale is None else plain.scale
    base = weights.base if len(weights.base) else np.zeros(len(plain.terms))
    terms = zip(plain.terms, range(len(plain.terms)), scale.tolist(), base.tolist(), strict=True)
    kept = (row for row in terms if dialect.holds_nul or "\0" not in row[0])
    yield "terms", {"term": text, "number": whole, "scale": real, "base": real}, kept
    yield "weights", {"number": whole, "class": whole, "weight": real}, _weights(plain)
    slope = weights.slope if len(weights.slope) else np.zeros(len(plain.classes))
    prior = plain.bias.tolist() if plain.prior is None else plain.prior
    thresholds: Sequence[float | None] = plain.thresholds or [None] * len(plain.classes)
    bias, usual = plain.bias.tolist(), weights.default.tolist()
    columns = dict.fromkeys(("bias", "usual", "slope", "prior", "threshold"), real)
    numbers = range(len(plain.classes))
    rows = zip(numbers, plain.classes, bias, usual, slope.tolist(), prior, thresholds, strict=True)
    yield "classes", {"class": whole, "label": text, **columns}, rows


def _mapped(mappings: Iterable[Mapping]) -> Rows:
    return [(c, n, each) for c, own in mappings for n, each in enumerate(own)]


def _weights(plain: PlainModel) -> Rows:
    weights, K = plain.weights, len(plain.classes)
    if weights.dense is not None:
        return ((at // K, at % K, weight) for at, weight in enumerate(weights.dense.reshape(-1).tolist()))
    word_of = np.repeat(np.arange(len(plain.terms)), np.diff(weights.starts).astype(np.intp))
    class_of = weights.class_of.astype(np.intp).tolist()
    return zip(word_of.tolist(), class_of, weights.cells.tolist(), strict=True)


def _inserts(table: str, rows: Rows, dialect: SqlDialect) -> Iterable[str]:
    """Statements of some hundred rows each."""
    waiting: list[str] = []
    for row in rows:
        waiting.append("(" + ", ".join(_literal(cell, dialect) for cell in row) + ")")
        if len(waiting) == _ROWS:
            yield f"INSERT INTO {table} VALUES {', '.join(waiting)};\n"
            waiting = []
    if waiting:
        yield f"INSERT INTO {table} VALUES {', '.join(waiting)};\n"


def _literal(cell: Cell, dialect: SqlDialect) -> str:
    """A value as SQL: a quote in a string is doubled, a control character is written by its number."""
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        parts = re.split("([\0-\x1f\x7f])", cell)  # every other one is such a character
        quoted = ["'" + part.replace("'", "''") + "'" for part in parts[::2]]
        between = [f"{dialect.char}({ord(control)})" for control in parts[1::2]]
        pairs = (f"{control} || {part}" for control, part in zip(between, quoted[1:], strict=True))
        return " || ".join([quoted[0], *pairs])
    if isinstance(cell, float):
        written = repr(cell)
        return written if "e" in written else f"{written}e0"  # a number with a point may be a decimal
    return str(cell)


def _views(plain: PlainModel, dialect: SqlDialect, p: str) -> str:
    plan, settings = text_plan(plain.settings), plain.settings
    is_words = plan["unit"] == "words"
    least = 1 if is_words else int(str(plan["least"]))
    tokens = runtime("words.sql" if is_words else "runs.sql")
    belongs = f"kinds.kind & {WORD} <> 0" if plan.get("set") == "word" else f"kinds.kind & {SPACE} = 0"
    one = f"CAST(1 AS {dialect.double})"
    count = f"CAST(counted.n AS {dialect.double})"
    worth = {
        "binary": one,
        "count": count,
        "log": f"CASE WHEN counted.n > 1 THEN 1 + ln({count}) ELSE {one} END",
    }
    sigmoid = "CASE WHEN score > 700 THEN 1 WHEN score < -700 THEN 0 ELSE 1 / (1 + exp(-score)) END"
    softmax = "CASE WHEN score - most < -700 THEN 0 ELSE exp(score - most) END"
    parts = {
        "tokens": tokens,
        "strings": _strings(dialect, is_words=is_words, least=least),
        "least": str(least),
        "belongs": belongs,
        "characters": dialect.characters,
        "grams": _grams(*settings.ngrams),
        "unknown": str(plain.unknown) if plain.unknown >= 0 else "NULL",
        "worth": f"{one if plain.presence else worth[plain.frequency]} * t.scale",
        "length": {"l2": "sqrt(sum(x * x))", "l1": "sum(abs(x))", "": "0"}[plain.norm],
        "is_known": f"number <> {plain.unknown}" if plain.several and plain.unknown >= 0 else "1 = 1",
        "share": f"CAST({sigmoid if plain.several else softmax} AS {dialect.double})",
        "composition": COMPOSITION,
        "total": "1" if plain.several else "sum(share) OVER (PARTITION BY id)",
        "is_given": "probability >= threshold" if plain.several else "place = 1",
        "kept": "AS MATERIALIZED",
        "p": p,
    }
    sql = runtime("score.sql").replace("AS {kept}", "{kept}")
    for _ in range(3):  # parts have parts
        sql = re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], sql)
    return sql


def _strings(dialect: SqlDialect, *, is_words: bool, least: int) -> str:
    """Characters of a token as a string: of words all of a segment, of runs what is of the set."""
    within = "" if is_words else " WHERE counts = 1"
    if not dialect.is_windowed:
        return (
            f"SELECT id, token, string_agg({dialect.char}(c), '' ORDER BY pos) AS word FROM placed{within} "
            f"GROUP BY id, token HAVING max(counts) = 1 AND count(*) >= {least}"
        )
    whole = "OVER (PARTITION BY id, token)"
    return (
        "SELECT id, token, word FROM (SELECT id, token, "
        f"group_concat({dialect.char}(c), '') OVER (PARTITION BY id, token ORDER BY pos "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS word, "
        "row_number() OVER (PARTITION BY id, token ORDER BY pos) AS place, "
        f"max(counts) {whole} AS counts, count(*) {whole} AS n FROM placed{within}) AS strings "
        f"WHERE place = 1 AND counts = 1 AND n >= {least}"
    )


def _grams(first: int, last: int) -> str:
    """Runs of so many tokens, joined by one space."""
    runs = []
    for n in range(first, last + 1):
        term = " || ' ' || ".join(f"t{i}.word" for i in range(n))
        joins = "".join(
            f" JOIN tokens AS t{i} ON t{i}.id = t0.id AND t{i}.place = t0.place + {i}" for i in range(1, n)
        )
        runs.append(f"  SELECT t0.id, {term} AS term FROM tokens AS t0{joins}")
    return "\n  UNION ALL\n".join(runs)
