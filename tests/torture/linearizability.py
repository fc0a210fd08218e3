"""Is there an order of these operations that explains every answer? A checker for single entities, after Wing and Gong.

A history is what clients saw of one entity: each operation from its call to its return, with the answer. It is
linearizable if the operations can be put into an order in which each takes effect at one moment between its call and
its return, and every answer is the one that a single-threaded store would give. Entities are independent, so each is
checked by itself (linearizability is local), which keeps the search small.

An operation whose outcome nobody knows (no answer, or a 500) may take effect at any moment after its call, or never.

The state is the ETag and the value. The store chooses the ETags, so a write's own answer says which one it was; that of
a write without an answer is *some* ETag, which the next read or write that matches settles. So ETags are compared by
the value that was written with them: each write writes a value of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

NEVER = float("inf")


class Seen(NamedTuple):
    """What a read returns of an entity: its ETag and its value."""

    etag: str
    value: int


@dataclass(frozen=True, slots=True)
class Operation:
    """What a client asked for, when, and what it was told.

    `kind` is get, insert, replace, merge or delete; `match` is the ETag that If-Match names, `*`, or None for none;
    `answer` is ok, exists, missing, changed (the ETag does not match) or unknown.
    """

    client: int
    kind: str
    called: float
    returned: float
    answer: str
    value: int = 0
    """What a write writes."""
    match: str | None = None
    seen: Seen | None = None
    """What a get returned."""
    etag: str = ""
    """What a successful write was told."""


State = tuple[str, int] | None
"""ETag and value; None where there is no entity. The ETag of a write that was not answered is empty."""


def is_linearizable(history: list[Operation]) -> bool:
    """Whether some order explains the history of one entity that was not there at first; ETags must not repeat."""
    if not _etags_are_unique(history):
        return False
    operations = sorted(history, key=lambda operation: operation.called)
    return _search(operations, len(operations))


def _etags_are_unique(history: list[Operation]) -> bool:
    etags = [operation.etag for operation in history if operation.etag]
    return len(etags) == len(set(etags))


def _search(operations: list[Operation], count: int) -> bool:
    """Depth first over what may come next; a set of done operations in a state is looked at once."""
    known = sum(1 << number for number in range(count) if operations[number].answer != "unknown")
    looked_at: set[tuple[int, State]] = set()
    waiting: list[tuple[int, State]] = [(0, None)]
    while waiting:
        done, state = waiting.pop()
        if done & known == known:
            return True
        if (done, state) in looked_at:
            continue
        looked_at.add((done, state))
        nexts: list[tuple[int, State]] = []
        for number in _candidates(operations, done):
            for after in _apply(operations[number], state):
                step = done | 1 << number, after
                if after == state:  # it leaves everything as it is, so it may as well come now
                    nexts = [step]
                    break
                nexts.append(step)
            else:
                continue
            break
        waiting += nexts
    return False


def _candidates(operations: list[Operation], done: int) -> list[int]:
    """What may come next: operations that were called before any other that is left returned."""
    left = [number for number in range(len(operations)) if not done >> number & 1]
    horizon = min(
        (operations[number].returned for number in left if operations[number].answer != "unknown"), default=NEVER
    )
    return [number for number in left if operations[number].called <= horizon]


def _apply(operation: Operation, state: State) -> list[State]:
    """The states that an operation may leave, none where its answer cannot be explained in this state."""
    if operation.kind == "get":
        if operation.answer == "unknown":
            return [state]
        if state is None or operation.seen is None:
            return [state] if state is None and operation.seen is None and operation.answer == "missing" else []
        return [(operation.seen.etag, operation.seen.value)] if _agree(state, operation.seen) else []
    verdict = _verdict(operation, state)
    after: State = None if operation.kind == "delete" else (operation.etag, operation.value)
    if operation.answer == "unknown":
        return [after] if verdict in ("ok", "perhaps") else []
    if verdict == "perhaps":  # a write that was never answered has an ETag that nobody knows yet
        return [after] if operation.answer == "ok" else [state] if operation.answer == "changed" else []
    if verdict != operation.answer:
        return []
    return [after] if verdict == "ok" else [state]


def _agree(state: tuple[str, int], seen: Seen) -> bool:
    etag, value = state
    return value == seen.value and etag in ("", seen.etag)


def _verdict(operation: Operation, state: State) -> str:
    if operation.kind == "insert":
        return "ok" if state is None else "exists"
    if operation.match is None:
        return "ok"
    if state is None:
        return "missing"
    if operation.match == "*" or operation.match == state[0]:
        return "ok"
    return "perhaps" if state[0] == "" else "changed"
