"""The model under construction: which one it is, and what has been decided for its layers so far."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from qpolicy.bind import Decision
from qpolicy.sglang.session import Session
from qpolicy.sglang.settings import Mode
from qpolicy.sglang.stop import PolicyStop

logger = logging.getLogger("qpolicy.sglang")


@dataclass(frozen=True, slots=True)
class Asked:
    """One layer that was decided.

    Attributes:
        name: The engine's name of it; empty where the model gave none.
        layer: The class of the layer.
        kind: ``linear``, ``moe``, ``lm_head``, ``embedding``, ``attention``, or None for a layer of another kind.
        method: The class of the method that it gets, ``None`` where its constructor fills in its own.
        decision: The decision, or None where nothing could be decided.
    """

    name: str
    layer: str
    kind: str | None
    method: str
    decision: Decision | None


@dataclass(slots=True)
class Build:
    """One model under construction.

    Attributes:
        session: The policy, bound to the model's checkpoint.
        model_class: The model's class.
        config: The quantization config that the loader passes, or None.
        uncompared: Why packed layers are not compared with the disk; empty where they are.
        mapper: The object that rewrites stored names as the model class does, or None.
        asked: Every layer that was decided, in order.
        problems: What would have stopped the load in strict mode.
    """

    session: Session
    model_class: Any = None
    config: Any = None
    uncompared: str = ""
    mapper: Any = None
    asked: list[Asked] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def stop(self, message: str) -> None:
        """Stop the load; in ``warn`` mode, say so and go on.

        Raises:
            PolicyStop: In strict mode.
        """
        self.problems.append(message)
        if self.session.mode is Mode.STRICT:
            raise PolicyStop(message)
        logger.error("qpolicy: %s", message)

    def tell(self, message: str) -> None:
        """Log a warning once."""
        if message not in self._told:
            self._told.add(message)
            logger.warning("qpolicy: %s", message)


_current: ContextVar[Build | None] = ContextVar("qpolicy_build", default=None)


def current() -> Build | None:
    """Return the model under construction that a policy speaks of, or None."""
    return _current.get()


@contextmanager
def building(build: Build | None) -> Iterator[Build | None]:
    """Make this the model under construction; None for one without a policy."""
    token = _current.set(build)
    try:
        yield build
    finally:
        _current.reset(token)
