"""HP80x to HP84x: how agents treat the hooks installed for them."""

from __future__ import annotations

from hookport.findings.kinds import Kind


class LedgerBroken(Kind):
    """hookport cannot read a file of its ledger.

    The ledger records what hookport wrote into the agents' files. The record in this one file is lost: its
    run cannot be undone, or the exact former bytes of its file are unknown. hookport still recognises the
    entries by the command they run.
    """

    code = "HP800"
    severity = "error"
    message = "cannot read this ledger file: {why}"
    hint = "Delete this file; `hookport unsync` still removes the entries."


class EntryTwice(Kind):
    """The agent reads hookport's entries in two places, so each hook runs twice.

    Of two bridge entries, one in the project's file and one in the user's, only the first runs the hooks of
    a call. Two entries in files of one scope both run them, and so does an entry for one hook beside one
    for all.
    """

    code = "HP811"
    severity = "loss"
    message = "{agent} reads entries of hookport here and in {other}: hooks run twice"
    hint = "Remove one of them: `hookport unsync --scope user` or `--scope project`."


class NoPlaceThere(Kind):
    """The agent reads no hooks of this scope: some agents read only a project's hooks, or only a user's."""

    code = "HP812"
    severity = "error"
    message = "{agent} reads no hooks of a {scope}, so nothing was installed for it"
    hint = "Use `--scope {other} --mode bridge`: it runs the hooks of both."


class NeverFires(Kind):
    """The agent has no event for the hook, so the hook never runs there."""

    code = "HP813"
    severity = "error"
    effect = "dropped"
    message = "{names} never {verb} in {agent}: {reason}"
    hint = "`hookport matrix {agent}` lists the events that it has."


class OnlyAdvises(Kind):
    """The hook runs, but its deny has no effect: the agent ignores denies on that event."""

    code = "HP814"
    severity = "loss"
    effect = "changed"
    message = "'{name}' cannot block in {agent}: {reason}"
    hint = "`hookport matrix --capability block` shows where each agent obeys a deny."


class OnlyByBridge(Kind):
    """The hook is not a command, so only the bridge can run it in every agent and recognise it later."""

    code = "HP815"
    severity = "loss"
    effect = "dropped"
    message = "'{name}' was not installed for {agent}: native mode installs only commands, not {type}"
    hint = "Use `--mode bridge`."


class NotSynced(Kind):
    """hookport cannot edit the agent's file without risk to its content, so the file is unchanged."""

    code = "HP816"
    severity = "error"
    effect = "dropped"
    message = "{message}. Nothing was written for {agent}"
    hint = "Correct the file and run `hookport sync` again."


class Drifted(Kind):
    """The entries in the agent's file do not match its current hooks."""

    code = "HP817"
    severity = "error"
    message = "the entries for {agent} are {state}"
    hint = "Run `hookport sync`."


class OfThisMachine(Kind):
    """The entries name the Python of this machine, but the file belongs to the project.

    On other machines this path does not exist: guards deny, and other hooks do not run.
    """

    code = "HP818"
    severity = "note"
    message = "the entries name the Python of this machine; use --vendor to share the project"


class TwoAgentsRead(Kind):
    """Another agent reads the file too, and hooks cannot tell the two apart, so they run in both."""

    code = "HP819"
    severity = "loss"
    message = "{other} reads this file of {agent} too, and a hook cannot tell which of the two runs it"
    hint = "Install for one of the two, or disable the file in the settings of {other}."


class NotApproved(Kind):
    """The bridge runs a project's hook only after its user approved it, and these are not approved yet.

    Until then the hooks do not run, and the agent gets a notice.
    """

    code = "HP820"
    severity = "loss"
    message = "not approved yet, so not run: {names}"
    hint = "Review and approve them with `hookport trust`."


class NotGuarded(Kind):
    """The agent runs natively installed hooks itself, without hookport.

    Approval and self-protection work only through the bridge. A changed script runs changed, and an agent
    may edit it. Only the bridge (`--mode bridge`) runs a project's hooks as they were approved.
    """

    code = "HP821"
    severity = "note"
    message = "installed natively, so neither approval nor self-protection applies: {agents}"
    hint = "Use --mode bridge where that matters."


