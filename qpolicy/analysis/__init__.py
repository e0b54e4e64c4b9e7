"""What can be proven about a policy: reachability, comparison, coverage.

Everything is proven in this process, without a solver. A policy tells apart finitely many kinds of names
(`qpolicy.analysis.cells`); for each, what is left of its conditions depends on finitely many variables
(`qpolicy.analysis.variables`), of which all consistent values are looked at (`qpolicy.analysis.solve`). Answers are
exact within a budget, and "undecided" beyond it.
"""

from qpolicy.analysis.analyse import Analysis, analyse
from qpolicy.analysis.changes import Change
from qpolicy.analysis.compare import Comparison, Difference, compare
from qpolicy.analysis.coverage import Coverage, Used, coverage
from qpolicy.analysis.deciders import Decider
from qpolicy.analysis.limits import Limits
from qpolicy.analysis.proof import Proof, Taken
from qpolicy.analysis.redundant import Repeat
from qpolicy.analysis.situation import Situation

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
