"""HP80x to HP84x: what agents make of the hooks that are installed for them."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class LedgerBroken(Kind):
    """A file of hookport's ledger cannot be read.

    The ledger remembers what hookport wrote into the agents' files. What this one file remembers is lost: its
    run cannot be taken back, or the exact former bytes of its file are not known. The entries themselves are
    still known by the command they run.
    """

    code = "HP800"
    severity = "error"
    message = "the ledger cannot be read here: {why}"
    hint = "Remove this file from the ledger; `hookport unsync` still takes the entries out."


class EntryTwice(Kind):
    """Entries of ours are in two places that the agent reads, so each hook runs twice.

    Of two entries that call the bridge, one in the project's file and one in the user's, only the first runs
    the hooks of a call. Two in files of one scope both do, and so does an entry for one hook beside one for
    all.
    """

    code = "HP811"
    severity = "loss"
    message = "{agent} reads entries of hookport here and in {other}: hooks run twice"
    hint = "Take one of them out: `hookport unsync --scope user` or `--scope project`."


class NoPlaceThere(Kind):
    """The agent reads no hooks of this scope: some read only those of a project, or only those of a user."""

    code = "HP812"
    severity = "error"
    message = "{agent} reads no hooks of a {scope}, so nothing was installed for it"
    hint = "Use `--scope {other} --mode bridge`: it finds the hooks of both."


class NeverFires(Kind):
    """The agent has no event for the hook, so no entry can make it run there."""

    code = "HP813"
    severity = "error"
    effect = "dropped"
    message = "{names} never {verb} in {agent}: {reason}"
    hint = "`hookport matrix` shows which agents have the event."


class OnlyAdvises(Kind):
    """The hook runs, and its deny does not hold: the agent does not listen on that event."""

    code = "HP814"
    severity = "loss"
    effect = "changed"
    message = "'{name}' cannot block in {agent}: {reason}"
    hint = "`hookport matrix` shows where each agent can be stopped."


class OnlyByBridge(Kind):
    """The hook is no command, and only the bridge can run it for every agent and know it again."""

    code = "HP815"
    severity = "loss"
    effect = "dropped"
    message = "'{name}' was not installed for {agent}: natively only commands are, and it is of type {type}"
    hint = "Use `--mode bridge`."


class NotSynced(Kind):
    """The agent's file cannot be edited without a risk to what is in it, so it was left as it is."""

    code = "HP816"
    severity = "error"
    effect = "dropped"
    message = "{message}. Nothing was written for {agent}"
    hint = "Correct the file and run `hookport sync` again."


class Drifted(Kind):
    """The entries in the agent's file are not those that its hooks need now."""

    code = "HP817"
    severity = "error"
    message = "the entries for {agent} are {state}"
    hint = "Run `hookport sync`."


class OfThisMachine(Kind):
    """The entries name the Python of this machine, and the file belongs to the project.

    On another machine the path leads nowhere: guards deny there, and the other hooks do not run.
    """

    code = "HP818"
    severity = "note"
    message = "the entries name the Python of this machine; for those who share the project, use --vendor"


class TwoAgentsRead(Kind):
    """Another agent reads the file too, and nothing tells the two apart: the hooks run there as well."""

    code = "HP819"
    severity = "loss"
    message = "{other} reads this file of {agent} too, and a hook cannot tell which of the two runs it"
    hint = "Install for one of the two, or switch the file off in the settings of {other}."


class NotApproved(Kind):
    """The bridge runs a hook of a project only as its user approved it, and these were not approved yet.

    Until then the agent is told so in its own words, and the hooks do not run.
    """

    code = "HP820"
    severity = "loss"
    message = "not run before you approve them: {names}"
    hint = "Look at them and approve them with `hookport trust`."


class NotGuarded(Kind):
    """Hooks that are installed by themselves are run by the agent as they are.

    Approval and self-protection are the bridge's: a script that changes runs changed, and an agent may edit
    it. Only the bridge (`--mode bridge`) runs a project's hooks as they were approved.
    """

    code = "HP821"
    severity = "note"
    message = "installed by itself, so neither approval nor self-protection holds: {agents}"
    hint = "Use --mode bridge where that matters."


