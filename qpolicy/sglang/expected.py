"""The parameters that a method would give a layer: their names, types and shapes, for messages."""

from __future__ import annotations

import copy
from typing import Any

from qpolicy.sglang import compat


def expected_parameters(layer: Any, method: Any) -> str:
    """Return the parameters that a layer would get, worked out on a stand-in without memory.

    Best effort: a method that needs more than the layer knows at this point is only named.

    Args:
        layer: The layer, constructed as far as the question to its config.
        method: The method that it gets, or None.
    """
    name = type(method).__name__ if method is not None else "SGLang's unquantized method"
    try:
        parameters = _made(layer, method if method is not None else compat.default_method(layer))
    except Exception:  # a message must not be lost to a method that cannot be asked this way
        return f"the parameters of {name}"
    listed = ", ".join(f"{own} {_dtype(value)} {list(value.shape)}" for own, value in parameters.items())
    return f"{listed} ({name})"


def _made(layer: Any, method: Any) -> dict[str, Any]:
    import torch  # noqa: PLC0415 - only for a message

    stand_in = copy.copy(layer)
    stand_in._parameters = {}
    with torch.device("meta"):
        method.create_weights(layer=stand_in, **_sizes(stand_in), weight_loader=lambda *_: None)
    # Some methods register a parameter that they have no use for as None.
    return {own: value for own, value in stand_in._parameters.items() if value is not None}


def _sizes(layer: Any) -> dict[str, Any]:
    kind = compat.kind_of(layer)
    if kind == "moe":
        return {
            "num_experts": layer.num_local_experts,
            "hidden_size": layer.hidden_size,
            "intermediate_size_per_partition": layer.intermediate_size_per_partition,
            "params_dtype": layer.params_dtype,
        }
    inputs, outputs = (
        (layer.input_size, layer.output_size)
        if kind == "linear"
        else (
            layer.embedding_dim,
            layer.num_embeddings,
        )
    )
    return {
        "input_size_per_partition": inputs,
        "output_partition_sizes": [outputs],
        "input_size": inputs,
        "output_size": outputs,
        "params_dtype": getattr(layer, "params_dtype", None),
    }


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")
