"""Fields that move into the command, because the target lacks them."""

from __future__ import annotations

import re

from hookport import findings as f
from hookport.agents import get_wire
from hookport.base.quoting import quote
from hookport.convert.degrade.work import Work, apply_strategy, can_block, change_commands, quote_powershell
from hookport.model.hooks import NOTHING
from hookport.shapes.dialect import find_variable, has_field
from hookport.shapes.entries import find_slots, quote_shell_word
from hookport.wire.table import FILE_PLACEHOLDER


def degrade_standing_script(work: Work) -> bool:
    """Drop a script that the target runs at its own path: a file that calls it would overwrite it."""
    if not work.target.shape.in_place:
        return True
    command = work.hook.handler.command.strip().rstrip("'\"")
    name = command.rpartition("/")[2]
    native = work.target.shape.in_place(work.target, name)
    folders = {place.path.removeprefix("~/").rpartition("/")[0] for place in work.target.locations}
    is_in_place = any(command.endswith(f"{folder}/{name}") for folder in folders)
    if is_in_place and native in {spec.native for spec, _ in find_slots(work.target, work.hook)}:
        work.note(f.StandsThere, script=name)
        return False
    return True


def degrade_background(work: Work) -> bool:
    handler = work.hook.handler
    if not handler.is_async or has_field(work.target, "is_async", handler.type):
        return True

    def warn(work: Work) -> bool:
        if handler.type == "command" and not work.hook.blocking and work.wraps:
            work.note(f.AsyncInBackground)
            work.options.append("--async")
        elif handler.type == "command" and not work.hook.blocking:
            work.note(f.AsyncInBackground)
            # A background command of a shell gets no input, so the payload uses another descriptor.
            change_commands(
                work, lambda command: f"{{ ( {close_command(command)}) <&3 3<&- >/dev/null 2>&1 & }} 3<&0"
            )
            if "windows" in handler.platform:
                work.note(f.WindowsAsync)
        else:
            work.note(f.AsyncDropped)
        work.change(is_async=False)
        if can_block(work) and not work.target.is_hub:
            work.hook = work.hook._replace(blocking=True)
        return True

    return apply_strategy(work, "async_execution", warn)


def close_command(command: str) -> str:
    """End a command so that a closing bracket may follow."""
    is_plain = re.fullmatch(r"[^#<\\\n]*[\w\"')/.}]", command)
    return f"{command}; " if is_plain else f"{command}\n"


def degrade_platform(work: Work) -> bool:
    handler = work.hook.handler
    lost = {name: command for name, command in handler.platform.items() if not has_field(work.target, name)}
    if not lost:
        return True

    def warn(work: Work) -> bool:
        command = handler.command
        unix = {name: text for name, text in lost.items() if name != "windows"}
        if unix:
            cases = {"osx": "Darwin", "linux": "Linux"}
            arms = {**{cases[name]: text for name, text in unix.items()}, "*": command}
            spelled = " ".join(
                f"({name}) {close_command(text).removesuffix('; ')} ;;" for name, text in arms.items()
            )
            command = f'case "$(uname -s)" in {spelled} esac'
            work.note(f.CarriedInCommand, what=f"the command for {' and '.join(unix)}")
        if "windows" in lost:
            work.note(f.PlatformDropped, platform="windows")
        remaining = {name: text for name, text in handler.platform.items() if name not in lost}
        work.change(command=command, platform=remaining or NOTHING)
        return True

    return apply_strategy(work, "platform_commands", warn)


def degrade_environment(work: Work) -> bool:
    handler = work.hook.handler
    if not handler.env or has_field(work.target, "env", handler.type):
        return True

    def warn(work: Work) -> bool:
        if any(not re.fullmatch(r"[A-Za-z_]\w*", name) for name in handler.env):
            bad = ", ".join(name for name in handler.env if not re.fullmatch(r"[A-Za-z_]\w*", name))
            work.note(f.FieldDropped, field=f"env {bad}")
        good = {name: value for name, value in handler.env.items() if re.fullmatch(r"[A-Za-z_]\w*", name)}
        if handler.type != "command":
            work.note(f.FieldDropped, field="env")
        elif good:
            settings = " ".join(f"{name}={quote(value)}" for name, value in good.items())
            work.note(f.CarriedInCommand, what="env")
            on_windows = " ".join(f"$env:{name} = {quote_powershell(value)};" for name, value in good.items())
            change_commands(
                work,
                lambda command: f"export {settings}; {command}",
                lambda command: f"{on_windows} {command}",
            )
        work.change(env=NOTHING)
        return True

    return apply_strategy(work, "custom_env", warn)


