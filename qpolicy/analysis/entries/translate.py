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
    clauses = clauses_for(entry, record)
    if not clauses:
        return Translation((), False, "the engine never compares it with anything")
    try:
        parsed = [_parsed(operator, entry, clause) for clause in clauses for operator in clause.operators]
        patterns = tuple(segments for one in parsed for segments in patterns_of(one.sequences))
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


def clauses_for(entry: Entry, record: Record) -> tuple[Clause, ...]:
    """Return the comparisons that a reading uses for an entry: of each set, the first that is for it."""
    sets = (record.clauses, record.pattern_clauses, *(tier.clauses for tier in record.tiers))
    found = (next((clause for clause in one if _is_for(clause, entry)), None) for one in sets)
    return tuple(clause for clause in found if clause is not None)


def _is_for(clause: Clause, entry: Entry) -> bool:
    return entry.text.startswith(clause.prefix) and clause.key in ("", entry.key)


def _parsed(operator: str, entry: Entry, clause: Clause) -> Parsed:
    if operator not in _OPERATORS:
        raise InexpressibleError(f"no pattern compares as the engine does here ({operator})")
    parsed = _OPERATORS[operator](entry.text.removeprefix(clause.prefix), clause)
    scope = clause.options.get("scope", "")
    if not scope:
        return parsed
    if scope != "ancestors":
        raise InexpressibleError(f"the engine compares something else than names here ({scope})")
    below = tuple((*tokens, ".", _ANY) for tokens in parsed.sequences)
    return Parsed((*parsed.sequences, *below), parsed.exact)


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
    return Parsed(((_ANY, *text, *clause.options.get("after", ""), _ANY),))


def _segment_run(text: str, clause: Clause) -> Parsed:
    kept = clause.options.get("trailing") == "kept"
    return Parsed(_run(tuple(text if kept else text.rstrip("."))))


def _run(text: Tokens) -> tuple[Tokens, ...]:
    return (text, (_ANY, ".", *text), (*text, ".", _ANY), (_ANY, ".", *text, ".", _ANY))


def _raw_prefix(text: str, clause: Clause) -> Parsed:
    return Parsed(((*text, _ANY),))


def _regex(text: str, clause: Clause) -> Parsed:
    text = text[clause.options.get("passed_over", 0) :]
    mode = clause.options.get("mode", "match")
    parsed = parse_regex(text, whole=mode == "fullmatch")
    if mode == "search" and not text.startswith("^"):
        parsed = Parsed(tuple((_ANY, *tokens) for tokens in parsed.sequences), parsed.exact)
    if not clause.options.get("after"):
        return parsed
    return Parsed(tuple(tokens for one in parsed.sequences for tokens in _bounded(one)), parsed.exact)


def _wildcard(text: str, clause: Clause) -> Parsed:
    parsed = parse_regex(text.replace(".", r"\.").replace("*", ".*"), whole=True)
    also = tuple(clause.options.get("also_without", ""))
    return Parsed((*parsed.sequences, *((*also, *tokens) for tokens in parsed.sequences if also)), parsed.exact)


def _wildcard_segment(text: str, clause: Clause) -> Parsed:
    """Return what an entry fits that is compared with each segment alone; ``*`` then stays inside it."""
    parsed = parse_regex(text.replace(".", r"\.").replace("*", "[^.]*"), whole=True)
    inside = [tokens for tokens in parsed.sequences if "." not in tokens]
    return Parsed(tuple(found for tokens in inside for found in _run(tokens)), parsed.exact)


def _tail(text: str, clause: Clause) -> Parsed:
    leaf = text.rpartition(".")[2]
    inside = (Token.WITHIN, *leaf, Token.WITHIN)
    return Parsed((inside, (_ANY, ".", *inside)) if leaf in clause.options["tails"] else ())


def _starred_glob(text: str, clause: Clause) -> Parsed:
    return parse_glob(text) if "*" in text else Parsed(())


def _glob_of_parent(text: str, clause: Clause) -> Parsed:
    return parse_glob(text.removesuffix(".*")) if text.endswith(".*") else Parsed(())


def _leaf(text: str, clause: Clause) -> Parsed:
    return _dotted_suffix(text, clause) if "." not in text else Parsed(())


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
    "raw-prefix": _raw_prefix,
    "segment-run": _segment_run,
    "leaf": _leaf,
    "substring": _substring,
    "starred-glob": _starred_glob,
    "glob": _glob,
    "glob-of-parent": _glob_of_parent,
    "regex": _regex,
    "other-regex": _regex,
    "wildcard": _wildcard,
    "wildcard-segment": _wildcard_segment,
    "tail": _tail,
}
"""What an entry fits, by each operator of the readings that a pattern can follow."""
