"""The lock has the same bytes for the same hooks; the store is the user's alone, and keeps every approval."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from hookport.errors import InputError
from hookport.install import agent_trust, files, lock
from hookport.install.lock import LockDifference
from hookport.install.review import escape_controls, review
from hookport.model.hooks import Handler, Hook, Term
from hookport.project.discovery import Discovery, discover
from hookport.project.identity import parse_hook, spell_hook
from hookport.runtime import approvals, trust
from tests.approval import approve_for_ci

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts")


class Place:
    """A home and a repository with two hooks of one file and one of a folder."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "project"
        self.home.mkdir(parents=True)
        (self.root / ".git").mkdir(parents=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.write("guard.sh", "#!/bin/sh\nexit 0\n")
        self.manifest("guard.sh", "other.sh")
        self.write(".agents/hooks/md/HOOK.md", "---\nname: md\ndescription: d\ntrigger: before_tool\n---\n")
        self.write(".agents/hooks/md/scripts/run.sh", "#!/bin/sh\nexit 0\n").chmod(0o755)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def manifest(self, *commands: str) -> None:
        hooks = [
            {"event": "before_tool_execute", "handler": {"type": "command", "command": f"./{one}"}}
            for one in commands
        ]
        self.write(".hookport/hooks.json", json.dumps({"spec": "hooks/1.0", "hooks": hooks}))

    def found(self) -> Discovery:
        return discover(str(self.root), self.env)

    def built(self) -> lock.Lock:
        return lock.build(self.found(), self.env)

    def approve(self) -> None:
        approvals.store_approval(
            str(self.root), self.built(), lock.collect_texts(self.found(), self.env), self.env
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


FIRST, SECOND = ".hookport/hooks.json#hooks[0]", ".hookport/hooks.json#hooks[1]"
FOLDER = ".agents/hooks/md/HOOK.md#frontmatter"
HASH = trust.sha256(b"#!/bin/sh\nexit 0\n")


def test_the_lock_says_what_there_is(place: Place) -> None:
    built = place.built()
    files = {name: entry["files"] for name, entry in built["hooks"].items()}
    assert files == {
        FOLDER: {".agents/hooks/md/scripts/run.sh": HASH},
        FIRST: {"guard.sh": HASH},
        SECOND: {"other.sh": None},
    }
    expected = {
        "name": "md",
        "event": "before_tool_execute",
        "definition": built["hooks"][FOLDER]["definition"],
        "files": files[FOLDER],
    }
    assert built["hooks"][FOLDER] == expected
    assert (built["version"], built["bridge"]) == (2, {})


def test_every_script_that_a_command_names(place: Place) -> None:
    command = (
        'sh -c "./a.sh && b.py --config c.json" && "$PWD"/d/e.mjs; python3 ~/f.py | $X/g.sh > h.txt; '
        "node i.js,j.js x=k.rb"
    )
    hooks = [{"event": "session_end", "handler": {"type": "command", "command": command}}]
    place.write(".hookport/hooks.json", json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    names = ("a.sh", "b.py", "d/e.mjs", "i.js", "j.js", "k.rb", "~/f.py")
    assert place.built()["hooks"][FIRST]["files"] == dict.fromkeys(names)


def test_the_same_hooks_elsewhere_have_the_same_bytes(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path.resolve() / "an other place")
    # What starts the script of a folder is no part of its definition.
    (other.root / ".agents/hooks/md/scripts/run.sh").chmod(0o644)
    assert lock.spell_lock(place.built()) == lock.spell_lock(other.built())


def test_a_lock_is_written_once_and_read_back(place: Place) -> None:
    built = place.built()
    root = str(place.root)
    assert lock.read(root) is None
    assert [lock.write(root, built), lock.write(root, built)] == [True, False]
    file = place.root / "hookport.lock"
    assert (lock.read(root), trust.hash_file(str(file))) == (built, lock.hash_lock(built))
    assert [path.name for path in place.root.glob("*hookport.lock*")] == ["hookport.lock"]
    file.write_text("{")
    with pytest.raises(InputError, match="is not a lock"):
        lock.read(root)


def test_a_vendored_bridge_is_in_the_lock(place: Place) -> None:
    place.write(".hookport/bridge.pyz", "zip")
    assert place.built()["bridge"] == {".hookport/bridge.pyz": trust.sha256(b"zip")}


def test_what_is_new_changed_and_gone(place: Place) -> None:
    before = place.built()
    place.write("guard.sh", "#!/bin/sh\nexit 2\n")
    changed = lock.compare(before, place.built())
    assert changed == [LockDifference("changed", FIRST, "guard.sh", False, (("guard.sh", "changed"),))]
    place.manifest("new.sh", "guard.sh", "other.sh")
    place.write("guard.sh", "#!/bin/sh\nexit 0\n")
    place.write("new.sh", "#!/bin/sh\n")
    third = ".hookport/hooks.json#hooks[2]"
    # What only moved is the same; what took its place has its id.
    assert lock.compare(before, place.built()) == [
        LockDifference("new", FIRST, "new.sh", True, (("new.sh", "new"),))
    ]
    after = place.built()
    place.manifest("guard.sh")
    assert lock.compare(after, place.built()) == [
        LockDifference("gone", FIRST, "new.sh", True),
        LockDifference("gone", third, "other.sh", True),
    ]


def test_definitions_are_read_back() -> None:
    handler = Handler(command="a", timeout=timedelta(seconds=1.5), env={"A": "b"}, allowed_env=("X",))
    hooks = [
        Hook("session_start", Handler(type="http", url="http://localhost/")),
        Hook(
            "before_tool_execute",
            handler,
            (Term("tool", "shell"), Term("mcp", "a", "b")),
            blocking=True,
            capabilities=("input_rewrite",),
            degradation={"input_rewrite": "block"},
            provider_data={"x": {"y": [1, None]}},
            dialect="canonical",
        ),
    ]
    assert [parse_hook(spell_hook(hook)) for hook in hooks] == hooks


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"handler": 1}', '{"event": "a", "handler": {"b": 1}}'])
def test_what_is_no_definition(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (the words are those of the library)
        parse_hook(text)


def test_the_store_is_the_users_alone(place: Place) -> None:
    place.approve()
    store = Path(trust.find_store(place.env))
    texts = sorted((store.parent / trust.TEXTS).iterdir())
    modes = {oct(path.stat().st_mode & 0o777) for path in (store, *texts)}
    assert (modes, oct((store.parent / trust.TEXTS).stat().st_mode & 0o777)) == ({"0o600"}, "0o700")
    assert [path.name for path in texts] == sorted({HASH, *_definitions(place)})
    assert (
        dict(approvals.find_approved_state(str(place.root), place.built(), place.env).lock) == place.built()
    )
    assert approvals.read_approved_text(HASH, place.env) == b"#!/bin/sh\nexit 0\n"


def _definitions(place: Place) -> list[str]:
    return [entry["definition"] for entry in place.built()["hooks"].values()]


def test_a_text_that_is_not_what_was_approved_is_not_shown(place: Place) -> None:
    place.approve()
    (Path(trust.find_store(place.env)).parent / trust.TEXTS / HASH).write_text("other")
    assert approvals.read_approved_text(HASH, place.env) is None
    assert approvals.read_approved_text("../trust.json", place.env) is None


def test_what_is_taken_back_leaves_nothing(place: Place) -> None:
    place.approve()
    assert [
        approvals.remove_approval("/elsewhere", place.env),
        approvals.remove_approval(None, place.env),
    ] == [
        [],
        [str(place.root)],
    ]
    folder = Path(trust.find_store(place.env)).parent
    assert (list((folder / trust.TEXTS).iterdir()), trust.read_store(place.env)) == ([], {})


def test_many_at_once_lose_no_approval(place: Place) -> None:
    roots = [f"/project/{number}" for number in range(40)]
    code = (
        "import os, sys; from hookport.runtime import approvals; lock = {'version': 2, 'hooks': {}}; "
        "[approvals.store_approval(root, lock, {}, dict(os.environ)) for root in sys.argv[1:]]"
    )

    def run(some: list[str]) -> None:
        subprocess.run([sys.executable, "-c", code, *some], env=place.env, check=True, timeout=60)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, (roots[start::4] for start in range(4))))
    assert sorted(trust.read_store(place.env)) == sorted(roots)


def test_a_review_shows_what_matters(place: Place) -> None:
    place.approve()
    before = place.built()
    place.write("guard.sh", "#!/bin/sh\ncurl -s https://example.com/x\nexit 0\n")
    (one,) = review(
        place.found(), before, place.built(), lock.collect_texts(place.found(), place.env), place.env
    )
    assert one[1:] == (
        "before_tool_execute: ./guard.sh",
        (),
        ("guard.sh has `curl`", "guard.sh has `https://example.com/x`"),
        ("the program curl",),
        (
            "--- guard.sh (approved)",
            "+++ guard.sh (now)",
            "@@ -1,2 +1,3 @@",
            " #!/bin/sh",
            "+curl -s https://example.com/x",
            " exit 0",
        ),
    )


def test_what_would_hide_a_line_is_spelled_out() -> None:
    assert escape_controls("a\x1b[2K\u202eb\tc\r") == "a\\x1b[2K\\u202eb\tc\\r"


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_is_asked_on_a_terminal(place: Place, typed: str, code: int) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, typed.encode())
        done = subprocess.run(
            [sys.executable, "-m", "hookport", "trust"],
            stdin=theirs,
            capture_output=True,
            cwd=place.root,
            env=place.env,
            check=False,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, b"They run with your rights. [y/N] " in done.stdout) == (code, True)
    assert trust.load_approval(str(place.root), place.env).is_known is (code == 0)
    assert (place.root / "hookport.lock").exists() is (code == 0)


