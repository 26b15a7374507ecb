"""What the service counts, for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from textodds.serve.rows import words_of

if TYPE_CHECKING:
    from textodds.serve.service import Service

MEDIA = b"text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0)


class ResponseCounts:
    """Answers of one endpoint: how many by status, and how long they took. One thread counts."""

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        self.within = [0] * (len(SECONDS) + 1)
        self.total = 0.0

    def count(self, status: int, seconds: float) -> None:
        """One more answer."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.within[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """Plain numbers while requests are answered, which become metrics when they are asked for.

    The counters of prometheus_client take a lock each, and more time than a short text does.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._responses: dict[str, ResponseCounts] = {}
        self.texts = 0
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def of(self, endpoint: str) -> ResponseCounts:
        """The answers of an endpoint."""
        return self._responses.setdefault(endpoint, ResponseCounts())

    def collect(self) -> Iterator[Metric]:
        """All of it, as prometheus_client wants it."""
        by = ["endpoint", "status"]
        answers = CounterMetricFamily("textodds_requests", "Requests answered.", labels=by)
        what = "Seconds from the head of a request to its answer."
        seconds = HistogramMetricFamily("textodds_request_seconds", what, labels=by[:1])
        for endpoint, counts in list(self._responses.items()):
            for status, number in sorted(counts.statuses.items()):
                answers.add_metric([endpoint, str(status)], number)
            bounds = [*map(str, SECONDS), "+Inf"]
            buckets = [(bound, float(n)) for bound, n in zip(bounds, accumulate(counts.within), strict=True)]
            seconds.add_metric([endpoint], buckets, counts.total)
        yield answers
        yield seconds
        service, writer, live = self._service, self._service.writer, self._service.live
        yield CounterMetricFamily("textodds_texts", "Texts classified or explained.", self.texts)
        yield CounterMetricFamily("textodds_journal_commits", "Commits of the journal.", writer.commits)
        yield CounterMetricFamily("textodds_snapshots", "Snapshots saved.", writer.snapshots)
        failed = writer.failed_snapshots
        yield CounterMetricFamily("textodds_snapshots_failed", "Snapshots that failed.", failed)
        yield CounterMetricFamily("textodds_reloads", "Checks for a new model file.", live.reloads)
        yield CounterMetricFamily("textodds_reloads_refused", "Model files that were refused.", live.refused)
        yield CounterMetricFamily("textodds_solutions", "Full solutions after corrections.", live.solutions)
        under_way = len(service.under_way)
        yield GaugeMetricFamily("textodds_requests_under_way", "Requests being answered.", under_way)
        yield GaugeMetricFamily("textodds_journal_entries", "Entries of the journal.", service.journal.last)
        yield GaugeMetricFamily("textodds_unfolded", "Corrections not in the model yet.", live.waiting)
        yield GaugeMetricFamily("textodds_unsolved", "Corrections not in a full solution yet.", live.unsolved)
        model = live.serving.model
        yield GaugeMetricFamily("textodds_classes", "Classes of the model.", len(model.classes_))
        yield GaugeMetricFamily("textodds_words", "Words of the model.", words_of(model))

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
