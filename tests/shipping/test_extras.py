"""What is said of extras is what pyproject.toml has."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pandas as pd
import pytest

import textodds
from textodds.errors import EXTRAS, Unsupported

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements):
    return {re.match(r"[\w.-]+", each)[0].lower().replace("_", "-") for each in requirements}


def test_the_required_packages_are_three():
    assert names(PROJECT["dependencies"]) == {"click", "numpy", "safetensors"}


def test_the_extra_that_an_error_names_brings_the_package():
    extras, known = PROJECT["optional-dependencies"], packages_distributions()
    for package, extra in EXTRAS.items():
        distributions = {each.lower().replace("_", "-") for each in known.get(package, [package])}
        assert distributions & names(extras[extra]), package


def test_all_has_every_extra_for_users_and_the_page_lists_them():
    extras = PROJECT["optional-dependencies"]
    inside = set(re.search(r"\[(.*)\]", next(each for each in extras["all"] if "[" in each))[1].split(","))
    assert inside == set(extras) - {"all", "bench", "dev", "docs"}
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    assert all(f"`textodds[{extra}]`" in page for extra in inside | {"all"})


def test_a_data_frame_without_pyarrow_is_answered_with_what_to_install(monkeypatch):
    frame = pd.DataFrame({"text": ["free phone", "see you"], "label": ["spam", "ham"]})
    model = textodds.train(["free phone", "see you"], ["spam", "ham"], learner="multinomial")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for ask in (
        lambda: textodds.train(frame, learner="multinomial"),
        lambda: textodds.train(frame["text"], frame["label"], learner="multinomial"),
        lambda: model.predict(frame),
        lambda: model.predict_frame(frame),
        lambda: model.learn(["an offer"], frame["label"][:1]),
    ):
        with pytest.raises(Unsupported, match="reading data frames needs pyarrow") as caught:
            ask()
        assert caught.value.hint == "pip install 'textodds[arrow]'"
