"""Text to syntax tree and back: grammar, parser, syntax errors, formatter."""

from qpolicy.lang.decode import decode
from qpolicy.lang.formatter import format_source
from qpolicy.lang.issue import PolicySyntaxError, SyntaxIssue
from qpolicy.lang.parser import parse
from qpolicy.lang.source import Source, Span

__all__ = ["PolicySyntaxError", "Source", "Span", "SyntaxIssue", "decode", "format_source", "parse"]
