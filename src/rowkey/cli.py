"""The `rowkey` command.

Exit codes: 0 after a signal to stop, 2 for a command line that makes no sense, 1 for everything else that prevents the
server from running. What the server needs is imported when it is started, so that `rowkey --version` answers at once.
"""

import argparse
import errno
import sys
from collections.abc import Sequence
from pathlib import Path

from rowkey import __version__
from rowkey.config import (
    DATA,
    DEVELOPMENT_ACCOUNT,
    HOST,
    PORT,
    Account,
    Settings,
    connection_string,
    format_url,
    parse_account,
)

USAGE_EXIT_CODE = 2
FAILURE_EXIT_CODE = 1

PORT_MAX = 65535


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        settings = read_settings(options)
    except ValueError as error:
        return _fail(str(error), USAGE_EXIT_CODE)
    return serve(settings, log_level=options.log_level)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rowkey", description="A durable server for the Azure Table Storage REST API."
    )
    parser.add_argument("--version", action="version", version=f"Rowkey {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    serve_parser = commands.add_parser("serve", help="start a server", description="Start a server; SIGTERM stops it.")
    add = serve_parser.add_argument
    add("--host", default=HOST, help="address to listen on (default: %(default)s; 0.0.0.0 for all)")
    add("--port", type=int, default=PORT, help="port to listen on (default: %(default)s; 0 for any that is free)")
    add("--data", type=Path, metavar="DIR", help=f"folder for the data (default: ./{DATA})")
    add("--memory", action="store_true", help="keep the data in memory, and nothing after the end")
    add(
        "--account",
        action="append",
        metavar="NAME:KEY[:KEY2]",
        help=f"account to serve, with its keys in base64; repeat for more (default: {DEVELOPMENT_ACCOUNT.name}, "
        "with the key that is published for emulators)",
    )
    add("--log-level", choices=("debug", "info", "warning", "error"), default="info", help="(default: %(default)s)")
    return parser


def read_settings(options: argparse.Namespace) -> Settings:
    """The settings that the options of `serve` ask for; raises ValueError."""
    if options.memory and options.data is not None:
        raise ValueError("--memory and --data exclude each other: choose where the data is kept.")
    if not 0 <= options.port <= PORT_MAX:
        raise ValueError(f"--port {options.port} is not a port: choose one from 0 to {PORT_MAX}.")
    accounts: dict[str, Account] = {}
    for text in options.account or ():
        account = parse_account(text)
        if account.name in accounts:
            raise ValueError(f"The account {account.name!r} is given twice: write both keys into one --account.")
        accounts[account.name] = account
    return Settings(
        host=options.host,
        port=options.port,
        data=None if options.memory else (options.data or DATA).absolute(),
        accounts=accounts or {DEVELOPMENT_ACCOUNT.name: DEVELOPMENT_ACCOUNT},
    )


def serve(settings: Settings, *, log_level: str) -> int:
    """Run a server until it is told to stop."""
    from rowkey.observe.log import set_up_log
    from rowkey.server.process import AddressError, run
    from rowkey.store.embedded.folder import FolderError

    set_up_log(log_level)
    try:
        run(settings, lambda port: _announce(settings, port))
    except FolderError as error:
        return _fail(str(error), FAILURE_EXIT_CODE)
    except AddressError as error:
        return _fail(_explain(error.__cause__, settings), FAILURE_EXIT_CODE)
    return 0


def _announce(settings: Settings, port: int) -> None:
    for account in settings.accounts.values():
        print("Connection string:", connection_string(settings, account, port))
    place = "in memory: nothing is kept" if settings.data is None else f"data in {settings.data}"
    print(f"Rowkey {__version__} is ready on {format_url(settings.host, port)} ({place})", flush=True)


def _explain(error: BaseException | None, settings: Settings) -> str:
    """Why the server cannot listen, and what to do about it."""
    number = error.errno if isinstance(error, OSError) else None
    where = f"{settings.host} port {settings.port}"
    if number == errno.EADDRINUSE:
        return f"Cannot listen on {where}: the port is in use. Stop the other program, or choose another --port."
    if number == errno.EACCES:
        return f"Cannot listen on {where}: it needs special rights. Choose a --port from 1024 up."
    if number == errno.EADDRNOTAVAIL:
        return f"Cannot listen on {where}: this machine does not have the address. Choose another --host."
    return f"Cannot listen on {where}: {error}. Check --host and --port."


def _fail(message: str, code: int) -> int:
    print(f"rowkey: {message}", file=sys.stderr)
    return code
