"""Builds single layers through the attached hooks, and tells what each became: ``python plugin_layers.py RESULTS``."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from config_samples import EXPERTS, LINEAR, SAMPLES, make
from engine_models import start
from engine_process import EXAMPLES
from plugin_configs import checkpoint

GROUPS = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "config_groups": {
        "wide": {
            "targets": ["Linear"],
            "weights": {
                "num_bits": 8,
                "type": "int",
                "symmetric": True,
                "strategy": "channel",
                "dynamic": False,
            },
        },
        "narrow": SAMPLES["CompressedTensorsConfig"][1]["config_groups"]["group_0"] | {"targets": ["re:nothing"]},
    },
    "ignore": [LINEAR],
}


class Bench:
    """A place to build layers under a policy.

    Attributes:
        build: The state in which they are decided.
    """

    def __init__(self, session: Any, config: Any = None) -> None:
        from qpolicy.sglang.building import Build

        self.build = Build(session, config=config, uncompared="not the matter here")

    def linear(self, config: Any, prefix: str = LINEAR) -> Any:
        from sglang.srt.layers.linear import RowParallelLinear

        return RowParallelLinear(128, 128, bias=False, quant_config=config, prefix=prefix)

    def experts(self, config: Any, method: Any = None, prefix: str = EXPERTS) -> Any:
        from sglang.srt.layers.moe.fused_moe_triton.layer import FusedMoE

        sizes = {"num_experts": 2, "top_k": 1, "hidden_size": 128, "intermediate_size": 128, "layer_id": 0}
        return FusedMoE(**sizes, quant_config=config, prefix=prefix, quant_method=method)


@contextmanager
def bench(policy: str, sample: str = "Fp8Config", mode: str = "strict") -> Iterator[Bench]:
    from qpolicy import parse
    from qpolicy.sglang.building import building
    from qpolicy.sglang.session import Session
    from qpolicy.sglang.settings import Mode

    with tempfile.TemporaryDirectory() as folder:
        made = Bench(Session(parse(f"qpolicy 1\n{policy}\n"), checkpoint(Path(folder), sample), False, Mode(mode)))
        with building(made.build):
            yield made


def foreign_config() -> Any:
    config = make("Fp8Config", excluding=False)
    with bench("**: unquantized") as here:
        inside = method_of(here.linear(config))
    return {"inside": inside, "outside": method_of(here.linear(config)), "untouched": type(config).__name__}


def no_config() -> Any:
    answers = {}
    for decision in ("unquantized", "native", "quantized", 'error "no"'):
        with bench(f"**: {decision}") as here:
            answers[decision.split()[0]] = outcome(lambda made=here: made.linear(None))
    return answers


def given_method() -> Any:
    from sglang.srt.layers.quantization.fp8 import Fp8MoEMethod

    answers = {}
    for decision in ("unquantized", "native"):
        with bench(f"**: {decision}") as here:
            method = Fp8MoEMethod(make("Fp8Config", excluding=False))
            answers[decision] = outcome(lambda made=here, given=method: made.experts(None, given))
    return answers


def unnamed() -> Any:
    with bench("**: unquantized") as here:
        method = method_of(here.linear(make("Fp8Config", excluding=False), prefix=""))
    return {"method": method, "noted": [asked.name for asked in here.build.asked]}


def probed() -> Any:
    """Ask as models do before a layer is there; the question leaves no trace."""
    from qpolicy.sglang.wrap import wrapped_copy

    answers = {}
    for decision in ("unquantized", "native", "quantized"):
        with bench(f"**: {decision}") as here:
            config = wrapped_copy(make("Fp8Config"), here.build.session)
            answers[decision] = config.is_linear_unquantized(LINEAR)
            answers[f"{decision} noted"] = len(here.build.asked)
    return answers


def named_scheme() -> Any:
    from sglang.srt.layers.quantization.compressed_tensors.compressed_tensors import CompressedTensorsConfig

    from qpolicy.sglang.wrap import wrapped_copy

    answers = {}
    SAMPLES["CompressedTensorsConfig"] = (SAMPLES["CompressedTensorsConfig"][0], GROUPS, {})
    for name in ("wide", "narrow"):
        with bench(f"**: quantized as {name}", "CompressedTensorsConfig") as here:
            config = wrapped_copy(CompressedTensorsConfig.from_config(dict(GROUPS)), here.build.session)
            answers[name] = 32 // here.linear(config).scheme.pack_factor
    with bench("**: quantized as none", "CompressedTensorsConfig") as here:
        answers["unknown"] = outcome(lambda: here.linear(None))
    return answers


def warned() -> Any:
    with bench('**: error "no"', mode="warn") as here:
        method = method_of(here.linear(make("Fp8Config", excluding=False)))
        wrapped = here.linear(None)
    return {"methods": [method, method_of(wrapped)], "problems": here.build.problems}


def edited_copy() -> Any:
    """A model copies the loader's config deeply and edits its list; the copy's own list decides."""
    import copy

    from qpolicy.sglang.wrap import wrapped

    with bench("**: native") as here:
        config = wrapped(make("Fp8Config", excluding=False), here.build.session)
        edited = copy.deepcopy(config)
        edited.ignored_layers.append(LINEAR)
        return {"copy": method_of(here.linear(edited)), "original": method_of(here.linear(config))}


def nulled_draft() -> Any:
    """Build a draft's layers without a config, as the draft classes do that take it away by a rule of their own."""
    from sglang.srt.layers.quantization.quark.quark import QuarkConfig

    from qpolicy import open_checkpoint, parse
    from qpolicy.sglang.building import Build, building
    from qpolicy.sglang.session import Session
    from qpolicy.sglang.wrap import wrapped

    folder = EXAMPLES / "qwen3.5-quark-mxfp4" / "lookalike"
    stored = open_checkpoint(folder)
    answers = {}
    for name, text in {"with drop": "drop mtp if excluded(mtp.*.mlp.experts)", "without": "lm_head: native"}.items():
        session = Session(parse(f"qpolicy 1\n{text}\n"), stored, draft=True)
        config = wrapped(QuarkConfig.from_config({**stored.quantization, "packed_modules_mapping": {}}), session)
        made = Bench(session, config)
        with building(Build(session, config=config)):
            answers[name] = [
                outcome(lambda made=made: made.experts(None, prefix="mtp.layers.0.mlp.experts")),
                outcome(lambda made=made: made.linear(None, prefix="mtp.layers.0.mlp.shared_expert.down_proj")),
            ]
    return answers


def outcome(call: Callable[[], Any]) -> str:
    try:
        return method_of(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def method_of(layer: Any) -> str:
    return type(layer.quant_method).__name__


STUDIES = (
    foreign_config,
    no_config,
    given_method,
    unnamed,
    probed,
    named_scheme,
    warned,
    edited_copy,
    nulled_draft,
)


def main() -> None:
    import torch

    start()
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    from sglang.srt.plugins import load_plugins

    load_plugins()
    Path(sys.argv[1]).write_text(json.dumps({study.__name__: study() for study in STUDIES}))


if __name__ == "__main__":
    main()
