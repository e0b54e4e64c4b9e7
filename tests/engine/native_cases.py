"""Draws (entries, name) pairs on which readings could differ: real module names and entries one slip away from them.

Every draw takes the random generator, so that a run is repeatable. ``QPOLICY_PAIRS`` sets how many pairs a test draws.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

PAIRS = int(os.environ.get("QPOLICY_PAIRS", "3000"))
FULL = PAIRS >= 100_000

_ROOTS = ("model.", "model.", "", "language_model.model.", "model.language_model.", "mtp.", "model.visual.")
_LAYERS = ("layers.0.", "layers.1.", "layers.10.", "layers.11.", "layers.61.", "decoder.")
_LEAVES = {
    "linear": (
        *("self_attn.qkv_proj", "mlp.gate_up_proj", "mlp.shared_expert.gate_up_proj") * 2,
        *(f"self_attn.{leaf}_proj" for leaf in ("q", "k", "v", "o", "qkv", "q_b", "kv_b")),
        "self_attn.fused_qkv_a_proj_with_mqa",
        "self_attn.q_a_proj",
        "self_attn.kv_a_proj_with_mqa",
        *(f"linear_attn.in_proj_{leaf}" for leaf in ("qkvz", "ba", "qkv", "z", "b", "a")),
        *(
            f"mlp.{leaf}"
            for leaf in ("gate", "gate_proj", "up_proj", "gate_up_proj", "down_proj", "shared_expert_gate")
        ),
        *(f"mlp.shared_expert.{leaf}_proj" for leaf in ("gate", "up", "down", "gate_up")),
        *(f"mlp.shared_experts.{leaf}_proj" for leaf in ("gate_up", "down")),
        *(f"mlp.experts.{expert}.{leaf}_proj" for expert in (0, 1, 10) for leaf in ("gate", "up", "down")),
        "mlp.experts.0.gate_up_proj",
        "mlp.gate_up_proj.base_layer",
        "mlp.gate_up_proj_lora",
        "qkv_proj.qkv_proj",
        "mlp.experts_something",
    ),
    "moe": ("mlp.experts", "mlp.experts", "mlp.experts", "block_sparse_moe.experts", "ffn.experts", "experts"),
}
_PACKED: tuple[dict[str, list[str]], ...] = (
    {},
    {"qkv_proj": ["q_proj", "k_proj", "v_proj"]},
    {
        "qkv_proj": ["q_proj", "k_proj", "v_proj"],
        "gate_up_proj": ["gate_proj", "up_proj"],
        "in_proj_qkvz": ["in_proj_qkv", "in_proj_z"],
        "in_proj_ba": ["in_proj_b", "in_proj_a"],
    },
    {"gate_up_proj": ["gate_up_proj"], "proj": ["q_proj"], "gate": ["gate_proj", "up_proj"]},
)
_MAPPERS: tuple[dict[str, dict[str, str | None]], ...] = (
    {"substr": {"model.layers.61": "model.decoder"}},
    {"prefix": {"model.language_model.": "model.", "model.visual.": "visual.", "language_model.": "language_model.x."}},
    {
        "substr": {"layers.1": None, ".experts.": ".ffn."},
        "suffix": {"gate_proj": "w1", ".experts": ".e", "up_proj": None},
    },
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A list and a name to be asked about.

    Attributes:
        entries: The published entries.
        name: The name.
        kind: ``linear`` or ``moe``.
        packed: The fused families that the model declares.
        mapper: The arguments of a name mapper, or None.
    """

    entries: tuple[str, ...]
    name: str
    kind: str
    packed: Mapping[str, list[str]]
    mapper: Mapping[str, Mapping[str, str | None]] | None


@dataclass(slots=True)
class Tally:
    """Counts what the pairs of a run exercised, so that a run that exercised nothing cannot pass."""

    counts: Counter[str] = field(default_factory=Counter)

    def check(self, title: str, *wanted: str) -> None:
        """Demand that a fifth of the pairs matched and that every wanted event occurred, in a full run often."""
        print(f"{title}: {dict(sorted(self.counts.items()))}")
        assert self.counts["matched"] >= self.counts["pairs"] / 5, self.counts
        least = 1000 if FULL else 5
        rare = {event: self.counts[event] for event in wanted if self.counts[event] < least}
        assert not rare, f"{title}: hit too seldom: {rare}"


