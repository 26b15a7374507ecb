"""What to do about probabilities: the options of losses, promises and sets, and the answers they make."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from textodds.cli.command import F, option, together
from textodds.cli.option_types import Value
from textodds.cli.output import as_json, counted, one_line, say
from textodds.errors import InputError, Unsupported

if TYPE_CHECKING:
    from textodds.judge.decisions import Losses, Rule
    from textodds.judge.guarantees import Guarantee, Sets
    from textodds.learn.held_out import HeldOut
    from textodds.model.file import Model

SECTION = "Decisions"
NO_ANSWER = "?"


def cost(text: str) -> float:
    """A number of zero or more."""
    if not (math.isfinite(x := float(text)) and x >= 0):
        raise ValueError
    return x


def inside(text: str) -> float:
    """A number above 0 and below 1."""
    if not 0 < (x := float(text)) < 1:
        raise ValueError
    return x


INSIDE = Value(inside, "a number above 0 and below 1")


def loss_options() -> Callable[[F], F]:
    """``--loss`` and ``--abstain``."""
    return together(
        option(
            SECTION,
            "--loss",
            multiple=True,
            metavar="LOSSES",
            help="What mistakes cost, truth before answer: `ham->spam: 20`, or a CSV file of all classes "
            "(answers in the header); others cost 1. May be repeated.",
        ),
        option(
            SECTION,
            "--abstain",
            type=Value(cost, "a cost of zero or more"),
            metavar="COST",
            help="What it costs not to answer; there is no answer where one would cost more.",
        ),
    )


def promise_options() -> Callable[[F], F]:
    """``--max-error``, ``--sets`` and ``--by-class``."""
    return together(
        option(
            SECTION,
            "--max-error",
            type=INSIDE,
            metavar="RATE",
            help="Answer only so that at most this share of answers is wrong, with 95 % confidence.",
        ),
        option(
            SECTION,
            "--sets",
            type=INSIDE,
            metavar="COVERAGE",
            help="Answer with a set of labels, which holds the right one with this probability.",
        ),
        option(
            SECTION, "--by-class", is_flag=True, help="With --sets: with this probability within every class."
        ),
    )


def losses_of(given: Sequence[str], classes: Sequence[str]) -> Losses:
    """The losses that ``--loss`` gives."""
    from textodds.judge.decisions import Losses

    if any(not part.strip() for part in given):
        raise InputError("the losses name no class", hint="write them as in `ham->spam: 20, spam->ham: 1`")
    texts = [part for part in given if "->" in part and not part.lower().endswith(".csv")]
    files = [part for part in given if part not in texts]
    if len(files) > 1 or (files and texts):
        raise InputError(
            f"`{files[0]}` says what every mistake costs, and another `--loss` says it again",
            hint="give one file, or losses like `ham->spam: 20`",
        )
    if files:
        return Losses.of_csv(files[0], classes)
    return Losses.of_text(",".join(texts), classes) if texts else Losses.zero_one(classes)


def rule_of(model: Model, loss: Sequence[str], abstain: float | None, *, quiet: bool) -> Rule | None:
    """The rule that ``--loss`` and ``--abstain`` give, said if it is a threshold; None without them."""
    if not loss and abstain is None:
        return None
    from textodds.judge.decisions import Rule

    if not getattr(getattr(model, "form", None), "is_posterior", True):
        raise Unsupported(
            "a complement model has scores, not probabilities that a loss could be expected under",
            hint="train with another learner, such as multinomial",
        )
    rule = Rule(losses_of(loss, model.classes_), abstain)
    if len(model.classes_) == 2:
        say(one_line(rule.told()), quiet=quiet)
    return rule


class AnswerFormat(Protocol):
    """What becomes of probabilities: the first column of a line, its probability, and fields of JSON."""

    def __call__(self, log_posterior: Any) -> Iterator[tuple[str, float, dict[str, Any]]]:
        """Of each document, in order."""
        ...


def answering_of(
    model: Model,
    *,
    loss: Sequence[str],
    abstain: float | None,
    max_error: float | None,
    sets: float | None,
    by_class: bool,
    prior: Any,
    quiet: bool,
) -> AnswerFormat | None:
    """What the options make of probabilities; None if the most probable class is all that is wanted."""
    ways = [name for name, on in (("loss", loss), ("max-error", max_error), ("sets", sets)) if on]
    if abstain is not None and "loss" not in ways:
        ways.insert(0, "abstain")
    if len(ways) > 1:
        raise InputError(
            f"`--{ways[0]}` and `--{ways[1]}` decide in different ways", hint="leave out one of the two"
        )
    if by_class and sets is None:
        raise InputError("`--by-class` is about sets", hint="give their coverage too: `--sets 0.9`")
    if not ways:
        return None
    if max_error is None and sets is None:
        rule = rule_of(model, loss, abstain, quiet=quiet)
        assert rule is not None
        return ByRule(rule, tuple(map(one_line, model.classes_)), model.classes_)
    if prior is not None:
        raise InputError(
            f"`--{ways[0]}` promises what was seen under the prior of training, and `--prior` changes it",
            hint="leave out one of the two",
        )
    if max_error is not None:
        return _promised(model, max_error, quiet=quiet)
    assert sets is not None
    return _in_sets(model, sets, by_class, quiet=quiet)


def held_out_of(model: Model) -> HeldOut:
    """What the model said of documents that it had not learned."""
    held_out: HeldOut | None = model.held_out
    if held_out is None:
        raise Unsupported(
            "the model does not know how it does on texts that it has not learned, so can promise nothing",
            hint="train it again, with at least 100 texts",
        )
    return held_out


def _promised(model: Model, max_error: float, *, quiet: bool) -> AnswerFormat:
    from textodds.judge.guarantees import at_most

    promise = at_most(held_out_of(model), max_error)
    low, high = promise.coverage_interval
    say(
        f"answers from a probability of {probability(promise.threshold)}: at most {max_error:.4g} of answers "
        f"wrong, with {promise.confidence:.0%} confidence",
        quiet=quiet,
    )
    say(
        f"that answers {promise.coverage:.1%} of texts like those learned ({low:.1%} to {high:.1%})",
        quiet=quiet,
    )
    return ByPromise(promise, tuple(map(one_line, model.classes_)), model.classes_)


def probability(p: float) -> str:
    """A probability with digits that tell it from 1.

    >>> probability(0.97), probability(1 - 2.5e-7)
    ('0.9700', '1 - 2.5e-07')
    """
    return f"{p:.4f}" if p < 0.9999 else f"1 - {1 - p:.2g}"


def _in_sets(model: Model, coverage: float, by_class: bool, *, quiet: bool) -> AnswerFormat:
    from textodds.judge.guarantees import Sets

    sets = Sets.of(held_out_of(model), coverage, by_class)
    always = sets.always(len(model.classes_)).tolist()
    if always and by_class:
        named = ", ".join(one_line(model.classes_[k]) for k in always[:10])
        say(f"in every set, having too few texts: {counted(len(always), 'class')}, {named}", quiet=quiet)
    return BySets(sets, tuple(one_line(name).replace("|", "\\|") for name in model.classes_), model.classes_)


@dataclass(frozen=True)
class ByRule:
    """The action of least expected loss."""

    rule: Rule
    names: tuple[str, ...]  # as they are printed
    classes: tuple[str, ...]

    def __call__(self, log_posterior: Any) -> Iterator[tuple[str, float, dict[str, Any]]]:
        """Of each document, in order."""
        decisions = self.rule.decide(log_posterior)
        p = np.exp(log_posterior)
        pairs = zip(decisions.action.tolist(), decisions.expected_loss.tolist(), strict=True)
        for i, (action, expected) in enumerate(pairs):
            k = action if action >= 0 else int(p[i].argmax())
            about = {"action": self.classes[action] if action >= 0 else None, "expected_loss": expected}
            yield self.names[action] if action >= 0 else NO_ANSWER, float(p[i, k]), about


@dataclass(frozen=True)
class ByPromise:
    """The most probable class, where that is probable enough."""

    promise: Guarantee
    names: tuple[str, ...]
    classes: tuple[str, ...]

    def __call__(self, log_posterior: Any) -> Iterator[tuple[str, float, dict[str, Any]]]:
        """Of each document, in order."""
        best, p = log_posterior.argmax(axis=1).tolist(), np.exp(log_posterior.max(axis=1)).tolist()
        for k, share, answered in zip(best, p, self.promise.answers(log_posterior).tolist(), strict=True):
            about = {"action": self.classes[k] if answered else None}
            yield self.names[k] if answered else NO_ANSWER, share, about


@dataclass(frozen=True)
class BySets:
    """Every class that is probable enough, the most probable first."""

    sets: Sets
    names: tuple[str, ...]
    classes: tuple[str, ...]

    def __call__(self, log_posterior: Any) -> Iterator[tuple[str, float, dict[str, Any]]]:
        """Of each document, in order."""
        p = np.exp(log_posterior)
        for row, within in zip(p, self.sets.of_posteriors(log_posterior), strict=True):
            held = [k for k in np.argsort(-row, kind="stable").tolist() if within[k]]
            about = {"set": [self.classes[k] for k in held]}
            yield "|".join(self.names[k] for k in held), min(float(row[held].sum()), 1.0), about


def lines(
    model: Model, answering: AnswerFormat, scored: tuple[Any, Any], *, proba: bool, json: bool
) -> Iterator[str]:
    """Lines of answers to documents of log-posteriors (N, K) and so many known words (N,)."""
    log_posterior, known = scored
    names = [one_line(name) for name in model.classes_]
    answers = zip(np.exp(log_posterior), answering(log_posterior), known.tolist(), strict=True)
    for row, (first, share, about), evidence in answers:
        if json:
            k = int(row.argmax())
            answer = {"label": model.classes_[k], "probability": float(row[k]), "evidence": evidence, **about}
            if proba:
                answer["probabilities"] = dict(zip(model.classes_, row.tolist(), strict=True))
            yield as_json(answer) + "\n"
        elif proba:
            order = np.argsort(-row, kind="stable").tolist()
            yield "\t".join([first, *(f"{names[k]}\t{row[k]:.4f}" for k in order)]) + "\n"
        else:
            yield f"{first}\t{share:.4f}\n"
