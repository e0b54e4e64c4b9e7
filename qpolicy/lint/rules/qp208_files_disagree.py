"""QP208: the checkpoint's files contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

CODE = Code(
    "QP208",
    "files-disagree",
    "error",
    "The index and the shards of the checkpoint disagree, or a file cannot be read.",
    Page(
        explanation="""\
Tensors or files are missing, stored twice, or not listed in the index; or a file cannot be read. The engine would stop,
or load weights from the wrong file. Odd but harmless contents are a warning. In the example, `missing` is a module that
the index lists in a file that is not there.
""",
        bad=Example(
            checkpoint="""\
fp8      model.layers.0.self_attn.o_proj
missing  lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""
        ),
        good=Example(
            checkpoint="""\
fp8      model.layers.0.self_attn.o_proj
plain    lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""
        ),
        fix="Write the index again, or fetch the missing file.",
    ),
)


_WARNINGS = frozenset({"no-headers", "odd-name", "duplicate-key", "ignored-value", "several-indexes", "unlisted-shard"})
_ABOUT_FILES = frozenset({"missing-shard", "unlisted-shard"})


def find(view: View) -> Iterator[Finding]:
    """Report what the checkpoint reader noticed."""
    for problem in view.checkpoint.problems:
        yield CODE.finding(
            problem.message,
            modules=() if problem.kind in _ABOUT_FILES else problem.tensors,
            file=str(view.checkpoint.path / problem.file),
            severity="warning" if problem.kind in _WARNINGS else "error",
        )


CHECK = Check(CODE, find)
