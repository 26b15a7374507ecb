"""Files of format 3 that were written once are read for ever, and training gives what it gave then."""

import json
from pathlib import Path

import make_v3
import numpy as np
import pytest

import textodds
from model_files import parts
from textodds.training import table_columns

HERE = Path(__file__).resolve().parent
NAMES = ["v3-table", "v3-qda", "v3-typical"]
EXACT = ("classes", "class_documents", "labels")
MEASURED = ("scores", "log_joint", "p_values", "surprises")


def expected_of(name):
    """What the golden model said when it was made."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def agree(model, name, rtol=1e-12):
    """The model says what is expected; numbers up to rounding, all else exactly."""
    got, expected = make_v3.answers(model, name), expected_of(name)
    for key in EXACT:
        assert got[key] == expected[key]
    for key in MEASURED:
        np.testing.assert_allclose(got[key], expected[key], rtol=rtol, atol=rtol)
    return got, expected


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_says_what_it_said_when_it_was_made(name):
    got, expected = agree(textodds.load(HERE / f"{name}.textodds"), name)
    assert json.loads(json.dumps(got["recipe"])) == expected["recipe"]
    assert got["evidence"] == expected["evidence"]


# Not v3-typical: typical texts are now drawn by their hash, so that its p-values are of other folds.
@pytest.mark.parametrize(("name", "rtol"), [("v3-table", 1e-4), ("v3-qda", 1e-10)])
def test_training_today_gives_what_it_gave_then(name, rtol, monkeypatch):
    """Kinds of columns, intervals, counts, moments, words; what an optimiser weighs them by, nearly."""
    if name == "v3-table":  # intervals end with the range of the values since then, and were open before
        monkeypatch.setattr(table_columns, "with_range", lambda edges, *_: edges)
    model = make_v3.models()[name]
    if name == "v3-table":  # so few rows were calibrated then, and are not now
        then = textodds.load(HERE / f"{name}.textodds")
        model.calibration, model.typical = then.calibration, then.typical
    got, expected = agree(model, name, rtol)
    ours, theirs = json.loads(json.dumps(got["recipe"])), expected["recipe"]
    for part in theirs:
        if part != "calibration":
            assert ours[part] == theirs[part]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_model_is_small(name):
    assert (HERE / f"{name}.textodds").stat().st_size < 12_000


def test_the_golden_table_has_every_block_and_a_weighing_of_them():
    model = textodds.load(HERE / "v3-table.textodds")
    assert [block.kind for block in model.recipe.blocks] == ["numbers", "bins", "categories", "words"]
    assert model.calibration is not None
    assert model.typical is not None
    assert (model.slopes != 1).all()


def test_a_golden_table_learns_and_forgets_and_is_saved_as_it_was(tmp_path):
    path = HERE / "v3-table.textodds"
    model = textodds.load(path)
    model.save(tmp_path / "again")
    (before, header), (after, same) = parts(path), parts(tmp_path / "again")
    assert same == header
    assert {name: (array.dtype, array.tolist()) for name, array in after.items()} == {
        name: (array.dtype, array.tolist()) for name, array in before.items()
    }
    rows, labels, weights = make_v3.table()
    model.learn(rows, labels, weights=weights)
    assert model.tally.n_documents == 2 * sum(weights)
    model.forget(rows, labels, weights=weights)
    agree(model, "v3-table", 1e-9)


def test_a_golden_qda_is_that_of_scipy():
    from scipy import stats

    rows, labels, _ = make_v3.table()
    X = np.array([[50.0 if h is None else h, r] for h, r in zip(rows["height"], rows["rain"], strict=True)])
    y = np.array(labels)
    new = np.array([list(row.values()) for row in make_v3.questions("v3-qda")])
    for k, label in enumerate(["Birke", "oak", "pine"]):
        C = np.cov(X[y == label].T, bias=True)
        sigma = 0.75 * C + 0.25 * np.diag(np.diag(C)) + np.diag(1e-9 * X.var(axis=0))
        density = stats.multivariate_normal.logpdf(new, X[y == label].mean(axis=0), sigma)
        found = np.array(expected_of("v3-qda")["log_joint"])[:, k]
        np.testing.assert_allclose(found, density - np.log(3), rtol=1e-9)
