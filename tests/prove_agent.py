"""A small agent without a vendor: one tool, one model by Chat Completions, and hooks as Claude Code has them.

It stands in for a real agent where none is installed, so that a run, and what is judged from it, can be
tested. `python prove_agent.py [--stream] URL PROMPT` is started in a project.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

TOOL = {
    "type": "function",
    "function": {
        "name": "Bash",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}


class Answered:
    """What the hooks of one event said together: a denial wins, contexts add up, a rewrite replaces."""

    def __init__(self, event: str, tool: str = "", **payload: Any) -> None:
        self.denied = False
        self.reason = ""
        self.context = ""
        self.input: dict[str, Any] | None = None
        payload |= {"hook_event_name": event, "session_id": "s1", "cwd": str(Path.cwd())}
        if tool:
            payload["tool_name"] = tool
        for group in _settings().get("hooks", {}).get(event, []):
            if tool and group.get("matcher") not in (None, "", "*", tool):
                continue
            for hook in group["hooks"]:
                self._take(hook, event, payload)

    def _take(self, hook: dict[str, Any], event: str, payload: dict[str, Any]) -> None:
        done = subprocess.run(
            hook["command"],
            shell=True,
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            said = json.loads(done.stdout)
        except ValueError:
            said = {}
            if done.returncode == 0 and event in ("SessionStart", "UserPromptSubmit"):
                self.context += done.stdout
        own = said.get("hookSpecificOutput", {})
        if done.returncode == 2:
            self.denied, self.reason = True, done.stderr.strip()
        elif said.get("decision") == "block":
            self.denied, self.reason = True, said.get("reason", "")
        elif own.get("permissionDecision") in ("deny", "ask"):  # no one can be asked
            self.denied, self.reason = True, own.get("permissionDecisionReason", "")
        self.context += own.get("additionalContext", "")
        self.input = own.get("updatedInput", self.input)


def _settings() -> dict[str, Any]:
    path = Path(".claude", "settings.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def asked(url: str, messages: list[dict[str, Any]], *, stream: bool) -> dict[str, Any]:
    """The model's next message."""
    body = json.dumps({"model": "any", "messages": messages, "tools": [TOOL], "stream": stream}).encode()
    request = urllib.request.Request(f"{url}/v1/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        if not stream:
            found: dict[str, Any] = json.load(answer)["choices"][0]["message"]
            return found
        return joined([line.removeprefix("data: ") for line in answer.read().decode().split("\n\n") if line])


def joined(events: list[str]) -> dict[str, Any]:
    """One message from the pieces of a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    assert events.pop() == "[DONE]"
    for delta in (json.loads(event)["choices"][0]["delta"] for event in events):
        message["content"] += delta.get("content") or ""
        for piece in delta.get("tool_calls", []):
            if piece["index"] in calls:
                calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
            else:
                calls[piece.pop("index")] = piece
    return {**message, "tool_calls": list(calls.values())} if calls else message


def called(call: dict[str, Any]) -> str:
    """Run a call of the tool, past its hooks; what the model is told of it."""
    given = json.loads(call["function"]["arguments"])
    before = Answered("PreToolUse", "Bash", tool_input=given)
    if before.denied:
        return f"denied: {before.reason}"
    given |= before.input or {}
    done = subprocess.run(given["command"], shell=True, capture_output=True, text=True, check=False)
    after = Answered("PostToolUse", "Bash", tool_input=given, tool_response={"stdout": done.stdout})
    return f"exit {done.returncode}\n{done.stdout}{done.stderr}{after.context}"


def main(url: str, prompt: str, *, stream: bool) -> None:
    """Talk to the model until it says a text and no hook wants more."""
    messages = [{"role": "system", "content": "You run commands. " + Answered("SessionStart").context}]
    submitted = Answered("UserPromptSubmit", prompt=prompt)
    if submitted.denied:
        print(f"prompt denied: {submitted.reason}")
        return
    messages.append({"role": "user", "content": prompt + submitted.context})
    again = False
    while True:
        message = asked(url, messages, stream=stream)
        messages.append(message)
        if calls := message.get("tool_calls"):
            messages += [{"role": "tool", "tool_call_id": c["id"], "content": called(c)} for c in calls]
            continue
        stop = Answered("Stop", stop_hook_active=again)
        if not stop.denied:
            print(message["content"])
            return
        again = True
        messages.append({"role": "user", "content": stop.reason})


if __name__ == "__main__":
    main(*sys.argv[-2:], stream="--stream" in sys.argv[1:-2])
