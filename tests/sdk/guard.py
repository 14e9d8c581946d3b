"""A hook file as people write them: several functions, any agent."""

from __future__ import annotations

from hookport import (
    Decision,
    Event,
    after_tool,
    agent_stop,
    before_prompt,
    before_tool,
    context,
    deny,
    rewrite,
    run,
    session_start,
)


@before_tool("shell")
def no_force_push(event: Event) -> Decision | None:
    return deny("force pushes need a human") if "push --force" in event.command else None


@before_tool("shell")
def quiet_installs(event: Event) -> Decision | None:
    return rewrite(command=f"{event.command} --silent") if event.command == "npm install" else None


@before_tool("file_write", "file_edit")
def no_secrets(event: Event) -> Decision | None:
    return deny(f"{event.path} holds secrets") if event.path.endswith(".env") else None


@after_tool("shell")
def explain_failures(event: Event) -> Decision | None:
    return context("read the log in build/") if "hi" in event.output else None


@session_start
def introduce(event: Event) -> Decision:
    return context("this project is built with make")


@before_prompt
def no_passwords(event: Event) -> Decision | None:
    return deny("there is a password in it") if "hunter2" in event.prompt else None


@agent_stop
def finish(event: Event) -> Decision | None:
    if "unfinished" in event.final_message and not event.stop_active:
        return deny("finish it first")
    return None


run()
