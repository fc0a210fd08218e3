"""The XML of service properties: what is accepted, what is kept, what is shown."""

from __future__ import annotations

import pytest

from rowkey.errors import InvalidXmlDocument
from rowkey.model.cors import CorsRule
from rowkey.model.service_properties import Logging, Metrics
from rowkey.payload.service_properties import (
    DEFAULTS,
    read_cors,
    read_logging,
    read_metrics,
    read_properties,
    write_cors,
    write_logging,
    write_metrics,
    write_properties,
)

NEW, OLD = "2019-02-02", "2012-02-12"
OFF = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"
WEEK = "<RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy>"
LOGGING = f"<Logging><Version>1.0</Version><Read>true</Read><Write>false</Write><Delete>true</Delete>{WEEK}</Logging>"
METRICS = f"<Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>{WEEK}"
NO_METRICS = f"<Version>1.0</Version><Enabled>false</Enabled>{OFF}"
RULE = (
    "<CorsRule><AllowedMethods>GET,PUT</AllowedMethods><AllowedOrigins>https://a.com,*</AllowedOrigins>"
    "<AllowedHeaders>x-a,x-ms-*</AllowedHeaders><ExposedHeaders /><MaxAgeInSeconds>500</MaxAgeInSeconds></CorsRule>"
)
CORS = f"<Cors>{RULE}</Cors>"


def read(*sections: str, version: str = NEW) -> dict[str, str]:
    """What is kept of a body with these sections."""
    return read_properties(
        f"<StorageServiceProperties>{''.join(sections)}</StorageServiceProperties>".encode(), version
    )


def read_rule(**changes: str) -> CorsRule:
    """The rule of a body, with some children changed."""
    children = {
        "AllowedOrigins": "https://a.com",
        "AllowedMethods": "GET",
        "AllowedHeaders": "",
        "ExposedHeaders": "",
        "MaxAgeInSeconds": "0",
    } | changes
    written = "".join(f"<{name}>{text}</{name}>" for name, text in children.items())
    (rule,) = read_cors(read(f"<Cors><CorsRule>{written}</CorsRule></Cors>")["Cors"])
    return rule


# ---------------------------------------------------------------- bodies


