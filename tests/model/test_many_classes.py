"""Very many classes cost what they contain, not rows by classes: each in a process that may take no more."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pairs import together
from textodds.learn.calibration import MOST_CELLS, few_enough
from textodds.learn.forms.linear import LOG_ZERO, Weights

LIMIT = """
import resource, warnings
import numpy as np
import textodds
from textodds.learn import calibration
from textodds.study.audit import audit

np.ones((300, 300)) @ np.ones((300, 300))  # what it takes to multiply is there then


def within(megabytes):
    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + megabytes * 2**20, -1))
"""
CALIBRATED = """
random, N, K = np.random.default_rng(0), 100, 8000
scores, codes = random.normal(size=(1, N, K)), random.integers(0, K, N)  # 6 MB
scores[0, np.arange(N), codes] += 12.0
calibration.CELLS = 1 << 17
within(45)
found = calibration.Calibration.of_parts(scores, codes, np.ones(N), offset=np.zeros((N, K)))
assert found.slopes.shape == (1,)
"""
AUDITED = """
K = 10_000
labels = [f"{i % K:05}" for i in range(2 * K)]
texts = [f"own{label} own{label} also" for label in labels]
texts[7] = texts[8]
within(130)
found = audit(texts, labels, learner="multinomial", textbook=True, threads=1)
assert (found.suspects[0].row, found.suspects[0].suggested) == (8, labels[8]), found.suspects[0]
"""
INSPECTED = """
K = 20_000
labels = [f"{i % K:05}" for i in range(K)]
model = textodds.train([f"own{label} also" for label in labels], labels, learner="multinomial", textbook=True)
within(110)
assert model.top_words("00007", 1)[0][0] == "own00007"
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="takes /proc and RLIMIT_AS")
@pytest.mark.parametrize("work", [CALIBRATED, AUDITED, INSPECTED], ids=["calibrated", "audited", "inspected"])
def test_many_classes_take_little_memory(work):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMIT + work)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


def test_of_many_classes_fewer_rows_are_left_out_evenly_spread():
    assert few_enough(range(5000), 3000) == list(range(5000))
    some = few_enough(range(5000), 20_000)
    assert len(some) == MOST_CELLS // 20_000
    assert (some[0], some[-1], len(set(some))) == (0, 4999, len(some))
    assert len(few_enough(range(150), 10**6)) == 100  # fewer would calibrate nothing


@together
@pytest.mark.parametrize("least", [-3.0, LOG_ZERO])
@pytest.mark.parametrize("has_base", [False, True])
def test_columns_of_sparse_weights_are_those_of_the_full_matrix(least, has_base):
    random, V, K = np.random.default_rng(0), 40, 30
    seen = random.random((V, K)) < 0.15
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.uint64)
    class_of = np.nonzero(seen)[1].astype(np.uint32)
    more = {"slope": random.normal(size=K), "base": random.normal(size=V)} if has_base else {}
    default = np.full(K, least) if least == LOG_ZERO else random.normal(size=K)
    weights = Weights.of_cells(default, starts, class_of, random.normal(size=len(class_of)), **more)
    assert weights.dense is None
    features = random.permutation(V)[:25]
    own, sums = weights.columns(features, [3, 0, 29])
    rows = weights.rows(features)
    scale = np.abs(rows).max()
    np.testing.assert_allclose(own, rows[:, [3, 0, 29]], rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(sums, rows.sum(axis=1), rtol=1e-12, atol=1e-12 * K * scale)