CODEX = "codex"


def _codex(place: Place) -> bool:
    """A program that answers as the app server of Codex 0.166.0 does, on what its config says."""
    program = place.home / "bin" / CODEX
    program.parent.mkdir()
    program.write_text(
        f"""#!{sys.executable}
import json, os, sys, tomllib
print("a warning", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "hooks/list":
        with open(os.environ["HOME"] + "/.codex/config.toml", "rb") as file:
            state = tomllib.load(file).get("hooks", {{}}).get("state", {{}})
        hooks = [
            {{"key": key, "eventName": "preToolUse", "command": "true", "sourcePath": "/f", "enabled": True,
              "isManaged": False, "currentHash": "sha256:" + key,
              "trustStatus": {{None: "untrusted", "sha256:" + key: "trusted"}}.get(
                  state.get(key, {{}}).get("trusted_hash"), "modified")}}
            for key in ("/f:pre_tool_use:0:0", "/f:pre_tool_use:0:1")
        ]
        data = [{{"cwd": "/", "hooks": hooks}}]
        print(json.dumps({{"id": asked["id"], "result": {{"data": data}}}}), flush=True)
    elif "id" in asked:
        print(json.dumps({{"id": asked["id"], "result": {{}}}}), flush=True)
"""
    )
    program.chmod(0o755)
    place.env["PATH"] = f"{program.parent}:{place.env['PATH']}"
    return True


