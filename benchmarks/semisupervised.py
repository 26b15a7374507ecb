"""Accuracy with and without unlabelled texts, by the number of labels; and what a step of EM costs.

    python benchmarks/semisupervised.py                # all of it, about ten minutes
    python benchmarks/semisupervised.py 20newsgroups --seeds 1

Labels are drawn class by class, so that every class has as many as the others to within one. Unlabelled texts
are those of the training half whose labels were not drawn, 10,000 at most; accuracy is on the test half.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import textodds
from corpora import Corpora
from textodds.errors import NotConverged
from textodds.learn.em import SemiSupervisedLearner

SIZES = {
    "20newsgroups": (20, 40, 100, 200, 500, 1000, 2000),
    "mr": (20, 100, 500, 2000),
    "imdb": (20, 200, 2000),
}
LEARNERS = {
    "labels only, α = 1": {"weight": 0.0},
    "EM, α = 1": {},
    "labels only, α = 0.01": {"weight": 0.0, "alpha": 0.01},
    "EM, α = 0.01": {"alpha": 0.01},
    "EM, α = 0.01, λ = 0.1": {"alpha": 0.01, "weight": 0.1},
    "EM, α = 0.01, T = 10": {"alpha": 0.01, "temperature": 10.0},
}
MOST_UNLABELLED = 10_000


def drawn(labels, n, seed):
    """Numbers of n rows, as many of each class as of the others to within one, and of the other rows."""
    random = np.random.default_rng(seed)
    by_class = {
        name: random.permutation([i for i, label in enumerate(labels) if label == name])
        for name in sorted(set(labels))
    }
    turns = [(turn, random.random(), int(i)) for rows in by_class.values() for turn, i in enumerate(rows)]
    chosen = [i for _, _, i in sorted(turns)[:n]]
    rest = random.permutation(np.setdiff1d(np.arange(len(labels)), chosen))[:MOST_UNLABELLED]
    return chosen, rest.tolist()


def accuracies(corpus, n, seed):
    train, test = corpus.train, corpus.test
    chosen, rest = drawn(train.labels, n, seed)
    texts, labels = [train.texts[i] for i in chosen], [train.labels[i] for i in chosen]
    unlabelled = [train.texts[i] for i in rest]
    found = {}
    for name, choices in LEARNERS.items():
        model = textodds.train(texts, labels, unlabelled=unlabelled, learner=SemiSupervisedLearner(**choices))
        found[name] = model.evaluate(test.texts, test.labels).accuracy
    return found, len(rest)


def table(corpus, sizes, seeds):
    names = list(LEARNERS)
    print(
        f"\n{corpus.title}: accuracy on {len(corpus.test.texts):,} texts, mean ± deviation of {seeds} draws\n"
    )
    print("| labels | unlabelled | " + " | ".join(names) + " |")
    print("|---:|---:|" + "---:|" * len(names))
    for n in sizes:
        found, rest = zip(*(accuracies(corpus, n, seed) for seed in range(seeds)), strict=True)
        cells = []
        for name in names:
            values = [each[name] for each in found]
            spread = f" ± {stdev(values):.1%}" if seeds > 1 else ""
            cells.append(f"{fmean(values):.1%}{spread}")
        print(f"| {n:,} | {rest[0]:,} | " + " | ".join(cells) + " |", flush=True)


def cost(corpus):
    """What a step costs, next to a pass of training and one of prediction over the same texts."""
    train = corpus.train
    chosen, rest = drawn(train.labels, 200, 0)
    texts, labels = [train.texts[i] for i in chosen], [train.labels[i] for i in chosen]
    unlabelled, truth = [train.texts[i] for i in rest], [train.labels[i] for i in rest]
    seconds = {}
    for steps in (1, 11, 1):  # the first also loads what is needed
        began = time.perf_counter()
        learner = SemiSupervisedLearner(max_iterations=steps, tolerance=0)
        textodds.train(texts, labels, unlabelled=unlabelled, learner=learner, threads=1)
        seconds[steps] = time.perf_counter() - began
    began = time.perf_counter()
    model = textodds.train(unlabelled, truth, learner="multinomial:alpha=1", threads=1)
    training = time.perf_counter() - began
    began = time.perf_counter()
    model.predict(unlabelled)
    prediction = time.perf_counter() - began
    print(f"\n{corpus.title}, {len(unlabelled):,} unlabelled texts, one thread:")
    step = (seconds[11] - seconds[1]) / 10
    print(f"  reading and the first step {seconds[1]:.2f} s, each further step {step:.3f} s")
    print(f"  a pass of training {training:.2f} s, of prediction {prediction:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=["20newsgroups", "mr", "imdb"])
    parser.add_argument("--seeds", type=int, default=4)
    args = parser.parse_args()
    warnings.simplefilter("ignore", NotConverged)
    with tempfile.TemporaryDirectory() as folder:
        corpora = Corpora(Path(folder))
        for name in args.corpora:
            cost(corpora[name])
            table(corpora[name], SIZES[name], args.seeds)


if __name__ == "__main__":
    main()
