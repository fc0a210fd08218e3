"""The command line of `rowkey`: its commands and their options, as `--help` shows them."""

import argparse
from pathlib import Path

from rowkey import __version__
from rowkey.config import ACCOUNTS_VARIABLE, DATA, DEVELOPMENT_ACCOUNT, HOST, PORT, Role


def make_parser() -> argparse.ArgumentParser:
    """What parses the command line; `command` is None where none is given."""
    parser = argparse.ArgumentParser(
        prog="rowkey", description="A durable server for the Azure Table Storage REST API."
    )
    parser.add_argument("--version", action="version", version=f"Rowkey {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_db_commands(commands)
    _add_export_commands(commands)
    _add_index_commands(commands)
    _add_repair_commands(commands)
    serve_parser = commands.add_parser("serve", help="start a server", description="Start a server; SIGTERM stops it.")
    add = serve_parser.add_argument
    add("--host", type=_parse_text, default=HOST, help="address to listen on (default: %(default)s; 0.0.0.0 for all)")
    add("--port", type=int, default=PORT, help="port to listen on (default: %(default)s; 0 for any that is free)")
    add("--data", type=_parse_path, metavar="DIR", help=f"folder for the data (default: ./{DATA})")
    add("--memory", action="store_true", help="keep the data in memory, and nothing after the end")
    add(
        "--store",
        type=_parse_text,
        metavar="URL",
        help="keep the data in a PostgreSQL database: postgresql://USER@HOST/DATABASE",
    )
    add("--compress", action="store_true", help="send large answers with gzip to clients that take it")
    add("--auto-index", action="store_true", help="add indexes for filters that look at many entities again and again")
    add("--no-explorer", action="store_true", help="leave out the page that shows tables in a browser, /explorer")
    add("--workers", type=int, default=1, metavar="N", help="processes that answer requests (default: %(default)s)")
    add(
        "--account",
        action="append",
        metavar="NAME:KEY[:KEY2]",
        help=f"account to serve, with its keys in base64; repeat for more (default: {DEVELOPMENT_ACCOUNT.name}, "
        f"with the key that is published for emulators; {ACCOUNTS_VARIABLE} in the environment counts too)",
    )
    add(
        "--account-file",
        action="append",
        type=_parse_path,
        metavar="FILE",
        help="accounts to serve, NAME:KEY[:KEY2] a line: keys that neither the process list nor a log shows",
    )
    add(
        "--allow-development-key",
        action="store_true",
        help="listen where others can reach it although the account has the key that everybody knows",
    )
    add(
        "--tls",
        choices=("auto",),
        help="speak https with a certificate that the server makes and keeps in the data folder",
    )
    add(
        "--cert",
        type=_parse_path,
        metavar="FILE",
        help="speak https with this certificate and those that vouch for it, in PEM",
    )
    add("--key", type=_parse_path, metavar="FILE", help="the private key of --cert, in PEM")
    add(
        "--oidc",
        metavar="ISSUER",
        help="accept bearer tokens that this OpenID Connect issuer has signed, as in "
        "https://login.microsoftonline.com/TENANT/v2.0",
    )
    add(
        "--oidc-keys",
        type=_parse_path,
        metavar="FILE",
        help="the issuer's keys, as a JWK set (default: fetched from it)",
    )
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
    add(
        "--log-format",
        choices=("auto", "text", "json"),
        default="auto",
        help="lines for people or a JSON object a line (default: text on a terminal, else json)",
    )
    add("--log-requests", action="store_true", help="log a line for each request")
    add("--log-slow", type=int, metavar="MS", help="warn of requests that take longer than so many milliseconds")
    add("--metrics-port", type=int, metavar="PORT", help="show metrics and health on this port of 127.0.0.1")
    add(
        "--drain-seconds",
        type=float,
        default=0.0,
        metavar="S",
        help="after a signal to stop: go on for so long, while /readyz says that no more should be sent (default: 0)",
    )
    return parser


def _add_db_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    description = "Look after a PostgreSQL database for `serve --store`."
    db_parser = commands.add_parser("db", help="make, upgrade and fill a database", description=description)
    actions = db_parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    init = actions.add_parser("init", help="make the schema in an empty database")
    init.add_argument("--citus", action="store_true", help="spread it over the nodes of a Citus cluster")
    upgrade = actions.add_parser("upgrade", help="bring the schema to this version of Rowkey")
    status = actions.add_parser("status", help="tell the version of the schema")
    for action in (init, upgrade, status):
        action.add_argument("url", type=_parse_text, metavar="URL", help="postgresql://USER@HOST/DATABASE")
    copy = actions.add_parser("copy", help="copy all accounts from one store to another, with ETags and Timestamps")
    for name in ("source", "target"):
        copy.add_argument(
            name, type=_parse_text, metavar=name.upper(), help="postgresql://USER@HOST/DATABASE, or a data folder"
        )


def _add_index_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    description = "See and change the indexes of a running server's tables."
    index_parser = commands.add_parser("index", help="indexes, which make filters quick", description=description)
    actions = index_parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="have an index on a property; it is built in the background")
    drop = actions.add_parser("drop", help="have an index no longer")
    show = actions.add_parser("list", help="tell which indexes there are, and whether they are ready")
    for action in (add, drop):
        action.add_argument("table", type=_parse_text, metavar="TABLE")
        action.add_argument("property", type=_parse_text, metavar="PROPERTY")
    show.add_argument("table", type=_parse_text, metavar="TABLE", nargs="?", help="(default: all tables)")
    for action in (add, drop, show):
        _add_connection_string(action)


