"""What `train` chooses by itself of few labels, against peers tuned to the same draws."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import few_labels
import textodds
from bench import Bench
from corpora import TITLES, Missing
from few_labels import ALL, CLASSES, PEERS, SIZES, STRENGTHS, TESTED, Half, Large
from kept import Store
from result import Result, Table, Target, digits
from tuned import DATA, FLOOR

OURS = "textodds"
TFIDF = PEERS[0].name
NEAR = -1.0  # points from tf-idf on a single data set

QUICK = ("sms_spam", "mr", "reuters_r8")

Numbers = dict[str, float]


@dataclass
class Draws:
    """What every program reached at one size, by data set: one number of each quantity for each draw."""

    cells: dict[str, dict[str, list[Numbers]]] = field(default_factory=dict)

    def put(self, data: str, who: str, found: Numbers) -> None:
        """Keep what became of a draw."""
        self.cells.setdefault(data, {}).setdefault(who, []).append(found)

    def mean(self, data: str, who: str, quantity: str) -> float | None:
        """Over the draws of a data set, if there are any."""
        found = self.cells[data].get(who)
        return fmean(one[quantity] for one in found) if found else None

    def over_sets(self, who: str, quantity: str) -> float | None:
        """The mean over data sets of a program that has them all."""
        column = [self.mean(data, who, quantity) for data in self.cells]
        known = [value for value in column if value is not None]
        return fmean(known) if known and len(known) == len(column) else None

    def ahead(self, data: str) -> list[float]:
        """By how many points ours is better than tf-idf, in each draw."""
        row = self.cells[data]
        pairs = zip(row[OURS], row[TFIDF], strict=True)
        return [round(100 * (ours["accuracy"] - theirs["accuracy"]), 6) for ours, theirs in pairs]


def few(bench: Bench) -> Result:
    n_draws = 1 if bench.quick else bench.rounds
    result = Result("few", "Few labels", _about(n_draws))
    sizes = {size: Draws() for size in SIZES}
    kept, choices = few_labels.kept(), Table("", ("chosen by textodds", *SIZES.values()))
    for name in QUICK if bench.quick else DATA:
        try:
            large = Large.of(bench.corpora[name])
        except Missing as missing:
            result.skip(str(missing))
            continue
        print(f"  {TITLES[name]}", flush=True)
        told = [_measured(large, size, n_draws, draws, kept, result) for size, draws in sizes.items()]
        choices.rows.append((TITLES[name], *told))
    for size, draws in sizes.items():
        _targets(result, SIZES[size], draws)
    result.tables += [_accuracies(SIZES[size], draws) for size, draws in sizes.items()]
    result.tables += [_means(sizes), choices]
    result.notes += _notes()
    return result


def _about(n_draws: int) -> str:
    times = "one draw" if n_draws == 1 else f"{n_draws} draws"
    return (
        "`textodds.train(texts, labels)` with nothing else said, of 8 and 64 labelled texts a class and of "
        "1,000 in all, against tf-idf of words and characters with a logistic regression tuned to each "
        f"draw, and against MiniLM embeddings with the same. Means of **{times}** of each size, the same for "
        f"all. Test sets are cut to {TESTED:,} texts, and the 79 languages to {CLASSES} of them, drawn once: "
        "an accuracy has a standard error of up to 1.6 points from the test texts alone, which all programs "
        "share. **The prior odds of the candidates of textodds were chosen on other draws of the same "
        "sources**, training and test texts exchanged or parts of their classes, and on GoEmotions: expect "
        "less elsewhere."
    )


def _notes() -> list[str]:
    strengths = ", ".join(f"{C:g}" for C in STRENGTHS)
    return [
        "The peer has `TfidfVectorizer(sublinear_tf=True)` of words and pairs beside one of `char_wb`, 2 to "
        "5 (those of textodds, which give the numbers of scikit-learn), and `LogisticRegression` with the C "
        f"of the lowest log-loss in stratified fifths ({strengths}; fewer folds where a class has fewer "
        "texts). It is solved in the span of the training rows, where the optimum lies.",
        f"A class with fewer texts than asked for gives all it has; the {ALL:,} are drawn without regard to "
        "classes, so that a rare one may be absent, and is then wrong for everyone. Probabilities are raised "
        f"to {FLOOR:.1e} where they are smaller. GoEmotions, with several labels a text, is left out.",
        "Results of peers are kept in [few-peers.json](few-peers.json) and measured again where the data, "
        "the versions or the settings are others. `--repeat N` is the number of draws. "
        "`make bench-accuracy` runs this case and the one before it.",
    ]


def _measured(large: Large, size: int, n_draws: int, draws: Draws, kept: Store, result: Result) -> str:
    """Put ours and the peers side by side; return what was chosen, and how often."""
    names: list[str] = []
    for number in range(n_draws):
        found = _ours(large.draw(size, number), large.test)
        names.append(found["chosen"])
        _keep(large, size, number, OURS, found, draws, result)
        for peer in PEERS:
            try:
                theirs = few_labels.result(peer, large, size, number, kept)
            except Missing as missing:
                result.skip(f"{peer.name}: {missing}")
                continue
            _keep(large, size, number, peer.name, theirs, draws, result)
    reached = draws.mean(large.corpus.name, OURS, "accuracy") or 0.0
    print(f"    {SIZES[size]}: {100 * reached:.2f} %", flush=True)
    counts = sorted({name: names.count(name) for name in names}.items(), key=lambda one: -one[1])
    return "; ".join(name if times == 1 else f"{name} ×{times}" for name, times in counts)


def _ours(train: Half, test: Half) -> dict[str, Any]:
    """Train as a newcomer would, and measure."""
    begin = time.process_time()
    model: Any = textodds.train(list(train.texts), list(train.labels))
    cpu = time.process_time() - begin
    tried = model.info.get("chosen", {}).get("tried")
    return {
        **few_labels.measured(model.predict_proba(list(test.texts)), model.classes_, test.labels),
        "chosen": tried[0]["name"] if tried else "multinomial, words",
        "cpu_s": round(cpu, 2),
    }


def _keep(
    large: Large, size: int, number: int, who: str, found: dict[str, Any], draws: Draws, result: Result
) -> None:
    quantities = {name: found[name] for name in ("accuracy", "log_loss", "cpu_s")}
    draws.put(large.corpus.name, who, quantities)
    place = {"data": large.corpus.name, "contender": who, "size": size, "draw": number}
    result.raw.append({**place, **quantities, "chosen": found["chosen"]})


def _programs() -> list[str]:
    return [OURS, *(peer.name for peer in PEERS)]


def _accuracies(title: str, draws: Draws) -> Table:
    """Data sets by programs with the best of each row in bold; a program that was not measured is empty."""
    table = Table("", (f"test accuracy, %, {title}", *_programs(), "ahead of tf-idf by", "single draws"))
    means = [draws.over_sets(who, "accuracy") for who in _programs()]
    for data in draws.cells:
        ahead = draws.ahead(data)
        row = [draws.mean(data, who, "accuracy") for who in _programs()]
        table.rows.append(
            (TITLES[data], *_cells(row), f"{fmean(ahead):+.1f}", f"{min(ahead):+.1f} – {max(ahead):+.1f}")
        )
    each = _mean_of_each_draw(draws)
    if each:
        span = f"{min(each):+.1f} – {max(each):+.1f}"
        table.rows.append(("mean", *_cells(means), f"{fmean(each):+.1f}", span))
    return table


def _cells(row: Sequence[float | None]) -> list[str]:
    shown = ["" if value is None else f"{100 * value:.1f}" for value in row]
    best = max((value for value in row if value is not None), default=0.0)
    return [f"**{cell}**" if cell == f"{100 * best:.1f}" else cell for cell in shown]


def _means(sizes: dict[int, Draws]) -> Table:
    """The other quantities, over all data sets."""
    table = Table(
        "", ("mean over data sets", *(f"{who}, {size}" for size in SIZES.values() for who in _programs()))
    )
    for quantity, title in (
        ("log_loss", "test log-loss"),
        ("cpu_s", "CPU s (those of peers with the test texts)"),
    ):
        values = [draws.over_sets(who, quantity) for draws in sizes.values() for who in _programs()]
        table.rows.append((title, *("" if value is None else digits(value) for value in values)))
    return table


def _mean_of_each_draw(draws: Draws) -> list[float]:
    """Over data sets, by how many points ours is ahead of tf-idf."""
    return [fmean(column) for column in zip(*(draws.ahead(data) for data in draws.cells), strict=True)]


def _targets(result: Result, title: str, draws: Draws) -> None:
    """What is promised of one size: the average, and the worst data set."""
    each = _mean_of_each_draw(draws)
    claim = f"mean test accuracy, {title}, against {TFIDF}"
    mean = round(fmean(each), 6) if each else None
    result.targets.append(
        Target(claim, True, 0.0, mean, "points", min(each, default=None), max(each, default=None))
    )
    ahead = {data: draws.ahead(data) for data in draws.cells}
    worst = min(ahead, key=lambda data: fmean(ahead[data]), default=None)
    if worst is None:
        result.targets.append(Target(f"test accuracy, {title}, worst data set", True, NEAR, None, "points"))
        return
    found = ahead[worst]
    claim = f"test accuracy, {title}, {TITLES[worst]} (the worst of all), against {TFIDF}"
    result.targets.append(Target(claim, True, NEAR, round(fmean(found), 6), "points", min(found), max(found)))
