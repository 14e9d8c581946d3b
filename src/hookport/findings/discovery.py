"""HP7xx: what stands in a project, and what a hook did when it was run there."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class SourceBroken(Kind):
    """A file or a folder with hooks to run cannot be read, or does not say what it must.

    **None of its hooks runs**, so a guard in it guards nothing. The hooks of other files run as before.
    """

    code = "HP701"
    severity = "error"
    effect = "dropped"
    message = "{message}"
    hint = "Correct it: until then none of its hooks runs."


class HookOverridden(Kind):
    """A hook or a plugin of the user does not run, because the project has one of the same name.

    The formats want it so. Give one of them another name if both are to run.
    """

    code = "HP702"
    severity = "note"
    effect = "dropped"
    message = "the user's {what} '{name}' does not run here: {other} has that name too and overrides it"
    hint = "Rename one of them if both are to run."


class NameTaken(Kind):
    """Two hooks or two plugins of one level have the same name.

    Both run, so that no guard is lost. In reports they look like one.
    """

    code = "HP703"
    severity = "note"
    message = "the {what} '{name}' has the name of {other}; both run"
    hint = "Rename one of them."


class EntryMissing(Kind):
    """A HOOK.md folder has no script, so **the hook does not run**.

    The script is `scripts/run`, or `scripts/run` with an ending; a link that leads nowhere is none.
    """

    code = "HP704"
    severity = "error"
    effect = "dropped"
    message = "the hook '{name}' does not run: {folder} has no script named run"
    hint = "Create {folder}/run.sh and make it executable."


class SeveralEntries(Kind):
    """A HOOK.md folder has several scripts that could be the one to run.

    Those that can be started come first, then `run`, `run.sh` and `run.py` in this order, then the others
    by name.
    """

    code = "HP705"
    severity = "loss"
    message = "of the scripts {scripts} only {chosen} runs"
    hint = "Keep one of them, or give the others names that do not start with `run`."


class EntryNotExecutable(Kind):
    """The script of a HOOK.md folder is not executable; it is run by what its shebang or its ending names.

    Other programs that read such folders may not do so, and the hook does not run there.
    """

    code = "HP706"
    severity = "note"
    message = "{script} is not executable, so it is run with `{interpreter}`"
    hint = "Try: chmod +x {script}"


class EntryCannotStart(Kind):
    """The script of a HOOK.md folder is not executable, and nothing says what could run it.

    The hook is kept and fails each time, so what happens then is up to what was chosen for failures: unless
    that is to block, a guard guards nothing.
    """

    code = "HP707"
    severity = "error"
    message = "{script} is not executable, and neither a shebang line nor its ending says what runs it"
    hint = "Try: chmod +x {script}"


class NoHookFile(Kind):
    """A folder among the HOOK.md folders has no HOOK.md, so there is no hook in it.

    The name counts with its capital letters.
    """

    code = "HP708"
    severity = "note"
    message = "the folder has no HOOK.md, so no hook of it runs"
    hint = "Write a HOOK.md, or move the folder elsewhere."


class FolderPassedOver(Kind):
    """A folder inside the project has hooks of its own, and they do not run from there.

    The project is the whole repository, so that its guards hold in every folder of it. Hooks that are to run
    stand at its root.
    """

    code = "HP709"
    severity = "error"
    message = "the hooks at {places} are not run by hookport: the project's root is {root}"
    hint = "Move them to the root if they are to run."


class BadSettings(Kind):
    """hookport's own settings file says something that it does not know.

    `.hookport/config.json` of a project and `hookport/config.json` of a user may say what a failure of a hook
    means, `{"on_failure": "open"}` or `"closed"`, and what it means that a guard was never asked,
    `{"on_tamper": "deny"}` or `"warn"`. As long as one of the files cannot be read, both deny.
    `{"llm": {"model": "anthropic:NAME", "key_variable": "TEAM_KEY", "base_url": "..."}}` names the model that
    hooks ask.
    """

    code = "HP710"
    severity = "error"
    effect = "stricter"
    message = "hookport's settings cannot be used: {why}"
    hint = 'Write {{"on_failure": "closed"}} or {{"on_failure": "open"}}; until then, failures deny.'


class HookDisabled(Kind):
    """The hook is switched off where it is written down, so it does not run."""

    code = "HP711"
    severity = "note"
    message = "hook '{name}' is switched off, so it does not run"
    hint = "Switch it on in its file if it should run."


class BridgeEntry(Kind):
    """The entry makes its agent call hookport, so it is no hook of its own.

    The hooks behind it are found where they are written down. Run as a hook, it would run them again.
    """

    code = "HP712"
    severity = "note"
    message = "this entry calls hookport, so it is not run as a hook"


class NotManaged(Kind):
    """A module of code that the agent loads by itself, such as a plugin of OpenCode or an extension of pi.

    It may well be a guard, and hookport knows nothing of it: modules are neither run nor converted, no other
    agent runs them, and no approval covers them.
    """

    code = "HP713"
    severity = "note"
    message = "not managed by hookport: a module of code that only {agent} runs"
    hint = "Write what it does as a command to have it in every agent: `hookport new`."


class NotRead(Kind):
    """The file stands at an agent's own place and holds hooks, and hookport does not read hooks there.

    Such are the manifests of some agents' plugins, extensions in a project, and the files of agents that
    hookport has no dialect for. The agent may run them; hookport neither checks nor approves them, and brings
    them to no other agent.
    """

    code = "HP715"
    severity = "error"
    effect = "dropped"
    message = "holds hooks of {agent} that hookport does not read, so no other agent runs them"
    hint = "Write them once more where hookport reads them: `hookport new`."


class PluginRefused(Kind):
    """The agent refuses the whole plugin for the way in which its manifest names a file of hooks.

    Claude Code 2.1.325 takes only paths that start with `./`; of another it loads nothing of the plugin.
    """

    code = "HP716"
    severity = "error"
    effect = "dropped"
    message = "{agent} refuses this plugin: '{path}' does not start with '{start}'"
    hint = "Write '{start}{path}'."


class MatcherUndecided(Kind):
    """It could not be decided whether the hook is for this event, so it ran.

    Its pattern took too long or is none, or the agent does not say what the matcher asks for, or neither name
    nor input tells what the tool does. A guard that runs once too often is better than one that is left out.
    """

    code = "HP720"
    severity = "loss"
    effect = "stricter"
    message = "{text}; the hook ran"
    hint = "Write the matcher so that it can be decided; `hookport why` shows what it is tested against."


class NoisyAnswer(Kind):
    """The hook printed other text beside its answer.

    hookport found the answer and used it. Agents that read the hook themselves lose such an answer: a guard
    that prints a log line before its JSON guards nothing there.
    """

    code = "HP721"
    severity = "loss"
    message = "{text}"
    hint = "Print log lines on stderr."


class HookFailed(Kind):
    """The hook did not answer: it could not start, ran out of time, died, or its answer cannot be read.

    Policy decides what that means: open (nothing is decided, the default) or closed (it is denied), for one
    hook with `on_failure`, for all with hookport's settings or HOOKPORT_ON_FAILURE.
    """

    code = "HP722"
    severity = "error"
    message = "hook '{name}' failed: {why}"
    hint = "Correct the hook; set on_failure to closed where a failure must deny."


class AnswerUnsaid(Kind):
    """The agent cannot be told all of what the hooks decided.

    What it is told instead is stricter, or the missing part is no decision.
    """

    code = "HP723"
    severity = "loss"
    effect = "stricter"
    message = "{text}"
    hint = "`hookport matrix` shows what each agent can be told."


class StopLoopEnded(Kind):
    """A stop hook kept the agent going too many times in a row, and the agent has no end of its own.

    The agent was let stop. The limit is 8, or HOOKPORT_STOP_LIMIT.
    """

    code = "HP724"
    severity = "loss"
    message = "{text}"
    hint = "Let the stop hook give up by itself, for example when stop_hook_active is true."


class HookSwitchedOff(Kind):
    """A setting of the agent that the hook is written for switches it off, so hookport runs it nowhere.

    The setting may stand in another file than the hook: `disableAllHooks` in `.claude/settings.local.json`
    switches off the hooks of `.claude/settings.json` too. A setting in the user's own files counts at once.
    One in a file of the project does not switch off hooks of the user, and where it appears after a guard was
    approved, what the guard would have seen is denied until `hookport trust` approves the change.
    """

    code = "HP725"
    severity = "loss"
    effect = "dropped"
    message = "hook '{name}' does not run in any agent: {by} switches it off"
    hint = "{fix}"


class Misplaced(Kind):
    """The file has hooks, and stands where nothing reads it.

    Each agent reads fixed files: a right file in a wrong folder, or under the name that another agent uses,
    is ignored without a word. hookport looks at the agents' folders for files whose content is hooks.
    """

    code = "HP726"
    severity = "error"
    effect = "dropped"
    message = "nothing reads this file, so its {count} never run{s}: {reader} reads {place}"
    hint = "{fix}"
