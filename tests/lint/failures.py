"""Rebuilds collected failures of published lists as small checkpoints, and asks the check about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkpoints import write_checkpoint, write_json
from small import FP8, PACKED, PLAIN

import qpolicy
from qpolicy.analysis.exporting import SLOTS
from qpolicy.lint.finding import Finding
from qpolicy.lint.run import run_checks
from qpolicy.lint.view import View
from qpolicy.native import knows_engine

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

NOT_THE_LIST = {
    "runtime-prefix-missing": "the engine asks under an empty name, which no file of the checkpoint shows",
    "runtime-prefix-wrong": "the engine asks under a wrong name, which no file of the checkpoint shows",
    "list-not-read-by-backend": "the list is right and a part of the program does not read it",
    "feature-gate-overscan": "another decision of the engine scans the list; every layer is decided right",
    "default-skips-replaced": "a default of the producer, not of the list",
    "null-list": "an engine's default for an empty list",
}
"""The kinds of failures whose cause does not lie in the list, with why."""

PACKED_FORMS: dict[str, Mapping[str, Any]] = {
    "compressed-tensors": PACKED,
    "fp8": FP8,
    "quark": {"weight": ("U8", (64, 32)), "weight_scale": ("U8", (64, 2))},
    "modelopt": {
        "weight": ("U8", (64, 32)),
        "weight_scale": ("F8_E4M3", (64, 4)),
        "weight_scale_2": ("F32", ()),
        "input_scale": ("F32", ()),
    },
    "awq": {"qweight": ("I32", (64, 8)), "qzeros": ("I32", (1, 8)), "scales": ("F16", (1, 64))},
    "gptq": {"qweight": ("I32", (8, 64)), "qzeros": ("I32", (1, 8)), "scales": ("F16", (1, 64))},
    "bitsandbytes": {"weight": ("U8", (2048, 1)), "weight.absmax": ("F32", (64,))},
}
PACKED_FORMS["auto-round"] = PACKED_FORMS["gptq"]
BASES: Mapping[str, Mapping[str, Any]] = {
    **{name: slot.config for name, slot in SLOTS.items()},
    "auto-round": {
        "quant_method": "auto-round",
        "bits": 4,
        "group_size": 128,
        "sym": True,
        "packing_format": "auto_round:auto_gptq",
    },
}
NOT_REBUILT = {
    "autoround-769": "nothing is known of its tensors",
    "llmc-1230": "the list that failed is not known",
    "modelopt-33": "how an engine reads its format is not known here",
    "modelopt-1687": "the tensors were quantized by mistake, and the files agree about it",
    "primerl-2442": "a trainer's list, no checkpoint's",
}
"""Failures that are not rebuilt, with why."""

READ_BY = {
    "transformers-47990": "transformers 5.19.0",
    "sglang-18189": "sglang 0.5.8",
    "sglang-18742": "sglang 0.5.9",
    "sglang-20439": "sglang 0.5.12",
    "sglang-23467": "sglang 0.5.10",
    "sglang-35797": "sglang 0.5.20",
    "sglang-39064": "sglang 0.5.20",
    "vllm-12974": "vllm 0.7.2",
    "vllm-24024": "vllm 0.10.2",
    "vllm-48508": "vllm-humming 0.25.0",
}
"""Whose reading shows a failure, where that is not the newest one."""
_MORE: Mapping[str, Mapping[str, Any]] = {
    "sglang-36786": {
        "format": "mxfp4-pack-quantized",
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "weights": {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32},
            }
        },
    }
}
"""What else of a config is told, beside its list, where the failure depends on it."""

_ARCHITECTURE = {"sglang-18189": "Qwen3MoeForCausalLM"}
"""The architecture that a failure is about, where it depends on it."""
_ARCHITECTURES = {
    "mtp": "Qwen3_5MoeForConditionalGeneration",  # builds its vision tower unasked
    "layers": "DeepseekV3ForCausalLM",
    "visual": "Qwen2_5_VLForConditionalGeneration",
}
_FUSED = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "in_proj_ba": ("in_proj_b", "in_proj_a"),
    "fused_qkv_a_proj_with_mqa": ("q_a_proj", "kv_a_proj_with_mqa"),
}
_PROJECTIONS = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Failure:
    """One collected failure.

    Attributes:
        row: What was collected.
        dialect: The dialect of its list; empty where it cannot be read here.
    """

    row: Mapping[str, Any]
    dialect: str

    @property
    def kind(self) -> str:
        return str(self.row["kind"])

    @property
    def engine(self) -> str:
        if self.row["id"] in READ_BY:
            return READ_BY[self.row["id"]]
        named = str(self.row["engine"]).split()[0].lower()
        return named if knows_engine(named) else "sglang"

    def states(self) -> dict[str, bool]:
        """Each stored module with whether it is quantized on disk."""
        found: dict[str, bool] = {}
        for module in self.row["modules"]:
            tensors, expected = module.get("tensors_present") or (), str(module["expected"])
            quantized = bool(set(tensors) - {"weight"}) if tensors else expected.startswith("quantized")
            for name in _stored(module):
                found[name] = quantized
        return found

    def wrong(self) -> set[str]:
        """The stored modules that came out otherwise than expected."""
        bad = (one for one in self.row["modules"] if one["expected"] != one["actual_class"])
        return {name for module in bad for name in _stored(module)}


def _stored(module: Mapping[str, Any]) -> Iterator[str]:
    names = module.get("checkpoint_names") or [module["name"]]
    for name in names:
        head, _, leaf = name.rpartition(".")
        if leaf == "experts":
            yield from (f"{name}.{number}.{part}" for number in range(2) for part in _PROJECTIONS)
        elif leaf in _FUSED:
            yield from (f"{head}.{part}" for part in _FUSED[leaf])
        elif re.search(r"\.experts\.\d+\.", name):
            stem = name[: name.rindex(".experts.")]
            yield from (f"{stem}.experts.{number}.{part}" for number in range(2) for part in _PROJECTIONS)
        else:
            yield name


def failures() -> list[Failure]:
    """Every failure that is ready to be rebuilt."""
    rows = [json.loads(line) for line in (CORPUS / "bugs.jsonl").read_text().splitlines()]
    return [Failure(row, _dialect(row)) for row in rows if row["ready"]]


def _dialect(row: Mapping[str, Any]) -> str:
    text = str(row["producer_dialect"])
    return next((name for name in BASES if text.startswith(name)), "")


def rebuilt(folder: Path, failure: Failure) -> qpolicy.Checkpoint:
    """Write and open the checkpoint of a failure."""
    states = failure.states()
    tensors = {
        f"{name}.{own}": form
        for name, quantized in states.items()
        for own, form in (PACKED_FORMS[failure.dialect] if quantized else PLAIN).items()
    }
    drafts = [name for one in failure.row["modules"] if one["is_draft"] for name in _stored(one)]
    told = str(failure.row["id"])
    quantization = {**BASES[failure.dialect], **_MORE.get(told, {}), **_known(failure.row["config"])}
    model = _model(drafts, states)
    model["architectures"] = [_ARCHITECTURE.get(told, model["architectures"][0])]
    if failure.dialect == "modelopt" and "ignore" not in quantization:
        del quantization["quant_method"]
        write_checkpoint(folder, tensors, model)
        write_json(folder / "hf_quant_config.json", {"quantization": quantization})
    else:
        write_checkpoint(folder, tensors, {**model, "quantization_config": quantization})
    return qpolicy.open_checkpoint(folder)


def _known(config: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a collected config that a published one has; schemes were written down in words."""
    keys = ("ignore", "exclude", "exclude_modules", "modules_to_not_convert", "ignored_layers", "dynamic")
    more = ("llm_int8_skip_modules", "modules_in_block_to_quantize", "quant_algo", "patterns_before", "extra_config")
    found = {key: config[key] for key in (*keys, *more) if key in config}
    if "patterns_before" in found:
        found["exclude_modules"] = found.pop("patterns_before")
    return found


