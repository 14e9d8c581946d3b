"""A person's own hooks: the samples that are for them, what they need, what is seen of them, the verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookport.errors import InputError, UsageError
from hookport.lab import belongings, drivers, enforcement, likeness, own, samples, shims
from hookport.lab.driver import AgentPackage, Driver, ModelCall
from hookport.lab.enforcement import Proof
from hookport.lab.firings import Firing, Watch
from hookport.lab.own import Account, AgentTurn, Fate
from hookport.lab.play import Outcome, RequestRecord
from hookport.lab.programs import Program
from hookport.lab.protocols import Message, ToolResult
from hookport.lab.samples import Sample
from hookport.model.hooks import Handler, Hook
from hookport.project import plan_builder
from hookport.project.discovery import HookEntry, discover, load
from hookport.runtime.plan import PlannedHook

KINDS = ("shell", "write", "edit", "read", "mcp")
CONTROLS = ["ls README.md", "write notes.md", "edit notes-edited.md", "read notes-read.md"]
# Those that no program on PATH is started for leave their marks themselves: (command, its number).
MARKED = {"echo A=1 >> .env": 15, "echo 'DROP TABLE users;'": 18}
COMMANDS = [f"{line}; touch ran-{MARKED[line]}" if line in MARKED else line for line in samples.COMMANDS]
FILES = ["write .env.production", "write secrets/id_rsa", "write settings.ini"]
EDITS = ["edit .env.local", "edit package-lock.json"]
X = {"type": "command", "command": "./x.sh"}
FORMATTED = ["write sample.py", "write sample.ts"]


def put(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return folder


def hook_md(matcher: str) -> str:
    return f"---\nname: guard\ndescription: guards\ntrigger: before_tool\n{matcher}---\n"


def claude(event: str, matcher: str = "", command: str = "true") -> str:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    return json.dumps({"hooks": {event: [group]}})


def canonical(**more: object) -> str:
    hook = {"name": "guard", "handler": {"type": "command", "command": "true"}, **more}
    return json.dumps({"spec": "hooks/1.0", "hooks": [hook]})


def planned(folder: Path) -> list[PlannedHook]:
    return [plan_builder.plan_entry(one) for one in load(str(folder), None, dict(os.environ)).hooks]


@pytest.mark.parametrize(
    ("file", "text", "more"),
    [
        (".claude/settings.json", claude("PreToolUse", "Bash"), COMMANDS),
        (".claude/settings.json", claude("PreToolUse", "Write|Edit"), [*FILES, *EDITS]),
        (".claude/settings.json", claude("PreToolUse", "Read"), ["read .env", "read id_rsa"]),
        (".claude/settings.json", claude("PreToolUse", "Bsh"), []),
        (".claude/settings.json", claude("PreToolUse", "mcp__lab__.*"), ["shout of lab"]),
        (".claude/settings.json", claude("PreToolUse", "mcp__github__.*"), []),
        (".claude/settings.json", claude("PostToolUse", "Write|Edit"), FORMATTED),
        (".claude/settings.json", claude("Stop"), []),
        (".codex/hooks.json", claude("PreToolUse", "^apply_patch$"), [*FILES, *EDITS]),
        (
            ".cursor/hooks.json",
            json.dumps({"version": 1, "hooks": {"beforeShellExecution": [{"command": "./x.sh"}]}}),
            COMMANDS,
        ),
        (".hookport/hooks.json", canonical(event="before_tool_execute", matcher="shell"), COMMANDS),
        (".hookport/hooks.json", canonical(event="tool_use_failure"), ["touch ran-1; exit 3"]),
        (
            ".agents/hooks/guard/HOOK.md",
            hook_md('matcher:\n  tool: Shell\n  pattern: "rm -rf|mkfs"\n'),
            ["rm -rf victim", "rm -rf ./victim-2"],
        ),
        # Nothing of the table is like it, so what the pattern looks for is printed, never run.
        (
            ".agents/hooks/guard/HOOK.md",
            hook_md('matcher:\n  tool: Shell\n  pattern: "rm -rf /|mkfs"\n'),
            ["echo 'rm -rf /'; touch ran-1"],
        ),
        (
            ".agents/hooks/guard/HOOK.md",
            hook_md('matcher:\n  tool: WriteFile\n  pattern: "infra/.*[.]tf"\n'),
            ["write infra/.tf"],
        ),
        # It stands at the beginning of a command, which is not run for it.
        (
            ".agents/hooks/guard/HOOK.md",
            hook_md('matcher:\n  tool: Shell\n  pattern: "^terraform apply"\n'),
            [],
        ),
        (
            "hooks/hooks.json",
            json.dumps({"version": 1, "hooks": {"pre-tool-use": [{"matcher": "Bash", "hooks": [X]}]}}),
            COMMANDS,
        ),
    ],
)
def test_what_is_played_follows_from_the_hooks(tmp_path: Path, file: str, text: str, more: list[str]) -> None:
    put(tmp_path, **{file: text, ".agents/hooks/guard/scripts/run.sh": "#!/bin/sh\n", "x.sh": "#!/bin/sh\n"})
    chosen = samples.choose_samples(planned(tmp_path), KINDS, ())
    assert [one.about for one in chosen] == [*CONTROLS, *more]
    assert len({one.mark for one in chosen}) == len(chosen)


def test_nothing_that_is_played_leads_out_of_the_project(tmp_path: Path) -> None:
    put(tmp_path, **{".claude/settings.json": claude("PreToolUse")})
    for one in samples.choose_samples(planned(tmp_path), KINDS, ()):
        words = " ".join(one.given).split()
        assert not [word for word in words if word.startswith(("/", "~", "..")) or "/.." in word], one
        assert "//" not in " ".join(words).replace("http://127.0.0.1:9/", ""), one


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("make deploy", ("shell", "make deploy", ("make deploy",), "ran-{n}")),
        ("ls # all", ("shell", "ls # all", ("ls # all",), "ran-{n}")),
        (
            "write: prod/main.tf",
            ("write", "write prod/main.tf", ("prod/main.tf", "sample\n"), "prod/main.tf"),
        ),
        ("edit: a.py", ("edit", "edit a.py", ("a.py", "before", "after"), "a.py")),
        ("read: .npmrc", ("read", "read .npmrc", (".npmrc",), ".npmrc")),
        ("prompt: the key is 1", ("prompt", "the key is 1", ("the key is 1",), "")),
    ],
)
def test_a_sample_of_a_person(text: str, sample: tuple[object, ...]) -> None:
    assert samples.parse_sample(text)[:4] == sample


@pytest.mark.parametrize("text", ["", "write: /etc/passwd", "read: ../secret", "edit: a/../../b"])
def test_a_sample_stays_in_the_project(text: str) -> None:
    with pytest.raises(UsageError):
        samples.parse_sample(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"rm\s+-rf", "rm -rf"),
        (r"^(?:terraform|tofu) (apply|destroy)$", "terraform apply"),
        (r"[^/]+\.(ts|js)", "x.ts"),
        (r"\d{3}-[A-Z]+?", "111-A"),
        (r"(?=a)b", ""),
        (r"(unclosed", ""),
    ],
)
def test_a_text_that_a_pattern_matches(pattern: str, text: str) -> None:
    assert likeness.make_likeness(pattern) == text


def test_a_project_goes_along_without_what_is_large_or_secret(tmp_path: Path) -> None:
    put(
        tmp_path,
        **{
            ".claude/settings.json": claude("Stop", command="./stop.sh"),
            "stop.sh": "#!/bin/sh\n",
            "src/a.py": "1",
            "node_modules/x/index.js": "1",
            ".env": "KEY=1",
            "deploy/server.key": "KEY",
            ".git/config": "",
        },
    )
    (tmp_path / "big.bin").write_bytes(b"0" * (belongings.LARGEST + 1))
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    (tmp_path / ".env.local").symlink_to("src/a.py")
    (tmp_path / "settings").symlink_to(".env")
    given = belongings.gather_belongings(tmp_path, None, {"HOME": "/nowhere"})
    names = (".claude/settings.json", "src/a.py", "stop.sh")
    assert given._replace(found=None) == belongings.Belongings(  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        {name: tmp_path / name for name in names},
        {},
        {".claude/settings.json": "claude-code"},
        (
            *("'.env'", "'.env.local'", "'.git'", "'big.bin': larger than 8 MiB", "'node_modules'"),
            *("'settings'", "'deploy/server.key'"),
        ),
    )


@pytest.mark.parametrize(
    ("files", "source", "sources", "copied"),
    [
        (
            {"guard/HOOK.md": hook_md(""), "guard/scripts/run.sh": "#!/bin/sh\n", "guard/words.txt": "rm"},
            "guard",
            ".agents/hooks/guard/HOOK.md",
            ".agents/hooks/guard/words.txt",
        ),
        (
            {
                "plugins/p/hooks/hooks.json": claude("PreToolUse"),
                "plugins/p/x.sh": "#!/bin/sh\n",
                ".git/HEAD": "",
            },
            "plugins/p",
            "plugins/p/hooks/hooks.json",
            "plugins/p/x.sh",
        ),
        (
            {"mine.json": canonical(event="agent_stop"), "tool.py": "1"},
            "mine.json",
            ".hookport/hooks.json",
            "tool.py",
        ),
    ],
)
def test_a_source_elsewhere_is_put_where_a_project_has_it(
    tmp_path: Path, files: dict[str, str], source: str, sources: str, copied: str
) -> None:
    put(tmp_path, **files)
    given = belongings.gather_belongings(tmp_path / source, None, {"HOME": "/nowhere"})
    assert list(given.sources) == [sources]
    assert {sources, copied} <= given.files.keys()


def test_of_a_home_only_hooks_and_their_scripts_go_along(tmp_path: Path) -> None:
    command = '"$HOME"/.claude/hooks/guard.sh'
    put(
        tmp_path,
        **{
            ".claude/settings.json": claude("PreToolUse", "Bash", command),
            ".claude/hooks/guard.sh": "#!/bin/sh\n",
            ".claude/history.jsonl": "private",
            "letters.txt": "private",
        },
    )
    given = belongings.gather_belongings(
        tmp_path / ".claude" / "settings.json", None, {"HOME": str(tmp_path)}
    )
    assert sorted(given.files) == [".claude/hooks/guard.sh", ".claude/settings.json"]
    assert sorted(given.home) == [".claude/hooks/guard.sh"]


def test_the_copy_of_a_hook_names_the_copy_of_its_project(tmp_path: Path) -> None:
    real, home = tmp_path / "home" / "real", tmp_path / "home"
    words = f"cd {real} && ./x.sh {real}-not {home}/log"
    put(
        real,
        **{".claude/settings.json": claude("Stop", command=words), "x.sh": "#!/bin/sh\n", "a.txt": words},
    )
    given = belongings.gather_belongings(real, None, {"HOME": str(home)})
    project = tmp_path / "project"
    belongings.copy_belongings(given, project, tmp_path / "new")
    told = f"cd {project} && ./x.sh {real}-not {home}/log"
    assert json.loads((project / ".claude/settings.json").read_text("utf-8")) == json.loads(
        claude("Stop", command=told)
    )
    assert (project / "a.txt").read_text("utf-8") == words


def test_what_a_hook_runs_programs_from_is_linked(tmp_path: Path) -> None:
    put(
        tmp_path / "real",
        **{
            ".claude/settings.json": claude("Stop", command="npx --no-install prettier --check ."),
            "node_modules/.bin/prettier": "#!/bin/sh\n",
            ".venv/bin/python": "#!/bin/sh\n",
        },
    )
    given = belongings.gather_belongings(tmp_path / "real", None, {"HOME": "/nowhere"})
    assert (given.left_out, list(given.links)) == (("'.venv'",), ["node_modules"])
    project = tmp_path / "project"
    project.mkdir()
    belongings.copy_belongings(given, project, tmp_path)
    assert (project / "node_modules" / ".bin" / "prettier").exists()


def test_a_source_without_hooks_is_told(tmp_path: Path) -> None:
    put(tmp_path, **{".claude/settings.json": '{"hooks": {}}'})
    with pytest.raises(InputError, match="no hook that may run"):
        belongings.gather_belongings(tmp_path, None, {"HOME": "/nowhere"})


# What was seen, made up.

RM = Sample("shell", "rm -rf victim", ("rm -rf victim",), "ran-1", program=("rm", "-rf", "victim"))
HELLO = Sample("shell", "echo hello; touch ran-0", ("echo hello; touch ran-0",), "ran-0", harmless=True)
NOTES = Sample("write", "write notes.md", ("notes.md", "x"), "notes.md", harmless=True)
REASON = "no deleting here"


def heard(step: int | None, *texts: str, results: tuple[str, ...] = ()) -> RequestRecord:
    said = tuple(Message("user", text) for text in texts)
    return RequestRecord(
        "POST", "/", "x", step, said, tuple(ToolResult("Bash", "1", text) for text in results)
    )


def turn(*requests: RequestRecord, prompt: str = "Do it.", steps: int = 2) -> AgentTurn:
    return AgentTurn(prompt, steps, Outcome(exit=0, requests=requests, isolated=True))


def account(
    tmp_path: Path,
    event: str,
    *firings: Firing,
    agent: str = "claude-code",
    text: str = "exit 2",
    **more: object,
) -> Account:
    script = tmp_path / "guard.sh"
    script.write_text(text, "utf-8")
    hook = Hook(event, Handler(command="./guard.sh"), name="guard", blocking=True, dialect="claude-code")
    found = HookEntry(hook, str(tmp_path / "x.json"), "", str(tmp_path), "project", (str(script),))
    given = {
        "fates": (Fate(HELLO, 0, True, True), Fate(RM, 0, True, False)),
        "turns": (turn(heard(0, "Do it."), heard(1, results=("ok",)), heard(2, results=("ok", REASON))),),
        **more,
    }
    return Account(
        agent,
        drivers.get(agent),
        "auto",
        (found,),
        (plan_builder.plan_entry(found),),
        firings,
        **given,  # type: ignore[arg-type]
    )


def fired(about: Sample, **more: object) -> Firing:
    call = json.dumps({"command": about.given[0]} if about.kind == "shell" else {"path": f"/p/{about.path}"})
    return Firing(0, 0, "before_tool_execute", samples.TOOLS[about.kind], call, **more)  # type: ignore[arg-type]


def judged(given: Account) -> tuple[str, bool, str]:
    (proof,) = enforcement.make_proofs(given)
    return proof.word, proof.held, proof.because


def test_a_guard_that_stops_and_lets_the_harmless_through_is_enforced(tmp_path: Path) -> None:
    given = account(tmp_path, "before_tool_execute", fired(HELLO), fired(RM, verdict="deny", reason=REASON))
    assert enforcement.make_proofs(given) == [
        Proof(
            "guard",
            "claude-code",
            "enforced",
            f"denied `rm -rf victim`; the model saw '{REASON}'",
            held=True,
            guards=True,
            fired=2,
            denied=("rm -rf victim",),
            passed=("echo hello; touch ran-0",),
        )
    ]


def test_a_guard_whose_denial_is_not_obeyed_is_advisory(tmp_path: Path) -> None:
    fates = (Fate(HELLO, 0, True, True), Fate(RM, 0, True, True))
    given = account(tmp_path, "before_tool_execute", fired(RM, verdict="deny"), fates=fates)
    assert judged(given) == (
        "advisory",
        False,
        "it denied `rm -rf victim`, but the agent did it anyway",
    )


def test_a_guard_that_denies_nothing_is_not_shown_to_guard(tmp_path: Path) -> None:
    given = account(tmp_path, "before_tool_execute", fired(HELLO), fired(RM))
    because = "fired twice; it answered nothing; no sample made it deny; add a call that it must deny"
    assert judged(given) == ("advisory", False, f"{because} with --sample 'COMMAND'")


def test_what_cannot_deny_need_not(tmp_path: Path) -> None:
    given = account(tmp_path, "before_tool_execute", fired(HELLO), text="logger used")
    assert judged(given) == ("advisory", True, "fired once; it answered nothing")


def test_a_rewrite_is_seen_by_the_mark_that_is_missing(tmp_path: Path) -> None:
    changed = {"command": "rm -i victim"}
    given = account(tmp_path, "before_tool_execute", fired(RM, updated=changed))
    assert judged(given) == ("advisory", True, "fired once; its rewrite took effect")
    fates = (Fate(HELLO, 0, True, True), Fate(RM, 0, True, True))
    given = account(tmp_path, "before_tool_execute", fired(RM, updated=changed), fates=fates)
    assert judged(given)[2].startswith("fired once; its rewrite had no effect")


def test_a_hook_that_fails_is_broken(tmp_path: Path) -> None:
    failed = fired(RM, failure="exit code 1", exit=1, stderr="Traceback\nNameError: x\n")
    given = account(tmp_path, "before_tool_execute", fired(HELLO, failure="exit code 1"), failed)
    because = "it failed 2 of 2 times: exit code 1 (stderr: NameError: x); nothing was prevented"
    assert judged(given) == ("broken", False, because)


def test_an_error_that_ends_as_a_denial_does_is_broken(tmp_path: Path) -> None:
    wrong = f"{tmp_path}/project/guard.sh: line 5: syntax error: unexpected end of file"
    firings = [fired(one, verdict="deny", reason=wrong) for one in (HELLO, RM)]
    given = account(tmp_path, "before_tool_execute", *firings, root=str(tmp_path))
    because = "it fails, and that denies every matching call: "
    told = "$PROJECT/guard.sh: line 5: syntax error: unexpected end of file"
    assert judged(given) == ("broken", False, because + told)


def test_what_fails_shut_is_told(tmp_path: Path) -> None:
    fates = (Fate(NOTES, 0, True, True), Fate(HELLO, 0, True, False), Fate(RM, 0, True, False))
    failures = [fired(one, failure="exit code 1") for one in (HELLO, RM)]
    given = account(tmp_path, "before_tool_execute", *failures, fates=fates)
    because = "it failed 2 of 2 times: exit code 1; the calls did not happen"
    assert judged(given) == ("broken", False, because)
    assert enforcement.find_refused(given) == []
    assert enforcement.find_refused(given._replace(firings=())) == [
        "echo hello; touch ran-0",
        "rm -rf victim",
    ]


def test_nothing_harmless_shows_nothing(tmp_path: Path) -> None:
    fates = (Fate(HELLO, 0, True, False), Fate(RM, 0, True, False))
    given = account(tmp_path, "before_tool_execute", fired(RM, verdict="deny"), fates=fates)
    assert judged(given)[:2] == ("advisory", False)


def test_a_guard_on_prompts_and_on_the_end(tmp_path: Path) -> None:
    secret = samples.PROMPT.given[0]
    turns = (turn(heard(0, "Do it.")), turn(prompt=secret, steps=0))
    denied = Firing(0, 1, "before_prompt", verdict="deny", reason=REASON)
    given = account(tmp_path, "before_prompt", denied, turns=turns, fates=())
    because = "denied `a prompt with keys and a password`; the model never saw it"
    assert judged(given) == ("enforced", True, because)
    turns = (turns[0], turn(heard(0, secret), prompt=secret, steps=0))
    given = account(tmp_path, "before_prompt", denied, turns=turns, fates=())
    assert judged(given) == ("advisory", False, "it denied, but the prompt reached the model anyway")
    stop = Firing(0, 0, "agent_stop", verdict="deny", reason=REASON)
    on = (turn(heard(0, "Do it."), heard(0, REASON), steps=0),)
    given = account(tmp_path, "agent_stop", stop, turns=on, fates=())
    assert judged(given) == ("enforced", True, f"it made the agent continue; the model saw '{REASON}'")
    ended = (turn(heard(0, "Do it."), steps=0),)
    given = account(tmp_path, "agent_stop", stop, turns=ended, fates=())
    assert judged(given) == ("advisory", False, "it denied, but the agent stopped anyway")


@pytest.mark.parametrize(
    ("event", "agent", "more", "because"),
    [
        (
            "before_prompt",
            "cline",
            {},
            "UserPromptSubmit does not fire in a run of one prompt (measured, 3.0.65)",
        ),
        ("before_compact", "claude-code", {}, "no sample makes before_compact fire"),
        ("agent_stop", "claude-code", {}, "Claude Code never sent Stop"),
        (
            "agent_stop",
            "claude-code",
            {"turns": (AgentTurn("", 0, Outcome(exit=1, stderr="x\nnot logged in\n")),)},
            "the agent never asked the model: not logged in",
        ),
        (
            "agent_stop",
            "claude-code",
            {"trouble": "`hookport sync` failed: x"},
            "nothing ran: `hookport sync` failed: x",
        ),
        (
            "agent_stop",
            "claude-code",
            {"unwatched": frozenset({0})},
            "Claude Code runs it itself, and nothing shows a run",
        ),
    ],
)
def test_why_a_hook_did_not_fire(
    tmp_path: Path, event: str, agent: str, more: dict[str, object], because: str
) -> None:
    given = account(tmp_path, event, agent=agent)._replace(by_itself=frozenset({0}), **more)  # type: ignore[arg-type]
    word, _, told = judged(given)
    assert (word, told) == ("not fired", because)


# One run, with a small agent in the place of a real one.

AGENT = Path(__file__).parent / "prove_agent.py"
DRIVER = Driver(
    title="Small",
    package=AgentPackage("npm", "small", "1.0.0"),
    program="small",
    protocol="chat",
    settle=lambda _stage: None,
    command=lambda stage: (*stage.program, stage.url, stage.prompt),
    environment=lambda stage: {"CLAUDE_PROJECT_DIR": str(stage.project)},
    calls={"shell": lambda _stage, command: ModelCall("Bash", {"command": command})},
    dialect="claude_code",
)
GUARD = """#!/bin/sh
if grep -q 'rm -rf [.]'; then echo 'no deleting here' >&2; exit 2; fi
"""
STOP = """#!/bin/sh
if grep -q '"stop_hook_active": *false'; then echo '{"decision": "block", "reason": "not yet"}'; fi
"""


def test_hooks_behind_the_bridge_and_of_the_agent_itself_are_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKPORT_CACHE_DIR", str(tmp_path / "cache"))
    groups = {
        "PreToolUse": [{"matcher": "Bsh", "hooks": [{"type": "command", "command": "exit 2"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}],
        "PostToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo wrong >&2; exit 7"}]}
        ],
    }
    source = put(
        tmp_path / "source",
        **{
            ".agents/hooks/guard/HOOK.md": hook_md('matcher:\n  tool: Shell\n  pattern: "rm -rf"\n'),
            ".agents/hooks/guard/scripts/run.sh": GUARD,
            ".claude/settings.json": json.dumps({"hooks": groups}),
            "stop.sh": STOP,
        },
    )
    request = own.ProofRequest(belongings.gather_belongings(source, None, {"HOME": "/nowhere"}))
    program = Program((sys.executable, str(AGENT)), "1.0.0", AGENT)
    root = tmp_path / "run"
    root.mkdir()
    given = own.play_agent("small", DRIVER, program, request, root)
    assert given.trouble == ""
    assert [fate.sample.about for fate in given.fates if fate.happened] == ["ls README.md", "rm -rf victim"]
    assert [proof[2:6] for proof in enforcement.make_proofs(given)] == [
        ("enforced", "denied `rm -rf ./victim-2`; the model saw 'no deleting here'", True, True),
        (
            "not fired",
            "its matcher is for Bsh, and no sample matches it. Did you mean 'Bash'?",
            False,
            True,
        ),
        ("enforced", "it made the agent continue; the model saw 'not yet'", True, True),
        (
            "broken",
            "it failed 2 of 2 times: exit code 7 (stderr: wrong)",
            False,
            False,
        ),
    ]
    own.keep(root, tmp_path / "report")
    kept = {path.name for path in (tmp_path / "report").iterdir()}
    assert kept >= {"install.txt", "requests.jsonl", "witness.jsonl", "payloads", "turns", "state"}


def small_run(tmp_path: Path, driver: Driver, guard: str, *more: str) -> Account:
    """The small agent with one guard on commands, and what a person adds."""
    source = put(
        tmp_path / "source",
        **{
            ".agents/hooks/guard/HOOK.md": hook_md("matcher:\n  tool: Shell\n"),
            ".agents/hooks/guard/scripts/run.sh": guard,
        },
    )
    own_samples = tuple(map(samples.parse_sample, more))
    request = own.ProofRequest(belongings.gather_belongings(source, None, {"HOME": "/nowhere"}), own_samples)
    program = Program((sys.executable, str(AGENT)), "1.0.0", AGENT)
    root = tmp_path / "run"
    root.mkdir()
    return own.play_agent("small", driver, program, request, root)


def commands_run(given: Account) -> list[str]:
    """The commands that the agent was told to run, by what it told the guard."""
    lines = (Path(given.root) / "state" / "journal.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [one["input"]["command"] for one in records if one["event"] == "before_tool_execute"]


ANCHORED = """#!/bin/sh
if grep -Eq '"(git push origin main|make deploy [$]X)"'; then echo 'not from here' >&2; exit 2; fi
"""


def test_what_is_told_is_what_was_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte: a guard with an anchored pattern meets the command that is printed, and no other."""
    monkeypatch.setenv("HOOKPORT_CACHE_DIR", str(tmp_path / "cache"))
    given = small_run(tmp_path, DRIVER, ANCHORED, "make deploy $X", "ls  -a # all")
    told = [fate.sample.about for fate in given.fates if fate.sample.kind == "shell"]
    assert commands_run(given) == told
    assert told[-2:] == ["make deploy $X; touch ran-19", "ls  -a # all\ntouch ran-20"]
    (proof,) = enforcement.make_proofs(given)
    assert (proof.word, proof.denied) == ("enforced", ("git push origin main",))
    assert {*proof.denied, *proof.passed} == set(told)


