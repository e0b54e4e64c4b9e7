"""QP310: two config files of the checkpoint hold different lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qpolicy.errors import QPolicyError
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.entries import some
from qpolicy.lint.view import View
from qpolicy.native import NativeConfig, producer_reading, read_config

_CHECKPOINT = """\
plain  lm_head
fp8    model.layers.0.mlp.down_proj
{"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": []},
 "compression_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": ["lm_head"]}}
"""

CODE = Code(
    "QP310",
    "configs-disagree",
    "warning",
    "The checkpoint holds two quantization configs whose lists exclude different modules.",
    Page(
        explanation="""\
A checkpoint may hold its list twice: in `config.json` and in `hf_quant_config.json` as ModelOpt writes it, or under two
keys. Which one counts depends on the engine; SGLang takes `quantization_config` in `config.json` first. Lists that are
written differently and exclude the same modules are not reported.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(
            checkpoint=_CHECKPOINT.replace('"modules_to_not_convert": []', '"modules_to_not_convert": ["lm_head"]')
        ),
        fix="Write the same list in both places, or remove one of them.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Compare the config that counts with every other one."""
    world = view.matchers[0].binding.world
    if world.config is None or not view.consults_list:
        return
    for place, other in view.checkpoint.configs.quantization_places.items():
        if place != _counting(view):
            yield from _compared(view, world.config, place, other)


def _counting(view: View) -> str | None:
    """Return the file and key of the config that the engine reads."""
    checkpoint = view.matchers[0].binding.world.consulted
    return None if checkpoint is None else checkpoint.quantization_file


def _compared(view: View, config: NativeConfig, place: str, other: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        second = read_config(other, place)
    except QPolicyError as error:
        yield _finding(view, place, f"cannot be read: {error}", ())
        return
    counts = _counting(view)
    mine, theirs = (dict.fromkeys(entry.text for entry in one.entries) for one in (config, second))
    only = [f"'{text}' only in {counts}" for text in mine if text not in theirs]
    only += [f"'{text}' only in {place}" for text in theirs if text not in mine]
    if only and config.dialect == second.dialect:
        modules = _differing(view, config, second)
        if modules or not view.checkpoint.modules:
            told = f"they differ about {some(modules)}: " if modules else ""
            yield _finding(view, place, f"excludes other modules; {told}{'; '.join(only[:3])}", modules)


def _differing(view: View, first: NativeConfig, second: NativeConfig) -> tuple[str, ...]:
    packed = view.matchers[0].binding.world.packed
    readings = [producer_reading(config, packed) for config in (first, second)]
    return tuple(
        name
        for name, module in view.checkpoint.modules.items()
        if module.kind is not None and len({reading.listed(name, module.kind).excluded for reading in readings}) > 1
    )


def _finding(view: View, place: str, what: str, modules: tuple[str, ...]) -> Finding:
    return CODE.finding(
        f"{_counting(view)} counts, but {place} {what}",
        modules=modules,
        file=view.list_file,
        fix="write the same list in both places, or remove one of them",
    )


CHECK = Check(CODE, find)
