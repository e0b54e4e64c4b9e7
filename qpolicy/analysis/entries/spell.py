"""Token sequences as patterns of the language: a free run of characters may stay in its segment or cross dots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from qpolicy.analysis.entries.tokens import MOST_SEQUENCES, InexpressibleError, Token, Tokens
from qpolicy.paths import Pattern, PatternError
from qpolicy.paths.segments import is_bare, is_quotable

Segments: TypeAlias = tuple[str, ...]
"""A pattern's segments, as the language writes them."""

_NUMBER = "{0..}"
_ONE, _SOME, _REST = "?", "*", "**"
_STAR = "*"
_MARKED = "\0"
"""Marks, inside a segment that is being put together, where a wildcard stands."""


@dataclass(frozen=True, slots=True)
class _State:
    """A pattern that is read up to some token.

    Attributes:
        done: The segments that are closed.
        open: The characters of the segment that is not; wildcards are marked.
        number: The open segment is one number.
        up_to_dot: The last segment was closed by a run of characters that the next dot or the name's end follows.
    """

    done: Segments = ()
    open: str = ""
    number: bool = False
    up_to_dot: bool = False


def patterns_of(sequences: Iterable[Tokens]) -> tuple[Segments, ...]:
    """Return patterns that together match exactly the names that the sequences describe.

    Raises:
        InexpressibleError: No pattern can say one of them.
    """
    found = [segments for tokens in sequences for segments in _spelled(tokens)]
    kept = tuple(dict.fromkeys(found))
    for segments in kept:
        _check(segments)
    return kept


def _spelled(tokens: Tokens) -> Iterator[Segments]:
    states = [_State()]
    for token, after in zip(tokens, (*tokens[1:], "."), strict=True):
        if after == "." and token in (Token.ANYTHING, Token.SOMETHING):
            states = [_up_to_dot(state, token is Token.SOMETHING) for state in states]
        elif states and token == "." and states[0].up_to_dot:
            states = [replace(state, up_to_dot=False) for state in states]
        else:
            states = [later for state in states for later in _step(state, token)]
        if len(states) > MOST_SEQUENCES:
            raise InexpressibleError(f"it has more than {MOST_SEQUENCES} ways to cross segments")
    for state in states:
        closed = state if state.up_to_dot else _closed(state)
        if closed is not None and closed.done:
            yield _tidy(closed.done)


def _up_to_dot(state: _State, some: bool) -> _State:
    """Return the state after a run of characters that ends where a segment does, whatever dots it crosses."""
    if some and state.open:
        raise InexpressibleError("it asks for at least one character inside a segment")
    if not state.open:
        return _State((*state.done, _SOME), up_to_dot=True)
    if state.number:
        raise InexpressibleError("it has digits of any length inside a segment")
    return _State((*state.done, _segment(state.open + _MARKED), _REST), up_to_dot=True)


def _step(state: _State, token: str | Token) -> Iterator[_State]:
    match token:
        case ".":
            closed = _closed(state)
            if closed is not None:
                yield closed
        case Token.ANYTHING:
            yield from _anything(state)
        case Token.SOMETHING:
            yield from _anything(_needing(state))
        case _:
            yield _inside(state, token)


def _inside(state: _State, token: str | Token) -> _State:
    """Return the state after a token that stays in the open segment."""
    if state.number or (state.open and token is Token.NUMBER):
        raise InexpressibleError("it has digits of any length inside a segment")
    match token:
        case Token.NUMBER:
            return replace(state, open=_NUMBER, number=True)
        case Token.PART:
            return _needing(state)
        case str():
            return _with(state, token)
    return _with(state, _MARKED)


def _with(state: _State, more: str) -> _State:
    return replace(state, open=state.open + more)


def _needing(state: _State) -> _State:
    """Return the state after at least one more character, where the segment would be empty without."""
    if state.open:
        raise InexpressibleError("it asks for at least one character inside a segment")
    return replace(state, open=_MARKED)


def _anything(state: _State) -> Iterator[_State]:
    """Yield the states after any run of characters, one that stays in the segment and one that crosses dots."""
    if not state.open:
        # At a segment's start both come to the same: any segments, then one that ends as the text goes on.
        yield _State((*state.done, _REST), _MARKED)
        return
    if state.number:
        raise InexpressibleError("it has digits of any length inside a segment")
    yield _with(state, _MARKED)
    yield _State((*state.done, _segment(state.open + _MARKED), _REST), _MARKED)


def _closed(state: _State) -> _State | None:
    """Return the state behind the open segment's end; None where the segment would be empty."""
    if not state.open:
        return None
    return _State((*state.done, _NUMBER if state.number else _segment(state.open)))


def _segment(text: str) -> str:
    if set(text) == {_MARKED}:
        return _ONE
    plain = text.replace(_MARKED, "")
    if all(map(is_bare, plain)):
        while _MARKED * 2 in text:
            text = text.replace(_MARKED * 2, _MARKED)
        return text.replace(_MARKED, _STAR)
    if plain != text or not all(map(is_quotable, text)):
        raise InexpressibleError("a name in it holds characters that a pattern cannot spell beside a wildcard")
    return f'"{text}"'


def _tidy(segments: Segments) -> Segments:
    """Write ``**.?`` and ``?.**`` as ``*``, and ``**`` only once in a row."""
    found: list[str] = []
    for segment in segments:
        pair = {found[-1], segment} if found else set()
        if pair == {_REST}:
            continue
        if pair in ({_REST, _ONE}, {_REST, _SOME}):
            found[-1] = _SOME
        else:
            found.append(segment)
    return tuple(found)


def _check(segments: Segments) -> None:
    try:
        Pattern.parse(".".join(segments))
    except PatternError as error:
        raise InexpressibleError(f"no pattern can say it: {error.message}") from None
