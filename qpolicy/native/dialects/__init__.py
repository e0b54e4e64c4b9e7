"""The dialects in which quantizers publish their lists: one module each, with one pydantic model.

A module of this package is found by being here; its class that derives from `Published` is the dialect's.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from qpolicy.native.published import Published


def model_of(method: str, quantization: Mapping[str, Any]) -> type[Published] | None:
    """Return the model of the dialect that a config is of, or None for one that is not known.

    Args:
        method: The config's ``quant_method``.
        quantization: The config.
    """
    return next((model for model in models() if model.claims(method, quantization)), None)


@lru_cache(maxsize=1)
def models() -> tuple[type[Published], ...]:
    """Return the models of all dialects."""
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(model for name in modules for model in _models_of(importlib.import_module(f"{__name__}.{name}")))


def _models_of(module: ModuleType) -> Iterator[type[Published]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Published) and value.__module__ == module.__name__:
            yield value
