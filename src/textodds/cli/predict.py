"""``predict``: label texts with a trained model."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from textodds.cli.commands import argument, command, option
from textodds.cli.decision import (
    Answer,
    AnswerOptions,
    Answers,
    answers_of,
    guarantee_options,
    loss_options,
)
from textodds.cli.options import (
    PRIOR,
    literal_batches,
    model_argument,
    portions,
    reading_options,
    running_options,
    say_option,
    source_for,
)
from textodds.cli.output import as_json, one_line
from textodds.cli.progress import watched
from textodds.data.files import STDIN
from textodds.learn.forms.linear import log_softmax
from textodds.model.file import load

if TYPE_CHECKING:
    from textodds.model.file import Model

PROBA = "Give the probability of every class, the most probable first."
OTHER_PRIOR = "Answer under another prior: data, uniform, or spam=0.02,ham=0.98."
FAMILIARITY = (
    "Add how often typical texts are as surprising, for a model trained with `--typical`: a small "
    "number says that a text is unlike any that was learned."
)
JSON = (
    "One JSON object a line: label, probability, evidence (known words), probabilities; and action "
    "(null for no answer), expected_loss or set, where these decide."
)


class PredictOptions(AnswerOptions):
    """What to answer, and how data is read."""

    proba: bool
    familiarity: bool
    as_json_: bool


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
@model_argument()
@argument("data", "Files or patterns; by default -, which is stdin with one text a line.", nargs=-1)
@say_option("Label this text (of a table, a row as JSON) instead of data; may be repeated.")
@option("Answers", "--proba", is_flag=True, help=PROBA)
@option("Answers", "--prior", type=PRIOR, metavar="PRIOR", help=OTHER_PRIOR)
@option("Answers", "--familiarity", is_flag=True, help=FAMILIARITY)
@loss_options()
@guarantee_options()
@reading_options(labelled=False)
@running_options(json=JSON)
def predict(
    model: str,
    data: tuple[str, ...],
    texts: tuple[str, ...],
    prior: str | dict[str, float] | None,
    threads: int | None,
    quiet: bool,
    **options: Unpack[PredictOptions],
) -> None:
    """Label texts or rows of a table.

    Prints one line for each text, in the order of the texts: the label, a tab, and its probability.
    Answers to stdin come as lines come. Where losses or a promise decide, the label is what to
    answer, and ? where it is better not to.
    """
    answering = load(model, threads=threads)
    if prior is not None:
        answering = answering.with_prior(prior)
    decide = answers_of(answering, prior, options, quiet=quiet)
    if texts:
        _write(answering, literal_batches(answering, texts, data), decide, options)
        return
    if not data and options["query"] is None:
        data = (STDIN,)
    source = source_for(answering, data, options, labelled=False)
    with watched(source, "answering", quiet=quiet, bar=not sys.stdout.isatty()) as batches:
        _write(answering, batches, decide, options)


def _write(model: Model, batches: Iterable[Any], decide: Answers | None, options: PredictOptions) -> None:
    """Write the answers, and see to it that they arrive before the next batch is waited for."""
    for batch in portions(batches, len(model.classes_)):
        lines = _lines(model, batch, decide, options)
        while piece := "".join(itertools.islice(lines, PIECE)):
            sys.stdout.write(piece)
        sys.stdout.flush()


def _lines(model: Model, batch: Any, decide: Answers | None, options: PredictOptions) -> Iterator[str]:
    """The lines of a batch: of the most probable class, or of what is decided."""
    familiar = model.familiarity_of(batch) if options["familiarity"] else []
    # Not `model.score`, which loads pyarrow for texts that are not a list.
    scores, evidence = model.score_batch(batch)
    names = [one_line(name) for name in model.class_names]
    answers: Iterable[Answer]
    if decide is None:
        p = np.exp(scores - scores.max(axis=1, keepdims=True))  # (N, K)
        p /= p.sum(axis=1, keepdims=True)
        best = scores.argmax(axis=1)
        shares = p[np.arange(len(best)), best].tolist()
        answers = ((names[k], share, {}) for k, share in zip(best.tolist(), shares, strict=True))
    else:
        log_posterior = log_softmax(scores)
        p, answers = np.exp(log_posterior), decide(log_posterior)
        best = p.argmax(axis=1)
    if options["as_json_"]:
        known = evidence[:, 0].tolist()
        for i, (row, k, n, (_, _, fields)) in enumerate(zip(p, best.tolist(), known, answers, strict=True)):
            about = {"label": model.class_names[k], "probability": float(row[k]), "evidence": n, **fields}
            if options["proba"]:
                about["probabilities"] = dict(zip(model.class_names, row.tolist(), strict=True))
            if familiar:
                about |= {name: getattr(familiar[i], name) for name in ("log_density", "surprise", "p_value")}
            yield as_json(about) + "\n"
        return
    ends = [f"\t{each.p_value:.4f}\n" for each in familiar] if familiar else ["\n"] * len(p)
    if options["proba"]:
        for row, (first, _, _), end in zip(p, answers, ends, strict=True):
            order = np.argsort(-row, kind="stable").tolist()
            pairs = [f"{names[k]}\t{row[k]:.4f}" for k in order]
            yield "\t".join(pairs if decide is None else [first, *pairs]) + end
    else:
        for (first, share, _), end in zip(answers, ends, strict=True):
            yield f"{first}\t{share:.4f}{end}"
