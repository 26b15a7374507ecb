"""The page of a comparison: models side by side, in tables, sentences and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from textodds.study.report import comparison_pictures as pictures
from textodds.study.report import html
from textodds.study.report.html import Markup
from textodds.study.report.inline import svg

if TYPE_CHECKING:
    from textodds.study.compare.comparison import Comparison, Row
    from textodds.study.compare.pairs import PairedTest


def comparison_page(found: Comparison) -> str:
    """The page, self-contained."""
    setting = found.setting
    title = f"{len(found.rows)} models side by side" if len(found.rows) != 1 else "One model"
    return html.document(
        title,
        *_headline(found),
        *([] if found.is_whole else [html.section("This page is not whole", *map(_sentence, found.missing))]),
        *_quality(found),
        *_verdicts(found),
        *_curves(found),
        *_times(found),
        *_reliability(found),
        _how(found),
        html.paragraph(f"Made by textodds {version('textodds')}. All intervals are at 95 %.", note=True),
        lead=html.joined(html.name(setting.source), f": {setting.sentence()}."),
    )


def _headline(found: Comparison) -> Iterator[Markup]:
    """The best by each measure, at large."""
    if not found.rows:
        yield html.paragraph("No model could be measured.")
        return
    best = found.rows[0]
    known = [row for row in found.rows if math.isfinite(row.evaluation.log_loss)]
    low, high = best.evaluation.accuracy_interval
    boxes = [("most accurate", best.name, f"{best.evaluation.accuracy:.2%} ({low:.2%} to {high:.2%})")]
    if known:
        surest = min(known, key=lambda row: row.evaluation.log_loss)
        low, high = surest.evaluation.log_loss_interval
        boxes.append(
            ("best log-loss", surest.name, f"{surest.evaluation.log_loss:.4f} ({low:.4f} to {high:.4f})")
        )
    fastest = min(found.rows, key=lambda row: row.training.cpu)
    boxes.append(("fastest to train", fastest.name, f"{duration(fastest.training.cpu)} of processor time"))
    smallest = min(found.rows, key=lambda row: row.bytes)
    boxes.append(("smallest file", smallest.name, size(smallest.bytes)))
    yield html.measures(boxes)
    equals = [each.other for each in found.tests if each.measure == "accuracy" and not each.is_told]
    if equals:
        others = equals[0] if len(equals) == 1 else f"{', '.join(equals[:-1])} and {equals[-1]}"
        yield html.paragraph(
            f"By accuracy, {others} cannot be told apart from {best.name} on these "
            f"{found.setting.n_test:,} {found.setting.noun}s."
        )


def _quality(found: Comparison) -> Iterator[Markup]:
    if not found.rows:
        return
    quality = ["accuracy", "macro-F1", "log-loss", "calibration error"]
    rows = [
        [
            html.joined(html.name(row.name), Markup('<br><span class="note">'), row.made, Markup("</span>")),
            _with_interval(row, "accuracy", ".2%"),
            _with_interval(row, "macro_f1", ".4f"),
            _with_interval(row, "log_loss", ".4f"),
            f"{row.evaluation.calibration_error:.4f}",
            _two_lines(duration(row.training.wall), duration(row.training.cpu)),
            _two_lines(duration(row.predicting_thousand.wall), duration(row.predicting_thousand.cpu)),
            size(row.bytes),
        ]
        for row in found.rows
    ]
    drawn = html.figure(
        svg(pictures.accuracy_dots(found)),
        "Accuracy (Wilson) and log-loss with their intervals at 95 %. Intervals that overlap do not mean "
        "that models are equal: the tests below compare them row by row.",
        "Dots with intervals: accuracy and log-loss of each model",
    )
    parts = [
        html.table(["model", *quality, "train", "predict 1,000", "file"], rows),
        html.paragraph(
            "All models have seen the same rows, and were asked about the same others. Under each time is "
            "that of the processors; reading the data is not in it. Calibration error: by how much "
            "probabilities are off, in the mean.",
            note=True,
        ),
        drawn,
    ]
    for row in found.rows:
        parts += [html.paragraph(f"{row.name}: {each}", note=True) for each in row.notes]
    if found.refused:
        head = ["not possible with this data", "why"]
        parts.append(html.table(head, [list(each) for each in found.refused.items()], numeric=False))
    yield html.section("How good, how fast, how large", *parts)


def _verdicts(found: Comparison) -> Iterator[Markup]:
    if not found.tests:
        return
    noun = found.setting.noun
    parts: list[str] = [
        html.paragraph(
            f"Every model was asked about the same {found.setting.n_test:,} {noun}s, so that the best is "
            f"compared with each of the others {noun} by {noun}: by accuracy with McNemar's exact test, by "
            "log-loss with a paired t-test. P-values are corrected for their number (Holm); intervals are of "
            "one pair each. That the best was found on the same rows flatters it a little."
        )
    ]
    for measure, title in (("accuracy", "By accuracy"), ("log_loss", "By log-loss")):
        tests = [each for each in found.tests if each.measure == measure]
        if tests:
            parts.append(html.section(title, _tests(tests, noun), level=3))
    yield html.section("Who is better than whom", *parts)


def _tests(tests: list[PairedTest], noun: str) -> Markup:
    of_accuracy = tests[0].measure == "accuracy"
    head = ["against", "better by", "95 % interval", "p", "p after Holm", "verdict"]
    if of_accuracy:
        head.insert(1, "only one right")
    rows = []
    for each in tests:
        scale, digits, unit = (100, 2, " points") if of_accuracy else (1, 4, "")
        low, high = (f"{scale * end:.{digits}f}" for end in each.interval)
        cells = [
            html.name(each.other),
            f"{scale * each.difference:.{digits}f}{unit}",
            f"{low} to {high}",
            p_value(each.p_value),
            p_value(each.adjusted),
            f"{each.best} is better" if each.is_told else "cannot be told apart",
        ]
        if each.only is not None:
            cells.insert(1, f"{each.only[0]:,} : {each.only[1]:,}")
        rows.append(cells)
    return html.table(
        head, rows, caption=f"{tests[0].best} against each of the others, {tests[0].n:,} {noun}s"
    )


def _curves(found: Comparison) -> Iterator[Markup]:
    shown = [curve for curve in found.curves if len(curve.points) > 1]
    if not shown:
        return
    noun = found.setting.noun
    parts: list[str] = [
        html.figure(
            svg(pictures.learning_curves(found)),
            f"Every model on the first of the {noun}s in random orders, in which each beginning has all "
            "classes in about their shares. Lines: means; bands: least and most of the repeats. Measured on "
            f"{found.setting.curve_rows:,} held-out {noun}s. Both axes are logarithmic; losses far above "
            "that of guessing by the shares of the classes are left out.",
            "Curves: wrong answers and log-loss of each model over the number of rows learned from",
        )
    ]
    if found.overtakings:
        parts.append(html.section("Who overtakes whom", *_overtakings(found), level=3))
    if found.is_whole:
        parts += [html.paragraph(_sentence(each), note=True) for each in found.missing]
    parts.append(html.details("All points", _points(found)))
    yield html.section("How fast they learn", *parts)


def _overtakings(found: Comparison) -> Iterator[Markup]:
    items = "".join(
        f"<li>{html.joined(_sentence(each.sentence(found.setting.noun)))}</li>" for each in found.overtakings
    )
    yield Markup(f"<ul>{items}</ul>")
    yield html.paragraph(found.explanation())
    if found.setting.noun == "text":
        yield html.paragraph(
            "Unless they are told otherwise, naive Bayes has single words, and softmax regression what does "
            "best, as the table says. For a pair that differs in nothing but how it is fitted: `--models "
            "multinomial,softmax:ngrams=1`. Below 100 texts the smoothing of naive Bayes is 1, and its "
            "probabilities are as Bayes' rule has them; from there on both are fitted to the texts.",
            note=True,
        )


def _points(found: Comparison) -> Markup:
    measures = ["wrong", "least", "most", "log-loss", "least", "most"]
    rows = [
        [
            html.name(curve.name),
            f"{point.size:,}",
            f"{len(point.errors)}",
            *(f"{value:.2%}" for value in (point.error, min(point.errors), max(point.errors))),
            *(f"{value:.4f}" for value in (point.log_loss, min(point.log_losses), max(point.log_losses))),
        ]
        for curve in found.curves
        for point in curve.points
    ]
    return html.table(["model", f"{found.setting.noun}s", "repeats", *measures], rows)


def _times(found: Comparison) -> Iterator[Markup]:
    if len(found.rows) < 2:
        return
    yield html.section(
        "What it takes",
        html.figure(
            svg(pictures.time_scatter(found)),
            "Accuracy over processor time, whose axis is logarithmic: up and to the left is better. Bars are "
            "intervals at 95 %.",
            "Points: accuracy of each model over the time it takes to train and to predict",
        ),
    )


def _reliability(found: Comparison) -> Iterator[Markup]:
    if not found.rows:
        return
    yield html.section(
        "Do probabilities mean what they say?",
        html.figure(
            svg(pictures.reliability_panels(found)),
            "Answers in 15 bins by their probability, with intervals at 95 %: on the dashed line, of those "
            "said to be 80 % sure, 80 % are right. Below it a model is too sure, above it too timid.",
            "Small panels, one for each model: share of right answers over probability",
        ),
    )


def _how(found: Comparison) -> Markup:
    """What the numbers are of."""
    setting = found.setting
    facts = [
        ["data", html.name(setting.source)],
        ["learned from", f"{setting.n_train:,} {setting.noun}s"],
        ["held out", f"{setting.n_test:,} {setting.noun}s: {setting.held_out}"],
        ["held out and also learned from", f"{setting.shared:,}"],
        ["seed", f"{setting.seed}"],
    ]
    shares = sorted(setting.classes.items(), key=lambda each: -each[1])
    classes = [[html.name(label), f"{rows:,}", f"{rows / setting.n_train:.1%}"] for label, rows in shares]
    return html.section(
        "The data",
        html.table(["what", "value"], facts, numeric=False),
        html.details(
            f"{len(classes):,} classes", html.table(["class", "rows learned from", "share"], classes)
        ),
    )


def _with_interval(row: Row, measure: str, format_: str) -> Markup:
    low, high = getattr(row.evaluation, f"{measure}_interval")
    value = getattr(row.evaluation, measure)
    return _two_lines(f"{value:{format_}}", f"{low:{format_}} to {high:{format_}}")


def _two_lines(large: str, small: str) -> Markup:
    return html.joined(large, Markup("<br><small>"), small, Markup("</small>"))


def _sentence(text: str) -> str:
    """A clause as a sentence.

    >>> _sentence("in error, a overtakes b")
    'In error, a overtakes b.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def p_value(p: float) -> str:
    """A p-value with as many digits as mean something.

    >>> p_value(0.0314159), p_value(3e-9), p_value(1.0)
    ('0.031', '< 0.0001', '1')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def duration(seconds: float) -> str:
    """Time for people.

    >>> duration(0.00042), duration(0.0424), duration(3.14159), duration(200)
    ('0.42 ms', '42 ms', '3.1 s', '3 min 20 s')
    """
    if seconds < 1:
        return f"{seconds * 1000:.2g} ms" if seconds < 0.0995 else f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def size(n: float) -> str:
    """Bytes for people.

    >>> size(980), size(44_723)
    ('980 bytes', '44.7 kB')
    """
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(int(math.log10(max(n, 1)) // 3), len(units) - 1)
    return f"{n / 1000**power:.3g} {units[power]}"
