"""One thing that ``qpolicy sglang doctor`` looked at: plain values that travel between processes as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["ok", "note", "fail"]
Group: TypeAlias = Literal["sglang", "plugin", "hook", "probe", "setting", "policy"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at and what came of it.

    Attributes:
        group: What it belongs to.
        name: What was looked at; for a hook, the dotted path of its target.
        status: ``note`` for what may be so but is worth knowing, ``fail`` for what keeps a policy from being followed.
        message: What was seen, in words.
        fix: What to do about a failure; empty otherwise.
        digest: The digest of what decisions follow from, where a policy was bound; empty otherwise.
    """

    group: Group
    name: str
    status: Status
    message: str
    fix: str = ""
    digest: str = ""

    def to_line(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Check:
        """Return what :meth:`to_line` gave."""
        values: dict[str, Any] = json.loads(line)
        return cls(**values)


def told(error: BaseException) -> str:
    """Return what an exception says: ours as it is, another one with its class."""
    own = getattr(error, "exit_code", None) is not None
    return str(error).removeprefix("qpolicy: ") if own else f"{type(error).__name__}: {error}"
