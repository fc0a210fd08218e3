"""The document of Get Table Service Stats."""

from rowkey.model.datetimes import parse_datetime
from rowkey.payload.service_stats import write_stats


def test_the_document_is_the_recorded_one() -> None:
    """Recorded but for the time, which there was some minutes ago."""
    assert write_stats(parse_datetime("2020-07-23T19:38:18.9999999Z")) == (
        '<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication><Status>live</Status>'
        "<LastSyncTime>Thu, 23 Jul 2020 19:38:18 GMT</LastSyncTime></GeoReplication></StorageServiceStats>"
    )
