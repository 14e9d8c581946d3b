"""JSON Schemas of what `--json` prints, made from the classes that describe the documents."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NotRequired

from hookport.cli import COMMANDS, find_module
from hookport.cli.output import ErrorDocument
from hookport.console.document import VERSION

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}


def output_schemas() -> dict[str, Schema]:
    """The schema of each command with `--json`, and that of errors, by file name."""
    documents = {name: import_module(find_module(name)) for name in COMMANDS}
    schemas = {
        name: make_schema(f"hookport {name} --json", module.Document)
        for name, module in documents.items()
        if hasattr(module, "Document")
    }
    schemas["error"] = make_schema("an error with --json", ErrorDocument)
    return {f"{name}.schema.json": schema for name, schema in schemas.items()}


def make_schema(title: str, document: type) -> Schema:
    """The schema of a document, or of one of several; each has the version."""
    defs: Schema = {}
    kinds = [_describe_class(kind, defs) for kind in typing.get_args(document) or (document,)]
    for kind in kinds:
        kind["properties"] = {"version": {"const": VERSION}, **kind["properties"]}
        kind["required"] = ["version", *kind["required"]]
    body = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"$schema": DIALECT, "title": title, **body, **({"$defs": defs} if defs else {})}


def _describe(kind: type, defs: Schema) -> Schema:
    """The schema of a type; a class is described once, below `$defs`."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is NotRequired:
        return _describe(args[0], defs)
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return _describe_union(args, defs)
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": _describe(args[0], defs)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _describe(args[1], defs)}
    if kind in SIMPLE:
        return SIMPLE[kind]
    name = kind.__name__.removesuffix("Document")
    if name not in defs:
        defs[name] = {}
        defs[name] = _describe_class(kind, defs)
    return {"$ref": f"#/$defs/{name}"}


def _describe_union(kinds: Sequence[Any], defs: Schema) -> Schema:
    schemas = [_describe(kind, defs) for kind in kinds]
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


def _describe_class(kind: type, defs: Schema) -> Schema:
    """The schema of a named tuple or typed dictionary, with exactly its keys."""
    hints = typing.get_type_hints(kind, include_extras=True)
    is_total = getattr(kind, "__total__", True)
    return {
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "type": "object",
        "properties": {key: _describe(hint, defs) for key, hint in hints.items()},
        "required": [
            key for key, hint in hints.items() if is_total and typing.get_origin(hint) is not NotRequired
        ],
        "additionalProperties": False,
    }
