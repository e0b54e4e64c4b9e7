"""Colour for text reports: a style is a word, and without colour it changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Paint: TypeAlias = Callable[[str, str], str]
"""Takes text and the name of a style, and returns the text in that style."""

# Select Graphic Rendition codes of ECMA-48, the ones that every terminal has.
STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "good": "32",
    "strong": "1",
    "quiet": "2",
}


def plain(text: str, style: str) -> str:
    """Return the text as it is."""
    return text


def coloured(text: str, style: str) -> str:
    """Return the text in the style's colour; it must hold no control characters of its own."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m"
