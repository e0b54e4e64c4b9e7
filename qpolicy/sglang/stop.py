"""What stops SGLang while it builds a model."""

from __future__ import annotations

from qpolicy.errors import QPolicyError


class PolicyStop(QPolicyError):  # noqa: N818 - it says what happens
    """The model must not be built as it is about to be.

    An ordinary exception on purpose: SGLang's scheduler turns it into the end of the whole server (SGLang 0.5.23,
    srt/managers/scheduler.py: ``run_scheduler_process``).
    """

    def __init__(self, message: str) -> None:
        super().__init__(f"qpolicy: {message}")