class TestRead:
    def test_the_canonical_text_of_each_section(self) -> None:
        hour, minute = f"<HourMetrics>{METRICS}</HourMetrics>", f"<MinuteMetrics>{NO_METRICS}</MinuteMetrics>"
        assert read(LOGGING, hour, minute, CORS) == {
            "Logging": LOGGING,
            "HourMetrics": hour,
            "MinuteMetrics": minute,
            "Cors": CORS,
        }

    def test_any_order_letter_case_and_white_space(self) -> None:
        """The first as the Python client sends it (recorded), the second as a sample of the reference has it."""
        logging = (
            "<Logging><Delete>True</Delete><RetentionPolicy><Days> 7 </Days><Enabled>TRUE</Enabled></RetentionPolicy>\n"
            "  <Read>True</Read><Write>False</Write><Version>1.0</Version></Logging>"
        )
        rule = (
            "<CorsRule>\r\n<AllowedOrigins> https://a.com, * </AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>"
            "<MaxAgeInSeconds>500</MaxAgeInSeconds><ExposedHeaders></ExposedHeaders>"
            "<AllowedHeaders> x-ms-* ,, x-a</AllowedHeaders></CorsRule>"
        )
        assert read(f"<Cors>\n{rule}\n</Cors>", "\n", logging) == {"Logging": LOGGING, "Cors": CORS}

    def test_declaration_and_byte_order_mark(self) -> None:
        body = (
            f"\ufeff<?xml version='1.0' encoding='utf-8'?>\n<StorageServiceProperties>{CORS}</StorageServiceProperties>"
        )
        assert read_properties(body.encode(), NEW) == {"Cors": CORS}

    def test_nothing_and_no_rules(self) -> None:
        assert read() == {}
        assert read("<Cors />") == read("<Cors></Cors>") == {"Cors": "<Cors />"}

    def test_include_apis_counts_only_with_metrics(self) -> None:
        ignored = f"<Version>1.0</Version><Enabled>false</Enabled><IncludeAPIs>true</IncludeAPIs>{OFF}"
        expected = {"HourMetrics": f"<HourMetrics>{NO_METRICS}</HourMetrics>"}
        assert read(f"<HourMetrics>{ignored}</HourMetrics>") == expected

    def test_older_versions_send_logging_and_metrics(self) -> None:
        assert read(LOGGING, f"<Metrics>{METRICS}</Metrics>", version=OLD) == {
            "Logging": LOGGING,
            "HourMetrics": f"<HourMetrics>{METRICS}</HourMetrics>",
        }

    @pytest.mark.parametrize(
        "sections",
        [
            (LOGGING,),
            (f"<Metrics>{METRICS}</Metrics>",),
            (LOGGING, f"<HourMetrics>{METRICS}</HourMetrics>"),
            (LOGGING, f"<Metrics>{METRICS}</Metrics>", "<Cors />"),
            (),
        ],
    )
    def test_and_both_of_them(self, sections: tuple[str, ...]) -> None:
        with pytest.raises(InvalidXmlDocument):
            read(*sections, version=OLD)

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"no XML",
            b"<StorageServiceProperties>",
            b"<Properties />",
            b"<StorageServiceProperties xmlns='http://a.com' />",
            b"<StorageServiceProperties>text</StorageServiceProperties>",
            b"<!DOCTYPE a [<!ENTITY b 'c'>]><StorageServiceProperties>&b;</StorageServiceProperties>",
        ],
    )
    def test_documents_that_are_none(self, body: bytes) -> None:
        with pytest.raises(InvalidXmlDocument):
            read_properties(body, NEW)

    @pytest.mark.parametrize(
        "section",
        [
            "<Metrics />",
            f"<Metrics>{METRICS}</Metrics>",
            "<DefaultServiceVersion>2019-02-02</DefaultServiceVersion>",
            LOGGING + LOGGING,
            "<Logging />",
            LOGGING.replace("1.0", "2.0"),
            LOGGING.replace("<Version>1.0</Version>", ""),
            LOGGING.replace("<Read>true</Read>", ""),
            LOGGING.replace("<Read>true</Read>", "<Read>true</Read><Read>true</Read>"),
            LOGGING.replace("<Read>true</Read>", "<Read>yes</Read>"),
            LOGGING.replace("<Read>true</Read>", "<Read>1</Read>"),
            LOGGING.replace("<Read>true</Read>", "<Read />"),
            LOGGING.replace("<Read>true</Read>", "<Read><a />true</Read>"),
            LOGGING.replace("<Read>true</Read>", "<Read>true</Read>text"),
            LOGGING.replace("<Read>", "<List>false</List><Read>"),
            LOGGING.replace(WEEK, ""),
            f"<HourMetrics>{METRICS.replace('<IncludeAPIs>false</IncludeAPIs>', '')}</HourMetrics>",
            f"<HourMetrics>{METRICS.replace('<Enabled>true</Enabled><In', '<In')}</HourMetrics>",
            f"<MinuteMetrics>{METRICS.replace('1.0', '1.1')}</MinuteMetrics>",
            "<HourMetrics />",
            "<Cors>text</Cors>",
            "<Cors><Rule /></Cors>",
            "<Cors><CorsRule /></Cors>",
            "<Cors><CorsRule>text</CorsRule></Cors>",
            CORS.replace("<ExposedHeaders />", ""),
            CORS.replace("<ExposedHeaders />", "<ExposedHeaders><a /></ExposedHeaders>"),
            f"<Cors>{RULE * 6}</Cors>",
        ],
    )
    def test_sections_that_break_a_rule(self, section: str) -> None:
        with pytest.raises(InvalidXmlDocument):
            read(section)

    @pytest.mark.parametrize(
        "retention",
        [
            "<Enabled>true</Enabled>",
            "<Enabled>false</Enabled><Days>7</Days>",
            "<Enabled>true</Enabled><Days>366</Days>",
            "<Enabled>true</Enabled><Days>0</Days>",
            "<Enabled>true</Enabled><Days>-1</Days>",
            "<Enabled>true</Enabled><Days>7.0</Days>",
            "<Enabled>true</Enabled><Days>\u0667</Days>",
            "<Enabled>true</Enabled><Days />",
            "<Days>7</Days>",
            "",
        ],
    )
    def test_retention_that_breaks_a_rule(self, retention: str) -> None:
        """The first three are recorded."""
        with pytest.raises(InvalidXmlDocument):
            read(LOGGING.replace(WEEK, f"<RetentionPolicy>{retention}</RetentionPolicy>"))

    def test_five_rules_and_a_year_are_fine(self) -> None:
        assert len(read_cors(read(f"<Cors>{RULE * 5}</Cors>")["Cors"])) == 5
        assert read_logging(read(LOGGING.replace(">7<", ">365<"))["Logging"]).retention_days == 365


