"""The process in which the plugin is examined: loads SGLang, and the plugin into it, as a server would.

Run as ``python -m qpolicy.sglang.doctor_worker RESULTS``: a file for one line of JSON per check. SGLang keeps
process-wide state and prints to both streams, so nothing else happens here.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from qpolicy.sglang.doctor_check import Check, told
from qpolicy.sglang.doctor_plugin import discovered, hooks, loaded
from qpolicy.sglang.doctor_probe import probe

PLUGINS = "sglang.srt.plugins"
SETTINGS = ("QPOLICY_MODE", "QPOLICY_FILE")


def main(arguments: list[str]) -> int:
    """Examine the plugin, writing each check as soon as it is known."""
    (results,) = arguments
    warnings.filterwarnings("ignore")
    os.environ["HF_HUB_OFFLINE"] = "1"  # the probe's model lies in its own folder
    with Path(results).open("w", encoding="utf-8") as out:
        for check in examined():
            out.write(check.to_line() + "\n")
            out.flush()
    return 0


def examined() -> Iterator[Check]:
    """Look at discovery, hooks and answers, whatever the plugin's own settings are: they are looked at elsewhere."""
    for name in SETTINGS:
        os.environ.pop(name, None)
    try:
        plugins = import_module(PLUGINS)
    except (Exception, SystemExit) as error:
        yield _unimportable(error)
        return
    found = discovered(plugins)
    yield found
    load = loaded(plugins, by_sglang=found.status != "fail")
    yield load
    stopped = load.status == "fail"
    yield from hooks(stopped=stopped)
    if not stopped:
        yield from probe()


def _unimportable(error: BaseException) -> Check:
    if isinstance(error, ModuleNotFoundError) and error.name == PLUGINS:
        return Check(
            "plugin",
            "discovered",
            "fail",
            f"this SGLang loads no plugins: it has no {PLUGINS}",
            "install SGLang 0.5.16 or newer",
        )
    return Check(
        "sglang",
        "imported",
        "fail",
        f"SGLang cannot be imported: {told(error)}",
        f"repair SGLang until `{sys.executable} -c 'import {PLUGINS}'` works",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
