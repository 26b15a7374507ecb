"""``explain``: show which words decided, and what would change the answer."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

from textodds.cli.commands import command, option
from textodds.cli.options import COUNT, model_argument, reading_options, running_options, top_option
from textodds.cli.output import aligned, counted, echo, faint, harmless, one_line, say, show, strong, styled
from textodds.cli.texts import TextOptions, batches_given, rows_of, text_options
from textodds.data.written_file import replacing
from textodds.errors import InputError, Unsupported
from textodds.model.explain import OTHERS, DecisiveWords, Explanation
from textodds.model.explain.markup import page
from textodds.model.file import load
from textodds.model.multilabel.label_refusals import refuse
from textodds.model.multilabel.several_labels import is_multilabel
from textodds.model.text_model import TextModel

if TYPE_CHECKING:
    from textodds.model.file import AnyModel
    from textodds.model.tables.table_model import TableExplanation

ROW = "Explain only this row of DATA, from 1."
PARTS = "List features (pairs, letters) rather than the words they lie in; in JSON, beside them."
LIMIT = "Explain at most N rows of DATA.  [default: 10; with --json all]"
FIRST = 10  # rows that are explained to people, unless they want more
STRONG = 0.5  # share of the strongest word's log-odds from which on a word is bold


@command(
    "explain",
    examples=[
        'textodds explain mail.textodds --say "win a free phone"',
        'textodds explain news.textodds --say "rates fall" --why-not sport',
        "textodds explain mail.textodds new.csv --limit 3",
        "textodds explain mail.textodds new.csv --row 17 --html why.html",
        "tail -f log.txt | textodds explain log.textodds --json",
    ],
)
@model_argument()
@text_options("Explain")
@option("What to explain", "--row", type=COUNT, metavar="N", help=ROW)
@option("What to explain", "--limit", type=COUNT, metavar="N", help=LIMIT)
@option(
    "What to explain", "--label", "asked", metavar="LABEL", help="Explain this class instead of the answer."
)
@option(
    "What to explain",
    "--why-not",
    metavar="RIVAL",
    help="Explain against this class instead of the runner-up.",
)
@option("What to explain", "--others", is_flag=True, help="Explain against all other classes together.")
@top_option(20, "Words to list; the rest are summed in one line.")
@option("What to show", "--parts", is_flag=True, help=PARTS)
@option(
    "What to show", "--html", metavar="FILE", writes="page", help="Write a page with the words highlighted."
)
@reading_options(labelled=False)
@running_options(json="Print full explanations, one JSON object a line.", threads=False)
def explain(
    model: str,
    row: int | None,
    limit: int | None,
    asked: str | None,
    why_not: str | None,
    others: bool,
    top: int,
    parts: bool,
    html: str | None,
    as_json_: bool,
    quiet: bool,
    **options: Unpack[TextOptions],
) -> None:
    """Show which words decided an answer.

    Prints each word's contribution to the log-odds of the answer against the runner-up; with the prior they
    sum to the answer's. Green, underlined words support the answer, red ones oppose it. Where the
    features are pairs of words or characters, each word has the sum of its shares.

    Of several labels a text, each label that is given is explained against its absence, with its
    threshold; where none is, the most probable. With `--json` they are a list.

    Texts are given with `--say`, in DATA or on stdin, as for `predict`. Explains the first ten rows of
    DATA, or as many as `--limit` says; with `--json` all.
    """
    if row is not None and limit is not None:
        raise InputError("`--row` and `--limit` cannot be combined", hint="leave out one of the two")
    if others and why_not is not None:
        raise InputError("`--others` and `--why-not` cannot be combined", hint="leave out one of the two")
    opened = load(model)
    if is_multilabel(opened):
        refuse({"why_not": why_not, "others": others})
    elif not isinstance(opened, TextModel) and (others or parts or html is not None):
        raise Unsupported(
            "`--others`, `--parts` and `--html` apply to texts only",
            hint="leave them out; `--why-not` takes any class",
        )
    most = FIRST if limit is None and not as_json_ and not options["texts"] else limit
    of_data = ("row", "limit")
    with batches_given(opened, options, "explaining", quiet=quiet or as_json_, of_data=of_data) as batches:
        rows = rows_of(opened, batches)
        if row is not None or html is not None or len(options["texts"]) == 1:
            given = _only_one(rows) if row is None else _row(rows, row)
            _explain_one(opened, given, asked, why_not, others, top, parts, html, as_json_)
            return
        for number, given in enumerate(rows, 1):
            if most is not None and number > most:
                more = f"\nthat was {counted(most, 'row')}; for more: `--limit N`, for one: `--row N`"
                say(more, quiet=quiet or limit is not None)
                return
            if not as_json_:
                echo(("" if number == 1 else "\n") + faint(f"row {number:,}"))
            _explain_one(opened, given, asked, why_not, others, top, parts, None, as_json_)
            sys.stdout.flush()


def _explain_one(
    opened: AnyModel,
    given: Any,
    label: str | None,
    why_not: str | None,
    others: bool,
    top: int,
    parts: bool,
    html: str | None,
    as_json_: bool,
) -> None:
    """Print the explanation of one text or row, and write its page, if there is to be one."""
    if is_multilabel(opened):
        from textodds.cli.several_labels.explanations import explain_labels

        explain_labels(opened, given, label, top=top, parts=parts, html=html, json=as_json_)
        return
    if not isinstance(opened, TextModel):
        by_column = opened.explain(given, label, why_not)
        show(_plain(by_column), _row_lines(by_column), json=as_json_)
        return
    explanation = opened.explain(given, label, OTHERS if others else why_not)
    flip = explanation.flip()
    if html is not None:
        with replacing(html) as temporary:
            temporary.write_text(page(explanation, parts=parts), encoding="utf-8")
    about = {**explanation.as_dict(parts=parts), "flip": None if flip is None else asdict(flip)}
    show(about, _text_lines(explanation, given, flip, top, parts=parts), json=as_json_)
    if html is not None:
        say(f"\nwrote {html}", quiet=as_json_)


def _row(rows: Iterator[object], row: int) -> Any:
    """The text or row of this number, from 1."""
    before = 0
    for before, given in enumerate(rows, 1):
        if before == row:
            return given
    raise InputError(f"there is no row {row:,}: the data have {counted(before, 'row')}")


def _only_one(rows: Iterator[object]) -> Any:
    """The one text that there is."""
    found = list(itertools.islice(rows, 2))
    if len(found) == 1:
        return found[0]
    many = "several" if found else "none"
    raise InputError(f"`--html` takes one text, got {many}", hint="choose one: `--row N`")


def _plain(explanation: TableExplanation) -> dict[str, Any]:
    names = ("column", "value", "log_odds")
    return asdict(explanation) | {
        "columns": [dict(zip(names, each, strict=True)) for each in explanation.columns]
    }


def _row_lines(explanation: TableExplanation) -> Iterator[str]:
    yield f"{strong(one_line(explanation.label))} rather than {one_line(explanation.rival)}"
    yield ""
    rows = [[faint(name), "", f"{odds:+.2f}"] for name, odds in explanation.start_lines]
    rows += [
        [one_line(name), faint("" if value is None else one_line(str(value))), signed(odds)]
        for name, value, odds in explanation.columns
    ]
    yield from aligned([*rows, [strong("log-odds"), "", strong(f"{explanation.log_odds:+.2f}")]], left=2)


def _text_lines(
    explanation: Explanation, text: str, flip: DecisiveWords | None, top: int, *, parts: bool
) -> Iterator[str]:
    rival = "all others" if explanation.rival == OTHERS else one_line(explanation.rival)
    yield harmless(text) if not explanation.stretches else coloured(explanation, text)
    yield ""
    yield f"{strong(one_line(explanation.label))} {explanation.probability:.4f}, rather than {rival}"
    yield ""
    yield from sum_lines(explanation, top, parts=parts)
    yield _flip_line(flip, explanation)


def sum_lines(explanation: Explanation, top: int, *, parts: bool) -> Iterator[str]:
    """The terms that add up to the log-odds, and the words that the model does not know."""
    rows = [
        [one_line(name), signed(odds)] if is_one else [faint(name), f"{odds:+.2f}"]
        for name, odds, is_one in explanation.sum_lines(top, parts=parts)
    ]
    rows.append([strong("log-odds"), strong(f"{explanation.log_odds:+.2f}")])
    yield from aligned(rows)
    if explanation.unknown_words:
        yield ""
        yield faint(f"unknown: {', '.join(map(one_line, explanation.unknown_words))}")
    yield ""


def _flip_line(flip: DecisiveWords | None, explanation: Explanation) -> str:
    if flip is None:
        return f"no words were found without which the answer would not be {one_line(explanation.label)}"
    words = ", ".join(f"“{one_line(word)}”" for word in flip.words)
    fewest = "" if flip.exact else " (fewer might do)"
    return f"without {words}: {strong(one_line(flip.label_after))} {flip.probability_after:.4f}{fewest}"


def signed(odds: float) -> str:
    """Log-odds, green for and red against."""
    return styled(f"{odds:+.2f}", fg="green" if odds > 0 else "red" if odds < 0 else None)


def coloured(explanation: Explanation, text: str) -> str:
    """The text, its words green for the label and red against it, bold where they say much."""
    most = max(abs(stretch.log_odds) for stretch in explanation.stretches)
    pieces, end = [], 0
    for stretch in explanation.stretches:
        pieces.append(harmless(text[end : stretch.start]))
        word = harmless(text[stretch.start : stretch.end])
        if stretch.log_odds:
            is_for = stretch.log_odds > 0
            is_bold = abs(stretch.log_odds) >= STRONG * most
            word = styled(word, fg="green" if is_for else "red", underline=is_for, bold=is_bold)
        elif not stretch.known:
            word = faint(word)
        pieces.append(word)
        end = stretch.end
    return "".join([*pieces, harmless(text[end:])])
