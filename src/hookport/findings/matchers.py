"""HP3xx: what becomes of a matcher in the words of the target."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class MatcherWidened(Kind):
    """The target cannot tell some tools apart, so the hook also runs on others.

    A guard becomes stricter by this; a hook that only reacts runs more often.
    """

    code = "HP301"
    severity = "loss"
    effect = "changed"
    message = "runs on more than before: {extra} too, {target} does not tell them apart"
    hint = "Filter in the script if that is too much."


class MatcherDropped(Kind):
    """The target has no matcher on this event, so the hook runs every time."""

    code = "HP302"
    severity = "loss"
    effect = "changed"
    message = "runs every time: {target} has no matcher here, '{matcher}' was dropped"
    hint = "Filter in the script."


class PatternExpanded(Kind):
    """A regular expression on tool names was replaced by the tools it matches.

    Names differ between agents, so the expression itself would match other tools, or none.
    """

    code = "HP303"
    severity = "note"
    effect = "changed"
    message = "the pattern '{pattern}' became the tools it matches: {tools}"


class PatternPassed(Kind):
    """A regular expression on tool names matches no tool we know, and is written as it is.

    Names differ between agents: whether it matches anything in the target is not known.
    """

    code = "HP304"
    severity = "loss"
    effect = "changed"
    message = "the pattern '{pattern}' matches no known tool; {target} gets it as it is"
    hint = "Name the tools instead of a pattern."


class ContentDropped(Kind):
    """The hook runs only on certain content of the tool's input, and the target cannot say that.

    The hook runs on every call of its tools. A script that blocks without looking at its input would
    block them all.
    """

    code = "HP305"
    severity = "loss"
    effect = "stricter"
    message = "runs on every call: {target} cannot filter by content, '{pattern}' was dropped"
    hint = "Let the script look at its input too."


class ToolMissing(Kind):
    """The target has no such tool, or does not show it to hooks; that part of the matcher is left out."""

    code = "HP306"
    severity = "loss"
    effect = "changed"
    message = "not seen in {target}: it shows hooks no {tool} tool"


class GuardToolMissing(Kind):
    """The hook may block a tool that the target does not show to hooks: **that call is not guarded**."""

    code = "HP307"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST for {tool}: {target} does not show that tool to hooks"
    hint = "Guard it another way in {target}."


class NoToolLeft(Kind):
    """None of the tools the hook is for exists in the target, so the hook is left out."""

    code = "HP308"
    severity = "loss"
    effect = "dropped"
    message = "dropped, {target} shows hooks none of its tools: {tools}"


class PartialCover(Kind):
    """The hook is for every tool, and the target shows only some tools to hooks."""

    code = "HP309"
    severity = "loss"
    effect = "changed"
    message = "covers only {tools}: {target} shows hooks no other tool"
    hint = "Do not rely on it for anything else in {target}."


class WordPassed(Kind):
    """A tool's name is not in the vocabulary, so it is written for the target as it is.

    It matches there only if the target has a tool of exactly that name.
    """

    code = "HP310"
    severity = "loss"
    effect = "changed"
    message = "'{tool}' is no tool we know; {target} gets the name as it is"


class ServerWidened(Kind):
    """The target cannot name the MCP server in a matcher."""

    code = "HP311"
    severity = "loss"
    effect = "changed"
    message = "runs for every MCP server: {target} cannot name one, '{server}' was dropped"


class SplitMatcher(Kind):
    """One hook became several entries, because the target takes one value per matcher."""

    code = "HP312"
    severity = "note"
    effect = "changed"
    message = "written once per value: {target} takes one value here ({values})"


class WrittenTogether(Kind):
    """Two hooks that differ only in their matchers are one hook in the target."""

    code = "HP313"
    severity = "note"
    effect = "changed"
    message = "written together with {other}: the two differ only in their matchers"


class McpRenamed(Kind):
    """The target writes the names of MCP tools with other characters."""

    code = "HP314"
    severity = "note"
    effect = "changed"
    message = "the MCP tool {before} is called {after} in {target}"


class McpPatternWidened(Kind):
    """A regular expression on MCP tools was replaced by the servers, or all MCP tools, that it is about.

    Agents spell a server and its tool differently, and some do not say the server. The expression itself
    would match nothing there, so the hook runs on more tools than it did.
    """

    code = "HP315"
    severity = "loss"
    effect = "changed"
    message = "the pattern '{pattern}' became {tools}: {target} spells MCP tools otherwise"
    hint = "Name the tools instead of a pattern, or let the bridge match it: `hookport sync`."


class ConditionDropped(Kind):
    """The hook runs only on calls that a permission rule is for, and the target cannot say that.

    The hook runs on every call of its tools. Converted without `--bare`, the command tests the rule itself.
    """

    code = "HP316"
    severity = "loss"
    effect = "stricter"
    message = "runs on every call: {target} has no permission rules for hooks, '{rule}' was dropped"
    hint = "Let the script look at its input too."


class MatcherRespelled(Kind):
    """The interchange format has one word for several tools of the agent, or of several spellings of them.

    Converted back, the matcher names all of them, so the hook may also run on others than before.
    """

    code = "HP317"
    severity = "note"
    effect = "changed"
    message = "the matcher '{matcher}' is '{written}' when it is converted back to {dialect}"


class AlwaysRuns(Kind):
    """The hook stands in the frontmatter of a subagent or a skill, and runs only while that is active.

    No other file can say that: converted, the hook runs all the time. A guard becomes stricter by this.
    """

    code = "HP318"
    severity = "loss"
    effect = "changed"
    message = "runs all the time in {target}, and only while its subagent or skill is active before"
    hint = "Leave the hook out if that is too much."
