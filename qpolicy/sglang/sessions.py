"""The sessions of this process: one for each model that has a policy."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from qpolicy.checkpoint import open_checkpoint
from qpolicy.sglang import compat
from qpolicy.sglang.building import Build
from qpolicy.sglang.find import find
from qpolicy.sglang.loads import why_uncompared
from qpolicy.sglang.session import Session
from qpolicy.sglang.settings import Mode, Settings

_settings = Settings()
# By SGLang's model config, which lives as long as its model.
_sessions: WeakKeyDictionary[Any, Session | None] = WeakKeyDictionary()


def configure(settings: Settings) -> None:
    """Use these settings for every model that is built from now on."""
    global _settings  # noqa: PLW0603 - the hooks are called by SGLang and carry no state of their own
    _settings = settings


def settings() -> Settings:
    """Return the settings of this process."""
    return _settings


def start(model_config: Any, load_config: Any) -> Session | None:
    """Find the policy for a model anew, and bind it; None where there is none.

    Args:
        model_config: SGLang's model config.
        load_config: SGLang's load config.

    Raises:
        QPolicyError: The policy is broken or does not fit, or the checkpoint cannot be read.
    """
    _sessions[model_config] = session = _found(model_config, load_config)
    return session


def of(model_config: Any, load_config: Any) -> Session | None:
    """Return the session that :func:`start` made for a model, or start one."""
    session = _sessions.get(model_config)
    another = session is not None and session.draft_layer != compat.draft_layer(load_config)
    if model_config not in _sessions or another:
        return start(model_config, load_config)
    return session


def any_active() -> bool:
    """Whether any model of this process has a policy."""
    return any(session is not None for session in _sessions.values())


def drops(session: Session, config: Any, model_config: Any) -> bool:
    """Whether a ``drop`` applies to the whole of this draft."""
    return session.matcher(compat.packed_mapping(config, compat.model_class_of(model_config))).drops


def build(session: Session, model_config: Any, load_config: Any, config: Any) -> Build:
    """Return the state in which a model's layers are decided."""
    model_class = compat.model_class_of(model_config)
    return Build(
        session,
        model_class=model_class,
        config=config,
        uncompared=why_uncompared(load_config, session.checkpoint),
        mapper=compat.name_mapper(model_class, model_config.hf_config),
    )


def _found(model_config: Any, load_config: Any) -> Session | None:
    if _settings.mode is Mode.OFF:
        return None
    found = find(
        str(model_config.model_path),
        getattr(model_config, "revision", None),
        _settings,
        cache_dir=getattr(load_config, "download_dir", None),
    )
    if found is None:
        return None
    session = Session(
        found.policy,
        open_checkpoint(found.folder),
        bool(model_config.is_draft_model),
        _settings.mode,
        compat.draft_layer(load_config),
    )
    session.matcher({})  # binds once, so that a policy that does not fit is refused before anything is built
    return session
