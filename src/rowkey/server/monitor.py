"""What the operator of a server sees from outside: figures and health, on a port of this machine alone.

    GET /metrics    figures, for Prometheus
    GET /healthz    whether the process answers
    GET /readyz     whether more requests should be sent to it

Figures tell how much is stored and asked for, so they are not on the port that strangers reach. Whoever wants them from
another machine puts a proxy in front, which may ask for credentials. Requests to this port are not counted themselves.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rowkey.config import HOST, Settings
from rowkey.errors import ServiceError
from rowkey.observe.figures import CONTENT_TYPE, Figures, Gauge
from rowkey.observe.health import Health
from rowkey.observe.request_lines import RequestLines
from rowkey.observe.transaction import Transaction
from rowkey.server.limits import Limits
from rowkey.server.listener import Listener
from rowkey.wire.request import Request, Response

LIMITS = Limits(head_bytes_max=16 * 1024, body_bytes_max=0, connections_max=32)
"""A scraper needs little."""


class Monitor:
    """The figures and the health of a server with these settings; begin with `observers`, then `start`."""

    def __init__(self, settings: Settings, health: Health) -> None:
        self.health = health
        self._settings = settings
        self._gauges: list[Gauge] = [*_process_gauges()]
        self._figures = None if settings.metrics_port is None else Figures(self._gauges)
        self._listener = Listener(self, LIMITS)

    def observers(self) -> Sequence[Callable[[Transaction], None]]:
        """Who is to be told of requests; nobody where nothing is to be logged and counted."""
        settings = self._settings
        observers: list[Callable[[Transaction], None]] = []
        if settings.log_requests or settings.slow_seconds is not None:
            observers.append(RequestLines(is_complete=settings.log_requests, slow_seconds=settings.slow_seconds).record)
        if self._figures is not None:
            observers.append(self._figures.record)
        return observers

    def add(self, *gauges: Gauge) -> None:
        """Show these figures too."""
        self._gauges += gauges

    async def start(self) -> int | None:
        """Listen, if that is wanted, and return the port; raises OSError where it cannot be had."""
        if self._settings.metrics_port is None:
            return None
        await self._listener.start(HOST, self._settings.metrics_port)
        return self._listener.port

    async def stop(self) -> None:
        """End every connection."""
        await self._listener.stop(1.0)

    async def handle(self, request: Request) -> Response:
        """Answer a request to the port of the figures."""
        probe = await self.health.answer(request)
        if probe is not None:
            return probe
        if request.target.partition("?")[0] != "/metrics" or request.method not in ("GET", "HEAD"):
            return Response(404, [("Content-Type", "text/plain")], b"Here are /metrics, /healthz and /readyz.\n")
        assert self._figures is not None
        return Response(200, [("Content-Type", CONTENT_TYPE)], self._figures.write().encode())

    def refuse(self, refusal: ServiceError, request: Request | None = None) -> Response:
        """Answer what did not become a request."""
        return Response(refusal.status, [("Content-Type", "text/plain")], f"{refusal.text}\n".encode())


def data_gauge(folder: Path) -> Gauge:
    """How large the data folder is, without logs of requests and other folders in it."""

    def measure() -> float:
        return sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())

    return Gauge("rowkey_data_bytes", "gauge", "Size of the database and its write-ahead log.", measure)


def writes_gauge(waiting: Callable[[], int]) -> Gauge:
    """How many writes wait for the store."""
    return Gauge("rowkey_writes_waiting", "gauge", "Writes that wait for the next commit.", waiting)


def listener_gauges(listener: Listener) -> Sequence[Gauge]:
    """What goes on at a port."""
    return (
        Gauge("rowkey_connections", "gauge", "Connections that are open.", lambda: listener.connections),
        Gauge("rowkey_connections_total", "counter", "Connections that were accepted.", lambda: listener.accepted),
        Gauge(
            "rowkey_connections_refused_total",
            "counter",
            "Connections that were answered 503, because there were too many.",
            lambda: listener.refused,
        ),
        Gauge(
            "rowkey_connections_cut_total",
            "counter",
            "Connections that were ended, because what waited for their clients took too much memory.",
            lambda: listener.cut,
        ),
    )


def _process_gauges() -> Sequence[Gauge]:
    """What every exporter tells of its process, by the names that the client libraries of Prometheus use."""
    started = time.time()
    return (
        Gauge("process_start_time_seconds", "gauge", "When the process began, in Unix time.", lambda: started),
        Gauge("process_cpu_seconds_total", "counter", "Processor time of the process.", time.process_time),
        Gauge("process_resident_memory_bytes", "gauge", "Memory of the process.", _resident_bytes),
    )


def _resident_bytes() -> float:
    """What the process has in memory, NaN where the system does not tell it as Linux does."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return math.nan
