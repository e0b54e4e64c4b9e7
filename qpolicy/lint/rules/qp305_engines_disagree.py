"""QP305: two engines would decide a module differently."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.built import outcome
from qpolicy.lint.rules.entries import some
from qpolicy.lint.view import View

_CHECKPOINT = """\
plain  lm_head
fp8    model.layers.0.mlp.down_proj
{"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "modules_to_not_convert": []}}
"""
_ENGINES = ("sglang", "transformers")

CODE = Code(
    "QP305",
    "engines-disagree",
    "warning",
    "Engines that were named with `--engine` would decide the same modules differently.",
    Page(
        explanation="""\
The same list means different things to different engines, and to different versions of one, such as
`sglang` and `sglang 0.5.16`. `--engine`, given more than once, compares the first with the others. In the example
SGLang never quantizes an fp8 head, and transformers does where the list is silent. The checkpoint will not load
everywhere.
""",
        bad=Example(checkpoint=_CHECKPOINT, engines=_ENGINES),
        good=Example(policy="qpolicy 1\n\nlm_head: unquantized\n", checkpoint=_CHECKPOINT, engines=_ENGINES),
        fix="Decide the modules by a rule, or write the list so that all of these engines read it alike.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Compare what this engine builds with what the others do, module by module."""
    own = _outcomes(view)
    for other in view.others:
        groups: dict[tuple[str, str, str], list[str]] = {}
        for key, found in _outcomes(other).items():
            if key in own and own[key] != found:
                groups.setdefault((key[0], own[key], found), []).append(key[1])
        for (who, mine, theirs), names in groups.items():
            yield _finding(view, other, (who, mine, theirs), names)


def _finding(view: View, other: View, how: tuple[str, str, str], names: list[str]) -> Finding:
    who, mine, theirs = how
    return CODE.finding(
        f"{view.engine} decides {some(names)} of the {who} as {_told(mine)}, {other.engine} as {_told(theirs)}",
        modules=tuple(names),
        file=view.list_file,
        fix=f"{names[0]}: {'unquantized' if _is_plain(view, names[0]) else 'quantized'}",
    )


def _told(outcome: str) -> str:
    return "an error" if outcome == "error" else outcome


def _is_plain(view: View, name: str) -> bool:
    module = view.checkpoint.modules.get(name)
    return module is not None and module.quantized is False


def _outcomes(view: View) -> dict[tuple[str, str], str]:
    """Return what becomes of each stored module, for target and draft; without those of which it is not known."""
    found: dict[tuple[str, str], str] = {}
    for layer in view.layers:
        known = outcome(view, layer)
        if known is not None:
            found |= {(layer.who, name): known for name in layer.modules}
    return found


CHECK = Check(CODE, find)
