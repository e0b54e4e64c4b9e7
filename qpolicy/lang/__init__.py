"""Text to syntax tree and back: grammar, parser, syntax errors, formatter."""
