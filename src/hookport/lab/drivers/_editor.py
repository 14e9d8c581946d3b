"""The ways of running an agent as an editor does, over the Agent Client Protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from hookport.lab.driver import Stage, Way
from hookport.lab.drivers import _acp_session


def make_ways(
    command: Callable[[Stage], Sequence[str]],
    option: str = "",
    settle: Callable[[Stage], None] | None = None,
) -> Mapping[str, Way]:
    """Make two ways: the process starts in the session's folder, and in another one.

    `option` is a setting of the session, `NAME=VALUE`, without which it refuses calls.
    """

    def start_in(elsewhere: bool) -> Callable[[Stage], Sequence[str]]:  # noqa: FBT001 - one of two ways
        def start(stage: Stage) -> Sequence[str]:
            folder = str(stage.cwd)
            begun = str(stage.home) if elsewhere else folder
            session = (sys.executable, _acp_session.__file__, folder, begun, option, stage.prompt)
            return (*session, *command(stage))

        return start

    return {
        "protocol": Way(start_in(elsewhere=False), settle),
        "elsewhere": Way(start_in(elsewhere=True), settle),
    }
