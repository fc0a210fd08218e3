"""Fuzzing for as long as one likes: `make fuzz ARGS="--seconds 3600 http filter"`.

    python tests/fuzz/run.py [--seconds 60] [--engine auto|atheris|random] [TARGET...]

With atheris (coverage-guided, libFuzzer; `pip install atheris`, for Linux) inputs grow towards code that no input has
reached; without it they are mutations of the corpus. A finding is an exception that a target does not catch, an input
that takes longer than SECONDS_MAX, or memory that grows beyond MEBIBYTES_MAX. Its input is written to
`tests/fuzz/findings/`; from there it goes into the corpus, with the fix.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import logging
import random
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parent.parent.parent
CORPUS = Path(__file__).parent / "corpus"
FINDINGS = Path(__file__).parent / "findings"
SECONDS_MAX = 2
MEBIBYTES_MAX = 1024


class Quiet(logging.Handler):
    """Makes every line of the log, since that must not fail either, and shows none."""

    def emit(self, record: logging.LogRecord) -> None:
        """Make one line."""
        record.getMessage()


class Hang(Exception):
    """An input took too long."""


def main() -> int:
    """Fuzz, and return the number of targets with findings."""
    sys.path[:0] = [str(ROOT)]
    logging.basicConfig(handlers=[Quiet()], level=logging.DEBUG)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target (default: %(default)g)")
    parser.add_argument("--engine", choices=("auto", "atheris", "random"), default="auto")
    parser.add_argument("--seed", type=int, default=None, help="of the random engine (default: the time)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    engine = options.engine
    if engine == "auto":
        engine = "atheris" if importlib.util.find_spec("atheris") else "random"
    if options.inside:
        return _guided(options.targets[0], options.seconds)
    names = options.targets or sorted(path.name for path in CORPUS.iterdir())
    seed = int(time.time()) if options.seed is None else options.seed
    found = 0
    for name in names:
        if engine == "atheris":
            command = [sys.executable, __file__, "--inside", "--seconds", str(options.seconds), name]
            found += bool(subprocess.run(command, check=False).returncode)
        else:
            found += not _random(name, options.seconds, seed)
    print(f"{len(names) - found} of {len(names)} targets without a finding, by the engine {engine}")
    return found


def _random(name: str, seconds: float, seed: int) -> bool:
    """Mutations of the corpus, by chance; whether there was no finding."""
    from tests.fuzz.mutation import mutate
    from tests.fuzz.targets import TARGETS

    corpus, chance = read_corpus(name), random.Random(seed)
    deadline, count, slowest = time.monotonic() + seconds, 0, 0.0
    while time.monotonic() < deadline:
        data = mutate(corpus, chance)
        begin = time.monotonic()
        try:
            check(TARGETS[name], data)
        except BaseException:
            traceback.print_exc()
            FINDINGS.mkdir(exist_ok=True)
            path = FINDINGS / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
            path.write_bytes(data)
            print(f"{name}: a finding after {count} inputs of seed {seed}: {path}")
            return False
        slowest = max(slowest, time.monotonic() - begin)
        count += 1
    print(f"{name}: {count} inputs of seed {seed}, {count / seconds:.0f} a second, the slowest took {slowest:.3f} s")
    return True


def _guided(name: str, seconds: float) -> int:
    """Coverage-guided, in a process of its own, which libFuzzer ends."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["rowkey"]):
        from tests.fuzz.targets import TARGETS
    FINDINGS.mkdir(exist_ok=True)
    work = FINDINGS / f"{name}.corpus"
    work.mkdir(exist_ok=True)
    arguments = [
        *(sys.argv[0], str(work), str(CORPUS / name), f"-max_total_time={seconds:.0f}", f"-timeout={SECONDS_MAX}"),
        *(f"-rss_limit_mb={MEBIBYTES_MAX}", f"-artifact_prefix={FINDINGS}/{name}-", "-max_len=65536"),
        *("-print_final_stats=1", "-verbosity=0", "-close_fd_mask=0"),
    ]
    atheris.Setup(arguments, TARGETS[name])
    print(f"{name}:", flush=True)
    atheris.Fuzz()
    return 0


def read_corpus(name: str) -> list[bytes]:
    """The inputs that a target begins with."""
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def check(target: object, data: bytes) -> None:
    """Give a target an input; raises what it does not catch, and Hang where it takes too long."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, SECONDS_MAX)
    try:
        assert callable(target)
        target(data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main())