class RunsBesides(Kind):
    """The agent reads the file that the hook is in, and does less with it there than the hook is for.

    Other agents' files are read with other tool names, fields and answers: a guard on files or MCP tools may
    not recognise what it is asked about, or is never asked. So the hook is installed as well. Where the agent
    runs it by itself too, it runs twice, and the stricter answer counts.

    `hookport sync --adopt` ends that. It puts a test before the command in the file: where the agent runs it
    and an installed entry of hookport runs the same hook there, the command ends at once. Where the entry is
    missing, was changed or starts a hookport that is gone, and where the hook is not approved, the command
    runs as it did, so the test makes no guard weaker. `hookport unsync` and `hookport undo` take it out.
    """

    code = "HP822"
    severity = "loss"
    message = (
        "{agent} also reads {file}, where this hook has less effect; installed anyway, so it may run twice"
    )
    hint = "{fix}"


class OnlyAtStart(Kind):
    """The agent reads a project's hooks only in the folder that it is started in.

    Started in a folder below the project's root, it finds no hook of the project, and says nothing of it. A
    user's entries are read wherever it is started, and the bridge finds the project's hooks from any folder.
    """

    code = "HP823"
    severity = "note"
    message = "{agent} runs these hooks only where it is started in the project's root, not in a folder below"
    hint = "`hookport sync --scope user --mode bridge` holds in every folder; `hookport unsync` first."


class ContextUnread(Kind):
    """The hook may tell the model something, and the agent passes on nothing that a hook prints there.

    The hook runs, and what it prints is lost: on a prompt, when a session begins, or after a tool. A guard on
    the same event still denies where the agent obeys one.
    """

    code = "HP824"
    severity = "loss"
    effect = "changed"
    message = "the context that '{name}' adds does not reach the model in {agent}: {reason}"
    hint = "`hookport matrix` shows where each agent can be told something."


class PackageUnseen(Kind):
    """The entries run in a Python that does not see the package of the dialect.

    They see the packages that are installed with hookport. They ignore PYTHONPATH and the user's packages,
    so that no project can put code in their place.
    """

    code = "HP825"
    severity = "error"
    message = "entries cannot use '{dialect}': its package is in {folder}, which they do not see"
    hint = "Install the package where hookport is installed, or use `hookport sync --vendor`."


class FieldUnsent(Kind):
    """The hook reads a field of its payload that the agent does not send, and finds a constant there.

    A guard that acts only in one permission mode, or on what the transcript says, has nothing to go by in
    such an agent. Where hookport knows nothing it fills in what scripts of the hook's format expect: the mode
    `default`, and no transcript.
    """

    code = "HP826"
    severity = "loss"
    effect = "changed"
    message = "'{name}' reads {field}, which {agent} does not send{when}"
    hint = "Let the hook decide without {field}, or as it would in the strictest case."


class ShellVariablesUnread(Kind):
    """The hook sets variables for the agent's shell, in a file that only its own agent reads.

    The file is there and the hook can write to it, so it does not fail. No command that the agent runs has
    the variables.
    """

    code = "HP827"
    severity = "loss"
    effect = "changed"
    message = "the variables that '{name}' writes to ${variable} do not reach the commands of {agent}"
    hint = "Set them where the agent's shell finds them, such as the profile of your shell."


class TranscriptDiffers(Kind):
    """The hook reads the transcript, and the agent's has another form than the hook expects.

    hookport writes a copy in Claude Code's form for hooks that expect that one, of the transcripts whose form
    it knows. Any other hook is given the agent's own file, and finds other records in it.
    """

    code = "HP828"
    severity = "loss"
    effect = "changed"
    message = "the transcript of {agent} has another form than '{name}' expects"
    hint = "Let the hook read what its payload says, such as the last message, instead of the file."


