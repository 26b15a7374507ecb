"""Files that were written once are read for ever, and training gives what it gave then."""

import json
from pathlib import Path

import make_v2
import numpy as np
import pytest
from make_v1 import LANGUAGES, MAIL, WEIGHTS, answers, models

import textodds

HERE = Path(__file__).resolve().parent
NAMES = ["v1", "v1-sparse"]


def expected_of(name):
    """What the golden model said when it was made."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def agree(model, expected):
    """The model says what is expected; scores up to rounding, all else exactly."""
    got = answers(model, [question["text"] for question in expected["questions"]])
    for key in ("classes", "fingerprint", "words"):
        assert got[key] == expected[key]
    for mine, theirs in zip(got["questions"], expected["questions"], strict=True):
        assert (mine["label"], mine["terms"]) == (theirs["label"], theirs["terms"])
        np.testing.assert_allclose(mine["scores"], theirs["scores"], rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_says_what_it_said_when_it_was_made(name):
    agree(textodds.load(HERE / f"{name}.textodds"), expected_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_training_today_gives_what_it_gave_then(name):
    """Terms, the hash that orders words, counts and estimates: all of them part of the format."""
    agree(models()[name], expected_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_model_is_stored_as_it_should_be(name):
    model = textodds.load(HERE / f"{name}.textodds")
    assert (model.linear.weights.dense is None) == (name == "v1-sparse")
    assert (HERE / f"{name}.textodds").stat().st_size < 20_000


@pytest.mark.parametrize(("name", "documents"), [("v1", MAIL), ("v1-sparse", LANGUAGES)])
def test_a_golden_model_learns_and_forgets(name, documents, tmp_path):
    model = textodds.load(HERE / f"{name}.textodds")
    assert model.tally == textodds.Tally.of(
        *map(list, zip(*documents, strict=True)), WEIGHTS[name], settings=model.recipe.settings
    )
    model.learn(*documents[0])
    assert model.tally.fingerprint() != expected_of(name)["fingerprint"]
    model.forget(*documents[0])
    agree(model, expected_of(name))
    model.save(tmp_path / "again")
    agree(textodds.load(tmp_path / "again"), expected_of(name))


@pytest.mark.parametrize(("made", "rtol"), [("read", 1e-12), ("trained", 1e-5)])
def test_a_weighted_golden_model_says_what_it_said(made, rtol):
    model = textodds.load(HERE / "v2.textodds") if made == "read" else make_v2.model()
    got, expected = make_v2.answers(model), expected_of("v2")
    assert [got[key] for key in ("classes", "words", "terms")] == [
        expected[key] for key in ("classes", "words", "terms")
    ]
    np.testing.assert_allclose(got["scores"], expected["scores"], rtol=rtol, atol=rtol)
