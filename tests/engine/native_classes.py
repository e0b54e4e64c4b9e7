"""Asks SGLang's config classes about layers, and compares each answer with our reading's.

The classes of methods need a GPU to be built, so labels stand in for them; everything that decides is SGLang's own.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from native_cases import PAIRS, Pair, Tally, draw_entry, draw_pair

from qpolicy.native import Mapper, Reading, engine_reading, read_config

REFUSED = "refused"
UNQUANTIZED = "unquantized"
HEADS = ("lm_head", "language_model.lm_head", "model.lm_head")
TABLES = ("model.embed_tokens", "model.language_model.embed_tokens", "embed_tokens")

Config = dict[str, Any]


class Label(str):
    """Stands in for a method that SGLang would build."""


@dataclass(slots=True)
class Comparison:
    """How one class and one reading are to be compared.

    Attributes:
        title: Seeds the draws and heads the counts.
        build: Makes SGLang's config object from a published config.
        draw: Makes a published config from the entries of a pair.
        kinds: The kinds of layers to ask about.
        engine: Whose reading it is.
        mapped: Draw name mappers too.
        families: The fused families that the reading knows beside those of the model.
        only_excluded: Any scheme is the same: only whether a layer is quantized counts.
    """

    title: str
    build: Callable[[Config], Any]
    draw: Callable[[Random, Pair], Config]
    kinds: tuple[str, ...] = ("linear", "moe")
    engine: str = "sglang"
    mapped: bool = True
    families: Mapping[str, list[str]] = field(default_factory=dict)
    only_excluded: bool = True


def _quietly() -> None:
    """Silence what the engine says about each config, a hundred thousand times."""
    logging.getLogger("sglang").setLevel(logging.CRITICAL)


def compare(engine: Any, comparison: Comparison) -> Tally:
    """Compare the answers on as many pairs as a run asks for, and count what they exercised."""
    _quietly()
    random, tally = Random(comparison.title), Tally()
    layers = {kind: _layer(engine, kind) for kind in comparison.kinds}
    while tally.counts["pairs"] < PAIRS:
        pair = _draw(random, comparison)
        config = comparison.draw(random, pair)
        real = _real(engine, comparison, pair, config, layers)
        reading = _reading(comparison, pair, config)
        answer = reading.ask(pair.name, pair.kind)
        found = REFUSED if reading.refusals or answer.outcome == "error" else str(answer.scheme or answer.outcome)
        found = found if found in (REFUSED, UNQUANTIZED) or not comparison.only_excluded else "quantized"
        assert found == real, (comparison.title, pair, config, answer, reading.refusals)
        _count(tally, pair, reading, found)
    return tally


def wild(random: Random, name: str) -> str:
    """Draw an entry as quantizers with patterns write them, near a name."""
    parts = name.split(".")
    parent, _, leaf = name.rpartition(".")
    cut = random.randint(1, len(parts))
    return random.choice(
        (
            f"*{leaf}",
            f"*.{leaf}*",
            f"{parent}.*",
            f"{parent}*",
            ".".join(parts[:cut]) + "*",
            ".".join(parts[:cut]) + ".*",
            "*" + random.choice(parts) + "*",
            random.choice(parts),
            random.choice(parts)[:3] + "*",
            re.sub(r"\d+", "?", name, count=1),
            re.sub(r"\d+", "*", name),
            re.sub(r"\d+", "[0-9]", name, count=1),
            f"{parent}.({leaf}|x)",
            name + random.choice(("", "?", "+", "(", "[", ")", "|x", "{1}")),
            f"model.layers.7.self_attn.{random.choice(('q_a_proj', 'q_b_proj', 'kv_a_proj_with_mqa', 'kv_b_proj'))}",
            "language_model." + name.removeprefix("language_model."),
            name.removeprefix("language_model."),
        )
    )


def mixed_entries(random: Random, pair: Pair) -> list[str]:
    """Draw a list of plain and wild entries."""
    entries = list(pair.entries[: random.randint(0, 3)])
    entries += [
        wild(random, pair.name if random.random() < 0.6 else other) for other in (pair.name, "mtp.fc", "lm_head")
    ]
    random.shuffle(entries)
    return entries[: random.randint(0, 4)]


def label(monkeypatch: Any, module: Any, labels: Mapping[str, str]) -> None:
    """Replace SGLang's classes of methods in a module by labels."""
    for name, text in labels.items():
        monkeypatch.setattr(module, name, lambda *args, _text=text, **kwargs: Label(_text))


def without_experts(monkeypatch: Any, engine: Any, *modules: Any) -> None:
    """Replace SGLang's method of unquantized experts, which needs a real layer, by none: that means the same."""
    unquant = engine("sglang.srt.layers.quantization.unquant")
    original = unquant.UnquantizedFusedMoEMethod
    for module in (unquant, *modules):
        if getattr(module, "UnquantizedFusedMoEMethod", None) is original:
            monkeypatch.setattr(module, "UnquantizedFusedMoEMethod", lambda *args, **kwargs: None)


