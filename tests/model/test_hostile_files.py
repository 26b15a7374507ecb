"""A file may be anything. It gives a ModelFileError or a model that works; nothing crashes or is run."""

import json
import os
import pickle
import struct

import numpy as np
import pytest

import textodds
from model_files import (
    parts,
    put_together,
    small_model,
    used,
    with_flipped_header,
    with_flipped_tensors,
    with_tensors_of,
)
from textodds.errors import ModelFileError
from textodds.model.storage.container import COMPACT_FORMAT, SPAN_FORMAT


@pytest.fixture(params=[2, 12], ids=["full matrix", "exceptions"])
def file(request, tmp_path):
    """A model file, whose words and counts differ so that both are there."""
    path = tmp_path / "model"
    small_model(request.param, min_df=2 if request.param == 2 else 1, unknown="smooth").save(path)
    return path


def test_every_truncation_is_refused(file):
    for length in reversed(range(file.stat().st_size)):
        os.truncate(file, length)
        with pytest.raises(ModelFileError):
            textodds.load(file)


def test_anything_behind_the_tensors_is_refused(file):
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(ModelFileError):
        textodds.load(file)


@pytest.mark.slow
@pytest.mark.parametrize("every", [11, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("flip", [0x01, 0x10, 0x80])
def test_flips_in_the_header_are_refused_or_harmless(file, flip, every):
    for _ in with_flipped_header(file, flip, every):
        used(file)


@pytest.mark.slow
def test_random_flips_in_the_tensors_are_refused_or_harmless(file):
    for _ in with_flipped_tensors(file, 400):
        used(file)


@pytest.mark.parametrize("value", [0x00, 0xFF])
def test_tensors_overwritten_whole_are_refused_or_harmless(file, value):
    for _ in with_tensors_of(file, value):
        used(file)


@pytest.mark.parametrize(
    "name", ["an empty file", "eight bytes", "text", "a pickle", "zeros", "ones", "a gzip"]
)
def test_files_of_other_kinds_are_refused(name, tmp_path):
    content = {
        "an empty file": b"",
        "eight bytes": bytes(8),
        "text": b"text,label\nfree phone,spam\n" * 50,
        "a pickle": pickle.dumps({"weights": list(range(1000))}),
        "zeros": bytes(10_000),
        "ones": b"\xff" * 10_000,
        "a gzip": b"\x1f\x8b\x08" + bytes(100),
    }
    (tmp_path / "m").write_bytes(content[name])
    with pytest.raises(ModelFileError, match=str(tmp_path / "m")):
        textodds.load(tmp_path / "m")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match=str(tmp_path)):
        textodds.load(tmp_path)


class Trap:
    def __reduce__(self):
        return pytest.fail, ("the file was run",)


def test_a_pickle_is_not_run(tmp_path):
    (tmp_path / "m").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        textodds.load(tmp_path / "m")


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**32, 2**63, 2**64 - 1, 2**64 - 8])
def test_any_header_length_is_refused(file, length):
    file.write_bytes(struct.pack("<Q", length) + file.read_bytes()[8:])
    with pytest.raises(ModelFileError):
        textodds.load(file)


