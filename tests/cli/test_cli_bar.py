"""The bar of a long piece of work: on a terminal only, with what is done and how much there is."""

import io
import sys

import pytest

from qpolicy.cli import progress as progress_module
from qpolicy.cli.bar import bar

HOSTILE = "\x1b[2J[bold]"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, patience: float = 0.0) -> Terminal:
    """Make stderr a terminal; a fixture cannot, because pytest captures anew before the test itself."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress_module, "PATIENCE", patience)
    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    return stream


def test_outside_a_terminal_nothing_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE", 0.0)
    with bar("rehearsing") as update:
        update("tensors followed", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch, patience=60.0)
    with bar("rehearsing") as update:
        update("tensors followed", 1, 2)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (("importing", 0, 0), " importing "),
        (("layers built", 1234, 0), " 1,234 layers built "),
        (("tensors followed", 4500, 9000), " 4,500 of 9,000 tensors followed "),
    ],
)
def test_steps_are_counted(monkeypatch: pytest.MonkeyPatch, step: tuple[str, int, int], shown: str) -> None:
    stream = terminal(monkeypatch)
    with bar("rehearsing here") as update:
        update(*step)
    assert "rehearsing here" in stream.getvalue()
    assert shown in stream.getvalue()


def test_half_of_the_work_is_half_of_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    with bar("rehearsing") as update:
        update("tensors", 0, 4)
        update("tensors", 2, 4)
    last = stream.getvalue().rpartition("2 of 4")[0].rpartition("rehearsing")[2]
    assert last.count("━") + last.count("╸") == 20


def test_hostile_names_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with bar(HOSTILE) as update:
        update(HOSTILE, 0, 0)
    assert stream.getvalue().count("\\x1b[2J[bold]") >= 2
