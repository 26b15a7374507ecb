"""``words``: show a text as its table of word counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from textodds.cli.commands import argument, command, option
from textodds.cli.options import learner_option
from textodds.cli.output import counted, faint, one_line, show, strong, table
from textodds.cli.overwrite import themselves
from textodds.errors import InputError, Unsupported
from textodds.learn.recipe import spelled
from textodds.learn.registry import AUTO
from textodds.model.explain import visible
from textodds.model.file import load
from textodds.model.text_updates import TextUpdates
from textodds.text.settings import TextSettings
from textodds.text.word_counts import word_counts
from textodds.training.choose.candidates import recipe_with

STDIN = "-"
MODEL = "Cut as this model does, and say which words it knows."


@command(
    "words",
    examples=[
        'textodds words "Grain, oilseed; total grain: wheat and GRAIN"',
        'textodds words "win a prize" --learner multinomial:ngrams=1-2',
        'textodds words "win a free phone" --model mail.textodds',
        "textodds words - < letter.txt",
    ],
)
@argument("text", "One document, or - for stdin.")
@option("Words", "--model", metavar="MODEL", reads=themselves, help=MODEL)
@learner_option("multinomial")
@option("Running", "--json", "as_json_", is_flag=True, help="Print it as one JSON object.")
def words(text: str, model: str | None, learner: str | None, as_json_: bool) -> None:
    """Show a text as its table of word counts.

    A bag of words: how often each word, or each run of words or letters, is in the text, and nothing of
    their order.
    """
    if model is not None and learner is not None:
        raise InputError("a model has settings of its own", hint="leave out `--model` or `--learner`")
    document = sys.stdin.read() if text == STDIN else text
    opened = None if model is None else _opened(model)
    settings = _settings(learner) if opened is None else opened.recipe.settings
    counts = word_counts(document, settings)
    about: dict[str, Any] = {"words": counts, "total": sum(counts.values()), "different": len(counts)}
    if opened is not None:
        known = opened.vocabulary.find(list(counts)) >= 0 if counts else np.zeros(0, bool)
        about["unknown"] = [word for word, is_known in zip(counts, known, strict=True) if not is_known]
    show(about, _lines(about), json=as_json_)


def _opened(path: str) -> TextUpdates:
    model = load(path)
    if not isinstance(model, TextUpdates):
        raise Unsupported(f"`{path}` is a model of tables, which has columns, not words")
    if model.recipe.settings.fields:
        names = ", ".join(model.recipe.settings.fields)
        raise Unsupported(
            f"`{path}` reads texts of several columns: {names}", hint="give the settings instead: `--learner`"
        )
    return model


def _settings(learner: str | None) -> TextSettings:
    """How texts are cut, as it is written with a learner."""
    found = spelled(learner or "multinomial")
    if len(found) > 1:
        raise InputError("texts are cut in one way at a time", hint="name one learner")
    own = {**({} if found[0].name == AUTO else dict(_usual(found[0].name))), **found[0].words}
    named = "multinomial" if found[0].name == AUTO else found[0].name
    return recipe_with(named, own).settings


def _usual(name: str) -> Iterator[tuple[str, object]]:
    from textodds.learn.registry import LEARNERS

    if not LEARNERS[name].is_of_texts:
        raise InputError(f"{name} learns from tables, not from texts", hint="name a learner of texts")
    yield from LEARNERS[name].usual.items()


def _lines(about: dict[str, Any]) -> Iterator[str]:
    unknown = set(about.get("unknown", ()))
    rows = [
        [
            one_line(visible(word)),
            f"{n:,}",
            *([faint("not known")] if word in unknown else [""] * bool(unknown)),
        ]
        for word, n in about["words"].items()
    ]
    total, different = about["total"], about["different"]
    yield f"{strong(counted(total, 'word'))}, {different:,} of them different"
    if rows:
        yield ""
        yield from table(("word", "count", *([""] if unknown else [])), rows)
