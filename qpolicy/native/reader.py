"""Turns a published quantization config into a value, by way of the models of `qpolicy.native.dialects`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from qpolicy.native import published
from qpolicy.native.config import Entry, Group, NativeConfig, NativeConfigError
from qpolicy.native.dialects import model_of

UNKNOWN = "unknown:"


def read(quantization: Mapping[str, Any], where: str) -> NativeConfig:
    """Read a published quantization config; see `qpolicy.native.read_config`."""
    if not isinstance(quantization, Mapping):
        raise NativeConfigError(published.complaint(where, "an object", quantization))
    if published.is_too_deep(quantization):
        raise NativeConfigError(f"{where}: its objects are nested too deeply; correct the checkpoint's config file")
    method = _method(quantization, where)
    model = model_of(method, quantization)
    if model is None:
        return NativeConfig(UNKNOWN + _nickname(method, quantization), method, None, (), (), raw=quantization)
    try:
        found = model.model_validate(dict(quantization))
    except published.ValidationError as error:
        raise NativeConfigError(published.describe(error, where)) from None
    groups = tuple(found.groups(where))
    entries = (*_entries(found.lists(), where), *_negative(groups))
    included = tuple(_entries(found.included(), where))
    lists = tuple(key for key in model.LISTS if key in quantization)
    name, schemes = found.format_name, found.schemes(groups)
    return NativeConfig(model.DIALECT, method, name, entries, schemes, groups, lists, included, quantization)


def _nickname(method: str, quantization: Mapping[str, Any]) -> str:
    experts = quantization.get("moe_quant_algo")
    return f"{method} with {experts} experts" if experts else method


def _method(quantization: Mapping[str, Any], where: str) -> str:
    method = quantization.get("quant_method")
    if method is None:
        return "modelopt" if quantization.get("quant_algo") else "unnamed"
    if not isinstance(method, str):
        raise NativeConfigError(published.complaint(f"{where}.quant_method", "the method's name (a string)", method))
    return method


def _entries(lists: Iterable[tuple[str, list[str]]], where: str) -> list[Entry]:
    return [
        Entry(text, f"{where}.{key}[{position}]", key) for key, texts in lists for position, text in enumerate(texts)
    ]


def _negative(groups: Iterable[Group]) -> list[Entry]:
    """Return the names of the rules that leave modules alone: an exclusion list in another guise."""
    return [entry for group in groups if group.role == "rule" and not group.quantizes for entry in group.targets]
