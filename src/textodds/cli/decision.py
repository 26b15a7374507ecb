"""What to do about probabilities: the options of losses, guarantees and sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from textodds.cli.commands import F, option, together
from textodds.cli.options import SHARE, Reading, number
from textodds.cli.output import say
from textodds.model.output.decision import Decision, notes_of, rule_of

if TYPE_CHECKING:
    from textodds.judge.decisions import Rule
    from textodds.model.file import Model
    from textodds.model.output.answers import Decide

SECTION = "Decisions"
DECISION = tuple(each.name for each in fields(Decision))
"""Names of the options that decide."""


class AnswerOptions(Reading):
    """What decides in the place of the most probable class."""

    loss: tuple[str, ...]
    abstain: float | None
    threshold: float | None
    tree: bool
    max_error: float | None
    sets: float | None
    by_class: bool


COST = number(float, "a cost of zero or more", lambda x: math.isfinite(x) and x >= 0)
INSIDE = number(float, "a number above 0 and below 1", lambda x: 0 < x < 1)


def loss_options() -> Callable[[F], F]:
    """``--loss`` and ``--abstain``."""
    losses = (
        "Cost of mistakes, as TRUTH->ANSWER: `ham->spam: 20`, or a CSV file of all classes "
        "(answers in the header); others cost 1. May be repeated."
    )
    abstain = "Cost of no answer; abstain where an answer would cost more."
    return together(
        option(SECTION, "--loss", multiple=True, metavar="LOSSES", help=losses),
        option(SECTION, "--abstain", type=COST, metavar="COST", help=abstain),
    )


def guarantee_options() -> Callable[[F], F]:
    """``--threshold``, ``--tree``, ``--max-error``, ``--set`` and ``--by-class``."""
    threshold = "Abstain below this probability."
    tree = "Labels are paths such as a/b/c: go as deep as the probability allows, 0.5 or --threshold."
    max_error = "Abstain so that at most this share of answers is wrong, with 95 % confidence."
    sets = "Answer with a set of labels that contains the true one with this probability."
    by_class = "With --set: guarantee the probability within every class."
    return together(
        option(SECTION, "--threshold", type=SHARE, metavar="PROBABILITY", help=threshold),
        option(SECTION, "--tree", is_flag=True, help=tree),
        option(SECTION, "--max-error", type=INSIDE, metavar="RATE", help=max_error),
        option(SECTION, "--set", "sets", also=["--sets"], type=INSIDE, metavar="COVERAGE", help=sets),
        option(SECTION, "--by-class", is_flag=True, help=by_class),
    )


def rule_given(model: Model, loss: Sequence[str], abstain: float | None, *, quiet: bool) -> Rule | None:
    """The rule that ``--loss`` and ``--abstain`` give, said if it is a threshold; None without them."""
    rule = rule_of(model, loss, abstain)
    if rule is not None:
        for note in notes_of(rule, model.class_names):
            say(note, quiet=quiet)
    return rule


def decision_given(options: AnswerOptions) -> Decision:
    """The decision that the options ask for."""
    return Decision(**{name: options[name] for name in DECISION})  # type: ignore[literal-required]


def answers_of(
    model: Model, prior: str | dict[str, float] | None, options: AnswerOptions, *, quiet: bool
) -> Decide | None:
    """What the options make of probabilities; None if the most probable class is all that is wanted."""
    decided = decision_given(options).of(model, prior)
    for note in decided.notes:
        say(note, quiet=quiet)
    return decided.decide
