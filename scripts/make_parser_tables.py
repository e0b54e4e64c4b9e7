"""Writes grammar/qpolicy.tables.json: the parser's tables, worked out ahead so that no command has to.

Run it after a change to the grammar or with another version of lark. Without this file, or with one that does not fit,
qpolicy works them out each time.
"""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path

from lark import __version__

from qpolicy.lang.grammar import TABLES, built, fingerprint

FILE = Path(__file__).parents[1] / "grammar" / TABLES


def text() -> str:
    """Return the content of the file."""
    saved = io.BytesIO()
    built().save(saved, exclude_options=("postlex", "lexer_callbacks"))
    tables = pickle.loads(saved.getvalue())
    return json.dumps({"lark": __version__, "grammar": fingerprint(), **tables}, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