def test_commands_mark_themselves_where_programs_are_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent with a search path of its own starts the real programs; then that is what is told."""
    monkeypatch.setenv("HOOKPORT_CACHE_DIR", str(tmp_path / "cache"))
    path = f"PATH={os.environ['PATH']}"
    driver = DRIVER._replace(command=lambda stage: ("/usr/bin/env", path, *DRIVER.command(stage)))
    given = small_run(tmp_path, driver, ANCHORED)
    told = [fate.sample.about for fate in given.fates if fate.sample.kind == "shell"]
    assert commands_run(given) == ["ls README.md", *told]
    assert all("touch ran-" in text for text in told)
    (proof,) = enforcement.make_proofs(given)
    assert (proof.word, proof.denied, set(proof.passed)) == ("advisory", (), set(told))


@pytest.mark.parametrize("shell", [["sh", "-c"], ["sh", "-lc"], ["bash", "-c"], ["bash", "-lc"]])
@pytest.mark.parametrize(("line", "seen"), [("ls README.md", True), ("ls", False), ("ls README.md x", False)])
def test_a_program_that_is_started_is_seen(tmp_path: Path, shell: list[str], line: str, seen: bool) -> None:
    """With these words and no others, and it does what it does."""
    home, project = put(tmp_path / "home"), put(tmp_path / "project", **{"README.md": "x", "x": "x"})
    home.mkdir()
    sample = samples.parse_sample("ls README.md")._replace(mark="ran-0")
    path = shims.place_shims(tmp_path / "shims", home, project, [sample], os.environ["PATH"])
    env = {"HOME": str(home), "PATH": path}
    done = subprocess.run([*shell, line], cwd=project, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "README.md" in done.stdout, done.stderr) == (0, True, "")
    assert (project / "ran-0").exists() is seen


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("git push origin main", ("git", "push", "origin", "main")),
        ("curl -s http://127.0.0.1:9/x.sh | sh", ("curl", "-s", "http://127.0.0.1:9/x.sh")),
        ("npm test && git push", ("npm", "test")),
        ("echo hello", ()),
        ("cd x && git push", ()),
        ("./deploy.sh", ()),
        ("/bin/rm -r x", ()),
        ("A=1 make", ()),
        ("rm -rf $HOME", ()),
        ("rm -rf *", ()),
        ("git commit -m 'x'", ()),
        ("make &", ()),
        ("cat x > y", ()),
        ("ls # x", ()),
    ],
)
def test_which_commands_are_played_as_they_are(line: str, program: tuple[str, ...]) -> None:
    assert samples.parse_sample(line).program == program


def test_a_script_that_is_the_hook_itself_is_watched(tmp_path: Path) -> None:
    """The agent starts it by its file's name, so the witness has that name."""
    root, home = tmp_path / "project", tmp_path / "home"
    script = root / ".clinerules/hooks/PreToolUse"
    script.parent.mkdir(parents=True)
    (root / ".git").mkdir()
    home.mkdir()
    answer = '{"cancel": true, "errorMessage": "no"}'
    script.write_text(f'#!/bin/sh\ngrep -q rm && echo \'{answer}\'\nls "$(dirname "$0")/data" >&2\n')
    (script.parent / "data").write_text("")
    script.chmod(0o755)
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    hooks = tuple(plan_builder.list_runnable(discover(str(root), env)))
    watch = Watch("cline", hooks, root, env, tmp_path / "records")
    watch.place(root, home)
    assert (watch.watched, watch.unwatched) == ({0}, set())
    payload = json.dumps(
        {
            "hookName": "PreToolUse",
            "preToolUse": {"toolName": "run_commands", "parameters": {"commands": ["rm -r x"]}},
        }
    )
    done = subprocess.run([str(script)], input=payload, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout.strip()) == (0, answer)
    (firing,) = watch.new(0)
    assert (firing.hook, firing.verdict, firing.reason) == (0, "deny", "no")
