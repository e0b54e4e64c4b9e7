"""Finds the files that travel with the package: the grammar and the shipped policies.

They lie at the top of a checkout and under ``qpolicy/_shipped`` in an installed wheel.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(folder: str) -> Path:
    """Return the folder of shipped files with this name.

    Args:
        folder: ``"grammar"`` or ``"policies"``.

    Returns:
        The folder inside the installed package, or else the one of the checkout.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    for candidate in (_PACKAGE / "_shipped" / folder, _PACKAGE.parent / folder):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"qpolicy's installation lacks its folder '{folder}'; install qpolicy again")
