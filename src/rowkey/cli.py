"""The `rowkey` command.

Exit codes: 0 after a signal to stop, 2 for a command line that makes no sense, 130 for a command that Ctrl-C has ended,
1 for everything else that prevents the server from running. What the server needs is imported when it is started, so
that `rowkey --version` answers at once.
"""

import argparse
import errno
import logging
import math
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rowkey import __version__
from rowkey.arguments import make_parser
from rowkey.config import (
    ACCOUNTS_VARIABLE,
    DATA,
    DEVELOPMENT_ACCOUNT,
    EVERYBODY_ELSE,
    Account,
    Bearer,
    Role,
    Settings,
    Tls,
    connection_string,
    describe_store,
    format_url,
    is_loopback,
    is_readable_by_others,
    parse_account,
    parse_issuer,
    parse_role,
    parse_store,
    read_account_file,
    read_account_variable,
)

log = logging.getLogger(__name__)

USAGE_EXIT_CODE = 2
FAILURE_EXIT_CODE = 1
INTERRUPTED_EXIT_CODE = 130
"""What a shell says of a process that Ctrl-C has ended."""

PORT_MAX = 65535
PRIVATE_UMASK = 0o077
"""Whatever a command makes, only its own user can read: data, copies of it, logs, keys."""
WORKERS_MAX = 64
"""More than there are processors only cost memory; writes go through one of them in any case."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    _open_missing_streams()
    os.umask(PRIVATE_UMASK)
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    if options.command != "serve":
        return _run_command(options)
    try:
        settings = read_settings(options, os.environ)
    except ValueError as error:
        return _fail(str(error), USAGE_EXIT_CODE)
    _set_up_log(options)
    return serve(settings)


def _run_command(options: argparse.Namespace) -> int:
    """Run a command that comes to an end by itself; after Ctrl-C it tidies up."""
    if options.command == "db":
        from rowkey.db import run_command
    elif options.command in ("export", "import"):
        from rowkey.export import run_command
    elif options.command == "index":
        from rowkey.index import run_command
    else:
        from rowkey.repair import run_command
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return run_command(options)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED_EXIT_CODE)


def _open_missing_streams() -> None:
    """Have something behind the standard streams that are closed (`2>&-`), lest a file of ours gets their number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # the system gives the lowest number that is free
        pass
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - until the end
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def read_settings(options: argparse.Namespace, environment: Mapping[str, str]) -> Settings:
    """The settings that the options of `serve` and the environment ask for; raises ValueError."""
    if options.memory and options.data is not None:
        raise ValueError("--memory and --data exclude each other: choose where the data is kept.")
    if options.auto_index and (options.memory or options.store is not None):
        option, where = ("--memory", "in memory") if options.memory else ("--store", "on PostgreSQL")
        raise ValueError(
            f"{option} and --auto-index exclude each other: a store {where} has no use for indexes. "
            "Leave one of them out."
        )
    _verify_workers(options)
    _verify_host(options.host)
    if not 0 <= options.port <= PORT_MAX:
        raise ValueError(f"--port {options.port} is not a port: choose one from 0 to {PORT_MAX}.")
    if options.metrics_port is not None:
        _verify_metrics_ports(options)
    for option, value in (("--log-slow", options.log_slow), ("--drain-seconds", options.drain_seconds)):
        if value is not None and not 0 <= value < math.inf:
            raise ValueError(f"{option} {value} is not a time: choose one from 0 up.")
    return Settings(
        host=options.host,
        port=options.port,
        data=_read_data(options),
        store=_read_store(options),
        workers=options.workers,
        compress=options.compress,
        auto_index=options.auto_index,
        explorer=not options.no_explorer,
        tls=_read_tls(options),
        bearer=_read_bearer(options),
        accounts=_read_accounts(options, environment),
        log_requests=options.log_requests,
        slow_seconds=None if options.log_slow is None else options.log_slow / 1000,
        metrics_port=options.metrics_port,
        drain_seconds=options.drain_seconds,
    )


def _read_data(options: argparse.Namespace) -> Path | None:
    """The folder: of the embedded store, or beside a database for logs and a certificate, if it is asked for."""
    if options.data is None and (options.memory or options.store is not None):
        return None
    return Path(options.data or DATA).absolute()


