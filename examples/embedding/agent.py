"""An agent with one tool, guarded by every hook of its project and its user."""

import json
import os
import subprocess
import sys
import urllib.request

from hookport.host import Host

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [{"type": "function", "function": {"name": "run_shell", "parameters": PARAMETERS}}]

host = Host(root=".", agent="my-agent", tools={"run_shell": "shell"})


def ask_model(messages: list[dict]) -> dict:
    body = json.dumps({"model": "gpt-5.2", "messages": messages, "tools": TOOLS}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    with urllib.request.urlopen(urllib.request.Request(URL, body, headers)) as reply:
        return json.load(reply)["choices"][0]["message"]


def run_tool(name: str, arguments: dict) -> str:
    outcome = host.before_tool(name, arguments)
    if outcome.verdict == "deny":
        return f"Denied: {outcome.reason}"
    if outcome.verdict == "ask" and input(f"{outcome.reason} Run it? [y/N] ") != "y":
        return "The user declined."
    done = subprocess.run(outcome.input["command"], shell=True, capture_output=True, text=True, check=False)
    after = host.after_tool(name, outcome.input, done.stdout + done.stderr)
    return "\n".join(filter(None, (after.result, outcome.context, after.context)))


messages = [{"role": "user", "content": sys.argv[1]}]
while calls := (answer := ask_model(messages)).get("tool_calls"):
    messages.append(answer)
    for call in calls:
        text = run_tool(call["function"]["name"], json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
print(answer["content"])
