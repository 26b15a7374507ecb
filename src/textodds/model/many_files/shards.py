"""Files shared among machines: each takes its shard of the same list, without asking the others."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable

from textodds.errors import InputError
from textodds.model.many_files.inputs import InputFile

Shard = tuple[int, int]
"""Which one, from 1, and of how many."""

MOST_SHARDS = 1_000_000


def checked_shard(given: str | tuple[int, int] | None) -> Shard:
    """The shard that is asked for; the only one by default.

    >>> checked_shard("3/16"), checked_shard((1, 2)), checked_shard(None)
    ((3, 16), (1, 2), (1, 1))
    """
    if given is None:
        return 1, 1
    shard: Shard | None = None
    if isinstance(given, str):
        found = re.fullmatch(r"\s*(\d{1,7})\s*/\s*(\d{1,7})\s*", given)
        shard = (int(found[1]), int(found[2])) if found else None
    elif len(given) == 2 and all(type(number) is int for number in given):
        shard = given[0], given[1]
    if shard is None or not 1 <= shard[0] <= shard[1] <= MOST_SHARDS:
        raise InputError(
            f"`{given}` is not a shard", hint="write which one, from 1, and of how many: `--shard 3/16`"
        )
    return shard


def shard_of(files: Iterable[InputFile], shard: Shard) -> list[InputFile]:
    """The files of one shard, largest first: each file goes to the shard that has least until then.

    Follows from names and sizes alone: every file is in one shard, and the shards differ by at most the
    size of the largest file.
    """
    number, of = shard
    loads = [(0, at) for at in range(1, of + 1)]  # a heap: the least, and of those the first
    taken = []
    for file in sorted(files, key=lambda each: (-each.size, each.name)):
        load, at = loads[0]
        heapq.heapreplace(loads, (load + file.size + 1, at))  # an empty file takes time too
        if at == number:
            taken.append(file)
    return taken
