"""Bytes to text, and the characters that a policy may hold."""

from __future__ import annotations

import codecs
import re
import unicodedata

from qpolicy.lang.issue import Complaint, PolicySyntaxError
from qpolicy.lang.source import Source

MAX_SIZE = 4 * 1024 * 1024
"""The largest policy, in bytes (and in characters, for text that is already decoded)."""

# Control characters but tab and line ends, and characters that are invisible or reorder the text on the screen, so that
# a reader would see another policy than the one that is parsed.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]|\r(?!\n)"
)
_WIDE_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes, filename: str) -> Source:
    """Read a policy's bytes as UTF-8.

    Args:
        data: The whole file.
        filename: What messages call it.

    Returns:
        The text, free of control and invisible characters. Line ends stay as they are.

    Raises:
        PolicySyntaxError: The bytes are too many, are not UTF-8, or hold a character that no policy may hold.
    """
    if len(data) > MAX_SIZE:
        raise _refusal(Source(filename, ""), 0, f"the file has {len(data):,} bytes; a policy has at most {MAX_SIZE:,}")
    try:
        source = Source(filename, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _not_utf8(data, filename, error.start) from None
    check_text(source)
    return source


def check_text(source: Source) -> None:
    """Refuse a text that is too long or holds a character that no policy may hold.

    Raises:
        PolicySyntaxError: It names the first such character and its place.
    """
    if len(source.text) > MAX_SIZE:
        message = f"the text has {len(source.text):,} characters; a policy has at most {MAX_SIZE:,}"
        raise _refusal(Source(source.name, ""), 0, message)
    found = _HIDDEN.search(source.text)
    if found:
        raise _hidden(source, found.start())


def _hidden(source: Source, at: int) -> PolicySyntaxError:
    character = source.text[at]
    if character == "\ufeff" and at == 0:
        return _refusal(source, 0, "the file begins with a byte order mark", "save it as UTF-8 without one")
    if character == "\r":
        hint = "end each line with a newline, alone or after a carriage return"
        return _refusal(source, at, "a carriage return stands alone", hint)
    name = unicodedata.name(character, "a control character").lower()
    message = f"the character U+{ord(character):04X} ({name}) cannot stand in a policy"
    return _refusal(source, at, message, "remove it; a policy holds only characters that a reader can see")


def _not_utf8(data: bytes, filename: str, at: int) -> PolicySyntaxError:
    source = Source(filename, data[: at + 1].decode("utf-8", errors="replace"))
    hint = "it looks like UTF-16; save it as UTF-8" if data.startswith(_WIDE_BOMS) else "save the file as UTF-8"
    return _refusal(source, len(source.text) - 1, f"byte {at} (0x{data[at]:02x}) is not UTF-8", hint)


def _refusal(source: Source, at: int, message: str, hint: str | None = None) -> PolicySyntaxError:
    span = source.span(at, min(at + 1, len(source.text)))
    return PolicySyntaxError([Complaint("QP001", message, span, hint=hint).issue(source)])
