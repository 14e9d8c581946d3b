"""HP86x to HP89x: problems of the bridge, of installed hooks, and of the machine they run on."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class BridgeMissing(Kind):
    """A file that the agents' entries call does not exist, so they run no hook or deny every call."""

    code = "HP860"
    severity = "error"
    message = "it does not exist"
    hint = "`hookport vendor` writes it."


class BridgeDiffers(Kind):
    """The bridge in the project differs from the one that this version of hookport builds.

    All builds of one version are byte-identical, so either the versions differ or somebody changed the file.
    """

    code = "HP861"
    severity = "error"
    message = "it differs from what hookport {version} builds: {why}"
    hint = "Find out who changed it, then run `hookport vendor` to rewrite it."


class BridgeStale(Kind):
    """The plan beside the bridge does not match the current hooks.

    The bridge reports this when it runs, and treats each changed hook as failed.
    """

    code = "HP862"
    severity = "error"
    message = "the plan is stale: {why}"
    hint = "`hookport vendor` or `hookport sync --vendor` rebuilds it."


class BridgeUnlocked(Kind):
    """The lock has no hash of the file, or another one, so approving the lock did not approve the file."""

    code = "HP863"
    severity = "error"
    message = "the lock does not have the hash of {name}"
    hint = "`hookport trust` shows what is new and writes the lock."


class PersonalHooks(Kind):
    """The file is not committed, so the committed plan does not contain its hooks."""

    code = "HP864"
    severity = "note"
    message = "its hooks are not in the plan, because the file is for this machine only"
    hint = "Move them to a committed file if they are for everybody."


class BridgeLacks(Kind):
    """The entry names a dialect that its bridge does not know.

    The dialect comes from another package. The plan beside a project's bridge contains it if the plan was
    built where that package is installed. Without it every call fails, and runs unless failures deny.
    """

    code = "HP865"
    severity = "error"
    message = "this entry calls {bridge} for '{dialect}', an unknown dialect"
    hint = "Install the package of '{dialect}', then run `hookport sync{option}`."


class BridgeNeeds(Kind):
    """The plan beside the bridge has hooks of a dialect that is not installed here.

    Rebuilding the plan here would lose these hooks, so hookport keeps it and cannot check it.
    """

    code = "HP866"
    severity = "error"
    message = "the plan cannot be rebuilt or checked: {dialects} is not installed here"
    hint = "Install the package of {dialects}; or remove the plan, with its hooks."


class BridgeUnchecked(Kind):
    """The plan beside the bridge has the tables of a dialect that is not installed here, and no hook of it.

    hookport keeps the tables unchanged, for teammates who use that agent.
    """

    code = "HP867"
    severity = "note"
    message = "the tables of {dialects} are kept unchecked, because {dialects} is not installed here"


class FolderUntrusted(Kind):
    """The agent does not trust the folder, and runs no hook in it until it does.

    Most agents do not report this. It is an error, or a loss for agents that were measured to run hooks
    anyway.
    """

    code = "HP870"
    severity = "error"
    message = "{dialect} does not trust this folder: {count} would not fire"
    hint = "{fix}"


class HookUntrusted(Kind):
    """The agent approves hooks one by one, and this one is not approved yet or is switched off.

    The agent skips it silently. A hook that moved within its file counts as new.
    """

    code = "HP871"
    severity = "error"
    message = "{dialect} skips this hook: {why}"
    hint = "{fix}"


class HooksOff(Kind):
    """A setting switches all hooks off: a switch, a disabled feature, or a policy of the machine."""

    code = "HP872"
    severity = "error"
    message = "{count} would not fire in {dialect}: {what}"
    hint = "{fix}"


class FileDropped(Kind):
    """The agent ignores the whole file because of one error in it.

    One invalid entry or a syntax error disables all hooks of the file.
    """

    code = "HP873"
    severity = "error"
    message = "no hook of this file runs in {dialect}: {message}"
    hint = "Correct it; `hookport check` shows more."


class FileShadowed(Kind):
    """The agent does not read this file because another file takes precedence."""

    code = "HP874"
    severity = "error"
    message = "{dialect} does not read this file while {other} exists: {count} would not fire"
    hint = "Move the hooks to {other}."


class WrongScope(Kind):
    """The hooks are in a file that the agent does not read."""

    code = "HP875"
    severity = "error"
    message = "{dialect} does not read this file: {why}"
    hint = "Move the hooks to {place}."


class ProgramMissing(Kind):
    """The program that runs the hook is not on this machine.

    An agent started from a desktop may have a shorter PATH than a terminal, and miss a program that is found
    here. An absolute path avoids this.
    """

    code = "HP876"
    severity = "error"
    message = "'{program}' is not on this machine, so this hook cannot start"
    hint = "Install {program}, or name another program."


class RelativeScript(Kind):
    """The script's path is relative to the agent's working directory, and exists only in the project root."""

    code = "HP877"
    severity = "loss"
    message = "'{script}' exists only while {dialect} works in the project root"
    hint = "Write {root}/{name} instead."


class RunsTwice(Kind):
    """The agent reads the same hook in two places and runs it twice.

    Some agents also read the files of others. A hook that counts, commits or notifies does so twice.
    """

    code = "HP878"
    severity = "loss"
    message = "{dialect} runs this hook twice: it is also in {other}"
    hint = "Delete one of the two."


