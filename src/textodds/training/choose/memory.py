"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path

UNKNOWN = 4 << 30


def free_memory() -> int:
    """Bytes that can be had without harm: half of what is free now; a few gigabytes where nobody says."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = {line.split(":")[0]: line.split()[1] for line in lines}  # what can be freed counts as free
        return int(found["MemAvailable"]) * 1024 // 2
    except (OSError, LookupError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, OSError, ValueError):
        return UNKNOWN
