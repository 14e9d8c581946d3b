"""VS Code's Copilot agent mode: the editor's server, opened by a browser without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hookport.lab.driver import UNTRUSTED, AgentPackage, Calls, Driver, FetchStep, ModelCall, Stage
from hookport.lab.drivers._settings import make_absolute, make_server, write_json

SESSION = Path(__file__).with_name("_vs_code_session.mjs")
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
        "workbench.reduceMotion": "on",
        "chat.agentHost.enabled": False,
    }
    write_json(data / "User" / "settings.json", settings)
    if stage.mcp:
        write_json(data / "User" / "mcp.json", {"servers": {"lab": {"type": "stdio", **make_server(stage)}}})


def command(stage: Stage) -> Sequence[str]:
    return (stage.program[0], str(SESSION), stage.prompt, str(stage.cwd), str(stage.shared), *stage.program)


def environment(_stage: Stage) -> Mapping[str, str]:
    return {}


CALLS: Calls = {
    "shell": lambda _stage, line: ModelCall(
        "run_in_terminal",
        {
            "command": line,
            "explanation": "as scripted",
            "goal": "as scripted",
            "mode": "sync",
            "timeout": 30000,
        },
    ),
    "write": lambda stage, path, text: ModelCall(
        "create_file", {"filePath": make_absolute(stage, path), "content": text}
    ),
    "edit": lambda stage, path, old, new: ModelCall(
        "replace_string_in_file",
        {"filePath": make_absolute(stage, path), "oldString": old, "newString": new},
    ),
    "read": lambda stage, path: ModelCall(
        "read_file", {"filePath": make_absolute(stage, path), "startLine": 1, "endLine": 100}
    ),
    "mcp": lambda _stage, tool, given: ModelCall(f"mcp_lab_{tool}", given),
}

DRIVER = Driver(
    title="VS Code Copilot (code-server)",
    # VS Code 1.139.1. Its own packages are in a folder of their own; it runs without those that scripts
    # build (measured), and the browser is one without a screen.
    package=AgentPackage(
        "npm",
        "code-server",
        "4.139.1",
        node=24,
        companions=("@sparticuz/chromium@153.0.0",),
        options=("--ignore-scripts",),
        steps=(
            FetchStep("node_modules/code-server/lib/vscode", ("install", "--omit=dev", "--ignore-scripts")),
        ),
    ),
    program="code-server",
    # Without a configuration file it writes one, and says so first.
    version=("--version", "--config=/dev/null"),
    protocol="chat",
    settle=settle,
    command=command,
    environment=environment,
    calls=CALLS,
    lacks={
        UNTRUSTED: "VS Code sets its chat up only after somebody trusts the folder: without that the model "
        "is not asked (measured, 1.139.1)",
    },
    patience=180,
)
