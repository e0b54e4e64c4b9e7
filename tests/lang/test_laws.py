"""What holds for every text: valid ones survive formatting, all others are refused in an orderly way."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import policies

from qpolicy.lang import PolicySyntaxError, Source, decode, format_source, parse

PIECES = ("(", ")", ",", ":", "@", "=", "==", '"', "{", "}", "#", "\n", "\r\n", " ", "\t", "!", "not ", "and", " or ")
WORDS = ("when ", "if ", "let ", "drop ", "otherwise", "expect ", "in ", "draft", "mtp", "native", "qpolicy 1\n", "\0")


def accepted(text: str) -> bool:
    """Parse a text; whatever is refused has orderly issues, whatever is accepted survives formatting."""
    source = Source("p", text)
    try:
        document = parse(source)
    except PolicySyntaxError as error:
        assert_orderly(error, text)
        return False
    formatted = format_source(source)
    assert parse(Source("p", formatted)) == document
    assert format_source(Source("p", formatted)) == formatted
    return True


def assert_orderly(error: PolicySyntaxError, text: str) -> None:
    assert error.errors
    assert str(error)
    starts = [issue.span.start for issue in error.errors]
    assert starts == sorted(starts)
    for issue in error.errors:
        before = text[: issue.span.start]
        assert 0 <= issue.span.start <= issue.span.end <= len(text)
        assert issue.span.line == before.count("\n") + 1
        assert issue.span.column == len(before) - before.rfind("\n")


@given(policies())
@settings(max_examples=40, deadline=None)
def test_a_valid_policy_survives_formatting(text: str) -> None:
    assert accepted(text)


@given(policies())
@settings(max_examples=15, deadline=None)
def test_spans_cover_what_they_name(text: str) -> None:
    source = Source("p", text)
    for statement in parse(source).statements:
        again = "qpolicy 1\n" if source.slice(statement.span).strip() != "qpolicy 1" else ""
        lets = "".join(f"\nlet {name} = x.y" for name in ("routers", "vision", "late-layers", "_x", '"drop"'))
        known = lets if "let " not in source.slice(statement.span) else ""
        alone = parse(Source("p", f"{again}{source.slice(statement.span)}{known}"))
        assert statement in alone.statements


@given(policies(), st.data())
@settings(max_examples=40, deadline=None)
def test_an_edited_policy_is_accepted_whole_or_refused(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.sampled_from([0, 0, 1, 1, 5]))
        piece = data.draw(st.sampled_from(["", *PIECES, *WORDS]))
        text = text[:at] + piece + text[at + cut :]
    accepted(text)


@given(st.lists(st.sampled_from([*PIECES, *WORDS, "kind", "a.b", "has(x)", "error"]), max_size=25).map("".join))
@settings(max_examples=80, deadline=None)
@example("")
@example("(" * 300)
@example("not " * 300)
def test_a_heap_of_tokens_is_accepted_whole_or_refused(text: str) -> None:
    accepted(text)
    accepted("qpolicy 1\n" + text)


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_any_text_is_accepted_whole_or_refused(text: str) -> None:
    accepted(text)
    accepted(f"qpolicy 1\n{text}")


@given(st.binary(max_size=60), st.booleans())
@settings(max_examples=80, deadline=None)
def test_any_bytes_are_accepted_whole_or_refused(data: bytes, versioned: bool) -> None:
    try:
        source = decode(b"qpolicy 1\n" * versioned + data, "p")
    except PolicySyntaxError as error:
        assert error.errors[0].code == "QP001"
    else:
        accepted(source.text)
