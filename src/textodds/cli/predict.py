"""``predict``: label texts with a trained model."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from textodds.cli.answers import say_unknown, write_answers
from textodds.cli.commands import command, option
from textodds.cli.decision import (
    SECTION,
    AnswerOptions,
    answers_of,
    decision_given,
    guarantee_options,
    loss_options,
)
from textodds.cli.options import (
    COUNT,
    PRIOR,
    goal_option,
    model_argument,
    portions,
    reading_options,
    running_options,
)
from textodds.cli.output import as_json, one_line, say
from textodds.cli.predict_files import (
    answer_files,
    is_folder,
    kept_columns,
    many_files_options,
    refuse_of_folders,
)
from textodds.cli.texts import TextOptions, batches_given, source_given, text_options
from textodds.errors import InputError
from textodds.learn.forms.linear import log_softmax
from textodds.model.file import load
from textodds.model.multilabel.label_refusals import refuse, refuse_of_one
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.output.answer_request import AnswerRequest
from textodds.model.output.answer_rows import UnknownTexts
from textodds.model.output.answers import Decide
from textodds.model.output.decision import Answer

if TYPE_CHECKING:
    from textodds.judge.thresholds import Goal
    from textodds.model.file import AnyModel, Model
    from textodds.model.multilabel.multilabel_model import MultiLabelModel

OUTPUT = (
    "Write all columns of DATA followed by the answers: a .csv, .tsv, .jsonl or .parquet file (the first "
    "three also packed, such as .gz), - for stdout, or FOLDER/ for one file for each of DATA."
)
KEEP = "With -o: write this column of DATA, not all; may be repeated, or `none` for answers alone."
PROBA = "Print the probability of every class, most probable first; with -o, as columns p(CLASS)."
TOP = "Print the N most probable classes; with -o, as columns label_1, probability_1, ..."
GOAL = "Of several labels: choose thresholds for this goal, such as precision=0.95."
OTHER_PRIOR = "Use another class prior: data, uniform, or spam=0.02,ham=0.98."
FAMILIARITY = (
    "Add a novelty p-value, for a model trained with `--typical`: a small "
    "number says that a text is unlike any that was learned."
)
JSON = (
    "One JSON object a line: label, probability, evidence (known words), probabilities; and action "
    "(null for no answer), expected_loss or set, where these decide; or labels and probabilities."
)


class PredictOptions(AnswerOptions, TextOptions):
    """What to answer, of which texts, and how data is read."""

    proba: bool
    top: int | None
    familiarity: bool
    keep: tuple[str, ...]
    goal: Goal | None
    as_json_: bool
    workers: int | None
    shard: tuple[int, int] | None
    force: bool
    output_format: str | None


PIECE = 4096  # lines written at once: fast where stdout is not buffered, and soon aware that nobody reads


@command(
    "predict",
    examples=[
        'textodds predict mail.textodds --say "win a free phone"',
        "textodds predict mail.textodds new.csv -o answers.csv",
        "textodds predict mail.textodds new.csv -o answers.parquet --threshold 0.8",
        'textodds predict mail.textodds new.csv --loss "ham->spam: 20" --abstain 0.5',
        "textodds predict mail.textodds new.csv --max-error 0.01",
        "textodds predict mail.textodds new.parquet -o answers.parquet --keep id",
        "textodds predict tickets.textodds new.csv --goal precision=0.95",
        "textodds predict mail.textodds 'mail/*.parquet' -o answers/ --workers 8",
        "tail -f log.txt | textodds predict log.textodds",
    ],
)
@model_argument()
@text_options("Label")
@option("Answers", "-o", "--output", metavar="PATH", writes="file of answers", help=OUTPUT)
@option("Answers", "--keep", multiple=True, metavar="COLUMN", help=KEEP)
@option("Answers", "--proba", is_flag=True, help=PROBA)
@option("Answers", "--top", type=COUNT, metavar="N", help=TOP)
@option("Answers", "--prior", type=PRIOR, metavar="PRIOR", help=OTHER_PRIOR)
@option("Answers", "--familiarity", is_flag=True, help=FAMILIARITY)
@loss_options()
@guarantee_options()
@goal_option(SECTION, GOAL)
@many_files_options()
@reading_options(labelled=False)
@running_options(json=JSON)
def predict(
    model: str,
    output: str | None,
    prior: str | dict[str, float] | None,
    threads: int | None,
    quiet: bool,
    **options: Unpack[PredictOptions],
) -> None:
    """Predict labels of texts or table rows.

    Prints one line for each text, in order: the label, a tab, and its probability. Lines of stdin are
    answered as they come. With losses, a threshold or a guaranteed error rate, the label is the decision,
    or ? for no answer. Of several labels a text, those from their thresholds on are printed, most
    probable first, then a tab and their probabilities; `--threshold` is one threshold for all labels.

    With -o, the answers follow the columns of DATA: label, empty for no answer, and probability. If DATA
    has a column of that name, the answer is called predicted_label, and so on. With `--bad-rows skip`,
    bad rows that can be parsed stay, without an answer.

    With -o FOLDER/, every file of DATA has a file of answers there. Run again after an interruption, it
    skips the files that are finished. Files that cannot be read are named at the end.
    """
    _check(output, options)
    if output is not None and is_folder(output):
        answer_files(model, options["data"], output, prior, options, threads=threads, quiet=quiet)
        return
    refuse_of_folders(options)
    answering = load(model, threads=threads)
    if output is not None:
        _predict_to_file(answering, output, prior, options, quiet=quiet)
        return
    if is_multilabel(answering):
        _predict_labels(answering, prior, options, quiet=quiet)
        return
    refuse_of_one({"goal": options["goal"]})
    if prior is not None:
        answering = answering.with_prior(prior)
    decide = answers_of(answering, prior, options, quiet=quiet)
    unknown = UnknownTexts(answering)
    with batches_given(answering, options, "answering", quiet=quiet) as batches:
        _write(answering, batches, decide, options, unknown)
    say_unknown(unknown, quiet=quiet or options["as_json_"])


def _predict_to_file(
    model: AnyModel,
    output: str,
    prior: str | dict[str, float] | None,
    options: PredictOptions,
    *,
    quiet: bool,
) -> None:
    """Write the rows of DATA with their answers."""
    asked = AnswerRequest(
        decision_given(options),
        options["proba"],
        options["top"],
        options["familiarity"],
        prior,
        options["goal"],
    )
    answering = asked.of(model)
    for note in answering.notes:
        say(note, quiet=quiet)
    kept = kept_columns(options["keep"])
    source = source_given(answering.model, options, keep_rows=True if kept is None else kept)
    write_answers(source, output, answering.begin(), quiet=quiet)


def _predict_labels(model: MultiLabelModel, prior: object, options: PredictOptions, *, quiet: bool) -> None:
    """Print the labels of texts that may have several."""
    from textodds.cli.several_labels.answers import answer_lines
    from textodds.model.multilabel.label_answer_rows import with_decision

    names = ("loss", "abstain", "max_error", "sets", "by_class", "familiarity", "tree")
    refuse({**{name: options[name] for name in names}, "prior": prior})  # type: ignore[literal-required]
    model = with_decision(model, options["threshold"], options["goal"])
    wanted: dict[str, Any] = {"proba": options["proba"], "top": options["top"]}
    unknown = UnknownTexts(model)
    with batches_given(model, options, "answering", quiet=quiet) as batches:
        for batch in portions(batches, len(model.classes_)):
            _put(answer_lines(model, batch, unknown, json=options["as_json_"], **wanted))
    say_unknown(unknown, quiet=quiet or options["as_json_"])


def _put(lines: Iterator[str]) -> None:
    """Write lines, and see to it that they arrive before more are waited for."""
    while piece := "".join(itertools.islice(lines, PIECE)):
        sys.stdout.write(piece)
    sys.stdout.flush()


def _check(output: str | None, options: PredictOptions) -> None:
    """Refuse options that could only be ignored."""
    if output is None and options["proba"] and options["top"] is not None:
        raise InputError("`--top` and `--proba` cannot be combined", hint="leave out one of the two")
    if output is None and options["keep"]:
        raise InputError(
            "`--keep` is about columns of DATA beside the answers", hint="name a file: `-o answers.csv`"
        )
    if output is not None and options["texts"]:
        raise InputError(
            "`-o` writes rows of DATA, and cannot be combined with `--say`",
            hint="leave out one of the two",
        )
    if output is not None and options["as_json_"]:
        raise InputError(
            "`--json` prints to stdout, and cannot be combined with `-o`",
            hint="name a file: `-o answers.jsonl`",
        )


def _write(
    model: Model,
    batches: Iterable[Any],
    decide: Decide | None,
    options: PredictOptions,
    unknown: UnknownTexts,
) -> None:
    """Write the answers of each batch before the next is waited for."""
    for batch in portions(batches, len(model.classes_)):
        _put(_lines(model, batch, decide, options, unknown))


def _lines(
    model: Model, batch: Any, decide: Decide | None, options: PredictOptions, unknown: UnknownTexts
) -> Iterator[str]:
    """The lines of a batch: of the most probable class, or of what is decided."""
    familiar = model.familiarity_of(batch) if options["familiarity"] else []
    # Not `model.score`, which loads pyarrow for texts that are not a list.
    scores, evidence = model.score_batch(batch)
    unknown.see(evidence)
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
            if options["top"] is not None:
                order = np.argsort(-row, kind="stable")[: options["top"]].tolist()
                about["probabilities"] = {model.class_names[at]: float(row[at]) for at in order}
            if familiar:
                about |= {name: getattr(familiar[i], name) for name in ("log_density", "surprise", "p_value")}
            yield as_json(about) + "\n"
        return
    ends = [f"\t{each.p_value:.4f}\n" for each in familiar] if familiar else ["\n"] * len(p)
    if options["proba"] or options["top"] is not None:
        for row, (first, _, _), end in zip(p, answers, ends, strict=True):
            order = np.argsort(-row, kind="stable")[: options["top"]].tolist()
            pairs = [f"{names[k]}\t{row[k]:.4f}" for k in order]
            yield "\t".join(pairs if decide is None else [first, *pairs]) + end
    else:
        for (first, share, _), end in zip(answers, ends, strict=True):
            yield f"{first}\t{share:.4f}{end}"
