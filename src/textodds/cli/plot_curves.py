"""``plot``: draw the logistic curve, likelihoods, and the losses of gradient descents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from textodds.cli.commands import Command, F, option
from textodds.cli.options import COUNT, number, paths_of, reading_of
from textodds.cli.output import counted, faint, one_line, say, size, strong, table, tell
from textodds.cli.plot import (
    NumberTable,
    PictureOptions,
    _checked_path,
    _column_option,
    _known,
    _many_columns,
    _picture_options,
    _table,
    plot,
)
from textodds.cli.progress import watched
from textodds.data import Schema, read
from textodds.errors import InputError, MissingColumn, NoData
from textodds.learn.design import DesignMatrix
from textodds.learn.recipe import recipe_of
from textodds.learn.registry import learner_named
from textodds.learn.solvers.descent import Descent
from textodds.stats.tally import Tally, default_threads
from textodds.study.report import (
    BinomialTrials,
    Picture,
    descents,
    gaussian_likelihood,
    likelihoods,
    logistic,
)

__all__ = ["plot"]

DESCENT = "Gradient descent"
TEXT = "Column of the texts.  [default: by its name]"
METHODS = "gradient descent, stochastic, mini-batch, and both of the latter with momentum"
ABOVE_ZERO = number(float, "a number above 0", lambda x: 0 < x < float("inf"))
MOMENTUM = number(float, "a number from 0 to below 1", lambda x: 0 <= x < 1)


def _text_option() -> Callable[[F], F]:
    return option("Data", "--text", metavar="COLUMN", help=TEXT)


@plot.command(
    "logistic",
    cls=Command,
    short_help="The logistic curve of one column, and its log-odds as a line.",
    examples=[
        "textodds plot logistic people.csv --column height",
        "textodds plot logistic iris.csv --column petal_length --class setosa -o iris.png",
    ],
)
@_picture_options(
    "logistic",
    _column_option("--column", "wanted", about="The column of numbers; otherwise the first."),
    option(
        "Columns",
        "--class",
        "of_class",
        metavar="LABEL",
        help="Probability of this class; otherwise of the second.",
    ),
)
def logistic_command(
    data: tuple[str, ...],
    output: str | None,
    wanted: str | None,
    of_class: str | None,
    **options: Unpack[PictureOptions],
) -> None:
    """Draw the probability of a class over one column of numbers, and its log-odds.

    Logistic regression by maximum likelihood: the log-odds are the line b + w x, and the probability is the
    logistic function of it. Of more than two classes, one against all others.
    """
    path = _checked_path(data, output, "logistic")
    points = _table(data, options, partial(_one_column, wanted=wanted, quiet=options["quiet"]))
    picture = logistic(points.rows[:, 0], points.labels, points.names[0], of_class)
    about = picture.about
    at = "–" if about["decides_at"] is None else f"{about['decides_at']:.4g}"
    rows = [
        [
            one_line(about["class"]),
            f"{about['bias']:+.4g}",
            f"{about['weight']:+.4g}",
            f"× {about['odds_ratio']:.4g}",
            at,
            f"{about['accuracy']:.1%}",
        ]
    ]
    head = ("class", "bias b", "weight w", "odds ratio", "decides at", "right")
    _told(picture, path, points.source, table(head, rows, left=1), options)


@plot.command(
    "likelihood",
    cls=Command,
    short_help="The likelihood of a word's share, or of a mean and a deviation.",
    examples=[
        "textodds plot likelihood mail.csv --word free",
        "textodds plot likelihood people.csv --column height -o height.png",
    ],
)
@_picture_options(
    "likelihood",
    option("Columns", "--word", metavar="WORD", help="A word of the texts: Bernoulli and multinomial."),
    _column_option("--column", "wanted", about="A column of numbers: Gaussian."),
    _text_option(),
)
def likelihood_command(
    data: tuple[str, ...],
    output: str | None,
    word: str | None,
    wanted: str | None,
    **options: Unpack[PictureOptions],
) -> None:
    """Draw a likelihood over its parameter, class by class, with its maximum.

    Of a word: the share of texts that contain it (Bernoulli), and its share of all words (multinomial), each
    with the estimate of maximum likelihood and with that of Laplace. Of a column of numbers: the mean and the
    standard deviation of a normal distribution.
    """
    path = _checked_path(data, output, "likelihood")
    if (word is None) == (wanted is None):
        raise InputError(
            "name either a word of the texts or a column of numbers",
            hint="`--word WORD` or `--column COLUMN`",
        )
    if wanted is not None:
        if options["text"] is not None:
            raise InputError("`--text` is for `--word`", hint="leave it out")
        points = _table(data, options, partial(_one_column, wanted=wanted, quiet=options["quiet"]))
        picture = gaussian_likelihood(points.rows[:, 0], points.labels, points.names[0])
        fits = picture.about["classes"].items()
        rows = [
            [one_line(name), f"{each['rows']:,}", f"{each['mean']:.6g}", f"{each['deviation']:.6g}"]
            for name, each in fits
        ]
        _told(picture, path, points.source, table(("class", "rows", "mean", "deviation"), rows), options)
        return
    assert word is not None
    tally, source = _counted(data, options)
    by_model, outcomes = word_trials(tally, word)
    picture = likelihoods(by_model, word, outcomes)
    picture.about.update(rows=int(tally.n_documents), classes=list(tally.classes))
    rows = [
        [
            model,
            one_line(label),
            f"{each['successes']:,.6g}",
            f"{each['trials']:,.6g}",
            f"{each['maximum']:.4g}",
            f"{each['smoothed']:.4g}",
        ]
        for model, classes in picture.about["models"].items()
        for label, each in classes.items()
    ]
    head = ("model", "class", "with it", "of", "maximum", "α = 1")
    _told(picture, path, source, table(head, rows, left=2), options)


def word_trials(tally: Tally, word: str) -> tuple[dict[str, dict[str, BinomialTrials]], dict[str, float]]:
    """How often a word was drawn, by model and class, and how many outcomes a draw has.

    >>> tally = Tally.of(["free free phone", "see you"], ["spam", "ham"])
    >>> word_trials(tally, "free")[0]["multinomial"]["spam"]
    BinomialTrials(successes=2.0, trials=3.0)
    """
    at = int(tally.vocabulary.find([word.lower()])[0]) if len(tally.vocabulary) else -1
    if at < 0:
        raise NoData(
            f"no text has the word `{word}`", hint="words are in lower case; see `textodds words TEXT`"
        )
    counts = tally.counts()
    is_own = counts.feature_of == at
    occurrences = counts.by_class(np.where(is_own, counts.occurrences, 0.0))
    documents = counts.by_class(np.where(is_own, counts.documents, 0.0))
    pairs = {
        "Bernoulli": (documents, counts.class_documents),
        "multinomial": (occurrences, counts.by_class(counts.occurrences)),
    }
    by_model = {
        model: {
            name: BinomialTrials(float(x[k]), float(n[k])) for k, name in enumerate(counts.classes) if n[k]
        }
        for model, (x, n) in pairs.items()
    }
    return by_model, {"Bernoulli": 2.0, "multinomial": float(counts.n_features)}


@plot.command(
    "descent",
    cls=Command,
    short_help="The loss of softmax regression over the epochs of gradient descents.",
    examples=[
        "textodds plot descent people.csv --epochs 40",
        "textodds plot descent mail.csv --rate 5 --batch 16 --momentum 0.9",
    ],
)
@_picture_options(
    "descent",
    _text_option(),
    option(
        DESCENT, "--rate", type=ABOVE_ZERO, default=1.0, metavar="η", help="Learning rate; see `Descent`."
    ),
    option(DESCENT, "--epochs", type=COUNT, default=30, metavar="N", help="How often every row is seen."),
    option(DESCENT, "--batch", type=COUNT, default=32, metavar="N", help="Rows in a mini-batch."),
    option(
        DESCENT, "--momentum", type=MOMENTUM, default=0.9, metavar="μ", help="Of the curve with momentum."
    ),
    option(
        DESCENT,
        "--decay",
        type=number(float, "a number of 0 or more", lambda x: 0 <= x < float("inf")),
        default=1.0,
        metavar="δ",
        help="The rate falls as η / (1 + δ epochs) where batches are drawn.",
    ),
    option(
        DESCENT,
        "-C",
        "--strength",
        "strength",
        type=ABOVE_ZERO,
        default=1.0,
        metavar="C",
        help="Strength of the data against the penalty.",
    ),
    option(
        DESCENT,
        "--seed",
        type=number(int, "a whole number", lambda n: n >= 0),
        default=0,
        metavar="SEED",
        help="Of the order of the rows.",
    ),
)
def descent_command(
    data: tuple[str, ...],
    output: str | None,
    rate: float,
    epochs: int,
    batch: int,
    momentum: float,
    decay: float,
    strength: float,
    seed: int,
    **options: Unpack[PictureOptions],
) -> None:
    """Draw the loss of softmax regression after every epoch of four gradient descents.

    Gradient descent, with momentum, in mini-batches, and stochastic, on the same data: words by tf-idf, or
    all columns of numbers, standardised. The optimum that they approach is that of the solver.
    """
    path = _checked_path(data, output, "descent")
    rows, labels, source = _design(data, options)
    drawn: dict[str, Any] = {"decay": decay, "seed": seed}
    methods = [
        Descent(rate, epochs),
        Descent(rate, epochs, momentum=momentum),
        Descent(rate, epochs, batch=batch, **drawn),
        Descent(rate, epochs, batch=1, **drawn),
    ]
    picture = descents(rows, labels, methods if momentum else [methods[0], *methods[2:]], strength)
    curves = picture.about["curves"]
    lines = [
        [
            each["name"],
            each["setting"],
            f"{len(each['losses']) - 1}",
            f"{min(each['losses']):.6g}",
            f"{min(each['losses']) - picture.about['optimum']:.2g}",
        ]
        for each in curves
    ]
    head = ("method", "setting", "epochs", "least loss", "above optimum")
    _told(picture, path, source, table(head, lines, left=2), options)


def _design(data: Sequence[str], options: PictureOptions) -> tuple[Any, list[str], str]:
    """Rows of features with their labels, of texts or of columns of numbers."""
    source = read(paths_of(data, None), **reading_of(options))
    recipe = recipe_of(learner_named("softmax"))
    try:
        with watched(source, "reading", quiet=options["quiet"]) as batches:
            design = DesignMatrix.of(batches, recipe, default_threads())
    except MissingColumn as error:
        if error.wanted != "text" or options["text"] is not None or source.is_stdin:
            raise
        points = _table(data, options, partial(_many_columns, wanted=(), quiet=options["quiet"]))
        return _standardised(points), points.labels, points.source
    own = design.labelled
    return own.rows, [own.classes[k] for k in own.codes.tolist()], source.description


def _standardised(points: NumberTable) -> Any:
    """The columns that vary, standardised; a missing number is the mean."""
    from textodds.study.report.gaussian_fits import LabelledPoints

    data = LabelledPoints.of(points.rows, points.labels, points.names, gaps=True)
    if len(data.rows) < len(points.labels):
        raise InputError(
            f"{len(points.labels) - len(data.rows):,} rows have no number at all, or too rare a label",
            hint="leave them out",
        )
    rows = points.rows - np.nanmean(points.rows, axis=0)
    scale = np.nanstd(points.rows, axis=0)
    return np.nan_to_num(rows[:, scale > 0] / scale[scale > 0])


def _counted(data: Sequence[str], options: PictureOptions) -> tuple[Tally, str]:
    """The words of the texts, counted by class."""
    source = read(paths_of(data, None), **reading_of(options))
    with watched(source, "counting", quiet=options["quiet"]) as batches:
        return Tally.count(batches), source.description


def _one_column(where: str, schema: Schema, *, wanted: str | None, quiet: bool) -> list[str]:
    """The column that is wanted, or the first of numbers."""
    if wanted is not None:
        return [_known(where, schema, wanted, "--column")]
    numbers = schema.names("number")
    if not numbers:
        raise InputError(
            f"{where} has no column of numbers", hint="name one with `--column`, to read it as numbers"
        )
    if len(numbers) > 1:
        say(f"drawing {one_line(numbers[0])}; others: `--column`", quiet=quiet)
    return numbers[:1]


def _told(picture: Picture, path: Any, where: str, lines: Any, options: PictureOptions) -> None:
    """Write the picture, and say what is in it."""
    picture.save(path)
    written = path.stat().st_size
    about = {"picture": str(path), "bytes": written, **picture.about, "notes": list(picture.notes)}
    drawn = f"{counted(picture.about['rows'], 'row')} of {where}"
    told = [
        f"fitted {strong(drawn)} in {counted(len(picture.about['classes']), 'class')}",
        *(faint(f"  {one_line(note)}") for note in picture.notes),
        "",
        *lines,
        "",
        f"wrote {strong(str(path))}: {size(written)}",
    ]
    tell(about, told, json=options["as_json_"], quiet=options["quiet"])
