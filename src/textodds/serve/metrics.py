"""What the service counts, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

if TYPE_CHECKING:
    from textodds.serve.service import Service

MEDIA = b"text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10)


class Metrics:
    """Counters and histograms by endpoint, and gauges that are read when they are asked for."""

    def __init__(self, service: Service) -> None:
        self._registry = registry = CollectorRegistry()
        self.answers = Counter(
            "textodds_requests", "Requests answered.", ["endpoint", "status"], registry=registry
        )
        self.seconds = Histogram(
            "textodds_request_seconds",
            "Seconds from a request's head to its answer.",
            ["endpoint"],
            buckets=SECONDS,
            registry=registry,
        )
        self.texts = Counter("textodds_texts", "Texts classified or explained.", registry=registry)
        writer, live = service.writer, service.live
        gauges = {
            "textodds_requests_now": ("Requests being answered.", lambda: len(service.under_way)),
            "textodds_journal_entries": ("Entries of the journal.", lambda: service.journal.last),
            "textodds_journal_commits": ("Commits since the start.", lambda: writer.commits),
            "textodds_unfolded": ("Acknowledged corrections not in the model yet.", lambda: live.waiting),
            "textodds_snapshots": ("Snapshots since the start.", lambda: writer.snapshots),
            "textodds_snapshots_failed": ("Snapshots that failed.", lambda: writer.failed_snapshots),
            "textodds_classes": ("Classes of the model.", lambda: len(live.serving.model.classes_)),
            "textodds_words": ("Words of the model.", lambda: len(live.serving.model.vocabulary)),
        }
        for name, (told, read) in gauges.items():
            Gauge(name, told, registry=registry).set_function(read)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