def _read_store(options: argparse.Namespace) -> str | None:
    if options.store is None:
        return None
    if options.memory:
        raise ValueError("--memory and --store exclude each other: choose where the data is kept.")
    return parse_store(options.store)


def _verify_host(host: str) -> None:
    """Refuse what nothing can look up as the name of a host."""
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError(f"--host {host} is not the name of a host, whose parts have 1 to 63 letters each.") from None


def _verify_workers(options: argparse.Namespace) -> None:
    if not 1 <= options.workers <= WORKERS_MAX:
        raise ValueError(f"--workers {options.workers} makes no sense: choose a number from 1 to {WORKERS_MAX}.")
    if options.workers > 1 and options.memory:
        raise ValueError(
            "--workers and --memory exclude each other: what one process has in memory the others cannot see. "
            "Leave one of them out."
        )
    if options.workers > 1 and options.store is not None:
        raise ValueError(
            "--workers and --store exclude each other: start as many servers as you like on one database, each on a "
            "port of its own, behind a load balancer."
        )
    if options.workers > 1 and not hasattr(os, "fork"):
        raise ValueError("--workers needs a system that can fork processes, such as Linux or macOS: leave it out.")


def _verify_metrics_ports(options: argparse.Namespace) -> None:
    """Each worker has the next one, unless the system chooses."""
    last = PORT_MAX - options.workers + 1
    if not 0 <= options.metrics_port <= last:
        what = "is not a port" if options.workers == 1 else f"is none that {options.workers} workers can count up from"
        raise ValueError(f"--metrics-port {options.metrics_port} {what}: choose one from 0 to {last}.")
    if options.port and options.metrics_port and 0 <= options.port - options.metrics_port < options.workers:
        whose = "" if options.workers == 1 else f" of one of {options.workers} workers"
        raise ValueError(f"--port {options.port} is the metrics port{whose}, too: choose another one for either.")


def _read_accounts(options: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Account]:
    """The accounts of all sources; a key that everybody knows is kept from those who could reach it."""
    given = [parse_account(text) for text in options.account or ()]
    for path in options.account_file or ():
        given += read_account_file(path)
    given += read_account_variable(environment.get(ACCOUNTS_VARIABLE, ""))
    accounts: dict[str, Account] = {}
    for account in given or [DEVELOPMENT_ACCOUNT]:
        if account.name in accounts:
            raise ValueError(f"The account {account.name!r} is given twice: write both keys into one.")
        accounts[account.name] = account
    if is_loopback(options.host) or options.allow_development_key:
        return accounts
    for account in accounts.values():
        if not set(account.keys).isdisjoint(DEVELOPMENT_ACCOUNT.keys):
            raise ValueError(
                f"With --host {options.host} others can reach the account {account.name!r}, whose key is published for "
                "emulators and known to everybody. Give it a key of its own, with --account NAME:KEY, --account-file "
                f"FILE or {ACCOUNTS_VARIABLE}; or, where all who can reach it may do everything: "
                "--allow-development-key"
            )
    return accounts


def _read_tls(options: argparse.Namespace) -> Tls | None:
    if (options.cert is None) != (options.key is None):
        raise ValueError("--cert and --key belong together: a certificate is no use without its private key.")
    if options.cert is not None and options.tls is not None:
        raise ValueError("--tls auto and --cert exclude each other: choose whose certificate is shown.")
    if options.cert is not None:
        return Tls(options.cert.absolute(), options.key.absolute())
    return None if options.tls is None else Tls()


