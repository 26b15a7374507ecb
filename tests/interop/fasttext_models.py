"""Trains models with fastText, and writes down what it says: run in a process of its own, by `answers`.

The wheel of `fasttext-numpy2` reads memory that it has not written, and training then ends with NaN at
random. glibc fills new memory with the complement of MALLOC_PERTURB_: zeros, with 255.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np


def answers(folder, models):
    """Train models into a folder; by name, what each says of its texts: the probability of each label.

    A model is a dict: ``lines`` to train on, ``texts`` to answer, ``options``, and how to ``quantise``.
    """
    (folder / "asked.json").write_text(json.dumps(models))
    environment = os.environ | {"MALLOC_PERTURB_": "255"}
    subprocess.run([sys.executable, __file__, str(folder)], env=environment, check=True, timeout=600)
    return json.loads((folder / "said.json").read_text())


def table_sigmoid(scores):
    """fastText's: the largest of 512 values that is not above the sigmoid, 0 and 1 beyond ±8."""
    steps = np.floor((np.clip(scores, -8, 8) + 8).astype(np.float32) * 32) / 32 - 8
    return np.where(scores > 8, 1.0, np.where(scores < -8, 0.0, 1 / (1 + np.exp(-steps))))


def _train(folder):
    import fasttext

    said = {}
    for name, about in json.loads((folder / "asked.json").read_text()).items():
        lines = folder / "lines.txt"
        lines.write_text("".join(f"{line}\n" for line in about["lines"]))
        model = fasttext.train_supervised(str(lines), thread=1, verbose=0, **about["options"])
        if "quantise" in about:
            model.quantize(input=str(lines), thread=1, verbose=0, **about["quantise"])
        model.save_model(str(folder / name))
        model = fasttext.load_model(str(folder / name))
        found = zip(*model.predict(about["texts"], k=-1), strict=True)
        said[name] = [dict(zip(labels, map(float, p), strict=True)) for labels, p in found]
    (folder / "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    _train(Path(sys.argv[1]))
