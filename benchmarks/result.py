"""What a case found: targets, tables, bars for the chart, raw timings."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from measure import Ratio, Series

PACKAGES = (
    "textodds", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "fasttext-numpy2", "vowpalwabbit",
    "liblinear-official", "uvicorn", "uvloop", "httptools", "starlette", "msgspec", "pyspark",
)  # fmt: skip


@dataclass
class Target:
    """A promise and what became of it; ``reached`` is None where it could not be measured."""

    claim: str
    at_least: bool  # else at most
    asked: float
    reached: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    met: bool | None = None

    def __post_init__(self) -> None:
        if self.reached is not None:
            self.met = self.reached >= self.asked if self.at_least else self.reached <= self.asked

    @classmethod
    def times(cls, claim: str, asked: float, ratio: Ratio | None) -> Target:
        """At least so many times faster."""
        if ratio is None:
            return cls(claim, True, asked, None, "times")
        return cls(claim, True, asked, ratio.value, "times", ratio.low, ratio.high)


@dataclass
class Bar:
    """A bar of the chart: ``value`` times faster than ``against``."""

    label: str
    against: str
    value: float
    target: float | None = None


@dataclass
class Table:
    """A table of the page; cells are ready to be shown."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)


@dataclass
class Result:
    """All that one case found."""

    name: str
    title: str
    about: str
    targets: list[Target] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    raw: list[dict[str, Any]] = field(default_factory=list)
    ratios: list[dict[str, Any]] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)

    def record(self, data: str, series: dict[str, Series], **more: Any) -> None:
        """Keep raw timings."""
        for name, one in series.items():
            self.raw.append(
                {
                    "data": data,
                    "contender": name,
                    "rounds": [timing.round for timing in one.timings],
                    "cpu_s": one.seconds("cpu"),
                    "wall_s": one.seconds("wall"),
                    **{key: values[name] for key, values in more.items() if name in values},
                }
            )

    def ratio(self, data: str, slower: Series, faster: Series, basis: Any = "cpu") -> Ratio:
        """A ratio, computed and kept."""
        found = Ratio.of(slower, faster, basis)
        self.ratios.append(
            {"data": data, "slower": slower.name, "faster": faster.name, "basis": basis, **asdict(found)}
        )
        return found

    def skip(self, reason: str) -> None:
        """Say that something was left out, and why."""
        print(f"    skipped: {reason}", flush=True)
        if reason not in self.skipped:
            self.skipped.append(reason)

    def write(self, out: Path) -> None:
        """Write the result as JSON."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        # One line for each list of numbers: the files are read by people, too.
        numbers = re.compile(r"\[\s+(-?[\d.e+-]+(?:,\s+-?[\d.e+-]+)*)\s+\]")
        text = numbers.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
        (out / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")


def times(ratio: float) -> str:
    """A ratio as it is shown: three digits, and losses in bold."""
    shown = f"{ratio:.0f}" if ratio >= 99.5 else f"{ratio:.1f}" if ratio >= 9.95 else f"{ratio:.2f}"
    return f"**{shown} (loss)**" if ratio < 1 else shown


def digits(value: float) -> str:
    """Three significant digits, with thousands set apart, without an exponent."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 or not value else f"{value:.6f}"


def machine() -> dict[str, Any]:
    """Where and with what this is measured, now."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "kernel_sha256": LOADED,
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def kernel_digest() -> str:
    """The first digits of the digest of the compiled kernels on disk, to tell builds of one version apart."""
    from textodds import _kernels

    return hashlib.sha256(Path(_kernels.__file__).read_bytes()).hexdigest()[:12]


LOADED = kernel_digest()
"""Of the kernels this process has loaded, which may be replaced on disk while it runs."""
