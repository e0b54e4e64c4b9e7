"""What SGLang's plugin loader calls, in each of its processes.

The loader logs an ordinary exception and goes on without the plugin (SGLang 0.5.23, srt/plugins/__init__.py:
``load_plugins``), so that a policy would be lost silently. Hence this module imports only the standard library, which
cannot fail, and turns every failure into ``SystemExit``, which the loader does not catch.
"""

from __future__ import annotations

import os
from importlib import import_module

MODE = "QPOLICY_MODE"
_OFF = "off"


def register() -> None:
    """Attach qpolicy to SGLang, unless ``QPOLICY_MODE`` is ``off``.

    Raises:
        SystemExit: The plugin cannot do its work in this process; the message says why and what to do.
    """
    if os.environ.get(MODE, "").strip().lower() == _OFF:
        return
    try:
        import_module("qpolicy.sglang.attach").attach()
    except Exception as error:
        raise SystemExit(refusal(error)) from error


def refusal(error: Exception) -> str:
    """Return the message with which a process stops because the plugin cannot do its work."""
    own = getattr(error, "exit_code", None) is not None
    told = str(error).removeprefix("qpolicy: ") if own else f"{type(error).__name__}: {error}"
    return (
        f"qpolicy: SGLang is stopped, because the plugin cannot decide the model's layers:\n{told}\n"
        f"Repair this, or set {MODE}={_OFF} to serve without any policy."
    )