class RunsBesides(Kind):
    """The agent also reads the hook's own file, but the hook has less effect there.

    Agents read other agents' files with other tool names, fields and answers: a guard on files or MCP tools
    may not recognise the call, or may not run. So hookport installs the hook as well. Where the agent also
    runs it from that file, it runs twice, and the stricter answer wins.

    `hookport sync --adopt` ends that. It puts a test before the command in the file: if this agent runs the
    command, and an installed entry of hookport runs the same hook there, the command exits at once. If the
    entry is missing, was changed or starts a missing hookport, or if the hook is not approved, the command
    runs as before, so the test never weakens a guard. `hookport unsync` and `hookport undo` remove it.
    """

    code = "HP822"
    severity = "loss"
    message = (
        "{agent} also reads {file}, where this hook has less effect; installed anyway, so it may run twice"
    )
    hint = "{fix}"


class OnlyAtStart(Kind):
    """The agent reads a project's hooks only in the folder that it starts in.

    Started in a folder below the project root, it finds no hook of the project and does not report that. It
    reads a user's entries in every folder, and the bridge finds the project's hooks from any of them.
    """

    code = "HP823"
    severity = "note"
    message = "{agent} runs these hooks only when started in the project root, not in a folder below"
    hint = "Run `hookport unsync`, then `hookport sync --scope user --mode bridge`: it works in every folder."


class ContextUnread(Kind):
    """The hook may add context, but the agent ignores a hook's output on this event.

    The hook runs, and its context is lost: on a prompt, at the start of a session, or after a tool. A guard
    on the same event still denies if the agent obeys denies there.
    """

    code = "HP824"
    severity = "loss"
    effect = "changed"
    message = "the context that '{name}' adds does not reach the model in {agent}: {reason}"
    hint = "`hookport matrix --capability context` shows where each agent accepts context."


class PackageUnseen(Kind):
    """The Python of the entries does not see the dialect's package.

    Entries see the packages that are installed with hookport. They ignore PYTHONPATH and the user's packages,
    so that no project can replace code.
    """

    code = "HP825"
    severity = "error"
    message = "entries cannot use '{dialect}': they do not see its package in {folder}"
    hint = "Install the package where hookport is installed, or use `hookport sync --vendor`."


class FieldUnsent(Kind):
    """The hook reads a payload field that the agent does not send, and gets a constant instead.

    A guard that acts only in one permission mode, or on the transcript's content, cannot work in such an
    agent. hookport fills in what scripts of the hook's format expect: the mode `default`, and no transcript.
    """

    code = "HP826"
    severity = "loss"
    effect = "changed"
    message = "'{name}' reads {field}, which {agent} does not send{when}"
    hint = "Make the hook decide without {field}, or as in the strictest case."


class ShellVariablesUnread(Kind):
    """The hook sets variables for the agent's shell, in a file that only its own agent reads.

    The file exists and the hook can write to it, so the hook does not fail. The agent's commands do not get
    the variables.
    """

    code = "HP827"
    severity = "loss"
    effect = "changed"
    message = "the variables that '{name}' writes to ${variable} do not reach the commands of {agent}"
    hint = "Set them where the agent's shell reads them, such as your shell's profile."


class TranscriptDiffers(Kind):
    """The hook reads the transcript, and the agent's transcript has another format than the hook expects.

    hookport translates between the formats that it knows ([transcripts](transcripts.md) lists them). It does
    not know this agent's format, or cannot write the one that the hook expects, so the hook gets the agent's
    own file.
    """

    code = "HP828"
    severity = "loss"
    effect = "changed"
    message = "the transcript of {agent} has another format than '{name}' expects"
    hint = "Make the hook read its payload instead, for example the last message."


