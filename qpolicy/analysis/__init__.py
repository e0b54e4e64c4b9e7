"""What can be proven about a policy: reachability, comparison, coverage.

Everything is proven in this process, without a solver. A policy tells apart finitely many kinds of names
(`qpolicy.analysis.cells`); for each, what is left of its conditions depends on finitely many variables
(`qpolicy.analysis.variables`), of which all consistent values are looked at (`qpolicy.analysis.solve`). Answers are
exact within a budget, and "undecided" beyond it.
"""

from typing import TYPE_CHECKING

from qpolicy.analysis.analyse import Analysis, analyse
from qpolicy.analysis.deciders import Decider
from qpolicy.analysis.limits import Limits
from qpolicy.analysis.proof import Proof, Taken
from qpolicy.analysis.redundant import Repeat
from qpolicy.analysis.situation import Situation
from qpolicy.lazy import lazily

if TYPE_CHECKING:
    from qpolicy.analysis.changes import Change
    from qpolicy.analysis.comparing import Comparison, Difference, compare
    from qpolicy.analysis.covering import Coverage, Used, coverage

__all__ = [
    "Analysis",
    "Change",
    "Comparison",
    "Coverage",
    "Decider",
    "Difference",
    "Limits",
    "Proof",
    "Repeat",
    "Situation",
    "Taken",
    "Used",
    "analyse",
    "compare",
    "coverage",
]

# What takes a checkpoint is imported when it is used.
__getattr__ = lazily(
    __name__,
    {
        "qpolicy.analysis.changes": ("Change",),
        "qpolicy.analysis.comparing": ("Comparison", "Difference", "compare"),
        "qpolicy.analysis.covering": ("Coverage", "Used", "coverage"),
    },
)
