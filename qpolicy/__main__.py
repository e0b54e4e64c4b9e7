"""Runs the command line as ``python -m qpolicy``."""

from qpolicy.cli.main import main

if __name__ == "__main__":
    main(prog_name="qpolicy")
