"""Shared access signatures of both kinds that are known to be right.

The first vector of each kind was made with the official Python package, and so was POLICY; the others by the documented
construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from rowkey.model.access_policy import AccessPolicy
from rowkey.model.datetimes import parse_datetime
from tests.auth.conftest import EXPIRY, START, account_sas, table_sas

if TYPE_CHECKING:
    from collections.abc import Sequence


class Vector(NamedTuple):
    """A signature that is known to be right."""

    options: dict[str, str]
    account: str = "contoso"
    policies: Sequence[AccessPolicy] = ()


READERS = AccessPolicy("readers", parse_datetime(START), parse_datetime(EXPIRY), "r")
VECTORS = {
    "TABLE": Vector(
        {
            "st": START,
            "se": EXPIRY,
            "sp": "raud",
            "sip": "203.0.113.0-203.0.113.255",
            "spr": "https",
            "sv": "2019-02-02",
            "tn": "Orders",
            "spk": "a",
            "srk": "1",
            "epk": "m",
            "erk": "9",
            "sig": "gLfqNQnf8SW0622KLO+R19mnnbT4kzo17VY1T+6ZXso=",
        }
    ),
    "POLICY": Vector(
        {
            "sv": "2019-02-02",
            "si": "readers",
            "tn": "Orders",
            "sig": "jmhW/S4fw77fqt8YmxH8NCGdjlQ20GtEiNDsHOjM4AU=",
        },
        "devstoreaccount1",
        (READERS,),
    ),
    "TABLE-least": Vector(
        {
            "sp": "r",
            "se": EXPIRY,
            "sv": "2019-02-02",
            "tn": "Orders",
            "sig": "GP5YBsuDnMWb0biNkPGr3GW4p3CQXWOIxCBat31UbX0=",
        }
    ),
    "TABLE-2014-02-14": Vector(
        {
            "sp": "raud",
            "st": START,
            "se": EXPIRY,
            "sv": "2014-02-14",
            "tn": "Orders",
            "sig": "9/dr+lfG7Q96WMAu8HAxc1eeOumE0rynx/Dxf6EmjPc=",
        }
    ),
    "TABLE-2012-02-12": Vector(
        {
            "sp": "raud",
            "st": START,
            "se": EXPIRY,
            "sv": "2012-02-12",
            "tn": "Orders",
            "sig": "IKHBR+jrHvTtBFjQ2cbGorQejUDbAFt8pIX2GP8pVfI=",
        }
    ),
    "TABLE-azure-0.11.1": Vector(  # made with this package
        {
            "st": "2026-08-01",
            "se": "2026-09-01",
            "sp": "raud",
            "sv": "2014-02-14",
            "tn": "Orders",
            "sig": "UjKgfOjWnpUXQ9DdhBlGNNgdZIDkjI1tFHrUcjkeexY=",
        },
        "devstoreaccount1",
    ),
    "ACCOUNT": Vector(
        {
            "st": START,
            "se": EXPIRY,
            "sp": "rwdlacu",
            "spr": "https",
            "sv": "2019-02-02",
            "ss": "t",
            "srt": "so",
            "sig": "F21sjJXuGlGaV8iK/9aLQEqqzBjr7JMcnUSNLAia3As=",
        }
    ),
    "ACCOUNT-2020-12-06": Vector(
        {
            "sp": "r",
            "ss": "t",
            "srt": "sco",
            "se": EXPIRY,
            "sv": "2020-12-06",
            "sig": "PJRossUpF+ERyZxE8/gT1xAVrFP2MmLTZQICi9gF2ss=",
        }
    ),
}
# Of the versions between, and with every field: made by this test's own construction.
TABLE_WITH_ALL = {
    "sp": "raud",
    "st": START,
    "se": EXPIRY,
    "tn": "Orders",
    "spk": "a",
    "srk": "1",
    "epk": "m",
    "erk": "9",
}
ACCOUNT_WITH_ALL = {"sp": "rl", "ss": "bqtf", "srt": "sco", "st": START, "se": EXPIRY}
ORIGIN = {"sip": "203.0.113.7", "spr": "https,http"}
VECTORS |= {
    f"TABLE-{version}": Vector(table_sas(sv=version, **TABLE_WITH_ALL, **(ORIGIN if version >= "2015-04-05" else {})))
    for version in ("2013-08-15", "2015-02-20", "2015-02-21", "2015-04-04", "2015-04-05", "2017-04-17", "2099-12-31")
}
VECTORS |= {
    f"ACCOUNT-{version}": Vector(
        account_sas(sv=version, **ACCOUNT_WITH_ALL, **ORIGIN, **({"ses": "scope"} if version >= "2020-12-07" else {}))
    )
    for version in ("2015-04-05", "2020-12-05", "2020-12-07", "2099-12-31")
}
ALL = [pytest.param(vector, id=name) for name, vector in VECTORS.items()]
