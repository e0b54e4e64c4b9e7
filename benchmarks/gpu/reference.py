"""What the layers compute, in float32 on the CPU, from the weights that the stored tensors mean."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from gpu.checkpoints import EXPERTS, HIDDEN, INNER, TOP_K

TOKENS = 64
Weights = Mapping[str, Tensor]


def inputs(width: int) -> Tensor:
    """The activations of ``TOKENS`` tokens, in bf16."""
    return torch.randn(TOKENS, width, generator=torch.Generator().manual_seed(width)).bfloat16()


def routing() -> tuple[Tensor, Tensor]:
    """Each token's experts, int32, and their shares, float32, both ``[tokens, top_k]``."""
    scores = torch.randn(TOKENS, EXPERTS, generator=torch.Generator().manual_seed(3)).softmax(dim=1)
    shares, experts = scores.topk(TOP_K, dim=1)
    return experts.to(torch.int32), shares / shares.sum(dim=1, keepdim=True)


def gate_up(weights: Weights, block: str, given: Tensor) -> Tensor:
    """The fused gate and up projection: ``[tokens, 2 * inner]``."""
    fused = torch.cat([weights[f"{block}.gate_proj"], weights[f"{block}.up_proj"]])
    return given.float() @ fused.T


def down(weights: Weights, block: str, given: Tensor) -> Tensor:
    """The down projection: ``[tokens, hidden]``."""
    return given.float() @ weights[f"{block}.down_proj"].T


def experts(weights: Weights, block: str, given: Tensor) -> Tensor:
    """The routed experts: ``[tokens, hidden]``."""
    chosen, shares = routing()
    result = torch.zeros(len(given), HIDDEN)
    for number in range(EXPERTS):
        parent = f"{block}.experts.{number}"
        gate, up = gate_up(weights, parent, given).split(INNER, dim=1)
        share = (shares * (chosen == number)).sum(dim=1, keepdim=True)
        result += share * down(weights, parent, torch.nn.functional.silu(gate) * up)
    return result


def relative_error(found: Tensor, wanted: Tensor) -> float:
    """The norm of the difference over the norm of what is wanted; infinite where a number is missing or no number."""
    if found.shape != wanted.shape or not bool(torch.isfinite(found).all()):
        return float("inf")
    return float((found.float().cpu() - wanted).norm() / wanted.norm())
