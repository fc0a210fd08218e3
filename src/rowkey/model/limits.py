"""The limits of the data model, as the service documents them (data model page; property name: recorded)."""

STRING_UNITS_MAX = 32_768
"""UTF-16 code units of an Edm.String value (64 KiB)."""
BINARY_BYTES_MAX = 65_536
KEY_UNITS_MAX = 512
"""UTF-16 code units of a PartitionKey or RowKey (1 KiB). Older pages say 64 KiB or 1024 characters; the data model
page says 1 KiB, and Azurite takes 512 units too."""
PROPERTIES_MAX = 252
"""Custom properties of an entity, beside the three system properties."""
PROPERTY_NAME_UNITS_MAX = 255
ENTITY_BYTES_MAX = 1_048_576
"""Names and values of all properties, by the formula in `model/entity.py`."""
TABLE_NAME_LENGTH_MIN, TABLE_NAME_LENGTH_MAX = 3, 63
BATCH_OPERATIONS_MAX = 100
BODY_BYTES_MAX = 4 * 1_048_576
"""The payload of a request; the documented maximum of a batch."""
PAGE_ITEMS_MAX = 1000
PAGE_SECONDS_MAX = 5.0
"""A query executes for five seconds at most, then answers with a continuation token."""
PAGE_BYTES_MAX = 4 * 1_048_576
"""Ours: a page ends after about this much wire text, so that 1000 entities of 1 MiB never stand in memory at once."""
SELECT_NAMES_MAX = 255
RETENTION_DAYS_MAX = 365
"""For how long logs and metrics may be kept, where not for ever."""
CORS_RULES_MAX = 5
CORS_ORIGINS_MAX = 64
"""Origins of a CORS rule."""
CORS_HEADERS_MAX = 64
"""Names in a list of headers of a CORS rule, without those that end with `*`."""
CORS_PREFIXES_MAX = 2
"""Those that end with `*`."""
CORS_MEMBER_LENGTH_MAX = 256
"""Characters of an origin or a header in a CORS rule."""
CORS_TEXT_LENGTH_MAX = 2048
"""Characters of all CORS rules together, without the XML around them."""
ACCESS_POLICIES_MAX = 5
"""Stored access policies of a table."""
ACCESS_POLICY_ID_UNITS_MAX = 64
