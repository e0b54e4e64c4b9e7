"""What the entries of a native list say: as patterns of the language, and as the names that they were meant for."""

from qpolicy.analysis.entries.intended import Meaning, Syntax, meaning, syntax_of
from qpolicy.analysis.entries.literal import Literal, taken_literally
from qpolicy.analysis.entries.siblings import Caught, siblings
from qpolicy.analysis.entries.translate import Translation, translate

__all__ = [
    "Caught",
    "Literal",
    "Meaning",
    "Syntax",
    "Translation",
    "meaning",
    "siblings",
    "syntax_of",
    "taken_literally",
    "translate",
]
