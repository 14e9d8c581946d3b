"""The settings of a project and of its user: the stricter of two values wins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookport.errors import InputError
from hookport.findings import BadSettings, Finding
from hookport.project.discovery import find_project_root
from hookport.project.disk import read_data
from hookport.project.places import find_config_folder
from hookport.runtime import policy, protection, trust
from hookport.runtime.execute import llm

SETTINGS = (".hookport/config.json", "hookport/config.json")
# The key of the model that hooks ask.
LLM = "llm"
# In a project's settings: globs of more files that an approval covers, for all hooks or by name.
COVERS = "covers"


def load_settings(cwd: str, env: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a folder, whatever its hooks."""
    return read_settings(find_project_root(cwd, env), env)[0]


def read_settings(root: str, env: Mapping[str, str]) -> tuple[dict[str, Any], list[str], list[Finding]]:
    """The settings of project and user; the stricter value and the first model win."""
    config = find_config_folder(env)
    paths = [str(Path(root) / SETTINGS[0]), *([str(config / SETTINGS[1])] if config else ())]
    findings: list[Finding] = []
    words_by_setting: dict[str, list[str]] = {name: [] for name in policy.WORDS}
    models: list[dict[str, str]] = []
    for path in paths:
        is_project = path == paths[0]
        try:
            data = read_data(Path(path))
            words = _read_words(data, of_user=not is_project) if data is not None else {}
            model = _read_model(data) if data is not None else {}
            # A project's address gets a user's key only after its approval.
            models.append(trust.find_approved_model(root, model, env) if is_project else model)
            for name, word in (trust.tighten_words(root, words, env) if is_project else words).items():
                words_by_setting[name].append(word)
        except InputError as error:
            findings.append(BadSettings.at("", why=error.problems[0].message)._replace(file=path))
        except (ValueError, RecursionError) as error:
            findings.append(BadSettings.at("", why=str(error))._replace(file=path))
    strict = {name: words[0] for name, words in policy.WORDS.items()}
    if findings:
        return strict, paths, findings
    chosen: dict[str, Any] = {
        name: words[0]
        if words[0] in words_by_setting[name]
        else next(iter(words_by_setting[name]), policy.DEFAULTS[name])
        for name, words in policy.WORDS.items()
    }
    model = next(filter(None, models), {})
    return {**chosen, **({LLM: model} if model else {})}, paths, findings


def read_project_settings(root: str) -> dict[str, object]:
    """The settings of a project for its approval; for unreadable settings, their hash."""
    path = Path(root) / SETTINGS[0]
    try:
        data = read_data(path)
        if data is None:
            return {}
        words, tree = _read_words(data, of_user=False), json.loads(data.decode("utf-8-sig"))
        return {**words, **{name: tree[name] for name in (COVERS, LLM) if tree.get(name)}}
    except (InputError, ValueError, RecursionError):
        return {"unreadable": trust.hash_file(str(path))}


def read_covered_globs(root: str, name: str) -> list[str]:
    """The globs of files that a project's settings cover for a hook: those for all, or those by its name."""
    covers = read_project_settings(root).get(COVERS, [])
    chosen = covers.get(name, []) if isinstance(covers, dict) else covers
    return [chosen] if isinstance(chosen, str) else chosen if isinstance(chosen, list) else []


def _is_globs(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(glob, str) for glob in value)
    )


def _read_words(data: bytes, *, of_user: bool) -> dict[str, str]:
    """The values of one settings file."""
    tree = json.loads(data.decode("utf-8-sig"))
    if not isinstance(tree, dict):
        raise ValueError("it is not a JSON object")
    if protection.SWITCH in tree and not of_user:
        raise ValueError(f"{protection.SWITCH} is for the user's own settings, not for a project's")
    if COVERS in tree and of_user:
        raise ValueError(f"{COVERS} is for a project's settings, not for the user's own")
    covers = tree.get(COVERS, [])
    if not (_is_globs(covers) or (isinstance(covers, dict) and all(map(_is_globs, covers.values())))):
        raise ValueError(f"{COVERS} is neither a list of globs nor hooks with their globs")
    if LLM in tree and (mistake := llm.find_mistake(tree[LLM])):
        raise ValueError(f"{LLM} {mistake}")
    unknown = sorted(set(tree) - {*policy.WORDS, protection.SWITCH, COVERS, LLM})
    if unknown:
        raise ValueError(f"unknown key '{unknown[0]}'")
    if not isinstance(tree.get(protection.SWITCH, True), bool):
        raise ValueError(f"{protection.SWITCH} is neither true nor false")
    for name, words in policy.WORDS.items():
        if name in tree and tree[name] not in words:
            raise ValueError(f"{name} is {tree[name]!r}, not {words[1]} or {words[0]}")
    return {name: tree[name] for name in policy.WORDS if name in tree}


def _read_model(data: bytes) -> dict[str, str]:
    """The model of one checked settings file."""
    return dict(json.loads(data.decode("utf-8-sig")).get(LLM, {}))
