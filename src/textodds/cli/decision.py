"""What to do about probabilities: the options of losses, guarantees and sets, and the answers they make."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from textodds.cli.commands import F, option, together
from textodds.cli.options import SHARE, Reading, number
from textodds.cli.output import counted, one_line, say
from textodds.errors import InputError, Unsupported
from textodds.learn.arrays import Floats

if TYPE_CHECKING:
    from textodds.judge.decisions import Losses, Rule
    from textodds.learn.held_out import HeldOut
    from textodds.model.file import Model

SECTION = "Decisions"
NO_ANSWER = "?"

Answer = tuple[str, float, Mapping[str, object]]
"""The first column of a line, its probability, and fields of JSON."""

Answers = Callable[[Floats], Iterator[Answer]]
"""The answers to documents of log-posteriors (N, K), in order."""


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


def losses_of(given: Sequence[str], classes: Sequence[str]) -> Losses:
    """The losses that ``--loss`` gives."""
    from textodds.judge.decisions import Losses

    if any(not part.strip() for part in given):
        raise InputError("`--loss` names no class", hint="write them as in `ham->spam: 20, spam->ham: 1`")
    texts = [part for part in given if "->" in part and not part.lower().endswith(".csv")]
    files = [part for part in given if part not in texts]
    if len(files) > 1 or (files and texts):
        raise InputError(
            f"`{files[0]}` gives all losses, and cannot be combined with another `--loss`",
            hint="give one file, or losses like `ham->spam: 20`",
        )
    if files:
        return Losses.of_csv(files[0], classes)
    return Losses.of_text(",".join(texts), classes) if texts else Losses.zero_one(classes)


def rule_of(model: Model, loss: Sequence[str], abstain: float | None, *, quiet: bool) -> Rule | None:
    """The rule that ``--loss`` and ``--abstain`` give, said if it is a threshold; None without them."""
    if not loss and abstain is None:
        return None
    from textodds.judge.decisions import Rule, must_be_posterior

    must_be_posterior(model, "a loss could be expected under")
    rule = Rule(losses_of(loss, model.class_names), abstain)
    if len(model.classes_) == 2:
        say(one_line(rule.told()), quiet=quiet)
    return rule


def answers_of(
    model: Model, prior: str | dict[str, float] | None, options: AnswerOptions, *, quiet: bool
) -> Answers | None:
    """What the options make of probabilities; None if the most probable class is all that is wanted."""
    loss, abstain, by_class = options["loss"], options["abstain"], options["by_class"]
    max_error, sets, threshold = options["max_error"], options["sets"], options["threshold"]
    tree = options["tree"]
    named = (("loss", loss), ("max-error", max_error), ("set", sets), ("tree", tree))
    ways = [name for name, on in named if on]
    if threshold is not None and not tree:
        ways.append("threshold")
    if abstain is not None and not loss:
        ways.insert(0, "abstain")
    if len(ways) > 1:
        raise InputError(
            f"`--{ways[0]}` and `--{ways[1]}` cannot be combined", hint="leave out one of the two"
        )
    if by_class and sets is None:
        raise InputError("`--by-class` applies to `--set` only", hint="give its coverage too: `--set 0.9`")
    if (rule := rule_of(model, loss, abstain, quiet=quiet)) is not None:
        return _least_loss(rule, model.class_names)
    if tree:
        return _down_the_tree(0.5 if threshold is None else threshold, model.class_names)
    if threshold is not None:
        return _from_threshold(threshold, model.class_names)
    if ways and prior is not None:
        raise InputError(
            f"`--{ways[0]}` is guaranteed under the training prior only, and `--prior` changes it",
            hint="leave out one of the two",
        )
    if max_error is not None:
        return _few_errors(model, max_error, quiet=quiet)
    return None if sets is None else _label_sets(model, sets, by_class, quiet=quiet)


def _least_loss(rule: Rule, classes: tuple[str, ...]) -> Answers:
    """Answers of the action of least expected loss."""

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        decisions = rule.decide(log_posterior)
        expected = ({"expected_loss": loss} for loss in decisions.expected_loss.tolist())
        return _actions(classes, log_posterior, decisions.action, expected)

    return answers


def _from_threshold(threshold: float, classes: tuple[str, ...]) -> Answers:
    """Answers of the most probable class, from a probability on."""

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        is_enough = np.exp(log_posterior).max(axis=1) >= threshold
        action = np.where(is_enough, log_posterior.argmax(axis=1), -1)
        return _actions(classes, log_posterior, action, [{}] * len(action))

    return answers


def _down_the_tree(threshold: float, classes: tuple[str, ...]) -> Answers:
    """Answers of the deepest node of labels that are paths, from a probability on."""
    from textodds.judge.label_tree import LabelTree

    tree = LabelTree.of(classes)

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        for node, share in tree.answers(np.exp(log_posterior), threshold):
            yield one_line(node) or "?", share, {"action": node or None, "action_probability": share}

    return answers


def _few_errors(model: Model, max_error: float, *, quiet: bool) -> Answers:
    """Answers of the most probable class, where that is probable enough; said what that guarantees."""
    from textodds.judge.guarantees import at_most

    guarantee = at_most(_held_out(model), max_error)
    threshold, (low, high) = probability(guarantee.threshold), guarantee.coverage_interval
    say(
        f"answers from a probability of {threshold}: at most {max_error:.4g} of answers wrong, "
        f"with {guarantee.confidence:.0%} confidence\n"
        f"this answers {guarantee.coverage:.1%} of texts like those learned ({low:.1%} to {high:.1%})",
        quiet=quiet,
    )

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        action = np.where(guarantee.answers(log_posterior), log_posterior.argmax(axis=1), -1)
        return _actions(model.class_names, log_posterior, action, [{}] * len(action))

    return answers


def _label_sets(model: Model, coverage: float, by_class: bool, *, quiet: bool) -> Answers:
    """Answers of every class that is probable enough, the most probable first."""
    from textodds.judge.guarantees import Sets

    sets, classes = Sets.of(_held_out(model), coverage, by_class), model.class_names
    always = sets.always(len(classes)).tolist()
    if always and by_class:
        named = ", ".join(one_line(classes[k]) for k in always[:10])
        say(
            f"in every set, because they have too few texts: {counted(len(always), 'class')}, {named}",
            quiet=quiet,
        )
    names = [one_line(name).replace("|", "\\|") for name in classes]

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        for row, within in zip(np.exp(log_posterior), sets.of_posteriors(log_posterior), strict=True):
            held = [k for k in np.argsort(-row, kind="stable").tolist() if within[k]]
            probable = min(float(row[held].sum()), 1.0)
            yield "|".join(names[k] for k in held), probable, {"set": [classes[k] for k in held]}

    return answers


def _actions(
    classes: tuple[str, ...],
    log_posterior: Floats,
    action: NDArray[np.int64],
    fields: Iterable[Mapping[str, object]],
) -> Iterator[Answer]:
    """Answers of the classes ``action`` (N,), -1 for none, with more ``fields`` of JSON."""
    names: dict[int, str] = {-1: NO_ANSWER} | {k: one_line(name) for k, name in enumerate(classes)}
    best = np.where(action >= 0, action, log_posterior.argmax(axis=1))
    shares = np.exp(log_posterior)[np.arange(len(best)), best].tolist()
    for k, share, more in zip(action.tolist(), shares, fields, strict=True):
        yield names[k], share, {"action": classes[k] if k >= 0 else None, **more}


def _held_out(model: Model) -> HeldOut:
    """What the model said of documents that it had not learned."""
    held_out: HeldOut | None = model.held_out
    if held_out is None:
        if model.info.get("earlier"):
            raise Unsupported(
                "no guarantee: the model has changed since its calibration, and kept no documents",
                hint="train it again with its documents kept, so that it is recalibrated after each change",
            )
        raise Unsupported(
            "no guarantee: the model has no held-out answers",
            hint="train it again, with at least 100 texts",
        )
    return held_out


def probability(p: float) -> str:
    """A probability with digits that tell it from 1.

    >>> probability(0.97), probability(1 - 2.5e-7)
    ('0.9700', '1 - 2.5e-07')
    """
    return f"{p:.4f}" if p < 0.9999 else f"1 - {1 - p:.2g}"
