"""How values are spelled in payloads: each spelling reads into plain text or data and writes back."""

from __future__ import annotations

import time

from hookport.model.json_text import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hookport.base.tree import Tree


def _from_json(value: Tree) -> Tree:
    try:
        return loads(value)
    except (TypeError, ValueError, RecursionError):
        return value


def _to_json(value: Tree) -> Tree:
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_strings(value: Tree) -> Tree:
    """Values that are all strings; a string that is not a JSON list or object stays a string."""
    if not isinstance(value, dict):
        return value
    return {key: _from_json(text) if str(text)[:1] in ("[", "{") else text for key, text in value.items()}


def _to_strings(value: Tree) -> Tree:
    return {key: _to_json(item) for key, item in value.items()} if isinstance(value, dict) else value


def _from_ms(value: Tree) -> Tree:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    try:
        return format_time(value / 1000)
    except (ValueError, OverflowError, OSError):  # a moment that no calendar has
        return value


def _to_ms(value: Tree) -> Tree:
    """The number, from a text such as 2026-11-16T00:10:27.283Z; other texts stay unchanged."""
    import calendar

    try:
        date, _, rest = value.rstrip("Z").partition(".")
        seconds = calendar.timegm(time.strptime(date, "%Y-%m-%dT%H:%M:%S"))
        return seconds * 1000 + int((rest + "000")[:3])
    except (AttributeError, ValueError):
        return value


def _from_parts(value: Tree) -> Tree:
    """The text of a message that is a list of content parts."""
    if not isinstance(value, list):
        return value
    return "\n".join(
        part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def _to_parts(value: Tree) -> Tree:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def _take_first(value: Tree) -> Tree:
    if not isinstance(value, list):
        return value
    return value[0] if value else None


def _from_message(value: Tree) -> Tree:
    """The text of a message with a role."""
    return _from_parts(value.get("content")) if isinstance(value, dict) else value


def _from_results(value: Tree) -> Tree:
    """The texts of a list with a result or an error per action."""
    if not isinstance(value, list):
        return value
    texts = [result.get("result") or result.get("error") for result in value if isinstance(result, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _to_lines(value: Tree) -> Tree:
    """An object as lines, one for each of its fields."""
    return "\n".join(f"{key}: {item}" for key, item in value.items()) if isinstance(value, dict) else value


def _take_file_name(value: Tree) -> Tree:
    """The last part of a path, on any system."""
    return value.replace("\\", "/").rpartition("/")[2] if isinstance(value, str) else value


def _to_number(value: Tree) -> Tree:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _to_seconds(value: Tree) -> Tree:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return round(value / 1000) if is_number else value


def _from_seconds(value: Tree) -> Tree:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value * 1000 if is_number else value


def _join_words(value: Tree) -> Tree:
    """The line of a command given word by word; the text of a shell's `-c` is the line itself."""
    import shlex

    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return value
    program = value[0].rpartition("/")[2] if value else ""
    is_shell = program in ("sh", "bash", "zsh", "dash") and len(value) == 3 and value[1] in ("-c", "-lc")
    return value[2] if is_shell else shlex.join(value)


SPELLINGS: dict[str, tuple[Callable[[Tree], Tree], Callable[[Tree], Tree]]] = {
    "json": (_from_json, _to_json),
    "strings": (_from_strings, _to_strings),
    "ms": (_from_ms, _to_ms),
    "parts": (_from_parts, _to_parts),
    "list": (_take_first, lambda value: [value]),
    "results": (_from_results, lambda value: value),
    "message": (_from_message, lambda value: {"role": "assistant", "content": value}),
    # A number of times, of which only whether there were any matters.
    "count": (lambda value: value > 0 if type(value) is int else value, lambda value: int(value is True)),
    "lines": (_to_lines, _to_lines),
    "name": (_take_file_name, lambda value: value),
    "number": (lambda value: str(value) if type(value) is int else value, _to_number),
    # Milliseconds in canonical terms.
    "seconds": (_from_seconds, _to_seconds),
    "argv": (_join_words, lambda value: ["/bin/sh", "-c", value] if isinstance(value, str) else value),
    "loose": (_from_json, lambda value: value),
}


def format_time(seconds: float) -> str:
    """A moment as text, to the millisecond, in UTC."""
    ms = round(seconds * 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(ms // 1000))}.{ms % 1000:03d}Z"


def get(payload: Tree, place: str) -> Tree:
    """The value at a place in plain spelling (an empty path is the whole payload); None if missing."""
    path, _, spelling = place.partition(":")
    value = payload
    for key in path.split(".") if path else ():
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return SPELLINGS[spelling][0](value) if spelling else value


def has_mark(payload: Tree, mark: str) -> bool:
    """Whether a place has a value, or, with a mark `place=text`, a value that contains the text."""
    place, _, text = mark.partition("=")
    value = get(payload, place)
    return value is not None and text in str(value)


def put(payload: dict[str, Tree], place: str, value: Tree) -> None:
    """Write a value at a place, in the place's spelling."""
    path, _, spelling = place.partition(":")
    *way, last = path.split(".")
    for key in way:
        inner = payload.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        payload = inner
    payload[last] = SPELLINGS[spelling][1](value) if spelling else value


def fill(template: Tree, words: dict[str, Tree]) -> Tree:
    """A tree with each text `$name` replaced by its value, without the keys whose value is None."""
    if isinstance(template, str):
        return words.get(template[1:], template) if template[:1] == "$" else template
    if isinstance(template, dict):
        filled = {key: fill(value, words) for key, value in template.items()}
        return {key: value for key, value in filled.items() if value is not None or template[key] is None}
    if isinstance(template, (list, tuple)):
        return [fill(value, words) for value in template]
    return template


def merge_trees(under: Tree, over: Tree) -> Tree:
    """Merge two trees; where both have a value, `over` wins."""
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {
        **under,
        **{key: merge_trees(under[key], value) if key in under else value for key, value in over.items()},
    }


def subtract_tree(tree: dict[str, Tree], known_tree: dict[str, Tree]) -> dict[str, Tree]:
    """The values of a tree that `known_tree` does not equal."""
    rest: dict[str, Tree] = {}
    for key, value in tree.items():
        if key not in known_tree:
            rest[key] = value
        elif value is known_tree[key]:
            continue  # not searched, however deep
        elif isinstance(value, dict) and isinstance(known_tree[key], dict):
            inner = subtract_tree(value, known_tree[key])
            if inner or not value:
                rest[key] = inner
        elif not is_same(value, known_tree[key]):
            rest[key] = value
    return rest


def find_missing(tree: dict[str, Tree], known_tree: Tree) -> list[tuple[str, ...]]:
    """The paths that a tree has and `known_tree` does not."""
    ways: list[tuple[str, ...]] = []
    for key, value in tree.items():
        if key not in known_tree:
            ways.append((key,))
        elif value is not known_tree[key] and isinstance(value, dict) and isinstance(known_tree[key], dict):
            ways += [(key, *way) for way in find_missing(value, known_tree[key])]
    return ways


def drop_path(tree: Tree, way: tuple[str, ...]) -> Tree:
    """A tree without the value at a path."""
    key, *rest = way
    if not isinstance(tree, dict) or key not in tree:
        return tree
    if rest:
        return {**tree, key: drop_path(tree[key], tuple(rest))}
    return {name: value for name, value in tree.items() if name != key}


def is_same(tree: Tree, other_tree: Tree) -> bool:
    """Equality that distinguishes 1, 1.0 and true."""
    return type(tree) is type(other_tree) and tree == other_tree