def test_an_agent_that_approves_hooks_by_itself(place: Place) -> None:
    _codex(place)
    config = place.home / ".codex" / "config.toml"
    config.parent.mkdir()
    text = '# mine\nmodel = "m"  # keep\n\n[hooks.state."/f:pre_tool_use:0:1"]\ntrusted_hash = "sha256:old"\n'
    config.write_text(text)
    root = str(place.root)
    found = agent_trust.list_states(root, place.env)
    assert [(one.key, one.state) for one in found] == [
        ("/f:pre_tool_use:0:0", "untrusted"),
        ("/f:pre_tool_use:0:1", "modified"),
    ]
    agent_trust.approve(agent_trust.list_untrusted(root, place.env), root, place.env)
    assert [one.state for one in agent_trust.list_states(root, place.env)] == ["trusted", "trusted"]
    assert agent_trust.list_untrusted(root, place.env) == []
    assert config.read_text().startswith('# mine\nmodel = "m"  # keep\n')
    files.undo(place.env, root)
    assert config.read_text() == text


def test_an_agent_that_is_not_installed_or_does_not_answer(place: Place) -> None:
    place.env["PATH"] = str(place.home / "bin")
    assert agent_trust.list_states(str(place.root), place.env) == []
    _codex(place)
    (place.home / "bin" / CODEX).write_text("#!/bin/sh\nexit 1\n")
    assert agent_trust.list_states(str(place.root), place.env) == []


def test_the_files_of_an_agent_that_does_not_answer_say_what_it_trusts(place: Place) -> None:
    place.env["PATH"] = str(place.home / "bin")
    config, own = place.home / ".codex/config.toml", place.root / ".codex/hooks.json"
    for file in (config, own):
        file.parent.mkdir()
    config.write_text('model = "m"\n')
    hooks = [{"hooks": [{"type": "command", "command": one}]} for one in ("true", "false")]
    own.write_text(json.dumps({"hooks": {"PreToolUse": hooks}}))
    root = str(place.root)

    def states() -> list[tuple[str, str, str]]:
        return [(one.key, one.command, one.state) for one in agent_trust.list_states(root, place.env)]

    keys = [f"{own}:pre_tool_use:{number}:0" for number in (0, 1)]
    assert states() == [(keys[0], "true", "untrusted"), (keys[1], "false", "untrusted")]
    agent_trust.approve(agent_trust.list_untrusted(root, place.env), root, place.env)
    assert states() == [(keys[0], "true", "trusted"), (keys[1], "false", "trusted")]
    own.write_text(own.read_text().replace('"false"', '"exit 0"'))
    assert states() == [(keys[0], "true", "trusted"), (keys[1], "exit 0", "modified")]


