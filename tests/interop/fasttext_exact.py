"""What a fastText file says of a text in exact arithmetic: its formula in double precision, by its numbers.

It shares nothing with the conversion but the reading of the file: features are found anew, and rows are
added one by one, where the conversion multiplies both matrices first.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textodds.interop.from_fasttext.file import read_file

Floats = NDArray[np.float64]

SPACE = re.compile(rb"[ \n\r\t\v\f\0]+")


class Exact:
    """A classifier of fastText in double precision, its labels in the order of their names."""

    def __init__(self, path: Path) -> None:
        self._file = read_file(path)
        options, D = self._file.options, self._file.options.dim
        self._rows = {name: i for i, name in enumerate(self._file.words.names)}
        self._buckets = dict(zip(self._file.buckets.tolist(), self._file.bucket_rows.tolist(), strict=True))
        self._input = self._file.input.times(np.arange(self._file.input.shape[0]), np.eye(D))
        self._output = self._file.output.times(np.arange(len(self._file.labels.names)), np.eye(D))
        self._order = sorted(range(len(self._output)), key=self._file.labels.names.__getitem__)
        self._ways = _ways(self._file.labels.counts) if options.loss == "hs" else None
        self._of_word = cache(self._find)

    def __call__(self, text: str) -> tuple[Floats, Floats]:
        """Probabilities of the labels, and what fastText adds 1e-5 to, at each node of a tree."""
        scores = self._output @ self._input[self._features(text)].mean(axis=0)
        if self._ways is not None:
            nodes, signs = self._ways
            right = [1 / (1 + np.exp(-scores[n] * s)) for n, s in zip(nodes, signs, strict=True)]
            p = np.array([each.prod() for each in right])
            said = np.array([(each + 1e-5).prod() for each in right])
            return p[self._order], said[self._order]
        if self._file.options.loss == "softmax":
            p = np.exp(scores - scores.max())
            p /= p.sum()
        else:
            p = 1 / (1 + np.exp(-scores))
        return p[self._order], p[self._order] + 1e-5

    def _features(self, text: str) -> list[int]:
        """The rows of the input matrix that a text has."""
        options, rows, hashes = self._file.options, [], []
        for token in [*filter(None, SPACE.split(text.encode())), b"</s>"]:
            if token.startswith(b"__label__"):
                continue
            own, number = self._of_word(token)
            rows += own
            hashes.append(number)
            if token == b"</s>":
                break
        for i, number in enumerate(hashes):
            for following in hashes[i + 1 : i + options.word_ngrams]:
                number = (number * 116049371 + following) % (1 << 64)
                rows += self._bucket(number)
        return rows

    def _find(self, token: bytes) -> tuple[list[int], int]:
        """The rows of one word and of its runs of letters; its hash as a number of 64 bits."""
        options = self._file.options
        rows = [self._rows[token]] if token in self._rows else []
        if options.has_letters and token != b"</s>":
            word = f"<{token.decode()}>"
            for i in range(len(word)):
                for n in range(options.minn, min(options.maxn, len(word) - i) + 1):
                    if not (n == 1 and (i == 0 or i + n == len(word))):
                        rows += self._bucket(_hash(word[i : i + n].encode()))
        number = _hash(token)
        return rows, number if number < 1 << 31 else number - (1 << 32) + (1 << 64)

    def _bucket(self, number: int) -> list[int]:
        row = self._buckets.get(number % self._file.options.bucket)
        return [] if row is None else [row]


def _hash(run: bytes) -> int:
    """FNV-1a, its bytes with their signs."""
    number = 2166136261
    for byte in run:
        number = ((number ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) % (1 << 32)
    return number


def _ways(counts: list[int]) -> tuple[list[NDArray[np.int64]], list[Floats]]:
    """The inner nodes from the root to each label, and +1 where it goes right, −1 where left.

    Labels stand by falling counts; the two smallest of leaves and nodes are joined, a leaf only if it is
    the smaller.
    """
    K = len(counts)
    weight, parent, is_right = [*counts], [-1] * (2 * K - 1), [False] * (2 * K - 1)
    leaf, node = K - 1, K
    for joined in range(K, 2 * K - 1):
        pair = []
        for _ in range(2):
            if leaf >= 0 and (node >= joined or weight[leaf] < weight[node]):
                pair.append(leaf)
                leaf -= 1
            else:
                pair.append(node)
                node += 1
        weight.append(weight[pair[0]] + weight[pair[1]])
        parent[pair[0]] = parent[pair[1]] = joined
        is_right[pair[1]] = True
    nodes, signs = [], []
    for k in range(K):
        way, at = [], k
        while parent[at] >= 0:
            way.append((parent[at] - K, 1.0 if is_right[at] else -1.0))
            at = parent[at]
        nodes.append(np.array([n for n, _ in way], dtype=np.int64))
        signs.append(np.array([s for _, s in way]))
    return nodes, signs
