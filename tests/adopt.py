"""Take the payloads of a `hookport prove --report` into the tests: one of each kind that is not there yet.

`make prove` runs it. The kind of a payload is its event, its tool and its keys.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from hookport.lab import drivers
from tests import agent_data

# Where a run was, as a path and, in the names of an agent's own folders, with its slashes replaced.
RUN = (
    (re.compile(r"[^\s\"']*/hookport-prove-\w+"), "/home/dev"),
    (re.compile(r"-[\w-]*hookport-prove-\w+"), "-home-dev"),
)


def shape(tree: Any, depth: int = 3) -> Any:
    """The keys of a payload, down to those of a tool's input, without what is in them."""
    if not isinstance(tree, dict) or not depth:
        return type(tree).__name__
    return {key: shape(value, depth - 1) for key, value in sorted(tree.items())}


def tool(tree: Any) -> str:
    """The name of the tool that a payload is about; empty if none."""
    calls = [tree, *(value for value in tree.values() if isinstance(value, dict))]
    names = (call.get(key) for call in calls for key in ("tool_name", "toolName", "tool", "name"))
    return next((name for name in names if isinstance(name, str)), "")


def main(report: Path) -> int:
    """Copy what is new; the names of what was written are printed."""
    for folder in sorted((report / "payloads").iterdir()):
        dialect = drivers.get_dialect_id(drivers.get(folder.name))
        place = agent_data.folder_of(dialect) / "payloads" / ("" if folder.name == dialect else folder.name)
        known = [
            (path.name.partition(".")[0], tool(tree), shape(tree))
            for path in place.glob("*.json")
            if isinstance(tree := json.loads(path.read_text("utf-8")), dict)
        ]
        for path in sorted(folder.glob("*.json")):
            native = path.stem.rpartition("-")[0]
            text = path.read_text("utf-8")
            for pattern, instead in RUN:
                text = pattern.sub(instead, text)
            tree = json.loads(text)
            kind = (native, tool(tree), shape(tree))
            if kind in known:
                continue
            known.append(kind)
            words = ".".join(filter(None, (native, re.sub(r"\W+", "_", tool(tree)), "played")))
            made = next(
                one
                for number in range(1, 100)
                if not (one := place / f"{words}{number if number > 1 else ''}.json").exists()
            )
            made.write_text(json.dumps(tree, indent=2, ensure_ascii=False) + "\n", "utf-8")
            print(made.relative_to(agent_data.FOLDER))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
