"""Prometheus metrics of the app, which `/metrics` serves."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class PrometheusMetrics:
    """Counters of one app in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ["method", "route", "status"]
        self.requests = Counter("tallymark_requests", "Requests answered", labels, registry=self.registry)
        self.request_seconds = Histogram(
            "tallymark_request_seconds", "Request duration", ["route"], registry=self.registry
        )
        self.submissions = Counter("tallymark_submissions", "Submissions processed", ["state"], registry=self.registry)
        self.queue = Gauge("tallymark_queue", "Submissions in the queue", ["work"], registry=self.registry)
