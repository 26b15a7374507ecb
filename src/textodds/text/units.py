"""What texts are cut into: units by name, simple patterns, and the features of fastText."""

from __future__ import annotations

import re

UNITS = ("words", "whitespace", "characters", "characters-in-words", "sklearn")
FASTTEXT = "fasttext"
MOST_BUCKETS = 2**31 - 1

# A class, once or several times, and how often the last repeats: \\w\\w+, [a-z]{3,}, \\S+.
_RUN = re.compile(
    r"(?P<start>\\b)?(?P<class>\\w|\\S|\[[A-Za-z0-9_-]+\])(?P<more>(?:(?P=class))*)(?P<times>\+|\*|\{\d+,\})(?P<end>\\b)?"
)
_SET = re.compile(r"\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[a-z0-9A-Z_](?!-))+\]")


def unit_of(name: str) -> str | None:
    r"""The unit of that name, or that a simple pattern describes; None if it is neither.

    Examples
    --------
    >>> unit_of("words"), unit_of(r"\w+"), unit_of("word"), unit_of("fasttext:0100")
    ('words', '\\w{1,}', None, 'fasttext:100')
    """
    kind, _, buckets = name.partition(":")
    if kind == FASTTEXT and buckets.isdecimal() and buckets.isascii() and len(buckets) <= 10:
        return f"{FASTTEXT}:{int(buckets)}" if int(buckets) <= MOST_BUCKETS else None
    return name if name in UNITS else unit_of_pattern(name)


def unit_of_pattern(pattern: str) -> str | None:
    r"""The unit that a pattern of scikit-learn's kind describes; None if there is none.

    Examples
    --------
    >>> unit_of_pattern(r"(?u)\b\w\w+\b"), unit_of_pattern(r"\S+"), unit_of_pattern(r"(?u)\b[a-zA-Z]{3,}\b")
    ('sklearn', 'whitespace', '\\b[a-zA-Z]{3,}\\b')
    >>> unit_of_pattern(r"[^,]+") is None
    True
    """
    found = _RUN.fullmatch(pattern.removeprefix("(?u)"))
    if found is None:
        return None
    kind, times = found["class"], found["times"]
    least = (1 if times == "+" else 0 if times == "*" else int(times[1:-2])) + len(found["more"]) // len(kind)
    if not 1 <= least <= 1000:
        return None
    if kind == r"\w":  # where a run of it begins and ends, there is a boundary
        return "sklearn" if least == 2 else rf"\w{{{least},}}"
    if kind == r"\S":
        plain = found["start"] is None and found["end"] is None
        return None if not plain else "whitespace" if least == 1 else rf"\S{{{least},}}"
    if not _SET.fullmatch(kind) or (found["start"] is None) != (found["end"] is None):
        return None
    run = f"{kind}{{{least},}}"
    return rf"\b{run}\b" if found["start"] else run
