"""Write every example checkpoint again: ``python examples/make_examples.py [--into FOLDER]``.

It needs nothing but Python. The files are the same, byte for byte, on every run and every machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from builder import qwen3_5_quark_mxfp4, qwen3_fp8, qwen3_next_w4afp8

EXAMPLES = (qwen3_next_w4afp8, qwen3_5_quark_mxfp4, qwen3_fp8)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write every example checkpoint.")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, help="the folder to write to")
    into: Path = parser.parse_args().into
    for example in EXAMPLES:
        example.write(into)


if __name__ == "__main__":
    main()
