"""The same texts give the same choice on another processor, which rounds sums and logarithms otherwise."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from textodds import _kernels
from textodds.cli import demo

OTHERS = [
    {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL", "OPENBLAS_CORETYPE": "Haswell"},
    {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"},
    {"OPENBLAS_CORETYPE": "Sandybridge"},
]
CHOOSE = """
import json, sys, warnings
warnings.simplefilter("ignore")  # a feature that is not there cannot be switched off
import textodds
for data in sys.argv[1:]:
    model = textodds.train(data)
    chosen = model.info["chosen"]
    names, losses = zip(*((one["name"], one["log_loss"]) for one in chosen["tried"]))
    print(json.dumps([[model.recipe.learner.C, names], losses]))
"""


@pytest.fixture
def data(tmp_path):
    """Messages of two classes, and of three: long spam is one of its own."""
    two = (demo.messages_folder() / "messages.csv").read_text(encoding="utf-8").splitlines()
    three = [f"long {line}" if line.startswith("spam,") and len(line) > 110 else line for line in two]
    assert sum(line.startswith("long spam,") for line in three) > 20
    paths = [tmp_path / "two.csv", tmp_path / "three.csv"]
    for path, lines in zip(paths, (two, three), strict=True):
        path.write_text("\n".join(lines), encoding="utf-8")
    return paths


def chosen_on(processor, data):
    """What is chosen for each file, in one process."""
    done = subprocess.run(
        [sys.executable, "-c", CHOOSE, *map(str, data)],
        env=os.environ | processor,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(data)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("others", [OTHERS[:1], pytest.param(OTHERS[1:], marks=pytest.mark.long)])
def test_the_choice_is_the_same_on_every_processor(data, others):
    here = chosen_on({}, data)
    for processor in others:
        for (chosen, losses), (expected, near) in zip(chosen_on(processor, data), here, strict=True):
            assert chosen == expected, processor
            np.testing.assert_allclose(losses, near, rtol=0, atol=1e-9, err_msg=str(processor))


@given(arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats(-699, 699)))
def test_exponentials_and_logarithms_are_those_of_numpy(numbers):
    np.testing.assert_allclose(_kernels.exponentials(numbers), np.exp(numbers), rtol=1e-15)
    positive = np.abs(numbers) + 1e-300
    np.testing.assert_allclose(_kernels.logarithms(positive), np.log(positive), rtol=1e-15, atol=1e-300)
