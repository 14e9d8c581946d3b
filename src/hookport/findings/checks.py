"""HP5xx: what is written as the format allows, and is not likely to work."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class NoKnownTool(Kind):
    """The matcher matches no tool the agent has, so the hook never runs.

    A guard that never runs looks exactly like a guard that approves. Usual causes: another agent's name for
    the tool, upper for lower case, a permission rule (`Bash(git *)`) in place of a name, an MCP server
    without its tools (`mcp__github` for `mcp__github__.*`), or a text that is no regular expression, as `*`
    is where the agent does not read it as everything. Write the name that is suggested.
    """

    code = "HP501"
    severity = "error"
    message = "the matcher '{matcher}' matches no tool of {dialect}: the hook never runs.{guess}"
    hint = "`hookport matrix --agent {dialect}` lists the tools."


class SuspiciousTimeout(Kind):
    """The timeout makes sense only in another unit.

    Some agents count seconds, others milliseconds. A guard killed after 30 milliseconds lets everything
    through; one that may take eight hours blocks the agent. Write the number in the agent's own unit.
    """

    code = "HP502"
    severity = "error"
    message = "{value} is {meaning}; {dialect} counts {unit}. Did you mean {guess}?"


class ScriptMissing(Kind):
    """The command names a script that is not there.

    The hook cannot start, and nearly every agent lets the action run then: nothing is blocked. Create the
    script, correct the path, or start the path at the project's root if the agent runs hooks elsewhere.
    """

    code = "HP503"
    severity = "error"
    message = "the script {script} does not exist"
    hint = "Create it, or correct the path."


class ScriptNotExecutable(Kind):
    """The command runs a script directly, and the script is not executable.

    The hook cannot start, so a guard guards nothing. Make it executable (and `git update-index --chmod=+x`
    so that others get it so), or name the interpreter in the command.
    """

    code = "HP504"
    severity = "error"
    message = "the script {script} is not executable"
    hint = "Try: chmod +x {script}"


class NoShebang(Kind):
    """The script has no first line that says what runs it.

    Whether and by what it is run then depends on who starts it: one shell runs it, another program refuses
    it. Start it with a shebang line, or name the interpreter in the command.
    """

    code = "HP505"
    severity = "loss"
    message = "the script {script} has no shebang line"
    hint = "Start it with `#!/usr/bin/env bash`, or what runs it."


class BlocksNothing(Kind):
    """The hook is meant to block on an event that has already happened or that hooks only watch.

    It runs, its deny is ignored, and nothing is prevented. Move it to the event that comes before the
    action (`before_tool_execute`, `before_prompt`), or take `blocking` away if it only watches.
    """

    code = "HP506"
    severity = "error"
    message = "the hook is blocking, and {event} can only be watched{where_}"
    hint = "Use an event that comes before the action, or take `blocking` away."


class DuplicateHook(Kind):
    """The same hook stands twice for the same event, with matchers that can both match.

    Most agents run it twice: twice the time, twice the log lines, two notifications. Delete one, or make
    the matchers exclude each other.
    """

    code = "HP507"
    severity = "loss"
    message = "the same hook as {other}"
    hint = "Delete one."


class PackageRootUnused(Kind):
    """A plugin's script is named by a path that does not start at the plugin's root.

    The plugin is installed somewhere else on every machine, so the path does not lead to the script.
    """

    code = "HP508"
    severity = "loss"
    message = "the command does not use {placeholder} for {script}"
    hint = "Write {placeholder}/{script}"


class PriorityRange(Kind):
    """A value lies outside the range its format allows.

    A reader of the format may refuse the hook or put it in another order. Write a value within the range.
    """

    code = "HP509"
    severity = "loss"
    message = "{field} {value} is outside {lowest} to {highest}"


class TimeoutNever(Kind):
    """The agent stops reading its whole configuration, or drops the hook, when it meets this value.

    One timeout that is no whole number, too small or too large can so switch off every guard in the file,
    mostly without a message.
    """

    code = "HP510"
    severity = "error"
    message = "{dialect} refuses the timeout {value}: {rule}"
    hint = "Write a time that it takes; one bad value may cost every hook of the file."


class TimeoutCapped(Kind):
    """The agent waits less on this event than the hook asks for.

    It accepts the number and stops the hook at its own limit all the same, so that work which needs longer
    is never finished. Do less in the hook, or start the long part in the background.
    """

    code = "HP511"
    severity = "loss"
    message = "{dialect} waits at most {limit} on {event}, not {value}"
    hint = "Do less in the hook, or start the long part in the background."


class UnknownCapability(Kind):
    """A name in `capabilities` is none of the capability registry.

    Nothing is looked up for it, so a target that lacks what was meant gets the hook without a word and
    without the strategy that was wanted. Correct the name: `hookport matrix` lists the
    capabilities.
    """

    code = "HP512"
    severity = "loss"
    message = "unknown capability '{capability}', no target is checked for it.{guess}"
    hint = "Use a name of the capability registry."


class WrongEscape(Kind):
    r"""A backslash stands in double quotes before a character that YAML does not escape, as in `"\.py$"`.

    YAML readers refuse such a file. hookport reads the backslash as it stands, since patterns are written so
    in the examples of the format itself; other readers may not.
    """

    code = "HP513"
    severity = "loss"
    message = "YAML has no such escape; the backslash was read as it stands"
    hint = "Write the pattern in single quotes."


class DenyNotObeyed(Kind):
    """The script denies in a form that its own agent does not obey, so the action runs.

    Agents drop answers without a word: Claude Code a nested one without `hookEventName`, Codex one with a key
    too many, Gemini CLI a `permissionDecision`. Through the bridge the deny holds, since hookport reads what
    was meant; run by the agent itself it does not. `docs/agents/` has what each agent obeys; exit code 2 with
    the reason on stderr holds in most.
    """

    code = "HP514"
    severity = "loss"
    message = "{agent} does not obey this deny: {why}"
    hint = "Exit with 2 and the reason on stderr, or print the answer that the agent's page shows."


class RuleNeverHolds(Kind):
    """The permission rule in `if` is one that no call can be for, so the hook never runs.

    A guard that never runs looks exactly like a guard that approves. Usual causes: a bracket that is missing
    (`Bash(git push`), several rules in one (`Bash(a *)|Bash(b *)`), a blank at the end, the name of a field
    (`Bash(command:git *)`), a tool that the matcher leaves out. Agents say nothing of such a rule; Claude
    Code runs the hook for command lines only that it cannot take apart.
    """

    code = "HP515"
    severity = "error"
    message = "the rule '{rule}' matches no call, so the hook does not run: {why}"
    hint = "Write one rule such as 'Bash(git push *)', or leave 'if' out."


class RuleNotFired(Kind):
    """The permission rule in `if` is documented, and the agent was seen not to run a hook by it.

    Through the bridge such a rule holds as it is documented. Where the agent runs the hook itself, the hook
    does not run.
    """

    code = "HP516"
    severity = "loss"
    message = "a hook with the rule '{rule}' does not run by itself: {why}"
    hint = "Leave 'if' out and look at the call in the script, or let `hookport sync --mode bridge` run it."


class WindowsLineEnds(Kind):
    """The script was saved with Windows line endings (CRLF), which its interpreter takes for text.

    In a first line the kernel looks for a program whose name ends in a carriage return, and the shell reports
    the *script* as "not found". In a shell script the carriage return becomes part of the last word of every
    line: `exit 2` exits with another code. `git config core.autocrlf` or a missing `.gitattributes`
    (`*.sh text eol=lf`) are the usual causes.
    """

    code = "HP517"
    severity = "error"
    message = "{script} has Windows line endings, so {consequence}"
    hint = "Run `{command}`."


class ScriptSyntax(Kind):
    """The script does not parse, so it fails on every call.

    hookport asks the interpreter for a syntax check (`sh -n`, `node --check`, or Python's compiler), which
    runs nothing of the script.
    """

    code = "HP518"
    severity = "error"
    message = "{script} does not parse: {why}"
    hint = "Correct it; `{command}` checks it."


class MarkBeforeShebang(Kind):
    """The script starts with a byte order mark, so its first line is no shebang line.

    An editor on Windows adds the three bytes EF BB BF. The kernel then does not know what runs the script;
    a shell may run it as its own script, whatever language it is in.
    """

    code = "HP519"
    severity = "error"
    message = "{script} starts with a byte order mark, so its shebang line is not read"
    hint = "Run `{command}`."


class ShebangWords(Kind):
    """The first line gives `env` several words, and Linux passes them as one.

    `#!/usr/bin/env python3 -u` looks for a program named `python3 -u`. `env -S` splits the words.
    """

    code = "HP520"
    severity = "error"
    message = "{script}: the shebang line asks `env` for one program named '{words}'"
    hint = "Write `#!/usr/bin/env -S {words}`."


class AddressRefused(Kind):
    """No event is ever sent to this address.

    Events hold commands, prompts and paths. They go to `https://` addresses, or by plain `http://` to this
    machine. A user or password in an address would end up in logs; headers may name environment variables.
    """

    code = "HP521"
    severity = "error"
    message = "no event is ever sent to {url}: {why}"
    hint = "{fix}"


class ModelNotSet(Kind):
    """The hook asks a language model, and hookport has no model, no key or no library to ask it with.

    The hook fails on every call, so unless failures deny (`on_failure: closed`) it guards nothing. An agent
    that runs such hooks itself uses its own model; this is about agents where hookport runs it.
    """

    code = "HP522"
    severity = "error"
    message = "this hook asks a language model: {why}"
    hint = "{fix}"


class KeepsFailing(Kind):
    """The hook failed on its last runs, by the journal.

    It was installed, its event came, and it did not answer: what it guards was decided by the failure policy.
    `hookport log` shows each run.
    """

    code = "HP523"
    severity = "error"
    message = "failing since {since} ({count}): {why}"
    hint = "{fix}"


class CommandBroken(Kind):
    """The shell does not parse the command, so it runs nothing of it.

    In a settings file quotes stand within quotes; one that is not closed costs the whole command.
    """

    code = "HP524"
    severity = "error"
    message = "the shell does not parse the command: {why}"
    hint = "Correct it; `sh -n -c COMMAND` checks it."


class WordNotExpanded(Kind):
    """The shell does not look where the command means: a variable, `~` or a folder is not what it seems.

    A variable that nothing sets is empty, `~` within quotes and a variable within single quotes stay as they
    are, and a backslash is dropped. The agent reports that the script was not found, if it reports anything.
    """

    code = "HP525"
    severity = "error"
    message = "the shell looks for '{path}': {why}"
    hint = "{fix}"


class NeedMissing(Kind):
    """The script starts a program, or imports a module, that is not on this machine.

    It fails, or goes on without an answer, on every call: a guard that reads its payload with a `jq` that is
    not there sees nothing to object to. Only what a script needs on every run counts, not what stands behind
    a condition, in a function or in a `try`.
    """

    code = "HP526"
    severity = "error"
    message = "{script} cannot do its work: {why}"
    hint = "{fix}"


class NoCommandHere(Kind):
    """The hook has commands for other systems only, so on this one it starts nothing.

    A file with a `powershell` command and no `bash` guards Windows alone.
    """

    code = "HP528"
    severity = "error"
    message = "the hook has no command for this system, only for {systems}"
    hint = "Add a command for {system}."


class ScriptEmpty(Kind):
    """The script has no commands, so the hook runs and never objects to anything."""

    code = "HP527"
    severity = "error"
    message = "{script} is empty, so the hook does nothing"
    hint = "Write the script, or take the hook away."