def degrade_directory(work: Work) -> bool:
    handler = work.hook.handler
    # Behind the bridge a command starts where its own dialect says, wherever the entry started the bridge
    # (measured on pi 0.87.1: the folder of the entry was lost).
    if not handler.cwd or (has_field(work.target, "cwd", handler.type) and not work.wraps):
        return True

    def warn(work: Work) -> bool:
        if handler.type != "command":
            work.note(f.FieldDropped, field="cwd")
        else:
            work.note(f.CarriedInCommand, what="cwd")
            root = work.target.project_dir[0] if work.target.project_dir else ""
            inside = not handler.cwd.startswith(("/", "~", "$"))
            path = (
                quote_shell_word(f"{root}/{handler.cwd}")
                if root and inside
                else quote_shell_word(handler.cwd)
            )
            if root.startswith("$(") and inside:
                path = f'"{root}"/{quote_shell_word(handler.cwd)}'
            change_directory = f"Set-Location -LiteralPath {quote_powershell(handler.cwd)}"
            change_commands(
                work,
                lambda command: f"cd {path} && {{ {close_command(command)}}}",
                lambda command: f"{change_directory}; {command}",
            )
        work.change(cwd="")
        return True

    return apply_strategy(work, "configurable_cwd", warn)


def degrade_placeholders(work: Work) -> bool:
    """Translate paths that start at the project's or the package's root."""
    source, target = work.source, work.target
    if work.hook.handler.type != "command" or work.is_prompt or work.is_home or target.is_hub:
        return True
    text = " ".join((work.hook.handler.command, *work.hook.handler.platform.values()))
    replaced: dict[str, str] = {}
    for role, spellings in (("project", source.project_dir), ("package", source.package_dir)):
        for spelling in sorted(spellings, key=len, reverse=True):
            if spelling not in text or not spelling.startswith(("$", "{")):
                continue
            if work.wraps and get_wire(source.id).env.get(find_variable(spelling)) == "$root":
                continue  # the bridge sets it
            root = _spell_root(work, role, spelling)
            if root is not None:
                replaced[spelling] = root
    fills = ["file placeholder" in dialect.wire.traits for dialect in (source, target)]
    if fills == [True, False] and FILE_PLACEHOLDER in text and not work.wraps:
        work.note(f.PlaceholderLost, placeholder=FILE_PLACEHOLDER, consequence="it stays empty")
    if replaced:
        pattern = re.compile(
            "|".join(re.escape(word) + r"(?!\w)" for word in sorted(replaced, key=len, reverse=True))
        )

        def translate(command: str) -> str:
            translated = pattern.sub(lambda match: replaced[match[0]], command)
            # A root that is the working directory needs no quotes.
            return translated.replace('"."/', "./") if "." in replaced.values() else translated

        change_commands(work, translate)
    return True


def _spell_root(work: Work, role: str, spelling: str) -> str | None:
    """Find the target's spelling of a source root, or of the next best root; None if it has neither."""
    target = work.target
    spellings = target.project_dir if role == "project" else target.package_dir
    # A root spelled as the working directory is wrong in another directory.
    if work.hook.handler.cwd and spellings[:1] == (".",):
        spellings = ()
    if spellings:
        if spellings[0] != spelling:
            work.note(f.PlaceholderTranslated, before=spelling, after=spellings[0])
        return spellings[0]
    kind = f.GuardPlaceholderLost if work.hook.blocking else f.PlaceholderLost
    if role == "package" and target.project_dir:
        root = target.project_dir[0]
        consequence = f"read as the project root {root}; put the package's files there"
        work.note(kind, placeholder=spelling, consequence=consequence)
        return root
    work.note(kind, placeholder=spelling, consequence="the command will not find its file")
    return None


# A script with a relative path, alone or after its interpreter.
_RELATIVE = re.compile(
    r"""((?:(?:ba|z|da)?sh|python3?|node|ruby|perl) +)?"""
    r"""(\./[^\s'"$;|&<>()`\\]+|[\w.-]+(?:/[\w.-]+)+)(?=\s|$)"""
)


def anchor_paths(work: Work) -> bool:
    """Anchor relative paths at the project root, so that they work in every working directory."""
    source, target, handler = work.source, work.target, work.hook.handler
    if (
        not (source.commands_start == "root" and target.commands_start == "moving" and target.project_dir)
        or (work.wraps and get_wire(source.id).starts_in != "cwd")
        or handler.type != "command"
        or work.is_prompt
        or handler.cwd
    ):
        return True

    def anchor(command: str) -> str:
        match = _RELATIVE.match(command)
        if not match:
            return command
        path = f'"{target.project_dir[0]}"/{match[2].removeprefix("./")}'
        work.note(f.PathAnchored, before=match[2], after=path)
        return f"{match[1] or ''}{path}{command[match.end() :]}"

    change_commands(work, anchor)
    return True