def _read_bearer(options: argparse.Namespace) -> Bearer | None:
    if options.oidc is None and options.oauth is None:
        for option, value in (("--oidc-keys", options.oidc_keys), ("--oidc-role", options.oidc_role)):
            if value is not None:
                raise ValueError(f"{option} needs --oidc: name the issuer whose tokens are meant.")
        return None
    if options.oidc is not None and options.oauth is not None:
        raise ValueError("--oidc and --oauth basic exclude each other: choose whether signatures are checked.")
    if options.tls is None and options.cert is None:
        option = "--oauth" if options.oidc is None else "--oidc"
        raise ValueError(
            f"{option} needs https, since whoever overhears a bearer token can use it: add --tls auto, "
            "or --cert and --key."
        )
    if options.oauth is not None:
        return _read_unsafe_bearer(options)
    roles = _read_roles(options)
    if not roles:
        raise ValueError(
            "--oidc needs --oidc-role. Tokens of Entra ID do not say what their bearers may do, so say it here: "
            f"--oidc-role {Role.CONTRIBUTOR.value} for everybody who gets a token, "
            f"or --oidc-role OBJECT_ID={Role.CONTRIBUTOR.value} for some."
        )
    keys = None if options.oidc_keys is None else options.oidc_keys.absolute()
    return Bearer(parse_issuer(options.oidc), keys, roles)


def _read_unsafe_bearer(options: argparse.Namespace) -> Bearer:
    if not is_loopback(options.host):
        raise ValueError(
            f"--oauth basic and --host {options.host} exclude each other: others could make themselves tokens. "
            "Use --oidc, which checks signatures, or listen on 127.0.0.1."
        )
    if options.oidc_keys is not None:
        raise ValueError("--oidc-keys needs --oidc: --oauth basic checks no signatures.")
    return Bearer(None, roles=_read_roles(options) or {EVERYBODY_ELSE: Role.CONTRIBUTOR})


def _read_roles(options: argparse.Namespace) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for text in options.oidc_role or ():
        who, role = parse_role(text)
        if who in roles:
            whom = f"of {who}" if who else "of everybody else"
            raise ValueError(f"The role {whom} is given twice: choose one.")
        roles[who] = role
    return roles


def _set_up_log(options: argparse.Namespace) -> None:
    from rowkey.observe.log import set_up_log

    set_up_log(options.log_level, options.log_format)
    for path in options.account_file or ():
        if is_readable_by_others(path):
            log.warning("others can read the keys in %s: chmod 600 %s", path, path)


def serve(settings: Settings) -> int:
    """Run a server until it is told to stop."""
    from rowkey.server.process import AddressError, KeysError, StoreError, WorkerError, run
    from rowkey.server.tls import CertificateError
    from rowkey.store.embedded.folder import FolderError

    try:
        run(settings, lambda port, made: _announce(settings, port, made))
    except (FolderError, StoreError, CertificateError, KeysError, WorkerError) as error:
        return _fail(str(error), FAILURE_EXIT_CODE)
    except AddressError as error:
        host, port = error.args
        option = "--port" if port == settings.port else "--metrics-port"
        return _fail(_explain(error.__cause__, host, port, option), FAILURE_EXIT_CODE)
    return 0


def _announce(settings: Settings, port: int, made: Path | None) -> None:
    for account in settings.accounts.values():
        print("Connection string:", connection_string(settings, account, port))
    if made is not None:
        print("Certificate, for clients to trust:", made)
        print(f"  Python: SSL_CERT_FILE={made}  REQUESTS_CA_BUNDLE={made}  Node.js: NODE_EXTRA_CA_CERTS={made}")
    if settings.store is not None:
        place = f"data in {describe_store(settings.store)}"
    else:
        place = "in memory: nothing is kept" if settings.data is None else f"data in {settings.data}"
    print(f"Rowkey {__version__} is ready on {format_url(settings, port)} ({place})", flush=True)


def _explain(error: BaseException | None, host: str, port: int, option: str) -> str:
    """Why the server cannot listen, and what to do about it; `option` is the one that asked for the port."""
    number = error.errno if isinstance(error, OSError) else None
    where = f"{host} port {port}"
    if number == errno.EADDRINUSE:
        return f"Cannot listen on {where}: the port is in use. Stop the other program, or choose another {option}."
    if number == errno.EACCES:
        return f"Cannot listen on {where}: it needs special rights. Choose a {option} from 1024 up."
    if number == errno.EADDRNOTAVAIL:
        return f"Cannot listen on {where}: this machine does not have the address. Choose another --host."
    return f"Cannot listen on {where}: {error}. Check --host and {option}."


def _fail(message: str, code: int) -> int:
    print(f"rowkey: {message}", file=sys.stderr)
    return code
