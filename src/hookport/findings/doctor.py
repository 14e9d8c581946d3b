"""HP86x to HP89x: what the bridge, and the machine that hooks run on, lack."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class BridgeMissing(Kind):
    """A file that the agents' entries call is not there, so they run no hook, or deny every call."""

    code = "HP860"
    severity = "error"
    message = "it is not there"
    hint = "`hookport vendor` writes it."


class BridgeDiffers(Kind):
    """The bridge in the project is not the one that this version of hookport builds.

    Every build of one version has the same bytes, so either the versions differ or somebody changed the file.
    """

    code = "HP861"
    severity = "error"
    message = "it is not what hookport {version} builds: {why}"
    hint = "`hookport vendor` writes it anew; find out first who changed it."


class BridgeStale(Kind):
    """The plan beside the bridge was not made from the hooks as they are now.

    The bridge says so when it runs, and what changed is a failure of the hooks concerned.
    """

    code = "HP862"
    severity = "error"
    message = "the plan is stale: {why}"
    hint = "`hookport vendor` or `hookport sync --vendor` makes it anew."


class BridgeUnlocked(Kind):
    """The lock has another hash of the file, or none, so nobody who approved the lock approved the file."""

    code = "HP863"
    severity = "error"
    message = "the lock does not have the hash of {name}"
    hint = "`hookport trust` shows what is new and writes the lock."


class PersonalHooks(Kind):
    """The file is kept out of the repository, so its hooks are not in the plan that is committed."""

    code = "HP864"
    severity = "note"
    message = "its hooks are not in the plan, since the file is for one machine only"
    hint = "Move them to a file that is committed if they are for everybody."


class BridgeLacks(Kind):
    """The entry names a dialect that the bridge it calls does not know.

    The dialect is one of another package. The plan beside a project's bridge carries it if it was made where
    that package is installed. Without it every call is a failure, and runs unless failures deny.
    """

    code = "HP865"
    severity = "error"
    message = "this entry calls {bridge} for '{dialect}', which it does not know"
    hint = "Install the package of '{dialect}', then run `hookport sync{option}`."


class BridgeNeeds(Kind):
    """The plan beside the bridge has hooks of a dialect that is not installed here.

    Made here, it would lose these hooks, so it is left as it is; and nobody can tell whether it is right.
    """

    code = "HP866"
    severity = "error"
    message = "the plan cannot be made or checked without {dialects}, which is not installed here"
    hint = "Install the package of {dialects}; or remove the plan, and its hooks with it."


class BridgeUnchecked(Kind):
    """The plan beside the bridge has the tables of a dialect that is not installed here, and no hook of it.

    They stay in the plan as they are, for the teammates whose agent speaks it.
    """

    code = "HP867"
    severity = "note"
    message = "the tables of {dialects} are kept unchecked, because {dialects} is not installed here"


class FolderUntrusted(Kind):
    """The agent does not trust the folder, and runs no hook there before it does.

    Most agents say nothing about it. Where hooks were seen to run all the same, it is a loss, else an error.
    """

    code = "HP870"
    severity = "error"
    message = "{dialect} does not trust this folder: {count} would not fire"
    hint = "{fix}"


class HookUntrusted(Kind):
    """The agent trusts hooks one by one, and not this one yet, or it was switched off there.

    The hook is skipped without a word. A hook that moved to another place of its file is a new one.
    """

    code = "HP871"
    severity = "error"
    message = "{dialect} skips this hook: {why}"
    hint = "{fix}"


class HooksOff(Kind):
    """A setting keeps all hooks from running: a switch, a feature that is off, or a policy of the machine."""

    code = "HP872"
    severity = "error"
    message = "{count} would not fire in {dialect}: {what}"
    hint = "{fix}"


class FileDropped(Kind):
    """The agent gives up on the whole file because of one thing in it.

    One entry that is not as it must be, or a syntax error, costs all hooks of the file.
    """

    code = "HP873"
    severity = "error"
    message = "no hook of this file runs in {dialect}: {message}"
    hint = "Correct it; `hookport check` shows more."


class FileShadowed(Kind):
    """The agent does not read this file because another one is there."""

    code = "HP874"
    severity = "error"
    message = "{dialect} does not read this file while {other} is there: {count} would not fire"
    hint = "Move the hooks to {other}."


class WrongScope(Kind):
    """The hooks stand where the agent does not look."""

    code = "HP875"
    severity = "error"
    message = "{dialect} does not read this file: {why}"
    hint = "Move the hooks to {place}."


class ProgramMissing(Kind):
    """The program that the hook is run with is not on this machine.

    An agent that was started from a desktop may have a shorter PATH than a terminal, so that even a program
    that is found here may be missing there; an absolute path is found always.
    """

    code = "HP876"
    severity = "error"
    message = "'{program}' is not on this machine, so this hook cannot start"
    hint = "Install {program}, or name another program."


class RelativeScript(Kind):
    """The script is named from the folder that the agent is in, and found in the project's root only."""

    code = "HP877"
    severity = "loss"
    message = "'{script}' is found only while {dialect} works in the project's root"
    hint = "Write {root}/{name} instead."


class RunsTwice(Kind):
    """The agent reads the same hook in two places and runs it twice.

    Some agents also read the files of others. A hook that counts, commits or notifies does so twice.
    """

    code = "HP878"
    severity = "loss"
    message = "{dialect} runs this hook twice: it stands in {other} too"
    hint = "Keep one of the two."


