"""Changes a tool's input as a script answered, in the form of the calling agent.

A rewrite is an edit: fields that a script omits or repeats stay as the agent wrote them.
"""

from __future__ import annotations

from hookport.model.runs import Call
from hookport.wire.events import (
    as_list,
    expand_call,
    find_batch,
    find_fields,
    find_patch_field,
    find_wrapped,
    infer_wire,
    list_elements,
    read_input,
    rename_fields,
    takes_patch,
    write_element,
    write_input,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookport.base.tree import Tree
    from hookport.wire.table import Wire

# Fields that make a call of a tool what it is, and are texts.
WHOLE = {"file_write": ("path", "content"), "file_edit": ("path", "old", "new"), "shell": ("command",)}
# Fields that let a call do more than it could: a script whose rewrite is the whole input and leaves them out
# takes them away, which is the stricter reading (Claude Code 2.1.325: the Bash tool).
PRIVILEGES = ("dangerouslyDisableSandbox",)


def change_input(
    wire: Wire, call: Call, native: str, raw: Mapping[str, Tree], *, is_own: bool
) -> dict[str, Tree] | None:
    """The input of a call after the rewrite of a script that saw it as its own `native` tool.

    A rewrite is an edit: fields that it omits or repeats stay unchanged. Empty if nothing changes, None if
    the result is not one call of the same tool.
    """
    if is_own:
        wire = infer_wire(wire, call)
    shown = call.raw if is_own else write_input(wire, call.tool, native, call.input)
    removed = _find_removed(wire, call.tool, shown, raw)
    edited_raw = _edit_raw(wire, call.tool, native, shown, raw)
    for key in removed:
        del edited_raw[key]
    if is_own:
        return {} if edited_raw == shown else _read_own_input(wire, call.tool, native, edited_raw)
    before, after = (
        _read_single_input(wire, call.tool, native, tool_input) for tool_input in (shown, edited_raw)
    )
    if before is None or after is None:
        return None
    changes = {key: value for key, value in after.items() if key not in before or before[key] != value}
    if not changes and not removed:
        return {}
    edited = edit_input(call, changes)
    return edited if edited is None else {key: value for key, value in edited.items() if key not in removed}


def edit_input(call: Call, changes: Mapping[str, Tree]) -> dict[str, Tree] | None:
    """The input of a call with some fields changed; None if the changes contradict each other.

    A call with one edit has it in `old` and `new`, a patch has its first one there and all in `edits`.
    """
    if any(key in changes and not isinstance(changes[key], str) for key in WHOLE.get(call.tool, ())):
        return None
    was, edited = call.input, {**call.input, **changes}
    texts = {key: changes[key] for key in ("old", "new") if key in changes}
    edits = changes.get("edits")
    if "edits" in changes and not ("edits" in was or {"old", "new"} & set(was)):
        return edited
    if "edits" in changes and "edits" not in was:
        # The call has a single edit: the list must hold exactly that one.
        if not (isinstance(edits, list) and len(edits) == 1 and isinstance(edits[0], dict)):
            return None
        del edited["edits"]
        is_torn = any(edits[0].get(key, text) != text for key, text in texts.items())
        return None if is_torn else {**edited, **edits[0]}
    old_edits = edited.get("edits")
    if texts and isinstance(old_edits, list) and old_edits and isinstance(old_edits[0], dict):
        first = {**old_edits[0], **texts}
        if "edits" in changes and first != old_edits[0]:
            return None
        edited["edits"] = [first, *old_edits[1:]]
    return edited


def _find_removed(wire: Wire, tool: str, shown: Tree, raw: Mapping[str, Tree]) -> list[str]:
    """The keys that a rewrite removes by leaving them out, where the dialect takes it as the whole input."""
    if not raw or not isinstance(shown, dict) or tool in wire.merges or "*" in wire.merges:
        return []
    return [key for key in PRIVILEGES if key in shown and key not in raw]


def _edit_raw(wire: Wire, tool: str, native: str, shown: Tree, raw: Mapping[str, Tree]) -> dict[str, Tree]:
    """The input that a script saw with its changes; another name of a field replaces the field."""
    if not isinstance(shown, dict):
        return dict(raw)
    groups = [list(as_list(fields)) for fields in find_fields(wire, tool, native).values()]
    if native in wire.batches:
        groups.append(list(find_batch(wire, native)[0]))
    replaced = [group for group in groups if any(name in raw for name in group)]
    return {
        **{key: value for key, value in shown.items() if not any(key in group for group in replaced)},
        **raw,
    }


def _read_own_input(wire: Wire, tool: str, native: str, raw: Tree) -> dict[str, Tree] | None:
    """Read the agent's own input into canonical terms; None if it must be a patch and is none."""
    plain = read_input(wire, tool, native, raw)
    if not takes_patch(wire, native, raw):
        return plain
    expanded = expand_call(wire, Call(tool, native, input=plain, raw=raw))
    return dict(expanded.input) if expanded.parts else None


def _read_single_input(wire: Wire, tool: str, native: str, raw: Tree) -> dict[str, Tree] | None:
    """Read a script's input into canonical terms as one call of the tool; None if it is not exactly one."""
    plain = read_input(wire, tool, native, raw)
    if not takes_patch(wire, native, raw) and native not in wire.batches:
        return plain
    expanded = expand_call(wire, Call(tool, native, input=plain, raw=raw))
    if len(expanded.parts) != 1 or expanded.parts[0].tool != tool:
        return None
    return dict(expanded.parts[0].input)


def rewrite_call(wire: Wire, call: Call, canonical: Mapping[str, Tree]) -> Call:
    """The agent's own call with a new input, in both forms."""
    wire = infer_wire(wire, call)
    raw = write_input(wire, call.tool, call.native, canonical)
    if takes_patch(wire, call.native, call.raw) and isinstance(raw, dict) and isinstance(call.raw, dict):
        field = find_patch_field(wire, call)
        raw = {**call.raw, field: raw[wire.patches[call.native]]}
    if key := find_wrapped(wire, call.raw):
        raw = {**call.raw, key: raw}
    changed = call.replace(input=dict(canonical), raw=raw, parts=())
    return changed if call.mcp_tool else expand_call(wire, changed)


def rewrite_part(wire: Wire, call: Call, number: int, canonical: Mapping[str, Tree]) -> Call:
    """The agent's own call with a new input for one of its parts."""
    wire = infer_wire(wire, call)
    parts = list(call.parts)
    parts[number] = parts[number].replace(input=dict(canonical))
    if takes_patch(wire, call.native, call.raw):
        from hookport.wire import patch

        if "moved_from" in call.parts[number].input:
            parts[number - 1 : number + 1] = [_move_part(parts[number - 1], parts[number])]
        text = patch.render([{"tool": part.tool, **part.input} for part in parts])
        field = find_patch_field(wire, call)
        raw = {**(call.raw if isinstance(call.raw, dict) else {}), field: text} if field else text
    elif call.native in wire.batches:
        fields, plain = find_batch(wire, call.native)
        elements = list(list_elements(fields, call.raw))
        # An object keeps the fields that it has beside the one that is plain text elsewhere.
        is_plain = set(canonical) == {plain} or not isinstance(elements[number], dict)
        element_form = write_element if is_plain else rename_fields
        elements[number] = element_form(wire, call.tool, call.native, canonical)
        has_list = isinstance(call.raw, dict) and any(field in call.raw for field in fields)
        other_fields = (
            {key: value for key, value in call.raw.items() if key not in fields} if has_list else {}
        )
        is_object = any(isinstance(call.raw.get(field), dict) for field in fields) if has_list else False
        raw = {**other_fields, fields[0]: elements[0] if is_object else elements}
    else:
        shared = {key: value for key, value in canonical.items() if key in call.input}
        edits = [_as_edit(part, shared) for part in parts]
        raw = write_input(wire, call.tool, call.native, {**call.input, **shared, "edits": edits})
    return expand_call(wire, call.replace(raw=raw, input=read_input(wire, call.tool, call.native, raw)))


def _move_part(source: Call, target: Call) -> Call:
    """The part of a patch that moves a file, with the edits made at its new place."""
    edited = {key: target.input[key] for key in ("edits", "old", "new") if key in target.input}
    return source.replace(input={**source.input, **edited, "moved_to": target.input.get("path")})


def _as_edit(part: Call, shared: Mapping[str, Tree]) -> dict[str, Tree]:
    """The part as an element of a list of edits."""
    if part.tool == "file_write":
        return {"old": "", "new": part.input.get("content", "")}
    return {key: value for key, value in part.input.items() if key not in shared}
