"""Turns a published quantization config into a value, by way of the models of `qpolicy.native.published`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qpolicy.native import published
from qpolicy.native.arguments import weight_arguments
from qpolicy.native.config import Entry, Group, NativeConfig, NativeConfigError

UNKNOWN = "unknown:"


def read(quantization: Mapping[str, Any], where: str) -> NativeConfig:
    """Read a published quantization config; see `qpolicy.native.read_config`."""
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
