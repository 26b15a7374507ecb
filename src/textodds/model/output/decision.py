"""What decides in the place of the most probable class: losses, thresholds, guarantees, sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textodds.errors import InputError, Unsupported, one_line
from textodds.learn.arrays import Floats
from textodds.model.output.answers import Decide

if TYPE_CHECKING:
    from textodds.judge.decisions import Losses, Rule
    from textodds.learn.held_out import HeldOut
    from textodds.model.file import Model

NO_ANSWER = "?"

Answer = tuple[str, float, Mapping[str, object]]
"""The answer on one line, its probability, and fields of JSON."""


class DecisionRule(NamedTuple):
    """What decides, None for the most probable class; and what should be said of it."""

    decide: Decide | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """How a decision is to be made: in one of these ways at most, or in none.

    ``loss`` holds losses as text, or the name of one CSV file; see `Losses`. ``sets`` is a coverage.
    """

    loss: tuple[str, ...] = ()
    abstain: float | None = None
    threshold: float | None = None
    tree: bool = False
    max_error: float | None = None
    sets: float | None = None
    by_class: bool = False

    def of(self, model: Model, prior: object = None) -> DecisionRule:
        """What decides of a model's probabilities, where ``prior`` is that which replaces its own, if any."""
        way = self._way()
        if (decided := losses_decide(model, self.loss, self.abstain)) is not None:
            return decided
        if self.tree:
            threshold = 0.5 if self.threshold is None else self.threshold
            return DecisionRule(_down_the_tree(threshold, model.class_names))
        if self.threshold is not None:
            return DecisionRule(_from_threshold(self.threshold, model.class_names))
        if way is not None and prior is not None:
            raise InputError(
                f"`--{way}` is guaranteed under the training prior only, and `--prior` changes it",
                hint="leave out one of the two",
            )
        if self.max_error is not None:
            return _few_errors(model, self.max_error)
        return DecisionRule(None) if self.sets is None else _label_sets(model, self.sets, self.by_class)

    def _way(self) -> str | None:
        """The one way in which it is decided, if any; refuses two."""
        named = (
            ("loss", self.loss),
            ("max-error", self.max_error),
            ("set", self.sets),
            ("tree", self.tree),
        )
        ways = [name for name, on in named if on]
        if self.threshold is not None and not self.tree:
            ways.append("threshold")
        if self.abstain is not None and not self.loss:
            ways.insert(0, "abstain")
        if len(ways) > 1:
            raise InputError(
                f"`--{ways[0]}` and `--{ways[1]}` cannot be combined", hint="leave out one of the two"
            )
        if self.by_class and self.sets is None:
            raise InputError(
                "`--by-class` applies to `--set` only", hint="give its coverage too: `--set 0.9`"
            )
        return next(iter(ways), None)


def rule_of(model: Model, loss: Sequence[str], abstain: float | None) -> Rule | None:
    """The rule of least expected loss that these losses and a cost of no answer give; None without any."""
    if not loss and abstain is None:
        return None
    from textodds.judge.decisions import Rule, must_be_posterior

    must_be_posterior(model, "a loss could be expected under")
    return Rule(losses_of(loss, model.class_names), abstain)


def notes_of(rule: Rule, classes: Sequence[str]) -> tuple[str, ...]:
    """What should be said of a rule: of two classes, its threshold."""
    return (one_line(rule.told()),) if len(classes) == 2 else ()


def losses_decide(model: Model, loss: Sequence[str], abstain: float | None) -> DecisionRule | None:
    """The decision of least expected loss; None without losses."""
    rule = rule_of(model, loss, abstain)
    if rule is None:
        return None
    return DecisionRule(_least_loss(rule, model.class_names), notes_of(rule, model.class_names))


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


def _least_loss(rule: Rule, classes: tuple[str, ...]) -> Decide:
    """Answers of the action of least expected loss."""

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        decisions = rule.decide(log_posterior)
        expected = ({"expected_loss": loss} for loss in decisions.expected_loss.tolist())
        return _actions(classes, log_posterior, decisions.action, expected)

    return answers


def _from_threshold(threshold: float, classes: tuple[str, ...]) -> Decide:
    """Answers of the most probable class, from a probability on."""

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        is_enough = np.exp(log_posterior).max(axis=1) >= threshold
        action = np.where(is_enough, log_posterior.argmax(axis=1), -1)
        return _actions(classes, log_posterior, action, [{}] * len(action))

    return answers


def _down_the_tree(threshold: float, classes: tuple[str, ...]) -> Decide:
    """Answers of the deepest node of labels that are paths, from a probability on."""
    from textodds.judge.label_tree import LabelTree

    tree = LabelTree.of(classes)

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        for node, share in tree.answers(np.exp(log_posterior), threshold):
            yield one_line(node) or "?", share, {"action": node or None, "action_probability": share}

    return answers


def _few_errors(model: Model, max_error: float) -> DecisionRule:
    """Answers of the most probable class, where that is probable enough; said what that guarantees."""
    from textodds.judge.guarantees import at_most

    guarantee = at_most(_held_out(model), max_error)
    threshold, (low, high) = probability(guarantee.threshold), guarantee.coverage_interval
    note = (
        f"answers from a probability of {threshold}: at most {max_error:.4g} of answers wrong, "
        f"with {guarantee.confidence:.0%} confidence\n"
        f"this answers {guarantee.coverage:.1%} of texts like those learned ({low:.1%} to {high:.1%})"
    )

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        action = np.where(guarantee.answers(log_posterior), log_posterior.argmax(axis=1), -1)
        return _actions(model.class_names, log_posterior, action, [{}] * len(action))

    return DecisionRule(answers, (note,))


def _label_sets(model: Model, coverage: float, by_class: bool) -> DecisionRule:
    """Answers of every class that is probable enough, the most probable first."""
    from textodds.judge.guarantees import Sets

    sets, classes = Sets.of(_held_out(model), coverage, by_class), model.class_names
    always = sets.always(len(classes)).tolist()
    notes: tuple[str, ...] = ()
    if always and by_class:
        named = ", ".join(one_line(classes[k]) for k in always[:10])
        count = f"{len(always):,} class{'' if len(always) == 1 else 'es'}"
        notes = (f"in every set, because they have too few texts: {count}, {named}",)
    names = [one_line(name).replace("|", "\\|") for name in classes]

    def answers(log_posterior: Floats) -> Iterator[Answer]:
        for row, within in zip(np.exp(log_posterior), sets.of_posteriors(log_posterior), strict=True):
            held = [k for k in np.argsort(-row, kind="stable").tolist() if within[k]]
            probable = min(float(row[held].sum()), 1.0)
            yield "|".join(names[k] for k in held), probable, {"set": [classes[k] for k in held]}

    return DecisionRule(answers, notes)


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
