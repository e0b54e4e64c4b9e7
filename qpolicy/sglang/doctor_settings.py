"""What a server started from this environment would read: the plugin's settings, and the policy for a checkpoint.

Nothing here needs SGLang.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qpolicy.bind import Policy, askers
from qpolicy.bind.names_table import draft_row
from qpolicy.checkpoint import Checkpoint, open_checkpoint
from qpolicy.errors import QPolicyError
from qpolicy.sglang.doctor_check import Check, Status, told
from qpolicy.sglang.entry import MODE
from qpolicy.sglang.find import Found, find
from qpolicy.sglang.session import ENGINE, Session
from qpolicy.sglang.settings import FILE, Mode, Settings, read_settings

_MEANS: Mapping[Mode, tuple[Status, str]] = {
    Mode.STRICT: ("ok", "what must not be built stops the load"),
    Mode.WARN: ("note", "what must not be built is logged, and SGLang's own answer is used"),
    Mode.OFF: ("note", "the plugin does nothing in a server started like this; the rest was examined without it"),
}


def settings_seen(environment: Mapping[str, str]) -> tuple[Settings | None, tuple[Check, ...]]:
    """Read the settings one by one.

    Args:
        environment: Such as ``os.environ``.

    Returns:
        The settings, or None where a server would stop because of them; and a check for each.
    """
    mode, seen = _mode(environment)
    policy, named = _file(environment)
    broken = mode is None or named.status == "fail"
    return None if broken else Settings(mode or Mode.STRICT, policy), (seen, named)


def policy_seen(checkpoint: str, settings: Settings) -> Iterator[Check]:
    """Find the policy for a checkpoint as the plugin does, and bind it to target and draft.

    Args:
        checkpoint: What SGLang would be given as the model's path.
        settings: The plugin's settings.
    """
    try:
        found = find(checkpoint, None, settings)
        opened = None if found is None else open_checkpoint(found.folder)
    except (QPolicyError, OSError) as error:
        yield Check("policy", checkpoint, "fail", told(error), f"repair this, or set {MODE}=off to serve without it")
        return
    if found is None or opened is None:
        yield Check("policy", checkpoint, "note", "it has no policy, so it is served as without the plugin")
        return
    yield _taken(checkpoint, found, settings)
    for draft in askers(opened, standalone=_stands_alone(opened)):
        yield _bound(found, opened, draft, settings.mode)


def _mode(environment: Mapping[str, str]) -> tuple[Mode | None, Check]:
    given = environment.get(MODE, "")
    try:
        mode = read_settings({MODE: given}).mode
    except QPolicyError as error:
        return None, Check("setting", MODE, "fail", told(error), f"set one of them, or unset {MODE}")
    status, means = _MEANS[mode]
    return mode, Check("setting", MODE, status, f"{mode.value}{'' if given.strip() else ' by default'}: {means}")


def _file(environment: Mapping[str, str]) -> tuple[Policy | None, Check]:
    given = environment.get(FILE, "").strip()
    if not given:
        return None, Check("setting", FILE, "ok", "not set: the policy beside each checkpoint is used")
    try:
        policy = read_settings({FILE: given}).policy
    except (QPolicyError, OSError) as error:
        return None, Check("setting", FILE, "fail", told(error), f"repair the policy, or unset {FILE}")
    return policy, Check("setting", FILE, "ok", f"{given} is used in place of the policy beside each checkpoint")


def _taken(checkpoint: str, found: Found, settings: Settings) -> Check:
    whence = "beside the checkpoint" if settings.policy is None else f"named by {FILE}"
    name = found.policy.source.name
    if settings.mode is Mode.OFF:
        return Check("policy", checkpoint, "note", f"{name}, {whence}, would be ignored: {MODE}=off")
    return Check("policy", checkpoint, "ok", f"{name}, {whence}")


def _bound(found: Found, checkpoint: Checkpoint, draft: bool, mode: Mode) -> Check:
    name = "draft" if draft else "target"
    try:
        session = Session(found.policy, checkpoint, draft, mode)
        session.matcher({})
    except QPolicyError as error:
        return Check("policy", name, "fail", told(error), f"`qpolicy check {checkpoint.path}` says more")
    return Check("policy", name, "ok", f"the policy binds; digest {session.digest[:12]}", digest=session.digest)


def _stands_alone(checkpoint: Checkpoint) -> bool:
    """Whether a checkpoint is that of a draft which has one of its own, such as EAGLE."""
    row = draft_row(ENGINE, checkpoint.architectures)
    return row is not None and row.standalone and not checkpoint.draft_modules
