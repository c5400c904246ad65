"""What is counted for those who watch over the app."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class PrometheusMetrics:
    """What is counted for Prometheus."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ["method", "route", "status"]
        self.requests = Counter("tallymark_requests", "Requests answered", labels, registry=self.registry)
        self.seconds = Histogram("tallymark_request_seconds", "Time to answer", ["route"], registry=self.registry)
        self.submissions = Counter("tallymark_submissions", "Files worked on", ["state"], registry=self.registry)
        self.queue = Gauge("tallymark_queue", "Submissions that wait for work", ["work"], registry=self.registry)
