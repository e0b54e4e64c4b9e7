"""Every kind of mistake is named at its place, with its fix."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from qpolicy.lang import PolicySyntaxError, Source, SyntaxIssue, parse
from qpolicy.lang.codes import CODES
from qpolicy.lang.grammar import grammar
from qpolicy.lang.mistakes import LAST_RESORTS, MISTAKES, Mistake

FIXTURE = Path(__file__).with_name("malformed.txt")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|([tr0]))")
SHORT = {"t": "\t", "r": "\r", "0": "\0"}


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    issues: tuple[str, ...]


def unescaped(text: str) -> str:
    return ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else SHORT[found[2]], text)


def cases() -> list[Case]:
    found = []
    for block in re.split(r"^=== ", FIXTURE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        text, _, issues = ("\n" + rest).partition("\n---\n")
        found.append(Case(name, unescaped(text[1:]), tuple(issues.strip().splitlines())))
    return found


CASES = cases()


def issues_of(text: str) -> tuple[SyntaxIssue, ...]:
    with pytest.raises(PolicySyntaxError) as caught:
        parse(Source("p.qpolicy", text))
    return caught.value.errors


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_mistake_is_named_at_its_place(case: Case) -> None:
    rendered = [issue.render() for issue in issues_of(case.text)]
    assert len(rendered) == len(case.issues), "\n\n".join(rendered)
    for text, wanted in zip(rendered, case.issues, strict=True):
        place, *pieces = wanted.split(" | ")
        code, _, position = place.partition(" ")
        assert text.startswith(f"p.qpolicy:{position}: {code} ")
        for piece in pieces:
            assert piece in text, text


def test_every_code_has_a_case() -> None:
    covered = {issue.split()[0] for case in CASES for issue in case.issues}
    assert covered | {"QP015"} == {code.code for code in CODES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messages_never_name_a_terminal(case: Case) -> None:
    terminals = {terminal.name for terminal in grammar().terminals} - {"ERROR", "NATIVE"}
    for issue in issues_of(case.text):
        said = " ".join([issue.message, issue.hint or "", *issue.expected])
        assert not terminals & set(re.findall(r"[A-Z_$]{2,}", said)), said


@pytest.mark.parametrize("row", (*MISTAKES, *LAST_RESORTS), ids=lambda row: row.example)
def test_each_row_explains_its_example(row: Mistake) -> None:
    (issue,) = issues_of(f"qpolicy 1\n{row.example}")
    assert issue.code == row.code
    assert issue.message.startswith(row.message.split("$")[0])
