"""A PostgreSQL of the tests' own: made in a temporary folder, run by an ordinary user, and gone afterwards.

The server refuses to run as root, so root hands it to the user `postgres`, or `nobody` where there is none. It listens
on the loopback address and on a socket in its folder.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Self
from uuid import uuid4

import pytest

from rowkey.store.postgres.schema import init

if sys.platform != "win32":
    import pwd

SUPERUSER = "rowkey"
START_SECONDS_MAX = 60


@cache
def find_programs() -> Path | None:
    """The folder with `initdb` and `postgres`, None where PostgreSQL is not installed."""
    if sys.platform == "win32":
        return None
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in installed), key=lambda path: float(path.parent.name), default=None)


def ordinary_user() -> str | None:
    """Who runs the server, None for whoever runs the tests."""
    if os.getuid() != 0:
        return None
    names = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


class Postgres:
    """A database server in a folder of its own, to be started, stopped, killed and promoted."""

    def __init__(self, options: dict[str, str] | None = None) -> None:
        programs = find_programs()
        if programs is None:
            pytest.skip("PostgreSQL is not installed: on Debian and Ubuntu, apt-get install postgresql")
        self._programs = programs
        self._user = ordinary_user()
        self.folder = Path(tempfile.mkdtemp(prefix="rowkey-postgres-"))
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self.data = self.folder / "data"
        self.port = free_port()
        self._options = options or {}
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """One that is begun with an empty database cluster, and gone in the end."""
        server = cls()
        try:
            server.init()
            server.start()
            yield server
        finally:
            server.close()

    def url(self, database: str) -> str:
        """Where a database of this server is."""
        return f"postgresql://{SUPERUSER}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Make a database with the schema, and return its URL."""
        name = f"t{uuid4().hex}"
        self.sql(f"CREATE DATABASE {name}")
        asyncio.run(init(self.url(name), is_sharded=False))
        return self.url(name)

    def init(self) -> None:
        """Make an empty database cluster: a copy, since `initdb` takes a second or two."""
        self.run("/bin/cp", "-a", str(_empty_cluster()), str(self.data))
        self._configure()

    def copy_of(self, primary: Postgres, name: str) -> None:
        """Become a standby of a running server, which knows it by this name."""
        source = f"host=127.0.0.1 port={primary.port} user={SUPERUSER} application_name={name}"
        self.run("pg_basebackup", "-D", str(self.data), "-d", source, "-X", "stream", "-c", "fast", "-R", "--no-sync")
        self._configure()

    def _configure(self) -> None:
        options = {
            "port": str(self.port),
            "listen_addresses": "'127.0.0.1'",
            "unix_socket_directories": f"'{self.folder}'",
            "shared_buffers": "'64MB'",
            **self._options,
        }
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in options.items())

    def start(self) -> None:
        """Start the server, and return when it can be connected to."""
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self.data)],
                stdout=output,
                stderr=output,
                cwd=self.folder,
                user=self._user,
                group=None if self._user is None else pwd.getpwnam(self._user).pw_gid,
                extra_groups=None if self._user is None else [],
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        command = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(command, check=False).returncode == 0

    def stop(self) -> None:
        """Stop the server, whoever is connected."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End all processes of the server as a power cut would end them, without a word to anybody."""
        assert self._process is not None
        parent = self._process.pid
        pids = [int(line) for line in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
        for pid in (parent, *pids):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()
        self._process = None

    def promote(self) -> None:
        """Make a primary of a standby."""
        self.run("pg_ctl", "promote", "-D", str(self.data), "-w")

    def clear(self) -> None:
        """Remove the data of a server that does not run."""
        shutil.rmtree(self.data)

    def close(self) -> None:
        """Stop the server, and leave nothing behind."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program: str, *arguments: str) -> str:
        """Run one of PostgreSQL's programs as the server's user."""
        run = subprocess.run(
            [str(self._programs / program), *arguments],
            cwd=self.folder,
            user=self._user,
            group=None if self._user is None else pwd.getpwnam(self._user).pw_gid,
            extra_groups=None if self._user is None else [],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    def sql(self, text: str, database: str = "postgres") -> str:
        """Run a statement with `psql`."""
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", text)


@cache
def _empty_cluster() -> Path:
    """The folder of a database cluster as `initdb` makes it."""
    server = Postgres()
    atexit.register(server.close)
    server.run("initdb", "-D", str(server.data), "-U", SUPERUSER, "-A", "trust", "--no-sync", "-E", "UTF8")
    return server.data


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _end_with_parent() -> None:
    """Have the kernel end this process when the one that began it is gone: a run that is killed leaves no servers."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGQUIT)


def empty(server: Postgres, url: str) -> None:
    """Remove everything that a store keeps."""
    tables = ("table_of_account", "service_properties", "segment", "entity")
    server.sql(f"TRUNCATE {', '.join(f'rowkey.{table}' for table in tables)}", url.rpartition("/")[2])
