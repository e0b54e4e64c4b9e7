"""The plugin inside a rehearsal: attached as in a server, but contradictions are collected instead of stopping."""

from __future__ import annotations

from typing import Any

from qpolicy.bind import load
from qpolicy.sglang import agree, attach, sessions
from qpolicy.sglang.building import Build
from qpolicy.sglang.settings import Mode, Settings


def activate(policy: str | None) -> list[Build]:
    """Attach the plugin in this process.

    Args:
        policy: The policy to use; None for the one beside the checkpoint, if there is one.

    Returns:
        A list that fills with each model that is built under a policy.

    Raises:
        QPolicyError: The policy is broken.
        PolicyStop: This SGLang lacks a target of a hook.
    """
    from sglang.srt.plugins.hook_registry import HookRegistry  # noqa: PLC0415

    attach.attach()
    HookRegistry.apply_hooks()
    sessions.configure(Settings(Mode.WARN, None if policy is None else load(policy)))
    # The other ranks are only counted: they have nothing to agree with.
    vars(agree)["demand"] = _agreed
    return _collected()


def _agreed(_session: Any) -> None: ...


def _collected() -> list[Build]:
    builds: list[Build] = []
    original = sessions.build

    def build(*args: Any, **options: Any) -> Build:
        builds.append(original(*args, **options))
        return builds[-1]

    sessions.build = build
    return builds
