"""Patterns over dotted module names: one pattern, sets of patterns as values, the automaton."""

from qpolicy.paths.errors import PatternError, Undecided
from qpolicy.paths.index import PatternIndex
from qpolicy.paths.miss import Miss, nearest_miss, nearest_misses
from qpolicy.paths.names import NameTree
from qpolicy.paths.pattern import Pattern
from qpolicy.paths.sets import PathSet
from qpolicy.paths.suggest import Suggestion, suggest

__all__ = [
    "Miss",
    "NameTree",
    "PathSet",
    "Pattern",
    "PatternError",
    "PatternIndex",
    "Suggestion",
    "Undecided",
    "nearest_miss",
    "nearest_misses",
    "suggest",
]
