"""HP7xx: the hooks of a project, and what they did when they ran."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class SourceBroken(Kind):
    """A file or folder with hooks cannot be read, or its content is invalid.

    **None of its hooks runs**, so a guard in it guards nothing. Hooks in other files still run.
    """

    code = "HP701"
    severity = "error"
    effect = "dropped"
    message = "{message}"
    hint = "Correct it. Until then, none of its hooks runs."


class HookOverridden(Kind):
    """A hook or plugin of the user does not run, because the project has one of the same name.

    The formats require this. Rename one of the two if both should run.
    """

    code = "HP702"
    severity = "note"
    effect = "dropped"
    message = "the user's {what} '{name}' does not run here: {other} has the same name and overrides it"
    hint = "Rename one of the two if both should run."


class NameTaken(Kind):
    """Two hooks or plugins of one level have the same name.

    Both run, so no guard is lost, but reports show them under one name.
    """

    code = "HP703"
    severity = "note"
    message = "the {what} '{name}' has the same name as {other}; both run"
    hint = "Rename one of the two."


class EntryMissing(Kind):
    """A HOOK.md folder has no script, so **the hook does not run**.

    The script is `scripts/run`, or `scripts/run` with an extension. A broken link does not count.
    """

    code = "HP704"
    severity = "error"
    effect = "dropped"
    message = "the hook '{name}' does not run: {folder} has no script named run"
    hint = "Create {folder}/run.sh and make it executable."


class SeveralEntries(Kind):
    """A HOOK.md folder has several scripts that could be the hook's own.

    hookport prefers executable scripts, then `run`, `run.sh` and `run.py` in this order, then the others by
    name.
    """

    code = "HP705"
    severity = "loss"
    message = "of the scripts {scripts} only {chosen} runs"
    hint = "Keep one, or rename the others so that they do not start with `run`."


class EntryNotExecutable(Kind):
    """The script of a HOOK.md folder is not executable, so hookport runs it by its shebang line or extension.

    Other programs that read such folders may not, and the hook does not run there.
    """

    code = "HP706"
    severity = "note"
    message = "{script} is not executable, so `{interpreter}` runs it"
    hint = "Try: chmod +x {script}"


class EntryCannotStart(Kind):
    """The script of a HOOK.md folder is not executable, and nothing names its interpreter.

    hookport keeps the hook, and it fails on every call. The failure policy decides: unless failures deny, a
    guard guards nothing.
    """

    code = "HP707"
    severity = "error"
    message = "{script} is not executable, and neither a shebang line nor its extension names its interpreter"
    hint = "Try: chmod +x {script}"


class NoHookFile(Kind):
    """A folder among the HOOK.md folders has no HOOK.md, so it has no hook.

    The file name is case-sensitive.
    """

    code = "HP708"
    severity = "note"
    message = "the folder has no HOOK.md, so none of its hooks runs"
    hint = "Write a HOOK.md, or move the folder."


class FolderPassedOver(Kind):
    """A folder inside the project has hooks of its own, and hookport does not run them.

    The project is the whole repository, so that its guards hold in every folder. hookport runs the hooks at
    its root.
    """

    code = "HP709"
    severity = "error"
    message = "the hooks at {places} do not run: the project root is {root}"
    hint = "Move them to the root if they should run."


class BadSettings(Kind):
    """hookport's own settings file has an unknown key or value.

    `.hookport/config.json` of a project and `hookport/config.json` of a user set two policies: for failing
    hooks, `{"on_failure": "open"}` or `"closed"`, and for approved guards that did not run,
    `{"on_tamper": "deny"}` or `"warn"`. While one of the files cannot be read, both deny.
    `{"llm": {"model": "anthropic:NAME", "key_variable": "TEAM_KEY", "base_url": "..."}}` names the model that
    hooks ask.
    """

    code = "HP710"
    severity = "error"
    effect = "stricter"
    message = "hookport's settings cannot be used: {why}"
    hint = 'Write {{"on_failure": "closed"}} or {{"on_failure": "open"}}. Until then, failures deny.'


class HookDisabled(Kind):
    """The hook's own file switches it off, so it does not run."""

    code = "HP711"
    severity = "note"
    message = "hook '{name}' is switched off, so it does not run"
    hint = "Switch it on in its file if it should run."


class BridgeEntry(Kind):
    """The entry makes its agent call hookport, so it is not a hook.

    hookport finds the hooks behind it in their own files. Running the entry as a hook would run them twice.
    """

    code = "HP712"
    severity = "note"
    message = "this entry calls hookport, so hookport does not run it as a hook"


