"""The report as a SARIF log, for code scanning: Static Analysis Results Interchange Format 2.1.0 (OASIS)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from qpolicy import __version__
from qpolicy.lint.catalog import NAMES, every_code
from qpolicy.lint.check import Code
from qpolicy.lint.finding import Finding, Related, Severity
from qpolicy.lint.pages import markdown
from qpolicy.lint.repair import Repair
from qpolicy.lint.reporters.checked import Checked
from qpolicy.lint.reporters.paint import Paint

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_ORDER = {code: index for index, code in enumerate(NAMES)}


def report(checked: Sequence[Checked], paint: Paint, width: int) -> str:
    """Return the log; non-ASCII characters are escaped so that any stream can hold it."""
    driver = {
        "name": "qpolicy",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(code) for code in every_code()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, finding) for one in checked for finding in one.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2) + "\n"


def _rule(code: Code) -> dict[str, object]:
    return {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": code.summary},
        "help": {"text": code.page.fix if code.page else code.summary, "markdown": markdown(code)},
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
    }


def _result(checked: Checked, finding: Finding) -> dict[str, object]:
    message = f"{finding.message}\nfix: {finding.fix}" if finding.fix else finding.message
    file = checked.file_of(finding)
    end = (finding.end_line, finding.end_column)
    location: dict[str, object] = {"physicalLocation": _physical(file, finding.line, finding.column, *end)}
    if finding.modules:
        names = dict.fromkeys(finding.modules)
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "module"} for name in names]
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": _ORDER[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": message},
        "locations": [location],
    }
    if finding.related:
        result["relatedLocations"] = [_related(index, one) for index, one in enumerate(finding.related)]
    if finding.repair is not None:
        result["fixes"] = [_fix(file, finding.fix or finding.message, finding.repair)]
    return result


def _fix(file: str, told: str, repair: Repair) -> dict[str, object]:
    replacements = [
        {
            "deletedRegion": {"charOffset": edit.start, "charLength": edit.end - edit.start},
            "insertedContent": {"text": edit.text},
        }
        for edit in repair.edits
    ]
    change = {"artifactLocation": {"uri": _uri(file)}, "replacements": replacements}
    return {"description": {"text": told}, "artifactChanges": [change]}


def _related(index: int, related: Related) -> dict[str, object]:
    place = _physical(related.file, related.line, related.column, related.end_line, related.end_column)
    return {"id": index, "message": {"text": related.message}, "physicalLocation": place}


def _physical(
    file: str, line: int | None, column: int | None, end_line: int | None, end_column: int | None
) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": {"uri": _uri(file)}}
    if line is None:
        return place
    numbers = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {**place, "region": dict(_known(numbers.items()))}


def _known(numbers: Iterable[tuple[str, int | None]]) -> Iterable[tuple[str, int]]:
    return ((key, number) for key, number in numbers if number is not None)


def _uri(file: str) -> str:
    """Return a file's path as a URI reference: absolute with its scheme, else relative to the current folder."""
    text = quote(PurePath(file).as_posix(), errors="surrogatepass")
    return f"file://{text}" if text.startswith("/") else text
