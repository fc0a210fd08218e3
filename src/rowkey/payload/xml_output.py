"""Text of any kind in XML documents that the service writes."""

import re

_SPECIAL = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def escape_text(text: str) -> str:
    """Text as the content of an element; a character that XML cannot hold becomes U+FFFD."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text if text.isprintable() else _SPECIAL.sub(_replace, text)


def escape_attribute(text: str) -> str:
    """Text as the value of an attribute, which stands in double quotes."""
    return escape_text(text).replace('"', "&quot;")


def _replace(match: re.Match[str]) -> str:
    return "&#xD;" if match[0] == "\r" else "\ufffd"  # a bare carriage return would be read as a line feed