class TimeoutTooShort(Kind):
    """The hook was cut off lately, or takes longer than it may: its answer comes too late.

    Nearly every agent goes on when a hook runs out of time, so that a guard guards nothing.
    """

    code = "HP879"
    severity = "error"
    message = "the timeout is {limit}, and of the last {count} runs 95 % ended within {taken}{cut}"
    hint = "Allow it more time, or make it faster."


class EventNotThere(Kind):
    """The installed version of the agent does not have the event: the hook waits for ever."""

    code = "HP880"
    severity = "error"
    message = "{dialect} {version} has no event '{event}'{since}"
    hint = "Use another event, or another version of the agent."


class EventUnfired(Kind):
    """The event does not fire in one way of running the agent, such as without a terminal."""

    code = "HP881"
    severity = "loss"
    message = "'{event}' does not fire {when}"
    hint = "Do not rely on it there."


class BridgeBroken(Kind):
    """The entry calls hookport, and what it calls is gone: hookport or its interpreter was moved."""

    code = "HP882"
    severity = "error"
    message = "this entry calls hookport by {path}, which is not there"
    hint = "`hookport doctor --fix` or `hookport sync` writes it anew."


class BridgeForeign(Kind):
    """The entry makes hookport answer in the words of another agent than the one that runs it."""

    code = "HP883"
    severity = "error"
    message = "{dialect} runs this entry, which answers as {other} expects"
    hint = "`hookport sync --agent {dialect}` writes the right one."


class NeverFired(Kind):
    """The event fired and its tool matched, and the hook did not run, by what the journal remembers.

    The journal knows the events that agents sent to hookport.
    """

    code = "HP884"
    severity = "loss"
    message = "it did not run on any of the last {count} events of its kind"
    hint = "`hookport why` shows what each hook is tested against."


class NoBridge(Kind):
    """hookport has hooks to run, and no agent here calls it."""

    code = "HP885"
    severity = "error"
    message = "no agent here calls hookport: {count} would not fire"
    hint = "Install them with `hookport sync`."


class StateNotKept(Kind):
    """hookport cannot write to its own folder: no journal is kept, and plans are made for each event."""

    code = "HP886"
    severity = "loss"
    message = "neither journal nor plans are kept: {why}"
    hint = "Make the folder writable, or name another with HOOKPORT_STATE_DIR."


class PlanStale(Kind):
    """The compiled plan is not of the hooks as they are now; the next event makes it anew."""

    code = "HP887"
    severity = "note"
    message = "the plan of this folder is old: {why}"
    hint = "Nothing to do; `hookport doctor --fix` makes it now."


class TrustUnseen(Kind):
    """The agent runs hooks only where it was told to trust the folder, and nobody else can see whether."""

    code = "HP888"
    severity = "note"
    message = (
        "{dialect} runs the hooks of a project only in a folder it trusts, which cannot be seen from here"
    )
    hint = "{fix}"


class CodeChanged(Kind):
    """The code that hookport generated for the agent was cut or changed, so that it may not load.

    An agent that loads code skips what does not load, mostly without a word.
    """

    code = "HP889"
    severity = "error"
    message = "this file is not as hookport generates it, and may not load"
    hint = "`hookport sync` or `hookport convert` writes it anew."


class ToolGone(Kind):
    """The matcher names only tools that the installed version of the agent has no more."""

    code = "HP890"
    severity = "error"
    message = "the matcher '{matcher}' matches nothing: {dialect} {version} has no {tools} any more"
    hint = "Match the tool that does it now, often the shell."


class ReadElsewhere(Kind):
    """A file in a folder below the project's root, which the agent does not read."""

    code = "HP891"
    severity = "error"
    message = "{dialect} reads the files of a project at its root only, {root}: {count} would not fire"
    hint = "Move the hooks there."


class DialectUnusable(Kind):
    """A package adds a dialect that cannot be used, so hookport does without it."""

    code = "HP892"
    severity = "error"
    message = "dialect '{name}' of another package cannot be used: {why}"
    hint = "Upgrade or remove the package."


class EnvironmentSteered(Kind):
    """A file of the project sets a variable that tells hookport where approvals, plans or settings are.

    Agents and shells put these files into the environment that hooks are started in. Folders inside a project
    are refused whatever the variable says, but a variable can still switch a policy off or name a folder
    elsewhere. Only the person who uses the machine should set it, in their own shell.
    """

    code = "HP893"
    severity = "error"
    message = (
        "'{name}' is set here for everybody who works in this project, and steers what hookport believes"
    )
    hint = "Remove it from this file; set it in your own shell if you need it."


class EntrySilent(Kind):
    """An event was sent through the entry, as the agent would, and what came back is not hookport's answer.

    The event is made up by `hookport doctor`: one hook of its own runs, which denies, and the answer must be
    that deny in the agent's own terms. No hook of yours runs and nothing is written to the journal. Only
    entries that hookport wrote on this machine, or would write now, are tried; a bridge that the project
    brings along is tried once it is approved.
    """

    code = "HP894"
    severity = "error"
    message = "an event through this entry of {dialect} does not reach a hook: {why}"
    hint = (
        "Run `hookport sync` with a hookport that works; `python3 -m pip install --force-reinstall hookport`."
    )
