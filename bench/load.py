"""The load generator: drives one workload at one server in a closed loop and prints a Result as JSON.

A process of its own, so that its work is on another core than the server's and never in the server's figures.
Each connection sends its next request before it looks at the body of the last answer, and has that request ready
beforehand: what the generator does falls in the time in which the server works.
The clock and the server's CPU time start and stop at the end of an operation, so no half operation is counted.
"""

import argparse
import asyncio
import dataclasses
import gc
import json
import re
import sys
import time
import zlib
from collections.abc import Iterator
from typing import cast
from urllib.parse import quote

import httptools
import uvloop

from servers import cpu_seconds, session_processes
from workload import MeasureError, Result, Target, Workload
from workloads import WORKLOADS

# The longest a measure may take: a run cut here counts the pages that were done.
BOX_SECONDS = 30.0
# How much of a wrong answer is shown.
ANSWER_SHOWN_BYTES = 800
NANO = 1_000_000_000
GZIP_BITS = 16 + zlib.MAX_WBITS

_CONTENT_LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: *(\d+)")
_CONTINUATION = re.compile(rb"\r\nx-ms-continuation-next(partition|row)key: *([^\r]+)", re.IGNORECASE)
# Azurite writes the names of headers in lower case, but reads those of query options as the service spells them.
_NEXT_KEY = {b"partition": "NextPartitionKey", b"row": "NextRowKey"}


class Recorder:
    """Counts operations between two moments and knows when to begin and to end."""

    def __init__(self, workload: Workload, server_pid: int, *, seconds: float) -> None:
        self.done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._workload = workload
        self._processes = session_processes(server_pid)
        self._latencies_ns: list[int] = []
        self._units = 0
        self._operations = 0
        self._bytes = 0
        self._begun = False
        self._seconds = seconds

    def start(self) -> None:
        """Let the time run: from now on, or from the end of the first operation after the warm-up."""
        self._warm_at = time.perf_counter_ns() + int(self._workload.warmup_seconds * NANO)
        if not self._workload.warmup_seconds:
            self._begin()

    def received(self, answer_bytes: int) -> None:
        """Count the bytes of an answer, which may be one of several to an operation."""
        self._bytes += answer_bytes

    def answered(self, latency_ns: int, *, units: int, whole: bool) -> None:
        """Count an answer and the units it brought; `whole` when an operation has ended with it."""
        now = time.perf_counter_ns()
        if not self._begun:
            if whole and now >= self._warm_at:
                self._begin()
            return
        self._latencies_ns.append(latency_ns)
        self._units += units
        self._operations += whole
        if (whole and now >= self._end_at) or now >= self._box_at:
            self.finish()

    def finish(self) -> None:
        if not self.done.done():
            self.done.set_result(self._result())

    def fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(MeasureError(reason))

    def _begin(self) -> None:
        self._begun = True
        self._bytes = 0
        self._server_cpu = cpu_seconds(self._processes)
        self._own_cpu = time.process_time()
        self._began_at = time.perf_counter_ns()
        self._end_at = self._began_at + self._seconds * NANO
        self._box_at = self._began_at + max(self._seconds, BOX_SECONDS) * NANO

    def _result(self) -> Result:
        seconds = (time.perf_counter_ns() - self._began_at) / NANO
        own_cpu = time.process_time() - self._own_cpu
        server_cpu = cpu_seconds(self._processes) - self._server_cpu
        return Result.of(
            units=self._units,
            operations=self._operations,
            seconds=seconds,
            cpu_seconds=server_cpu,
            latencies_ns=self._latencies_ns,
            generator_busy=own_cpu / seconds,
            answer_bytes=self._bytes,
        )


