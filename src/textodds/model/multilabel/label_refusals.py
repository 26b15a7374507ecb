"""Options of one label a text that models of several do not take, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping

from textodds.errors import Unsupported

INSTEAD = {
    "loss": "costs are a goal: `--goal cost=1:5` (a false alarm against a miss)",
    "abstain": "a label below its threshold is not given: `--goal precision=0.95`",
    "max_error": "for labels that are right in 95 % of cases: `--goal precision=0.95`",
    "sets": "choose thresholds by a goal: `--goal precision=0.95`, or `--goal recall=0.95`",
    "by_class": "thresholds are by label already; leave it out",
    "tree": "in Python: `model.predict_tree(texts)`",
    "prior": "change the thresholds: `--goal`, or `--threshold 0.4`",
    "familiarity": "leave it out; novelty is measured for one label a text",
    "why_not": "a label has no rival: it is there or not; leave it out",
    "others": "a label has no rival: it is there or not; leave it out",
    "between": "name one label: `--class LABEL`",
}
"""What to do instead of each option, by its name in the command."""


def refuse(options: Mapping[str, object]) -> None:
    """Fail for an option, of those given, that is for one label a text."""
    for name, value in options.items():
        if value not in (None, False, ()):
            called = name.replace("_", "-")
            raise Unsupported(
                f"`--{called}` is for one label a text, and this model gives several", hint=INSTEAD[name]
            )


def refuse_of_one(options: Mapping[str, object]) -> None:
    """Fail for an option, of those given, that is for several labels a text."""
    for name, value in options.items():
        if value not in (None, False, ()):
            called = name.replace("_", "-")
            raise Unsupported(
                f"`--{called}` is for several labels a text, and this model gives one",
                hint="leave it out; for costs and guarantees: `--loss`, `--max-error`",
            )
