"""Which texts to label next: accuracy by the number of labels, chosen or drawn, and what choosing costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import textodds
from bench import Bench, accuracy
from corpora import TITLES, Corpus, Missing
from measure import InProcess, interleaved
from result import Result, Table, Target, digits
from textodds.study.active import doubt, most_useful

CHOSEN_ON = ("sms_spam", "ag_news_subset", "reuters_r8")
OTHERS = ("mr", "subjectivity", "webkb_raw")
SEEDS = range(1000, 1005)  # others than those that the method was chosen by
FIRST, STEP, POOL = 20, 10, 5000
SIZES = (50, 100, 200, 300)
MOST = 100.0  # milliseconds for 1,000 short texts

OURS, MARGIN, RANDOM = "by `most_useful`", "by least margin", "at random"
Choice = Callable[[Any, list[str], np.random.Generator], list[int]]


def useful(model: Any, texts: list[str], random: np.random.Generator) -> list[int]:
    return [text.index for text in most_useful(model, texts, STEP)]


def least_margin(model: Any, texts: list[str], random: np.random.Generator) -> list[int]:
    order: NDArray[np.int64] = np.argsort(-doubt(model.predict_proba(texts)), kind="stable")
    return [int(i) for i in order[:STEP]]


def drawn(model: Any, texts: list[str], random: np.random.Generator) -> list[int]:
    return [int(i) for i in random.choice(len(texts), STEP, replace=False)]


WAYS: dict[str, Choice] = {OURS: useful, MARGIN: least_margin, RANDOM: drawn}


def asking(bench: Bench) -> Result:
    result = Result(
        "asking",
        "Which texts to label next",
        f"Labelling simulated: naive Bayes with its defaults learns {FIRST} texts drawn at random, then "
        f"{STEP} at a time, chosen by `textodds.most_useful`, by the least margin between the two "
        f"most probable classes, or at random, from {POOL:,} of the training texts (all, where there are "
        f"fewer). Accuracy on the test texts, the mean of {len(SEEDS)} seeds, the same for all ways.",
    )
    table = Table("", ("data", "choice", *(f"{size} labels" for size in SIZES), "mean", "above random"))
    result.tables.append(table)
    for name in CHOSEN_ON[:1] if bench.quick else CHOSEN_ON + OTHERS:
        try:
            _simulated(bench.corpora[name], range(1000, 1002) if bench.quick else SEEDS, result, table)
        except Missing as missing:
            result.skip(str(missing))
    if not bench.quick:
        titles = [TITLES[name] for name in CHOSEN_ON]
        result.notes.append(
            f"The method was chosen among some thirty by {', '.join(titles[:-1])} and {titles[-1]}, with "
            "other seeds but the same test texts; the other sets had no part in it. “±” is the standard "
            "error over seeds of the mean difference."
        )
    _cost(bench, result)
    return result


def _simulated(corpus: Corpus, seeds: range, result: Result, table: Table) -> None:
    print(f"  {corpus.title}", flush=True)
    found = {who: np.array([curve(corpus, way, seed) for seed in seeds]) for who, way in WAYS.items()}
    chance = found[RANDOM].mean(axis=1)  # (seeds,)
    for who, each in found.items():
        above = 100 * (each.mean(axis=1) - chance)
        error = above.std(ddof=1) / np.sqrt(len(seeds))
        shown = [f"{100 * share:.2f} %" for share in (*each.mean(axis=0), each.mean())]
        table.rows.append(
            (corpus.title, who, *shown, "" if who == RANDOM else f"{above.mean():+.2f} ± {error:.2f}")
        )
        result.raw.append(
            {
                "data": corpus.name,
                "choice": who,
                "seeds": list(seeds),
                "labels": SIZES,
                "accuracy": each.tolist(),
            }
        )
    if corpus.name in CHOSEN_ON:
        for rival, asked in ((RANDOM, 1.0), (MARGIN, 0.0)):
            gain = 100 * float(found[OURS].mean() - found[rival].mean())
            claim = f"labels chosen {OURS}, {corpus.title}, mean accuracy above labels chosen {rival}"
            result.targets.append(Target(claim, True, asked, gain, "points"))


def curve(corpus: Corpus, way: Choice, seed: int) -> list[float]:
    """Test accuracy at each number of labels."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(corpus.train.texts))[:POOL]
    pool = [(corpus.train.texts[i], corpus.train.labels[i]) for i in order]
    first, pool = pool[:FIRST], pool[FIRST:]
    model: Any = textodds.train(*map(list, zip(*first, strict=True)), learner="multinomial", threads=1)
    reached = []
    for n in range(FIRST, SIZES[-1] + 1, STEP):
        if n in SIZES:
            reached.append(accuracy(model.predict(corpus.test.texts), corpus.test.labels))
        chosen = set(way(model, [text for text, _ in pool], random))
        model.learn(*map(list, zip(*(pool[i] for i in sorted(chosen)), strict=True)))
        pool = [row for i, row in enumerate(pool) if i not in chosen]
    return reached


def _cost(bench: Bench, result: Result) -> None:
    table = Table("", ("data", "texts", "CPU ms", "best"))
    result.tables.append(table)
    for n in (1000, 10_000):
        claim = f"choose 10 of {n:,} texts, {TITLES['ag_news_subset']}, CPU"
        try:
            corpus = bench.corpora.head("ag_news_subset", n)
        except Missing as missing:
            result.skip(str(missing))
            continue
        model: Any = textodds.train(
            corpus.test.texts[:300], corpus.test.labels[:300], learner="multinomial", threads=1
        )
        contender = InProcess(OURS, lambda texts, model=model: most_useful(model, texts), corpus.train.fresh)
        contender.time()  # SciPy is imported but once
        series = interleaved([contender], bench.rounds)
        result.record(f"{corpus.name}, cost", series)
        spent, least = 1000 * series[OURS].median(), 1000 * series[OURS].best()
        table.rows.append((corpus.title, f"{n:,}", digits(spent), digits(least)))
        if n == 1000:
            result.targets.append(Target(claim, False, MOST, spent, "ms"))
