"""The canonical layout, by example."""

from __future__ import annotations

from textwrap import dedent

import pytest

from qpolicy.lang import PolicySyntaxError, Source, format_source

LONG = [f"model.layers.{layer}.mlp.shared_expert_gate" for layer in range(4)]


def formatted(text: str) -> str:
    result = format_source(Source("p", text))
    assert format_source(Source("p", result)) == result
    return result


def test_one_space_between_words_and_none_inside_parentheses() -> None:
    text = 'qpolicy   1\na ,b,@mtp . c  when  not(draft  or target)and has ( x,y )and kind in(moe):error   "a,  b"\n'
    text = text.replace("@mtp . c", "@mtp.c")
    wanted = 'qpolicy 1\na, b, @mtp.c when not (draft or target) and has(x, y) and kind in (moe): error "a,  b"\n'
    assert formatted(text) == wanted


def test_blank_lines_are_single_and_never_at_an_end() -> None:
    assert formatted("\n\nqpolicy 1\n\n\n\na: native\nb: native\n\n\n") == "qpolicy 1\n\na: native\nb: native\n"


def test_line_ends_become_newlines() -> None:
    assert formatted("qpolicy 1  \r\n# note  \r\na: native") == "qpolicy 1\n# note\na: native\n"


def test_short_statements_are_joined() -> None:
    assert formatted("qpolicy 1\na,\n  b when draft and\n\n  target: native\n").endswith(
        "\na, b when draft and target: native\n"
    )


def test_comments_stay_where_they_are() -> None:
    text = """\
        # head
        qpolicy 1 # the version

           # about a
        a,# first
           # between

          b, c: native      # last
        # end
        """
    wanted = """\
        # head
        qpolicy 1  # the version

        # about a
        a,  # first
            # between
            b,
            c: native  # last
        # end
        """
    assert formatted(dedent(text)) == dedent(wanted)


def test_a_wide_list_has_a_line_for_each_pattern() -> None:
    assert formatted(f"qpolicy 1\nlet s = {', '.join(LONG)}\n") == "qpolicy 1\nlet s = " + ",\n    ".join(LONG) + "\n"


def test_a_wide_condition_is_broken_after_its_operators() -> None:
    facts = [f"exists({name})" for name in LONG]
    wanted = "qpolicy 1\ndrop mtp if " + " and\n    ".join(facts) + "\n"
    assert formatted(f"qpolicy 1\ndrop mtp if {' and '.join(facts)}\n") == wanted


def test_a_wide_list_keeps_its_condition_on_the_last_line() -> None:
    text = f"qpolicy 1\n{', '.join(LONG)} when has(a, b) and draft: native\n"
    assert formatted(text).endswith(f"    {LONG[-1]} when has(a, b) and draft: native\n")


def test_a_comment_does_not_make_a_statement_wide() -> None:
    line = f"a, b: native  # {'x' * 100}"
    assert formatted(f"qpolicy 1\n{line}\n") == f"qpolicy 1\n{line}\n"


@pytest.mark.parametrize("text", ["", "a: native\n", "qpolicy 1\na native\n", "qpolicy 1\n@x: native\n"])
def test_a_broken_policy_is_not_formatted(text: str) -> None:
    with pytest.raises(PolicySyntaxError):
        format_source(Source("p", text))
