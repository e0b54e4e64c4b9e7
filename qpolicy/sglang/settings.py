"""The plugin's settings, from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from qpolicy.bind import Policy, load
from qpolicy.bind.files import policy_path
from qpolicy.errors import QPolicyError
from qpolicy.sglang.entry import MODE

FILE = "QPOLICY_FILE"


class Mode(Enum):
    """What becomes of a layer that must not be built as it is about to be."""

    STRICT = "strict"
    """The load stops."""
    WARN = "warn"
    """It is logged as an error, and SGLang's own answer is used."""
    OFF = "off"
    """Nothing is attached."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The plugin's settings.

    Attributes:
        mode: What becomes of contradictions.
        policy: The policy that ``QPOLICY_FILE`` names. It is used in place of the one beside any checkpoint.
    """

    mode: Mode = Mode.STRICT
    policy: Policy | None = None


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings.

    Args:
        environment: Such as ``os.environ``.

    Raises:
        PolicySyntaxError: ``QPOLICY_FILE`` is not a policy.
        QPolicyError: A setting has no meaning, or the file cannot be read.
    """
    file = environment.get(FILE, "").strip()
    return Settings(_mode(environment.get(MODE, "")), load(policy_path(file, by=FILE)) if file else None)


def _mode(given: str) -> Mode:
    word = given.strip().lower() or Mode.STRICT.value
    try:
        return Mode(word)
    except ValueError:
        known = ", ".join(mode.value for mode in Mode)
        raise QPolicyError(f"{MODE}={given}: expected one of {known}") from None
