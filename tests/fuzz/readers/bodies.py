"""Bodies: JSON, Atom, the service's XML, batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import orjson

from rowkey.errors import PropertyNameTooLong, ServiceError
from rowkey.model.entity import Key, compose_entity, entity_bytes, members_of, split_entities
from rowkey.model.shape import shape_texts
from rowkey.payload.access_policies import read_policies, write_policies
from rowkey.payload.answer_body import write_entry, write_feed
from rowkey.payload.atom_input import read_entry
from rowkey.payload.json_input import read_object
from rowkey.payload.properties import read_new_entity, read_table_name
from rowkey.payload.service_properties import read_properties as read_service_properties
from rowkey.payload.views import EntityView, shape_of
from rowkey.payload.xml_input import XmlNotReadable, parse_xml
from rowkey.wire.media import Format
from rowkey.wire.multipart import read_boundary, read_inner_request, split_multipart
from tests.fuzz.readers.given import ACCOUNT, NEWEST, NOW


def read_json(data: bytes) -> None:
    """A JSON body: what is accepted is stored, shown in every format, and read back the same."""
    _read_body(lambda: read_object(data))


def read_atom(data: bytes) -> None:
    """An Atom body, in the same way."""
    _read_body(lambda: read_entry(data))


def _read_body(read: Callable[[], Any]) -> None:
    try:
        properties = read()
    except ServiceError:
        return
    try:
        read_table_name(properties)
    except ServiceError:
        pass
    try:
        key, members = read_new_entity(properties, NEWEST)
    except ServiceError:
        return
    _show_everywhere(key, members)


def _show_everywhere(key: Key, members: Mapping[str, str]) -> None:
    entity = compose_entity(key, NOW, members)
    assert entity.text.isascii()
    assert members_of(entity.text) == dict(members)
    assert entity_bytes(key, members) >= 4
    assert split_entities(f"{entity.text},{entity.text}") == [entity.text, entity.text]
    decoded = orjson.loads(entity.text)
    assert (decoded["PartitionKey"], decoded["RowKey"]) == key
    for form in (Format.NO_METADATA, Format.MINIMAL_METADATA, Format.FULL_METADATA):
        for select in (None, ("A", "RowKey")):
            view = EntityView(form, "http://h/a", ACCOUNT, "T", NOW, select, None if select is None else "A,RowKey")
            orjson.loads(write_entry(entity.text, view))
            texts = shape_texts(f"{entity.text},{entity.text}", shape_of(form, select))
            assert len(orjson.loads(write_feed(texts, view))["value"]) == 2
    atom = write_entry(entity.text, EntityView(Format.ATOM, "http://h/a", ACCOUNT, "T", NOW))
    ElementTree.fromstring(atom)
    try:
        again_key, again = read_new_entity(read_entry(atom), NEWEST)
    except PropertyNameTooLong:
        assert not all(name.isascii() for name in members)  # escapes have made it longer
        return
    assert again_key == Key(*map(_as_xml, key))
    assert len(again) == len(members)
    for name, text in members.items():
        value = decoded[name]
        if name not in again:  # a character that names in XML cannot have is written `_xHHHH_`, as .NET does
            assert not name.isascii()
        elif isinstance(value, str):
            assert orjson.loads(f"{{{again[name]}}}")[name] == _as_xml(value)
        else:
            assert again[name] == text


def _as_xml(text: str) -> str:
    """Text as Atom has it: U+FFFD stands for what XML cannot say."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def read_xml(data: bytes) -> None:
    """Service properties, access policies, and XML as such."""
    try:
        parse_xml(data)
    except XmlNotReadable:
        pass
    for version in ("2012-02-12", NEWEST):
        try:
            read_service_properties(data, version)
        except ServiceError:
            pass
    try:
        policies = read_policies(data)
    except ServiceError:
        return
    assert read_policies(write_policies(policies)) == policies


def read_multipart(data: bytes) -> None:
    """The container of a batch and the requests in it."""
    content_type, _, body = data.partition(b"\n")
    try:
        boundary = read_boundary(content_type.decode("latin-1"))
        for part in split_multipart(body, boundary, 101):
            if "boundary" in part.headers.get("content-type", ""):
                for inner in split_multipart(part.content, read_boundary(part.headers["content-type"]), 101):
                    read_inner_request(inner.content)
            read_inner_request(part.content)
    except ServiceError:
        pass
