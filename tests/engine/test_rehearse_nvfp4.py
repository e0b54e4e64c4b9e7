"""A tiny NVFP4 checkpoint rehearses for Blackwell and for Hopper, each with its own kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from checkpoints import write_checkpoint
from click.testing import CliRunner, Result
from documents import ROOT
from engine_process import require_engine

from qpolicy.cli.main import main

pytestmark = pytest.mark.engine

HIDDEN, INNER, HEADS, EXPERTS = 256, 128, 64, 4
HEADS_OF = {"q": 4, "k": 2, "v": 2}
CONFIG = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "torch_dtype": "bfloat16",
    "hidden_size": HIDDEN,
    "num_hidden_layers": 1,
    "num_experts": EXPERTS,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": INNER,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": HEADS,
    "vocab_size": 512,
    "quantization_config": {
        "quant_method": "modelopt",
        "quant_algo": "NVFP4",
        "ignore": ["lm_head", "*.mlp.gate"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 16}}},
    },
}


def linear(outputs: int, inputs: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The tensors of one linear layer in NVFP4."""
    return {
        "weight": ("U8", (outputs, inputs // 2)),
        "weight_scale": ("F8_E4M3", (outputs, inputs // 16)),
        "weight_scale_2": ("F32", ()),
        "input_scale": ("F32", ()),
    }


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    require_engine()
    layer = "model.layers.0"
    plain = {
        "model.embed_tokens": (512, HIDDEN),
        "lm_head": (512, HIDDEN),
        "model.norm": (HIDDEN,),
        f"{layer}.mlp.gate": (EXPERTS, HIDDEN),
        **{f"{layer}.{norm}_layernorm": (HIDDEN,) for norm in ("input", "post_attention")},
        **{f"{layer}.self_attn.{norm}_norm": (HEADS,) for norm in "qk"},
    }
    packed = {f"{layer}.self_attn.{part}_proj": linear(heads * HEADS, HIDDEN) for part, heads in HEADS_OF.items()}
    packed[f"{layer}.self_attn.o_proj"] = linear(HIDDEN, 4 * HEADS)
    for expert in range(EXPERTS):
        packed |= {f"{layer}.mlp.experts.{expert}.{name}_proj": linear(INNER, HIDDEN) for name in ("gate", "up")}
        packed[f"{layer}.mlp.experts.{expert}.down_proj"] = linear(HIDDEN, INNER)
    tensors = {f"{name}.weight": ("BF16", shape) for name, shape in plain.items()}
    tensors |= {f"{name}.{own}": header for name, owned in packed.items() for own, header in owned.items()}
    return write_checkpoint(tmp_path / "nvfp4", tensors, CONFIG)


def rehearsed(checkpoint: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["sglang", "rehearse", str(checkpoint), *options])


@pytest.mark.parametrize(
    ("device", "linears", "experts"),
    [("sm100", "flashinfer_cutedsl", "MoeRunner flashinfer_trtllm"), ("sm90", "marlin", "MoeRunner marlin")],
)
def test_each_device_has_its_kernels(checkpoint: Path, device: str, linears: str, experts: str) -> None:
    ran = rehearsed(checkpoint, "--as", device, "--format", "json")
    assert ran.exit_code == 0, ran.output
    document: dict[str, Any] = json.loads(ran.stdout)
    assert (document["path"], document["device"], document["findings"]) == ("cuda", device, [])
    kernels = {layer["kind"]: layer["kernel"] for layer in document["layers"] if layer["outcome"] == "quantized"}
    assert kernels == {"linear": linears, "moe": experts}


def test_ranks_that_cannot_share_the_heads(checkpoint: Path) -> None:
    ran = rehearsed(checkpoint, "--tp", "3")
    assert ran.exit_code == 1
    assert "error QP405 not-built" in ran.stdout
    assert "% attn_tp_size == 0" in " ".join(ran.stdout.split())


def test_target_is_not_called_a_draft() -> None:
    require_engine()
    ran = rehearsed(ROOT / "examples" / "qwen3-fp8", "--draft")
    assert ran.exit_code == 2
    assert "no draft class for Qwen3ForCausalLM" in ran.stderr
    assert "leave out --draft" in ran.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--draft-layer", "1"), "it belongs to --draft"),
        (("--draft", "--draft-layer", "1"), "is built as a whole"),
    ],
)
def test_layer_that_cannot_be_chosen_is_refused(checkpoint: Path, options: tuple[str, ...], told: str) -> None:
    ran = rehearsed(checkpoint, *options)
    assert (ran.exit_code, told in ran.stderr) == (2, True)


def test_what_was_not_followed_is_told(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").unlink()
    ran = rehearsed(checkpoint)
    assert ran.exit_code == 0
    assert "QP407" in ran.stdout
