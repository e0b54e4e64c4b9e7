"""QP309: the list names the draft by another spelling than the engine's draft asks, or than it is stored."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qpolicy.bind import Matcher
from qpolicy.bind.unasked import built_unasked
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.entries import called, listened, some
from qpolicy.lint.view import Layer, View
from qpolicy.native import Entry

_CHECKPOINT = """\
fp8    model.layers.0.self_attn.o_proj
fp8    model.layers.1.self_attn.o_proj
{"architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": 1, "num_nextn_predict_layers": 1,
 "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic",
 "modules_to_not_convert": ["model.layers.1.self_attn.o_proj"]}}
"""

CODE = Code(
    "QP309",
    "draft-listed-by-index-only",
    "warning",
    "The list names the draft's layers in a spelling that the engine's draft never asks.",
    Page(
        explanation="""\
A draft has two spellings: its layer's number behind the target's last one, and a scope of its own such as `mtp`. The
engine asks in a third: SGLang builds the draft of DeepSeek-V3 as `model.decoder`. Entries in a spelling that it never
asks exclude nothing: a plain head would be built quantized. The one here is stored quantized, so it loads by luck.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\n@mtp.**: quantized\n", checkpoint=_CHECKPOINT),
        fix="Write a rule for `@mtp`, or entries in the spelling that the engine asks.",
    ),
)
_INDEX = re.compile(r"(?:re:\^?)?(?:\w+(?:\\?\.))*?layers\\?\.(\d+)(?:\\?\..*|\*.*)?")


def find(view: View) -> Iterator[Finding]:
    """Compare what the list names, as its producer reads it, with what the engine's draft finds in it."""
    if not view.checkpoint.draft_modules:
        return
    for matcher, layers in listened(view):
        if matcher.binding.world.draft:
            yield from _never_asked(view, matcher, layers)
            yield from _never_stored(view, matcher, layers)


def _never_asked(view: View, matcher: Matcher, layers: list[Layer]) -> Iterator[Finding]:
    """Report what the entries exclude by the stored name and the engine does not find by its own."""
    missed = [layer for layer in layers if layer.ask.name != layer.ask.stored and _is_lost(matcher, layer)]
    if missed:
        names = tuple(name for layer in missed for name in layer.modules)
        yield CODE.finding(
            f"the list excludes {some(names)} of the draft by the stored names, but {view.engine} asks for "
            f"{missed[0].ask.name}, which no entry fits",
            modules=names,
            file=view.list_file,
            fix="when draft and excluded: unquantized",
        )


def _is_lost(matcher: Matcher, layer: Layer) -> bool:
    native, facts = layer.decision.native, matcher.binding.facts
    if native is None or native.excluded or native.outcome == "unquantized":
        return False
    if built_unasked(matcher.binding.world, layer.ask.stored) is not False:
        return False
    return all(facts.excluded(module.name, layer.ask.kind) for module in layer.ask.modules)


def _never_stored(view: View, matcher: Matcher, layers: list[Layer]) -> Iterator[Finding]:
    """Report entries that name the draft by its layer's number where it is stored in a scope of its own."""
    last, world = view.checkpoint.num_hidden_layers, matcher.binding.world
    plain = [layer for layer in layers if _is_quantized_though_plain(layer)]
    if last is None or world.config is None or not plain:
        return
    stems = {f"layers.{number}." for number in map(_number, world.config.entries) if number is not None}
    entries = [entry for entry in world.config.entries if (number := _number(entry)) is not None and number >= last]
    if entries and not any(stem in f"{name}." for stem in stems for layer in plain for name in layer.modules):
        names = tuple(name for layer in plain for name in layer.modules)
        yield CODE.finding(
            f"{called(entries)} names the draft by its layer's number only, but it is stored as {some(names)}",
            modules=names,
            file=view.list_file,
            fix="when draft and not quantized_on_disk: unquantized",
        )


def _is_quantized_though_plain(layer: Layer) -> bool:
    native = layer.decision.native
    return native is not None and native.outcome != "unquantized" and bool(layer.on_disk(False))


def _number(entry: Entry) -> int | None:
    found = _INDEX.fullmatch(entry.text)
    return int(found[1][:9]) if found else None


CHECK = Check(CODE, find)
