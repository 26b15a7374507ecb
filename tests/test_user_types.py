"""The types that a user's checker sees: no errors in a user's script, and no `Any`."""

import inspect
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import textodds
from textodds.data import READ_OPTIONS
from textodds.learn.recipe import recipe_of
from textodds.training.options import TextOrTableOptions

ROOT = Path(__file__).resolve().parents[1]

SCRIPT = """
import textodds

model = textodds.train(["free phone", "see you"], ["spam", "ham"])
reveal_type(model)
reveal_type(model.predict(["free"]))
reveal_type(model.explain("free"))
reveal_type(model("free").label)
reveal_type(model.evaluate(["free"], ["spam"]).accuracy)

table = textodds.train({"size": [1.0, 2.0]}, ["a", "b"], columns={"size": "number"})
reveal_type(table)
reveal_type(table({"size": 1.0}).probability)

either = textodds.train("mail.csv", learner="multinomial")
either.predict(["free"])
either.explain("free")
loaded = textodds.load("mail.textodds")
reveal_type(loaded)
reveal_type(loaded.predict(["free"]))
reveal_type(loaded.explain("free").log_odds)
reveal_type(textodds.train("mail.csv", text="body"))
nb = textodds.MultinomialNB(alpha=0.1)
reveal_type(textodds.train("mail.csv", text="body", label="kind", learner=nb, min_df=2, bad_rows="skip"))
reveal_type(textodds.train(like=model))
several = textodds.train(["free phone", "see you"], [["spam", "offer"], []])
reveal_type(several)
reveal_type(several("free").labels)
reveal_type(several.evaluate(["free"], [["spam"]]).calibration_error)
reveal_type(textodds.train("mail.csv", text="body", label_separator="|", goal="macro-f1"))
"""

MISTAKES = """
import textodds

textodds.train(["free phone", "see you"], ["spam", "ham"], lable="x")
textodds.train("mail.csv", lerner="softmax")
textodds.train("mail.csv", text="body", threads="two")
textodds.train("mail.csv", bad_rows="ignore")
"""

SEVERAL = "textodds.model.multilabel.multilabel_model.MultiLabelModel"
REVEALED = [
    "textodds.model.text_model.TextModel",
    "numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.generic[Any]]]",  # NumPy leaves the shape open
    "textodds.model.explain.explanation.Explanation",
    "str | int | float | bool",
    "float",
    "textodds.model.tables.table_model.TableModel",
    "float",
    f"textodds.model.text_model.TextModel | textodds.model.tables.table_model.TableModel | {SEVERAL}",
    "numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.generic[Any]]] | "
    "list[tuple[str | int | float | bool, ...]]",
    "float",
    "textodds.model.text_model.TextModel",
    "textodds.model.text_model.TextModel",
    "textodds.model.text_model.TextModel",
    SEVERAL,
    "tuple[str | int | float | bool, ...]",
    "float",
    SEVERAL,
]


def checked(script, tmp_path):
    """What mypy says of a script, as strictly as of the package, whose types `make lint` has found."""
    file = tmp_path / "user.py"
    file.write_text(script)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", str(file)],
        cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.stdout.replace(f"{tmp_path}/", "") + run.stderr


@pytest.mark.slow
def test_a_users_script_has_no_error_no_any_and_a_misspelt_name_is_found(tmp_path):
    said = checked(SCRIPT + "textodds.trian\n", tmp_path)
    assert [line for line in said.splitlines() if "error" in line] == [
        f'user.py:{SCRIPT.count(chr(10)) + 1}: error: Module has no attribute "trian"; maybe "train"?  '
        "[attr-defined]"
    ]
    assert re.findall(r'Revealed type is "(.*)"', said) == REVEALED


@pytest.mark.slow
def test_an_option_that_there_is_not_and_a_value_that_cannot_be_are_found(tmp_path):
    said = checked(MISTAKES, tmp_path)
    for line in range(4, 8):
        assert f"user.py:{line}: error: No overload variant" in said


def test_the_types_know_every_option_of_train():
    named = set(inspect.signature(textodds.train).parameters) - {"options"}
    of_words = set(inspect.signature(recipe_of).parameters) - {"learner", "text_settings"}
    of_words |= {each.name for each in fields(textodds.TextSettings)} - {"fields"}  # which `text` gives
    assert TextOrTableOptions.__annotations__.keys() | {"source", "labels", "weights", "like"} == (
        named | of_words | set(READ_OPTIONS)
    )


def test_the_package_says_that_it_has_types():
    assert (Path(textodds.__file__).parent / "py.typed").exists()
