"""Whether SGLang finds the plugin, loads it, and lets it attach each hook.

Everything here changes the whole process, which should do nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from qpolicy.sglang import entry
from qpolicy.sglang.doctor_check import Check, told
from qpolicy.sglang.ledger import Patch, ledger

GROUP, NAME, VALUE = "sglang.srt.plugins", "qpolicy", f"{entry.__name__}:{entry.register.__name__}"
ALLOWED = "SGLANG_PLUGINS"

_INSTALL = f"{sys.executable} -m pip install qpolicy"
_AGAIN = "install SGLang again as its documentation says"


def discovered(plugins: ModuleType) -> Check:
    """Look for the plugin where SGLang looks, by SGLang's own discovery.

    Args:
        plugins: The module ``sglang.srt.plugins``.
    """
    try:
        return _discovered(plugins)
    except Exception as error:
        return _failed(f"SGLang's discovery fails: {told(error)}", _AGAIN)


def _discovered(plugins: ModuleType) -> Check:
    found = [one for one in entry_points(group=GROUP) if one.name == NAME]
    if not found:
        here = Path(entry.__file__).parents[1]
        told = f"no installed package has an entry point '{NAME}' in the group {GROUP}; {here} only lies on the path"
        return _failed(told, _INSTALL)
    names = ", ".join(_described(one) for one in found)
    if any(one.value != VALUE for one in found):
        return _failed(f"the entry point is not {VALUE} but {names}", f"uninstall what brings it, then {_INSTALL}")
    if NAME not in plugins.load_plugins_by_group(GROUP, excluded_dists=plugins._get_excluded_dists()):
        return _left_out(found[-1])
    if len(found) > 1:
        return Check("plugin", "discovered", "note", f"several distributions bring the entry point: {names}")
    return Check("plugin", "discovered", "ok", f"by the entry point {names}")


def loaded(plugins: ModuleType, *, by_sglang: bool) -> Check:
    """Load all plugins, as SGLang does at the start of each of its processes, and attach their hooks.

    Args:
        plugins: The module ``sglang.srt.plugins``.
        by_sglang: Whether SGLang finds this plugin; if not, it is called here, so that its hooks are examined too.
    """
    try:
        if by_sglang:
            plugins.load_plugins()
        else:
            entry.register()
            plugins.HookRegistry.apply_hooks()
    except (Exception, SystemExit) as error:
        why = told(error.__cause__ or error)
        return Check("plugin", "loaded", "fail", f"it stops SGLang: {why}", "repair what is said here and below")
    if by_sglang:
        return Check("plugin", "loaded", "ok", "SGLang loaded it and applied its hooks")
    return Check("plugin", "loaded", "note", "SGLang does not load it; called by hand to examine the rest")


def hooks(*, stopped: bool) -> Iterator[Check]:
    """Look at each row of the ledger, once :func:`loaded` has run.

    Args:
        stopped: Whether the plugin could not be loaded, which explains hooks that are not attached.
    """
    for row in ledger():
        try:
            yield _hook(row, stopped)
        except Exception as error:
            yield _hook_failed(row, f"its target cannot be looked at: {told(error)}", _AGAIN)


def _hook(row: Patch, stopped: bool) -> Check:
    from qpolicy.sglang import attach  # noqa: PLC0415 - imports torch and SGLang

    state, why = attach.state_of(row)
    if state == "absent":
        return Check("hook", row.target, "note", f"{why}; there is nothing to attach to")
    if state == "unfit":
        return _hook_failed(row, why, attach.KNOWN)
    if attach.is_attached(row):
        return Check("hook", row.target, "ok", "attached")
    if stopped:
        return Check("hook", row.target, "note", "there, but not attached: the plugin could not be loaded")
    return _hook_failed(row, "a call does not reach the hook", attach.KNOWN)


def _hook_failed(row: Patch, message: str, fix: str) -> Check:
    return Check("hook", row.target, "fail", message, fix)


def _failed(message: str, fix: str) -> Check:
    return Check("plugin", "discovered", "fail", message, fix)


def _described(found: EntryPoint) -> str:
    return f"{found.value} of {found.dist.name} {found.dist.version}" if found.dist else found.value


def _left_out(found: EntryPoint) -> Check:
    """Say why SGLang's discovery leaves out an entry point that is there."""
    allowed = os.environ.get(ALLOWED, "")
    if allowed and NAME not in {one.strip() for one in allowed.split(",")}:
        return _failed(f"{ALLOWED}={allowed} leaves it out", f"add {NAME} to {ALLOWED}, or unset it")
    try:
        found.load()
    except Exception as error:
        return _failed(f"it cannot be imported: {told(error)}", _INSTALL)
    return _failed("SGLang's discovery leaves it out", "unset SGLANG_PLATFORM, or name another platform in it")