def raw(path, header, data=b""):
    """A safetensors file with this JSON header, written by hand."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"__metadata__": {}},
        {"__metadata__": {"textodds": "not json"}},
        {"__metadata__": {"textodds": "[]"}},
        {"__metadata__": {"textodds": "{}"}},
        {"__metadata__": {"textodds": '{"format": 1}'}},
        {"__metadata__": {"textodds": '{"format": 1.5}'}},
        {"__metadata__": {"textodds": '{"format": "1"}'}},
        {"__metadata__": {"textodds": '{"format": 99}'}},
        {"__metadata__": {"textodds": "[" * 100_000}},
        {"__metadata__": {"textodds": '{"a":' * 100_000}},
        {"__metadata__": {"textodds": 1}},
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\xff\xfe",
        {"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}},
        {"x": {"dtype": "F64", "shape": [2**62, 2**62], "data_offsets": [0, 8]}},
        {"x": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}},
        {"x": {"dtype": "F64", "shape": [1], "data_offsets": [2**63, 2**63 + 8]}},
        {"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 8]}},
        {"x": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}},
    ],
    ids=lambda header: str(header)[:60],
)
def test_any_odd_header_is_refused(header, tmp_path):
    raw(tmp_path / "m", header, bytes(8))
    with pytest.raises(ModelFileError):
        textodds.load(tmp_path / "m")
    raw(tmp_path / "m", header)
    with pytest.raises(ModelFileError):
        textodds.load(tmp_path / "m")


def test_a_later_format_says_to_upgrade(file):
    arrays, header = parts(file)
    put_together(file, arrays, {**header, "format": SPAN_FORMAT + 1})
    with pytest.raises(ModelFileError, match="upgrade"):
        textodds.load(file)


def test_only_compact_files_have_their_format(file):
    arrays, header = parts(file)
    for changed in ({**header, "format": COMPACT_FORMAT}, {**header, "compact": {}}):
        put_together(file, arrays, changed)
        with pytest.raises(ModelFileError, match="are compact"):
            textodds.load(file)


def set_in(header, path, value):
    """The header with one entry changed."""
    header = json.loads(json.dumps(header))
    place = header
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return header


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["classes"], []),
        (["classes"], None),
        (["classes"], "ab"),
        (["classes"], [1, 2]),
        (["classes"], ["only one"]),
        (["classes"], ["same"] * 12),
        (["classes"], [f"c{k}" for k in range(50)]),
        (["recipe"], None),
        (["recipe"], {}),
        (["recipe", "settings"], {"unit": "words", "surprise": 1}),
        (["recipe", "settings", "unit"], "wurds"),
        (["recipe", "settings", "unit"], 5),
        (["recipe", "settings", "ngrams"], [0, 0]),
        (["recipe", "settings", "ngrams"], [1, 10**30]),
        (["recipe", "settings", "ngrams"], "ab"),
        (["recipe", "settings", "ngrams"], None),
        (["recipe", "settings", "ngrams"], [-1, 1]),
        (["recipe", "settings", "hash_bits"], 64),
        (["recipe", "settings", "hash_bits"], -1),
        (["recipe", "settings", "hash_seed"], 2**40),
        (["recipe", "settings", "stop_words"], [1, None]),
        (["recipe", "settings", "stop_words"], 7),
        (["recipe", "settings", "vocabulary"], [[]]),
        (["recipe", "settings", "lower"], "perhaps"),
        (["recipe", "selection", "min_df"], "many"),
        (["recipe", "selection", "max_features"], -1),
        (["recipe", "unknown"], "surprise"),
        (["recipe", "learner"], {"learner": "random-forest"}),
        (["recipe", "learner", "learner"], "os.system"),
        (["recipe", "learner", "alpha"], "much"),
        (["recipe", "learner", "alpha"], -1.0),
        (["recipe", "learner", "prior"], "sometimes"),
        (["info"], 5),
        (["presence"], "no"),
    ],
    ids=str,
)
def test_a_header_with_a_wrong_entry_is_refused(file, path, value):
    arrays, header = parts(file)
    put_together(file, arrays, set_in(header, path, value))
    with pytest.raises(ModelFileError):
        textodds.load(file)


def test_a_missing_entry_is_refused(file):
    arrays, header = parts(file)
    for entry in ("format", "classes", "presence", "is_posterior", "recipe", "info", "tally"):
        put_together(file, arrays, {key: value for key, value in header.items() if key != entry})
        with pytest.raises(ModelFileError):
            textodds.load(file)


def opened_with_counts(path):
    """The model, its documents and its counts."""
    model = textodds.load(path)
    _ = model.corpus
    return model.tally


def test_a_missing_tensor_is_refused_and_named(file):
    arrays, header = parts(file)
    for missing in arrays:
        put_together(file, {name: array for name, array in arrays.items() if name != missing}, header)
        with pytest.raises(ModelFileError, match=r"missing|damaged"):
            opened_with_counts(file)


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4", "u8", "u4", "u2", "u1", "i1", "?"])
def test_a_tensor_of_a_wrong_type_is_refused(file, kind):
    """The counts are stored in the smallest of four types, so that any whole type will do for them."""
    arrays, header = parts(file)
    for name, array in arrays.items():
        whole = np.dtype(kind).kind in "ui"
        is_narrow = name.startswith("tally.") or name in ("corpus.words", "corpus.lengths", "corpus.class_of")
        if array.dtype == np.dtype(kind) or (is_narrow and whole):
            continue
        put_together(file, {**arrays, name: array.astype(kind)}, header)
        with pytest.raises(ModelFileError):
            opened_with_counts(file)


@pytest.mark.parametrize(
    "reshaped",
    [
        lambda array: array.reshape(1, *array.shape),
        lambda array: array.reshape(*array.shape, 1),
        lambda array: np.concatenate([array, array]),
        lambda array: array[:-1],
        lambda array: array[:0],
    ],
    ids=["a row", "a column", "twice", "one less", "none"],
)
def test_a_tensor_of_a_wrong_shape_is_refused(file, reshaped):
    arrays, header = parts(file)
    for name, array in arrays.items():
        changed = reshaped(array)
        if changed.shape == array.shape or (
            name.endswith("arena") and array.ndim == changed.ndim and len(changed) > len(array)
        ):
            continue  # more bytes behind the last word are harmless
        put_together(file, {**arrays, name: changed}, header)
        with pytest.raises(ModelFileError):
            opened_with_counts(file)


def changed(array, at, value):
    """The array with one value changed."""
    array = array.copy()
    array.flat[at] = value
    return array


def long_word(keys):
    """Where the key of the long word is: its tag is 0xFF."""
    return int(np.flatnonzero((keys[1::2] >> np.uint64(56)) == 0xFF)[0])


@pytest.fixture
def sparse_file(tmp_path):
    """A file with exceptions, all words and a long word."""
    path = tmp_path / "model"
    small_model(12).save(path)
    return path


@pytest.mark.parametrize("offset", [1, 10**6, 2**63, 2**64 - 1])
def test_a_word_that_lies_outside_its_bytes_is_refused(sparse_file, offset):
    arrays, header = parts(sparse_file)
    keys = arrays["vocabulary.keys"]
    at = 2 * long_word(keys)
    put_together(sparse_file, {**arrays, "vocabulary.keys": changed(keys, at, offset)}, header)
    with pytest.raises(ModelFileError):
        textodds.load(sparse_file)


def test_a_word_of_length_zero_is_refused(sparse_file):
    arrays, header = parts(sparse_file)
    keys = arrays["vocabulary.keys"]
    put_together(sparse_file, {**arrays, "vocabulary.keys": changed(changed(keys, 0, 0), 1, 0)}, header)
    with pytest.raises(ModelFileError):
        textodds.load(sparse_file)


@pytest.mark.parametrize("value", [12, 2**31, 2**32 - 1])
def test_a_weight_of_a_class_that_is_not_there_is_refused(sparse_file, value):
    arrays, header = parts(sparse_file)
    for at in (0, 5, -1):
        put_together(
            sparse_file, {**arrays, "linear.class_of": changed(arrays["linear.class_of"], at, value)}, header
        )
        with pytest.raises(ModelFileError):
            textodds.load(sparse_file)


@pytest.mark.parametrize("value", [2**32, 2**63, 2**64 - 1])
@pytest.mark.parametrize("at", [0, 3, -1])
def test_weights_that_start_outside_are_refused(sparse_file, at, value):
    arrays, header = parts(sparse_file)
    put_together(
        sparse_file, {**arrays, "linear.starts": changed(arrays["linear.starts"], at, value)}, header
    )
    with pytest.raises(ModelFileError):
        textodds.load(sparse_file)


@pytest.mark.parametrize("at", [0, 3, -1])
def test_an_index_of_words_that_leads_outside_is_refused(sparse_file, at):
    arrays, header = parts(sparse_file)
    index = arrays["vocabulary.directory"]
    put_together(sparse_file, {**arrays, "vocabulary.directory": changed(index, at, 2**32 - 1)}, header)
    with pytest.raises(ModelFileError):
        textodds.load(sparse_file)


def test_words_that_are_not_utf8_do_no_harm(sparse_file):
    arrays, header = parts(sparse_file)
    arrays["vocabulary.arena"] = np.full_like(arrays["vocabulary.arena"], 0xFF)
    keys = arrays["vocabulary.keys"]
    short = int(np.flatnonzero((keys[1::2] >> np.uint64(56)) == 1)[0])
    arrays["vocabulary.keys"] = changed(keys, 2 * short, 0xFF)
    put_together(sparse_file, arrays, header)
    model = used(sparse_file)
    assert "\ufffd" in model.vocabulary.words()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_weights_that_are_no_numbers_are_refused(file, value):
    arrays, header = parts(file)
    for name, array in arrays.items():
        if array.dtype == np.float64 and array.size:
            for at in (0, -1):
                put_together(file, {**arrays, name: changed(array, at, value)}, header)
                with pytest.raises(ModelFileError, match=r"not a finite number|not a number"):
                    textodds.load(file)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("tally.class_of", 0, 200),
        ("tally.starts", 1, 200),
        ("tally.starts", -1, 200),
        ("tally.starts", 0, 1),
    ],
)
def test_damaged_counts_are_refused_when_they_are_wanted(sparse_file, name, at, value):
    arrays, header = parts(sparse_file)
    put_together(sparse_file, {**arrays, name: changed(arrays[name], at, value)}, header)
    model = textodds.load(sparse_file)
    assert model("a b").label == "c00"
    for wanted in (lambda: model.tally, lambda: model.learn("a", "c00"), lambda: model + model):
        with pytest.raises(ModelFileError, match="counts"):
            wanted()


@pytest.mark.parametrize("name", ["class_documents", "occurrences", "documents"])
@pytest.mark.parametrize("value", [-1, -(2**63), 2**63 - 1])
def test_counts_that_are_none_are_refused(sparse_file, name, value):
    """Below zero is no count; the largest of 64 bits is, but cannot be added to."""
    arrays, header = parts(sparse_file)
    counts = changed(arrays[f"tally.{name}"].astype(np.int64), 0, value)
    put_together(sparse_file, {**arrays, f"tally.{name}": counts}, header)
    model = textodds.load(sparse_file)
    if value < 0:
        with pytest.raises(ModelFileError):
            _ = model.tally
    else:
        with pytest.raises(textodds.errors.TextoddsError):
            _ = model.tally + model.tally


@pytest.mark.parametrize(
    "tally",
    [
        5,
        [],
        {},
        {"classes": [], "fraction": 0, "pruned": 0},
        {"classes": None, "fraction": 0, "pruned": 0},
        {"classes": [f"c{k:02}" for k in range(12)], "fraction": 29, "pruned": 0},
        {"classes": [f"c{k:02}" for k in range(12)], "fraction": -1, "pruned": 0},
        {"classes": [f"c{k:02}" for k in range(12)], "fraction": 10**30, "pruned": 0},
        {"classes": [f"c{k:02}" for k in range(12)], "fraction": "x", "pruned": 0},
        {"classes": [f"c{k:02}" for k in range(12)], "fraction": 0, "pruned": None},
        {"classes": ["same"] * 12, "fraction": 0, "pruned": 0},
        {"classes": [f"c{k:02}" for k in range(11, -1, -1)], "fraction": 0, "pruned": 0},
    ],
    ids=lambda tally: str(tally)[-60:],
)
def test_a_damaged_header_of_the_counts_is_refused_when_they_are_wanted(sparse_file, tally):
    arrays, header = parts(sparse_file)
    put_together(sparse_file, arrays, {**header, "tally": tally})
    with pytest.raises(ModelFileError):
        opened_with_counts(sparse_file)


def test_counts_whose_words_are_out_of_order_are_refused(sparse_file):
    """Sums go through the words in order: out of order they would be wrong without a word."""
    arrays, header = parts(sparse_file)
    keys = arrays["vocabulary.keys"].reshape(-1, 2)[::-1].ravel()
    put_together(
        sparse_file, {**arrays, "tally.keys": keys, "tally.arena": arrays["vocabulary.arena"]}, header
    )
    with pytest.raises(ModelFileError):
        opened_with_counts(sparse_file)


def test_counts_whose_long_word_lies_outside_are_refused(sparse_file):
    arrays, header = parts(sparse_file)
    keys = arrays["vocabulary.keys"]
    keys = changed(keys, 2 * long_word(keys), 10**9)
    put_together(
        sparse_file, {**arrays, "tally.keys": keys, "tally.arena": arrays["vocabulary.arena"]}, header
    )
    with pytest.raises(ModelFileError):
        opened_with_counts(sparse_file)