class TestCorsRules:
    def test_headers_come_back_literal_ones_first(self) -> None:
        """Recorded."""
        rule = read_rule(AllowedHeaders="x-ms-meta-data*,x-ms-meta-target*,x-ms-meta-xyz,x-ms-meta-foo")
        assert rule.allowed_headers == ("x-ms-meta-xyz", "x-ms-meta-foo", "x-ms-meta-data*", "x-ms-meta-target*")

    @pytest.mark.parametrize(
        "changes",
        [
            {"AllowedOrigins": ",".join(f"a{number}" for number in range(64))},
            {"AllowedOrigins": "a" * 256},
            {"AllowedOrigins": "www.xyz.com"},
            {"AllowedOrigins": "null"},
            {"AllowedOrigins": "https://*.contoso.com:8080,http://[::1]:80"},
            {"AllowedOrigins": "a&amp;b&lt;c"},
            {"AllowedMethods": "DELETE,GET,HEAD,MERGE,PATCH,POST,OPTIONS,PUT"},
            {"AllowedHeaders": ",".join(f"a{number}" for number in range(64)) + ",b*,c*"},
            {"ExposedHeaders": "a" * 256},
            {"AllowedHeaders": "*", "ExposedHeaders": "*"},
            {"MaxAgeInSeconds": "2147483647"},
        ],
    )
    def test_within_the_limits(self, changes: dict[str, str]) -> None:
        rule = read_rule(**changes)
        assert read_cors(write_cors([rule])) == (rule,)

    @pytest.mark.parametrize(
        "changes",
        [
            {"AllowedOrigins": ""},
            {"AllowedOrigins": " , "},
            {"AllowedOrigins": ",".join(f"a{number}" for number in range(65))},
            {"AllowedOrigins": "a" * 257},
            {"AllowedOrigins": "https://a.com https://b.com"},
            {"AllowedOrigins": "https://z\u00fcrich.ch"},
            {"AllowedMethods": ""},
            {"AllowedMethods": "get"},
            {"AllowedMethods": "GET,TRACE"},
            {"AllowedMethods": "*"},
            {"AllowedHeaders": ",".join(f"a{number}" for number in range(65))},
            {"AllowedHeaders": "a*,b*,c*"},
            {"ExposedHeaders": "a*,b*,*"},
            {"ExposedHeaders": "a" * 257},
            {"ExposedHeaders": "x-*-y"},
            {"ExposedHeaders": "x-a\r\nSet-Cookie: a"},
            {"ExposedHeaders": "x-a: b"},
            {"MaxAgeInSeconds": ""},
            {"MaxAgeInSeconds": "-1"},
            {"MaxAgeInSeconds": "2147483648"},
            {"MaxAgeInSeconds": "1" * 5000},
        ],
    )
    def test_beyond_them(self, changes: dict[str, str]) -> None:
        with pytest.raises(InvalidXmlDocument):
            read_rule(**changes)

    def test_all_rules_together_have_two_kibibytes(self) -> None:
        rest = len("GET") + len("0")
        origins = ",".join(["a" * 255] * 8)
        assert read_rule(AllowedOrigins=origins[: 2048 - rest]).max_age_seconds == 0
        with pytest.raises(InvalidXmlDocument):
            read_rule(AllowedOrigins=origins[: 2048 - rest + 1])


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("days", [None, 1, 365])
@pytest.mark.parametrize("flag", [False, True])
def test_values_come_back(flag: bool, days: int | None) -> None:
    logging = Logging(read=flag, write=not flag, delete=flag, retention_days=days)
    assert read_logging(write_logging(logging)) == logging
    metrics = Metrics(is_enabled=flag, include_apis=flag, retention_days=days)
    assert read_metrics(write_metrics("HourMetrics", metrics)) == metrics
    assert read_metrics(write_metrics("MinuteMetrics", metrics)) == metrics


def test_defaults_are_off() -> None:
    assert read_logging(DEFAULTS["Logging"]) == Logging()
    assert read_metrics(DEFAULTS["HourMetrics"]) == read_metrics(DEFAULTS["MinuteMetrics"]) == Metrics()
    assert read_cors(DEFAULTS["Cors"]) == ()


def test_a_text_is_read_once() -> None:
    """It is asked for with every request."""
    assert read_cors(CORS) is read_cors(str(CORS))
    assert read_logging(LOGGING) is read_logging(str(LOGGING))


# ---------------------------------------------------------------- documents

DEFAULT_DOCUMENT = (
    '<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>'
    f"<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>{OFF}</Logging>"
    f"<HourMetrics>{NO_METRICS}</HourMetrics><MinuteMetrics>{NO_METRICS}</MinuteMetrics><Cors />"
    "</StorageServiceProperties>"
)


class TestWrite:
    def test_an_account_that_has_set_nothing(self) -> None:
        """In the recorded order."""
        assert write_properties({}, NEW) == DEFAULT_DOCUMENT

    def test_what_was_set_stands_in_its_place(self) -> None:
        shown = write_properties({"Cors": CORS, "Logging": LOGGING}, NEW)
        assert shown == DEFAULT_DOCUMENT.replace("<Cors />", CORS).replace(DEFAULTS["Logging"], LOGGING)

    def test_older_versions_see_logging_and_metrics(self) -> None:
        metrics = f"<HourMetrics>{METRICS}</HourMetrics>"
        assert write_properties({"Cors": CORS, "Logging": LOGGING, "HourMetrics": metrics}, OLD) == (
            '<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>'
            f"{LOGGING}<Metrics>{METRICS}</Metrics></StorageServiceProperties>"
        )

    def test_what_is_shown_can_be_set(self) -> None:
        shown = write_properties({"Cors": CORS, "Logging": LOGGING}, NEW)
        assert write_properties(read_properties(shown.encode(), NEW), NEW) == shown
