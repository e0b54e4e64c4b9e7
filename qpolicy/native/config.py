"""What a checkpoint's ``quantization_config`` says, as a value that every reading starts from.

Nothing here judges how an engine reads the lists; it only says which strings were published, and where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qpolicy.errors import QPolicyError


class NativeConfigError(QPolicyError):
    """A ``quantization_config`` is malformed; the message names the key, what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One string of a published list.

    Attributes:
        text: The string as published.
        where: Its place, such as ``quantization_config.ignore[3]``.
        key: The list's own key, such as ``ignore``.
    """

    text: str
    where: str
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """One scheme of a config together with the strings that choose modules for it.

    Attributes:
        name: The published name: a ``config_groups`` key, a ``layer_quant_config`` pattern, or ``global``.
        role: ``group``, ``layer``, ``type``, ``rule`` or ``global``: how modules come to it. Rules are tried in their
            order, and one that does not quantize excludes what it decides.
        targets: The strings that choose modules (module names, patterns or class names).
        quantizes: False when the scheme leaves the weights alone.
        arguments: The scheme's content; two groups with equal arguments are one scheme to an engine.
    """

    name: str
    role: str
    targets: tuple[Entry, ...]
    quantizes: bool
    arguments: Any


@dataclass(frozen=True, slots=True, eq=False)
class NativeConfig:
    """A published quantization config, independent of any engine.

    Attributes:
        dialect: A dialect's name such as ``compressed-tensors`` or ``fp8``, or ``unknown:METHOD`` for one that is not
            read.
        method: ``quant_method`` as published (``modelopt`` when only a ``quant_algo`` is given).
        format: The compressed-tensors format or the fp8 ``fmt``, if given.
        entries: Every string of every exclusion list, in published order.
        schemes: The names that ``quantized as NAME`` may use.
        groups: The schemes with their targets, in published order.
        lists: The exclusion lists' keys that are present, those that hold ``null`` included.
        included: Every string of the lists that name what is quantized; what they do not cover is left alone.
        raw: The config itself.
        variant: Which of several kinds of configs of this dialect it is, where engines read them differently; else "".
        section: It is a section of a file of its own, such as ``hf_quant_config.json: quantization``, not of
            ``config.json``.
    """

    dialect: str
    method: str
    format: str | None
    entries: tuple[Entry, ...]
    schemes: tuple[str, ...]
    groups: tuple[Group, ...] = ()
    lists: tuple[str, ...] = ()
    included: tuple[Entry, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    variant: str = ""
    section: bool = False


def read_config(quantization: Mapping[str, Any], where: str = "quantization_config") -> NativeConfig:
    """Read a published quantization config.

    Args:
        quantization: The object found under ``quantization_config`` or in a sidecar file.
        where: How messages and entries name it.

    Returns:
        The config; of a dialect that is not known, only the method's name, for a list whose meaning is unknown
        must not be guessed.

    Raises:
        NativeConfigError: A known key holds something else than its dialect allows.
    """
    # The models take longer to import than many a command to run, and not every command reads a config.
    from qpolicy.native.reader import read  # noqa: PLC0415

    return read(quantization, where)
