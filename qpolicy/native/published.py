"""What the pydantic models of all dialects share; each dialect has its own module in `qpolicy.native.dialects`.

The models are tolerant of what checkpoints really carry: a list may be missing or ``null``, keys that nobody here
reads are passed over, and the method's name has several spellings. What is *not* tolerated is a known key of a wrong
type: a list whose meaning would have to be guessed.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, StrictStr, ValidationError

from qpolicy.native.config import Group

__all__ = ["Names", "Published", "Scheme", "ValidationError", "complaint", "describe", "is_too_deep"]

Names = list[StrictStr] | None
Scheme = dict[str, Any]

# A list of a million numbers is one mistake, not a million.
_SHOWN = 10
_DEEPEST = 30


class Published(BaseModel):
    """A published config of one dialect.

    Attributes:
        DIALECT: The dialect's name.
        METHODS: The spellings of ``quant_method`` that mean it, in lower case.
        LISTS: The keys under which its exclusion lists are published, in reading order.
        RULES: The keys of maps whose names choose a scheme or none at all; see the role ``rule`` of a `Group`.
        INCLUDED: The keys of lists that name what is quantized.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    DIALECT: ClassVar[str] = ""
    METHODS: ClassVar[tuple[str, ...]] = ()
    LISTS: ClassVar[tuple[str, ...]] = ()
    RULES: ClassVar[tuple[str, ...]] = ()
    INCLUDED: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def claims(cls, method: str, quantization: Mapping[str, Any]) -> bool:
        """Tell whether a config with this method is of this dialect."""
        return method.lower() in cls.METHODS

    @classmethod
    def is_section(cls, quantization: Mapping[str, Any], where: str) -> bool:
        """Tell whether a config is a section of a file of its own, where engines read that differently."""
        return False

    def variant(self, method: str) -> str:
        """Return which of several kinds of configs of this dialect it is, where engines read them differently."""
        return ""

    @property
    def format_name(self) -> str | None:
        """The published name of the weights' format, if the dialect has one."""
        return None

    def lists(self) -> Iterable[tuple[str, list[str]]]:
        """Yield each exclusion list that holds something, with its key."""
        return ((key, getattr(self, key) or []) for key in self.LISTS)

    def included(self) -> Iterable[tuple[str, list[str]]]:
        """Yield each list of what is quantized, with its key; a dialect without one quantizes all that it can."""
        return ()

    def groups(self, where: str) -> list[Group]:
        """Return the schemes with their targets, in published order.

        Args:
            where: How targets name the config.
        """
        return [Group(self.DIALECT, "global", (), True, None)]

    def schemes(self, groups: Iterable[Group]) -> tuple[str, ...]:
        """Return the names that ``quantized as NAME`` may use."""
        return tuple(group.name for group in groups if group.role == "group")


def is_too_deep(published: object) -> bool:
    """Tell whether a config is nested more deeply than any that is meant seriously."""
    level = [published]
    for _ in range(_DEEPEST):
        inner = [
            part.values() if isinstance(part, Mapping) else part for part in level if isinstance(part, Mapping | list)
        ]
        level = [item for part in inner for item in part]
        if not level:
            return False
    return True


def describe(error: ValidationError, where: str) -> str:
    """Write the first faults that pydantic found, one a line, each with its full path."""
    faults = error.errors(include_url=False)
    lines = [complaint(where + _path(fault["loc"]), _wanted(fault), fault["input"]) for fault in faults[:_SHOWN]]
    return "\n".join(lines + [f"and {len(faults) - _SHOWN} more"] * (len(faults) > _SHOWN))


def complaint(where: str, wanted: str, found: object) -> str:
    """Write one fault: the place, what was expected, what is there, and the fix."""
    # Bounded in depth as well as in length: what was found may be hostile.
    shown = reprlib.repr(found)
    return f"{where}: expected {wanted}, found {shown} ({type(found).__name__}); correct the checkpoint's config file"


def _path(parts: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _wanted(fault: Mapping[str, Any]) -> str:
    kinds = {
        "string_type": "a string",
        "list_type": "a list of strings, or null",
        "dict_type": "an object, or null",
        "model_type": "an object",
    }
    return kinds.get(str(fault["type"]), str(fault["msg"]).removeprefix("Input should be ").lower())
