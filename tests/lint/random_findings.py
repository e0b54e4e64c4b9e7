"""Findings that no check makes: every field with and without a value, and texts that no one would write."""

from __future__ import annotations

from hypothesis import strategies as st

from qpolicy.lint.catalog import NAMES
from qpolicy.lint.finding import Finding, Related, Severity
from qpolicy.lint.repair import Edit, Repair

TEXTS = st.text(min_size=1, max_size=20)
_COUNTS = st.integers(1, 99)
_PLACES = st.one_of(st.none(), _COUNTS)
_RELATED = st.builds(Related, TEXTS, TEXTS, _COUNTS, _COUNTS, _COUNTS, _COUNTS, st.just("excerpt"))
_EDITS = st.builds(Edit, st.integers(0, 9), st.integers(9, 99), st.text())
_REPAIRS = st.builds(Repair, st.lists(_EDITS, min_size=1, max_size=2).map(tuple), st.booleans())
_SEVERITIES: st.SearchStrategy[Severity] = st.sampled_from(["error", "warning", "info"])
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(sorted(NAMES)),
    name=st.from_regex("[a-z-]+", fullmatch=True),
    severity=_SEVERITIES,
    message=TEXTS,
    modules=st.lists(TEXTS, max_size=3).map(tuple),
    file=st.one_of(st.none(), TEXTS),
    line=_PLACES,
    column=_PLACES,
    fix=st.one_of(st.none(), TEXTS),
    end_line=_PLACES,
    end_column=_PLACES,
    related=st.lists(_RELATED, max_size=2).map(tuple),
    repair=st.one_of(st.none(), _REPAIRS),
)
