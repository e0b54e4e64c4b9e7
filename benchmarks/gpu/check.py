"""Builds every format twice, with SGLang alone and through the plugin, and puts the two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpu import checkpoints, engine, layers
from gpu.checkpoints import DENSE, MOE
from gpu.formats import PLAIN_TOLERANCE, Format
from gpu.table import Failure, Row, Seen

Ran = dict[str, dict[str, Seen]]


def check(formats: Sequence[Format], work: Path, device: str) -> tuple[list[Row], list[Failure]]:
    """Run the check.

    Args:
        formats: The formats.
        work: An empty folder for the checkpoints.
        device: ``cuda``; the tests use ``cpu``.

    Returns:
        A row for each layer, and the formats that failed.
    """
    engine.start(device)
    layers.register()
    failures: list[Failure] = []
    alone = _run_all(formats, work / "alone", device, failures, policy=False)
    load_plugin()
    through = _run_all(formats, work / "plugin", device, failures, policy=True)
    rows = [
        _row(form, seen, alone[form.name][name])
        for form in formats
        if form.name in alone and form.name in through
        for name, seen in through[form.name].items()
    ]
    return rows, failures


def load_plugin() -> None:
    """Let SGLang load its plugins, and make sure that qpolicy's is among them.

    Raises:
        RuntimeError: SGLang did not find it.
    """
    from sglang.srt.plugins import load_plugins  # noqa: PLC0415

    load_plugins()
    from qpolicy.sglang.attach import unattached  # noqa: PLC0415

    missing = unattached()
    if missing:
        raise RuntimeError(f"SGLang did not load the plugin: nothing is attached to {', '.join(missing)}")


def _run_all(formats: Sequence[Format], work: Path, device: str, failures: list[Failure], *, policy: bool) -> Ran:
    ran: Ran = {}
    for form in formats:
        try:
            written = checkpoints.write(work / form.name, form, policy=policy)
            model = engine.load(written.folder, device)
            ran[form.name] = {seen.name: seen for seen in engine.run(model, written, device)}
        except Exception as error:  # one format that fails must not hide the others
            where = "through the plugin" if policy else "with SGLang alone"
            failures.append(Failure(form.name, f"{where}: {type(error).__name__}: {error}"))
    return ran


def _row(form: Format, seen: Seen, control: Seen) -> Row:
    quantized = int(seen.name.split(".")[2]) in (DENSE, MOE)
    return Row(form.name, quantized, form.tolerance if quantized else PLAIN_TOLERANCE, seen, control)
