"""The SDK: a function that reads the same event in every agent."""

from hookport import Decision, Event, before_tool, deny, run


@before_tool("shell")
def no_open_permissions(event: Event) -> Decision | None:
    if "chmod 777" in event.command:
        return deny("nobody else may write here")
    return None


run()
