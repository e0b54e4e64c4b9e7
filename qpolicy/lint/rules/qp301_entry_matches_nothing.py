"""QP301: an entry of the checkpoint's list matches nothing."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis.entries import taken_literally
from qpolicy.errors import QPolicyError
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.names import known_names, nearest, told
from qpolicy.lint.view import View
from qpolicy.native import Entry
from qpolicy.paths import Pattern, Suggestion

CODE = Code(
    "QP301",
    "entry-matches-nothing",
    "warning",
    "An entry of the checkpoint's list matches no stored module and no layer of the engine.",
    Page(
        explanation="""\
An entry that matches nothing excludes nothing. Mostly the module was renamed after the list was written, or the entry
is misspelt. It is only a remark for a parent whose modules it does not cover, where neither the producer nor the engine
extends it to them.
""",
        bad=Example(
            checkpoint="""\
plain  lm_head
fp8    model.layers.0.self_attn.o_proj, model.layers.0.mlp.down_proj
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "model.layers.0.self_attn.proj"]}}
"""
        ),
        good=Example(
            checkpoint="""\
plain  lm_head
fp8    model.layers.0.self_attn.o_proj, model.layers.0.mlp.down_proj
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""
        ),
        fix="Remove the entry, or correct its name.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Try every entry, as the producer and as the engine reads it, on every name."""
    world = view.matchers[0].binding.world
    if world.config is None or not view.checkpoint.modules or not view.consults_list:
        return
    names = known_names(view)
    used = _used(view, names) | _lost(view)
    for entry in world.config.entries:
        if entry not in used:
            yield _finding(view, entry, names)


def _used(view: View, names: tuple[str, ...]) -> set[Entry]:
    world = view.matchers[0].binding.world
    if world.config is None or world.producer is None or not world.producer.supported:
        return set() if world.config is None else set(world.config.entries)
    used = {entry for name in names for entry in world.producer.matching(name, "linear")}
    for matcher in view.matchers:
        reading = matcher.binding.world.reading
        for layer in view.layers if reading is not None else ():
            if layer.draft == matcher.binding.world.draft and reading is not None:
                used.update(reading.matching(layer.ask.name, layer.ask.kind))
    return used


def _lost(view: View) -> set[Entry]:
    """Return the entries that would match something if the engine understood their syntax; QP308 tells of them."""
    world = view.matchers[0].binding.world
    found = taken_literally(world, view.checkpoint.modules)
    return {entry for literal in found if literal.modules for entry in literal.entries}


def _finding(view: View, entry: Entry, names: tuple[str, ...]) -> Finding:
    below = [name for name in view.checkpoint.modules if name.startswith(entry.text.rstrip(".") + ".")]
    if below:
        return CODE.finding(
            f"'{entry.text}' ({entry.where}) names no stored module, only a parent of {len(below)}; "
            "neither its producer nor this engine extends it to them",
            modules=tuple(below),
            file=view.list_file,
            severity="info",
        )
    hint = _nearest(entry.text, names)
    message = f"'{entry.text}' ({entry.where}) matches no stored module and no layer of the engine"
    if hint is not None:
        message += f"; {told(view, hint)}"
    return CODE.finding(message, file=view.list_file, fix="remove the entry, or correct its name")


def _nearest(text: str, names: tuple[str, ...]) -> Suggestion | None:
    try:
        return nearest(Pattern.parse(text), names)
    except QPolicyError:
        return None  # a regular expression, or a name that is no pattern of the language


CHECK = Check(CODE, find)
