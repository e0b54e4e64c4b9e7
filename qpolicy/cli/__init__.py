"""The command line: one module for each command, imported when that command runs."""
