"""Every option of `textodds.train` is honoured or refused, from Python and the command line alike.

What Spark does with them is in `tests/spark/test_spark_options.py`. No option is without a case.
"""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import textodds
from option_cases import CASED, CASES, folder, trained  # noqa: F401 - a fixture, for every test
from pairs import together
from textodds.cli import main
from textodds.data import READ_OPTIONS
from textodds.errors import TextoddsError
from textodds.learn.recipe import OF_TEXTS
from textodds.text import Selection, TextSettings

TEXTS = ["free prize at home", "see you later", "Claim the CASH", "meeting", ""]

SETTINGS = {
    "unit": ("whitespace", "whitespace"),
    "ngrams": ((1, 2), "1-2"),
    "characters": ((2, 3), "2-3"),
    "lower": (False, "no"),
    "normal_form": (None, "none"),
    "strip_accents": (True, "yes"),
    "stop_words": (["the", "free"], "stop.txt"),
    "hash_bits": (10, "10"),
    "hash_seed": (7, "7:hash_bits=10"),
    "vocabulary": (["the", "free"], "stop.txt"),
    "min_df": (3, "3"),
    "max_df": (0.5, "0.5"),
    "max_features": (5, "5"),
    "unknown": ("smooth", "smooth"),
    "sklearn": (True, "yes"),
}
WEIGHTING = {
    "frequency": (textodds.Weighting("binary"), "binary"),
    "idf": (textodds.Weighting(idf=False), "no"),
    "smooth": (textodds.Weighting(smooth=False), "no"),
    "unit_length": (textodds.Weighting(unit=False), "no"),
}


def same(one, other):
    """Whether two models say the same, and know as much."""
    assert type(one) is type(other)
    assert one.classes_ == other.classes_
    assert one.recipe.as_dict() == other.recipe.as_dict()
    texts = [{"height": 180.0, "note": "the see", "visits": 3}] if one.kind == "tables" else TEXTS
    if one.kind == "texts" and one.recipe.settings.fields:
        texts = [dict.fromkeys(one.recipe.settings.fields, text) for text in TEXTS]
    np.testing.assert_array_equal(one.predict_proba(texts), other.predict_proba(texts))
    for part in ("calibration", "held_out", "typical"):
        assert (getattr(one, part, None) is None) == (getattr(other, part, None) is None), part
    for key in ("documents", "rejected", "unlabelled"):
        assert one.info.get(key) == other.info.get(key)
    return True


def of_command(arguments):
    """The model that the command writes, or what it says."""
    return textodds.load("out.textodds") if main(["train", *arguments, "-o", "out.textodds"]) == 0 else None


@pytest.mark.slow
@CASED
def test_the_command_line_does_as_python(option, given, arguments, data, acts, there):
    model = trained(data, given)
    assert acts is None or acts(model)
    assert same(model, of_command([*([data] if data else []), *arguments]))


@together
@pytest.mark.slow
@pytest.mark.parametrize(("name", "value", "written"), [(name, *pair) for name, pair in SETTINGS.items()])
def test_settings_of_texts_are_the_same_written_and_given(name, value, written):
    given = {name: value, **({"hash_bits": 10} if name == "hash_seed" else {})}
    by_option = textodds.train("mail.csv", learner="multinomial", **given)
    assert by_option.recipe != textodds.train("mail.csv", learner="multinomial").recipe
    by_string = textodds.train("mail.csv", learner=f"multinomial:{name}={written}")
    assert same(by_option, by_string)
    assert same(by_option, of_command(["mail.csv", "--learner", f"multinomial:{name}={written}"]))


@together
@pytest.mark.parametrize(("name", "value", "written"), [(name, *pair) for name, pair in WEIGHTING.items()])
def test_weightings_are_the_same_written_and_given(name, value, written):
    by_option = textodds.train("mail.csv", learner="softmax:C=1", ngrams=(1, 1), weighting=value)
    assert same(by_option, of_command(["mail.csv", "--learner", f"softmax:C=1:ngrams=1-1:{name}={written}"]))


@together
@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "data"),
    [
        ({"budget": 5.0, "learner": "multinomial"}, "mail.csv"),
        ({"budget": 5.0}, "people.csv"),
        ({"features": "words"}, "people.csv"),
        ({"learner": ["mixed", "lda"]}, "people.csv"),
        ({"memory": 1 << 20, "learner": "softmax:C=1:ngrams=1-1"}, "mail.csv"),
        ({"memory": 1 << 20, "learner": "lda"}, "mail.csv"),
        ({"stream": True, "learner": "multinomial"}, "mail.csv"),
        ({"stream": True, "learner": "mixed"}, "people.csv"),
        ({"stream": True, "typical": True}, "mail.csv"),
        ({"stream": True, "memory": 1 << 20}, "mail.csv"),
        ({"typical": True, "learner": "softmax"}, "mail.csv"),
        ({"typical": True, "learner": "lda"}, "mail.csv"),
        ({"typical": True, "learner": "auto"}, "mail.csv"),
        ({"unlabelled": "more.csv", "learner": "lda"}, "mail.csv"),
        ({"unlabelled": "more.csv", "budget": 3.0}, "mail.csv"),
        ({"like": "like.textodds", "learner": "mixed"}, "people.csv"),
        ({"like": "like.textodds", "ngrams": (1, 2)}, "people.csv"),
        ({"like": "like.textodds", "columns": {"visits": "number"}}, "people.csv"),
        ({"columns": {"body": "text"}, "text": "body"}, "mail.csv"),
        ({"unknown": "smooth", "learner": "auto"}, "mail.csv"),
        ({"learner": "multinomial:ngrams=1-2", "ngrams": (1, 2)}, "mail.csv"),
        ({"learner": "semisupervised"}, "mail.csv"),
        ({"colour": "red"}, "mail.csv"),
    ],
    ids=str,
)
def test_what_would_not_act_is_refused_with_a_way_out(given, data):
    with pytest.raises(TextoddsError) as caught:
        trained(data, given)
    assert caught.value.hint or "did you mean" in caught.value.problem or "colour" in caught.value.problem


def test_every_option_has_a_case():
    known = set(inspect.signature(textodds.train).parameters) - {"source", "labels", "weights", "options"}
    assert {case.values[0] for case in CASES} == known | set(READ_OPTIONS)
    assert {*SETTINGS, *WEIGHTING} == set(OF_TEXTS)
    own = {each.name for kind in (TextSettings, Selection) for each in fields(kind)}
    assert own | {"unknown", "sklearn"} == {*SETTINGS, "count_unknown", "fields"}
