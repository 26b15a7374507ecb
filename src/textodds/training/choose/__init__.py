"""The bench: candidates, the documents they are tried on, trials, and the race in which the best is chosen.

`candidates` says what is tried, `pool` on which documents, `trial` what became of it, `race` who goes on.
`textodds.train` chooses by it, on Spark too; `textodds.compare` has its candidates, pools and paired answers.
"""

from __future__ import annotations

from textodds.training.choose.candidates import Candidate, Pins, candidates, open_candidates, pins_of, usual
from textodds.training.choose.pool import Pool, pool_of
from textodds.training.choose.race import Choice, chosen, race, settle

__all__ = [
    "Candidate",
    "Choice",
    "Pins",
    "Pool",
    "candidates",
    "chosen",
    "open_candidates",
    "pins_of",
    "pool_of",
    "race",
    "settle",
    "usual",
]
