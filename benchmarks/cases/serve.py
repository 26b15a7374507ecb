"""Requests per second of one core, of textodds and of scikit-learn behind the same service."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import textodds
from bench import SKLEARN, Bench
from corpora import Corpus, Missing
from measure import Series, interleaved
from result import Bar, Result, Table, Target, digits, times
from serving.load import Load, closed, post
from serving.process import Server, asking, echo, instead, running, serve

DATA = ("sms_spam", "ag_news_subset", "imdb")
SAME = "textodds"
DEFAULT = "textodds, as it trains by default"
NOTHING = "no model"
CONNECTIONS = 16
BATCH = 100
AGREEMENT = 1e-9  # between probabilities
TIMES = 10  # as many requests as scikit-learn


@dataclass
class Asked:
    """A server under load, as a contender: CPU seconds of the server and seconds of the wall, per request."""

    name: str
    server: Server
    messages: Iterator[bytes]
    n: int
    connections: int = CONNECTIONS
    times: int = 1
    rounds: int | None = None
    loads: list[Load] = field(default_factory=list)
    shares: list[tuple[float, float]] = field(default_factory=list)  # of the time: busy, held up by others

    def time(self) -> tuple[float, float]:
        cpu, held_up = self.server.cpu, self.server.held_up
        load = closed(self.server.port, self.messages, self.n, self.connections)
        cpu, held_up = self.server.cpu - cpu, self.server.held_up - held_up
        self.loads.append(load)
        self.shares.append((cpu / load.wall, held_up / load.wall))
        return cpu / self.n, load.wall / self.n

    @property
    def generator(self) -> float:
        """The share of its core that the one who asks has used."""
        return statistics.median(load.generator / load.wall for load in self.loads)


def warmed(name: str, server: Server, messages: Iterator[bytes], seconds: float) -> Asked:
    """A contender after a first load, with as many requests a round as take so many seconds."""
    trial = Asked(name, server, messages, 2 * CONNECTIONS)
    for _ in range(2):
        _, wall = trial.time()
        trial.n = max(CONNECTIONS, int(min(seconds, 0.3) / wall))
    _, wall = trial.time()
    return Asked(name, server, messages, max(CONNECTIONS, int(seconds / wall)))


def singles(texts: Sequence[str]) -> Iterator[bytes]:
    """Requests of one text each, over and over."""
    return itertools.cycle([post("/v1/classify", {"text": text}) for text in texts])


def batches(texts: Sequence[str]) -> Iterator[bytes]:
    """Requests of a hundred texts each, over and over."""
    parts = (texts[at : at + BATCH] for at in range(0, len(texts) - BATCH + 1, BATCH))
    return itertools.cycle([post("/v1/classify/batch", {"texts": part}) for part in parts])


def requests_per_second(bench: Bench) -> Result:
    result = Result(
        "serve",
        "Requests per second of a service",
        "`textodds serve` on one core, asked from another by 16 clients who keep their connections and ask "
        "again as soon as they have their answer; against scikit-learn's `CountVectorizer` and "
        "`MultinomialNB` in the very same service (uvicorn, httptools, uvloop, the routes, types and "
        "limits of textodds), where only the two functions that answer are others. Both have the same "
        "model: scikit-learn's words, not calibrated. “No model” is that service with an answer that never "
        "changes.",
    )
    columns = ("data", "texts", "who", "requests/s", "range", "server CPU µs per request",
               "faster by, CPU", "range of it", "faster by, requests/s")  # fmt: skip
    result.tables.append(Table("", columns))
    try:
        with asking() as core:
            for name in DATA:
                try:
                    _compare(bench, bench.corpora[name], result, core)
                except Missing as missing:
                    result.skip(str(missing))
            _limit(bench, result, core)
    except Missing as missing:
        result.skip(str(missing))
    return result


def _compare(bench: Bench, corpus: Corpus, result: Result, core: int) -> None:
    print(f"  {corpus.title}", flush=True)
    texts = corpus.test.texts[:2000]
    with running(core, _commands(bench, corpus)) as servers:
        _must_agree(servers, texts[:500], result, corpus)
        for each, messages in ((1, singles(texts)), (BATCH, batches(texts))):
            seconds = 0.3 if bench.quick else 0.8
            contenders = [warmed(who, server, messages, seconds) for who, server in servers.items()]
            series = interleaved(contenders, bench.rounds)
            result.record(
                corpus.name,
                series,
                texts_per_request=dict.fromkeys(servers, each),
                requests_per_round={who.name: who.n for who in contenders},
                generator_busy={who.name: who.generator for who in contenders},
                server_busy={who.name: [busy for busy, _ in who.shares] for who in contenders},
                server_held_up={who.name: [held for _, held in who.shares] for who in contenders},
            )
            _tell(result, corpus, each, series)


def _commands(bench: Bench, corpus: Corpus) -> dict[str, Sequence[str]]:
    """The services of one data set, each with a journal of its own."""
    import joblib

    same, usual, pipeline = (
        bench.workspace / f"{corpus.name}-{kind}" for kind in ("same", "usual", "sklearn")
    )
    rows = corpus.train.rows
    textodds.train(*rows, learner="multinomial:alpha=1", sklearn=True, calibrate=False).save(same)
    textodds.train(*rows, learner="multinomial").save(usual)
    joblib.dump(bench.model(corpus, SKLEARN), pipeline)
    journals = (Path(f"{same}-{k}.journal") for k in itertools.count())
    return {
        SAME: serve(same, next(journals)),
        SKLEARN: instead(pipeline, same, next(journals)),
        DEFAULT: serve(usual, next(journals)),
        NOTHING: instead("nothing", same, next(journals)),
    }


def _must_agree(servers: dict[str, Server], texts: Sequence[str], result: Result, corpus: Corpus) -> None:
    """Both say the same of texts, one by one and together, and it is they who say it."""
    mine, theirs = (_said(servers[who], texts) for who in (SAME, SKLEARN))
    if not any(answer["evidence"] for answer in mine) or any(answer["evidence"] for answer in theirs):
        raise RuntimeError("scikit-learn does not answer where it should: the service has changed")
    a, b = (np.array([share for answer in said for share in _shares(answer)]) for said in (mine, theirs))
    apart = float(np.abs(a - b).max())
    if apart > AGREEMENT:
        raise RuntimeError(
            f"{corpus.title}: probabilities differ by {apart:.2g}: these are not the same model"
        )
    result.notes.append(
        f"{corpus.title}: {np.mean([len(text) for text in texts]):,.0f} characters a text on average; the "
        f"probabilities of textodds and scikit-learn differ by {apart:.1g} at most on {len(texts)} texts."
    )


def _shares(answer: dict[str, Any]) -> list[float]:
    return [answer["probability"], *answer.get("probabilities", {}).values()]


def _said(server: Server, texts: Sequence[str]) -> list[dict[str, Any]]:
    together: list[dict[str, Any]] = server.ask(post("/v1/classify/batch", {"texts": texts}))["answers"]
    alone = [server.ask(post("/v1/classify", {"text": text})) for text in texts[:20]]
    return together + alone


def _tell(result: Result, corpus: Corpus, each: int, series: dict[str, Series]) -> None:
    mine = series[SAME]
    for who, seconds in series.items():
        rates = [1 / wall for wall in seconds.seconds("wall")]
        row = [
            corpus.title,
            str(each),
            who,
            digits(statistics.median(rates)),
            f"{digits(min(rates))} – {digits(max(rates))}",
            digits(1e6 * seconds.median()),
        ]
        if who == SKLEARN:
            cpu, wall = (result.ratio(f"{corpus.name}, {each}", seconds, mine, by) for by in ("cpu", "wall"))
            row += [times(cpu.value), f"{digits(cpu.low)} – {digits(cpu.high)}", times(wall.value)]
            what = "one text" if each == 1 else f"{each} texts"
            result.bars.append(Bar(f"serve {what}, {corpus.title}", SKLEARN, cpu.value))
            claim = f"serve {what} a request on one core, {corpus.title}, CPU, against scikit-learn"
            result.targets.append(Target(claim, True, TIMES, cpu.value, "times", cpu.low, cpu.high))
        result.tables[0].rows.append(row + [""] * (9 - len(row)))


def _limit(bench: Bench, result: Result, core: int) -> None:
    """What the one who asks can do, and how busy it was."""
    text = bench.corpora["sms_spam"].test.texts[:100]
    with running(core, {"echo": echo()}) as servers:
        trivial = warmed("echo", servers["echo"], singles(text), 0.5)
        wall = statistics.median(trivial.time()[1] for _ in range(bench.rounds))
    busiest = max(one["generator_busy"] for one in result.raw)
    held_up = max(statistics.median(one["server_held_up"]) for one in result.raw)
    idlest = max(
        1 - statistics.median(map(sum, zip(one["server_busy"], one["server_held_up"], strict=True)))
        for one in result.raw
    )
    fastest = max(1 / statistics.median(one["wall_s"]) for one in result.raw)
    result.notes.append(
        f"The one who asks can ask {digits(1 / wall)} times a second of a server that does nothing; here it "
        f"had to ask {digits(fastest)} times at most, and was busy for {100 * busiest:.0f} % of the time at "
        f"most. Servers had nothing to do for {100 * max(0.0, idlest):.0f} % of the time at most: "
        + ("they were the limit." if idlest < 0.1 else "**they alone were not the limit**.")
        + f" Other processes kept them from their core for {100 * held_up:.0f} % of it at most"
        + (", so that CPU time says more than requests per second." if held_up > 0.05 else ".")
    )