def _model(drafts: list[str], stored: Iterable[str]) -> dict[str, Any]:
    numbered = [int(found[1]) for name in drafts if (found := re.match(r"model\.layers\.(\d+)\.", name))]
    layers = min(numbered, default=96)
    sees = not drafts and any("visual" in name.split(".") for name in stored)
    arch = _ARCHITECTURES["layers" if numbered else "visual" if sees else "mtp"]
    return {"architectures": [arch], "num_hidden_layers": layers, "num_nextn_predict_layers": 1}


def found_in(checkpoint: qpolicy.Checkpoint, failure: Failure, policy: str | None = None) -> tuple[Finding, ...]:
    """What the check finds, remarks left out."""
    loaded = None if policy is None else qpolicy.parse(policy)
    report = run_checks(checkpoint, loaded, engine=failure.engine)
    return tuple(finding for finding in report.findings if finding.severity != "info")


def comes_out_right(checkpoint: qpolicy.Checkpoint, failure: Failure) -> bool:
    """Whether the engine, as it is read here, decides every module that came out wrong as it is stored."""
    wrong, states = failure.wrong(), failure.states()
    layers = View.of(checkpoint, None, engine=failure.engine).layers
    asked = [(name, layer.decision.native) for layer in layers for name in layer.modules if name in wrong]
    return bool(asked) and all(
        answer is not None and answer.outcome == ("quantized" if states[name] else "unquantized")
        for name, answer in asked
    )
