"""The query options beside `$filter`."""

import pytest

from rowkey.errors import InvalidQuery, InvalidQueryParameterValue, NotImplementedOnResource
from rowkey.odata.options import read_select, read_timeout, read_top, verify_options

TODAY = "2019-02-02"
DEFAULT = "One of the request inputs is not valid."


@pytest.mark.parametrize(("text", "top"), [(None, 1000), ("1", 1), ("1000", 1000), ("007", 7)])
def test_top_is_the_page_size(text: str | None, top: int) -> None:
    assert read_top(text) == top


@pytest.mark.parametrize("text", ["", "0", "-1", "1001", "a", "1.5", " ", "9" * 5000, "\u0664"])
def test_top_is_refused_outside_of_1_to_1000(text: str) -> None:
    with pytest.raises(InvalidQuery, match=DEFAULT):
        read_top(text)


SELECTIONS = [
    (None, None),
    ("", None),
    (" ", None),
    ("*", None),
    ("age, *", None),
    ("age", ("age",)),
    ("age,sex", ("age", "sex")),
    ("age, sex", ("age", "sex")),  # recorded
    ("age,sex,", ("age", "sex")),  # recorded
    (" age , sex , ", ("age", "sex")),
    ("sex,age,sex", ("sex", "age")),
    ("RowKey,\u554a,_1", ("RowKey", "\u554a", "_1")),
    (",".join(f"a{number}" for number in range(255)), tuple(f"a{number}" for number in range(255))),
]


@pytest.mark.parametrize(("text", "names"), SELECTIONS)
def test_select_names_properties_once_each(text: str | None, names: tuple[str, ...] | None) -> None:
    assert read_select(text, TODAY) == names


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("['age, sex']", 0),  # recorded
        ("age,['sex']", 4),
        ("age, 1sex", 5),
        ("é\U00010400,?", 4),
        (",age", 0),
        ("age,,sex", 4),
        (",", 0),
        ("a b", 0),
        ("*,a/b", 2),
    ],
)
def test_select_of_a_bad_name_tells_its_position(text: str, position: int) -> None:
    with pytest.raises(InvalidQuery) as refusal:
        read_select(text, TODAY)
    assert refusal.value.text == f"An identifier was expected at position {position}."


@pytest.mark.parametrize("text", ["a" * 256, ",".join(f"a{number}" for number in range(256))])
def test_select_is_bounded(text: str) -> None:
    with pytest.raises(InvalidQuery, match=DEFAULT):
        read_select(text, TODAY)


@pytest.mark.parametrize("text", ["age", "*", "a b"])
@pytest.mark.parametrize("version", ["2008-10-27", "2009-09-19"])
def test_select_was_not_there_before_2011_08_18(text: str, version: str) -> None:
    with pytest.raises(InvalidQuery, match=DEFAULT):
        read_select(text, version)
    assert read_select("", version) is None


def test_options_without_a_dollar_sign_are_ignored() -> None:
    verify_options(["$filter", "$select", "$top", "$format", "$ct", "timeout", "sv", "NextRowKey", "_"])


@pytest.mark.parametrize("name", ["$orderby", "$skip", "$expand", "$inlinecount", "$Filter", "$"])
def test_other_system_query_options_are_not_implemented(name: str) -> None:
    with pytest.raises(NotImplementedOnResource):
        verify_options(["$filter", name])


@pytest.mark.parametrize(
    ("text", "seconds"), [(None, 30), ("5", 5), ("30", 30), ("31", 30), ("99999999999", 30), ("0", 30)]
)
def test_timeout_is_30_seconds_at_most(text: str | None, seconds: float) -> None:
    assert read_timeout(text) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1.5", "a", "9" * 5000])
def test_timeout_is_refused_unless_a_whole_number(text: str) -> None:
    with pytest.raises(InvalidQueryParameterValue):
        read_timeout(text)
