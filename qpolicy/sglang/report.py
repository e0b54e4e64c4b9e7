"""What the plugin logs about a model that was built."""

from __future__ import annotations

from collections import Counter

from qpolicy.sglang.building import Build, logger


def summarise(build: Build | None) -> None:
    """Log how many layers were decided, and by what; each layer by itself at debug level."""
    if build is None:
        return
    for asked in build.asked:
        by = "undecided" if asked.decision is None else asked.decision.rule or "the checkpoint's list"
        logger.debug("qpolicy: %s (%s): %s, by %s", asked.name, asked.layer, asked.method, by)
    logger.info("qpolicy: %s: %s", build.session, summary(build))


def summary(build: Build) -> str:
    """Return the counts of the layers of a model, in words."""
    decided = [asked for asked in build.asked if asked.decision is not None and asked.kind != "attention"]
    outcomes = Counter(str(asked.decision.outcome) for asked in decided if asked.decision is not None)
    by_rule = sum(1 for asked in decided if asked.decision is not None and asked.decision.rule is not None)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "none"
    unnamed = sum(1 for asked in build.asked if not asked.name)
    nameless = f"; {unnamed} without a name" if unnamed else ""
    problems = f"; {len(build.problems)} problems" if build.problems else ""
    return f"{len(decided)} layers decided ({counts}), {by_rule} of them by rules{nameless}{problems}"
