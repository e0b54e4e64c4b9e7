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
    whole, (quantization, where) = quantization, _unwrapped(quantization, where)
    method = _method(quantization, where)
    model = model_of(method, quantization)
    if model is None:
        return NativeConfig(UNKNOWN + method, method, None, (), (), raw=quantization)
    try:
        found = model.model_validate(dict(quantization))
    except published.ValidationError as error:
        raise NativeConfigError(published.describe(error, where)) from None
    groups = tuple(found.groups(where))
    return NativeConfig(
        dialect=model.DIALECT,
        method=method,
        format=found.format_name,
        entries=(*_entries(found.lists(), where), *_negative(groups)),
        schemes=found.schemes(groups),
        groups=groups,
        lists=tuple(key for key in model.LISTS if key in quantization),
        included=tuple(_entries(found.included(), where)),
        raw=quantization,
        variant=found.variant(method),
        section=whole is not quantization or found.is_section(quantization, where),
    )


def _unwrapped(quantization: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], str]:
    """Return the section of a whole file such as ``hf_quant_config.json``, with its place; or what was given."""
    inner = quantization.get("quantization")
    if isinstance(inner, Mapping) and "quant_method" not in quantization:
        return inner, f"{where}.quantization"
    return quantization, where


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
