"""Lets the doctor examine SGLang after something in it was broken: ``python doctor_cases.py RESULTS``.

SGLang is imported once and then forked, because importing it takes most of the time. The JSON file that is written
holds the checks of each case.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

FORK: Any = multiprocessing.get_context("fork")
TARGET = "_initialize_model"


def nothing() -> None: ...


def without_target() -> None:
    from sglang.srt.model_loader import loader

    delattr(loader, TARGET)


def other_parameters() -> None:
    from sglang.srt.model_loader import loader

    setattr(loader, TARGET, lambda model_config, load_config: None)


def older() -> None:
    from sglang.srt.models import qwen3_5_mtp

    del qwen3_5_mtp._mtp_quant_config


def not_installed() -> None:
    import sglang.srt.plugins

    from qpolicy.sglang import doctor_plugin

    for module in (sglang.srt.plugins, doctor_plugin):
        vars(module)["entry_points"] = lambda group: ()


def no_discovery() -> None:
    import sglang.srt.plugins

    del sglang.srt.plugins.load_plugins_by_group


def left_out() -> None:
    os.environ["SGLANG_PLUGINS"] = "another, third"


def let_in() -> None:
    os.environ["SGLANG_PLUGINS"] = "another, qpolicy"


def settings() -> None:
    os.environ |= {"QPOLICY_MODE": "off", "QPOLICY_FILE": "builtin:none"}


def hook_lost() -> None:
    """SGLang logs a hook that it cannot apply, and goes on."""
    from sglang.srt.plugins.hook_registry import HookRegistry

    apply: Callable[..., None] = HookRegistry._apply_target

    def failing(target: str, hooks: Any) -> None:
        if target.endswith(TARGET):
            raise RuntimeError("this one fails")
        apply(target, hooks)

    HookRegistry._apply_target = failing


def replaced_later() -> None:
    """Another plugin puts a function of its own in the place of a hooked one."""
    from sglang.srt import plugins
    from sglang.srt.model_loader import loader

    original, load = getattr(loader, TARGET), plugins.load_plugins

    def load_plugins() -> None:
        load()
        setattr(loader, TARGET, original)

    plugins.load_plugins = load_plugins


def policy_not_asked() -> None:
    from qpolicy.sglang import answer
    from qpolicy.sglang.own_class import base_class

    answer.answer = lambda _session, config, *asked: base_class(config).get_quant_method(config, *asked)


def policy_not_found() -> None:
    from qpolicy.sglang import sessions

    sessions.find = lambda *_arguments, **_options: None


def no_plugin_loader() -> None:
    sys.modules["sglang.srt.plugins"] = None  # type: ignore[assignment]


def other_entry_point() -> None:
    from importlib.metadata import EntryPoint

    from qpolicy.sglang import doctor_plugin

    stranger = EntryPoint("qpolicy", "elsewhere:start", "sglang.srt.plugins")
    doctor_plugin.entry_points = lambda group: (stranger,)


CASES = (
    nothing,
    without_target,
    other_parameters,
    older,
    not_installed,
    no_discovery,
    left_out,
    let_in,
    settings,
    hook_lost,
    replaced_later,
    policy_not_asked,
    policy_not_found,
    no_plugin_loader,
    other_entry_point,
)


def examine(case: Callable[[], None], output: Path) -> None:
    from qpolicy.sglang.doctor_worker import examined

    case()
    output.write_text(json.dumps([asdict(check) for check in examined()]))


def main() -> None:
    results = Path(sys.argv[1])
    import sglang.srt.model_executor.model_runner_components.weight_updater
    import sglang.srt.model_loader.loader
    import sglang.srt.models.qwen3_5_mtp  # noqa: F401

    seen = {}
    for case in CASES:
        output = results.with_name(f"{case.__name__}.json")
        child = FORK.Process(target=examine, args=(case, output))
        child.start()
        child.join()
        seen[case.__name__] = json.loads(output.read_text())
    results.write_text(json.dumps(seen))


if __name__ == "__main__":
    main()
