"""The hooks of the ledger. Each goes around a function of SGLang: it is given the original and its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from qpolicy.sglang import agree, launches, report, sessions
from qpolicy.sglang.building import building, current, logger
from qpolicy.sglang.layers import config_for
from qpolicy.sglang.own_class import session_of
from qpolicy.sglang.wrap import wrapped

Original = Callable[..., Any]


def quantization_config(original: Original, model_config: Any, load_config: Any, *args: Any, **kwargs: Any) -> Any:
    """Find the policy for a model, and let the model's config ask it."""
    session = sessions.start(model_config, load_config)
    config = original(model_config, load_config, *args, **kwargs)
    if session is None or config is None:
        return config
    config = wrapped(config, session)
    if sessions.drops(session, config, model_config):
        logger.info("qpolicy: %s: the draft is built without a quantization config", session)
        return None
    return config


def initialize_model(
    original: Original, model_config: Any, load_config: Any, quant_config: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """Build a model under its policy, once all ranks agree on it."""
    session = sessions.of(model_config, load_config)
    agree.demand(session)
    if session is None:
        with building(None):
            return original(model_config, load_config, quant_config, *args, **kwargs)
    if quant_config is not None and session_of(quant_config) is not session:
        quant_config = wrapped(quant_config, session)
    with building(sessions.build(session, model_config, load_config, quant_config)) as build:
        model = original(model_config, load_config, quant_config, *args, **kwargs)
    report.summarise(build)
    return model


def layer_init(original: Original, layer: Any, *args: Any, **kwargs: Any) -> Any:
    """Decide a layer that is constructed without a config, or with one that does not ask the policy."""
    build = current()
    if build is None:
        return original(layer, *args, **kwargs)
    bound = _signature(original).bind(layer, *args, **kwargs)
    given = bound.arguments.get("quant_config")
    prefix, method = bound.arguments.get("prefix", ""), bound.arguments.get("quant_method")
    shared = bool(bound.arguments.get("num_fused_shared_experts"))
    config = config_for(build, layer, given, prefix, method, shared=shared)
    if config is not given:
        bound.arguments["quant_config"] = config
    try:
        return original(*bound.args, **bound.kwargs)
    except Exception as error:
        error.add_note(f"qpolicy: raised while SGLang built {prefix or 'a layer without a name'}")
        raise


def draft_config(original: Original, quant_config: Any) -> Any:
    """Keep the config of a draft whose policy has a ``drop`` statement, whatever the engine's own rule says."""
    build = current()
    if build is not None and build.session.replaces_nulling:
        return quant_config
    return original(quant_config)


def check_arguments(original: Original, arguments: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse to start processes that would build a model without asking its policy."""
    launches.refuse(arguments, sessions.settings())
    return original(arguments, *args, **kwargs)


def update_from_disk(original: Original, updater: Any, *args: Any, **kwargs: Any) -> Any:
    """Say that new weights do not change what was decided."""
    if sessions.any_active():
        logger.warning(
            "qpolicy: weights are loaded again from disk; the layers stay as the policy decided at the start"
        )
    return original(updater, *args, **kwargs)


@lru_cache(maxsize=16)
def _signature(original: Original) -> inspect.Signature:
    return inspect.signature(original)
