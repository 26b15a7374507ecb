"""Choosing features and a learner by what each says of texts that were held out."""

from __future__ import annotations

from textodds.choosing.candidates import Candidate, Pins, candidates, open_candidates, pins_of, usual
from textodds.choosing.choice import Choice
from textodds.choosing.pool import Pool
from textodds.choosing.race import BUDGET, race
from textodds.choosing.reading import Pooled, Settled, Watching, chosen, pool_of, settle
from textodds.choosing.trial import Trial
from textodds.text.features import FEATURES

__all__ = [
    "BUDGET",
    "FEATURES",
    "Candidate",
    "Choice",
    "Pins",
    "Pool",
    "Pooled",
    "Settled",
    "Trial",
    "Watching",
    "candidates",
    "chosen",
    "open_candidates",
    "pins_of",
    "pool_of",
    "race",
    "settle",
    "usual",
]
