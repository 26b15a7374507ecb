"""A model as one file of C99: its data as arrays, and the code that reads texts by them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from textodds.data.written_file import replacing
from textodds.interop.portable.characters import Mapping, Range, word_rules
from textodds.interop.portable.plain_model import PlainModel, plain_model, text_plan
from textodds.interop.portable.to_python import runtime
from textodds.learn.arrays import Floats
from textodds.model.multilabel.multilabel_model import MultiLabelModel
from textodds.model.text_model import TextModel

MOST_WEIGHTS = 20_000_000
_WIDE = 20  # numbers a line

UNITS = {"words": 0, "runs": 1, "characters": 2, "characters-in-words": 3}
FORMS = {None: 0, "NFC": 1, "NFKC": 2}
ACCENTS = {None: 0, "unicode": 1, "ascii": 2}
FREQUENCIES = {"count": 0, "log": 1, "binary": 2}
NORMS = {"": 0, "l1": 1, "l2": 2}
SETS = {"word": 0, "visible": 1}


def to_c(model: TextModel | MultiLabelModel, path: str | os.PathLike[str]) -> None:
    """Write a model as one file of C99 without dependencies: ``int predict(const char *text, double *p)``.

    Answers are those of the model, probabilities to 1e-9. Names of classes and words are written as numbers
    or octal escapes: none can end a string or a comment.
    """
    plain = plain_model(model, "C", MOST_WEIGHTS, Path(path).stem)
    with replacing(path) as temporary:
        temporary.write_text(runtime("model.c").replace("/*{data}*/", _data(plain)), encoding="ascii")


def _data(plain: PlainModel) -> str:
    order = sorted(range(len(plain.terms)), key=lambda number: plain.terms[number].encode())
    return "\n".join([*_names(plain), *_settings(plain, order), *_tables(plain), *_model(plain, order)])


def _names(plain: PlainModel) -> Iterable[str]:
    encoded = [name.encode() for name in plain.classes]
    yield f"#define TEXTODDS_CLASSES {len(encoded)}"
    yield f"const char *const textodds_names[] = {{{', '.join(map(_string, encoded))}}};"
    yield f"const size_t textodds_lengths[] = {{{', '.join(str(len(name)) for name in encoded)}}};"
    yield _doubles("textodds_thresholds", plain.thresholds or [], "const")


def _settings(plain: PlainModel, order: list[int]) -> Iterable[str]:
    """What the code is told by constants."""
    plan, settings = text_plan(plain.settings), plain.settings
    chosen = str(plan.get("set", "word"))
    beside = settings.characters or (0, 0)
    unknown = order.index(plain.unknown) if plain.unknown >= 0 else 0
    constants = {
        "TERMS": len(plain.terms),
        "UNIT": UNITS[str(plan["unit"])],
        "SET": SETS.get(chosen, 2),
        "LEAST": plan.get("least", 1),
        "WHOLE": int(bool(plan.get("whole"))),
        "FIRST_GRAM": settings.ngrams[0],
        "LAST_GRAM": settings.ngrams[1],
        "FIRST_BESIDE": beside[0],
        "LAST_BESIDE": beside[1],
        "LOWERS": int(settings.lower),
        "FORM": FORMS[settings.normal_form],
        "ACCENTS": ACCENTS[settings.accents],
        "FREQUENCY": FREQUENCIES[plain.frequency],
        "NORM": NORMS[plain.norm],
        "BLOCKS": plain.blocks,
        "PRESENCE": int(plain.presence),
        "HAS_UNKNOWN": int(plain.unknown >= 0),
        "UNKNOWN": f"{unknown}u",
        "SEVERAL": int(plain.several),
        "HAS_SCALE": int(plain.scale is not None),
        "IS_DENSE": int(plain.weights.dense is not None),
        "HAS_BASE": int(len(plain.weights.base) > 0),
    }
    yield _count("STOP_WORDS", settings.stop_words)
    yield from (f"#define {name} {value}" for name, value in constants.items())
    yield _array("uint8_t", "ASCII_SET", [int(chosen not in SETS and chr(c) in chosen) for c in range(128)])
    yield from _strings("STOP", sorted(settings.stop_words))


def _tables(plain: PlainModel) -> Iterable[str]:
    tables = plain.characters
    compatible = sorted({**dict(tables.canonical), **dict(tables.compatible)}.items())
    yield from _ranges("KINDS", tables.kinds)
    yield from _ranges("COMBINING", tables.combining)
    yield from _mappings("LOWER", tables.lower)
    yield from _mappings("CANONICAL", tables.canonical)
    yield from _mappings("COMPATIBLE", compatible if tables.compatible else [])
    yield _count("COMPOSED", tables.composed)
    yield _structs("Pair", "COMPOSED", sorted(tables.composed))
    rows = ",\n".join("{" + ", ".join(map(str, row)) + "}" for row in word_rules())
    yield f"static const uint8_t RULES[][{len(word_rules()[0])}] = {{\n{rows}}};"


def _model(plain: PlainModel, order: list[int]) -> Iterable[str]:
    """Words in the order of their bytes, and weights in that of the words."""
    weights = plain.weights
    yield from _strings("WORD", [plain.terms[number] for number in order])
    yield _doubles("BIAS", plain.bias)
    yield _doubles("PRIOR", plain.bias if plain.prior is None else plain.prior)
    yield _doubles("SCALE", [] if plain.scale is None else plain.scale[order])
    yield _doubles("DEFAULT", weights.default)
    yield _doubles("SLOPE", weights.slope)
    yield _doubles("BASE", weights.base[order] if len(weights.base) else [])
    if weights.dense is not None:
        yield _array("uint32_t", "CELL_STARTS", [])
        yield _array("uint32_t", "CLASS_OF", [])
        yield _doubles("WEIGHTS", weights.dense[order].reshape(-1))
        return
    starts = weights.starts.astype(np.int64)
    lengths = np.diff(starts)[order]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    cells = np.repeat(starts[:-1][order], lengths) + within
    yield _array("uint32_t", "CELL_STARTS", [0, *np.cumsum(lengths).tolist()])
    yield _array("uint32_t", "CLASS_OF", weights.class_of[cells].astype(np.int64).tolist())
    yield _doubles("WEIGHTS", weights.cells[cells])


def _string(content: bytes) -> str:
    """A C string of any bytes: letters and digits as they are, all else in three octal digits."""
    return '"' + "".join(chr(c) if c < 128 and chr(c).isalnum() else f"\\{c:03o}" for c in content) + '"'


def _count(name: str, values: Sequence[object]) -> str:
    return f"static const size_t N_{name} = {len(values)};"


def _array(kind: str, name: str, values: Sequence[object]) -> str:
    written = [str(value) for value in values] or ["0"]  # an array has one element at least
    lines = [", ".join(written[at : at + _WIDE]) for at in range(0, len(written), _WIDE)]
    return f"static const {kind} {name}[] = {{\n" + ",\n".join(lines) + "};"


def _doubles(name: str, values: Floats | Sequence[float], storage: str = "static const") -> str:
    written = _array("double", name, [repr(float(value)) for value in values])
    return written.replace("static const", storage, 1)


def _strings(name: str, words: Sequence[str]) -> Iterable[str]:
    """Words as bytes one behind the other, and where each begins."""
    encoded = [word.encode() for word in words]
    yield _array("unsigned char", f"{name}_WORDS" if name == "STOP" else "WORDS", list(b"".join(encoded)))
    ends = np.cumsum([len(word) for word in encoded]).tolist()
    yield _array("uint32_t", f"{name}_STARTS", [0, *ends])


def _structs(kind: str, name: str, rows: Sequence[tuple[int, ...]]) -> str:
    return _array(kind, name, ["{" + ", ".join(map(str, row)) + "}" for row in rows or [(0, 0, 0)]])


def _ranges(name: str, ranges: Sequence[Range]) -> Iterable[str]:
    yield _count(name, ranges)
    yield _structs("Range", name, ranges)


def _mappings(name: str, mappings: Sequence[Mapping]) -> Iterable[str]:
    characters = [c for _, own in mappings for c in own]
    starts = [0, *np.cumsum([len(own) for _, own in mappings]).tolist()]
    yield _count(name, mappings)
    rows = [(c, start, len(own)) for (c, own), start in zip(mappings, starts, strict=False)]
    yield _structs("Mapping", name, rows)
    yield _array("uint32_t", f"{name}_TO", characters)
