"""What is found in the examples of the findings' pages."""

from __future__ import annotations

from pathlib import Path

from tiny_checkpoint import opened

import qpolicy
from qpolicy.lint.alone import lint_text
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.run import run_checks
from qpolicy.lint.selection import EVERYTHING

FILE = "model.qpolicy"


def page_of(code: Code) -> Page:
    """The page of a code that has one, which is every code."""
    assert code.page is not None
    return code.page


def found(example: Example, folder: Path) -> tuple[Finding, ...]:
    """What an example holds: found in its policy alone, or with its checkpoint, which is written into a folder."""
    if example.checkpoint is None:
        assert example.policy is not None
        return lint_text(example.policy, FILE, EVERYTHING).findings
    policy = None if example.policy is None else qpolicy.parse(example.policy, filename=FILE)
    return run_checks(opened(folder, example.checkpoint), policy, engine=example.engines).findings
