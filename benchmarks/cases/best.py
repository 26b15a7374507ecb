"""What `train` chooses by itself, against peers tuned to the same data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import textodds
from bench import Bench
from corpora import TITLES, Corpus, Missing
from result import Result, Table, Target, digits
from tuned import DATA, FLOOR, PEERS, Kept

LEARNER = "auto"
OURS = "textodds"
NEAR = -0.5  # points from the best peer

QUICK = ("sms_spam", "mr")
TUNED = [peer.name for peer in PEERS if peer.space()]


@dataclass
class Scores:
    """One quantity of the test sets, by data set and program; None where a program does not have it."""

    lowest: bool  # whether less is better
    cells: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def put(self, data: str, who: str, value: float | None) -> None:
        """Keep a number."""
        self.cells.setdefault(data, {})[who] = value

    def best_peer(self, row: Mapping[str, float | None]) -> tuple[str, float] | None:
        """The best of the others in a row, and its number."""
        others = [(who, value) for who, value in row.items() if who != OURS and value is not None]
        if not others:
            return None
        return min(others, key=lambda one: one[1]) if self.lowest else max(others, key=lambda one: one[1])

    def means(self) -> dict[str, float | None]:
        """The mean over data sets of each program that has a number for every one."""
        found: dict[str, float | None] = {}
        for who in programs():
            column = [row.get(who) for row in self.cells.values()]
            known = [value for value in column if value is not None]
            found[who] = fmean(known) if known and len(known) == len(column) else None
        return found

    def table(self, title: str, shown: Any) -> Table:
        """Data sets by programs with the best of each row in bold, and the means."""
        present = [who for who in programs() if any(row.get(who) is not None for row in self.cells.values())]
        table = Table("", (title, *present))
        for name, row in [*((TITLES[data], row) for data, row in self.cells.items()), ("mean", self.means())]:
            cells = {who: "" if (value := row.get(who)) is None else shown(value) for who in present}
            known = [value for who in present if (value := row.get(who)) is not None]
            best = shown(min(known) if self.lowest else max(known)) if known else ""
            table.rows.append(
                (name, *(f"**{cell}**" if cell and cell == best else cell for cell in cells.values()))
            )
        return table


def programs() -> list[str]:
    """Ours and the peers, in the order of the tables."""
    return [OURS, *(peer.name for peer in PEERS)]


def best(bench: Bench) -> Result:
    result = Result(
        "best",
        "Chosen by itself, against tuned peers",
        f'`textodds.train(path, learner="{LEARNER}")` with its default budget and nothing else said, against '
        "`CountVectorizer` with `MultinomialNB`, `BernoulliNB` and `ComplementNB` of scikit-learn with their "
        "defaults, and against its `TfidfVectorizer` with `LogisticRegression` and with `LinearSVC`, NBSVM "
        "(Wang & Manning 2012) and fastText, all four tuned to each data set. Everything is chosen on the "
        "training set and measured on the test set.",
    )
    right, loss, kept = Scores(lowest=False), Scores(lowest=True), Kept()
    columns = (
        "chosen by textodds",
        "terms and learner",
        "C",
        "terms",
        "seconds",
        "CPU s",
        "calibration error",
    )
    choices = Table("", columns)
    settings = Table("", ("chosen by peers", *TUNED))
    for name in QUICK if bench.quick else DATA:
        try:
            corpus = bench.corpora[name]
        except Missing as missing:
            result.skip(str(missing))
            _targets(result, TITLES[name], {}, {}, right, loss)
            continue
        print(f"  {corpus.title}", flush=True)
        found = _ours(corpus, result, choices)
        right.put(name, OURS, found.accuracy)
        loss.put(name, OURS, found.log_loss)
        settings.rows.append((corpus.title, *_peers(corpus, kept, result, right, loss)))
        _targets(result, corpus.title, right.cells[name], loss.cells[name], right, loss)
    _means(result, right, loss)
    result.tables += [
        right.table("test accuracy, %", lambda value: f"{100 * value:.2f}"),
        loss.table("test log-loss", lambda value: f"{value:.4f}"),
        choices,
        settings,
    ]
    result.notes += [
        "Peers are tuned by accuracy on a fifth of the training set, drawn once, class by class; of equals "
        "the one of the lower log-loss is taken. They are then fitted on all of it. Logistic regression "
        "is there a second time, tuned by log-loss, since what is chosen for accuracy is often too sure. "
        "TF-IDF has logarithmic counts and words, words and pairs, up to three words in a row (`min_df` 1 or "
        "2), words and pairs with punctuation, or characters within words (`char_wb`, 1 to 4 or 2 to 5). "
        "Each is tried with one C, and the best two with all (with more than ten classes the best one, and "
        "machines are tuned at LIBLINEAR's own tolerance). The features are made by the vectorisers of "
        "textodds, which give the numbers of scikit-learn bit by bit in less time.",
        "`LogisticRegression` has `max_iter=1000`. It stops before its optimum where C is large, which often "
        "does it good, so with two classes it is tuned as it is used; with more that would take hours, and "
        "settings are chosen with the solver of textodds, which finds the optimum of the same function. "
        "† marks where that solver fitted the last model too, since lbfgs would need much longer than five "
        "minutes.",
        "NBSVM has binary words and pairs, with punctuation or without. Its β is chosen as C is: the "
        "published 0.25 is for classes of equal size, and on SMS spam it is right on 9 of 10 messages only. "
        "fastText has one thread, rows in random order and words set apart beforehand; its options are "
        "chosen one after another. `LinearSVC` and NBSVM have no probabilities. Probabilities of peers are "
        f"raised to {FLOOR:.1e} where they are smaller, as in `sklearn.metrics.log_loss`; those of textodds "
        "are taken as they are.",
        "Results of peers are kept in [best-peers.json](best-peers.json) and measured again where the data, "
        "the versions or the settings to choose from are others, or where that file is deleted. "
        "`make bench-accuracy` runs this case alone.",
    ]
    return result


def _ours(corpus: Corpus, result: Result, table: Table) -> Any:
    """Train as a newcomer would, and measure."""
    cpu, wall = time.process_time(), time.perf_counter()
    model: Any = textodds.train(corpus.train.path, learner=LEARNER)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    found = model.evaluate(*corpus.test.rows)
    chosen = model.info.get("chosen", {})
    C = model.info.get("fit", {}).get("C")
    print(
        f"    {OURS}: {100 * found.accuracy:.2f} %, log-loss {found.log_loss:.4f}, {wall:.0f} s", flush=True
    )
    table.rows.append(
        (
            corpus.title,
            f"{chosen.get('features', '')}, {chosen.get('learner', '')}".strip(", "),
            "" if C is None else digits(float(C)),
            f"{len(model.vocabulary):,}",
            digits(wall),
            digits(cpu),
            f"{found.calibration_error:.4f}",
        )
    )
    result.raw.append(
        {
            "data": corpus.name,
            "contender": OURS,
            "accuracy": found.accuracy,
            "accuracy_interval": list(found.accuracy_interval),
            "log_loss": found.log_loss,
            "log_loss_interval": list(found.log_loss_interval),
            "calibration_error": found.calibration_error,
            "cpu_s": cpu,
            "wall_s": wall,
            "terms": len(model.vocabulary),
            "C": C,
            "chosen": chosen,
        }
    )
    return found


def _peers(corpus: Corpus, kept: Kept, result: Result, right: Scores, loss: Scores) -> list[str]:
    """Put the peers' numbers beside ours; return what the tuned ones chose."""
    told = dict.fromkeys(TUNED, "")
    for peer in PEERS:
        try:
            found = kept.result(peer, corpus)
        except Missing as missing:
            result.skip(str(missing))
            continue
        right.put(corpus.name, peer.name, found["accuracy"])
        loss.put(corpus.name, peer.name, found["log_loss"])
        if peer.name in told:
            told[peer.name] = _told(found["chosen"])
    return list(told.values())


