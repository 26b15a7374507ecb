"""Files of word vectors: every format, and every error."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textodds.data.word_vectors import entries_of
from textodds.errors import BadFile

WORDS = ["the", "free", "Zürich", "new york"]
VECTORS = np.array([[1, -0.5], [0.25, 3e-4], [-7, 0.125], [2, 4]], np.float32)


def text(counts=False):
    lines = [f"{word} {a!r} {b!r}" for word, (a, b) in zip(WORDS, VECTORS.tolist(), strict=True)]
    return "".join(f"{line}\n" for line in ([f"{len(WORDS)} 2", *lines] if counts else lines)).encode()


def binary(end=b"\n"):
    pairs = zip([*WORDS[:3], "york"], VECTORS, strict=True)
    return b"4 2\n" + b"".join(word.encode() + b" " + row.tobytes() + end for word, row in pairs)


def tensors(arrays):
    """A safetensors file of arrays by name, each of a type that safetensors knows."""
    header, content = {}, b""
    for name, (kind, array) in arrays.items():
        data = array.tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(content), len(content) + len(data)],
        }
        content += data
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + content


def all_of(path):
    words, rows = [], [np.zeros((0, 2), np.float32)]
    for entries in entries_of(str(path)):
        chosen = [i for i, word in enumerate(entries.words) if word is not None]
        words += [entries.words[i] for i in chosen]
        rows.append(entries.vectors(chosen))
    return words, np.concatenate(rows[1:] or rows)


@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    "content",
    [text(), text(counts=True), text().replace(b"\n", b" \r\n"), text().rstrip(), binary(), binary(b"")],
    ids=["glove", "fasttext", "spaces and crlf", "no last newline", "binary", "binary without newlines"],
)
def test_formats_of_one_file(tmp_path, content, pack):
    (tmp_path / "v").write_bytes(pack(content))
    words, rows = all_of(tmp_path / "v")
    assert words[:3] == WORDS[:3]
    assert words[3] in ("new york", "york")
    np.testing.assert_array_equal(rows, VECTORS)


@pytest.mark.parametrize("kind", ["F64", "F32", "F16", "BF16"])
def test_safetensors_with_a_list_of_words(tmp_path, kind):
    exact = VECTORS.copy()
    exact[1, 1] = 0.5
    if kind == "BF16":
        stored = (exact.view("<u4") >> 16).astype("<u2")
    else:
        stored = exact.astype({"F64": "<f8", "F32": "<f4", "F16": "<f2"}[kind])
    (tmp_path / "some.safetensors").write_bytes(tensors({"weight": (kind, stored)}))
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    words, rows = all_of(tmp_path / "some.safetensors")
    assert words == WORDS
    np.testing.assert_array_equal(rows, exact)


def test_the_folder_of_model2vec(tmp_path):
    arrays = {
        "embeddings": ("F32", VECTORS[:2]),
        "mapping": ("I64", np.array([1, 0, 1])),
        "weights": ("F64", np.array([2.0, 1.0, 1.0])),
    }
    (tmp_path / "model.safetensors").write_bytes(tensors(arrays))
    vocabulary = {"model": {"type": "WordPiece", "vocab": {"free": 1, "##ing": 2, "the": 0}}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    words, rows = all_of(tmp_path)
    assert words == ["the", "free"]
    np.testing.assert_array_equal(rows, [2 * VECTORS[1], VECTORS[0]])


def test_pieces_of_unigram_models_are_words_where_they_begin_one(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(tensors({"embeddings": ("F32", VECTORS[:3])}))
    vocabulary = {"model": {"vocab": [["<unk>", 0.0], ["▁free", -1.0], ["ing", -2.0]]}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(vocabulary))
    words, rows = all_of(tmp_path)
    assert words == ["free"]
    np.testing.assert_array_equal(rows, VECTORS[1:2])


def test_words_that_are_no_text_are_passed_over(tmp_path):
    (tmp_path / "v").write_bytes(text() + b"Z\xc3 1 2\n")
    assert len(all_of(tmp_path / "v")[0]) == 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is empty"),
        (b"a 1 2\nb 1\n", "line 2: 1 numbers, where there should be 2"),
        (b"a 1 2\nb 1 nan\n", "line 2: a number of the vector is not finite"),
        (b"a 1 2\nb 1 1e60\n", "line 2: a number of the vector is not finite"),
        (b"a 1 2\nb c d\n", "line 2: what follows the word is not all numbers"),
        (b"3 2\na 1 2\nb 1 2\n", "line 3: the end, after 2 entries of 3"),
        (b"1 2\na 1 2\nb 1 2\n", "line 3: more entries than the 1 of the first line"),
        (b"just some text\n", "line 1: `just some text` is not a word and its numbers"),
        (b"3 99999999\na 1 2\n", "vectors of 99,999,999 numbers"),
        (binary()[:-6], "entry 4: the file ends here"),
        (binary() + b"more", "the file goes on"),
        (binary().replace(VECTORS[1].tobytes(), np.float32([np.nan, 1]).tobytes()), "entry 2: a number"),
        (gzip.compress(text(), mtime=0)[:-9], "ends in the middle of its gzip stream"),
        (tensors({"e": ("F32", VECTORS)})[:-3], "is cut off"),
        (tensors({"e": ("F32", VECTORS)}), "no words: neither"),
    ],
)
def test_errors_say_where(tmp_path, content, problem):
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(BadFile, match=problem.replace("(", r"\(")) as caught:
        all_of(tmp_path / "v")
    assert caught.value.hint


def test_a_missing_file_and_a_vocabulary_that_is_too_long(tmp_path):
    with pytest.raises(BadFile, match="no file at"):
        all_of(tmp_path / "none.vec")
    (tmp_path / "model.safetensors").write_bytes(tensors({"embeddings": ("F32", VECTORS)}))
    (tmp_path / "vocab.txt").write_text("a\nb\nc\nd\ne\n")
    with pytest.raises(BadFile, match="entry 5: no vector"):
        all_of(tmp_path)


SEEDS = [
    text(),
    text(counts=True),
    binary(),
    gzip.compress(text(), mtime=0),
    tensors({"embeddings": ("F32", VECTORS)}),
]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.sampled_from(SEEDS),
    changes=st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=4), st.integers(0, 4)), max_size=4),
    length=st.integers(0, 400),
)
def test_any_bytes_give_vectors_or_a_clear_error(tmp_path, seed, changes, length):
    content = seed[:length] if length < 100 else seed
    for at, put, gone in changes:
        content = content[:at] + put + content[at + gone :]
    (tmp_path / "v").write_bytes(content)
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    try:
        words, rows = all_of(tmp_path / "v")
    except BadFile:
        return
    assert len(words) == len(rows)
    assert np.isfinite(rows).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    at=st.integers(0, 80), put=st.sampled_from(["", "1", "-1", "[", "null", '"', "{", "1e99", "9" * 25]),
    gone=st.integers(0, 5),
)  # fmt: skip
def test_any_vocabulary_gives_vectors_or_a_clear_error(tmp_path, at, put, gone):
    (tmp_path / "model.safetensors").write_bytes(tensors({"embeddings": ("F32", VECTORS)}))
    whole = json.dumps({"model": {"type": "WordLevel", "vocab": {"the": 0, "free": 1, "you": 3}}})
    (tmp_path / "tokenizer.json").write_text(whole[:at] + put + whole[at + gone :])
    try:
        words, rows = all_of(tmp_path)
    except BadFile:
        return
    assert len(words) == len(rows)
