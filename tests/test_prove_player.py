"""One run from its stage to its outcome, with a small agent of our own and with programs that misbehave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from hookport.lab import confinement, play, player, stage
from hookport.lab.driver import AgentPackage, Driver, ModelCall, ModelStep, Stage

AGENT = Path(__file__).parent / "prove_agent.py"
SHELL = {"shell": lambda _stage, command: ModelCall("Bash", {"command": command})}
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what has left a process group")


def driven(*argv: str, patience: float = 60) -> Driver:
    """A driver of the small agent, or of any program that is given."""
    return Driver(
        title="Small",
        package=AgentPackage("npm", "small", "1.0.0"),
        program="small",
        protocol="chat",
        settle=lambda _stage: None,
        command=lambda stage: argv or (*stage.program, stage.url, stage.prompt),
        environment=lambda _stage: {"SMALL": "1"},
        calls=SHELL,
        patience=patience,
    )


def world(root: Path, *more: str, **files: str) -> Stage:
    return stage.build_stage(
        root, (sys.executable, str(AGENT), *more), shared=root / "shared", files=files, within="src"
    )


def ran(*commands: str) -> tuple[ModelStep, ...]:
    return (*(ModelStep((SHELL["shell"](None, command),)) for command in commands), ModelStep(text="Done."))


def script(text: str, *arguments: str) -> tuple[str, ...]:
    return sys.executable, "-c", textwrap.dedent(text), *arguments


def gone(pid: int) -> bool:
    """Whether a process ends within the time that the system may take for it."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", [(), ("--stream",)])
def test_an_agent_is_played(tmp_path: Path, how: tuple[str, ...]) -> None:
    where = world(tmp_path, *how, **{"notes.txt": "x", "run.sh": "#!/bin/sh\n"})
    steps = ran("pwd > ../out.txt; ls ..", "hookport --version; echo $SMALL")
    outcome = player.play_spec(stage.make_spec(driven(), where, steps), tmp_path)
    assert (outcome.exit, outcome.signal, outcome.timed_out, outcome.trouble) == (0, "", False, "")
    assert (outcome.stdout, outcome.stderr, outcome.left) == ("Done.\n", "", ())
    assert (where.project / "out.txt").read_text("utf-8") == f"{where.project}/src\n"
    assert [heard.step for heard in outcome.requests] == [0, 1, 2]
    assert outcome.requests[-1].results[0].text == "exit 0\nREADME.md\nnotes.txt\nout.txt\nrun.sh\nsrc\n"
    assert outcome.requests[-1].results[1].text.startswith("exit 0\nhookport ")
    assert outcome.requests[-1].results[1].text.endswith("\n1\n")
    assert outcome == play.read_outcome(tmp_path / "outcome.json")
    raw = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text("utf-8").splitlines()]
    assert [(line["path"], line["step"]) for line in raw] == [("/v1/chat/completions", n) for n in range(3)]


def test_a_spec_is_read_as_it_was_written(tmp_path: Path) -> None:
    steps = (
        ModelStep((ModelCall("a", {"b": [1]}, "c"), ModelCall("d", "free")), "text"),
        ModelStep(text="e"),
    )
    spec = stage.make_spec(driven(), world(tmp_path), steps, settle_seconds=2, more={"SMALL": "2"})
    play.write(tmp_path / "spec.json", spec)
    assert play.read_spec(tmp_path / "spec.json") == spec
    assert spec.environment["SMALL"] == "2"


def test_hooks_of_the_small_agent_act(tmp_path: Path) -> None:
    guard = "grep -q 'rm -rf' && { echo no deletes >&2; exit 2; }; exit 0"
    stop = """grep -q '"stop_hook_active": true' || echo '{"decision": "block", "reason": "do more"}'"""
    hooks = {"PreToolUse": guard, "Stop": stop, "SessionStart": "echo WELCOME"}
    settings = {"hooks": {e: [{"hooks": [{"type": "command", "command": c}]}] for e, c in hooks.items()}}
    where = world(tmp_path, **{"src/.claude/settings.json": json.dumps(settings), "src/keep": "x"})
    outcome = player.play_spec(stage.make_spec(driven(), where, ran("rm -rf keep", "echo hi")), tmp_path)
    assert outcome.stdout == "That is all (4).\n"
    last = outcome.requests[-1]
    assert [result.text for result in last.results] == ["denied: no deletes", "exit 0\nhi\n"]
    assert [said.text for said in last.texts] == [
        *("You run commands. WELCOME\n", stage.PROMPT, "Done.", "do more"),
    ]
    assert (where.cwd / "keep").exists()


def test_nothing_of_the_user_is_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    where = world(tmp_path)
    dump = script("import os, json; print(json.dumps(dict(os.environ)))")
    outcome = player.play_spec(stage.make_spec(driven(*dump), where, ()), tmp_path)
    found = json.loads(outcome.stdout)
    found.pop("LC_CTYPE", None)  # Python sets it for itself
    assert found == {**stage.make_environment(where), "SMALL": "1"}
    theirs = {name for name, value in found.items() if os.environ.get(name) == value}
    assert theirs <= {"LANG", "TERM", "NO_COLOR", "PYTHONDONTWRITEBYTECODE", "SHELL"}


