"""The frameworks: which version is measured, and what a program of each needs.

A mode of `inner` gives a tool to an agent inside the agent. Where that is a way around, the text says so, and
the run must show that it is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hookport.lab.driver import ModelCall, ModelStep

NOTHING: Mapping[str, str] = MappingProxyType({})
Call = Callable[[str], ModelCall]
# What an inner agent does: the model is sent on to the next step of its script, and calls the tool there.
INNER = "Go on. The next scripted step is number 1."


class Framework(NamedTuple):
    """One framework and how its program is driven."""

    name: str
    title: str
    version: str
    requirements: tuple[str, ...]
    # Of the adapter, and of the program.
    module: str
    # What the program imports: without these it cannot run.
    imports: tuple[str, ...]
    protocol: str = "chat"
    modes: tuple[str, ...] = ("async", "sync")
    shell: Call = lambda command: ModelCall("run_shell", {"command": command})
    unknown: Call | None = lambda command: ModelCall("execute", {"command": command})
    broken: Call | None = lambda command: ModelCall("broken", {"command": command})
    unreadable: Call | None = lambda command: ModelCall("run_shell", f'["{command}"]')
    inner: Mapping[str, tuple[Sequence[ModelStep], str]] = MappingProxyType({})
    environment: Callable[[str], Mapping[str, str]] = lambda url: NOTHING
    # Scenarios that the framework has no way for, and why.
    cannot: Mapping[str, str] = NOTHING
    # Ways around the adapter, in words.
    around: tuple[str, ...] = ()


def _inner(name: str, **input: str) -> tuple[ModelStep, ...]:
    """A script in which another agent gets the shell; the text is for one that gets a report of the first."""
    return (
        ModelStep(calls=(ModelCall(name, input),), text=INNER if "agent_name" in input else ""),
        ModelStep(calls=(ModelCall("run_shell", {"command": "rm -rf denied"}),)),
        ModelStep(text="That was it."),
    )


_NOTES = {"toolAction": "helping", "toolSummary": "help"}
_SUBAGENT = {"TypeName": "self", "Role": "Helper", "Prompt": INNER, "Model": "inherit"}
_LIST = (
    Framework(
        name="openai-agents",
        title="OpenAI Agents SDK",
        version="0.24.0",
        requirements=("openai-agents==0.24.0",),
        module="openai_agents",
        imports=("agents",),
        inner={
            "handoff": (_inner("transfer_to_helper"), ""),
            "inner": (_inner("helper", input=INNER), ""),
        },
        cannot={
            "tool failure": "the SDK makes a result of the exception first, so hooks get `after_tool_execute`"
        },
        around=(
            "Tools that run on OpenAI's servers (web search, code interpreter, hosted MCP) start nothing here, so"
            " no hook sees them.",
            "`ShellTool`, `LocalShellTool`, `ApplyPatchTool`, `ComputerTool` and `CustomTool` end the run instead"
            " of running: the SDK does not say what they are about to do.",
            "A run without `hooks=guard(host)` has no hooks, which includes every realtime session.",
        ),
    ),
    Framework(
        name="langchain",
        title="LangChain and LangGraph",
        version="1.4.7",
        requirements=("langchain==1.4.7", "langchain-openai==1.7.3"),
        module="langchain",
        imports=("langchain", "langchain_openai"),
        inner={
            "inner": (_inner("helper", text=INNER), ""),
            "inner-unguarded": (
                _inner("helper", text=INNER),
                "an agent inside a tool needs the middleware too: `create_agent(…, middleware=[guard(host)])`",
            ),
        },
        cannot={
            "arguments that are no object": "LangChain ends the run with a validation error; the tool does not run"
        },
        around=(
            "An agent inside a tool, and a graph with a `ToolNode` of its own, run unguarded unless they get the"
            " middleware too.",
            "Tools that run on the model provider's servers start nothing here, so no hook sees them.",
        ),
    ),
    Framework(
        name="pydantic-ai",
        title="Pydantic AI",
        version="2.68.0",
        requirements=("pydantic-ai-slim[openai]==2.68.0",),
        module="pydantic_ai",
        imports=("pydantic_ai", "openai"),
        inner={
            "inner": (_inner("helper", text=INNER), ""),
            "inner-unguarded": (
                _inner("helper", text=INNER),
                "an agent inside a tool needs the capability too: `Agent(…, capabilities=[guard(host)])`",
            ),
        },
        around=(
            "An agent inside a tool runs unguarded unless it gets the capability too.",
            "Tools that run on the model provider's servers start nothing here, so no hook sees them.",
        ),
    ),
    Framework(
        name="strands",
        title="Strands Agents",
        version="1.62.0",
        requirements=("strands-agents[openai]==1.62.0",),
        module="strands",
        imports=("strands", "openai"),
        inner={
            "inner": (_inner("helper", input=INNER), ""),
            "inner-unguarded": (
                _inner("helper", input=INNER),
                "an agent that is a tool needs the hooks too: `Agent(…, hooks=[guard(host)])`",
            ),
        },
        around=(
            "An agent that is a tool, and each agent of a swarm or a graph, runs unguarded unless it gets the hooks"
            " too.",
            "A middleware of the agent for the stage that executes tools may change a call after the hooks.",
        ),
    ),
    Framework(
        name="agno",
        title="Agno",
        version="3.1.10",
        requirements=("agno==3.1.10", "openai"),
        module="agno",
        imports=("agno", "openai"),
        inner={
            "inner": (_inner("delegate_task_to_member", member_id="helper", task=INNER), ""),
            "inner-unguarded": (
                _inner("delegate_task_to_member", member_id="helper", task=INNER),
                "a member of a team needs the hook too: `Agent(…, tool_hooks=[guard(host)])`",
            ),
        },
        around=(
            "A member of a team runs unguarded unless it gets the hook too.",
            "Tools that run on the model provider's servers start nothing here, so no hook sees them.",
        ),
    ),
    Framework(
        name="agent-framework",
        title="Microsoft Agent Framework",
        version="1.23.0",
        requirements=("agent-framework-core==1.23.0", "agent-framework-openai==1.17.0"),
        module="agent_framework",
        imports=("agent_framework", "agent_framework_openai"),
        inner={
            "inner": (_inner("helper", task=INNER), ""),
            "inner-unguarded": (
                _inner("helper", task=INNER),
                "an agent that is a tool needs the middleware too: `as_agent(…, middleware=[guard(host)])`",
            ),
        },
        around=(
            "An agent that is a tool, and each agent of a workflow, runs unguarded unless it gets the middleware too.",
            "Tools that run on the model provider's servers start nothing here, so no hook sees them.",
        ),
    ),
    Framework(
        name="google-adk",
        title="Google ADK",
        version="2.13.0",
        requirements=("google-adk==2.13.0",),
        module="google_adk",
        imports=("google.adk",),
        protocol="gemini",
        unreadable=None,
        inner={
            "handoff": (_inner("transfer_to_agent", agent_name="helper"), ""),
            "inner": (_inner("helper", request=INNER), ""),
        },
        environment=lambda url: {
            "GOOGLE_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GOOGLE_GENAI_USE_VERTEXAI": "0",
        },
        around=(
            "An `AgentTool(…, include_plugins=False)` runs its agent without the plugin.",
            "A callback of an agent (`before_tool_callback`) may change a call after the plugin.",
            "Tools that run on Google's servers (search, code execution) start nothing here, so no hook sees them.",
        ),
    ),
    Framework(
        name="claude-agent-sdk",
        title="Claude Agent SDK",
        version="0.2.184",
        requirements=("claude-agent-sdk==0.2.184",),
        module="claude_sdk",
        imports=("claude_agent_sdk",),
        protocol="anthropic",
        modes=("async",),
        shell=lambda command: ModelCall("Bash", {"command": command, "description": "run it"}),
        unknown=None,
        broken=lambda command: ModelCall("Bash", {"command": "exit 7", "description": command}),
        unreadable=None,
        inner={
            "inner": (
                (
                    ModelStep(
                        calls=(
                            ModelCall(
                                "Agent",
                                {
                                    "description": "help",
                                    "prompt": INNER,
                                    "subagent_type": "general-purpose",
                                    "run_in_background": False,
                                },
                            ),
                        )
                    ),
                    ModelStep(
                        calls=(
                            ModelCall("Bash", {"command": "rm -rf inner/denied", "description": "run it"}),
                        )
                    ),
                    ModelStep(text="That was it."),
                ),
                "",
            ),
        },
        environment=lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-x",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        around=(
            "Hooks of settings files and plugins that the SDK loads run beside these, and an `allow` of one skips"
            " the agent's own permissions.",
        ),
    ),
    Framework(
        name="antigravity",
        title="Antigravity SDK",
        version="0.1.22",
        requirements=("google-antigravity==0.1.22",),
        module="antigravity",
        imports=("google.antigravity",),
        modes=("async",),
        shell=lambda command: ModelCall(
            "run_command", {"CommandLine": command, "Cwd": ".", "WaitMsBeforeAsync": 3000}
        ),
        unreadable=lambda command: ModelCall("run_command", f'["{command}"]'),
        cannot=dict.fromkeys(
            ("context", "after: replace the result", "after: context"),
            "the SDK has no place for a text of a hook, and shows hooks a copy of the result; it goes to the log",
        ),
        inner={
            "inner": (
                (
                    ModelStep(calls=(ModelCall("invoke_subagent", {"Subagents": [_SUBAGENT], **_NOTES}),)),
                    ModelStep(
                        calls=(
                            ModelCall(
                                "run_command",
                                {"CommandLine": "rm -rf inner/denied", "Cwd": ".", "WaitMsBeforeAsync": 3000},
                            ),
                        )
                    ),
                    # The subagent works beside the agent, which waits here.
                    ModelStep(
                        calls=(
                            ModelCall(
                                "run_command",
                                {"CommandLine": "sleep 4", "Cwd": ".", "WaitMsBeforeAsync": 9000},
                            ),
                        )
                    ),
                    ModelStep(text="That was it."),
                ),
                "",
            ),
        },
        around=(
            "`manage_task`, `schedule` and `run_workflow` act later or on what runs already: hooks judge the call of"
            " the tool, not what follows from it.",
        ),
    ),
    Framework(
        name="crewai",
        title="CrewAI",
        version="1.15.30",
        requirements=("crewai==1.15.30",),
        module="crewai",
        imports=("crewai",),
        environment=lambda url: {
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_TRACING_ENABLED": "false",
            "OTEL_SDK_DISABLED": "true",
        },
        modes=("async", "sync", "crew"),
        inner={
            "inner": (
                _inner("delegate_work_to_coworker", task=INNER, context="none", coworker="helper"),
                "",
            ),
        },
        cannot={
            "tool failure": "CrewAI shows hooks the error as a result, so they get `after_tool_execute`",
            "arguments that are no object": "CrewAI ends the run with a validation error; the tool does not run",
        },
        around=(
            "Hooks of a program that are registered after `guard` may change a call that it has judged.",
            "Tools of another process, such as an agent that is called over A2A, run there.",
        ),
    ),
)
FRAMEWORKS: dict[str, Framework] = {framework.name: framework for framework in _LIST}
