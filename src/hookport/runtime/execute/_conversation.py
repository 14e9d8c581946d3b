"""The conversation with a model, in its own process: one request on stdin, one line of JSON on stdout."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pydantic_ai.models import Model

    Tree = dict[str, Any]

_DETAIL_LIMIT = 300


def hold(request: Tree) -> None:
    """Talk to the model until it answers, and print its text or the failure."""
    print(json.dumps(_talk(request)), end="")  # noqa: T201 -- the parent process reads it from stdout


def _talk(request: Tree) -> Tree:
    try:
        from pydantic_ai import Agent, UsageLimits, exceptions

        model = _load_model(**request["service"])
    except ImportError as missing:
        return _make_failure("spawn_error", f"{missing}. Install the extra: pip install 'hookport[llm]'")
    tools: list[Callable[..., str]] = []
    if "root" in request:
        from hookport.runtime.execute._reading import Project

        project = Project(request["root"])
        tools = [project.read_file, project.list_directory, project.search]
    agent = Agent(model, instructions=request["task"], tools=tools)
    steps = request["steps"]
    try:
        run = agent.run_sync(request["message"], usage_limits=UsageLimits(request_limit=steps))
    except exceptions.UsageLimitExceeded:
        return _make_failure("completed", f"no answer after {steps} {'turn' if steps == 1 else 'turns'}")
    except exceptions.ModelHTTPError as error:
        return _make_failure("completed", f"HTTP {error.status_code} {error.body or ''}".rstrip())
    except exceptions.ModelTimeoutError as error:
        return _make_failure("timeout", str(error))
    except exceptions.ModelConnectionError as error:
        return _make_failure("spawn_error", str(error))
    except (exceptions.AgentRunError, exceptions.UserError) as error:
        return _make_failure("completed", str(error))
    return {"text": run.output}


def _make_failure(outcome: str, detail: str) -> Tree:
    return {"outcome": outcome, "detail": " ".join(detail.split())[:_DETAIL_LIMIT]}


def _load_model(provider: str, model: str, base_url: str, api_key: str) -> Model:
    # A local server needs no key, but the libraries do.
    api_key = api_key or "none"
    if provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(model, provider=AnthropicProvider(api_key=api_key, base_url=base_url or None))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if base_url:
        # Chat Completions without fields that only OpenAI's own servers accept.
        return OpenAIChatModel(
            model, provider=OpenAICompatibleProvider("server", base_url=base_url, api_key=api_key)
        )
    return OpenAIChatModel(model, provider=OpenAIProvider(api_key=api_key))
