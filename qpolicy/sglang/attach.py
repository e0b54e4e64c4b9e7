"""Attaches the hooks of the ledger to SGLang, and verifies that they are attached."""

from __future__ import annotations

import functools
import inspect
import os
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from qpolicy.sglang import hooks, sessions
from qpolicy.sglang.entry import refusal
from qpolicy.sglang.ledger import REGISTRY, Patch, ledger
from qpolicy.sglang.settings import read_settings
from qpolicy.sglang.stop import PolicyStop

State: TypeAlias = Literal["present", "absent", "unfit"]

KNOWN = "The plugin knows SGLang 0.5.16, 0.5.22 and 0.5.23; install the qpolicy that was made for yours"
"""What to do about an SGLang that the ledger does not fit."""

_VERIFIES = "qpolicy_verifies"


def attach() -> None:
    """Register every hook with SGLang's registry; the registry applies them once all plugins are loaded.

    Raises:
        QPolicyError: A setting is wrong, or the policy that ``QPOLICY_FILE`` names is broken.
        PolicyStop: This SGLang lacks a target, or a parameter of one.
    """
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType  # noqa: PLC0415 - only inside SGLang

    sessions.configure(read_settings(os.environ))
    for row in present_rows():
        HookRegistry.register(row.target, getattr(hooks, row.hook), HookType.AROUND)
    HookRegistry.apply_hooks = classmethod(_verifying(HookRegistry.apply_hooks.__func__))


def present_rows() -> tuple[Patch, ...]:
    """Return the rows that go through the registry, without those that this SGLang may lack and does.

    Raises:
        PolicyStop: A target is missing, or it lacks a parameter that the hook relies on.
    """
    return tuple(row for row in ledger() if row.target != REGISTRY and _is_present(row))


def state_of(row: Patch) -> tuple[State, str]:
    """Return whether the target of a row is there as the hook needs it, and what is wrong with it where it is not.

    Returns:
        ``present``, ``absent`` for one that this SGLang may lack and does, or ``unfit``.
    """
    try:
        found = inspect.signature(resolve(row.target)).parameters
    except (ImportError, AttributeError) as error:
        return "absent" if row.optional else "unfit", f"this SGLang has no {row.target}: {error}"
    lacking = [name for name in row.parameters if name not in found]
    if lacking:
        return "unfit", f"{row.target} of this SGLang has no parameter {', '.join(lacking)}"
    return "present", ""


def is_attached(row: Patch) -> bool:
    """Whether a call of a row's target reaches its hook."""
    function = resolve(row.target)
    return hasattr(function, _VERIFIES) if row.target == REGISTRY else _reaches(function, getattr(hooks, row.hook))


def unattached() -> tuple[str, ...]:
    """Return the targets whose hook a call would not reach."""
    return tuple(row.target for row in present_rows() if not is_attached(row))


def resolve(target: str) -> Any:
    """Return what a dotted path names in the installed SGLang.

    Raises:
        ImportError: Its module cannot be imported.
        AttributeError: It is not there.
    """
    return pkgutil.resolve_name(target)


def _is_present(row: Patch) -> bool:
    state, why = state_of(row)
    if state == "unfit":
        raise PolicyStop(f"{why}. {KNOWN}")
    return state == "present"


def _verifying(original: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(original)
    def apply_hooks(registry: Any) -> None:
        original(registry)
        missing = unattached()
        if missing:
            stop = PolicyStop(f"SGLang attached no hook to {', '.join(missing)}. {KNOWN}")
            raise SystemExit(refusal(stop)) from stop

    setattr(apply_hooks, _VERIFIES, True)
    return apply_hooks


def _reaches(function: Any, hook: Callable[..., Any]) -> bool:
    return any(cell.cell_contents is hook for wrapper in _wrappers(function) for cell in wrapper.__closure__ or ())


def _wrappers(function: Any) -> Iterator[Any]:
    while function is not None:
        yield function
        function = getattr(function, "__wrapped__", None)
