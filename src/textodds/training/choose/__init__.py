"""Choosing features and a learner by what each says of texts that were held out."""

from __future__ import annotations

from textodds.text.settings import FEATURES
from textodds.training.choose.candidates import Candidate, Pins, candidates, open_candidates, pins_of, usual
from textodds.training.choose.choice import Choice
from textodds.training.choose.pool import Pool
from textodds.training.choose.race import BUDGET, race
from textodds.training.choose.settle import PooledSource, SettledRecipe, chosen, pool_of, settle
from textodds.training.choose.trial import Trial

__all__ = [
    "BUDGET",
    "FEATURES",
    "Candidate",
    "Choice",
    "Pins",
    "Pool",
    "PooledSource",
    "SettledRecipe",
    "Trial",
    "candidates",
    "chosen",
    "open_candidates",
    "pins_of",
    "pool_of",
    "race",
    "settle",
    "usual",
]
