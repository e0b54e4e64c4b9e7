"""One entry of a native list, as one engine compares it with names, in patterns of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from qpolicy.analysis.entries.fold import folded
from qpolicy.analysis.entries.spell import Segments, patterns_of
from qpolicy.analysis.entries.tokens import InexpressibleError, Parsed, Token, Tokens, parse_glob, parse_regex
from qpolicy.native import Entry
from qpolicy.native.records import Clause, Record

_ANY = Token.ANYTHING


@dataclass(frozen=True, slots=True)
class Translation:
    """An entry in patterns.

    Attributes:
        patterns: The patterns, as text; empty where none can say it.
        exact: Whether they match just the names that the entry fits.
        why: Why they do not, in words.
    """

    patterns: tuple[str, ...]
    exact: bool
    why: str = ""


def translate(entry: Entry, record: Record) -> Translation:
    """Say in patterns which names an entry fits.

    Fused layers and experts are not looked at: what a pattern matches and what an entry fits are both single names.

    Args:
        entry: The entry.
        record: How the engine reads it.
    """
    clause = clause_for(entry.text, record)
    if clause is None:
        return Translation((), False, "the engine never compares it with anything")
    try:
        parsed = [_OPERATORS[operator](entry.text.removeprefix(clause.prefix), clause) for operator in clause.operators]
        patterns = tuple(segments for one in parsed for segments in patterns_of(one.sequences))
    except KeyError as error:
        return Translation((), False, f"the operator {error} has no pattern")
    except InexpressibleError as error:
        return Translation((), False, str(error))
    exact = all(one.exact for one in parsed)
    return Translation(
        folded(widened(_needed(patterns))), exact, "" if exact else "its free characters are taken for dots"
    )


def widened(patterns: Iterable[Segments]) -> list[Segments]:
    """Write a pattern and the same behind or before other segments as one pattern, with ``**``."""
    found = dict.fromkeys(one for one in patterns if not any(map(_never_written, one)))
    for end in (0, -1):
        for one in [one for one in found if one[end] == "*" and len(one) > 1]:
            core = one[1:] if end == 0 else one[:-1]
            if core in found:
                del found[one], found[core]
                found[("**", *core) if end == 0 else (*core, "**")] = None
    return list(found)


def _never_written(segment: str) -> bool:
    """Whether a segment is a number with a zero before it: no module is called so."""
    return len(segment) > 1 and segment[0] == "0" and segment.isdecimal()


def clause_for(text: str, record: Record) -> Clause | None:
    """Return the comparison that a reading uses for an entry, if any."""
    return next((clause for clause in record.clauses if text.startswith(clause.prefix)), None)


def _needed(patterns: tuple[Segments, ...]) -> list[Segments]:
    """Leave out what ``**`` before or behind another pattern covers."""
    found = dict.fromkeys(patterns)
    wide = [one for one in found if "**" in (one[0], one[-1])]
    return [one for one in found if not any(one != other and _covers(other, one) for other in wide)]


def _covers(wide: Segments, narrow: Segments) -> bool:
    core = wide[wide[0] == "**" : len(wide) - (wide[-1] == "**")]
    if wide[0] != "**":
        return narrow[: len(core)] == core
    if wide[-1] != "**":
        return narrow[-len(core) :] == core
    return any(narrow[at : at + len(core)] == core for at in range(len(narrow)))


def _equality(text: str, clause: Clause) -> Parsed:
    return Parsed((tuple(text),))


def _dotted_suffix(text: str, clause: Clause) -> Parsed:
    return Parsed((tuple(text), (_ANY, ".", *text)))


def _raw_suffix(text: str, clause: Clause) -> Parsed:
    return Parsed(((_ANY, *text),))


def _substring(text: str, clause: Clause) -> Parsed:
    return Parsed(((_ANY, *text, _ANY),))


def _segment_run(text: str, clause: Clause) -> Parsed:
    return Parsed(tuple(_run(tuple(text.rstrip(".")))))


def _run(text: Tokens) -> tuple[Tokens, ...]:
    return (text, (_ANY, ".", *text), (*text, ".", _ANY), (_ANY, ".", *text, ".", _ANY))


def _root_prefix(text: str, clause: Clause) -> Parsed:
    return Parsed((tuple(text), (*text, ".", _ANY)))


def _one_segment(text: str, clause: Clause) -> Parsed:
    return Parsed(tuple(_run(tuple(text))) if "." not in text else ())


def _regex(text: str, clause: Clause) -> Parsed:
    parsed = parse_regex(clause.options.get("before", "").removeprefix("(?:") + text)
    if not clause.options.get("after"):
        return parsed
    return Parsed(tuple(tokens for one in parsed.sequences for tokens in _bounded(one)), parsed.exact)


def _bounded(tokens: Tokens) -> list[Tokens]:
    """Return the sequences of an expression behind which a segment has to end, or has ended."""
    if tokens[-1:] != (_ANY,):
        return [tokens]
    inner = tokens[:-1]
    return [tokens] if inner[-1:] in ((), (".",), (_ANY,)) else [inner, (*inner, ".", _ANY)]


def _glob(text: str, clause: Clause) -> Parsed:
    return parse_glob(text)


_OPERATORS: Mapping[str, Callable[[str, Clause], Parsed]] = {
    "equality": _equality,
    "dotted-suffix": _dotted_suffix,
    "raw-suffix": _raw_suffix,
    "segment-run": _segment_run,
    "substring": _substring,
    "root-prefix": _root_prefix,
    "one-segment": _one_segment,
    "glob": _glob,
    "regex": _regex,
}
