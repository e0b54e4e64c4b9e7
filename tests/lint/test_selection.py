"""Which codes are wanted."""

from __future__ import annotations

import pytest

from qpolicy.errors import QPolicyError
from qpolicy.lint.catalog import NAMES, SYNTAX_CODES
from qpolicy.lint.selection import EVERYTHING, Selection, prefixes


@pytest.mark.parametrize(
    ("select", "ignore", "wanted", "others"),
    [
        ((), (), ["QP101", "QP205"], []),
        (("QP2",), (), ["QP201", "QP205"], ["QP301"]),
        ((), ("QP2",), ["QP301"], ["QP205"]),
        (("QP2",), ("QP205",), ["QP201"], ["QP205", "QP301"]),
        (("QP205",), ("QP2",), ["QP205"], ["QP201", "QP301"]),
        (("QP2",), ("QP2",), [], ["QP201"]),
        (("QP",), ("QP2", "QP3"), ["QP101"], ["QP201", "QP301"]),
    ],
)
def test_the_longer_prefix_wins(
    select: tuple[str, ...], ignore: tuple[str, ...], wanted: list[str], others: list[str]
) -> None:
    selection = Selection(select, ignore)
    assert [code for code in (*wanted, *others) if selection.includes(code)] == wanted


def test_mistakes_in_the_text_are_always_wanted() -> None:
    assert all(Selection(("QP3",), ("QP0",)).includes(code) for code in SYNTAX_CODES)
    assert all(EVERYTHING.includes(code) for code in NAMES)


def test_codes_prefixes_and_names_are_read() -> None:
    assert prefixes(["QP205", "QP3", "QP", "unused-set"], "here") == ("QP205", "QP3", "QP", "QP106")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("QP-nine", "`qpolicy rule` lists them"),
        ("QP2055", "did you mean 'QP205'?"),
        ("unsed-set", "did you mean 'unused-set'?"),
        ("", "`qpolicy rule` lists them"),
        ("Q205", "did you mean 'QP205'?"),
        ("qp205", "did you mean 'QP205'?"),
        ("unused-se", "did you mean 'unused-set'?"),
        ("qp", "`qpolicy rule` lists them"),
    ],
)
def test_what_fits_no_code_is_refused(text: str, hint: str) -> None:
    with pytest.raises(QPolicyError) as refused:
        prefixes([text], "here")
    assert str(refused.value).startswith(f"here: '{text}' is not a finding's code")
    assert str(refused.value).endswith(hint)
