"""Findings about a policy alone: each code's own examples, what it points at, and its repair."""

from __future__ import annotations

import pytest

import qpolicy
from qpolicy.analysis import Limits
from qpolicy.lint.check import Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy import POLICY_CHECKS, lint_policy
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.repair import apply


def lint(*lines: str) -> list[Finding]:
    return list(lint_policy(qpolicy.parse("\n".join(["qpolicy 1", *lines]) + "\n", filename="t.qpolicy")))


def codes(*lines: str) -> list[tuple[str, int | None]]:
    return [(finding.code, finding.line) for finding in lint(*lines)]


def page_of(check: PolicyCheck) -> Page:
    assert check.code.page is not None
    return check.code.page


def found_in(text: str | None) -> set[str]:
    assert text is not None
    return {finding.code for finding in lint_policy(qpolicy.parse(text))}


def test_every_code_stands_for_one_check() -> None:
    assert [check.code.code for check in POLICY_CHECKS] == [f"QP{number}" for number in range(101, 112)]
    assert len({check.code.name for check in POLICY_CHECKS}) == len(POLICY_CHECKS)


@pytest.mark.parametrize("check", POLICY_CHECKS, ids=lambda check: check.code.code)
def test_repairs_are_as_safe_as_the_page_says(check: PolicyCheck) -> None:
    policy = qpolicy.parse(page_of(check).bad.policy or "")
    repairs = [one.repair for one in lint_policy(policy) if one.code == check.code.code and one.repair]
    said = {"safe": {True}, "unsafe": {False}, "manual": set()}[page_of(check).safety]
    assert {repair.safe for repair in repairs} == said
    for repair in repairs:
        mended = apply(policy.source.text, [repair])
        assert check.code.code not in found_in(mended)


def test_a_dead_rule_points_at_what_covers_it() -> None:
    [finding] = [one for one in lint("a.b: native", "a.c: native", "a.{b,c}: unquantized") if one.code == "QP101"]
    assert (finding.line, finding.column, finding.severity) == (4, 1, "warning")
    assert "lines 2 and 3 decide every module that it applies to, for instance a.b by line 2" in finding.message
    assert [(one.line, one.message) for one in finding.related] == [
        (2, "decides first, for instance a.b"),
        (3, "decides first, for instance a.c"),
    ]
    assert finding.excerpt == "4 | a.{b,c}: unquantized\n    ^^^^^^^^^^^^^^^^^^^^"


def test_a_shadowed_rule_is_info_with_a_live_witness() -> None:
    [finding] = lint("a.b: native", "a.?: unquantized")
    assert (finding.code, finding.severity, finding.line) == ("QP102", "info", 3)
    assert finding.message.startswith("line 2 decides some modules")
    assert finding.message.endswith("it still decides a.a")


def test_what_follows_a_rule_that_always_applies_is_one_finding() -> None:
    assert codes("**: native", "a: native", "b: native") == [("QP104", 2)]
    assert codes("a: native", "a: native", "**: native", "b: native") == [("QP101", 3), ("QP102", 4), ("QP104", 4)]


def test_only_otherwise_behind_a_rule_that_always_applies() -> None:
    assert codes("**: native", "otherwise: native") == [("QP105", 3)]


def test_a_last_rule_for_everything_is_fine() -> None:
    assert codes("**: native") == []


def test_otherwise_is_not_said_to_be_shadowed() -> None:
    assert codes("a: native", "otherwise: native") == []


def test_a_dead_drop_is_a_dead_rule() -> None:
    assert codes("drop mtp if draft", "drop mtp if method == x") == [("QP102", 3)]
    assert codes("drop mtp if draft or target", "drop mtp if method == x") == [("QP101", 3)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("let s = a # why\nb: native\n", "# why\nb: native\n"),
        ("let s = a,\n    c\nb: native\n", "b: native\n"),
        ("b: native\nlet s = a", "b: native\n"),
        ("a, b, a: native\n", "a, b: native\n"),
        ("a.b, a.**: native\n", "a.**: native\n"),
        ("a.**,\n    a.b,\n    c: native\n", "a.**,\n    c: native\n"),
    ],
)
def test_safe_repairs_keep_comments_and_layout(before: str, after: str) -> None:
    [finding] = lint_policy(qpolicy.parse(f"qpolicy 1\n{before}"))
    assert finding.repair is not None
    assert finding.repair.safe
    assert apply(f"qpolicy 1\n{before}", [finding.repair]) == f"qpolicy 1\n{after}"


def test_what_holds_a_comment_is_left_to_people() -> None:
    [finding] = lint("let s = a, # why", "    c", "b: native")
    assert finding.repair is None


def test_undecided_is_said_once_for_all_and_is_info() -> None:
    policy = qpolicy.parse("qpolicy 1\n**.a.**: native\n**.b.**: native\n")
    [finding] = lint_policy(policy, Limits(states=2))
    assert (finding.code, finding.severity, finding.line) == ("QP110", "info", 2)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("otherwize: native", "otherwise"),
        ("Otherwise: native", "otherwise"),
        ("else: native", "otherwise"),
        ("default: native", "otherwise"),
        ("model.layers.{0-3}.mlp: native", "model.layers.{0..3}.mlp"),
        ("model.layers.0-3.{5-6}, lm_head: native", "model.layers.{0..3}.{5..6}"),
        ("**: native\nexpect layers.0-3.x: quantized", "layers.{0..3}.x"),
        ("let a = 0-3.x\n@a: native", "{0..3}.x"),
        ("layers.{0\u20133}.x: native", "layers.{0..3}.x"),
        ("\u201clm_head\u201d: native", '"lm_head"'),
    ],
)
def test_names_that_look_like_misspelt_syntax(line: str, instead: str) -> None:
    [finding] = [one for one in lint(line) if one.code == "QP111"]
    assert finding.message.endswith(f"; {instead} was probably meant")
    assert finding.repair is not None
    mended = apply(f"qpolicy 1\n{line}\n", [finding.repair])
    assert found_in(mended) <= {"QP104", "QP106"}


@pytest.mark.parametrize(
    "line",
    [
        "lm_head: native",
        'model.layers."0-3".mlp: native',
        "model.layers.{0..3}.mlp: native",
        "a.0-3-4: native",
        "a.b0-3: native",
        'a."\u201cb\u201d": native',
        "a.b\u201cc\u201d: native",
        "a.{v1-2}: native",
        "otherwize.x: native",
        "otherwize when draft: native",
        "otherwize, lm_head: native",
        '"otherwize": native',
        "other: native",
        "default.x: native",
    ],
)
def test_names_that_a_module_may_have(line: str) -> None:
    assert codes(line) == []
