"""What a checkpoint's ``quantization_config`` says, as a value that every reading starts from.

Nothing here judges how an engine reads the lists; it only says which strings were published, and where.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qpolicy.errors import QPolicyError
from qpolicy.native import published
from qpolicy.native.arguments import weight_arguments

UNKNOWN = "unknown:"


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
        role: ``group``, ``layer``, ``type`` or ``global``: how modules come to it.
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
        dialect: ``compressed-tensors``, ``quark``, ``fp8``, or ``unknown:METHOD`` for one that is not read yet.
        method: ``quant_method`` as published (``modelopt`` when only a ``quant_algo`` is given).
        format: The compressed-tensors format or the fp8 ``fmt``, if given.
        entries: Every string of every exclusion list, in published order.
        schemes: The names that ``quantized as NAME`` may use.
        groups: The schemes with their targets, in published order.
        lists: The exclusion lists' keys that are present, those that hold ``null`` included.
        raw: The config itself.
    """

    dialect: str
    method: str
    format: str | None
    entries: tuple[Entry, ...]
    schemes: tuple[str, ...]
    groups: tuple[Group, ...] = ()
    lists: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)


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
    if not isinstance(quantization, Mapping):
        raise NativeConfigError(published.complaint(where, "an object", quantization))
    if published.is_too_deep(quantization):
        raise NativeConfigError(f"{where}: its objects are nested too deeply; correct the checkpoint's config file")
    method = _method(quantization, where)
    dialect = published.dialect_of(method, quantization)
    model = published.MODELS.get(dialect)
    if model is None:
        return NativeConfig(UNKNOWN + dialect, method, None, (), (), raw=quantization)
    try:
        found = model.model_validate(dict(quantization))
    except published.ValidationError as error:
        raise NativeConfigError(published.describe(error, where)) from None
    entries = tuple(_entries(found, where))
    lists = tuple(key for key in model.LISTS if key in quantization)
    groups = tuple(_groups(found, where))
    schemes = tuple(group.name for group in groups if group.role == "group")
    return NativeConfig(dialect, method, found.format_name, entries, schemes, groups, lists, quantization)


def _method(quantization: Mapping[str, Any], where: str) -> str:
    method = quantization.get("quant_method")
    if method is None:
        return "modelopt" if quantization.get("quant_algo") else "unnamed"
    if not isinstance(method, str):
        raise NativeConfigError(published.complaint(f"{where}.quant_method", "the method's name (a string)", method))
    return method


def _entries(found: published.Published, where: str) -> list[Entry]:
    return [
        Entry(text, f"{where}.{key}[{position}]", key)
        for key, texts in found.lists()
        for position, text in enumerate(texts)
    ]


def _groups(found: published.Published, where: str) -> list[Group]:
    if isinstance(found, published.CompressedTensors):
        return [_group(found, name, group, where) for name, group in (found.config_groups or {}).items()]
    if isinstance(found, published.Quark):
        return _quark_groups(found, where)
    return [Group("fp8", "global", (), True, None)]


def _group(found: published.CompressedTensors, name: str, group: published.ConfigGroup, where: str) -> Group:
    targets = tuple(
        Entry(text, f"{where}.config_groups.{name}.targets[{position}]", "targets")
        for position, text in enumerate(group.targets or ())
    )
    return Group(name, "group", targets, group.weights is not None, weight_arguments(group, found.format))


def _quark_groups(found: published.Quark, where: str) -> list[Group]:
    groups = []
    for role, key, schemes in (
        ("layer", "layer_quant_config", found.layer_quant_config),
        ("type", "layer_type_quant_config", found.layer_type_quant_config),
    ):
        for name, scheme in (schemes or {}).items():
            target = Entry(name, f"{where}.{key}[{name!r}]", key)
            groups.append(Group(name, role, (target,), not published.leaves_weights(scheme), scheme))
    overall = found.global_quant_config
    return [*groups, Group("global", "global", (), not published.leaves_weights(overall), overall)]
