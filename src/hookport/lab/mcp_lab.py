"""An MCP server with one tool, `shout`, over stdin and stdout; it runs from its own file.

It needs only the standard library, so that any agent can start it with a plain Python.
"""

from __future__ import annotations

import json
import sys

TOOL = {
    "name": "shout",
    "description": "Says a text in capital letters.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}
UNKNOWN = {"code": -32601, "message": "no such method"}
# The protocol version for a client that does not send its own.
PROTOCOL = "2025-06-18"


def answer(method: str, params: dict[str, object]) -> dict[str, object] | None:
    """Return the result of a request; None for an unknown method."""
    if method == "initialize":
        version = params.get("protocolVersion", PROTOCOL)
        about = {"name": "lab", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        arguments = params.get("arguments")
        text = str(arguments.get("text", "")) if isinstance(arguments, dict) else ""
        return {"content": [{"type": "text", "text": text.upper()}]}
    return {} if method == "ping" else None


def main() -> None:
    """Answer one request per line until the input ends; notifications get no answer."""
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        reply = {"error": UNKNOWN} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
