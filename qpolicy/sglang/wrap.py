"""Gives a quantization config a class of the same name that asks the policy first.

An attribute on the instance would not do: ``copy.copy`` leaves it bound to the original, and a config that takes over
another's ``__dict__`` (SGLang 0.5.23: ``HybridFp8NvFp4Config``) would inherit it.
"""

from __future__ import annotations

import copy
from typing import Any

from qpolicy.sglang import answer, compat
from qpolicy.sglang.own_class import BASE, SESSION, base_class
from qpolicy.sglang.session import Session


def wrapped(config: Any, session: Session) -> Any:
    """Change a config's class in place, and return the config."""
    base = base_class(config)
    if base not in session.classes:
        session.classes[base] = _asking_class(base, session)
    config.__class__ = session.classes[base]
    return config


def wrapped_copy(config: Any, session: Session) -> Any:
    """Return a shallow copy that asks the policy; a config that is not the loader's may be shared between models."""
    return wrapped(copy.copy(config), session)


def _asking_class(base: Any, session: Session) -> Any:
    def get_quant_method(self: Any, layer: Any, prefix: str) -> Any:
        return answer.answer(session, self, layer, prefix)

    def is_linear_unquantized(self: Any, prefix: str) -> Any:
        return answer.linear_unquantized(session, self, prefix)

    body: dict[str, Any] = {
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
        "get_quant_method": get_quant_method,
        BASE: base,
        SESSION: session,
    }
    if compat.PROBES_LINEARS:
        body["is_linear_unquantized"] = is_linear_unquantized
    return type(base)(base.__name__, (base,), body)
