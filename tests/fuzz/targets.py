"""The readers of strangers' bytes, each as a function of bytes that must return, whatever the bytes are.

A target catches what its reader promises to raise. Anything else that is raised is a finding: an exception of another
kind, or an assertion about what was read, such as that two ways of reading the same bytes agree.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.readers.bodies import read_atom, read_json, read_multipart, read_xml
from tests.fuzz.readers.credentials import read_authorization, read_jwt, read_signature
from tests.fuzz.readers.http import read_headers, read_http, read_target
from tests.fuzz.readers.queries import read_filter, read_query, read_values
from tests.fuzz.readers.service import ask_service
from tests.fuzz.readers.stored import read_stored

TARGETS: dict[str, Callable[[bytes], None]] = {
    "http": read_http,
    "target": read_target,
    "headers": read_headers,
    "authorization": read_authorization,
    "sas": read_signature,
    "jwt": read_jwt,
    "json": read_json,
    "atom": read_atom,
    "xml": read_xml,
    "multipart": read_multipart,
    "filter": read_filter,
    "query": read_query,
    "values": read_values,
    "stored": read_stored,
    "service": ask_service,
}
