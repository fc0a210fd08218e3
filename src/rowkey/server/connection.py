"""One connection: requests in, answers out, in order.

    data_received -> RequestReader.feed -> requests waiting -> service.handle -> format_head -> transport.write

One request at a time is handled; others that a pipelining client has sent wait, and while many wait the socket is not
read. No request is begun while the client does not read its answers. A request that `handle` answers without
suspending, as it does point reads, goes through in one call from the event loop, with neither a Task nor a future.

Events that are not the everyday ones (a refusal, the client's end of sending, input held back) only set
`_is_unsettled`; `_settle` looks at them when nothing is being handled.

Time-outs need no timer here: the listener calls `check_time` every second or so, which compares what the connection
waits for with what it waited for last time.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import cast

from rowkey.errors import InternalError, ServiceError
from rowkey.server.driver import Driver
from rowkey.server.handler import Handler
from rowkey.server.held import Held
from rowkey.server.large_body import LargeBody
from rowkey.server.limits import Limits
from rowkey.server.outbox import Outbox
from rowkey.server.patience import Patience, Phase
from rowkey.server.reader import CLOSE, FEED_BYTES_MAX, RequestReader
from rowkey.server.refusals import RequestTimedOut
from rowkey.server.sockets import format_peer
from rowkey.server.writer import BODILESS, format_head
from rowkey.wire.request import Request, Response
from rowkey.wire.target import without_signature

log = logging.getLogger(__name__)

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
NOTHING = memoryview(b"")
JOINED_BYTES_MAX = 64 * 1024
"""Bodies up to this size are copied behind their head and written at once; a copy is cheaper than a second write."""
FAREWELL_SECONDS_MAX = 1.0
"""How long the end of the server waits for idle clients to end TLS in their turn; most are asleep."""


class Connection(asyncio.Protocol):
    """The server's end of one connection."""

    __slots__ = (
        "_answered",
        "_backlog",
        "_current",
        "_driver",
        "_forget",
        "_handle",
        "_has_held",
        "_held",
        "_is_closing",
        "_is_deaf",
        "_is_ended",
        "_is_lingering",
        "_is_paused",
        "_is_secure",
        "_is_turn_due",
        "_is_unsettled",
        "_is_write_paused",
        "_large",
        "_limits",
        "_loop",
        "_outbox",
        "_patience",
        "_reader",
        "_refusal",
        "_refuse",
        "_remember",
        "_transport",
    )

    def __init__(
        self,
        service: Handler,
        limits: Limits,
        *,
        remember: "Callable[[Connection], None]",
        forget: "Callable[[Connection], None]",
        loop: asyncio.AbstractEventLoop,
        outbox: Outbox,
        held: Held,
    ) -> None:
        """`remember` is called once, when there is a connection (with TLS: after the handshake, which may fail), and
        `forget` once, when it is closed and nothing of it runs any more.
        """
        self._handle = service.handle
        self._refuse = service.refuse
        self._limits = limits
        self._remember = remember
        self._forget = forget
        self._loop = loop
        self._outbox = outbox
        self._held = held
        self._has_held = False
        self._transport: asyncio.Transport | None = None
        self._reader = RequestReader(limits)
        self._current: tuple[Request, str] | None = None
        self._driver: Driver[Response] | None = None
        self._refusal: ServiceError | None = None
        self._backlog = NOTHING
        self._is_unsettled = False
        self._is_deaf = False
        self._is_paused = False
        self._is_secure = False
        self._is_turn_due = False
        self._is_write_paused = False
        self._large: LargeBody | None = None
        self._is_ended = False
        self._is_closing = False
        self._is_lingering = False
        self._answered = 0
        self._patience = Patience(limits)

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._is_secure = transport.get_extra_info("sslcontext") is not None
        peer = format_peer(transport.get_extra_info("peername"))
        self._reader = RequestReader(self._limits, peer=peer, is_secure=self._is_secure, hold=self._hold)
        self._remember(self)

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        if len(data) > FEED_BYTES_MAX or self._backlog:
            self._backlog = memoryview(bytes(self._backlog) + data if self._backlog else data)
            self._is_unsettled = True
        else:
            self._read(data)
        if self._current is None:
            self._advance()
        if self._reader.complete or self._is_unsettled:
            self._hold_back()

    def eof_received(self) -> bool:
        """The client has sent its last byte; it may still read, so answer what it asked before.

        Not so with TLS, where the event loop ends both directions together: what is answered by now still leaves.
        """
        self._is_deaf = True
        self._is_ended = self._is_unsettled = True
        self._outbox.flush()  # the event loop may close at once, and drop what is written later
        if self._is_secure:
            if self._large is not None:
                self._large.write_rest()
            return False
        is_working = self._current is not None or bool(self._reader.complete) or bool(self._backlog)
        return is_working or self._refusal is not None or self._large is not None

    def pause_writing(self) -> None:
        self._is_write_paused = True
        large = self._large
        if large is not None:
            large.pause()
        if self._transport is not None:
            try:
                self._hold(self._transport.get_write_buffer_size() if large is None else large.size)
            except ServiceError:
                self.abort()

    def resume_writing(self) -> None:
        if self._has_held:
            self._release()
        if self._large is not None:
            self._large.resume()
            return
        self._is_write_paused = False
        if self._current is None:
            self._advance()

    def _large_sent(self) -> None:
        self._large = None
        self.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = self._large = None
        self._is_deaf = True
        self._backlog = NOTHING
        self._reader.close()
        if self._current is None:
            self._release()
            self._forget(self)

    # What is held in memory for the client.

    @property
    def waits_for_client(self) -> bool:
        """Whether it is the client's turn: to send the rest of a body, or to read an answer."""
        return self._current is None or self._is_write_paused

    def _hold(self, size: int) -> None:
        self._has_held = True
        self._held.hold(self, size)

    def _release(self) -> None:
        self._has_held = False
        self._held.release(self)

    # From bytes to answers.

    def _read(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
        except ServiceError as refusal:
            self._refuse_after_answers(refusal)
        except Exception:
            log.exception("reading a request failed")
            self._refuse_after_answers(InternalError())

    def _refuse_after_answers(self, refusal: ServiceError) -> None:
        self._refusal = refusal
        self._backlog = NOTHING
        self._is_deaf = self._is_unsettled = True

    def _advance(self) -> None:
        """Handle the requests that wait, until one suspends or the client stops reading; then see to the rest."""
        waiting = self._reader.complete
        while True:
            while waiting:
                if self._is_write_paused:
                    return
                current = waiting.popleft()
                coroutine = self._handle(current[0])
                try:
                    awaited = coroutine.send(None)
                except StopIteration as done:
                    self._answer(done.value, current)
                except Exception as error:
                    self._answer(self._broken(error), current)
                else:
                    self._current = current
                    self._driver = Driver(coroutine, awaited, self._finished, self._loop)
                    return
            if not (self._is_unsettled or self._reader.is_continue_due):
                return
            self._settle()
            if not waiting:
                return

    def _finished(self, result: Response | BaseException) -> None:
        """The request that had suspended has its answer."""
        current, self._current, self._driver = self._current, None, None
        assert current is not None
        if self._transport is None:
            target = without_signature(current[0].target)
            log.debug("the client left before the answer to %s %s", current[0].method, target)
            self._release()
            self._forget(self)
            return
        if isinstance(result, Response):
            self._answer(result, current)
        elif isinstance(result, asyncio.CancelledError):
            self._transport.abort()
            return
        else:
            self._answer(self._broken(result), current)
        self._advance()

    def _broken(self, error: BaseException) -> Response:
        """The answer where `handle` broke its promise not to raise."""
        log.error("handling a request failed", exc_info=error)
        return self._refuse(InternalError())

    def _answer(self, response: Response, current: tuple[Request, str]) -> None:
        transport = self._transport
        if transport is None:
            return
        request, persistence = current
        self._answered += 1
        if self._has_held and not self._is_write_paused:
            self._release()
        body = response.body
        if not body or request.method == "HEAD" or response.status in BODILESS:
            self._outbox.send(transport, format_head(response, persistence))
        elif len(body) <= JOINED_BYTES_MAX:
            self._outbox.send(transport, format_head(response, persistence) + body)
        else:
            self._outbox.send(transport, format_head(response, persistence))
            self._is_write_paused = True
            self._large = LargeBody(body, transport, self._large_sent, self._loop)
        if persistence is CLOSE:
            self._close()

    def _settle(self) -> None:
        """Nothing is being handled and nothing waits: do what had to wait for that."""
        transport = self._transport
        if transport is None or self._is_closing or self._large is not None:
            return
        if self._backlog:
            if not self._is_turn_due:
                self._is_turn_due = True
                self._loop.call_soon(self._take_turn)
            return
        self._is_unsettled = False
        if self._refusal is not None:
            response, self._refusal = self._refuse(self._refusal, self._reader.request), None
            self._outbox.flush()
            transport.write(format_head(response, CLOSE) + response.body)
            self._linger(transport)
        elif self._is_ended:
            self._close()
        elif self._reader.is_continue_due:
            self._reader.is_continue_due = False
            if self._reader.is_in_body and not self._reader.body_bytes:
                self._outbox.flush()
                transport.write(CONTINUE)
        if self._is_paused and not self._is_closing:
            self._is_paused = False
            transport.resume_reading()

    def _take_turn(self) -> None:
        """Go on with what has arrived, a piece at a time: others have their turns in between."""
        self._is_turn_due = False
        if self._current is not None or self._reader.complete or self._is_write_paused:
            return  # whoever ends that comes here again
        data, self._backlog = self._backlog[:FEED_BYTES_MAX], self._backlog[FEED_BYTES_MAX:]
        if data:
            self._read(bytes(data))
        self._advance()

    def _hold_back(self) -> None:
        """Stop reading from a client that sends faster than it is answered."""
        if not self._is_paused and (self._backlog or len(self._reader.complete) > self._limits.waiting_max):
            self._is_paused = self._is_unsettled = True
            if self._transport is not None:
                self._transport.pause_reading()

    # Ends.

    def drain(self) -> None:
        """The server will stop: the next answer says that the client should come back on another connection."""
        self._reader.make_next_the_last()

    def finish(self) -> None:
        """The server stops: answer what has been read completely, then close."""
        waiting = self._reader.complete
        self._is_deaf = True
        self._backlog = NOTHING
        if waiting:
            waiting[-1] = (waiting[-1][0], CLOSE)
        elif self._current is not None:
            self._current = (self._current[0], CLOSE)
        else:
            self._close()
            if self._is_secure:
                self._loop.call_later(FAREWELL_SECONDS_MAX, self.abort)

    def abort(self) -> None:
        """Close at once, whatever is going on."""
        if self._driver is not None:
            self._driver.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _close(self) -> None:
        """Close as soon as the client has what was written."""
        self._outbox.flush()
        if self._large is not None:
            self._large.write_rest()
        self._is_closing = self._is_deaf = True
        self._reader.close()
        if self._transport is not None:
            self._transport.close()

    def _linger(self, transport: asyncio.Transport) -> None:
        """End our side, and let the client finish sending.

        Closing while its bytes are unread would reset the connection, and the client might never see why it was refused
        (RFC 9112, 9.6). With TLS there is no end of one side alone; there the client learns it from the answer.
        """
        self._is_deaf = self._is_lingering = True
        if transport.can_write_eof():
            transport.write_eof()

    # Time.

    def check_time(self, seconds: float) -> None:
        """Called every `seconds`: end a connection that waited too long for the same thing."""
        transport = self._transport
        if transport is None:
            return
        phase = self._phase()
        unsent = transport.get_write_buffer_size() + (0 if self._large is None else self._large.left)
        moved = self._reader.body_bytes if phase is Phase.BODY else -unsent
        if self._patience.runs_out(phase, self._answered, moved, seconds):
            self._run_out_of_time(phase, transport)

    def _phase(self) -> Phase:
        if self._is_write_paused or self._is_closing:
            return Phase.WRITING
        if self._is_lingering:
            return Phase.LINGERING
        if self._current is not None:
            return Phase.HANDLING
        if self._reader.is_in_body:
            return Phase.BODY
        return Phase.HEAD if self._reader.is_in_head else Phase.IDLE

    def _run_out_of_time(self, phase: Phase, transport: asyncio.Transport) -> None:
        if phase is Phase.HANDLING:  # the service has limits of its own
            assert self._current is not None
            method, path = self._current[0].method, self._current[0].target.partition("?")[0]
            log.warning("a request takes longer than %g seconds: %s %s", self._limits.slow_seconds, method, path)
            return
        log.debug("closing a connection: waited too long for %s", phase.value)
        if phase is Phase.HEAD or phase is Phase.BODY:
            self._refuse_after_answers(RequestTimedOut())
            self._advance()
        elif phase is Phase.WRITING:
            transport.abort()
        else:
            self._close()
