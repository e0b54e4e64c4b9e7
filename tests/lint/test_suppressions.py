"""Comments that suppress findings, and those that suppress nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import compressed, small_checkpoint

import qpolicy
from qpolicy.lang import Source, format_source
from qpolicy.lang.comments import comments
from qpolicy.lint.alone import lint_text
from qpolicy.lint.fixing import mended
from qpolicy.lint.run import run_checks
from qpolicy.lint.selection import EVERYTHING, Selection
from qpolicy.lint.settle import Settled

FILE = "model.qpolicy"


def settled(text: str, selection: Selection = EVERYTHING) -> Settled:
    return lint_text(f"qpolicy 1\n{text}\n", FILE, selection)


def told(text: str, selection: Selection = EVERYTHING) -> list[str]:
    return [f"{one.line} {one.code}" for one in settled(text, selection).findings]


@pytest.mark.parametrize(
    "text",
    [
        "let a = x  # qpolicy: ignore[QP106]",
        "let a = x  # qpolicy: ignore[unused-set]",
        "let a = x  # qpolicy:ignore[ QP101 , QP106 ] for the next release # qpolicy: ignore-file[QP120]",
        "# qpolicy: ignore[QP106]\nlet a = x",
        "# why\n# qpolicy: ignore[QP106]\n# because\nlet a = x",
        "let a = x,\n    y  # qpolicy: ignore[QP106]",
        "let a = x,  # qpolicy: ignore[QP106]\n    y",
        "# qpolicy: ignore-file[QP106]\n\nlm_head: native\nlet a = x",
        "let a = x\n# qpolicy: ignore-file[QP106]",
        "let a = x  # TODO # qpolicy: ignore[QP106]",
    ],
)
def test_a_finding_is_suppressed(text: str) -> None:
    assert [finding.code for finding in settled(text).findings] == []
    assert settled(text).suppressed == 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("let a = x\n# qpolicy: ignore[QP106]", ["2 QP106", "3 QP120"]),
        ("# qpolicy: ignore[QP106]\n\nlet a = x", ["2 QP120", "4 QP106"]),
        ("let a = x,\n    # qpolicy: ignore[QP106]\n    y", ["2 QP106", "3 QP120"]),
        ("let a = x,\n    y,  # qpolicy: ignore[QP106]\n    z", ["2 QP106", "3 QP120"]),
        ("let a = x  # qpolicy: ignore[QP101]", ["2 QP106", "2 QP120"]),
        ("let a = x  # qpolicy: ignore", ["2 QP106", "2 QP120"]),
        ("let a = x  # qpolicy: ignore[]", ["2 QP106", "2 QP120"]),
        ("let a = x  # qpolicy: ignroe[QP106]", ["2 QP106", "2 QP120"]),
        ("let a = x  # ignore[QP106]", ["2 QP106"]),
        ("let a = x  # qpolicy: the language", ["2 QP106"]),
    ],
)
def test_a_finding_is_not_suppressed(text: str, left: list[str]) -> None:
    assert sorted(told(text)) == left


@pytest.mark.parametrize(
    ("comment", "message", "mended_to"),
    [
        ("# qpolicy: ignore[QP101]", "QP101 is not found here", ""),
        ("# qpolicy: ignore[QP101, QP102]", "QP101 is not found here; QP102 is not found here", ""),
        ("# qpolicy: ignore[QP999]", "there is no code 'QP999'; `qpolicy rule` lists them", ""),
        ("# qpolicy: ignore[QP004]", "QP004 is a syntax error, which cannot be suppressed", ""),
        ("# why # qpolicy: ignore[QP101]", "QP101 is not found here", "  # why"),
        ("# qpolicy: ignore[QP101] because", "QP101 is not found here", "  # because"),
    ],
)
def test_what_suppresses_nothing_is_found_and_removed(comment: str, message: str, mended_to: str) -> None:
    text = f"qpolicy 1\nlm_head: native  {comment}\n"
    (finding,) = lint_text(text, FILE, EVERYTHING).findings
    assert (finding.code, finding.severity, finding.message) == ("QP120", "warning", message)
    fixed = mended(text, lambda text: lint_text(text, FILE, EVERYTHING), unsafe=False)
    assert fixed.text == f"qpolicy 1\nlm_head: native{mended_to}\n"


def test_of_several_codes_only_those_of_no_use_are_removed() -> None:
    text = "qpolicy 1\nlet a = x  # qpolicy: ignore[QP101, QP106, nonsense] because\n"
    fixed = mended(text, lambda text: lint_text(text, FILE, EVERYTHING), unsafe=False)
    assert fixed.text == "qpolicy 1\nlet a = x  # qpolicy: ignore[QP106] because\n"


def test_a_line_that_held_only_a_suppression_goes() -> None:
    text = "qpolicy 1\n\n# qpolicy: ignore[QP101]\nlm_head: native\n# qpolicy: ignore-file[QP101]"
    fixed = mended(text, lambda text: lint_text(text, FILE, EVERYTHING), unsafe=False)
    assert fixed.text == "qpolicy 1\n\nlm_head: native\n"


def test_what_is_not_wanted_is_not_called_unused() -> None:
    text = "lm_head: native  # qpolicy: ignore[QP101]"
    assert told(text, Selection(ignore=("QP101",))) == []
    assert told(text, Selection(select=("QP3",))) == []
    assert told(text, Selection(ignore=("QP120",))) == []
    assert told(text) == ["2 QP120"]


def test_lint_does_not_judge_what_only_a_checkpoint_can_show() -> None:
    assert told("lm_head: native  # qpolicy: ignore[QP205]") == []


def checked(folder: Path, text: str) -> tuple[list[tuple[str, str]], int]:
    checkpoint = small_checkpoint(folder, {"lm_head": "plain", "a.up_proj": "packed"}, compressed(["lm_head"]))
    report = run_checks(checkpoint, qpolicy.parse(f"qpolicy 1\n{text}\n", filename=FILE))
    return [(finding.code, finding.severity) for finding in report.findings], report.suppressed


def test_check_suppresses_what_points_into_the_policy(tmp_path: Path) -> None:
    assert checked(tmp_path, "b.c: native") == ([("QP205", "warning")], 0)
    assert checked(tmp_path, "b.c: native  # qpolicy: ignore[QP205]") == ([], 1)


def test_check_remarks_on_what_suppresses_nothing_in_this_checkpoint(tmp_path: Path) -> None:
    assert checked(tmp_path, "lm_head: native  # qpolicy: ignore[QP205]") == ([("QP120", "info")], 0)
    assert checked(tmp_path, "lm_head: native  # qpolicy: ignore[QP101, nonsense]") == ([], 0)


def test_findings_about_the_list_are_not_suppressed_by_comments(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, {"lm_head": "plain"}, compressed(["lm_head", "nowhere"]))
    policy = qpolicy.parse("qpolicy 1\n# qpolicy: ignore-file[QP301]\n", filename=FILE)
    assert {finding.code for finding in run_checks(checkpoint, policy).findings} == {"QP301", "QP120"}
    left = run_checks(checkpoint, policy, selection=Selection(ignore=("QP301",))).findings
    assert [finding.code for finding in left] == []


@pytest.mark.parametrize(
    "text",
    [
        "qpolicy 1\n\n# qpolicy: ignore[QP106]\nlet   a = x,y\n",
        "qpolicy 1\n\nlet a = x,y # qpolicy: ignore[QP106]\n",
        f"qpolicy 1\n\nlet a = {', '.join(f'model.layers.{n}.mlp' for n in range(20))} # qpolicy: ignore[QP106]\n",
    ],
)
def test_formatting_keeps_what_is_suppressed(text: str) -> None:
    formatted = format_source(Source(FILE, text))
    assert formatted != text
    for each in (text, formatted):
        assert lint_text(each, FILE, EVERYTHING) == Settled((), 1)


def test_comments_know_their_lines() -> None:
    text = "# a\nqpolicy 1 # b\n\n# c\n\n# d\n# e\nlet x = a, # f\n  # g\n  b # h\n# i\n"
    lines = {comment.text: (comment.alone, comment.lines) for comment in comments(Source(FILE, text))}
    assert lines == {
        "# a": (True, (2, 2)),
        "# b": (False, (2, 2)),
        "# c": (True, None),
        "# d": (True, (8, 10)),
        "# e": (True, (8, 10)),
        "# f": (False, (8, 8)),
        "# g": (True, (10, 10)),
        "# h": (False, (8, 10)),
        "# i": (True, None),
    }
