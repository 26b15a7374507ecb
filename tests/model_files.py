"""Taking model files apart and putting them together again, damaged."""

import json

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import textodds
from textodds import _kernels
from textodds.errors import ModelFileError

LONG = "pneumonoultramicroscopicsilicovolcanoconiosis"
TEXTS = ["a b", f"b {LONG} c", "c d d", "e f"]


def small_model(classes=2, **options):
    """A model with a long word; with twelve classes its weights are stored as exceptions."""
    labels = [f"c{i % 2:02}" for i in range(len(TEXTS))] + [f"c{k:02}" for k in range(2, classes)]
    extra = [f"own{k} own{k}b own{k}c" for k in range(2, classes)]
    return textodds.train(TEXTS + extra, labels, **{"learner": "multinomial", **options})


def parts(path):
    """The tensors and the header of a model file, without checksums: as earlier versions wrote them."""
    with safe_open(path, "np") as file:
        header = json.loads(file.metadata()["textodds"])
    for checksums in ("tensors", "xxh64"):
        header.pop(checksums, None)
    return load_file(path), header


def put_together(path, arrays, header):
    """Write a model file of these tensors and this header (an object, or text as it is)."""
    text = header if isinstance(header, str) else json.dumps(header)
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path, {"textodds": text})


def header_end(path):
    """Where the header of a safetensors file ends."""
    return 8 + int.from_bytes(path.read_bytes()[:8], "little")


def with_flipped_header(path, flip, every):
    """The file again and again, each time with these bits of one byte of its header flipped."""
    data = bytearray(path.read_bytes())
    for at in range(flip % every, header_end(path), every):
        data[at] ^= flip
        path.write_bytes(data)
        yield path
        data[at] ^= flip


def with_flipped_tensors(path, times):
    """The file so many times, each time with a few bytes of its tensors changed."""
    random, data, start = np.random.default_rng(0), path.read_bytes(), header_end(path)
    for _ in range(times):
        damaged = bytearray(data)
        for at in random.integers(start, len(data), random.integers(1, 4)):
            damaged[at] ^= int(random.integers(1, 256))
        path.write_bytes(damaged)
        yield path


def with_tensors_of(path, value):
    """The file with one tensor after the other overwritten by a byte."""
    data = path.read_bytes()
    for start, end in layout(path).values():
        path.write_bytes(data[:start] + bytes([value]) * (end - start) + data[end:])
        yield path


def used(path):
    """The model of a file after all was done with it that can be done, or None where it is refused.

    Numbers in a damaged file may be anything, so what NumPy says of them is not of interest here.
    """
    try:
        model = textodds.load(path)
    except ModelFileError:
        return None
    with np.errstate(all="ignore"):
        model("a b zzz")
        model.predict([*TEXTS, "", "zzz"])
        model.predict_proba(TEXTS)
        model.rows(TEXTS)
        model.vocabulary.words()
        if len(model.classes_) > 1:
            model.explain(TEXTS[1])
        try:
            tally = model.tally
        except (ModelFileError, textodds.errors.Unsupported):
            return model
        tally.vocabulary.words()
        tally.fingerprint()
        _ = tally + tally
    return model


def layout(path):
    """Where each tensor lies in a file: name to (start, end)."""
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    return {name: (start, end) for name, _, _, start, end in _kernels.layout(data)[1]}
