"""The table of architectures is what the installed SGLang does: a sample is written again and compared."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import make_architectures as script

pytestmark = pytest.mark.engine

# One of each kind: dense, experts, latent attention, linear attention, vision, drafts of each spelling, standalone.
SAMPLE = (
    "LlamaForCausalLM",
    "Qwen3MoeForCausalLM",
    "DeepseekV3ForCausalLM",
    "Qwen3NextForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
    "GptOssForCausalLM",
    "MiMoV2FlashForCausalLM",
    "NemotronHForCausalLM",
    "LlamaForCausalLMEagle3",
)


def test_a_sample_is_written_the_same_again() -> None:
    if importlib.util.find_spec("sglang") is None:
        if os.environ.get("QPOLICY_REQUIRE_ENGINE") == "1":
            pytest.fail("QPOLICY_REQUIRE_ENGINE=1, but sglang is not installed")
        pytest.skip("sglang is not installed")
    stored = json.loads(script.TABLE.read_text(encoding="utf-8"))["architectures"]
    chosen = [model for model in script.models() if model.arch in SAMPLE]
    assert {model.arch for model in chosen} == set(SAMPLE)
    rows = script.written(chosen)
    assert rows == {arch: stored[arch] for arch in SAMPLE}
