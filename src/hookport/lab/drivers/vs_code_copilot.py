"""VS Code's Copilot agent mode: the editor's server, opened by a browser without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hookport.lab.driver import AgentPackage, Calls, Driver, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_server, write, write_json

SESSION = Path(__file__).with_name("_vs_code_session.mjs")
EXTENSION = Path(__file__).with_name("_vs_code_extension.js")
# The manifest of the extension that submits the prompt.
MANIFEST = {
    "name": "lab",
    "publisher": "hookport",
    "version": "1.0.0",
    "engines": {"vscode": "^1.100.0"},
    "main": "./extension.js",
    "activationEvents": ["onStartupFinished"],
}
MODEL = "customendpoint/lab/lab-model"


def settle(stage: Stage) -> None:
    data = stage.home / ".local" / "share" / "code-server"
    model = {
        "id": "lab-model",
        "name": "lab",
        "url": f"{stage.url}/v1/chat/completions",
        "toolCalling": True,
        "vision": False,
        "maxInputTokens": 128000,
        "maxOutputTokens": 8000,
    }
    provider = {"name": "lab", "vendor": "customendpoint", "apiKey": "none", "apiType": "chat-completions"}
    write_json(data / "User" / "chatLanguageModels.json", [{**provider, "models": [model]}])
    settings: dict[str, object] = {
        "chat.allowAnonymousAccess": True,
        "chat.utilityModel": MODEL,
        "chat.utilitySmallModel": MODEL,
        "chat.permissions.default": "autoApprove",
        "security.workspace.trust.enabled": not stage.trusted,
        "security.workspace.trust.startupPrompt": "never",
        "workbench.startupEditor": "none",
        "telemetry.telemetryLevel": "off",
        "update.mode": "none",
        "extensions.autoUpdate": False,
        "git.enabled": False,
    }
    write_json(data / "User" / "settings.json", settings)
    if stage.mcp:
        write_json(data / "User" / "mcp.json", {"servers": {"lab": {"type": "stdio", **make_server(stage)}}})
    folder = data / "extensions" / "hookport.lab-1.0.0"
    write_json(folder / "package.json", MANIFEST)
    write(folder / "extension.js", EXTENSION.read_text("utf-8"))


def command(stage: Stage) -> Sequence[str]:
    return (stage.program[0], str(SESSION), stage.prompt, str(stage.cwd), str(stage.shared), *stage.program)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {}


CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall(
        "run_in_terminal",
        {"command": line, "explanation": "as scripted", "goal": "as scripted", "mode": "sync", "timeout": 30000},
    ),
    "write": lambda stage, path, text: ModelCall(
        "create_file", {"filePath": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "replace_string_in_file",
        {"filePath": make_absolute(stage, path), "oldString": old, "newString": new},
    ),
    "read": lambda stage, path: ModelCall("read_file", {"filePath": make_absolute(stage, path), "startLine": 1, "endLine": 100}),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp_lab_{tool}", given),
}

DRIVER = Driver(
    title="VS Code Copilot",
    package=AgentPackage("npm", "code-server", "4.139.1", node=24),
    program="code-server",
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    patience=180,
)
