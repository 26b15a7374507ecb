"""Model files of every kind, changed at random, give answers that are numbers or errors of ours."""

from pathlib import Path

import numpy as np
import pytest

from model_files import put_together
from mutations import KINDS, asks, tried, use, written
from textodds import _kernels
from textodds.model.file import load

SEEDS = Path(__file__).parents[2] / "rust" / "fuzz" / "seeds" / "model"
FEW, MANY = 8, 32  # of 18 kinds; `python tests/mutations.py` makes as many as are wanted


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_a_mutated_file_gives_numbers_or_an_error_of_ours(kind, n, tmp_path):
    assert [found for number in range(n) if (found := tried(tmp_path, kind, number)) is not None] == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "number"), [("softmax", 20255), ("table-qda", 21110)])
def test_mutations_that_once_ended_in_an_error_of_lapack(kind, number, tmp_path):
    """Numbers too large to square reach a solver after learning and merging."""
    assert tried(tmp_path, kind, number) is None


def test_what_is_not_mutated_gives_answers(tmp_path):
    """Else nothing would be tried above."""
    for kind in KINDS:
        put_together(tmp_path / "model", *written(kind))
        use(tmp_path / "model", kind)
        rows, _ = asks(kind)
        assert np.isfinite(load(tmp_path / "model").predict_proba(rows)).all()


def test_the_fuzzer_begins_with_a_model_of_every_kind():
    assert set(KINDS) <= {path.name for path in SEEDS.iterdir()}
    for kind in KINDS:
        data = np.frombuffer((SEEDS / kind).read_bytes(), dtype=np.uint8)
        assert "textodds" in _kernels.layout(data)[0]
        assert load(SEEDS / kind, check=True).has_checksums
