"""Bytes become text only when the text is what a reader sees."""

from __future__ import annotations

import pytest

from qpolicy.lang import PolicySyntaxError, decode
from qpolicy.lang.decode import MAX_SIZE


def refused(data: bytes) -> str:
    with pytest.raises(PolicySyntaxError) as caught:
        decode(data, "m.qpolicy")
    (issue,) = caught.value.errors
    assert issue.code == "QP001"
    return issue.render()


def test_text_is_kept_as_it_is() -> None:
    assert decode("qpolicy 1\r\n# é \U0001f642\t\n".encode(), "p").text == "qpolicy 1\r\n# é \U0001f642\t\n"


@pytest.mark.parametrize(
    ("data", "place", "piece"),
    [
        (b"\xef\xbb\xbfqpolicy 1\n", "1:1", "byte order mark"),
        (b"qpolicy 1\nab\xffc", "2:3", "byte 12 (0xff) is not UTF-8"),
        (b"qpolicy 1\n\xc3", "2:1", "byte 10 (0xc3) is not UTF-8"),
        ("qpolicy 1".encode("utf-16"), "1:1", "it looks like UTF-16; save it as UTF-8"),
        (b"qpolicy 1\n\n a\x00b", "3:3", "U+0000"),
        (b"qpolicy 1\na\x0cb", "2:2", "U+000C"),
        (b"qpolicy 1\na\x1b[31mb", "2:2", "U+001B"),
        ("qpolicy 1\na\u2028b".encode(), "2:2", "U+2028 (line separator)"),
        ("qpolicy 1\na\u200bb".encode(), "2:2", "U+200B (zero width space)"),
        (b"qpolicy 1\ra", "1:10", "a carriage return stands alone"),
        (b"\xed\xa0\x80", "1:1", "is not UTF-8"),
    ],
)
def test_what_a_policy_cannot_hold_is_named_with_its_place(data: bytes, place: str, piece: str) -> None:
    message = refused(data)
    assert message.startswith(f"m.qpolicy:{place}: ")
    assert piece in message
    assert all(line.isprintable() for line in message.splitlines())


def test_size_is_limited_in_bytes() -> None:
    assert decode(b"#" * MAX_SIZE, "p")
    assert "a policy has at most 4,194,304" in refused(b"#" * (MAX_SIZE + 1))
