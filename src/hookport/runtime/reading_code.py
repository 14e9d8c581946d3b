"""Whether code only reads, judged by its names."""

from __future__ import annotations

from hookport.runtime.effects import find_literals

CHANGING_CODE = (
    "open",
    "unlink",
    "rename",
    "system",
    "exec",
    "`",
    ">",
    "write",
    "File",
    "rm",
    "qx",
    "eval",
    "do ",
)


# Names that code which only reads may use; others may be anything.
SAFE_CODE = frozenset(
    """
    import from as with for in if else elif not and or is None True False print pprint def return lambda try
    except pass json sys os re pathlib Path path toml tomllib yaml load loads safe_load dumps dump_str open
    read read_text read_bytes readlines readline splitlines strip split join get keys values items len
    sorted list dict set tuple str int bool enumerate zip range any all min max sum exists isfile isdir
    is_file is_dir listdir stat st_size st_mtime st_mode getsize abspath realpath basename dirname resolve
    name stem suffix argv stdin stdout environ encoding utf indent ensure_ascii sort_keys startswith
    endswith isinstance type format hashlib sha256 md5 hexdigest digest encode decode ascii rb rt glob rglob
    iterdir walk Counter collections itertools findall search match group const let var require fs
    readFileSync existsSync statSync readdirSync JSON parse stringify console log process map filter forEach
    length Object entries toString function then await async of puts File readable while break continue
    hooks assert raise Exception cat ast literal_eval configparser csv reader textwrap dedent repr f e r u
""".split()
)


MODES_THAT_WRITE = ("w", "a", "x", "r+", "w+", "a+", "wb", "ab", "xb", "rb+", "r+b", "wt", "at", "w+b", "wb+")


# Short names of functions that change files (Julia, Ruby, shx).
SHORT_CHANGES = ("rm", "mv", "cp", "ln", "dd", "sh")


def is_reading(code: str) -> bool:
    """Whether code only reads, judged by its names."""
    strings = find_literals(code)
    if "`" in code or any(text in MODES_THAT_WRITE or text.startswith((">", "+", "|")) for text in strings):
        return False
    for string in strings:
        # A string may be code for `eval`, and `f"{…}"` always is.
        if "(" not in string:
            code = code.replace(string, "", 1) if string else code
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in code).split()
    return all(
        word in SAFE_CODE
        or (len(word) <= 2 and word not in SHORT_CHANGES)
        or word.isdigit()
        or _is_variable(word, code)
        for word in words
    )


def _is_variable(name: str, code: str) -> bool:
    """Whether code only assigns a value to a name, and neither calls it nor uses it otherwise."""
    if any(use in code for use in (f".{name}", f". {name}", f"{name}(", f"{name} (", f"{name}`")):
        return False
    assignments = (
        *(f"for {name} in ", f"for {name}, ", f", {name} in ", f" as {name}:", f"\n{name} = "),
        *(f"const {name} = ", f"let {name} = ", f"var {name} = "),
    )
    lines = "\n".join(("", *(line.strip() for line in code.splitlines())))
    return any(form in lines for form in assignments)
