"""A question that is asked again is answered as it would be by training today."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import textodds
from pairs import together
from textodds import SoftmaxRegression, TextSettings, Weighting
from textodds.cli import main
from textodds.errors import InputError, TextoddsError, Unsupported
from textodds.model.text_model import TextModel
from textodds.training.again import Question

WORDS = "win cash free prize call now see you at noon lunch home are phone".split()


def _rows(n: int, seed: int) -> tuple[list[str], list[str]]:
    random, labels = Random(seed), [("ham", "spam")[i % 2] for i in range(n)]
    some = {"ham": WORDS[4:], "spam": WORDS[:9]}
    return [" ".join(random.choices(some[label], k=7)).capitalize() + "!" for label in labels], labels


FIRST, MORE = _rows(150, 1), _rows(90, 2)
ALL = (FIRST[0] + MORE[0], FIRST[1] + MORE[1])


def _trained(data: tuple[list[str], list[str]], **question: Any) -> TextModel:
    model = textodds.train(*data, threads=1, **question)
    assert isinstance(model, TextModel)
    return model


def _alike(one: TextModel, other: TextModel, *, near: float = 0.0) -> None:
    assert one.recipe == other.recipe
    assert one.vocabulary.words() == other.vocabulary.words()
    probes = [*ALL[0][:20], "unheard", ""]
    assert np.abs(one.predict_proba(probes) - other.predict_proba(probes)).max() <= near
    assert (one.held_out is None) == (other.held_out is None)
    assert one.info["asked"] == other.info["asked"]


QUESTIONS: list[dict[str, Any]] = [
    {"learner": "multinomial"},
    {"learner": "multinomial:alpha=auto"},
    {"learner": "multinomial", "typical": True, "min_df": 2},
    {"learner": "bernoulli", "features": "pairs", "calibrate": False},
    {"learner": "complement", "unit": "characters-in-words", "ngrams": (1, 3)},
    {"learner": "multinomial", "characters": (2, 3), "stop_words": "english"},
    {"learner": "multinomial", "textbook": True},
    {"learner": "lda", "ngrams": (1, 1)},
    {"learner": SoftmaxRegression(C=2.0), "ngrams": (1, 2), "weighting": Weighting("binary")},
    {"learner": "softmax", "settings": TextSettings(unit="whitespace", strip_accents=True)},
    {"learner": "multinomial", "sklearn": True},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_the_kept_documents_give_the_model_of_training_on_them(
    tmp_path: Path, question: dict[str, Any]
) -> None:
    model = _trained(FIRST, **question)
    model.learn(*MORE)
    model.save(tmp_path / "m")
    again = textodds.train(like=tmp_path / "m", threads=1)
    assert isinstance(again, TextModel)
    _alike(
        again, _trained(ALL, **question), near=1e-2 if "softmax" in str(model.recipe.learner.entry) else 0.0
    )
    assert again.info["documents"] == 240
    again.forget(*MORE)
    assert again.class_documents == {"ham": 75, "spam": 75}
    with_data = textodds.train(*ALL, like=model, threads=1)
    assert isinstance(with_data, TextModel)
    _alike(with_data, _trained(ALL, **question))


def test_what_was_open_is_chosen_again_among_what_the_documents_decide(tmp_path: Path) -> None:
    question = {"learner": ["multinomial", "softmax"], "features": ["words", "pairs", "letters"]}
    model = _trained(FIRST, **question)
    model.forget(FIRST[0][:60], FIRST[1][:60])
    model.learn(*MORE)
    again = textodds.train(like=model, budget=20, threads=1)
    assert isinstance(again, TextModel)
    kept_letters = model.recipe.settings.unit != "words"
    assert again.info.get("not_decided") == (["words", "pairs"] if kept_letters else ["letters"])
    tried = [line["name"] for line in again.info["chosen"]["tried"]]
    assert len(tried) >= 2
    assert not any(name.endswith("letters") for name in tried) or kept_letters
    assert again.recipe.settings.lower  # as new texts are read
    assert again(ALL[0][1].upper()).probabilities == again(ALL[0][1]).probabilities
    data = ALL[0][60:], ALL[1][60:]
    fixed = _trained(data, learner=again.recipe.learner, settings=again.recipe.settings, **_words(again))
    near = 1e-2 if again.recipe.learner.entry.needs_documents else 0.0
    assert np.abs(again.predict_proba(ALL[0][:20]) - fixed.predict_proba(ALL[0][:20])).max() <= near
    assert again.info["asked"] == model.info["asked"]


def _words(model: TextModel) -> dict[str, Any]:
    weighting = model.recipe.weighting
    return vars(model.recipe.selection) | ({} if weighting is None else {"weighting": weighting})


def test_ids_and_columns_are_kept(tmp_path: Path) -> None:
    lines = "\n".join(f"{label},{text}" for text, label in zip(*FIRST, strict=True))
    (tmp_path / "a.csv").write_text(f"kind,message\n{lines}\n", encoding="utf-8")
    model = textodds.train(tmp_path / "a.csv", text="message", label="kind", learner="multinomial")
    assert isinstance(model, TextModel)
    model.learn("win noon", "ham", ids="m1")
    again = textodds.train(like=model)
    assert isinstance(again, TextModel)
    assert again.document_ids == model.document_ids
    assert again.info["columns"] == model.info["columns"]
    columns = textodds.train(tmp_path / "a.csv", like=again).info["columns"]
    assert (columns["label"], columns["columns"][0]["name"]) == ("kind", "message")
    assert again.learn(str(tmp_path / "a.csv")) == 150


def test_an_older_file_is_asked_by_what_it_has() -> None:
    model = _trained(FIRST, learner="bernoulli:alpha=0.5", min_df=2)
    del model.info["asked"]
    again = textodds.train(like=model)
    assert again.recipe == model.recipe
    model = _trained(FIRST, learner=["multinomial", "bernoulli"])
    del model.info["asked"]
    assert Question.of(model).learner == "auto"


def test_without_documents_it_takes_data() -> None:
    model = _trained(FIRST, learner="multinomial", documents=False)
    with pytest.raises(Unsupported, match="no documents"):
        textodds.train(like=model)
    _alike(textodds.train(*ALL, like=model), _trained(ALL, learner="multinomial"))  # type: ignore[arg-type]
    both = _trained(FIRST, unlabelled=MORE[0])
    with pytest.raises(Unsupported, match="unlabelled"):
        textodds.train(*ALL, like=both)


def test_a_stream_is_asked_for_again() -> None:
    model = _trained(FIRST, stream=True)
    again = textodds.train(*ALL, like=model)
    assert again.recipe.settings.hash_bits == model.recipe.settings.hash_bits
    with pytest.raises(Unsupported, match="no documents"):
        textodds.train(like=model)


@together
@pytest.mark.parametrize(
    "beside",
    [{"learner": "softmax"}, {"features": "words"}, {"min_df": 2}, {"stream": True}, {"textbook": True}],
)
def test_another_question_beside_it_is_refused(beside: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="like another"):
        textodds.train(like=_trained(FIRST, learner="multinomial"), **beside)


def test_the_command_chooses_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = _trained(FIRST, learner=["multinomial", "bernoulli"], features=["words", "letters"])
    model.save("m.textodds")
    assert main(["train", "--like", "m.textodds"]) == 2
    assert "-o MODEL" in capsys.readouterr().err
    assert main(["train", "--like", "m.textodds", "-o", "again.textodds"]) == 0
    said = capsys.readouterr()
    assert "learned 150 documents kept by the model" in said.out + said.err
    assert "which need the original texts" in said.out + said.err
    assert textodds.load("again.textodds").info["asked"] == model.info["asked"]


def test_nothing_is_not_data() -> None:
    with pytest.raises(TextoddsError):
        textodds.train(None)


def test_without_data_only_a_model_of_texts_can_be_asked_again() -> None:
    table = textodds.train({"x": [1.0, 2.0] * 6, "label": ["a", "b"] * 6}, label="label")
    for like in ({}, {"like": table}):
        with pytest.raises(InputError, match="there are no data to learn from"):
            textodds.train(**like)
