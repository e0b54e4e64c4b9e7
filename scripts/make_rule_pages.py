"""Writes docs/rules: a page for each code of a finding, and their list.

Run it after a change to a code or its page. The texts are those of the findings' own modules.
"""

from __future__ import annotations

from pathlib import Path

from qpolicy.lint.catalog import every_code
from qpolicy.lint.check import Code
from qpolicy.lint.pages import markdown

FOLDER = Path(__file__).parents[1] / "docs" / "rules"

_HEAD = """\
# The findings

Written by `scripts/make_rule_pages.py`; `qpolicy rule CODE` prints the same pages. What the columns mean is said in
[checking.md](../checking.md).

"""
_GROUPS = {
    "QP0": "The policy's text",
    "QP1": "The policy alone",
    "QP2": "The policy and the tensors",
    "QP3": "The checkpoint's list",
    "QP4": "The engine",
}


def pages() -> dict[str, str]:
    """Return the text of each file in the folder, by its name."""
    return {"README.md": _index(), **{f"{code.code}.md": markdown(code) for code in every_code()}}


def _index() -> str:
    return _HEAD + "\n".join(_section(prefix, title) for prefix, title in _GROUPS.items())


def _section(prefix: str, title: str) -> str:
    rows = [_row(code) for code in every_code() if code.code.startswith(prefix)]
    return "\n".join(
        [f"## {title}", "", "| code | name | usually | `--fix` | found when |", "|---|---|---|---|---|", *rows, ""]
    )


def _row(code: Code) -> str:
    fix = code.page.safety if code.page else "manual"
    return f"| [{code.code}]({code.code}.md) | `{code.name}` | {code.severity} | {fix} | {code.summary} |"


def main() -> None:
    """Write the folder anew."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