class NotManaged(Kind):
    """A code module that the agent loads itself, such as a plugin of OpenCode or an extension of pi.

    It may be a guard, but hookport does not manage modules: it neither runs nor converts them, no other agent
    runs them, and no approval covers them.
    """

    code = "HP713"
    severity = "note"
    message = "not managed by hookport: a code module that only {agent} runs"
    hint = "Write it as a command to run it in every agent: `hookport new`."


class NotRead(Kind):
    """The file is at an agent's own place and contains hooks, but hookport does not read hooks there.

    Examples are manifests of some agents' plugins, extensions in a project, and files of agents without a
    hookport dialect. The agent may run these hooks. hookport does not check, approve or install them in
    other agents.
    """

    code = "HP715"
    severity = "error"
    effect = "dropped"
    message = "{agent} may run these hooks, but hookport does not read them, so no other agent does"
    hint = "Write them again where hookport reads them: `hookport new`."


class PluginRefused(Kind):
    """The agent refuses the whole plugin because of a path in its manifest.

    Claude Code 2.1.325 accepts only paths that start with `./`. With any other path it loads nothing of the
    plugin.
    """

    code = "HP716"
    severity = "error"
    effect = "dropped"
    message = "{agent} refuses this plugin: '{path}' does not start with '{start}'"
    hint = "Write '{start}{path}'."


class MatcherUndecided(Kind):
    """hookport could not decide whether the hook matches this event, so the hook ran.

    The pattern is invalid or took too long, the payload lacks the field that the matcher tests, or neither
    name nor input shows what the tool does. A guard that runs once too often is better than a missing one.
    """

    code = "HP720"
    severity = "loss"
    effect = "stricter"
    message = "{text}; the hook ran"
    hint = "Correct the matcher; `hookport why` shows what it is tested against."


class NoisyAnswer(Kind):
    """The hook printed other text beside its answer.

    hookport found the answer and used it. An agent that runs the hook itself loses such an answer: a guard
    that prints a log line before its JSON guards nothing there.
    """

    code = "HP721"
    severity = "loss"
    message = "{text}"
    hint = "Print log lines on stderr."


class HookFailed(Kind):
    """The hook did not answer: it could not start, timed out, died, or printed an unreadable answer.

    The failure policy decides: open (no decision, the default) or closed (deny). Set it with `on_failure` for
    one hook, or with hookport's settings or HOOKPORT_ON_FAILURE for all.
    """

    code = "HP722"
    severity = "error"
    message = "hook '{name}' failed: {why}"
    hint = "Correct the hook; set `on_failure` to `closed` if a failure must deny."


class AnswerUnsaid(Kind):
    """The agent's answer cannot carry everything that the hooks decided.

    hookport sends a stricter answer, or leaves out a part that is not a decision.
    """

    code = "HP723"
    severity = "loss"
    effect = "stricter"
    message = "{text}"
    hint = "`hookport matrix AGENT` shows what an agent accepts."


class TranscriptIncomplete(Kind):
    """The hook reads the transcript, and hookport could not translate all of it.

    A long transcript is cut to its end, and records of an unknown kind, as a newer version of the agent may
    write them, are left out. If nothing can be read, because the shape is unknown, the file belongs to
    another user, or the path is not one that the agent itself would name, the hook gets the agent's own path.
    """

    code = "HP727"
    severity = "loss"
    effect = "changed"
    message = "{text}"
    hint = "Make the hook read its payload instead, for example the last message."


class StopLoopEnded(Kind):
    """A stop hook kept the agent going too many times in a row, and the agent has no limit of its own.

    hookport let the agent stop. The limit is 8, or HOOKPORT_STOP_LIMIT.
    """

    code = "HP724"
    severity = "loss"
    message = "{text}"
    hint = "Make the stop hook give up by itself, for example when `stop_hook_active` is true."


class HookSwitchedOff(Kind):
    """A setting of the hook's own agent switches the hook off, so hookport runs it nowhere.

    The setting may be in another file than the hook: `disableAllHooks` in `.claude/settings.local.json`
    switches off the hooks of `.claude/settings.json` too. A setting in the user's own files takes effect at
    once. A setting in a file of the project does not switch off hooks of the user. If it appears after a
    guard was approved, hookport denies every call that the guard would have seen until
    `hookport trust` approves the change.
    """

    code = "HP725"
    severity = "loss"
    effect = "dropped"
    message = "hook '{name}' does not run in any agent: {by} switches it off"
    hint = "{fix}"


class Misplaced(Kind):
    """The file contains hooks, but no agent reads it there.

    Each agent reads fixed files and silently ignores a correct file in the wrong folder or under another
    agent's name. hookport searches the agents' folders for files whose content is hooks.
    """

    code = "HP726"
    severity = "error"
    effect = "dropped"
    message = "nothing reads this file, so its {count} never run{s}: {reader} reads {place}"
    hint = "{fix}"
