"""Runs every example of the language reference; a block or table that no function here knows is a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from documents import ROOT, Block, Table, codes, pieces
from tiny_checkpoint import opened

import qpolicy
from qpolicy.bind import run_expectations
from qpolicy.bind.kleene import all_of, any_of
from qpolicy.checkpoint.draft import draft_patterns
from qpolicy.lang import PolicySyntaxError, Source, format_source, layout, script, set_checks, words
from qpolicy.lang.decode import MAX_SIZE
from qpolicy.paths import Pattern, braces, parser

PAGE = ROOT / "docs" / "language.md"
VERSION = "qpolicy 1\n\n"
TRUTHS = {"true": True, "false": False, "unknown": None}
LIMITS = {
    "size of a policy, in bytes": MAX_SIZE,
    "words and signs in a policy": layout.MAX_TOKENS,
    "depth of a condition": layout.MAX_NESTING,
    "sets between a set and its patterns": set_checks.MAX_SET_DEPTH,
    "patterns in a policy, with every set written out": set_checks.MAX_PATTERNS,
    "characters in a pattern": parser.MAX_CHARACTERS,
    "segments in a pattern": parser.MAX_SEGMENTS,
    "spellings of one segment": parser.MAX_SPELLINGS,
    "characters in all spellings of one segment": parser.MAX_SPELLED,
    "digits of an integer in braces": braces.MAX_DIGITS,
    "mistakes reported for one policy": script.MAX_ISSUES,
}


@dataclass(frozen=True)
class Example:
    """A block or table, the last policy and checkpoint above it, and the piece that follows."""

    piece: Block | Table
    policy: str = VERSION
    described: str = ""
    following: Block | Table | None = None

    def checkpoint(self, folder: Path) -> qpolicy.Checkpoint:
        return opened(folder / "checkpoint", self.described)

    def rows(self) -> tuple[tuple[str, ...], ...]:
        assert isinstance(self.piece, Table)
        return self.piece.rows

    def text(self) -> str:
        assert isinstance(self.piece, Block)
        return self.piece.text

    def expected_text(self) -> str:
        assert isinstance(self.following, Block)
        return self.following.text


def whole(text: str) -> str:
    return text if text.startswith("qpolicy") else VERSION + text


def examples() -> Iterator[Example]:
    found = pieces(PAGE)
    example = Example(found[0])
    for piece, following in zip(found, [*found[1:], None], strict=True):
        example = replace(example, piece=piece, following=following)
        if isinstance(piece, Block) and piece.tag == "qpolicy":
            example = replace(example, policy=whole(piece.text))
        elif isinstance(piece, Block) and piece.tag == "checkpoint":
            example = replace(example, described=piece.text)
        yield example


def is_canonical(example: Example, _: Path) -> None:
    qpolicy.parse(example.policy)
    assert format_source(Source("example", example.policy)) == example.policy


def becomes_the_next_block(example: Example, _: Path) -> None:
    assert format_source(Source("example", example.text())) == example.expected_text()


def is_refused_as_the_next_block_says(example: Example, _: Path) -> None:
    with pytest.raises(PolicySyntaxError) as refused:
        qpolicy.parse(example.text(), filename="model.qpolicy")
    assert f"{refused.value}\n" == example.expected_text()


def is_the_text_of_an_error(example: Example, _: Path) -> None:
    above = [other.following for other in ALL if isinstance(other.piece, Block) and other.piece.tag == "qpolicy-error"]
    assert example.piece in above


def opens(example: Example, folder: Path) -> None:
    checkpoint = example.checkpoint(folder)
    assert checkpoint.modules and not checkpoint.problems


def patterns_match(example: Example, _: Path) -> None:
    for written, matching, others in example.rows():
        pattern = Pattern.parse(*codes(written))
        assert {name for name in codes(matching + others) if pattern.matches(name)} == set(codes(matching))


def segments_parse(example: Example, _: Path) -> None:
    for segment in (code for row in example.rows() for code in codes(row[0])):
        assert Pattern.parse(f"model.{segment}").elements[1:] == Pattern.parse(segment).elements


def mtp_holds(example: Example, _: Path) -> None:
    layers = "2"
    written = {pattern.replace("N", layers): present for cell, present in example.rows() for pattern in codes(cell)}
    assert tuple(written) == draft_patterns(int(layers), 1)
    assert tuple(pattern for pattern, present in written.items() if present == "always") == draft_patterns(None, 0)


def decisions_parse(example: Example, _: Path) -> None:
    for decision in (code for row in example.rows() for code in codes(row[0])):
        qpolicy.parse(f"{VERSION}**: {decision}")


def facts_parse(example: Example, _: Path) -> None:
    for fact in (code for row in example.rows() for code in codes(row[0])):
        qpolicy.parse(f"{VERSION}let NAME = **\nwhen {fact}: native")


def truths_hold(example: Example, _: Path) -> None:
    for row in example.rows():
        a, b, both, either = (TRUTHS[cell] for cell in row)
        assert (all_of([a, b]), any_of([a, b])) == (both, either)


def decides(example: Example, folder: Path) -> None:
    checkpoint = example.checkpoint(folder)
    for asker, name, outcome, by in example.rows():
        matcher = qpolicy.parse(example.policy).bind(checkpoint, draft={"draft": True, "target": False}[asker])
        decision = matcher.decide(*codes(name))
        rule = "no rule" if decision.rule is None else f"`{decision.rule.text}`"
        assert (name, f"`{decision.outcome}`", rule) == (name, outcome, by)


def stands_for(example: Example, folder: Path) -> None:
    checkpoint = example.checkpoint(folder)
    for asker, name, members in example.rows():
        matcher = qpolicy.parse(VERSION).bind(checkpoint, draft={"draft": True, "target": False}[asker])
        assert (name, list(matcher.members(*codes(name)))) == (name, codes(members))


def expectations_hold(example: Example, folder: Path) -> None:
    results = run_expectations(qpolicy.parse(example.policy), example.checkpoint(folder))
    met: dict[str, bool] = {}
    for result in results:
        met[result.text] = met.get(result.text, True) and result.met
    assert [(f"`{text}`", "yes" if held else "no") for text, held in met.items()] == [*example.rows()]


def words_are_reserved(example: Example, _: Path) -> None:
    assert tuple(code for row in example.rows() for code in codes(row[0])) == words.RESERVED
    for bare, quoted in ((*codes(row[0]), *codes(row[1])) for row in example.rows()):
        assert qpolicy.parse(f"{VERSION}{quoted}, {bare}.x, {bare}s: native")
        with pytest.raises(PolicySyntaxError):
            qpolicy.parse(f"{VERSION}a, {bare}: native")


def limits_hold(example: Example, _: Path) -> None:
    assert dict(example.rows()) == {what: f"{most:,}" for what, most in LIMITS.items()}


CHECKS: dict[str | tuple[str, ...], Callable[[Example, Path], None]] = {
    "qpolicy": is_canonical,
    "qpolicy-loose": becomes_the_next_block,
    "qpolicy-error": is_refused_as_the_next_block_says,
    "text": is_the_text_of_an_error,
    "checkpoint": opens,
    ("pattern", "matches", "does not match"): patterns_match,
    ("segment", "stands for"): segments_parse,
    ("pattern in `@mtp`", "present"): mtp_holds,
    ("decision", "means"): decisions_parse,
    ("fact", "true when", "unknown when"): facts_parse,
    ("a", "b", "`a and b`", "`a or b`"): truths_hold,
    ("asked by", "name", "outcome", "decided by"): decides,
    ("asked by", "name", "stands for"): stands_for,
    ("expectation", "holds"): expectations_hold,
    ("reserved word", "written as a pattern"): words_are_reserved,
    ("limit", "at most"): limits_hold,
}
ALL = list(examples())


@pytest.mark.parametrize("example", ALL, ids=lambda example: f"line {example.piece.line}")
def test_the_language_reference(example: Example, tmp_path: Path) -> None:
    piece = example.piece
    check = CHECKS.get(piece.tag if isinstance(piece, Block) else piece.header)
    assert check is not None, f"{PAGE.name}:{piece.line}: nothing here executes this block or table"
    check(example, tmp_path)


def test_every_check_is_used() -> None:
    kinds = {each.piece.tag if isinstance(each.piece, Block) else each.piece.header for each in ALL}
    assert set(CHECKS) == kinds