class Connection(asyncio.Protocol):
    """One keep-alive connection: sends, frames the answer by Content-Length, checks it, sends the next."""

    _transport: asyncio.Transport

    def __init__(self, workload: Workload, target: Target, requests: Iterator[bytes], recorder: Recorder) -> None:
        self._workload = workload
        self._target = target
        self._requests = requests
        self._recorder = recorder
        self._ready: bytes | None = next(requests, None)
        self._status = b"HTTP/1.1 %d " % workload.status
        self._marks_wanted = target.entities if workload.marks is None else workload.marks
        self._marks = 0
        self._sent_ns = 0
        self._pieces: list[bytes] = []
        self._head_bytes = 0
        self._missing_bytes = 0
        self._chunked: httptools.HttpResponseParser | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not an instance check: uvloop's transports are no asyncio.Transport by class.
        self._transport = cast(asyncio.Transport, transport)

    def start(self) -> None:
        self._send_next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._recorder.fail(f"the server closed a connection: {exc}")

    def data_received(self, data: bytes) -> None:
        if self._chunked:
            self._chunked.feed_data(data)
        elif self._missing_bytes > 0:
            self._pieces.append(data)
            self._missing_bytes -= len(data)
            if self._missing_bytes <= 0:
                self._answer_ended()
        else:
            self._head_received(b"".join((*self._pieces, data)))

    def _head_received(self, data: bytes) -> None:
        self._pieces = [data]
        head_end = data.find(b"\r\n\r\n")
        if head_end < 0:
            return
        self._head_bytes = head_end + 4
        length = _CONTENT_LENGTH.search(data, 0, head_end)
        if length:
            self._missing_bytes = self._head_bytes + int(length[1]) - len(data)
            if self._missing_bytes <= 0:
                self._answer_ended()
        elif data.startswith(b"HTTP/1.1 204 "):
            self._answer_ended()
        else:
            self._pieces = [data[: self._head_bytes]]
            self._chunked = httptools.HttpResponseParser(self)
            self._chunked.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Called by httptools with each piece of a chunked body."""
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        """Called by httptools at the end of a chunked answer."""
        self._chunked = None
        self._answer_ended()

    def _answer_ended(self) -> None:
        """Send the next request, then check the answer; the marks of a query are added up over its pages."""
        now_ns = time.perf_counter_ns()
        answer = b"".join(self._pieces)
        self._pieces = []
        head_bytes, sent_ns = self._head_bytes, self._sent_ns
        if not answer.startswith(self._status):
            self._recorder.fail(f"expected status {self._workload.status}, got {answer[:ANSWER_SHOWN_BYTES]!r}")
            return
        continuation = _read_continuation(answer[:head_bytes]) if self._workload.next_page else ""
        is_more = self._send_page(continuation) if continuation else self._send_next()

        self._recorder.received(len(answer))
        if self._workload.gzip:
            try:
                answer, head_bytes = zlib.decompress(answer[head_bytes:], GZIP_BITS), 0
            except zlib.error:
                self._recorder.fail(f"expected gzip, got {answer[:ANSWER_SHOWN_BYTES]!r}")
                return
        marks = answer.count(self._workload.mark, head_bytes)
        self._marks += marks
        if self._marks > self._marks_wanted or (not continuation and self._marks < self._marks_wanted):
            wanted = f"{self._marks_wanted} x {self._workload.mark!r}"
            self._recorder.fail(f"expected {wanted}, got {self._marks}: {answer[:ANSWER_SHOWN_BYTES]!r}")
            return
        if not continuation:
            self._marks = 0
        if self._workload.counts_entities:
            self._recorder.answered(now_ns - sent_ns, units=marks, whole=not continuation)
        elif not continuation:
            self._recorder.answered(now_ns - sent_ns, units=1, whole=True)
        if not is_more:
            self._recorder.finish()

    def _send_next(self) -> bool:
        """Send the request that is ready and make the one after it; False when the workload has come to its end."""
        if self._ready is None:
            return False
        self._sent_ns = time.perf_counter_ns()
        self._transport.write(self._ready)
        self._ready = next(self._requests, None)
        return True

    def _send_page(self, continuation: str) -> bool:
        """Send for the next page of the query; the time of an operation of several pages began with the first."""
        assert self._workload.next_page
        if self._workload.counts_entities:
            self._sent_ns = time.perf_counter_ns()
        self._transport.write(self._workload.next_page(self._target, continuation))
        return True


def _read_continuation(head: bytes) -> str:
    """Return the continuation tokens of an answer as the end of the next page's query."""
    tokens = _CONTINUATION.findall(head)
    return "".join(f"&{_NEXT_KEY[which.lower()]}={quote(token.decode())}" for which, token in tokens)


async def drive(workload: Workload, target: Target, server_pid: int, *, seconds: float) -> Result:
    """Run the workload for about `seconds` and return what was counted; raises MeasureError at a wrong answer."""
    loop = asyncio.get_running_loop()
    recorder = Recorder(workload, server_pid, seconds=seconds)
    requests = workload.requests(target)
    connections = []
    for _ in range(workload.connections):
        _, connection = await loop.create_connection(
            lambda: Connection(workload, target, requests, recorder), "127.0.0.1", target.port
        )
        connections.append(connection)
    recorder.start()
    for connection in connections:
        connection.start()
    return await recorder.done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=list(WORKLOADS))
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--server-pid", type=int, required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--entities", type=int, required=True)
    parser.add_argument("--first", type=int, default=0, help="where inserts begin")
    parser.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    target = Target(port=arguments.port, table=arguments.table, entities=arguments.entities, first=arguments.first)
    # A collection would stop the generator in mid-measure; a run is too short to need one.
    gc.disable()
    try:
        result = uvloop.run(
            drive(WORKLOADS[arguments.workload], target, arguments.server_pid, seconds=arguments.seconds)
        )
    except (MeasureError, OSError) as failure:
        sys.exit(str(failure))
    print(json.dumps(dataclasses.asdict(result)))


if __name__ == "__main__":
    main()
