"""A model file that is not as it was written is refused, wherever the damage is."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file

import textodds
from model_files import TEXTS, header_end, layout, parts, put_together, small_model
from textodds import _kernels
from textodds.cli import main
from textodds.errors import ModelFileError
from textodds.model.file import load
from textodds.model.storage.container import sealed
from textodds.serve.updates.fold import open_model
from textodds.training.tables import train_table
from twins import xxh64

ROWS = {"height": [1.0, 2.0, 3.5, 4.0, 5.0, 6.0], "soil": ["sand", "clay", "sand", "clay", "loam", "sand"]}


def text_model():
    """A model with ids, typical texts and counts of more words than it uses."""
    model = small_model(12, min_df=1, unknown="smooth", typical=True)
    model.learn("own2 again", "c02", ids=["one"])
    return model


@pytest.fixture(params=["texts", "a full matrix", "a table"])
def file(request, tmp_path):
    path = tmp_path / "model.textodds"
    if request.param == "a table":
        train_table(ROWS, ["oak", "pine"] * 3).save(path)
    else:
        (text_model() if request.param == "texts" else small_model(2, min_df=2)).save(path)
    return path


def used_in_full(path):
    """Have everything read that a file holds."""
    model = load(path)
    if model.kind == "texts":
        model.predict(TEXTS)
    _ = (model.tally, model.corpus, model.typical, model.held_out, model.document_ids)


def same_json(content, expected):
    try:
        return json.loads(content) == expected
    except ValueError:
        return False


def flips(path, n):
    """Copies of a file with one bit flipped, some in every tensor and in the header."""
    data, random = path.read_bytes(), np.random.default_rng(0)
    places = [(8, header_end(path)), *(place for place in layout(path).values() if place[0] < place[1])]
    for start, end in places:
        for at in random.integers(start, end, n).tolist():
            damaged = bytearray(data)
            damaged[at] ^= 1 << int(random.integers(8))
            yield at, bytes(damaged)


@pytest.mark.parametrize("n", [3, pytest.param(15, marks=pytest.mark.long)])
@pytest.mark.parametrize("read", [lambda path: load(path, check=True), used_in_full], ids=["checked", "used"])
def test_one_flipped_bit_is_refused_whether_the_file_is_checked_or_used(file, read, n):
    spelled = json.loads(file.read_bytes()[8 : header_end(file)])
    for at, damaged in flips(file, n):
        file.write_bytes(damaged)
        if at < header_end(file) and same_json(damaged[8 : header_end(file)], spelled):
            continue  # an escape spelled in capitals says the same
        with pytest.raises(ModelFileError):
            read(file)


def test_the_checksums_are_those_of_the_published_hash(file):
    with safe_open(file, "np") as opened:
        metadata = opened.metadata()
    text = metadata["textodds"]
    assert text.endswith(f'"xxh64": "{xxh64(text[:-18].encode()):016x}"}}')
    listed = json.loads(text)["tensors"]
    assert {name: entry[2] for name, entry in listed.items()} == {
        name: f"{xxh64(array.tobytes()):016x}" for name, array in load_file(file).items()
    }


@given(st.binary(max_size=300), st.integers(0, 20))
def test_the_kernel_is_its_twin_on_any_bytes(content, start):
    assert _kernels.xxh64(np.frombuffer(content, dtype=np.uint8)[start:]) == xxh64(content[start:])


def test_the_hash_is_as_it_was_published():
    assert _kernels.xxh64(np.zeros(0, np.uint8)) == 0xEF46DB3751D8E999
    assert _kernels.xxh64(np.frombuffer(b"abc", dtype=np.uint8)) == 0x44BC2CF5AD770999


def test_a_tensor_that_is_added_or_taken_away_is_noticed(file):
    arrays, header = parts(file)
    with safe_open(file, "np") as opened:
        listed = json.loads(opened.metadata()["textodds"])["tensors"]
    whole = sealed({**header, "tensors": listed})
    for changed in ({**arrays, "more": np.zeros(3)}, dict(list(arrays.items())[1:])):
        put_together(file, changed, whole)
        with pytest.raises(ModelFileError):
            load(file)


def test_a_file_without_checksums_is_read_as_before(file):
    arrays, header = parts(file)
    put_together(file, arrays, header)
    model = load(file, check=True)
    assert not model.has_checksums
    model.save(file)
    assert load(file, check=True).has_checksums


def test_counts_that_have_another_fingerprint_are_refused_without_checksums(tmp_path):
    path = tmp_path / "model"
    small_model(12).save(path)
    arrays, header = parts(path)
    counts = arrays["tally.occurrences"].copy()
    counts[0] += 1
    put_together(path, {**arrays, "tally.occurrences": counts}, header)
    model = textodds.load(path)
    with pytest.raises(ModelFileError, match="fingerprint"):
        _ = model.tally


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """A model of which one bit of the documents is flipped, which no answer needs."""
    monkeypatch.chdir(tmp_path)
    path = Path("damaged.textodds")
    small_model(2).save("sound.textodds")
    small_model(2).save(path)
    data = bytearray(path.read_bytes())
    data[layout(path)["corpus.codes"][0]] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "command",
    [
        "inspect damaged.textodds --check",
        "learn damaged.textodds --say more --label-is c00",
        "forget damaged.textodds --say more --label-is c00",
        "merge sound.textodds damaged.textodds -o both.textodds",
        "merge damaged.textodds sound.textodds -o both.textodds",
    ],
)
def test_commands_that_change_or_check_refuse_what_an_answer_does_not_need(damaged, command, capsys):
    before = damaged.read_bytes()
    assert main(["predict", str(damaged), "--say", "a b"]) == 0
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert "damaged.textodds" in said
    assert "`corpus.codes` is not as it was written" in said
    assert damaged.read_bytes() == before
    assert not Path("both.textodds").exists()


def test_the_service_refuses_it_too(damaged):
    with pytest.raises(ModelFileError, match=r"damaged\.textodds.*corpus\.codes"):
        open_model(damaged)


def test_inspect_says_what_came_of_the_check(damaged, capsys):
    assert main(["inspect", "sound.textodds", "--check"]) == 0
    assert "  checked       every byte is as it was written\n" in capsys.readouterr().out
    assert main(["inspect", "sound.textodds"]) == 0
    assert "checked" not in capsys.readouterr().out
    put_together(damaged, *parts("sound.textodds"))
    assert main(["inspect", str(damaged), "--check"]) == 0
    assert "  checked       consistent, but written without checksums" in capsys.readouterr().out
