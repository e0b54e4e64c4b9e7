"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from click.decorators import FC
    from click.shell_completion import CompletionItem

Families: TypeAlias = Mapping[str, Sequence[str]]

KINDS = ("linear", "moe", "lm_head", "embedding", "attention")


def families(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> Families:
    """Read the values of ``--packed``: each fused layer's last name and those of its parts.

    Raises:
        BadParameter: A value is not of the form ``FUSED=PART,PART``.
    """
    return dict(_family(value) for value in given)


def _family(value: str) -> tuple[str, tuple[str, ...]]:
    fused, _, rest = value.partition("=")
    parts = tuple(part.strip() for part in rest.split(","))
    if not fused.strip() or not all(parts) or len(set(parts)) < len(parts) or set(value) & set(". "):
        raise click.BadParameter(
            f"'{value}' is not a fused layer and its parts; write last names without dots, such as "
            "qkv_proj=q_proj,k_proj,v_proj"
        )
    return fused, parts


def settled(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
    """Return what the command line gives for an option, or else what pyproject.toml does, or else the default.

    The settings are those above the current folder. Those that come with a checkpoint do not count, so that no
    stranger's file can change what is checked.

    Raises:
        QPolicyError: The settings cannot be read.
    """
    from qpolicy.cli.settings import settings_near  # noqa: PLC0415 - the help needs no settings

    name = parameter.name or ""
    if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
        return given
    return settings_near(Path.cwd()).values.get(name, given)


def folders(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete folders."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only completion needs it

    return [CompletionItem(incomplete, type="dir")]


def policies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete files, or complete the names of the shipped policies."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only completion needs it

    from qpolicy.bind.files import BUILTIN, builtin_policies  # noqa: PLC0415

    shipped = [f"{BUILTIN}{name}" for name in builtin_policies()] if incomplete else []
    found = [CompletionItem(name) for name in shipped if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


checkpoint = click.argument("checkpoint", metavar="CKPT", shell_complete=folders)
policy = click.option(
    "--policy",
    metavar="FILE",
    callback=settled,
    shell_complete=policies,
    help="The policy, or builtin:NAME for one shipped with qpolicy. By default the one *.qpolicy file beside the "
    "checkpoint, if there is one.",
)
engine = click.option(
    "--engine",
    default="sglang",
    show_default=True,
    metavar="NAME",
    callback=settled,
    help="The engine that asks, perhaps with a version: 'sglang 0.5.16'.",
)


def engine_names(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    """Return the engines that ``--engine`` names, or else the settings, or else the default.

    Raises:
        QPolicyError: The settings cannot be read.
    """
    found = settled(context, parameter, given)
    return (found,) if isinstance(found, str) else tuple(found)


engines = click.option(
    "--engine",
    metavar="NAME",
    multiple=True,
    default=["sglang"],
    show_default=True,
    callback=engine_names,
    help="The engine that asks, perhaps with a version: 'sglang 0.5.16'. Given more than once, the engines are "
    "compared as well.",
)
draft = click.option("--draft", is_flag=True, help="Ask as the speculative draft (MTP, EAGLE) instead of the target.")
strict = click.option(
    "--strict/--no-strict",
    callback=settled,
    help="Make it an error when a condition is unknown and would have mattered.",
)
packed = click.option(
    "--packed",
    metavar="F=a,b,c",
    multiple=True,
    callback=families,
    help="One more fused layer and its parts, such as qkv_proj=q_proj,k_proj,v_proj. May be repeated.",
)
kind = click.option(
    "--kind", type=click.Choice(KINDS), help="What kind of layer the engine asks for. By default what the tensors say."
)


def codes(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    """Read the values of ``--select`` or ``--ignore``, each with commas between several.

    Raises:
        QPolicyError: One of them fits no finding's code.
    """
    from qpolicy.lint.selection import prefixes  # noqa: PLC0415 - the help needs no codes

    texts = [text.strip() for one in given for text in one.split(",")]
    return prefixes(texts, f"--{parameter.name}")


select = click.option(
    "--select",
    metavar="CODES",
    multiple=True,
    callback=codes,
    help="Report only these findings: codes, prefixes such as QP3, or names, with commas between several.",
)
ignore = click.option(
    "--ignore", metavar="CODES", multiple=True, callback=codes, help="Do not report these findings; written alike."
)


def output_format(*names: str) -> Callable[[FC], FC]:
    """Return the ``--format`` option with these formats, the first of them the default."""
    return click.option(
        "--format", "format_", type=click.Choice(names), default=names[0], show_default=True, help="How to print."
    )