class RunsWider(Kind):
    """The agent reads the hook's own file but has no `if`, so it runs the hook on every call there.

    The installed entry follows the rule, and the stricter answer wins: a guard denies more than intended.
    `hookport sync --adopt` leaves the hook to the entry, as for HP822.
    """

    code = "HP829"
    severity = "loss"
    message = "{agent} also reads {file} and has no `if`, so this hook runs on every call of its tools there"
    hint = "{fix}"


class NotRunHere(Kind):
    """The hook does not run in an agent that is used here.

    The agent does not load the hook's own file, and no entry of hookport runs it there. A hook that does
    not run looks exactly like a hook that approves, so this is an error even if the hook only watches.
    """

    code = "HP830"
    severity = "error"
    effect = "dropped"
    message = "{names} {verb} not run in {agent}: {reason}"
    hint = "{fix}"


class AgentSkips(Kind):
    """The hooks are approved in hookport, but the agent skips them: it requires its own approval.

    The agent does not report this when it runs without a person. `hookport trust --in-agents` also writes the
    agent's own approval.
    """

    code = "HP831"
    severity = "error"
    message = "{agent} skips {count} until its own approval covers them"
    hint = "Run `hookport trust --in-agents`."


class CopyRuns(Kind):
    """The hook starts the same script as a hook in another agent's file, and each has its own entry.

    In native mode an agent runs every entry, so the script runs twice for one call. The bridge recognises
    copies and runs the one written for the agent, or the strictest.
    """

    code = "HP832"
    severity = "loss"
    message = "'{name}' starts the same script as {other}, and {agent} runs both"
    hint = "Run `hookport sync --agent {agent} --mode bridge`."


class ServesNoMore(Kind):
    """Bridge entries in the user's own file run the hooks of every project; native entries do not.

    After replacing them, hooks of other projects no longer run in folders below a project root, in folders
    that the agent does not trust, and in agents that read no project hooks.
    """

    code = "HP833"
    severity = "loss"
    message = "the entries of {agent} that ran the hooks of every project are replaced"
    hint = "Run `hookport sync --agent {agent} --scope user --mode bridge` to bring them back."


class NotAsApproved(Kind):
    """A hook is new, changed or gone since its approval, or since `hookport.lock` was written.

    A blocking hook that was approved and is now changed or gone denies every call that it would have seen.
    Without an own approval, as in CI, the project's lock counts.
    """

    code = "HP840"
    severity = "error"
    message = "{name} is {what} since {since}"
    hint = "Review and approve it with `hookport trust`, then commit hookport.lock."


class ApprovedGone(Kind):
    """An approved hook no longer exists, so every call that it would have seen is denied.

    Only the user can confirm that it should be gone: `hookport trust` shows it and asks.
    """

    code = "HP841"
    severity = "error"
    message = "hook '{name}' was approved and does not run: {why}"
    hint = "Restore it, or run `hookport trust` if it should be gone."


class ApprovalUnknown(Kind):
    """Hooks of this project were approved, but the approval can no longer be read.

    `HOOKPORT_TRUSTED_LOCK` names a `hookport.lock` that is not the project's, or the user's approvals are
    damaged. hookport denies every call that a guard could match.
    """

    code = "HP844"
    severity = "error"
    message = "the approvals of this project are unknown: {why}"
    hint = "Restore the file, or review and approve the hooks with `hookport trust`."


class HookPaused(Kind):
    """A hook does not run, because its user paused it with `hookport pause`. The pause ends by itself."""

    code = "HP842"
    severity = "loss"
    message = "{what} is paused until {until}, and denies nothing until then"
    hint = "`hookport pause --end` ends it now."


class NotCovered(Kind):
    """hookport knows that the approval does not cover everything that a hook runs or reads.

    Such a file may change, and with it the hook, without asking anybody: a program on the PATH, a package, a
    file that the hook itself writes, a computed path. A project can name files with `covers` in the hook's
    own file or in `.hookport/config.json`.
    """

    code = "HP843"
    severity = "note"
    message = "hook '{name}': its approval does not cover {what}"
    hint = "Name important files with `covers` in the hook's file or in .hookport/config.json."
