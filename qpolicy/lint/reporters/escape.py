"""Makes text that comes from strangers' files safe to show in a terminal."""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    r"""Return text on one line, what a terminal would not print written as ``\n``, ``\x1b`` or ``\u202e``."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def escape_lines(text: str) -> str:
    """Return text with its line ends kept and every other unprintable character escaped."""
    return "\n".join(escape(line) for line in text.split("\n"))


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