class TimeoutTooShort(Kind):
    """The hook timed out lately, or takes longer than its timeout: its answer comes too late.

    Nearly every agent goes on when a hook times out, so a guard guards nothing.
    """

    code = "HP879"
    severity = "error"
    message = "the timeout is {limit}; 95 % of the last {count} runs ended within {taken}{cut}"
    hint = "Raise the timeout, or make the hook faster."


class EventNotThere(Kind):
    """The installed version of the agent does not have the event, so the hook never runs."""

    code = "HP880"
    severity = "error"
    message = "{dialect} {version} has no event '{event}'{since}"
    hint = "Use another event, or another version of the agent."


class EventUnfired(Kind):
    """The event does not fire when the agent runs in a certain way, such as without a terminal."""

    code = "HP881"
    severity = "loss"
    message = "'{event}' does not fire {when}"
    hint = "Do not rely on it there."


class BridgeBroken(Kind):
    """The entry calls a hookport or an interpreter that was moved or uninstalled."""

    code = "HP882"
    severity = "error"
    message = "this entry calls hookport at {path}, which does not exist"
    hint = "`hookport doctor --fix` or `hookport sync` rewrites it."


class BridgeForeign(Kind):
    """The entry makes hookport answer for another agent than the one that runs it."""

    code = "HP883"
    severity = "error"
    message = "{dialect} runs this entry, which answers for {other}"
    hint = "`hookport sync --agent {dialect}` corrects it."


class NeverFired(Kind):
    """The journal shows that the event fired and its tool matched, but the hook did not run.

    The journal has the events that agents sent to hookport.
    """

    code = "HP884"
    severity = "loss"
    message = "it has not run on any of the last {count} matching events"
    hint = "`hookport why` shows what each hook is tested against."


class NoBridge(Kind):
    """hookport has hooks to run, but no agent on this machine calls it."""

    code = "HP885"
    severity = "error"
    message = "no agent on this machine calls hookport: {count} would not fire"
    hint = "Run `hookport sync` to install them."


class StateNotKept(Kind):
    """hookport cannot write its state folder: it keeps no journal and rebuilds the plan on every event."""

    code = "HP886"
    severity = "loss"
    message = "cannot keep journal and plans: {why}"
    hint = "Make the folder writable, or set HOOKPORT_STATE_DIR to another."


class PlanStale(Kind):
    """The compiled plan does not match the current hooks. The next event rebuilds it."""

    code = "HP887"
    severity = "note"
    message = "the plan of this folder is stale: {why}"
    hint = "The next event rebuilds it; `hookport doctor --fix` does so now."


class TrustUnseen(Kind):
    """The agent runs hooks only in folders it trusts, and does not show other programs which those are."""

    code = "HP888"
    severity = "note"
    message = (
        "{dialect} runs a project's hooks only in a folder it trusts, and hookport cannot see whether it does"
    )
    hint = "{fix}"


class CodeChanged(Kind):
    """The code that hookport generated for the agent was truncated or changed, so it may not load.

    An agent that loads code silently skips a file that fails to load.
    """

    code = "HP889"
    severity = "error"
    message = "this file differs from what hookport generates, and may not load"
    hint = "`hookport sync` or `hookport convert` rewrites it."


class ToolGone(Kind):
    """The matcher names only tools that the installed version of the agent no longer has."""

    code = "HP890"
    severity = "error"
    message = "the matcher '{matcher}' matches nothing: {dialect} {version} no longer has {tools}"
    hint = "Match the tool that replaced it, often the shell."


class ReadElsewhere(Kind):
    """The file is in a folder below the project root, where the agent does not read it."""

    code = "HP891"
    severity = "error"
    message = "{dialect} reads a project's files only at its root, {root}: {count} would not fire"
    hint = "Move the hooks there."


class DialectUnusable(Kind):
    """A package adds an unusable dialect, so hookport ignores it."""

    code = "HP892"
    severity = "error"
    message = "dialect '{name}' of another package is unusable: {why}"
    hint = "Upgrade or remove the package."


class EnvironmentSteered(Kind):
    """A file of the project sets a variable that points hookport to its approvals, plans or settings.

    Agents and shells load these files into the environment of hooks. hookport refuses folders inside a
    project whatever the variable says, but the variable can still switch a policy off or name another folder.
    Only the user of the machine should set it, in their own shell.
    """

    code = "HP893"
    severity = "error"
    message = (
        "'{name}' is set here for everybody who works in this project, and controls what hookport trusts"
    )
    hint = "Remove it from this file, and set it in your own shell if you need it."


class EntrySilent(Kind):
    """A test event through the entry did not come back with hookport's answer.

    `hookport doctor` sends an event as the agent would, to one test hook that denies, and expects that deny
    in the agent's own format. None of your hooks runs, and the journal gets no line. doctor tries only
    entries that hookport wrote on this machine or would write now. It tries a bridge that the project
    brings along only after its approval.
    """

    code = "HP894"
    severity = "error"
    message = "an event through this entry of {dialect} does not reach a hook: {why}"
    hint = (
        "Reinstall hookport (`python3 -m pip install --force-reinstall hookport`), then run `hookport sync`."
    )
