"""A made-up agent in a package of its own, as others add theirs to hookport: tables, and nothing else."""

from __future__ import annotations

from hookport.model.events import EVENTS
from hookport.shapes.by_event import BY_EVENT
from hookport.shapes.dialect import (
    SECOND,
    Dialect,
    EventSpec,
    HandlerSpec,
    Location,
    Matching,
    Timeout,
    list_ways,
    name_tools,
)
from hookport.wire.table import Wire

HERE = "made up"
NATIVE = (
    EventSpec("tool.before", "before_tool_execute", "prevent", HERE, "tool"),
    EventSpec("tool.after", "after_tool_execute", "observe", HERE, "tool"),
    EventSpec("prompt", "before_prompt", "prevent", HERE),
    EventSpec("begin", "session_start", "observe", HERE),
    EventSpec("finish", "agent_stop", "retry", HERE),
)
KEYS = {"event": "what", "session": "talk", "cwd": "dir", "tool": "tool", "input": "with", "prompt": "text"}
FIELDS = {"command": "command", "timeout": "timeout"}
READ = {"verdicts": [("verdict", {"no": "deny"})], "reason": ["because"], "exits": {"2": "deny"}}
DENY = {"json": {"verdict": "no", "because": "$reason"}}

DIALECT = Dialect(
    id="my-agent",
    title="My Agent",
    kind="agent",
    facts="1.0",
    sources={HERE: "nobody has this agent"},
    locations=(
        Location("project", ".my-agent/hooks.json", HERE),
        Location("user", "~/.my-agent/hooks.json", HERE),
    ),
    events=NATIVE,
    lacks={name: HERE for name in EVENTS if name not in {spec.canonical for spec in NATIVE}},
    tools=name_tools(HERE, shell="run", file_read="look", file_write="put", file_edit="alter"),
    handlers={"command": HandlerSpec("command", FIELDS, Timeout(SECOND, 60 * SECOND), ("command",))},
    shape=BY_EVENT,
    matching=Matching("regex"),
    wire=Wire(
        keys=KEYS,
        inputs={"shell": {"command": "line"}},
        env={"MY_AGENT_ROOT": "$root"},
        marks=("what", "talk"),
        answers={
            "before_tool_execute": {"deny": DENY},
            "before_prompt": {"deny": DENY},
            "agent_stop": {"deny": DENY},
            "*": {},
        },
        reads={"*": READ},
    ),
    project_dir=("$MY_AGENT_ROOT",),
    ways_around=list_ways(kinds=4, none={"sub-agents": HERE, "shell": HERE}),
)
