"""Models that run without textodds give its answers: every way to cut texts, every kind of weights."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from exported import by_c, by_node, by_python, module_at, needed
from exported_models import TEXTS, assert_same, awkward_texts, model_of, several_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_cases import CLASSES, DISCRIMINATIVE, LEARNERS, WEIGHTINGS, documents, new_texts

import textodds
from label_texts import label_texts
from pairs import Failures, cover, together
from textodds.errors import Unsupported
from textodds.interop import portable
from textodds.interop.portable.characters import needed as tables_of
from textodds.interop.portable.characters import word_rules
from textodds.interop.portable.plain_model import plain_model, text_plan
from textodds.interop.portable.to_c import to_c
from textodds.interop.portable.to_python import to_python
from textodds.text import TextSettings
from unicode_texts import texts as any_texts

RUNTIME = Path(portable.__file__).parent / "runtime" / "predict.py"
TARGETS = {"python": by_python, "javascript": by_node, "c": by_c}
EVERY = {"python": 2, "javascript": 2, "c": 7}
"""Of so many cases one is here, by what a model takes (C takes a compiler); all are in `make test-long`."""

CASES = list(
    dict.fromkeys(
        [
            *cover(
                ("multinomial", "bernoulli", "nb-softmax"),
                CLASSES,
                TEXTS,
                allowed=lambda learner, _, cut: "unknown" not in TEXTS[cut] or learner != "nb-softmax",
            ),
            *cover(LEARNERS, CLASSES, ("words", "words-union")),
        ]
    )
)
WAYS = [(each, cut) for each in DISCRIMINATIVE for cut in ("words", "words-union", "sklearn-stop-words")] * 2
WEIGHED = [(*way, weighting) for way, weighting in zip(WAYS, WEIGHTINGS, strict=True)]

HARD_NAMES = [
    "</script><script>alert(1)</script>",
    "it's; DROP TABLE terms; --",
    'quote " and \\ backslash \\n',
    "line\nfeed\r\tand\u2028",
    "??/ */ /* // %s {model} ]]>",
    "nul\0nul",
    "\u202eleft 漢字 \U0001f600 é",
    "<!-- $$ $1 &amp; '''",
]


def must_agree(target, asked):
    """Every model answers its texts as it does itself."""
    answers = TARGETS[target]([each[:2] for each in asked])
    with Failures() as failures:
        for (model, texts, name), said in zip(asked, answers, strict=True):
            with failures.noted(name):
                assert_same(model, texts, said)


def asked_of(cases):
    """The model of each case, and texts for it."""
    return [(model_of(*case), new_texts(case[1]) + awkward_texts(40), str(case)) for case in cases]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_answers_are_those_of_the_model(target):
    must_agree(target, asked_of(CASES[:: EVERY[target]]))


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_answers_are_those_of_the_model_for_every_case(target):
    must_agree(target, asked_of(CASES))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_weighting_is_that_of_the_model(target):
    asked = []
    for learner, cut, weighting in WEIGHED[:: EVERY[target] if target == "c" else 1]:
        model = textodds.train(*documents(5), learner=LEARNERS[learner], weighting=weighting, **TEXTS[cut])
        asked.append((model, new_texts(5), f"{learner} {cut} {weighting}"))
    must_agree(target, asked)


@pytest.mark.parametrize("target", TARGETS)
def test_of_several_labels_each_has_its_probability_and_its_threshold(target):
    texts = [*label_texts(60, seed=1)[0], "", "unheard"]
    must_agree(target, [(several_labels(name), texts, name) for name in ("multinomial", "softmax:C=1")])


@pytest.mark.parametrize("target", TARGETS)
def test_names_and_words_of_any_characters_are_data(target):
    must_agree(target, [hard_names()])


@cache
def hard_names():
    """A model whose classes and words are made to break out of a string, and texts for it."""
    hard = [f"{name.replace(' ', '_')} w{i}" for i, name in enumerate(HARD_NAMES)] * 20
    model = textodds.train(
        hard, HARD_NAMES * 20, learner="multinomial", unit="whitespace", lower=False, normal_form=None
    )
    return model, [*hard[: len(HARD_NAMES)], *HARD_NAMES, ""], "hard names"


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), min_size=2, max_size=4))
@settings(max_examples=30)
def test_names_of_any_characters_come_back_out_of_a_python_file(names):
    names = sorted({name.strip() for name in names} - {""})
    if len(names) < 2:
        return
    texts = [f"own{k} {name}" for k, name in enumerate(names)] * 3
    model = textodds.train(texts, names * 3, learner="multinomial", unit="characters")
    ((labels, _),) = by_python([(model, texts[: len(names)])])
    assert labels == list(model.predict(texts[: len(names)]))


CUTS = [
    TextSettings(),
    TextSettings(ngrams=(2, 3), stop_words="english"),
    TextSettings(normal_form="NFKC", strip_accents="ascii"),
    TextSettings(strip_accents=True, characters=(2, 5)),
    TextSettings.sklearn(),
    TextSettings(unit="characters", ngrams=(1, 3)),
    TextSettings(unit="characters-in-words", ngrams=(4, 5), normal_form="NFKC"),
    TextSettings(unit=r"\b[a-z]{2,}\b"),
    TextSettings(unit="[A-Za-z_]{3,}", lower=False),
]


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: f"{cut.unit} {cut.ngrams} {cut.normal_form}")
@given(any_texts)
def test_terms_are_those_of_the_kernel(cut, text):
    words, characters = _tokeniser(cut).terms(text)
    assert [*words, *characters] == cut.terms(text)


@cache
def _tokeniser(cut):
    return module_at(RUNTIME).Tokeniser(text_plan(cut), tables_of(cut).plain(), word_rules())


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.long)])
def test_every_character_is_prepared_and_cut_as_the_kernel_does(step):
    every = [chr(c) for c in [*range(0xD800), *range(0xE000, 0x32000), *range(0xE0000, 0xE0200)]]
    texts = [f"a{c}1 {c}\u0301 Σ{c}Σ" for c in every[::step]]
    for cut in (TextSettings(), TextSettings(normal_form="NFKC", strip_accents=True)):
        tokeniser = _tokeniser(cut)
        for text, expected in zip(texts, cut.analyser.terms(texts), strict=True):
            assert tokeniser.terms(text)[0] == expected, ascii(text)


def test_a_python_file_needs_nothing_but_python(tmp_path):
    model = model_of("multinomial", 2, "words")
    to_python(model, tmp_path / "mail.py")
    run = [sys.executable, "-I", "-S", "mail.py"]
    done = subprocess.run([*run, "own0x0 shared1"], cwd=tmp_path, capture_output=True, check=True)
    said = model("own0x0 shared1")
    assert json.loads(done.stdout) == {
        "label": said.label,
        "probability": pytest.approx(said.probability, abs=1e-12),
    }
    lines = subprocess.run(run, cwd=tmp_path, input=b"own0x0\nown1x0\n", capture_output=True, check=True)
    assert [json.loads(line)["label"] for line in lines.stdout.splitlines()] == ["class 00", "class 01"]


def test_bytes_that_are_not_utf8_are_read_as_c_should_read_them(tmp_path):
    """As Python replaces them, but for sequences that are cut off, of which every byte is replaced."""
    model = textodds.train(
        ["\ufffd one", "plain two"] * 20, ["bad", "good"] * 20, learner="multinomial", unit="whitespace"
    )
    to_c(model, tmp_path / "model.c")
    run = f"{needed('cc')} -DTEXTODDS_MAIN model.c -o run -lm && ./run"
    lines = b"\xff one\nplain two\n\xc0\xaf\n\xed\xa0\x80\n\xf5\x80\n\xe2\x82\n"
    done = subprocess.run(run, shell=True, cwd=tmp_path, input=lines, capture_output=True, check=True)
    assert [line.split(b"\t")[0] for line in done.stdout.splitlines()][:2] == [b"bad", b"good"]
    assert len(done.stdout.splitlines()) == 6


@together
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"hash_bits": 9}, "a page cannot cut texts with hash_bits=9"),
        ({"learner": "qda", "min_df": 1}, "has no weights of single words"),
    ],
)
def test_what_cannot_be_exported_is_said(options, problem):
    model = textodds.train(*documents(2), **{"learner": "multinomial", **options})
    with pytest.raises(Unsupported, match=problem) as caught:
        plain_model(model, "a page", 10**6)
    assert caught.value.hint


def test_a_model_of_fields_is_refused_by_the_name_of_the_setting():
    rows = [{"a": "free", "b": "phone", "label": "spam"}, {"a": "lunch", "b": "noon", "label": "ham"}] * 3
    model = textodds.train(rows, learner="multinomial", text=["a", "b"])
    with pytest.raises(Unsupported, match="cannot cut texts with fields="):
        plain_model(model, "a page", 10**6)


def test_a_model_that_is_too_large_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("textodds.interop.portable.to_python.MOST_WEIGHTS", 5)
    with pytest.raises(Unsupported, match=r"has .* weights, and a Python file holds up to 5"):
        to_python(model_of("multinomial", 2, "words"), tmp_path / "x.py")
    assert not list(tmp_path.iterdir())


def test_what_is_believed_before_reading_adds_up_to_the_bias():
    for case in CASES[:12]:
        plain = plain_model(model_of(*case), "a page", 10**7)
        np.testing.assert_allclose(np.sum(list(plain.start.values()), axis=0), plain.bias, atol=1e-12)