def test_an_agent_that_lists_the_commands_it_approved(place: Place) -> None:
    folder = place.home / ".hermes"
    folder.mkdir()
    config, approved = folder / "config.yaml", folder / "shell-hooks-allowlist.json"
    config.write_text("hooks:\n  pre_tool_call:\n    - command: sh -c 'a | b'\n    - command: ./c\n")
    old = {"event": "pre_tool_call", "command": "./c", "approved_at": "2026-11-20T00:00:00Z"}
    approved.write_text(json.dumps({"approvals": [old]}))
    root = str(place.root)

    def states() -> list[tuple[str, str]]:
        return [(one.command, one.state) for one in agent_trust.list_states(root, place.env)]

    assert states() == [("a | b", "untrusted"), ("./c", "trusted")]
    agent_trust.approve(agent_trust.list_untrusted(root, place.env), root, place.env)
    assert states() == [("a | b", "trusted"), ("./c", "trusted")]
    # The command is listed as the file has it.
    new = {"event": "pre_tool_call", "command": "sh -c 'a | b'"}
    assert json.loads(approved.read_text()) == {"approvals": [old, new]}
    approved.unlink()
    assert [state for _, state in states()] == ["untrusted", "untrusted"]
    config.write_text(config.read_text() + "hooks_auto_accept: true\n")
    assert [state for _, state in states()] == ["trusted", "trusted"]


REAL = os.environ.get("HOOKPORT_REAL_CODEX", "")


@pytest.mark.skipif(not REAL, reason="HOOKPORT_REAL_CODEX names no program")
def test_the_real_codex(place: Place) -> None:
    place.env["PATH"] = f"{Path(REAL).parent}:{place.env['PATH']}"
    folder = place.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text("# mine\n")
    entry = {"hooks": [{"type": "command", "command": "true"}]}
    (folder / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    root = str(place.root)
    assert [one.state for one in agent_trust.list_states(root, place.env)] == ["untrusted"]
    agent_trust.approve(agent_trust.list_untrusted(root, place.env), root, place.env)
    assert [one.state for one in agent_trust.list_states(root, place.env)] == ["trusted"]
    entry["hooks"][0]["command"] = "false"
    (folder / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    assert [one.state for one in agent_trust.list_states(root, place.env)] == ["modified"]
    assert (folder / "config.toml").read_text().startswith("# mine\n")


@pytest.mark.parametrize("loss", ["lock", "lock and hooks", "another lock", "store"])
def test_what_was_approved_and_is_unknown_is_an_error_everywhere(place: Place, loss: str) -> None:
    """Every call that a guard could be for is denied then, so no command may report that all is approved."""
    env = {**place.env, "HOOKPORT_STATE_DIR": str(place.home / "state")}
    if loss == "store":
        lock.write(str(place.root), lock.drop_private_hooks(place.found(), place.built(), env))
        place.home.joinpath("state").mkdir()
        place.home.joinpath("state", trust.STORE).write_text("{")
    else:
        env |= approve_for_ci(place.root, env)
    if loss == "lock and hooks":
        shutil.rmtree(place.root / ".agents")
        (place.root / ".hookport/hooks.json").unlink()
    if loss.startswith("lock"):
        (place.root / trust.LOCK).unlink()
    if loss == "another lock":
        place.write("guard.sh", "#!/bin/sh\nexit 1\n")
        approve_for_ci(place.root, env)
    found = discover(str(place.root), env)
    why = trust.load_approval(str(place.root), env).why
    assert why
    assert [(one.code, one.message) for one in lock.check(found, env)] == [
        ("HP844", f"the approvals of this project are unknown: {why}")
    ]
    assert not lock.find_standing(found, env).is_active
    for words, text, code in (
        (["status"], why, 0),
        (["doctor"], "HP844", 1),
        (["trust", "--check"], why, 1),
    ):
        command = [sys.executable, "-m", "hookport", *words]
        done = subprocess.run(command, cwd=place.root, env=env, capture_output=True, text=True, check=False)
        assert text in done.stdout + done.stderr
        assert done.returncode == code, (words, done.stdout)
