"""One line for each layer that was run: what it is compared with, what is wrong with it, and how it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

KERNEL_WIDTH = 56


@dataclass(frozen=True)
class Seen:
    """A layer as it ran.

    Attributes:
        name: The name by which SGLang asks about it.
        layer: Its class.
        method: The class of its quantization method.
        scheme: The class of the method's scheme, or an empty text.
        home: The module that the method's class comes from.
        kernels: The CUDA kernels that one call ran, each once, in order.
        error: The relative error of its output.
    """

    name: str
    layer: str
    method: str
    scheme: str
    home: str
    kernels: tuple[str, ...]
    error: float


@dataclass(frozen=True)
class Row:
    """A layer that was built through the plugin, beside the same layer of SGLang alone.

    Attributes:
        format: The checkpoint's format.
        quantized: Whether the layer's tensors are quantized.
        tolerance: The largest error that is accepted.
        seen: The layer as the plugin built it.
        control: The same layer without plugin or policy, from a checkpoint whose own list is right.
    """

    format: str
    quantized: bool
    tolerance: float
    seen: Seen
    control: Seen

    def problems(self, on_gpu: bool = True) -> tuple[str, ...]:
        """What is wrong; nothing where the layer is as it should be."""
        seen, control = self.seen, self.control
        plain = seen.method.startswith("Unquantized")
        wrong = {
            f"{seen.method} for {'quantized' if self.quantized else 'plain'} tensors": plain == self.quantized,
            f"{seen.home} is not SGLang's": not seen.home.startswith("sglang."),
            f"SGLang alone gives it {control.method} {control.scheme}": _chosen(seen) != _chosen(control),
            "no CUDA kernel was seen": on_gpu and not seen.kernels,
            f"SGLang alone runs {', '.join(control.kernels)}": set(seen.kernels) != set(control.kernels),
            f"error {seen.error:.4f} is over {self.tolerance}": not seen.error <= self.tolerance,
        }
        return tuple(text for text, holds in wrong.items() if holds)


@dataclass(frozen=True)
class Failure:
    """A format of which nothing could be run, and why."""

    format: str
    reason: str


HEADER = ("format", "layer", "tensors", "method", "kernels", "error", "")


def markdown(rows: Sequence[Row], failures: Sequence[Failure], on_gpu: bool = True) -> str:
    """Return the table as Markdown, with what is wrong below it."""
    cells = [HEADER, tuple("---" for _ in HEADER), *(_cells(row, on_gpu) for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    for row in rows:
        lines += [f"WRONG {row.format} {row.seen.name}: {text}" for text in row.problems(on_gpu)]
    lines += [f"FAILED {failure.format}: {failure.reason}" for failure in failures]
    return "\n".join(lines)


def _cells(row: Row, on_gpu: bool) -> tuple[str, ...]:
    seen = row.seen
    return (
        row.format,
        f"{seen.name.removeprefix('model.layers.')} ({seen.layer})",
        "quantized" if row.quantized else "plain",
        f"{seen.method} {seen.scheme}".strip(),
        "; ".join(short(kernel) for kernel in seen.kernels) or "-",
        f"{seen.error:.4f}",
        "wrong" if row.problems(on_gpu) else "ok",
    )


def short(kernel: str) -> str:
    """A kernel's name without its arguments, cut to a width that a table bears."""
    name = kernel.removeprefix("void ").replace("|", "/")
    return name if len(name) <= KERNEL_WIDTH else name[: KERNEL_WIDTH - 3] + "..."


def _chosen(seen: Seen) -> tuple[str, str, str]:
    return seen.method, seen.scheme, seen.home
