"""When a request was signed: forms of dates, and how far a clock may be wrong."""

from __future__ import annotations

import time
from dataclasses import replace
from email.utils import formatdate

import pytest

from rowkey.errors import AuthenticationFailed
from tests.auth.shared_key_vectors import NOW, VECTORS, lite, request_of, verify


class TestClock:
    @pytest.mark.parametrize("seconds", [0, 899, 900, -899, -900])
    def test_fifteen_minutes_are_tolerated(self, seconds: int) -> None:
        verify(request_of(VECTORS["A"], f"SharedKey contoso:{VECTORS['A'].shared_key}"), now=NOW + seconds)

    @pytest.mark.parametrize("seconds", [901, -901, 86_400, -86_400, 10**9])
    def test_more_is_not(self, seconds: int) -> None:
        with pytest.raises(AuthenticationFailed):
            verify(request_of(VECTORS["A"], f"SharedKey contoso:{VECTORS['A'].shared_key}"), now=NOW + seconds)

    @pytest.mark.parametrize(
        "date",
        [
            "Mon, 03 Aug 2026 10:15:30 GMT",
            "Mon, 3 Aug 2026 10:15:30 GMT",
            "Monday, 03-Aug-26 10:15:30 GMT",
            "Mon Aug  3 10:15:30 2026",
        ],
    )
    def test_forms_of_dates(self, date: str) -> None:
        request = request_of(VECTORS["A"], None)
        request.headers |= {
            "x-ms-date": date,
            "authorization": lite("/contoso/Tables", date),
        }
        verify(request, now=NOW)

    def test_a_form_that_names_no_zone_is_in_gmt_wherever_the_server_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        date = "Tue Aug  4 10:15:30 2026"
        request = request_of(VECTORS["A"], None)
        request.headers |= {"x-ms-date": date, "authorization": lite("/contoso/Tables", date)}
        with monkeypatch.context() as changes:
            changes.setenv("TZ", "America/New_York")
            time.tzset()
            try:
                verify(request, now=NOW + 86_400)
            finally:
                changes.undo()
                time.tzset()

    @pytest.mark.parametrize(
        "date", ["", "yesterday", "2026-08-03T10:15:30Z", "Mon, 33 Aug 2026 10:15:30 GMT", "1785752130"]
    )
    def test_what_is_no_date_is_refused_however_well_signed(self, date: str) -> None:
        request = request_of(VECTORS["A"], None)
        request.headers |= {
            "x-ms-date": date,
            "authorization": lite("/contoso/Tables", date),
        }
        with pytest.raises(AuthenticationFailed):
            verify(request, now=NOW)

    def test_now_is_within_the_limits(self) -> None:
        date = formatdate(usegmt=True)
        verify(request_of(replace(VECTORS["A"], date=date), lite("/contoso/Tables", date)))
