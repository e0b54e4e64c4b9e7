"""Prepares a config for one reading: which entries it sees, how they are respelt, and what it stumbles over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from qpolicy.native import refusals as refusals_of_dialects
from qpolicy.native import startup
from qpolicy.native.arguments import is_mxfp4
from qpolicy.native.config import Entry, Group, NativeConfig
from qpolicy.native.index import Item
from qpolicy.native.mapper import Mapper
from qpolicy.native.records import First, Record

Pair: TypeAlias = tuple[Item, Group]
Pairs: TypeAlias = Sequence[Pair]


def items(config: NativeConfig, record: Record, mapper: Mapper | None) -> list[Item]:
    """Return the entries that a reading sees, as it spells them."""
    keys = _keys(config, record)
    entries = [entry for entry in config.entries if entry.key in keys]
    if record.defaults and all(config.raw.get(key) is None for key in keys):
        entries += _added(record.defaults)
    found = _spelt(entries, mapper if record.mapped else None, record.rewrite, record.rewrite_mapped)
    later = [entry for entry in config.entries if entry.key in record.lists_behind]
    return found + [Item(entry.text, entry) for entry in (*_added(record.added), *later)]


def first_items(config: NativeConfig, record: Record, mapper: Mapper | None, first: First) -> list[Item]:
    """Return the entries of the list that decides about a kind's first scheme, as the reading spells them."""
    entries = [*(entry for entry in config.entries if entry.key in first.lists), *_added(first.added)]
    return _spelt(entries, mapper if record.mapped else None, first.rewrite, first.rewrite_mapped)


def _added(texts: Sequence[str]) -> list[Entry]:
    return [Entry(text, "what the reader adds to the list", "added") for text in texts]


def _spelt(
    entries: Sequence[Entry], mapper: Mapper | None, rewrites: Sequence[str], mapped: Sequence[str]
) -> list[Item]:
    found = _respelt([Item(entry.text, entry) for entry in entries], rewrites)
    return found if mapper is None else _respelt(_mapped(found, mapper), mapped)


def _keys(config: NativeConfig, record: Record) -> Sequence[str]:
    keys = record.lists
    if config.section and record.section_lists is not None:
        keys = record.section_lists
    if record.read == "all":
        return keys
    there = config.lists if record.read == "first-present" else {entry.key for entry in config.entries}
    return tuple(key for key in keys if key in there)[:1]


def targets(config: NativeConfig, record: Record, mapper: Mapper | None) -> tuple[Pair, ...]:
    """Return the targets of all schemes in the order in which they are tried; a repeated one keeps its place."""
    found: dict[str, tuple[Item, Group]] = {}
    if not (record.mapped and record.mapped_targets):
        mapper = None
    for group in config.groups:
        for item in (Item(entry.text, entry) for entry in group.targets if group.role not in ("type", "rule")):
            for renamed in [item] if mapper is None else _mapped([item], mapper):
                found[renamed.text] = (renamed, group)
    if mapper is not None and config.dialect == "quark":
        _add_fused_attention(found)
    return tuple(found.values())


def with_added(pairs: tuple[Pair, ...], record: Record) -> tuple[Pair, ...]:
    """Return the targets for experts: a class's target stands for further classes as well."""
    found = {item.text: (item, group) for item, group in pairs} if record.added_targets else {}
    for target, added in record.added_targets.items():
        if target in found and added[0] not in found:
            item, group = found[target]
            found.update({name: (Item(name, item.entry), group) for name in added})
    return tuple(found.values()) or pairs


def included(config: NativeConfig, record: Record) -> list[Item]:
    """Return the entries of the lists of what is quantized, so far as a reading consults them."""
    return [Item(entry.text, entry) for entry in config.included if entry.key in record.included]


def refusals(config: NativeConfig, record: Record) -> tuple[str, ...]:
    """Return what in a config stops an engine before it asks about any layer."""
    return tuple(text for name in record.refuses for text in [_REFUSALS[name](config)] if text)


def _mapped(found: Iterable[Item], mapper: Mapper) -> list[Item]:
    renamed = ((mapper.rename(item.text), item.entry) for item in found)
    return [Item(text, entry) for text, entry in renamed if text is not None]


def _respelt(found: list[Item], rewrites: Iterable[str]) -> list[Item]:
    for rewrite in rewrites:
        found = [Item(text, item.entry) for item in found for text in _REWRITES[rewrite](item.text)]
    return found


