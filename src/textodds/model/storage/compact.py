"""Small model files: words front-coded, weights of a byte or of two, all of it packed; opened like any other.

A compact file has no counts, documents or held-out answers: its model predicts and explains, but cannot
learn.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textodds import _kernels
from textodds.data.named_arrays import AnyArray, Arrays
from textodds.errors import ModelFileError, Unsupported
from textodds.learn.arrays import Floats
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.storage.container import COMPACT_FORMAT, write
from textodds.text.vocabulary import INLINE, LONG, Vocabulary

if TYPE_CHECKING:
    from textodds.data import Batch
    from textodds.model.multilabel.multilabel_model import MultiLabelModel
    from textodds.model.text_model import TextModel

LEVELS = 127  # of a weight, on either side of zero
LONGEST = 255  # bytes of a word that are coded; one that has more is kept as a key
HALF = 60_000.0  # about the largest number of two bytes
DROPPED = ("honest.", "held.", "ledger.", "corpus.", "tally.")
_WORDS = ("vocabulary.keys", "vocabulary.arena", "vocabulary.directory")
_NARROWED = ("vocabulary.scale", "linear.exceptions", "linear.base")
_AS_THEY_ARE = ("linear.starts", "linear.class_of")

Header = dict[str, Any]
Bytes = NDArray[np.uint8]


def save_compact(path: str | os.PathLike[str], model: TextModel | MultiLabelModel) -> None:
    """Write a small file of a model of texts, which answers and explains, and cannot learn."""
    from textodds.model import file

    header, arrays = file._contents(model, counts=False, documents=False)
    write(path, *packed(header, arrays, coarse=model.recipe.learner.entry.needs_documents))


@dataclass(frozen=True, slots=True)
class Agreement:
    """On so many ``texts`` so many answers are the ``same``; by how much a probability differs at most."""

    texts: int
    same: int
    largest: float


def agreement(
    one: TextModel | MultiLabelModel, other: TextModel | MultiLabelModel, batches: Iterable[Batch]
) -> Agreement:
    """How far two models of the same classes answer alike."""
    texts, same, largest = 0, 0, 0.0
    for batch in batches:
        p, q = one.predict_proba(batch.texts), other.predict_proba(batch.texts)  # (N, K)
        if is_multilabel(one):
            assert one.thresholds is not None
            alike = ((p >= one.thresholds) == (q >= one.thresholds)).all(axis=1)
        else:
            alike = p.argmax(axis=1) == q.argmax(axis=1)
        texts, same = texts + len(p), same + int(alike.sum())
        largest = max(largest, float(np.abs(p - q).max(initial=0.0)))
    return Agreement(texts, same, largest)


def packed(header: Header, arrays: Mapping[str, Any], *, coarse: bool) -> tuple[Header, Arrays]:
    """The header and the arrays of a compact file, from those of an ordinary one.

    Weights that were fitted to answer well may be ``coarse``, of a byte; those that are the logarithms of
    probabilities have two bytes, or four.
    """
    if header["form"] not in ("linear", "labels"):
        raise Unsupported(
            f"a model of {header['recipe']['learner']} has covariances, which are not made compact",
            hint="naive Bayes, LDA and softmax regression can be",
        )
    keys, arena = arrays["vocabulary.keys"], arrays["vocabulary.arena"]
    words, order = _words(keys, arena)
    kept: Arrays = {
        name: array
        for name, array in arrays.items()
        if not name.startswith(DROPPED) and name not in (*_WORDS, *_NARROWED, *_AS_THEY_ARE, "linear.dense")
    }
    small: Arrays = dict(words)
    for name in (*_NARROWED, *_AS_THEY_ARE):
        if name in arrays:
            values = np.asarray(arrays[name])
            is_of_words = name in ("vocabulary.scale", "linear.base") and len(values)
            small[name] = _narrow(values[order] if is_of_words else values) if name in _NARROWED else values
    if "linear.dense" in arrays:
        matrix = np.asarray(arrays["linear.dense"]).reshape(len(keys) // 2, -1)
        small |= _weights(matrix[order], kept, coarse=coarse, centred=header["form"] == "linear")
    about = {name: [array.dtype.str, array.size] for name, array in small.items()}
    kept |= {f"compact.{name}": _packed(array) for name, array in small.items()}
    compact = {"words": "words" if "front" in small else "keys", "parts": about}
    return {**header, "format": COMPACT_FORMAT, "ledger": None, "compact": compact}, kept


def unpacked(header: Header, arrays: Mapping[str, Any]) -> Arrays:
    """The arrays of an ordinary file, from those of a compact one."""
    parts = header["compact"]["parts"]
    plain: Arrays = {name: arrays[name] for name in arrays if not name.startswith("compact.")}
    small = {name: _unpacked(arrays[f"compact.{name}"], *about) for name, about in parts.items()}
    if header["compact"]["words"] == "words":
        vocabulary, order = _vocabulary(small["front"], small["rest"], small["letters"])
    else:
        vocabulary = Vocabulary(small["keys"].astype(np.uint64), small["arena"].astype(np.uint8))
        order = np.arange(len(vocabulary))
    plain |= {f"vocabulary.{name}": getattr(vocabulary, name) for name in ("keys", "arena", "directory")}
    for name in _AS_THEY_ARE:
        if name in small:
            plain[name] = small[name]
    for name in _NARROWED:
        if name in small:
            values = small[name].astype(np.float64)
            plain[name] = values if name == "linear.exceptions" or not len(values) else values[order]
    if "weights" in small:
        K = len(header["classes"])
        matrix = small["weights"].reshape(K, -1).T  # (V, K)
        if matrix.dtype == np.int8:
            matrix = _expanded(matrix, plain.pop("linear.tops"))
        plain["linear.dense"] = np.ascontiguousarray(matrix[order].astype(np.float64)).reshape(-1)
    return plain


def _weights(matrix: Floats, kept: Arrays, *, coarse: bool, centred: bool) -> Arrays:
    """Weights (V, K) class by class: of a byte, finer near zero, or else of two.

    What all classes of a word have in common makes no difference where one class is the answer.
    """
    if not coarse:
        return {"weights": _narrow(np.ascontiguousarray(matrix.T))}
    if centred:
        matrix = matrix - matrix.mean(axis=1, keepdims=True)
    tops = np.maximum(np.abs(matrix).max(axis=0, initial=0.0), 1e-300)  # (K,)
    kept["linear.tops"] = tops
    share = np.round(LEVELS * np.sign(matrix) * np.sqrt(np.abs(matrix) / tops))
    return {"weights": np.ascontiguousarray(share.T.astype(np.int8))}


def _expanded(share: NDArray[np.int8], tops: Floats) -> Floats:
    levels = share.astype(np.float64) / LEVELS
    return np.asarray(np.sign(levels) * levels**2 * tops)


def _narrow(values: Floats) -> AnyArray:
    """Numbers of two bytes, or of four where two do not reach."""
    return values.astype(np.float16 if np.abs(values).max(initial=0.0) < HALF else np.float32)


def _packed(array: AnyArray) -> Bytes:
    """The bytes of an array, those of the same place of all numbers together, and then compressed."""
    planes = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, array.itemsize).T
    return np.frombuffer(zlib.compress(planes.tobytes(), 9), dtype=np.uint8)


def _unpacked(content: Bytes, kind: object, size: object) -> AnyArray:
    if kind not in ("|u1", "|i1", "<u4", "<u8", "<f2", "<f4") or type(size) is not int or size < 0:
        raise ModelFileError("a packed tensor is of an unknown type or size")
    dtype = np.dtype(str(kind))
    length = size * dtype.itemsize
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(content.tobytes(), length + 1)
    except zlib.error as error:
        raise ModelFileError(f"a packed tensor is damaged: {error}") from error
    if len(data) != length or not stream.eof:
        raise ModelFileError("a packed tensor has another size than the header says")
    planes = np.frombuffer(data, dtype=np.uint8).reshape(dtype.itemsize, size)
    return np.ascontiguousarray(planes.T).reshape(-1).view(dtype)


def _words(keys: NDArray[np.uint64], arena: Bytes) -> tuple[Arrays, NDArray[np.intp]]:
    """Words in the order of their letters: how many each has of the one before, how many more, and these.

    What is not made of letters, such as the buckets of feature hashing, stays a key. Also the order.
    """
    vocabulary = Vocabulary(keys, arena)
    words = [word.encode() for word in vocabulary.words()]
    order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.intp)
    front, rest, letters, before = bytearray(), bytearray(), bytearray(), b""
    if all(0 < len(word) <= LONGEST for word in words):
        for number in order.tolist():
            word = words[number]
            shared = 0
            for mine, theirs in zip(word, before, strict=False):
                if mine != theirs:
                    break
                shared += 1
            front.append(shared)
            rest.append(len(word) - shared)
            letters += word[shared:]
            before = word
        coded = {
            name: np.frombuffer(bytes(part), dtype=np.uint8)
            for name, part in (("front", front), ("rest", rest), ("letters", letters))
        }
        again, _ = _vocabulary(*coded.values())
        if np.array_equal(again.keys, keys) and np.array_equal(again.arena, arena):
            return coded, order
    return {"keys": keys, "arena": arena}, np.arange(len(words))


def _vocabulary(front: Bytes, rest: Bytes, letters: Bytes) -> tuple[Vocabulary, NDArray[np.intp]]:
    """The vocabulary of coded words, and which of them each of its words is."""
    if len(front) != len(rest) or int(rest.sum(dtype=np.int64)) != len(letters):
        raise ModelFileError("its words are damaged")
    words, before, at, content = [], b"", 0, letters.tobytes()
    for shared, more in zip(front.tolist(), rest.tolist(), strict=True):
        if shared > len(before):
            raise ModelFileError("its words are damaged")
        before = before[:shared] + content[at : at + more]
        words.append(before)
        at += more
    keys, arena = _keys(words)
    hashes = _kernels.word_hashes(keys.reshape(-1), arena)
    long = keys[:, 1] >> np.uint64(56) == LONG
    keys[long, 1] |= (hashes[long] & np.uint64(0xFF_FFFF)) << np.uint64(32)
    order = np.argsort(hashes, kind="stable")
    loose = Vocabulary(np.ascontiguousarray(keys[order]).reshape(-1), arena)
    return loose.select(np.arange(len(loose))), order


def _keys(words: list[bytes]) -> tuple[NDArray[np.uint64], Bytes]:
    """The keys (V, 2) of words, those of long ones without their hash, and the arena of these."""
    lengths = np.array([len(word) for word in words], dtype=np.uint64)
    if len(words) and not lengths.all():
        raise ModelFileError("its words are damaged")
    long = lengths > INLINE
    padded = b"".join((word if len(word) <= INLINE else b"").ljust(INLINE + 1, b"\0") for word in words)
    keys = np.frombuffer(padded, dtype="<u8").reshape(len(words), 2).astype(np.uint64)
    keys[:, 1] |= np.where(long, np.uint64(LONG), lengths) << np.uint64(56)
    starts = np.cumsum(np.where(long, lengths, 0)) - np.where(long, lengths, 0)
    keys[long, 0] = starts[long]
    keys[long, 1] |= lengths[long]
    return keys, np.frombuffer(b"".join(word for word in words if len(word) > INLINE), dtype=np.uint8)
