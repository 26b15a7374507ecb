"""What a notebook shows of a result: small tables, escaped, in the colours of the page; and frames."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import textodds
from textodds.errors import Unsupported
from textodds.judge.class_mix import model_mix

EVIL = "<script>alert(1)</script>"
LABELS = [EVIL, 'ham & "eggs"'] * 30
TEXTS = [f"free {EVIL} phone {i % 4}" if i % 2 == 0 else f"see you <b>{i % 5}</b>" for i in range(60)]

VOID = {"br", "hr"}


class Markup(HTMLParser):
    """The tags of a fragment, all closed, and its text."""

    def __init__(self, fragment):
        super().__init__()
        self.open, self.tags, self.text, self.styles = [], set(), "", ""
        self.feed(fragment)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.styles += "".join(f"{value};" for name, value in attributes if name == "style")
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def model():
    return textodds.train(TEXTS, LABELS, learner="multinomial", threads=1)


@pytest.fixture(scope="module")
def table():
    rows = {"size": [1.0, 2.0, 8.0, 9.0] * 5, EVIL: ["red", EVIL, "blue", "blue"] * 5}
    return textodds.train(rows, [EVIL, EVIL, "b", "b"] * 5)


@pytest.fixture(scope="module")
def results(model, table):
    """Everything that shows itself, by name."""
    mix = model_mix(model, model.predict_log_proba(TEXTS))
    return {
        "model": model,
        "model of a table": table,
        "evaluation": model.evaluate([*TEXTS, "egg"], [*LABELS, f"{EVIL} unknown"]),
        "comparison": textodds.compare(TEXTS, LABELS, models="multinomial,bernoulli", sizes=[10]),
        "class mix": mix,
        "audit": textodds.audit(TEXTS, LABELS),
        "explanation": model.explain(TEXTS[0]),
        "explanation of a row": table.explain({"size": 1.0, EVIL: EVIL}),
    }


NAMES = (
    *("model", "model of a table", "evaluation", "comparison"),
    *("class mix", "audit", "explanation", "explanation of a row"),
)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_shown_escaped_small_and_in_the_colours_of_the_page(results, name):
    html = results[name]._repr_html_()
    found = Markup(html)
    assert "script" not in found.tags
    assert "b" not in found.tags
    assert "<script" not in html
    if name != "comparison":  # which has no labels in it
        assert "<script>" in found.text
    assert len(html) < 16_000
    backgrounds = re.findall(r"(?<!-)(?:background|color):([^;]*)", found.styles)
    assert all(value == "inherit" or value.startswith("rgb") for value in backgrounds)  # of bars and marks


@pytest.mark.parametrize("name", NAMES)
def test_it_says_in_a_few_lines_what_it_is(results, name):
    said = str(results[name]) if "explanation" in name else repr(results[name])
    assert len(said) < 2000
    assert "array(" not in said
    assert "confusion={" not in said


def test_a_long_list_of_classes_is_counted():
    labels = [f"class {i:03}" for i in range(200)]
    model = textodds.train([f"word{i}" for i in range(200)], labels, learner="multinomial")
    assert "and 188 more" in model._repr_html_()
    assert len(model._repr_html_()) < 5000
    assert len(model.evaluate([f"word{i}" for i in range(200)], labels)._repr_html_()) < 16_000


def test_a_model_without_its_counts_shows_its_classes(model, tmp_path):
    model.save(tmp_path / "m", counts=False)
    assert "ham &amp;" in textodds.load(tmp_path / "m")._repr_html_()


def test_an_evaluation_is_a_frame_with_a_row_for_each_class():
    model = textodds.train(["free", "see"], ["spam", "ham"], learner="multinomial")
    frame = model.evaluate(["free", "see", "see"], ["spam", "ham", "spam"]).to_frame()
    assert frame.index.name == "label"
    assert list(frame.columns) == ["precision", "recall", "f1", "rows"]
    assert frame.loc["spam", "recall"] == 0.5
    assert frame["rows"].sum() == 3
    assert pd.api.types.is_integer_dtype(frame["rows"])


def test_a_comparison_is_a_frame_with_a_row_for_each_model(results):
    comparison = results["comparison"]
    frame = comparison.to_frame()
    assert list(frame.index) == [row.name for row in comparison.rows]
    assert np.array_equal(frame["accuracy"], [row.evaluation.accuracy for row in comparison.rows])


def test_a_class_mix_is_a_frame_with_a_row_for_each_class(results, model):
    frame = results["class mix"].to_frame()
    assert list(frame.index) == list(model.class_names)
    assert frame["share"].sum() == pytest.approx(1.0)
    assert (frame["low"] <= frame["share"]).all()


def test_without_pandas_a_frame_is_refused_and_everything_else_works(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Unsupported, match=r"pandas, which is not installed(?s:.*)as_dict"):
        results["evaluation"].to_frame()
    assert "accuracy" in results["evaluation"]._repr_html_()