def _draw(random: Random, comparison: Comparison) -> Pair:
    families = dict(comparison.families)
    while True:
        pair = draw_pair(random, families, mapped=comparison.mapped)
        kind = random.choice(comparison.kinds) if random.random() < 0.2 else pair.kind
        if kind in ("lm_head", "embedding"):
            name = random.choice(HEADS if kind == "lm_head" else TABLES)
            entries = (*pair.entries[:1], *(draw_entry(random, name) for _ in range(2)))
            return Pair(entries, name, kind, pair.packed, pair.mapper)
        if pair.kind == "linear" and random.random() < 0.06:
            return replace(pair, **_halves(random, pair.name))
        if pair.kind == "linear" and random.random() < 0.05:
            return replace(pair, **_tail(random, pair.name))
        if pair.kind in comparison.kinds:
            return pair


def _halves(random: Random, name: str) -> dict[str, Any]:
    """Draw a name with ``gate_up_proj`` inside, of which a list names the halves or one of them."""
    inside = f"{name.rpartition('.')[0]}.gate_up_proj.base_layer"
    halves = [inside.replace("gate_up_proj", half) for half in ("gate_proj", "up_proj")]
    return {"name": inside, "entries": tuple(random.sample(halves, random.randint(1, 2)))}


def _tail(random: Random, name: str) -> dict[str, Any]:
    """Draw a projection of latent attention, and an entry that names one in another layer."""
    leaves = ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "fused_qkv_a_proj_with_mqa")
    entry = f"model.layers.9.self_attn.{random.choice(leaves)}"
    return {"name": f"{name.rpartition('.')[0]}.{random.choice(leaves)}", "entries": (entry,)}


def _real(engine: Any, comparison: Comparison, pair: Pair, config: Config, layers: Mapping[str, Any]) -> str:
    try:
        built = comparison.build({**config, "packed_modules_mapping": pair.packed})
        if pair.mapper is not None:
            keys = {f"orig_to_new_{key}": dict(value) for key, value in pair.mapper.items()}
            built.apply_weight_name_mapper(engine("sglang.srt.models.utils").WeightsMapper(**keys))
        method = built.get_quant_method(layers[pair.kind], pair.name)
    except (ValueError, NotImplementedError, KeyError, TypeError, AssertionError, re.error, engine("regex").error):
        return REFUSED
    return _named(method, pair.kind, comparison)


def _named(method: Any, kind: str, comparison: Comparison) -> str:
    if isinstance(method, Label):
        return "quantized" if comparison.only_excluded else str(method)
    if method is None or type(method).__name__ == "UnquantizedFusedMoEMethod":
        return UNQUANTIZED
    assert type(method).__name__ == "UnquantizedLinearMethod", method
    # A layer of experts cannot be built with the method of linear layers.
    return REFUSED if kind == "moe" else UNQUANTIZED


def _reading(comparison: Comparison, pair: Pair, config: Config) -> Reading:
    mapper = None if pair.mapper is None else Mapper(**pair.mapper)
    reading = engine_reading(read_config(config), comparison.engine, pair.packed, mapper)
    assert reading.supported, (comparison.engine, config)
    return reading


def _count(tally: Tally, pair: Pair, reading: Reading, found: str) -> None:
    listed = reading.listed(pair.name, pair.kind)
    assert set(listed.entries) <= set(reading.matching(pair.name, pair.kind)), pair
    tally.counts.update(("pairs", pair.kind, found, "mapped" if pair.mapper else "plain"))
    tally.counts.update([listed.step] * bool(listed.step))
    tally.counts.update(["matched"] * bool(listed.excluded or listed.error or found == REFUSED))
    tally.counts.update(
        operator
        for entry in listed.entries
        for operator in reading.operators(entry)
        if _took_part(operator, listed.step, entry.text, pair)
    )


def _took_part(operator: str, step: str, text: str, pair: Pair) -> bool:
    """Tell whether an operator made an entry fit, for those of which a reading has several side by side."""
    if operator not in _PATTERNS:
        return step != "own-by-pattern"
    if step != "own-by-pattern" or pair.mapper is not None:
        return False
    try:
        return _PATTERNS[operator](text, pair.name)
    except (re.error, FutureWarning):
        return False


def _wide(text: str, part: str) -> bool:
    return re.fullmatch(text.replace(".", r"\.").replace("*", ".*"), part) is not None


_PATTERNS: dict[str, Callable[[str, str], bool]] = {
    "wildcard": _wide,
    "wildcard-segment": lambda text, name: any(_wide(text, part) for part in name.split(".")),
    "tail": lambda text, name: text.rpartition(".")[2] in name.rpartition(".")[2] and not _wide(text, name),
}


def _layer(engine: Any, kind: str) -> Any:
    """Make an object of the class that SGLang's config classes look at, without building a layer."""
    modules = {
        "linear": ("sglang.srt.layers.linear", "LinearBase"),
        "moe": ("sglang.srt.layers.moe.fused_moe_triton.layer", "FusedMoE"),
        "lm_head": ("sglang.srt.layers.vocab_parallel_embedding", "ParallelLMHead"),
        "embedding": ("sglang.srt.layers.vocab_parallel_embedding", "VocabParallelEmbedding"),
    }
    module, name = modules[kind]
    found = getattr(engine(module), name)
    layer = found.__new__(found)
    # What the config classes ask a layer of experts besides its class.
    vars(layer).update(
        use_triton_kernels=False, use_flashinfer_trtllm_moe=False, use_deep_gemm=False, is_shared_fused_moe=False
    )
    return layer