def _with_and_without_model(text: str) -> list[str]:
    bare = text.removeprefix("model.")
    return [bare, f"model.{bare}"]


def _without_language_model_too(text: str) -> list[str]:
    return list(dict.fromkeys((text, text.removeprefix("language_model."))))


def _inkling_names(text: str) -> list[str]:
    """Spell an entry as the Inkling models name their layers (SGLang 0.5.23, inkling_common: _map_exclude_modules)."""
    if "audio" in text or "visual" in text:
        return [text]
    bare = text.removeprefix("model.")
    bare = bare.replace(".mlp.w13_dn", ".mlp.gate_up_proj").replace(".mlp.w2_md", ".mlp.down_proj")
    return ["lm_head" if bare == "unembed" else bare]


_REWRITES: dict[str, Callable[[str], list[str]]] = {
    "inkling-names": _inkling_names,
    "with-and-without-model": _with_and_without_model,
    "without-language-model-too": _without_language_model_too,
}


def _add_fused_attention(found: dict[str, tuple[Item, Group]]) -> None:
    """Mirror what SGLang 0.5.23 adds to a mapped Quark config (quark.py: apply_weight_name_mapper)."""
    for name, pair in list(found.items()):
        if name.endswith(".wq_a"):
            fused = name.removesuffix(".wq_a") + ".wqkv_a"
            found.setdefault(fused, (Item(fused, pair[0].entry), pair[1]))


def _linear_fp8(config: NativeConfig, pairs: Pairs) -> str | None:
    return "linear_fp8_config" if "linear_fp8_config" in config.raw else None


def _mxfp4_experts(config: NativeConfig, pairs: Pairs) -> str | None:
    by_target = {item.text: group for item, group in pairs}
    first = by_target.get("FusedMoE") or by_target.get("Linear")
    if "mxfp4" in (config.format or ""):
        return first.name if first else "mxfp4"
    chosen = (by_target[name] for name in ("FusedMoE", "Linear") if name in by_target)
    return next((group.name for group in chosen if is_mxfp4(group.arguments)), None)


BYPASSES: dict[str, Callable[[NativeConfig, Pairs], str | None]] = {
    "linear-fp8-config": _linear_fp8,
    "mxfp4-experts": _mxfp4_experts,
}
"""Circumstances under which SGLang never consults its list: each returns the scheme it then uses, or None."""


def _null(key: str) -> Callable[[NativeConfig], str | None]:
    return lambda config: f"{key} is null, and the engine iterates over it" if _is_null(config.raw, key) else None


def _is_null(raw: Any, key: str) -> bool:
    return key in raw and raw[key] is None


def _groups_with_null(key: str) -> Callable[[NativeConfig], str | None]:
    def check(config: NativeConfig) -> str | None:
        groups = config.raw.get("config_groups") or {}
        names = [name for name, group in groups.items() if group.get(key) is None]
        return f"config_groups {', '.join(names)} without {key}" if names else None

    return check


def _missing(*keys: str) -> Callable[[NativeConfig], str | None]:
    def check(config: NativeConfig) -> str | None:
        absent = [key for key in keys if config.raw.get(key) is None]
        return f"the config lacks {', '.join(absent)}" if absent else None

    return check


def _another_spelling(config: NativeConfig) -> str | None:
    return None if config.method.lower() == config.dialect else f"the engine has no method {config.method!r}"


def _unserialized(config: NativeConfig) -> str | None:
    if "fp8" in config.method or config.raw.get("weight_block_size") is None:
        return None
    return f"quant_method {config.method!r} is not spelled fp8, so the engine takes the weights for unquantized"


_REFUSALS: dict[str, Callable[[NativeConfig], str | None]] = {
    **startup.REFUSALS,
    **refusals_of_dialects.REFUSALS,
    "another-spelling-of-the-method": _another_spelling,
    "null-ignore": _null("ignore"),
    "null-config-groups": _null("config_groups"),
    "null-targets": _groups_with_null("targets"),
    "null-weights": _groups_with_null("weights"),
    "null-exclude": _null("exclude"),
    "no-export": _missing("export"),
    "no-layer-tables": _missing("layer_quant_config", "layer_type_quant_config"),
    "no-global-scheme": _missing("global_quant_config"),
    "no-activation-scheme": _missing("activation_scheme"),
    "block-size-of-unserialized": _unserialized,
}
