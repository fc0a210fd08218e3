"""The XML of service stats, which Get Table Service Stats answers."""

from email.utils import formatdate

from rowkey.model.datetimes import unix_of_ticks


def write_stats(last_sync: int) -> str:
    """The document, without byte order mark, for a secondary that had everything at this time."""
    time = formatdate(unix_of_ticks(last_sync), usegmt=True)
    return (
        '<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication>'
        f"<Status>live</Status><LastSyncTime>{time}</LastSyncTime></GeoReplication></StorageServiceStats>"
    )
