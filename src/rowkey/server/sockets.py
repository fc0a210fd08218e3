"""The sockets that several processes listen on together, and the addresses of those who come.

Where the system spreads connections over sockets of one address (`SO_REUSEPORT` of Linux) each process has its own;
elsewhere all have the same one. The supervisor makes and keeps them: connections that arrive while a worker is being
replaced wait for the next one.
"""

import socket
import sys
from collections.abc import Sequence

IS_SPREAD = sys.platform == "linux"
"""Whether each process has sockets of its own."""


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets bound to all addresses that `host` means; raises OSError where one of them cannot be had.

    Port 0 chooses one that is free, for each.
    """
    # SO_REUSEPORT would share a port with any program of the same user that says so as well, such as another Rowkey.
    if IS_SPREAD and port:
        _close(_bind_all(host, port, is_shared=False))
    return _bind_all(host, port, is_shared=IS_SPREAD)


def bind_again(bound: Sequence[socket.socket]) -> list[socket.socket]:
    """More sockets with the addresses of these; the same where the system does not spread connections."""
    if not IS_SPREAD:
        return [one.dup() for one in bound]
    sockets: list[socket.socket] = []
    try:
        for one in bound:
            sockets.append(_bind(one.family, one.getsockname(), is_shared=True))  # noqa: PERF401 - closed if one fails
    except OSError:
        _close(sockets)
        raise
    return sockets


def _bind_all(host: str, port: int, *, is_shared: bool) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in dict.fromkeys(
            socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        ):
            sockets.append(_bind(family, address, is_shared=is_shared))
    except OSError:
        _close(sockets)
        raise
    return sockets


def _bind(family: int, address: object, *, is_shared: bool) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.setblocking(False)
        bound.bind(address)  # type: ignore[arg-type]  # an address of the family, whichever it is
    except OSError:
        bound.close()
        raise
    return bound


def _close(sockets: Sequence[socket.socket]) -> None:
    for one in sockets:
        one.close()


def format_peer(name: object) -> str:
    """A client's address as `ip:port`, with brackets around an IPv6 address; empty for a Unix socket."""
    if not isinstance(name, tuple):
        return ""
    host, port = name[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