def test_no_other_network_is_reached(tmp_path: Path) -> None:
    with_route = script("import socket; socket.create_connection(('192.0.2.1', 80), 5)")
    outcome = player.play_spec(stage.make_spec(driven(*with_route), world(tmp_path), ()), tmp_path)
    if not outcome.isolated:
        pytest.skip(outcome.open_because)
    assert "Network is unreachable" in outcome.stderr


@LINUX
def test_a_user_without_rights_is_isolated_too() -> None:
    code = """
    import socket, sys
    from hookport.lab import confinement
    try:
        confinement._enter(confinement.CLONE_NEWUSER | confinement.CLONE_NEWNET)
    except OSError as error:
        sys.exit(f"no user namespaces here: {error}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 5).close()
    try:
        socket.create_connection(("192.0.2.1", 80), 5)
    except OSError as error:
        print(error.strerror)
    """
    done = subprocess.run(script(code), capture_output=True, text=True, check=False)
    if "no user namespaces" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (done.stdout, done.stderr) == ("Network is unreachable\n", "")


def test_an_agent_that_does_not_end_is_ended(tmp_path: Path) -> None:
    stubborn = script(
        """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        time.sleep(600)
        """
    )
    spec = stage.make_spec(driven(*stubborn, patience=0.5), world(tmp_path), ())
    outcome = player.play_spec(spec, tmp_path)
    assert (outcome.exit, outcome.signal, outcome.timed_out) == (None, "SIGKILL", True)
    assert gone(int(outcome.stdout))


DAEMONS = """
import subprocess, sys
for own in ({}, None):
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    print(subprocess.Popen(command, start_new_session=True, env=own).pid, flush=True)
"""


@LINUX
def test_daemons_that_were_left_are_ended(tmp_path: Path) -> None:
    """Also one that has nothing of the run in its environment."""
    spec = stage.make_spec(driven(*script(DAEMONS)), world(tmp_path), (), settle_seconds=0.1)
    outcome = player.play_spec(spec, tmp_path)
    assert (outcome.exit, outcome.timed_out) == (0, False)
    assert outcome.left == (f"{sys.executable} -c import time; time.sleep(600)",) * 2
    assert [gone(int(pid)) for pid in outcome.stdout.split()] == [True, True]


def test_what_the_agent_left_may_finish(tmp_path: Path) -> None:
    late = """
    import subprocess
    subprocess.Popen(["sh", "-c", "sleep 0.3; echo x > late"], start_new_session=True)
    """
    where = world(tmp_path)
    outcome = player.play_spec(stage.make_spec(driven(*script(late)), where, (), settle_seconds=10), tmp_path)
    assert (outcome.left, (where.cwd / "late").read_text("utf-8")) == ((), "x\n")


def test_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    loud = script("import sys; sys.stdout.write('first' + 'x' * 1_000_000 + 'last')")
    spec = stage.make_spec(driven(*loud), world(tmp_path), ())._replace(isolate=False)
    outcome = player.play_spec(spec, tmp_path)
    assert (outcome.exit, outcome.isolated, outcome.open_because) == (0, False, "not requested")
    cut = f"\n[... {1_000_009 - player.KEPT_BYTES} bytes left out ...]\n"
    assert outcome.stdout == ("first" + "x" * 1_000_000 + "last")[: player.KEPT_BYTES // 2] + cut + (
        "x" * (player.KEPT_BYTES // 2 - 4) + "last"
    )


def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    outcome = player.play_spec(stage.make_spec(driven("/no/such"), world(tmp_path), ()), tmp_path)
    assert outcome.trouble == "cannot start '/no/such': No such file or directory"


def test_the_home_of_the_user_is_no_home_of_a_run(tmp_path: Path) -> None:
    spec = stage.make_spec(driven(), world(tmp_path), ())
    for home in (str(Path.home()), ""):
        outcome = player.play_spec(spec._replace(home=home), tmp_path)
        assert outcome.trouble == "a run needs its own home, because every process with this HOME is ended"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_the_caller_is_stopped(tmp_path: Path, number: signal.Signals) -> None:
    """Whether the caller passes a signal on, or has no time to."""
    slow = script("import os, time; open('pid', 'w').write(f'{os.getpid()}\\n'); time.sleep(600)")
    where = world(tmp_path)
    play.write(tmp_path / "given.json", stage.make_spec(driven(*slow), where, ()))
    caller = script(
        """
        import sys
        from pathlib import Path
        from hookport.lab import play, player
        player.play_spec(play.read_spec(Path(sys.argv[1])), Path(sys.argv[2]))
        """,
        str(tmp_path / "given.json"),
        str(tmp_path),
    )
    with subprocess.Popen(caller, stderr=subprocess.DEVNULL) as running:
        pid = where.cwd / "pid"
        for _ in range(600):
            if pid.exists() and pid.read_text("utf-8").endswith("\n"):
                break
            time.sleep(0.05)
        running.send_signal(number)
    assert gone(int(pid.read_text("utf-8")))


def test_a_player_that_fails_is_said(tmp_path: Path) -> None:
    spec = stage.make_spec(driven(), world(tmp_path), ())._replace(protocol="none")
    outcome = player.play_spec(spec, tmp_path)
    assert outcome.trouble == (
        "the player did not finish: ModuleNotFoundError: No module named 'hookport.lab.protocols.none'"
    )


@pytest.mark.skipif(sys.platform == "linux", reason="Linux has network namespaces")
def test_a_system_without_namespaces_says_so() -> None:
    assert confinement.isolate() == f"{sys.platform} has no network namespaces"