class RunsWider(Kind):
    """The agent reads the file that the hook is in, and has no `if`: it runs the hook on every call there.

    The installed entry keeps to the rule, and the stricter answer counts: a guard denies more than it is for.
    `hookport sync --adopt` leaves the hook to the entry, as for HP822.
    """

    code = "HP829"
    severity = "loss"
    message = "{agent} also reads {file} and has no `if`, so this hook runs on every call of its tools there"
    hint = "{fix}"


class NotRunHere(Kind):
    """The hook does not run in an agent that is used here.

    Neither does the agent load the file that the hook is in, nor does an entry of hookport run it there. What
    does not run looks exactly like what approves, so this is an error also where the hook only watches.
    """

    code = "HP830"
    severity = "error"
    effect = "dropped"
    message = "{names} {verb} not run in {agent}: {reason}"
    hint = "{fix}"


class AgentSkips(Kind):
    """The hooks are approved here, and the agent skips them: it wants an approval of its own.

    It says nothing of it when it runs without a person. `hookport trust --agents` writes that approval too.
    """

    code = "HP831"
    severity = "error"
    message = "{agent} skips {count} until it trusts them itself"
    hint = "Run `hookport trust --agents`."


class CopyRuns(Kind):
    """The hook starts the same script as one in another agent's file, and each has its own entry.

    In native mode an agent runs every entry, so that the script runs twice for one call. The bridge knows
    copies and runs the one that was written for the agent, or the strictest.
    """

    code = "HP832"
    severity = "loss"
    message = "'{name}' starts the same script as {other}, and {agent} runs both"
    hint = "Run `hookport sync --agent {agent} --mode bridge`."


class ServesNoMore(Kind):
    """Entries of the bridge in the user's own file run the hooks of every project, each by itself does not.

    Where they are replaced, hooks of other projects no longer run in folders below a project's root, in
    folders that the agent does not trust, and in agents that read no hooks of a project.
    """

    code = "HP833"
    severity = "loss"
    message = "the entries of {agent} that ran the hooks of every project are replaced"
    hint = "Run `hookport sync --agent {agent} --scope user --mode bridge` to bring them back."


class NotAsApproved(Kind):
    """A hook is new, changed or gone since it was approved, or since `hookport.lock` was written.

    A blocking hook that was approved and is changed or gone denies every call that it would have seen. Where
    nobody's own approval is known, as in CI, the lock in the project stands for it.
    """

    code = "HP840"
    severity = "error"
    message = "{name} is {what} since {since}"
    hint = "Look at it and approve it with `hookport trust`; commit hookport.lock."


class ApprovedGone(Kind):
    """A hook that was approved is not there any more, so every call that it would have seen is denied.

    Only the user can say that it is meant to be gone: `hookport trust` shows it and asks.
    """

    code = "HP841"
    severity = "error"
    message = "hook '{name}' was approved and does not run: {why}"
    hint = "Bring it back, or run `hookport trust` if it is meant to be gone."


class ApprovalUnknown(Kind):
    """Hooks of this project were approved, and what was approved can no longer be read.

    `HOOKPORT_TRUSTED_LOCK` names a `hookport.lock` that is not the one in the project, or the user's
    approvals are damaged. Every call that a guard could be for is denied.
    """

    code = "HP844"
    severity = "error"
    message = "what was approved for this project is unknown: {why}"
    hint = "Restore the file, or look at the hooks and approve them with `hookport trust`."


class HookPaused(Kind):
    """A hook does not run, because its user paused it with `hookport pause`; that is over by itself."""

    code = "HP842"
    severity = "loss"
    message = "{what} is paused until {until}, and denies nothing meanwhile"
    hint = "`hookport pause --end` ends it."


class NotCovered(Kind):
    """An approval does not cover everything that a hook runs or reads, as far as hookport can tell.

    Such a file may change, and the hook with it, without anybody being asked: a program on the PATH, a
    package, a file that the hook itself writes, a path that is computed. A project can name files with
    `covers` in the hook's own file or in `.hookport/config.json`.
    """

    code = "HP843"
    severity = "note"
    message = "hook '{name}': not covered by an approval: {what}"
    hint = "Name files that matter with `covers` in the hook's file or in .hookport/config.json."
