"""Fixes: made to the end, safe where they say so, and never at the cost of a comment."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qpolicy
from qpolicy.analysis import compare
from qpolicy.lint.alone import lint_text
from qpolicy.lint.fixing import Fixed, is_mendable, mended
from qpolicy.lint.repair import Edit, Repair, apply, compatible
from qpolicy.lint.selection import EVERYTHING
from qpolicy.lint.settle import Settled

FILE = "model.qpolicy"


def look(text: str) -> Settled:
    return lint_text(text, FILE, EVERYTHING)


def fixed(text: str, *, unsafe: bool = False) -> Fixed:
    return mended(text, look, unsafe=unsafe)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("let a = x\n\nlm_head: native\n", "\nlm_head: native\n"),
        ("let a = x\nlet b = @a\nlm_head: native\n", "lm_head: native\n"),
        ("a, b, a: native\n", "a, b: native\n"),
        ("a, a, a, b, a: native\n", "a, b: native\n"),
        ("a.**, b, a.c: native\n", "a.**, b: native\n"),
        ("a.c, a.**: native\n", "a.**: native\n"),
        ("a,\n    a,\n    b: native\n", "a,\n    b: native\n"),
        ("a,\n    b,\n    a: native\n", "a,\n    b: native\n"),
        ("let a = x  # qpolicy: ignore[QP101]\nlm_head: native\n", "lm_head: native\n"),
    ],
)
def test_safe_fixes(before: str, after: str) -> None:
    result = fixed(f"qpolicy 1\n{before}")
    assert result.text == f"qpolicy 1\n{after}"
    assert result.count > 0
    assert not [finding for finding in result.left.findings if is_mendable(finding, unsafe=False)]


def test_what_changes_the_meaning_is_mended_only_when_asked() -> None:
    text = "qpolicy 1\na.**: native\na.b: unquantized\n"
    assert fixed(text).text == text
    assert [finding.code for finding in fixed(text).left.findings] == ["QP101"]
    assert fixed(text, unsafe=True).text == "qpolicy 1\na.**: native\n"


def test_a_text_that_does_not_parse_is_left_alone() -> None:
    text = "qpolicy 1\nlet a = x\nlm_head: unquantised\n"
    assert fixed(text, unsafe=True).text == text


def test_line_ends_stay_as_they_are() -> None:
    assert fixed("qpolicy 1\r\nlet a = x\r\nlm_head, lm_head: native\r\n").text == "qpolicy 1\r\nlm_head: native\r\n"


PATTERNS = st.sampled_from(["a", "b", "a.b", "a.*", "a.**", "**.b", "{a,b}", "{b,a}", "@s", "@t", "@mtp", "?"])
ENDS = st.sampled_from(["", "", "  # one", "  # qpolicy: ignore[QP107]", "  # qpolicy: ignore[QP101, QP999] two"])
LISTS = st.lists(PATTERNS, min_size=1, max_size=4).map(", ".join)
BROKEN_LISTS = st.lists(st.tuples(PATTERNS, ENDS), min_size=1, max_size=4).map(
    lambda found: "\n".join(f"    {one},{end}" for one, end in found).lstrip() + "\n    c"
)
DECISIONS = st.sampled_from(["unquantized", "quantized", "native"])
RULES = st.builds(
    "{}{}: {}{}".format, st.one_of(LISTS, BROKEN_LISTS), st.sampled_from(["", " when draft"]), DECISIONS, ENDS
)
LETS = st.builds("let {} = {}{}".format, st.sampled_from(["u", "v", "w"]), st.one_of(LISTS, BROKEN_LISTS), ENDS)
OWN_LINES = st.sampled_from(["", "# three", "# qpolicy: ignore[QP106]", "# qpolicy: ignore-file[QP102]"])
HEAD = "qpolicy 1\nlet s = a.**, b\nlet t = {a,b}.x\n"


@st.composite
def policies(draw: st.DrawFn) -> str:
    lets = draw(st.lists(LETS, max_size=2, unique_by=lambda let: let[4]))
    lines = [*lets, *draw(st.lists(st.one_of(RULES, OWN_LINES), max_size=4))]
    return HEAD + "\n".join(lines) + "\n"


def plain_comments(text: str) -> list[str]:
    """What the comments say, without suppressions."""
    found = re.findall(r"#.*", text)
    return sorted(
        said for said in (re.sub(r"# ?(qpolicy: ignore\S*\[.*?\])?", "", one).strip() for one in found) if said
    )


@settings(max_examples=50, deadline=None)
@given(policies())
def test_safe_fixes_keep_the_meaning_and_every_comment(text: str) -> None:
    result = fixed(text)
    assert compare(qpolicy.parse(text), qpolicy.parse(result.text)).equivalent
    assert plain_comments(result.text) == plain_comments(text)


@settings(max_examples=50, deadline=None)
@given(policies(), st.booleans())
def test_fixing_again_changes_nothing(text: str, unsafe: bool) -> None:
    once = fixed(text, unsafe=unsafe)
    again = fixed(once.text, unsafe=unsafe)
    assert (again.text, again.count, again.left) == (once.text, 0, once.left)
    assert bool(once.count) == (once.text != text)


REPAIRS = st.lists(
    st.lists(st.integers(0, 30), min_size=2, max_size=4, unique=True)
    .map(sorted)
    .map(lambda at: Repair(tuple(Edit(at[i], at[i + 1], "x") for i in range(0, len(at) - 1, 2)), safe=True)),
    max_size=5,
)


@given(REPAIRS)
def test_compatible_repairs_do_not_meet(repairs: list[Repair]) -> None:
    chosen = compatible(repairs)
    assert chosen[:1] == repairs[:1]
    edits = sorted(edit for repair in chosen for edit in repair.edits)
    assert all(one.end <= other.start for one, other in pairwise(edits))
    removed = sum(edit.end - edit.start for edit in edits)
    assert len(apply("-" * 40, chosen)) == 40 - removed + len(edits)


def test_a_text_without_anything_to_mend_is_looked_at_once() -> None:
    looked: list[str] = []

    def noting(text: str) -> Settled:
        looked.append(text)
        return look(text)

    text = "qpolicy 1\n\nlm_head: native\nlm_head: quantized\n"
    assert mended(text, noting, unsafe=False).left.findings
    assert looked == [text]
