"""What the reporters print, and that every fact of a finding gets through."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qpolicy
from qpolicy.lint.finding import Finding, Related
from qpolicy.lint.repair import Edit, Repair
from qpolicy.lint.reporters import REPORTERS, Checked, render
from qpolicy.lint.reporters.alike import grouped
from qpolicy.lint.reporters.escape import escape, escape_lines
from qpolicy.lint.reporters.names import fold_names, listed
from qpolicy.lint.reporters.paint import coloured
from qpolicy.paths import Pattern

GATES = tuple(f"model.layers.{layer}.mlp.gate" for layer in range(3))
PACKED = Finding(
    code="QP201",
    name="packed-for-plain",
    severity="error",
    message="the engine would build these layers packed, but on disk they are bf16",
    modules=(*GATES, "lm_head"),
    file="ckpt/model.qpolicy",
    line=3,
    column=1,
    fix="lm_head: unquantized\nwhen draft and not has(weight_packed): unquantized",
    excerpt="3 | otherwise: quantized\n    ^^^^^^^^^^^^^^^^^^^^",
)
UNUSED = Finding("QP301", "entry-matches-nothing", "warning", "'lm_haed' matches no stored module")
SAFE = Finding("QP106", "unused-set", "warning", "unused", repair=Repair((Edit(0, 1),), safe=True))
UNSAFE = Finding("QP101", "dead-rule", "warning", "dead", repair=Repair((Edit(0, 1),), safe=False))
NOTE = Finding("QP307", "list-not-read", "info", "the list was not read")


def test_text_report_of_errors_and_warnings() -> None:
    assert render([Checked("ckpt", (PACKED, UNUSED), 43)]) == (
        "error QP201 packed-for-plain at ckpt/model.qpolicy:3:1\n"
        "  the engine would build these layers packed, but on disk they are bf16\n"
        "    3 | otherwise: quantized\n"
        "        ^^^^^^^^^^^^^^^^^^^^\n"
        "  4 modules: model.layers.{0..2}.mlp.gate, lm_head\n"
        "  fix:\n"
        "      lm_head: unquantized\n"
        "      when draft and not has(weight_packed): unquantized\n"
        "\n"
        "warning QP301 entry-matches-nothing at ckpt\n"
        "  'lm_haed' matches no stored module\n"
        "\n"
        "1 error, 1 warning in ckpt; 43 layers checked\n"
    )


@pytest.mark.parametrize(
    ("checked", "line"),
    [
        (Checked("ckpt", (), 43), "clean: ckpt, 43 layers agree with their tensors"),
        (Checked("ckpt", (), 1), "clean: ckpt, 1 layer agrees with its tensors"),
        (Checked("ckpt", (NOTE,), 2), "clean: ckpt, 2 layers agree with their tensors (1 note)"),
        (Checked("a.qpolicy", ()), "clean: a.qpolicy"),
        (Checked("a.qpolicy", (UNUSED, UNUSED)), "2 warnings in a.qpolicy"),
        (Checked("ckpt", (PACKED,), 1), "1 error in ckpt; 1 layer checked"),
        (Checked("a.qpolicy", (), suppressed=2), "clean: a.qpolicy (2 suppressed)"),
        (Checked("a.qpolicy", (NOTE,), fixed=1, suppressed=2), "clean: a.qpolicy (1 note, 1 fixed, 2 suppressed)"),
        (Checked("a.qpolicy", (SAFE, SAFE)), "2 warnings in a.qpolicy (2 fixable with --fix)"),
        (
            Checked("a.qpolicy", (SAFE, UNSAFE), fixed=3),
            "2 warnings in a.qpolicy (3 fixed, 1 fixable with --fix, 1 fixable with --fix --unsafe-fixes)",
        ),
    ],
)
def test_summary_line(checked: Checked, line: str) -> None:
    assert render([checked]).splitlines()[-1] == line


def test_fix_can_be_copied_as_policy_text() -> None:
    lines = render([Checked("ckpt", (PACKED,), 1)]).splitlines()
    start = lines.index("  fix:") + 1
    fix = "\n".join(lines[start : lines.index("", start)])
    assert len(qpolicy.parse(f"qpolicy 1\n{fix}\n").document.statements) == 3


def test_sections_of_clean_inputs_stay_on_lines_of_their_own() -> None:
    report = render([Checked("a", ()), Checked("b", ()), Checked("c", (UNUSED,)), Checked("d", ())])
    assert [line.split()[0] if line else "" for line in report.splitlines()] == [
        *("clean:", "clean:", "", "warning", "'lm_haed'", "", "1", "clean:")
    ]


def test_concise_report() -> None:
    assert render([Checked("ckpt", (PACKED, UNUSED), 43)], "concise") == (
        "ckpt/model.qpolicy:3:1: QP201 error the engine would build these layers packed, but on disk they are bf16\n"
        "ckpt: QP301 warning 'lm_haed' matches no stored module\n"
    )


def test_json_report() -> None:
    assert json.loads(render([Checked("ckpt", (PACKED,), 43), Checked("other", (UNUSED,), 1)], "json")) == {
        "version": 1,
        "findings": [
            {
                "code": "QP201",
                "name": "packed-for-plain",
                "severity": "error",
                "message": PACKED.message,
                "modules": [*GATES, "lm_head"],
                "file": "ckpt/model.qpolicy",
                "line": 3,
                "column": 1,
                "end_line": None,
                "end_column": None,
                "fix": PACKED.fix,
                "repair": None,
                "related": [],
            },
            {
                "code": "QP301",
                "name": "entry-matches-nothing",
                "severity": "warning",
                "message": UNUSED.message,
                "modules": [],
                "file": "other",
                "line": None,
                "column": None,
                "end_line": None,
                "end_column": None,
                "fix": None,
                "repair": None,
                "related": [],
            },
        ],
    }


def test_json_report_of_nothing() -> None:
    assert json.loads(render([Checked("ckpt", (), 1)], "json")) == {"version": 1, "findings": []}


def test_many_modules_are_bounded_and_counted() -> None:
    names = tuple(f"model.{letter * 3}" for letter in "abcdefghijklmnopqrstuvwx")
    report = render([Checked("ckpt", (Finding("QP201", "n", "error", "m", names),), 1)], width=1000)
    assert "  24 modules: model.aaa, " in report
    assert "model.ttt and 4 more\n" in report
    assert "model.uuu" not in report


def router(layer: int, stored: str = "model.layers.{}.mlp.gate", fix: str = "{}: unquantized") -> Finding:
    name = stored.format(layer)
    return Finding("QP201", "packed-for-plain", "warning", f"{name} would be packed", (name,), fix=fix.format(name))


def test_findings_that_differ_in_a_layer_read_as_one() -> None:
    findings = (router(3), PACKED, *(router(layer) for layer in range(4, 61)))
    assert render([Checked("ckpt", findings, 61)]).startswith(
        "warning QP201 packed-for-plain at ckpt (58 alike)\n"
        "  model.layers.{3..60}.mlp.gate would be packed\n"
        "  58 modules: model.layers.{3..60}.mlp.gate\n"
        "  fix:\n"
        "      model.layers.{3..60}.mlp.gate: unquantized\n\n"
        "error QP201 "
    )
    assert len(render([Checked("ckpt", findings, 61)], "concise").splitlines()) == 59
    assert render([Checked("ckpt", findings, 61)]).endswith("1 error, 58 warnings in ckpt; 61 layers checked\n")


@given(st.lists(st.text(alphabet="a.#01 \0\n{}", max_size=12), max_size=6))
def test_grouping_keeps_every_finding(messages: list[str]) -> None:
    findings = [Finding("QP201", "n", "error", message, (message,), fix=message) for message in messages]
    groups = grouped(findings)
    assert sum(group.count for group in groups) == len(findings)
    assert {name for group in groups for name in group.finding.modules} == set(messages)


def test_fixes_are_never_merged_into_more_than_they_say() -> None:
    findings = (router(1, fix="{0}, {0}.x: unquantized"), router(2, fix="{0}, {0}.x: unquantized"))
    report = render([Checked("ckpt", findings, 2)])
    for layer in (1, 2):
        name = f"model.layers.{layer}.mlp.gate"
        assert f"      {name}, {name}.x: unquantized\n" in report


def test_sentences_are_wrapped_to_the_width() -> None:
    long = Finding("QP201", "n", "error", "word " * 100)
    assert max(map(len, render([Checked("ckpt", (long,), 1)], width=60).splitlines())) <= 60


def test_colour_changes_nothing_but_colour() -> None:
    checked = [Checked("ckpt", (PACKED, UNUSED, NOTE), 43)]
    painted = render(checked, paint=coloured)
    assert "\x1b[1;31merror\x1b[0m" in painted
    assert "".join(part.partition("m")[2] for part in f"m{painted}".split("\x1b[")) == render(checked)


@given(st.sampled_from(sorted(REPORTERS)), st.text(), st.text(), st.lists(st.text(min_size=1)), st.text())
def test_no_text_reaches_the_terminal_unescaped(
    format_: str, name: str, message: str, modules: list[str], fix: str
) -> None:
    related = Related(message, name, 1, 1, 1, 1, fix)
    finding = Finding("QP201", name, "error", message, tuple(modules), name, 1, 1, fix, message, related=(related,))
    report = render([Checked(name, (finding,), 1)], format_)
    assert report.replace("\n", "").isprintable()


def test_escapes_name_the_character() -> None:
    assert escape("a\n\t\x1b[31m\x9b\u202e\U000e0001\ud800ü") == r"a\n\t\x1b[31m\x9b\u202e\U000e0001\ud800ü"
    assert escape_lines("a\x07\nb") == "a\\x07\nb"


SEGMENTS = st.sampled_from(["a", "b", "0", "1", "2", "3", "10", "007", "experts"])
NAMES = st.lists(SEGMENTS, min_size=1, max_size=5).map(".".join)


@given(st.lists(NAMES, unique=True))
def test_folded_names_are_patterns_that_match_exactly_those_names(names: list[str]) -> None:
    folded = fold_names(names)
    assert sum(one.count for one in folded) == len(names)
    patterns = [Pattern.parse(one.text) for one in folded]
    assert sum(sum(pattern.matches(name) for pattern in patterns) for name in names) == len(names)
    others = {name.replace("1", "4") for name in names} - set(names)
    assert not any(pattern.matches(name) for pattern in patterns for name in others)


def test_folding_over_two_numbers() -> None:
    names = [f"model.layers.{layer}.mlp.experts.{expert}.up_proj" for layer in (0, 1, 3) for expert in range(4)]
    assert listed([*names, "lm_head"], 8) == "model.layers.{0..1,3}.mlp.experts.{0..3}.up_proj, lm_head"
    assert listed([*names, "lm_head"], 1) == "model.layers.{0..1,3}.mlp.experts.{0..3}.up_proj and 1 more"
