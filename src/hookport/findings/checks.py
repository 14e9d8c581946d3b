"""HP5xx: hooks that are valid in their format but unlikely to work."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class NoKnownTool(Kind):
    """The matcher matches no tool of the agent, so the hook never runs.

    A guard that never runs looks exactly like a guard that approves. Usual causes: another agent's name for
    the tool, wrong upper or lower case, a permission rule (`Bash(git *)`) instead of a name, an MCP server
    without its tools (`mcp__github` for `mcp__github__.*`), or an invalid regular expression, such as `*` in
    an agent that does not read it as "every tool". Write the suggested name.
    """

    code = "HP501"
    severity = "error"
    message = "the matcher '{matcher}' matches no tool of {dialect}, so the hook never runs.{guess}"
    hint = "`hookport matrix --agent {dialect}` lists the tools."


class SuspiciousTimeout(Kind):
    """The timeout looks like the wrong unit.

    Some agents count seconds, others milliseconds. A guard killed after 30 milliseconds lets everything
    through. A guard that may take eight hours blocks the agent. Write the number in the agent's own unit.
    """

    code = "HP502"
    severity = "error"
    message = "{value} is {meaning}; {dialect} counts {unit}. Did you mean {guess}?"


class ScriptMissing(Kind):
    """The command names a script that does not exist.

    The hook cannot start. Nearly every agent then lets the action run. Create the script, correct the path,
    or start the path at the project root if the agent runs hooks in another folder.
    """

    code = "HP503"
    severity = "error"
    message = "the script {script} does not exist"
    hint = "Create it, or correct the path."


class ScriptNotExecutable(Kind):
    """The command runs a script directly, and the script is not executable.

    The hook cannot start, so a guard guards nothing. Make the script executable (and run
    `git update-index --chmod=+x` to commit that), or name the interpreter in the command.
    """

    code = "HP504"
    severity = "error"
    message = "the script {script} is not executable"
    hint = "Try: chmod +x {script}"


class NoShebang(Kind):
    """The script has no shebang line.

    What runs it then depends on the program that starts it: a shell runs it as its own script, other programs
    refuse it. Start the script with a shebang line, or name the interpreter in the command.
    """

    code = "HP505"
    severity = "loss"
    message = "the script {script} has no shebang line"
    hint = "Start it with `#!/usr/bin/env bash`, or the line for its interpreter."


class BlocksNothing(Kind):
    """The hook is meant to block, but on this event the action has already happened or hooks only watch.

    The hook runs, but its deny is ignored. Move it to the event before the action (`before_tool_execute`,
    `before_prompt`), or remove `blocking` if it only watches.
    """

    code = "HP506"
    severity = "error"
    message = "the hook is blocking, but {event} can only be watched{where_}"
    hint = "Use an event that comes before the action, or remove `blocking`."


class DuplicateHook(Kind):
    """The same hook appears twice for the same event, with matchers that can both match.

    Most agents run it twice: twice the time, twice the log lines, two notifications. Delete one of the two,
    or make the matchers exclude each other.
    """

    code = "HP507"
    severity = "loss"
    message = "the same hook as {other}"
    hint = "Delete one of the two."


class PackageRootUnused(Kind):
    """The path to a plugin's script does not start at the plugin's root.

    The plugin is installed in a different folder on every machine, so the path does not lead to the script.
    """

    code = "HP508"
    severity = "loss"
    message = "the command does not use {placeholder} for {script}"
    hint = "Write {placeholder}/{script}"


class PriorityRange(Kind):
    """A value is outside the range that its format allows.

    Another program may refuse the hook or run it in another order. Write a value within the range.
    """

    code = "HP509"
    severity = "loss"
    message = "{field} {value} is outside {lowest} to {highest}"


class TimeoutNever(Kind):
    """The agent refuses this timeout, and with it the hook or its whole configuration.

    One timeout that is not a whole number, too small or too large can switch off every guard in the file,
    mostly without a message.
    """

    code = "HP510"
    severity = "error"
    message = "{dialect} refuses the timeout {value}: {rule}"
    hint = "Write a valid timeout: one bad value may switch off every hook of the file."


class TimeoutCapped(Kind):
    """The agent waits less on this event than the hook asks for.

    It accepts the number but stops the hook at its own limit, so longer work never finishes. Do less in the
    hook, or start the long part in the background.
    """

    code = "HP511"
    severity = "loss"
    message = "{dialect} waits at most {limit} on {event}, not {value}"
    hint = "Do less in the hook, or start the long part in the background."


class UnknownCapability(Kind):
    """`capabilities` names an unknown capability.

    hookport checks no target for it. A target that lacks the intended capability gets the hook without a
    finding, and the strategy for it is not applied. Correct the name: `hookport matrix AGENT` lists
    the capabilities.
    """

    code = "HP512"
    severity = "loss"
    message = "unknown capability '{capability}'; no target is checked for it.{guess}"
    hint = "Use a name of the capability registry."


class WrongEscape(Kind):
    r"""A double-quoted string has a backslash before a character that YAML does not escape, as in `"\.py$"`.

    YAML readers refuse such a file. hookport keeps the backslash, because the format's own examples write
    patterns this way. Other programs may refuse the file.
    """

    code = "HP513"
    severity = "loss"
    message = "YAML has no such escape; the backslash is kept"
    hint = "Write the pattern in single quotes."


class DenyNotObeyed(Kind):
    """The script denies in a form that its own agent does not obey, so the action runs.

    Agents drop invalid answers silently: Claude Code a nested one without `hookEventName`, Codex one with an
    extra key, Gemini CLI a `permissionDecision`. Through the bridge the deny holds, because hookport accepts
    all of these forms. Where the agent runs the hook itself, it does not. `docs/dialects/` lists the answers
    that each agent obeys. Exit code 2 with the reason on stderr works in most.
    """

    code = "HP514"
    severity = "loss"
    message = "{agent} does not obey this deny: {why}"
    hint = "Exit with 2 and the reason on stderr, or print the answer shown on the agent's page."


class RuleNeverHolds(Kind):
    """No call can match the permission rule in `if`, so the hook never runs.

    A guard that never runs looks exactly like a guard that approves. Usual causes: a missing bracket
    (`Bash(git push`), several rules in one (`Bash(a *)|Bash(b *)`), a trailing blank, the name of a field
    (`Bash(command:git *)`), or a tool that the matcher excludes. Agents do not report such a rule. Claude
    Code runs the hook only for command lines that it cannot parse.
    """

    code = "HP515"
    severity = "error"
    message = "the rule '{rule}' matches no call, so the hook does not run: {why}"
    hint = "Write one rule such as 'Bash(git push *)', or leave 'if' out."


class RuleNotFired(Kind):
    """The permission rule in `if` is documented, but the agent did not run a hook by it when measured.

    Through the bridge the rule holds as documented. Where the agent runs the hook itself, the hook does not
    run.
    """

    code = "HP516"
    severity = "loss"
    message = "the agent itself does not run a hook with the rule '{rule}': {why}"
    hint = "Remove 'if' and check the call in the script, or use `hookport sync --mode bridge`."


class WindowsLineEnds(Kind):
    """The script has Windows line endings (CRLF), which its interpreter reads as text.

    In the first line, the kernel looks for a program whose name ends in a carriage return, and the shell
    reports the *script* as "not found". In a shell script, the carriage return becomes part of the last word
    of every line: `exit 2` exits with another code. Usual causes are `git config core.autocrlf` and a missing
    `.gitattributes` (`*.sh text eol=lf`).
    """

    code = "HP517"
    severity = "error"
    message = "{script} has Windows line endings, so {consequence}"
    hint = "Run `{command}`."


class ScriptSyntax(Kind):
    """The script does not parse, so it fails on every call.

    hookport asks the interpreter for a syntax check (`sh -n`, `node --check`, or Python's compiler). This
    runs no part of the script.
    """

    code = "HP518"
    severity = "error"
    message = "{script} does not parse: {why}"
    hint = "Correct it; `{command}` checks it."


class MarkBeforeShebang(Kind):
    """The script starts with a byte order mark, so the kernel does not read its shebang line.

    Some editors on Windows add the three bytes EF BB BF. The kernel then finds no interpreter, and a shell
    may run the script as its own, whatever its language.
    """

    code = "HP519"
    severity = "error"
    message = "{script} starts with a byte order mark, so its shebang line is not read"
    hint = "Run `{command}`."


class ShebangWords(Kind):
    """The shebang line passes several words to `env`, and Linux passes them as one.

    `#!/usr/bin/env python3 -u` looks for a program named `python3 -u`. `env -S` splits the words.
    """

    code = "HP520"
    severity = "error"
    message = "{script}: the shebang line asks `env` for one program named '{words}'"
    hint = "Write `#!/usr/bin/env -S {words}`."


class AddressRefused(Kind):
    """hookport never sends an event to this address.

    Events contain commands, prompts and paths. hookport sends them to `https://` addresses, or over plain
    `http://` to this machine only. A user name or password in an address would end up in logs; use headers,
    which may name environment variables.
    """

    code = "HP521"
    severity = "error"
    message = "events are never sent to {url}: {why}"
    hint = "{fix}"


class ModelNotSet(Kind):
    """The hook asks a language model, but hookport lacks the model, its key or the library for it.

    The hook fails on every call. It guards nothing unless failures deny (`on_failure: closed`). This finding
    is about agents where hookport runs the hook; an agent that runs it itself uses its own model.
    """

    code = "HP522"
    severity = "error"
    message = "this hook asks a language model: {why}"
    hint = "{fix}"


class KeepsFailing(Kind):
    """The journal shows that the hook failed on its last runs.

    The hook is installed and its event fired, but it did not answer, so the failure policy decided.
    `hookport log` shows each run.
    """

    code = "HP523"
    severity = "error"
    message = "failing since {since} ({count}): {why}"
    hint = "{fix}"


class CommandBroken(Kind):
    """The shell cannot parse the command, so nothing of it runs.

    In a settings file the command's quotes are nested in others. A quote that is not closed breaks the whole
    command.
    """

    code = "HP524"
    severity = "error"
    message = "the shell cannot parse the command: {why}"
    hint = "Correct it; `sh -n -c COMMAND` checks it."


class WordNotExpanded(Kind):
    """The command's path does not expand as it seems to: a variable, `~` or a backslash in it.

    An unset variable is empty, `~` in quotes and a variable in single quotes are not expanded, and a
    backslash is removed. The agent reports that the script was not found, if it reports anything.
    """

    code = "HP525"
    severity = "error"
    message = "the shell looks for '{path}': {why}"
    hint = "{fix}"


class NeedMissing(Kind):
    """The script starts a program, or imports a module, that is not installed on this machine.

    On every call it fails, or goes on without an answer: a guard that reads its payload with a missing `jq`
    sees nothing to object to. Only what a script needs on every run counts, not what it uses behind a
    condition, in a function or in a `try`.
    """

    code = "HP526"
    severity = "error"
    message = "{script} cannot do its work: {why}"
    hint = "{fix}"


class NoCommandHere(Kind):
    """The hook has commands for other systems only, so it starts nothing on this one.

    A file with a `powershell` command and no `bash` command guards Windows only.
    """

    code = "HP528"
    severity = "error"
    message = "the hook has no command for this system, only for {systems}"
    hint = "Add a command for {system}."


class ScriptEmpty(Kind):
    """The script has no commands, so the hook runs and never objects."""

    code = "HP527"
    severity = "error"
    message = "{script} is empty, so the hook does nothing"
    hint = "Write the script, or remove the hook."
