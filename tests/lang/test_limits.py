"""Hostile texts are refused quickly, and texts at a limit are accepted."""

from __future__ import annotations

import pytest
from effort import at_most

from qpolicy.lang import PolicySyntaxError, Source, parse
from qpolicy.lang.decode import MAX_SIZE
from qpolicy.lang.layout import MAX_NESTING, MAX_TOKENS
from qpolicy.lang.script import MAX_ISSUES
from qpolicy.lang.set_checks import MAX_SET_DEPTH

GENEROUS = 20_000_000  # function calls; each of these takes about a tenth, or would take billions


def refused(text: str) -> str:
    with pytest.raises(PolicySyntaxError) as caught, at_most(calls=GENEROUS):
        parse(Source("p", text))
    assert len(caught.value.errors) <= MAX_ISSUES
    return caught.value.errors[0].render()


def nested(opening: str, closing: str, times: int) -> str:
    return f"qpolicy 1\nwhen {opening * times}draft{closing * times}: native\n"


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("not ", "")])
def test_conditions_nest_a_hundred_deep_and_no_deeper(opening: str, closing: str) -> None:
    assert parse(Source("p", nested(opening, closing, MAX_NESTING)))
    message = refused(nested(opening, closing, MAX_NESTING + 1))
    column = 6 + len(opening) * MAX_NESTING
    assert message.startswith(f"p:2:{column}: QP015 the condition nests more than 100 deep")


def test_parentheses_and_not_count_together() -> None:
    assert parse(Source("p", nested("not (", ")", MAX_NESTING // 2)))
    assert "QP015" in refused(nested("not (", ")", MAX_NESTING // 2 + 1))


def test_what_stands_side_by_side_does_not_nest() -> None:
    facts = " and ".join(["not (draft or not target)", "has(a)"] * 150)
    assert parse(Source("p", f"qpolicy 1\nwhen {facts}: native\n"))
    innermost = nested("(", ")", MAX_NESTING).replace("draft", "has(a) and dtype(b) in (bf16)")
    assert parse(Source("p", innermost))


@pytest.mark.parametrize(
    ("opening", "times"),
    [("(", 100_000), ("not ", 10_000), ("has(", 10_000), ("not (", 10_000), ("draft and (", 10_000)],
)
def test_a_great_many_levels_are_refused_at_once(opening: str, times: int) -> None:
    assert "QP0" in refused(f"qpolicy 1\nwhen {opening * times}")


@pytest.mark.parametrize("piece", ['a"', "{", "{}", "a", '"', "#", "@", "!", "="])
def test_one_endless_line_is_refused(piece: str) -> None:
    assert "QP0" in refused("qpolicy 1\nb " + piece * (20_000 // len(piece)))


def test_too_many_tokens_are_refused() -> None:
    assert f"more than {MAX_TOKENS:,} words and signs" in refused("qpolicy 1\n" + "a," * (MAX_TOKENS // 2 + 1))


def test_too_long_a_text_is_refused() -> None:
    assert f"a policy has at most {MAX_SIZE:,}" in refused("qpolicy 1\n" + "#" * MAX_SIZE)


def test_the_search_for_mistakes_stops() -> None:
    unknown = "".join(f"let s{i} = x{i}\n@t{i}: native\n" for i in range(300))
    assert "QP011" in refused("qpolicy 1\n" + unknown)
    assert "QP005" in refused("qpolicy 1\n" + "a\n" * 500)


def test_sets_use_each_other_a_hundred_deep_and_no_deeper() -> None:
    def chain(length: int) -> str:
        return (
            "qpolicy 1\n" + "".join(f"let s{i} = @s{i + 1}\n" for i in range(length - 1)) + f"let s{length - 1} = x\n"
        )

    assert parse(Source("p", chain(MAX_SET_DEPTH)))
    assert "sets use each other more than 100 deep" in refused(chain(MAX_SET_DEPTH + 1))


def test_sets_that_multiply_are_refused() -> None:
    doubling = "".join(f"let s{i} = @s{i + 1}, @s{i + 1}\n" for i in range(60)) + "let s60 = x\n"
    assert "more than 1,000,000 patterns" in refused("qpolicy 1\n" + doubling)


def test_a_long_circle_of_sets_is_shown_in_short() -> None:
    circle = "".join(f"let s{i} = @s{(i + 1) % 500}\n" for i in range(500))
    assert "`@s0` uses `@s1` uses `@s2` uses ... uses `@s499` uses `@s0`" in refused("qpolicy 1\n" + circle)
