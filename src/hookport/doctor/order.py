"""The gates that a hook passes on its way to an effect, in order, and the gate of each finding."""

from __future__ import annotations

from hookport import findings as f
from hookport.findings import Kind

FOUND, RECOGNISED, ENABLED, LOADED, TRUSTED = "found", "recognised", "enabled", "loaded", "trusted"
APPROVED, FIRES, MATCHES, STARTS, OBEYED = "approved", "fires", "matches", "starts", "obeyed"
_ABOUT: dict[str, tuple[type[Kind], ...]] = {
    FOUND: (f.Misplaced, f.WrongScope, f.FolderPassedOver, f.ReadElsewhere, f.NoHookFile),
    RECOGNISED: (
        f.UnreadableFile,
        f.SourceBroken,
        f.FileDropped,
        f.UnknownEvent,
        f.DuplicateKey,
        f.BadSettings,
        f.HookOverridden,
        f.FileShadowed,
        f.EntryMissing,
    ),
    ENABLED: (f.HooksOff, f.HookSwitchedOff, f.HookDisabled, f.DisabledHook, f.HookPaused),
    LOADED: (
        f.NotRunHere,
        f.NoBridge,
        f.NotSynced,
        f.Drifted,
        f.BridgeBroken,
        f.BridgeForeign,
        f.BridgeLacks,
        f.BridgeMissing,
        f.BridgeDiffers,
        f.BridgeStale,
        f.EntrySilent,
        f.PackageUnseen,
        f.CodeChanged,
    ),
    TRUSTED: (f.FolderUntrusted, f.HookUntrusted, f.TrustUnseen),
    APPROVED: (f.ApprovalUnknown, f.ApprovedGone, f.BridgeUnlocked, f.NotApproved, f.NotAsApproved),
    FIRES: (f.NeverFires, f.EventNotThere, f.EventUnfired),
    MATCHES: (f.NeverRuns, f.NoKnownTool, f.UnknownTool, f.ToolGone),
    STARTS: (
        f.ScriptMissing,
        f.ScriptNotExecutable,
        f.NoShebang,
        f.ProgramMissing,
        f.RelativeScript,
        f.WindowsLineEnds,
        f.ScriptSyntax,
        f.NeedMissing,
        f.ScriptEmpty,
        f.NoCommandHere,
        f.CommandBroken,
        f.WordNotExpanded,
        f.MarkBeforeShebang,
        f.ShebangWords,
        f.AddressRefused,
        f.ModelNotSet,
        f.KeepsFailing,
        f.EntryCannotStart,
        f.EntryNotExecutable,
        f.TimeoutTooShort,
        f.TimeoutNever,
        f.SuspiciousTimeout,
        f.GuardCutShort,
    ),
    OBEYED: (f.DenyNotObeyed, f.OnlyAdvises, f.BlocksNothing),
}
_GATE = {kind.code: gate for gate, kinds in _ABOUT.items() for kind in kinds}


def find_gate(code: str, agent: str) -> str:
    """The gate that a finding is about; for hookport itself, trust is the user's approval."""
    gate = _GATE.get(code, OBEYED)
    return APPROVED if gate == TRUSTED and not agent else gate


def is_about(code: str, agent: str, covered_by: str) -> bool:
    """Whether a finding, of an agent or of hookport itself, stops a hook that runs in a certain way.

    An agent's treatment of a file matters to the hooks that it loads from it, not to hooks run by an entry.
    Whether an entry exists and is approved follows from the entry.
    """
    gate = find_gate(code, agent)
    return gate in (MATCHES, STARTS) or (covered_by == "agent" and bool(agent))
