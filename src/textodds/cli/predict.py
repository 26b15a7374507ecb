"""``predict``: label texts with a trained model."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from json import loads
from typing import TYPE_CHECKING, Any

import numpy as np

from textodds.cli import decision, tables
from textodds.cli.command import argument, command, option
from textodds.cli.option_types import PRIOR
from textodds.cli.output import as_json, one_line
from textodds.cli.progress import watched
from textodds.cli.running import running_options
from textodds.cli.source import portions, reading_options, refuse_reading, source_for
from textodds.data import Batch
from textodds.data.files import STDIN
from textodds.errors import InputError
from textodds.learn.forms.linear import log_softmax
from textodds.model.file import load

if TYPE_CHECKING:
    from textodds.judge.novelty import Familiarity
    from textodds.model.file import Model

PIECE = 4096  # lines written at once: fast where stdout is not buffered, and soon aware that nobody reads


@command(
    "predict",
    examples=[
        'textodds predict mail.textodds --say "win a free phone"',
        "textodds predict mail.textodds new.csv --proba > answers.tsv",
        'textodds predict mail.textodds new.csv --loss "ham->spam: 20" --abstain 0.5',
        "textodds predict mail.textodds new.csv --max-error 0.01",
        "tail -f log.txt | textodds predict log.textodds",
    ],
)
@argument("model", "A model file made by `train`.")
@argument("data", "Files or patterns; by default -, which is stdin with one text a line.", nargs=-1)
@option(
    "Texts",
    "--say",
    multiple=True,
    metavar="TEXT",
    help="Label this text (of a table, a row as JSON) instead of data; may be repeated.",
)
@option(
    "Answers", "--proba", is_flag=True, help="Give the probability of every class, the most probable first."
)
@option(
    "Answers",
    "--prior",
    type=PRIOR,
    metavar="PRIOR",
    help="Answer under another prior: data, uniform, or spam=0.02,ham=0.98.",
)
@option(
    "Answers",
    "--familiarity",
    is_flag=True,
    help="Add how often typical texts are as surprising, for a model trained with `--typical`: a small "
    "number says that a text is unlike any that was learned.",
)
@decision.loss_options()
@decision.promise_options()
@reading_options(labelled=False)
@running_options(
    json="One JSON object a line: label, probability, evidence (known words), probabilities; and action "
    "(null for no answer), expected_loss or set, where these decide."
)
def predict(
    model: str,
    data: tuple[str, ...],
    say: tuple[str, ...],
    proba: bool,
    familiarity: bool,
    prior: str | dict[str, float] | None,
    loss: tuple[str, ...] = (),
    abstain: float | None = None,
    max_error: float | None = None,
    sets: float | None = None,
    by_class: bool = False,
    threads: int | None = None,
    as_json_: bool = False,
    quiet: bool = False,
    **options: Any,
) -> None:
    """Label texts or rows of a table.

    Prints one line for each text, in the order of the texts: the label, a tab, and its probability.
    Answers to stdin come as lines come. Where losses or a promise decide, the label is what to
    answer, and ? where it is better not to.
    """
    if say and data:
        raise InputError("texts are given both in data and with `--say`", hint="leave out one of the two")
    answering = load(model, threads=threads)
    if prior is not None:
        answering = answering.with_prior(prior)
    deciding = decision.answering_of(
        answering,
        loss=loss,
        abstain=abstain,
        max_error=max_error,
        sets=sets,
        by_class=by_class,
        prior=prior,
        quiet=quiet,
    )
    written = _written(deciding, proba=proba, json=as_json_)
    if say:
        refuse_reading(options)
        batches: Iterable[Any] = [Batch(list(say), None, None)]
        if answering.is_table:
            batches = answering.read([tables.said_row(answering, row) for row in say])  # type: ignore[union-attr,arg-type]
        _answer(answering, batches, written, familiarity=familiarity, json=as_json_)
        return
    if not data and options["query"] is None:
        data = (STDIN,)
    source = source_for(answering, data, options, labelled=False)
    with watched(source, "answering", quiet=quiet, bar=not sys.stdout.isatty()) as watch:
        _answer(answering, watch.batches(), written, familiarity=familiarity, json=as_json_)


Written = Callable[["Model", Any], Iterator[str]]


def _written(deciding: decision.AnswerFormat | None, *, proba: bool, json: bool) -> Written:
    """What writes the lines of a batch."""
    if deciding is None:
        return partial(_objects if json else _lines, proba=proba)
    chosen = deciding

    def decided(model: Model, batch: Any) -> Iterator[str]:
        scores, evidence = model.score_batch(batch)
        return decision.lines(model, chosen, (log_softmax(scores), evidence[:, 0]), proba=proba, json=json)

    return decided


def _answer(model: Model, batches: Iterable[Any], written: Written, *, familiarity: bool, json: bool) -> None:
    """Write the answers, and see to it that they arrive before the next batch is waited for."""
    for batch in portions(batches, len(model.classes_)):
        lines = written(model, batch)
        if familiarity:
            lines = _with_familiarity(lines, model.familiarity_of(batch), json=json)
        while piece := "".join(itertools.islice(lines, PIECE)):
            sys.stdout.write(piece)
        sys.stdout.flush()


def _with_familiarity(lines: Iterable[str], familiar: list[Familiarity], *, json: bool) -> Iterator[str]:
    for line, found in zip(lines, familiar, strict=True):
        if json:
            about = {"log_density": found.log_density, "surprise": found.surprise, "p_value": found.p_value}
            yield as_json({**loads(line), **about}) + "\n"
        else:
            yield f"{line[:-1]}\t{found.p_value:.4f}\n"


def _lines(model: Model, batch: Any, *, proba: bool) -> Iterator[str]:
    shares, best, _ = _scored(model, batch)
    names = [one_line(name) for name in model.classes_]
    if proba:
        for row in shares:
            order = np.argsort(-row, kind="stable")
            yield "\t".join(f"{names[k]}\t{row[k]:.4f}" for k in order.tolist()) + "\n"
        return
    for k, share in zip(best.tolist(), shares[np.arange(len(best)), best].tolist(), strict=True):
        yield f"{names[k]}\t{share:.4f}\n"


def _objects(model: Model, batch: Any, *, proba: bool) -> Iterator[str]:
    shares, best, known = _scored(model, batch)
    for row, k, evidence in zip(shares, best.tolist(), known.tolist(), strict=True):
        answer = {"label": model.classes_[k], "probability": float(row[k]), "evidence": evidence}
        if proba:
            answer["probabilities"] = dict(zip(model.classes_, row.tolist(), strict=True))
        yield as_json(answer) + "\n"


def _scored(model: Model, batch: Any) -> tuple[Any, Any, Any]:
    """Probabilities (N, K), the most probable class (N,) and the number of known words (N,)."""
    # Not `model.score`, which loads pyarrow for texts that are not a list.
    scores, evidence = model.score_batch(batch)
    best = scores.argmax(axis=1)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares, best, evidence[:, 0]
