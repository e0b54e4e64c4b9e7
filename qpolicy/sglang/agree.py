"""Makes sure that all ranks decide alike before any of them builds."""

from __future__ import annotations

from qpolicy.sglang import compat
from qpolicy.sglang.session import Session
from qpolicy.sglang.stop import PolicyStop

_NONE = ""


def demand(session: Session | None) -> None:
    """Compare this rank's policy and checkpoint with those of the other ranks.

    Every rank takes part, also one without a policy: it may be the one that lacks the file.

    Args:
        session: This rank's session, or None.

    Raises:
        PolicyStop: They differ; raised on every rank.
    """
    mine = (_NONE, "no policy") if session is None else (session.digest, str(session))
    everyone = compat.gather(mine)
    if len({digest for digest, _ in everyone}) > 1:
        lines = (f"  rank {rank}: {where} {digest[:12]}".rstrip() for rank, (digest, where) in enumerate(everyone))
        told = "\n".join(lines)
        raise PolicyStop(
            f"the ranks would decide differently; give all of them the same policy and checkpoint:\n{told}"
        )