def _told(chosen: dict[str, Any]) -> str:
    """Settings of a peer in few words."""
    parts = []
    for name, value in chosen.items():
        if name == "features":
            low, high = value["ngram_range"]
            what = "characters" if value.get("analyzer") == "char_wb" else "words"
            span = f"{low}" if low == high else f"{low}–{high}"
            marks = " with punctuation" if "token_pattern" in value else ""
            parts.append(f"{what} {span}{marks}{', `min_df` 2' if value.get('min_df') == 2 else ''}")
        elif name == "subwords":
            parts.append("no subwords" if value == [0, 0] else f"subwords {value[0]}–{value[1]}")
        elif name == "solver":
            parts[-1] += " †" if "textodds" in value else ""
        else:
            parts.append(f"{'β' if name == 'beta' else name} {value:g}")
    return ", ".join(parts)


def _targets(
    result: Result,
    title: str,
    accuracies: Mapping[str, float | None],
    losses: Mapping[str, float | None],
    right: Scores,
    loss: Scores,
) -> None:
    """What is promised of one data set."""
    peer, reached = _points(accuracies, right.best_peer(accuracies))
    result.targets.append(
        Target(f"test accuracy, {title}, chosen by itself, against {peer}", True, NEAR, reached, "points")
    )
    peer, reached = _share(losses, loss.best_peer(losses))
    result.targets.append(
        Target(f"test log-loss, {title}, chosen by itself, against {peer}", False, 1.0, reached, "of it")
    )


def _means(result: Result, right: Scores, loss: Scores) -> None:
    """What is promised of the average."""
    means = right.means()
    for peer in programs()[1:]:
        theirs = means[peer]
        _, reached = _points(means, None if theirs is None else (peer, theirs))
        claim = f"mean test accuracy, chosen by itself, against {peer}"
        result.targets.append(Target(claim, True, 0.0, reached, "points"))
    means = loss.means()
    peer, reached = _share(means, loss.best_peer(means))
    result.targets.append(
        Target(f"mean test log-loss, chosen by itself, against {peer}", False, 1.0, reached, "of it")
    )


def _points(row: Mapping[str, float | None], peer: tuple[str, float] | None) -> tuple[str, float | None]:
    """By how many points ours is better than a peer."""
    ours = row.get(OURS)
    if ours is None or peer is None:
        return "the best peer", None
    return peer[0], round(100 * (ours - peer[1]), 6)  # a count of texts: no error of rounding may decide


def _share(row: Mapping[str, float | None], peer: tuple[str, float] | None) -> tuple[str, float | None]:
    """Ours as a share of a peer's."""
    ours = row.get(OURS)
    if ours is None or peer is None:
        return "the best peer", None
    return peer[0], ours / peer[1]
