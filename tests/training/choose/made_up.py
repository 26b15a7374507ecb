"""Texts that are drawn, with labels that are known to be learnable, hard to learn, or not at all."""

import numpy as np

OWN, COMMON = 15, 300
"""Words of each class, and words that all share."""


def drawn(n, K=3, *, seed=0, doubt=0.3):
    """n texts of K classes and their labels; a share of about ``doubt`` have the words of any class."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        told = int(random.integers(K)) if random.random() < doubt else i % K
        own = [f"w{told}x{v}" for v in random.integers(0, OWN, 2).tolist()]
        common = [f"c{v}" for v in np.minimum(random.zipf(1.3, 8), COMMON).tolist()]
        texts.append(" ".join([*own, *common]))
        labels.append(f"k{i % K}")
    return texts, labels


def misleading(n, *, seed=0):
    """n texts of two classes: one word says which, twelve that come together are wrong three times in ten.

    Naive Bayes takes the twelve for as many witnesses, and no temperature mends that; softmax does not.
    """
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        k = i % 2
        chorus = k if random.random() > 0.3 else 1 - k
        texts.append(" ".join([f"sure{k}", *(f"chorus{chorus}v{v}" for v in range(12))]))
        labels.append(f"k{k}")
    return texts, labels
