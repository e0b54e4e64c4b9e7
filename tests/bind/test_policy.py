"""Reading policies: every mistake in a pattern or a set is named with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import qpolicy
from qpolicy.lang import PolicySyntaxError


@pytest.mark.parametrize(
    ("line", "column", "told"),
    [
        ("a..b: unquantized", 2, "empty"),
        ("lm_head, model.{3..1}.x: unquantized", 17, "3..1"),
        ("when excluded(mtp.**x): unquantized", 19, "**"),
        ("let s = lm_head\n@s.weight: unquantized", 1, "@s cannot be continued"),
        ("let s = x.**\n@s.a..b: unquantized", 5, "empty"),
    ],
)
def test_a_bad_pattern_is_named_with_its_place(line: str, column: int, told: str) -> None:
    with pytest.raises(PolicySyntaxError) as caught:
        qpolicy.parse(f"qpolicy 1\n{line}\n", filename="bad.qpolicy")
    (issue,) = caught.value.errors
    assert (issue.code, issue.span.column) == ("QP013", column), str(caught.value)
    assert told in issue.message
    assert str(caught.value).startswith(f"bad.qpolicy:{1 + len(line.splitlines())}:{column}: QP013 ")


def test_every_bad_pattern_is_reported_at_once() -> None:
    with pytest.raises(PolicySyntaxError) as caught:
        qpolicy.parse("qpolicy 1\na..b: native\nc..d, e..f: native\n")
    assert [issue.span.line for issue in caught.value.errors] == [2, 3, 3]


def test_bad_patterns_and_other_mistakes_are_reported_together() -> None:
    with pytest.raises(PolicySyntaxError) as caught:
        qpolicy.parse("qpolicy 1\na..b: native\nlm_head unquantized\n*.{2..1}: native\n")
    assert [(issue.span.line, issue.code) for issue in caught.value.errors][::2] == [(2, "QP013"), (4, "QP013")]
    assert len(caught.value.errors) == 3


def test_a_policy_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(qpolicy.QPolicyError, match=r"nowhere\.qpolicy: cannot read this policy file: No such file"):
        qpolicy.load(tmp_path / "nowhere.qpolicy")


def test_an_unknown_engine() -> None:
    with pytest.raises(qpolicy.BindError, match="'other' is not known; known: sglang"):
        qpolicy.parse("qpolicy 1\n").bind(None, engine="other")
