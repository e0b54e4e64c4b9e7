"""The checks on a checkpoint, in the order in which they run."""

from qpolicy.lint.check import Check
from qpolicy.lint.rules import (
    qp201_packed_for_plain,
    qp202_plain_for_packed,
    qp203_members_disagree,
    qp204_refused,
    qp205_pattern_matches_nothing,
    qp206_condition_unknown,
    qp207_expectation_failed,
    qp208_files_disagree,
    qp301_entry_matches_nothing,
    qp303_draft_not_listed,
    qp304_experts_half_excluded,
    qp306_fused_half_excluded,
    qp307_list_not_read,
    qp401_draft_names_unknown,
)

CHECKS: tuple[Check, ...] = (
    qp208_files_disagree.CHECK,
    qp303_draft_not_listed.CHECK,
    qp201_packed_for_plain.CHECK,
    qp202_plain_for_packed.CHECK,
    qp203_members_disagree.CHECK,
    qp204_refused.CHECK,
    qp205_pattern_matches_nothing.CHECK,
    qp206_condition_unknown.CHECK,
    qp207_expectation_failed.CHECK,
    qp301_entry_matches_nothing.CHECK,
    qp304_experts_half_excluded.CHECK,
    qp306_fused_half_excluded.CHECK,
    qp307_list_not_read.CHECK,
    qp401_draft_names_unknown.CHECK,
)
