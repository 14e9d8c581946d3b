"""HP3xx: changes to matchers in the target."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class MatcherWidened(Kind):
    """The target cannot distinguish some tools, so the hook also runs on others.

    A guard becomes stricter. A hook that only reacts runs more often.
    """

    code = "HP301"
    severity = "loss"
    effect = "changed"
    message = "also runs on {extra}: {target} does not distinguish these tools"
    hint = "Filter in the script if that is too much."


class MatcherDropped(Kind):
    """The target has no matcher on this event, so the hook runs every time."""

    code = "HP302"
    severity = "loss"
    effect = "changed"
    message = "runs every time: {target} has no matcher here, so '{matcher}' was dropped"
    hint = "Filter in the script."


class PatternExpanded(Kind):
    """A regular expression on tool names was replaced by the tools it matches.

    Tool names differ between agents, so the expression would match other tools, or none.
    """

    code = "HP303"
    severity = "note"
    effect = "changed"
    message = "the pattern '{pattern}' became the tools it matches: {tools}"


class PatternPassed(Kind):
    """A regular expression on tool names matches no known tool, and is written unchanged.

    Tool names differ between agents, so whether it matches anything in the target is unknown.
    """

    code = "HP304"
    severity = "loss"
    effect = "changed"
    message = "the pattern '{pattern}' matches no known tool; written to {target} unchanged"
    hint = "Name the tools instead of a pattern."


class ContentDropped(Kind):
    """The hook runs only on certain content of the tool's input, and the target cannot express that.

    The hook runs on every call of its tools. A script that blocks without checking its input would block
    them all.
    """

    code = "HP305"
    severity = "loss"
    effect = "stricter"
    message = "runs on every call: {target} cannot filter by content, so '{pattern}' was dropped"
    hint = "Make the script check its input too."


class ToolMissing(Kind):
    """The target has no such tool, or does not show it to hooks, so this part of the matcher is dropped."""

    code = "HP306"
    severity = "loss"
    effect = "changed"
    message = "not seen in {target}: it shows hooks no {tool} tool"


class GuardToolMissing(Kind):
    """The hook may block a tool that the target does not show to hooks: **those calls are not guarded**."""

    code = "HP307"
    severity = "error"
    effect = "changed"
    message = "GUARD LOST for {tool}: {target} does not show that tool to hooks"
    hint = "Guard it another way in {target}."


class NoToolLeft(Kind):
    """The target shows hooks none of the hook's tools, so the hook is dropped."""

    code = "HP308"
    severity = "loss"
    effect = "dropped"
    message = "dropped, {target} shows hooks none of its tools: {tools}"


class PartialCover(Kind):
    """The hook covers every tool, but the target shows only some tools to hooks."""

    code = "HP309"
    severity = "loss"
    effect = "changed"
    message = "covers only {tools}: {target} shows hooks no other tool"
    hint = "Do not rely on it for anything else in {target}."


class WordPassed(Kind):
    """A tool's name is not in the vocabulary, so it is written to the target unchanged.

    It matches there only if the target has a tool of exactly that name.
    """

    code = "HP310"
    severity = "loss"
    effect = "changed"
    message = "unknown tool '{tool}'; written to {target} unchanged"


class ServerWidened(Kind):
    """The target cannot name the MCP server in a matcher."""

    code = "HP311"
    severity = "loss"
    effect = "changed"
    message = "runs for every MCP server: {target} cannot name a server, so '{server}' was dropped"


class SplitMatcher(Kind):
    """One hook became several entries, because the target accepts one value per matcher."""

    code = "HP312"
    severity = "note"
    effect = "changed"
    message = "written once per value: {target} accepts one value here ({values})"


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
    message = "the MCP tool {before} is {after} in {target}"


class McpPatternWidened(Kind):
    """A regular expression on MCP tools was replaced by the servers it names, or by all MCP tools.

    Agents spell a server and its tool differently, and some omit the server. The expression itself would
    match nothing there, so the hook runs on more tools than before.
    """

    code = "HP315"
    severity = "loss"
    effect = "changed"
    message = "the pattern '{pattern}' became {tools}: {target} spells MCP tools differently"
    hint = "Name the tools instead of a pattern, or let the bridge match it: `hookport sync`."


class ConditionDropped(Kind):
    """The hook runs only on calls that match a permission rule, and the target cannot express that.

    The hook runs on every call of its tools. Converted without `--bare`, the command tests the rule itself.
    """

    code = "HP316"
    severity = "loss"
    effect = "stricter"
    message = "runs on every call: {target} has no permission rules for hooks, so '{rule}' was dropped"
    hint = "Make the script check its input too."


class MatcherRespelled(Kind):
    """The interchange format has one name for several tools of the agent, or for several spellings of them.

    Converted back, the matcher names all of them, so the hook may also run on others than before.
    """

    code = "HP317"
    severity = "note"
    effect = "changed"
    message = "converted back to {dialect}, the matcher '{matcher}' becomes '{written}'"


class AlwaysRuns(Kind):
    """The hook is in the frontmatter of a subagent or a skill, and runs only while that is active.

    No other file can express that: converted, the hook runs all the time. A guard becomes stricter.
    """

    code = "HP318"
    severity = "loss"
    effect = "changed"
    message = "runs all the time in {target}, not only while its subagent or skill is active"
    hint = "Remove the hook if that is too much."