def _add_export_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    what = "write tables of a running server to files of JSON lines"
    export = commands.add_parser("export", help=what, description=_sentence(what))
    export.add_argument("folder", metavar="DIR", type=_parse_path, help="the folder for the files, TABLE.jsonl each")
    export.add_argument("tables", metavar="TABLE", type=_parse_text, nargs="*", help="(default: all tables)")
    export.add_argument("--filter", type=_parse_text, help="the $filter that entities must satisfy")
    what = "write entities from files of JSON lines to tables of a running server"
    import_ = commands.add_parser("import", help=what, description=_sentence(what))
    import_.add_argument(
        "paths", metavar="FILE", type=_parse_path, nargs="+", help="a file, TABLE.jsonl, or a folder of them"
    )
    import_.add_argument("--table", type=_parse_text, help="the table (default: the name of the file says it)")
    for command in (export, import_):
        _add_connection_string(command)


def _add_connection_string(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--connection-string",
        type=_parse_text,
        metavar="TEXT",
        help="of the account (default: AZURE_STORAGE_CONNECTION_STRING of the environment, or else the account "
        f"that all emulators have, on {HOST} port {PORT})",
    )


def _add_repair_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = commands.add_parser
    check = add("check", help="look for damage in a data folder", description="Look for damage in a data folder.")
    check.add_argument("folder", metavar="DIR", type=_parse_path, help="the data folder, of a server that does not run")
    what = "bring what is intact in a damaged data folder into a new one"
    salvage = add("salvage", help=what, description=_sentence(what))
    salvage.add_argument(
        "folder", metavar="DIR", type=_parse_path, help="the data folder, of a server that does not run"
    )
    salvage.add_argument("new_folder", metavar="NEWDIR", type=_parse_path, help="a folder that is new")
    what = "copy the database, also while the server runs"
    backup = add("backup", help=what, description=_sentence(what))
    backup.add_argument("folder", metavar="DIR", type=_parse_path, help="the data folder")
    backup.add_argument("file", metavar="FILE", type=_parse_path, help="the copy, a file that is new")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _parse_text(text: str) -> str:
    """A text that is not empty: that comes of a variable that is not set, and would often mean something by chance."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty, as if from a variable that is not set: say what is meant.")
    return text


def _parse_path(text: str) -> Path:
    """A path; an empty one would be the current folder."""
    return Path(_parse_text(text))
