"""Patterns over dotted module names: one pattern, sets of patterns as values, the automaton."""

from qpolicy.paths.errors import PatternError, Undecided
from qpolicy.paths.index import PatternIndex
from qpolicy.paths.miss import Miss, nearest_miss, nearest_misses
from qpolicy.paths.pattern import Pattern

__all__ = ["Miss", "Pattern", "PatternError", "PatternIndex", "Undecided", "nearest_miss", "nearest_misses"]
