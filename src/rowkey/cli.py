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
    EVERYBODY_ELSE,
    HOST,
    PORT,
    Account,
    Bearer,
    Role,
    Settings,
    Tls,
    connection_string,
    format_url,
    is_loopback,
    parse_account,
    parse_issuer,
    parse_role,
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
    add(
        "--tls",
        choices=("auto",),
        help="speak https with a certificate that the server makes and keeps in the data folder",
    )
    add(
        "--cert",
        type=Path,
        metavar="FILE",
        help="speak https with this certificate and those that vouch for it, in PEM",
    )
    add("--key", type=Path, metavar="FILE", help="the private key of --cert, in PEM")
    add(
        "--oidc",
        metavar="ISSUER",
        help="accept bearer tokens that this OpenID Connect issuer has signed, as in "
        "https://login.microsoftonline.com/TENANT/v2.0",
    )
    add("--oidc-keys", type=Path, metavar="FILE", help="the issuer's keys, as a JWK set (default: fetched from it)")
    add(
        "--oidc-role",
        action="append",
        metavar="[WHO=]ROLE",
        help=f"what the bearer of a token may do: {', '.join(role.value for role in Role)}; WHO is an object id or a "
        "group, everybody else if left out; repeat for more",
    )
    add(
        "--oauth",
        choices=("basic",),
        help="UNSAFE, for work on this machine: accept bearer tokens without checking who signed them",
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
        tls=_read_tls(options),
        bearer=_read_bearer(options),
    )


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


def serve(settings: Settings, *, log_level: str) -> int:
    """Run a server until it is told to stop."""
    from rowkey.observe.log import set_up_log
    from rowkey.server.process import AddressError, KeysError, run
    from rowkey.server.tls import CertificateError
    from rowkey.store.embedded.folder import FolderError

    set_up_log(log_level)
    try:
        run(settings, lambda port, made: _announce(settings, port, made))
    except (FolderError, CertificateError, KeysError) as error:
        return _fail(str(error), FAILURE_EXIT_CODE)
    except AddressError as error:
        return _fail(_explain(error.__cause__, settings), FAILURE_EXIT_CODE)
    return 0


def _announce(settings: Settings, port: int, made: Path | None) -> None:
    for account in settings.accounts.values():
        print("Connection string:", connection_string(settings, account, port))
    if made is not None:
        print("Certificate, for clients to trust:", made)
        print(f"  Python: SSL_CERT_FILE={made}  REQUESTS_CA_BUNDLE={made}  Node.js: NODE_EXTRA_CA_CERTS={made}")
    place = "in memory: nothing is kept" if settings.data is None else f"data in {settings.data}"
    print(f"Rowkey {__version__} is ready on {format_url(settings, port)} ({place})", flush=True)


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
