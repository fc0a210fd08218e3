"""Clients that are slow on purpose, in a process of their own: `python tests/crowd.py PORT HEAD BODY QUERY COUNT`.

A third of them send HEAD byte by byte, a third BODY (the most of it at once), and a third send QUERY and read nothing.
HEAD, BODY and QUERY are files with what is sent. Who is cut off comes again. It says `ready` when all have begun.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

PAUSE_SECONDS = 0.5
SLOW_TAIL = 2000
"""So much of a body comes byte by byte."""


async def main(port: int, head: bytes, body: bytes, query: bytes, count: int) -> None:
    """Be slow for ever."""
    begun = 0
    all_begun = asyncio.Event()

    def begin() -> None:
        nonlocal begun
        begun += 1
        if begun == count:
            all_begun.set()

    async def trickle(data: bytes, at_once: int) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                begin()
                writer.write(data[:at_once])
                for byte in data[at_once:]:
                    await asyncio.sleep(PAUSE_SECONDS)
                    if writer.is_closing():
                        break
                    writer.write(bytes([byte]))
                writer.transport.abort()
            except OSError:
                await asyncio.sleep(PAUSE_SECONDS)

    async def read_nothing() -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
                begin()
                writer.write(query)
                await asyncio.sleep(3600)
            except OSError:
                await asyncio.sleep(PAUSE_SECONDS)

    tasks = []
    for number in range(count):
        one = (trickle(head, 100), trickle(body, len(body) - SLOW_TAIL), read_nothing())
        for kind, coroutine in enumerate(one):
            if kind == number % 3:
                tasks.append(asyncio.create_task(coroutine))
            else:
                coroutine.close()
        await asyncio.sleep(0.002)
    await all_begun.wait()
    print("ready", flush=True)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    head, body, query = (Path(name).read_bytes() for name in sys.argv[2:5])
    asyncio.run(main(int(sys.argv[1]), head, body, query, int(sys.argv[5])))
