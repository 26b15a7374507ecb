"""How long one text waits for its answer when the service is half busy."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Iterator

import textodds
from bench import Bench
from cases.serve import singles, warmed
from corpora import TITLES, Corpus, Missing
from measure import percentiles
from result import Result, Table, Target, digits
from serving.load import Stream, closed, post, scheduled
from serving.process import Server, asking, running, serve

SHORT, LONG = "sms_spam", "imdb"
MOST = 5.0  # milliseconds
CORRECTIONS = 50  # a second
CONNECTIONS = 64  # so that requests wait for the service, and not for a connection
CLAIM = "latency of one text at half of full load, p99"
CORRECTED = f"latency of one text at half of full load and {CORRECTIONS} corrections a second, p99"


def latency(bench: Bench) -> Result:
    result = Result(
        "serve-latency",
        "Latency of a service at half load",
        "Milliseconds from when a request was due to its answer. Requests of one text are due at random "
        "(independent of each other, gaps by the exponential distribution, a fixed seed), on average half as "
        "many a second as the service answers when it is asked without a pause; they are sent whether or not "
        "others are answered. The model is what `train` makes by default; the server has one core, and the "
        "one who asks the other. “With corrections” the service learns "
        f"{CORRECTIONS} documents a second, one a request, meanwhile: the next answer rests on them.",
    )
    columns = ("data", "what", "requests", "requests/s", "p50 ms", "p99 ms", "p99 by round",
               "longest ms", "sent late, p99 ms", "server busy", "held up")  # fmt: skip
    result.tables.append(Table("", columns))
    for name, claim in ((SHORT, CLAIM), (LONG, CORRECTED)):
        try:
            with asking() as core:
                _half_load(bench, bench.corpora[name], result, core)
        except Missing as missing:
            result.skip(str(missing))
            result.targets.append(Target(f"{claim}, {TITLES[name]}", False, MOST, None, "ms"))
    result.notes.append(
        "“Sent late” is how much later than due requests were sent: it is part of the latency, though not "
        "the service's doing where the machine held up the one who asks. “Held up” is the share of the time "
        "for which the server's main thread waited for its core, which other processes or, with corrections, "
        "its own threads had. A server that is busy and held up for nearly all of the time cannot keep up: "
        "then latencies grow for as long as requests come, and say little."
    )
    return result


def learning(corpus: Corpus, key: str) -> Iterator[bytes]:
    """Requests that teach documents of the test set, each under an id of its own."""
    documents = itertools.cycle(list(zip(corpus.test.texts, corpus.test.labels, strict=True)))
    return (
        post("/v1/learn", {"documents": [{"id": f"{key}-{n}", "text": text, "label": label}]})
        for n, (text, label) in enumerate(documents)
    )


def _half_load(bench: Bench, corpus: Corpus, result: Result, core: int) -> None:
    print(f"  {corpus.title}", flush=True)
    model = bench.workspace / f"{corpus.name}-latency"
    textodds.train(*corpus.train.rows, learner="multinomial").save(model)
    n, rounds = (4_000 if bench.quick else 20_000), min(3, bench.rounds)
    messages = singles(corpus.test.texts[:2000])
    streams: dict[str, list[list[Stream]]] = {"alone": [], "with corrections": []}
    shares: dict[str, list[tuple[float, float]]] = {what: [] for what in streams}  # busy, held up
    with running(
        core, {"service": serve(model, bench.workspace / f"{corpus.name}-latency.journal")}
    ) as found:
        server: Server = found["service"]
        full = warmed("full", server, messages, 0.3 if bench.quick else 1.0)
        rate = 1 / statistics.median(full.time()[1] for _ in range(3)) / 2
        result.notes.append(f"{corpus.title}: {_first(server, corpus, messages)}")
        for number in range(rounds):
            for what, kept in streams.items():
                asked = Stream(messages, _at_random(n, rate, seed=number), CONNECTIONS)
                taught = Stream(learning(corpus, f"{number}"), _every(1 / CORRECTIONS, asked.due[-1]), 4)
                kept.append([asked] if what == "alone" else [asked, taught])
                cpu, held_up = server.cpu, server.held_up
                wall = scheduled(server.port, kept[-1]).wall
                shares[what].append(((server.cpu - cpu) / wall, (server.held_up - held_up) / wall))
    for what, kept in streams.items():
        _tell(result, corpus, what, rate, [each[0] for each in kept], shares[what])
    what = "with corrections"
    _tell(result, corpus, "a correction", CORRECTIONS, [each[1] for each in streams[what]], shares[what])


def _first(server: Server, corpus: Corpus, messages: Iterator[bytes]) -> str:
    """What a correction costs when nothing else is going on, the first of a process and later ones."""
    taught = learning(corpus, "first")
    waits = [
        [1000 * closed(server.port, asked, 1, 1).latencies[0] for asked in (taught, messages)]
        for _ in range(10)
    ]
    ack, answer = (statistics.median(later) for later in zip(*waits[1:], strict=True))
    return (
        f"with nothing else to do, the service acknowledges its first correction after {digits(waits[0][0])} "
        f"ms, and the next answer takes {digits(waits[0][1])} ms; of later ones {digits(ack)} ms and "
        f"{digits(answer)} ms (medians)."
    )


def _at_random(n: int, rate: float, seed: int) -> list[float]:
    draw = random.Random(seed)
    return list(itertools.accumulate(draw.expovariate(rate) for _ in range(n)))


def _every(seconds: float, until: float) -> list[float]:
    return [seconds * k for k in range(1, max(2, int(until / seconds)))]


def _tell(
    result: Result,
    corpus: Corpus,
    what: str,
    rate: float,
    streams: list[Stream],
    shares: list[tuple[float, float]],
) -> None:
    rounds = [[1000 * seconds for seconds in stream.latencies] for stream in streams]
    every = list(itertools.chain.from_iterable(rounds))
    late = [1000 * seconds for stream in streams for seconds in stream.late]
    (p50, p99), by_round = percentiles(every), [percentiles(one)[1] for one in rounds]
    result.tables[0].rows.append(
        (
            corpus.title,
            what,
            f"{len(every):,}",
            digits(rate),
            digits(p50),
            digits(p99),
            ", ".join(map(digits, by_round)),
            digits(max(every)),
            digits(percentiles(late)[1]),
            *(f"{100 * statistics.median(share):.0f} %" for share in zip(*shares, strict=True)),
        )
    )
    result.raw.append(
        {
            "data": corpus.name,
            "contender": what,
            "n": len(every),
            "requests_per_second": rate,
            "p50_ms": p50,
            "p99_ms": p99,
            "p99_ms_by_round": by_round,
            "longest_ms": max(every),
            "late_p99_ms": percentiles(late)[1],
            "server_busy": [busy for busy, _ in shares],
            "server_held_up": [held_up for _, held_up in shares],
        }
    )
    claims = {(SHORT, "alone"): CLAIM, (LONG, "with corrections"): CORRECTED}
    if (corpus.name, what) in claims:
        claim = f"{claims[corpus.name, what]}, {corpus.title}"
        result.targets.append(Target(claim, False, MOST, p99, "ms", min(by_round), max(by_round)))
