"""Patterns over dotted module names: one pattern, sets of patterns as values, the automaton."""
