"""QP209: a condition asks for something that this checkpoint has under a name nearly the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from qpolicy.checkpoint.vocabulary import UNKNOWN, vocabularies
from qpolicy.lang.tree import DtypeIs, Fact, Has, Is
from qpolicy.lang.walk import condition_of, facts_of
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

_ALIKE = 0.8

_CHECKPOINT = """\
fp8    model.layers.0.mlp.down_proj
plain  lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""

CODE = Code(
    "QP209",
    "misspelt-fact",
    "warning",
    "A condition names a tensor or a method that is not here, and another one is that is written nearly so.",
    Page(
        explanation="""\
A tensor that no module has is no error, because one policy may serve checkpoints of several formats. So a misspelt one
is simply never there: `has(...)` is false and `not has(...)` is true for every module. The same goes for `method`,
`format` and `arch`: `compressed_tensors` is not `compressed-tensors`.

Tensors that some known format stores are not reported, and methods, formats and architectures only where nothing but
case, `-` and `_` differ.
""",
        bad=Example(
            policy="qpolicy 1\n\nwhen draft and not has(wieght_scale_inv): unquantized\n", checkpoint=_CHECKPOINT
        ),
        good=Example(
            policy="qpolicy 1\n\nwhen draft and not has(weight_scale_inv): unquantized\n", checkpoint=_CHECKPOINT
        ),
        fix="Correct the name.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Compare the names in every condition with those of the checkpoint."""
    if view.policy is None or not view.checkpoint.modules:
        return
    stored = {name for module in view.checkpoint.modules.values() for name in module.tensors}
    for statement in view.policy.document.statements:
        for fact in facts_of(condition_of(statement)):
            for written, meant in _misspelt(fact, view, stored):
                message = f"'{written}' is not in this checkpoint, but '{meant}' is"
                yield CODE.in_policy(message, view.policy.source, fact.span, fix=f"write {meant}")


def _misspelt(fact: Fact, view: View, stored: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each name in a fact that is misspelt, with the name that was probably meant."""
    if isinstance(fact, Has | DtypeIs):
        tensors = fact.tensors if isinstance(fact, Has) else (fact.tensor,)
        for tensor in tensors:
            if tensor not in stored and tensor not in _tensors_of_formats():
                yield from ((tensor, near) for near in get_close_matches(tensor, sorted(stored), 1, _ALIKE))
    elif isinstance(fact, Is):
        here = _values(fact.field, view)
        for value in fact.values:
            if value not in here:
                yield from ((value, one) for one in here if _plain(one) == _plain(value))


def _tensors_of_formats() -> frozenset[str]:
    known = vocabularies()[UNKNOWN]
    return known.weights | known.packed | known.companions | known.activations | known.sources


def _values(field: str, view: View) -> Sequence[str]:
    if field == "arch":
        return view.checkpoint.architectures
    config = view.matchers[0].binding.world.config
    if config is None:
        return ()
    value = {"method": config.method, "format": config.format}.get(field)
    return [value] if value else ()


def _plain(value: str) -> str:
    return value.casefold().replace("_", "").replace("-", "")


CHECK = Check(CODE, find)
