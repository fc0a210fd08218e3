"""What connections may ask of the server: sizes, times and numbers, in one place, so that tests can make them small."""

from dataclasses import dataclass

from rowkey.model.limits import BODY_BYTES_MAX


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one connection, and of all together.

    Times are looked at by one sweep over all connections every `sweep_seconds`, never by a timer per request, so a
    connection ends up to two sweeps after its time.
    """

    head_bytes_max: int = 64 * 1024
    """Target and headers together. nginx takes 32 KiB, Node.js 16, IIS 16; but two keys of 1 KiB in UTF-16, a `$filter`
    of 15 comparisons on them and a SAS, all percent-encoded, come to about 48 KiB."""
    target_bytes_max: int = 48 * 1024
    headers_max: int = 200
    """As many as gunicorn and Apache take (100), twice."""
    body_bytes_max: int = BODY_BYTES_MAX

    waiting_max: int = 16
    """Requests that a pipelining client may have waiting; beyond it the connection is not read."""

    head_seconds: float = 30
    """For a whole head, however it trickles."""
    body_seconds: float = 60
    """For a body, plus the time that its bytes take at `bytes_per_second_min`."""
    reader_seconds: float = 60
    """For a client to make room for the next answer, plus the time for what it does read at `bytes_per_second_min`."""
    bytes_per_second_min: int = 1024
    """The slowest client that is waited for. Kestrel: 240. Without it a byte a minute holds a connection for ever."""
    idle_seconds: float = 120
    """Between requests. The service closes idle connections after minutes; SDKs keep theirs for 60 to 100 seconds."""
    linger_seconds: float = 2
    """How long a client may go on sending after a refusal, before the connection is closed under it."""
    sweep_seconds: float = 1

    connections_max: int = 10_000
    """Open at once; the next is answered 503. Fewer where the system lets the process open fewer files."""
    held_bytes_max: int = 512 * 1024 * 1024
    """Bodies over `small_body_bytes` and answers that clients have not read, of all connections. With more than this,
    the client that has kept the server waiting for longest is cut off."""
    small_body_bytes: int = 64 * 1024
    slow_seconds: float = 5
    """A request that takes longer is logged as a warning while it goes on; a page of a query may take as long."""
