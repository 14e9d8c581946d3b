"""Which scripts a hook runs, in whichever way its command spells them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookport.agents import get, list_dialects
from hookport.model.hooks import Handler, Hook
from hookport.project import sources

ANSWER = """echo '{"hookSpecificOutput": {"updatedInput": {}}}'\n"""

WAYS = (
    "{root}/hooks/x.sh",
    '"{root}/hooks/x.sh"',
    '"{root}"/hooks/x.sh',
    '"{root}"/"hooks/x.sh" --fast',
    'bash "{root}/hooks/x.sh"',
    'bash -eu "{root}"/hooks/x.sh "$1"',
    'env A=1 bash "{root}/hooks/x.sh"',
    'cd "{root}" && ./hooks/x.sh',
    'cd "{root}/hooks" && exec ./x.sh',
    'cd "{root}" && cat | sh hooks/x.sh',
    'test -f "{root}/hooks/x.sh" && "{root}/hooks/x.sh" || exit 0',
    "sh -c '\"{root}/hooks/x.sh\"'",
    'timeout 5 "{root}/hooks/x.sh"',
)


def spellings() -> list[tuple[str, str, bool]]:
    found = [(name, text, False) for name in list_dialects() for text in get(name).project_dir]
    found += [(name, text, True) for name in list_dialects() for text in get(name).package_dir]
    # A folder's own script asks where it stands; there its text comes with it.
    return [one for one in found if "$0" not in one[1]]


def texts(command: str, dialect: str, project: Path, package: Path) -> dict[str, str]:
    hook = Hook("before_tool_execute", Handler("command", command), dialect=dialect)
    return sources.read_scripts(project, (hook,), get(dialect), package)[command]


@pytest.mark.parametrize(("dialect", "root", "is_package"), spellings())
def test_a_script_is_found_however_its_path_is_spelled(
    dialect: str, root: str, is_package: bool, tmp_path: Path
) -> None:
    project, package = tmp_path / "project", tmp_path / "package"
    script = (package if is_package else project) / "hooks/x.sh"
    project.mkdir()
    script.parent.mkdir(parents=True)
    script.write_text(ANSWER)
    ways = [way.format(root=root) for way in WAYS if '"' not in root or '"' not in way]
    missed = [way for way in ways if texts(way, dialect, project, package) != {"hooks/x.sh": ANSWER}]
    assert missed == []


@pytest.mark.parametrize("dialect", list_dialects())
@pytest.mark.parametrize(
    "command", ["./hooks/x.sh", "hooks/x.sh", "sh hooks/x.sh", "cd hooks && ./x.sh", "cd hooks; sh x.sh"]
)
def test_a_path_starts_from_the_folder_that_the_command_runs_in(
    dialect: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks/x.sh").write_text(ANSWER)
    assert texts(command, dialect, tmp_path, tmp_path) == {"hooks/x.sh": ANSWER}


def test_what_a_script_starts_is_read_and_what_it_imports_is_not(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    starts = '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nexec python3 "$(dirname "$0")/x.py"\n'
    files = {"x.sh": starts, "lib.sh": "A=1\n", "x.py": "import rewriting\n", "rewriting.py": ANSWER}
    for name, text in files.items():
        (tmp_path / "hooks" / name).write_text(text)
    found = texts('"$CLAUDE_PROJECT_DIR"/hooks/x.sh', "claude-code", tmp_path, tmp_path)
    assert found == {f"hooks/{name}": files[name] for name in ("x.sh", "lib.sh", "x.py")}


@pytest.mark.parametrize(
    "command",
    [
        '"$CLAUDE_PROJECT_DIR"/x.sh',
        'cd "${CLAUDE_PROJECT_DIR:-.}" && ./x.sh',
        "bash '$CLAUDE_PROJECT_DIR'/x.sh",
    ],
)
def test_a_capability_is_inferred_from_a_script_whose_path_is_quoted(command: str, tmp_path: Path) -> None:
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    (tmp_path / "x.sh").write_text(ANSWER)
    scripts = sources.read(sources.find(file)).scripts[command]
    assert scripts == ({} if "'" in command else {"x.sh": ANSWER})
