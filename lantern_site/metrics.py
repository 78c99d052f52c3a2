"""``/metrics``: what Prometheus reads, of all processes on the port together."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from functools import partial
from hmac import compare_digest

from django.conf import settings
from django.http import HttpRequest
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from lantern_site.siblings import Together, siblings
from sessions_app.domain.errors import Unauthorized
from sessions_app.store.health import ProviderHealth, provider_health
from sessions_app.store.load import Load, load
from sessions_app.telemetry import Counts

FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip", "via")


def require_reader(request: HttpRequest) -> None:
    """Let in who has the token; without one set, who asks from this machine.

    Behind a proxy on this machine everybody seems to; what it forwards is refused.
    """
    token = settings.LANTERN_METRICS_TOKEN
    if token:
        given = request.headers.get("authorization", "").encode()
        if compare_digest(given, f"Bearer {token}".encode()):
            return
        raise Unauthorized()
    address = ipaddress.ip_address(request.META.get("REMOTE_ADDR") or "0.0.0.0")
    if not address.is_loopback or any(name in request.headers for name in FORWARDED):
        raise Unauthorized("Ask from the machine itself, or set LANTERN_METRICS_TOKEN.")


def render() -> bytes:
    """The page, in Prometheus' text format; reads the database, so use a thread."""
    together = siblings.together()
    registry = CollectorRegistry()
    registry.register(_Lantern(load(), provider_health(), together))
    registry.register(_Processes(together.pids))
    return generate_latest(registry)


class _Lantern(Collector):
    def __init__(
        self, load: Load, providers: list[ProviderHealth], together: Together
    ) -> None:
        self._load = load
        self._providers = providers
        self._together = together

    def collect(self) -> Iterator[Metric]:
        yield from _work(self._load)
        yield from _here(self._together)
        yield from _done(self._together.counts)
        yield from _spent(self._together.counts)
        yield from _health(self._providers)


class _Processes(Collector):
    """The usual ``process_*``: of one without a label, of several with its place.

    Added up, some would say nothing; of the asked one alone, each scrape would show
    another.
    """

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids

    def collect(self) -> Iterator[Metric]:
        if not self._pids:
            yield from ProcessCollector(registry=None).collect()
            return
        metrics: dict[str, Metric] = {}
        for place, pid in sorted(self._pids.items()):
            one = ProcessCollector(pid=partial(str, pid), registry=None)
            for found in one.collect():
                blank = Metric(found.name, found.documentation, found.type)
                metric = metrics.setdefault(found.name, blank)
                for sample in found.samples:
                    labels = {**sample.labels, "process": place}
                    metric.add_sample(sample.name, labels, sample.value)
        yield from metrics.values()


def _work(load: Load) -> Iterator[Metric]:
    turns = GaugeMetricFamily(
        "lantern_open_turns", "Turns that have not ended.", labels=["state"]
    )
    for state, number in load.open_turns.items():
        turns.add_metric([state], number)
    yield turns
    yield GaugeMetricFamily(
        "lantern_oldest_queued_seconds",
        "Wait of the oldest queued turn.",
        value=load.oldest_queued_s,
    )
    yield GaugeMetricFamily(
        "lantern_oldest_lease_seconds",
        "Since the stalest lease was renewed.",
        value=load.oldest_lease_s,
    )


def _here(together: Together) -> Iterator[Metric]:
    streams = GaugeMetricFamily(
        "lantern_open_streams", "Clients that listen here.", labels=["transport"]
    )
    for transport in ("sse", "websocket"):
        streams.add_metric([transport], together.streams[transport])
    yield streams
    yield GaugeMetricFamily(
        "lantern_draining", "Processes here that end.", value=together.draining
    )


def _done(counts: Counts) -> Iterator[Metric]:
    yield CounterMetricFamily(
        "lantern_deltas", "Pieces of text published.", value=counts.deltas
    )
    yield CounterMetricFamily(
        "lantern_appends", "Writes to the event log.", value=counts.appends
    )
    turns = CounterMetricFamily(
        "lantern_turns", "Turns that ended here.", labels=["state"]
    )
    for state, number in counts.turns.items():
        turns.add_metric([state], number)
    yield turns
    tools = CounterMetricFamily(
        "lantern_tool_calls", "Tool calls that ended here.", labels=["status"]
    )
    for status, number in counts.tool_calls.items():
        tools.add_metric([status], number)
    yield tools
    requests = CounterMetricFamily(
        "lantern_http_requests",
        "Requests answered here.",
        labels=["method", "route", "status"],
    )
    for (method, route, code), number in counts.requests.items():
        requests.add_metric([method, route, str(code)], number)
    yield requests


def _spent(counts: Counts) -> Iterator[Metric]:
    attempts = CounterMetricFamily(
        "lantern_attempts", "Calls of providers.", labels=["provider", "status"]
    )
    for place, number in counts.attempts.items():
        attempts.add_metric(place, number)
    yield attempts
    tokens = CounterMetricFamily(
        "lantern_tokens",
        "Tokens of provider calls.",
        labels=["provider", "model", "direction"],
    )
    for labels, number in counts.tokens.items():
        tokens.add_metric(labels, number)
    yield tokens
    cost = CounterMetricFamily(
        "lantern_cost_usd", "Cost of provider calls.", labels=["provider", "model"]
    )
    for place, usd in counts.cost_usd.items():
        cost.add_metric(place, float(usd))
    yield cost


def _health(providers: list[ProviderHealth]) -> Iterator[Metric]:
    success = GaugeMetricFamily(
        "lantern_provider_success_ratio", "Of the last hour.", labels=["provider"]
    )
    cools = GaugeMetricFamily(
        "lantern_provider_cools_seconds",
        "How long the provider is left alone yet.",
        labels=["provider"],
    )
    first = GaugeMetricFamily(
        "lantern_provider_first_token_seconds",
        "Time to the first token, of the last hour.",
        labels=["provider", "quantile"],
    )
    for each in providers:
        if each.success_rate is not None:
            success.add_metric([each.provider], each.success_rate)
        cools.add_metric([each.provider], each.cools_for_s)
        for quantile, ms in (("0.5", each.ttft_p50_ms), ("0.95", each.ttft_p95_ms)):
            if ms is not None:
                first.add_metric([each.provider, quantile], ms / 1000)
    yield from (success, cools, first)