def draw_pair(random: Random, families: Mapping[str, list[str]] | None = None, mapped: bool = True) -> Pair:
    """Draw a name and a list of which at least some entries are near it."""
    name, kind = draw_name(random)
    packed = random.choice(_PACKED)
    known = {**packed, **(families or {})}
    entries = [entry for _ in range(random.randint(1, 2)) for entry in _near(random, name, known)]
    entries += [entry for _ in range(random.randint(0, 3)) for entry in _near(random, draw_name(random)[0], known)]
    random.shuffle(entries)
    mapper = random.choice(_MAPPERS) if mapped and random.random() < 0.3 else None
    return Pair(tuple(entries), name, kind, packed, mapper)


def draw_name(random: Random) -> tuple[str, str]:
    """Draw an engine's or a stored module's name with its kind."""
    kind = "moe" if random.random() < 0.2 else "linear"
    return random.choice(_ROOTS) + random.choice(_LAYERS) + random.choice(_LEAVES[kind]), kind


def draw_entry(random: Random, name: str) -> str:
    """Draw one entry near a name."""
    return random.choice(_SLIPS)(random, name)


def _near(random: Random, name: str, packed: Mapping[str, list[str]]) -> list[str]:
    """Draw an entry near a name, or one near each of its shards, as lists name them, with now and then one left out."""
    leaf = name.rpartition(".")[2]
    shards = packed.get(leaf, {"qkv_proj": ["q_proj", "k_proj", "v_proj"]}.get(leaf))
    if shards is None or random.random() < 0.15:
        return [draw_entry(random, name)]
    slip = random.choice(_SLIPS)
    chosen = shards if random.random() < 0.4 else random.sample(shards, random.randint(0, len(shards)))
    return [slip(random, name.replace(leaf, shard)) for shard in chosen]


def _sibling(random: Random, name: str) -> str:
    parent, dot, leaf = name.rpartition(".")
    return (
        parent + dot + random.choice((leaf + "_proj", leaf[:-1], leaf + "s", "gate", "gate_proj", "q_proj", leaf + "*"))
    )


def _ancestor(random: Random, name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[: random.randint(1, len(parts))])


def _suffix(random: Random, name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[random.randrange(len(parts)) :])


def _middle(random: Random, name: str) -> str:
    return _suffix(random, _ancestor(random, name))


def _other_root(random: Random, name: str) -> str:
    bare = name.removeprefix("model.")
    return random.choice(("", "model.", "language_model.", "model.language_model.")) + bare


def _other_number(random: Random, name: str) -> str:
    return re.sub(r"\d+", lambda _: random.choice(("1", "10", "11", "0")), name, count=1)


def _regex(random: Random, name: str) -> str:
    escaped, (parent, _, leaf) = re.escape(name), name.rpartition(".")
    forms = (
        f"re:{name}",
        f"re:{escaped}$",
        f"re:.*{re.escape(leaf)}$",
        f"re:.*{leaf}",
        f"re:^{re.escape(parent)}.*",
        f"re:{leaf}",
        f"re:(?:.*\\.)?{leaf}$",
        f"re:(?i).*{leaf.upper()}$",
        f"re:.*layers.*{leaf[:3]}.*proj.*",
        "re:.*(q|k|v|gate|up)_proj$",
        "re:(?!.*experts).*proj",
        "re:.*Linear",
        "re:(",
        "re:*" + leaf,
        re.escape(leaf) + "|gate",
    )
    return random.choice(forms)


def _glob(random: Random, name: str) -> str:
    parent, _, leaf = name.rpartition(".")
    forms = (
        f"*{leaf}",
        f"{parent}.*",
        f"*.{leaf[:2]}*",
        "*" + name[2:-2] + "?",
        f"*[{leaf[0]}]{leaf[1:]}",
        f"*.{leaf}*",
    )
    return random.choice(forms)


def _below(random: Random, name: str) -> str:
    expert = random.choice(("0", "0", "1", "10"))
    return f"{name}.{expert}.{random.choice(('gate_proj', 'up_proj', 'down_proj', 'w1'))}"


def _odd(random: Random, name: str) -> str:
    return random.choice(
        (name + ".", name + "..", "." + name, "", "Linear", "FusedMoE", "experts", name.upper(), "mlp.")
    )


_SLIPS: tuple[Callable[[Random, str], str], ...] = (
    lambda random, name: name,
    lambda random, name: name,
    _sibling,
    _ancestor,
    _suffix,
    _suffix,
    _middle,
    _other_root,
    _other_root,
    _other_number,
    _regex,
    _regex,
    _glob,
    _below,
    _below,
    _odd,
)


def is_glob_of(text: str, name: str) -> bool:
    """Tell whether a shell pattern fits a name, by the standard library."""
    return fnmatch.fnmatchcase(name, text)
