"""Which files a hook runs and reads, as far as its command and scripts show, and what that misses.

Nothing runs. Commands are parsed as by a shell; scripts in shell, Python, JavaScript and makefiles are
followed to the files that they source, import and name. Unknown parts are reported, not guessed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from hookport import shell
from hookport.agents import Dialect, get
from hookport.base.paths import spell_path
from hookport.model.hooks import Hook
from hookport.runtime import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    # An agent waits while a plan is made: most plans need neither the Python parser nor git.
    import ast

    from hookport.project.discovery import HookEntry

ROOT = "_hookport_project_root"
LARGEST_SCRIPT = 512 * 1024
MOST_FILES = 200
SHELL_ENDS = (".sh", ".bash", ".zsh", ".ksh", ".dash")
PYTHON_ENDS, MODULE_ENDS = (".py", ".pyw"), (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
# Languages whose scripts are covered themselves but not followed.
OTHER_ENDS = (".fish", ".rb", ".pl", ".php", ".lua", ".ps1", ".bat", ".cmd", ".pyz")
SCRIPT_ENDS = (*SHELL_ENDS, *PYTHON_ENDS, *MODULE_ENDS, *OTHER_ENDS)
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
PYTHONS = re.compile(r"pythonw?[\d.]*|pypy[\d.]*|uv|py")
ENGINES = frozenset({"node", "bun", "deno", "tsx", "ts-node", "npx"})
# Programs of every system, which follow only their arguments; these are covered.
STANDARD = re.compile(
    r"\[|\[\[|:|\.|source|alias|awk|base64|basename|bg|break|builtin|cat|cd|chmod|chown|cmp|command|"
    r"comm|continue|cp|cut|date|declare|dirname|echo|env|eval|exec|exit|export|expr|false|fg|find|fold|"
    r"gawk|getopts|git|grep|egrep|fgrep|hash|head|hostname|id|jq|kill|let|ln|local|ls|md5sum|mkdir|"
    r"mktemp|mv|nl|nohup|od|paste|popd|printf|ps|pushd|pwd|read|readarray|readlink|readonly|realpath|"
    r"return|rev|rm|rmdir|sed|seq|set|sha256sum|shasum|shift|shopt|sleep|sort|stat|sudo|tail|tee|test|"
    r"time|timeout|touch|tr|trap|true|truncate|type|typeset|ulimit|umask|unalias|uname|uniq|unset|wait|"
    r"wc|which|whoami|xargs|yes"
)
# Programs that run the commands in another file, which changes with ordinary work.
RUNNERS = frozenset(
    {"npm", "pnpm", "yarn", "just", "task", "rake", "cargo", "go", "poetry", "pdm", "hatch", "tox"}
)
MAKES = frozenset({"make", "gmake"})
# The file that an interpreter starts in a given folder.
MAINS = ("__main__.py", "index.js", "index.mjs", "index.cjs", "package.json")
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
# Which operands a program writes: all of them, or the last.
WRITERS = {"tee": slice(None), "touch": slice(None), "rm": slice(None), "truncate": slice(None)}
LAST_WRITERS = frozenset({"cp", "mv", "ln", "install", "rsync"})
IMPORT = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*|\brequire\.resolve\s*\(\s*)["']([^"'\n]+)["']"""
)
WRITES_FILES = re.compile(
    r"""\bopen\(.*?,\s*(?:mode\s*=\s*)?["'](?:[wax][bt+]*|r[bt]*\+[bt]*)["']|\.write_(?:text|bytes)\(|\.dump\(|"""
    r"""(?:write|append|copy)File|createWriteStream|\.touch\(|\bsqlite3?\b|\bshelve\b|FileHandler|"""
    r"""basicConfig\(|os\.(?:replace|rename)\(|shutil\.(?:copy|move)""",
    re.DOTALL,
)
FUNCTION = re.compile(r"(?:^|[;&|\n])\s*(?:function\s+)?([\w.:-]+)\s*\(\)|\bfunction\s+([\w.:-]+)")
# The prefix of a computed path: `{folder}/`, `${folder}/`, `__dirname + '/`.
COMPUTED = re.compile(r"^(?:\$?\{[^}]*\})?/(?=[\w.-]+(?:/[\w.-]+)*$)")
# Signs that a script names files from a folder above its own.
ABOVE = re.compile(r"parents\[|\.parent\.parent|dirname\([^)]*dirname\(|\.\.")
LITERAL = re.compile(r"""["']([^"'\n]{1,200})["']""")
# A text whose file is certainly opened, wherever it is.
OPENED = re.compile(
    r"""(?:\bopen|run_path|[rR]ead_?(?:Text)?File(?:Sync)?|\bPath|\bsource)\(\s*["']([^"'\n]{1,200})["']"""
)
# Files that ordinary work changes, rather than changes to the hook.
ORDINARY = re.compile(
    r"(?i)readme.*|changelog.*|license.*|contributing.*|package(-lock)?\.json|.*\.lock|pnpm-lock\.yaml|go\.(mod|sum)|"
    r"pyproject\.toml|setup\.(py|cfg)|requirements.*\.txt|cargo\.toml|gemfile|composer\.json|tsconfig.*\.json|\.env.*|"
    r"\.gitignore|dockerfile.*"
)
# Files that by their names a hook writes.
WRITTEN = re.compile(
    r"(?i).*(log|state|cache|seen|history|counter|pid|tmp|temp|last)s?([-_.].*)?|.*\.(db|sqlite3?|out|pid)"
)
# Programs that ask about a file and do not read it.
ASKING = frozenset(
    {"[", "[[", "test", "ls", "stat", "mkdir", "chmod", "which", "basename", "dirname", "realpath"}
)
# Options of `test` that ask about a file.
FILE_TESTS = frozenset({"-e", "-f", "-s", "-r", "-x", "-w", "-L", "-h", "-a"})
BUILT_IN = re.compile(
    r"assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|"
    r"diagnostics_channel|dns|domain|events|fs|http|http2|https|inspector|module|net|os|path|perf_hooks|"
    r"process|punycode|querystring|readline|repl|stream|string_decoder|sys|timers|tls|trace_events|tty|"
    r"url|util|v8|vm|wasi|worker_threads|zlib"
)


class CoveredFiles(NamedTuple):
    """The files that an approval covers, the folders in which a new one counts, and what is not covered.

    `beside` has the names that matter in each folder: modules that Python would import, or patterns. `local`
    is also not covered, because another machine may not have these files; it is reported but in no lock.
    """

    files: tuple[str, ...]
    beside: Mapping[str, tuple[str, ...]]
    not_covered: tuple[str, ...]
    local: tuple[str, ...] = ()


def cover(entry: HookEntry, root: str, env: Mapping[str, str], named: Sequence[str] = ()) -> CoveredFiles:
    """Find what an approval of a hook covers; `named` are the author's additional globs of the project."""
    builder = _CoverageBuilder(get(entry.hook.dialect), entry.package, root, env)
    handler = entry.hook.handler
    cwd = builder.find_start(handler.cwd)
    for command in dict.fromkeys((handler.command, *handler.platform.values())):
        if command:
            builder.add_command(command, cwd)
    for script in entry.scripts:
        builder.add_script(script, cwd)
    if handler.url:
        builder.leave(f"what {handler.url.partition('?')[0]} answers")
    if handler.type in ("prompt", "agent"):
        builder.leave("what the model answers")
    return builder.build(named)


def read_hook_globs(hook: Hook) -> tuple[str, ...]:
    """The globs that a hook's own file names under `covers`."""
    dialect_fields = hook.provider_data.get(hook.dialect)
    places = (hook.metadata, dialect_fields if isinstance(dialect_fields, Mapping) else {})
    covers = (place.get("covers", ()) for place in places)
    listed = ([globs] if isinstance(globs, str) else globs for globs in covers)
    return tuple(
        glob for globs in listed if isinstance(globs, list | tuple) for glob in globs if isinstance(glob, str)
    )


def find_started_scripts(
    command: str, dialect: Dialect, package: str, root: str, cwd: str, env: Mapping[str, str]
) -> tuple[str, ...]:
    """The scripts that a hook's command starts, and those that they start, without imports."""
    builder = _CoverageBuilder(dialect, package, root, env, imports=False)
    builder.add_command(command, builder.find_start(cwd))
    return tuple(builder.files)


class _Ask(shell.Ask):
    def __init__(self, root: str) -> None:
        self.root = root

    def is_folder(self, path: str) -> bool:
        return Path(path).is_dir()

    def top_level(self) -> str:
        return self.root


class _CoverageBuilder:
    """Collects the files that one hook runs and reads."""

    def __init__(
        self, dialect: Dialect, package: str, root: str, env: Mapping[str, str], *, imports: bool = True
    ) -> None:
        self.root, self.home, self.package = root, env.get("HOME", ""), package
        self.variables = _list_variables(dialect, package, root, self.home)
        self.base = package if dialect.starts_in_package else root
        self.imports = imports
        # Spellings of the project's root that are no variable.
        self.computed = [
            spelling for spelling in dialect.project_dir if spelling.startswith("$(") and "$0" not in spelling
        ]
        self.variables[ROOT] = root
        self.files: dict[str, None] = {}
        self.data: dict[str, None] = {}
        self.written: set[str] = set()
        self.left: dict[str, None] = {}
        self.local: dict[str, None] = {}
        self.functions: set[str] = set()
        self.programs: dict[str, None] = {}
        self.beside: dict[str, set[str]] = {}
        # The other folders where Python searches modules.
        self.paths: dict[str, None] = {}
        # Folders of ours that commands put on the PATH.
        self.bins: dict[str, None] = {}
        # Files whose existence a command tests.
        self.asked: dict[str, None] = {}

    def find_start(self, cwd: str) -> str:
        """The folder that a hook runs in, with its handler's own folder."""
        return os.path.normpath(Path(self.base, cwd))

    def leave(self, reason: str) -> None:
        self.left[reason] = None

    def leave_file(self, path: str, why: str) -> None:
        self.local[f"{self._spell_path(path)}, which {why}"] = None

    def build(self, named: Sequence[str]) -> CoveredFiles:
        chosen = set(_expand_globs([glob for glob in named if not glob.startswith("!")], self.root))
        unwanted = set(_expand_globs([glob[1:] for glob in named if glob.startswith("!")], self.root))
        for program in list(self.programs):
            scripts = [path for folder in self.bins if Path(path := f"{folder}/{program}").is_file()]
            for path in scripts:
                self.add_script(path, self.base)
            if program not in self.functions and not scripts:
                self.leave(f"the program {program}")
        data = (path for path in self.data if path not in self.written)
        files = [
            path for path in dict.fromkeys((*self.files, *data, *sorted(chosen))) if path not in unwanted
        ]
        for path in self.asked:
            if path not in self.files and path not in self.data and path not in self.written:
                self.local[f"whether {self._spell_path(path)} exists"] = None
        for path in sorted(self.written & {*self.files, *self.data}):
            self.leave_file(path, "the hook itself writes")
        ignored = _find_ignored(files, self.root)
        for path in files:
            if path in ignored:
                self.leave_file(path, "git ignores")
        covered_files = tuple(path for path in files if path not in ignored and path not in self.written)
        beside = {folder: tuple(sorted(names)) for folder, names in sorted(self.beside.items())}
        return CoveredFiles(covered_files, beside, tuple(self.left), tuple(self.local))

    def add_command(self, text: str, cwd: str, script: str = "") -> None:
        """Cover everything that a shell would start or read for a text."""
        if script:
            text = _spell_own_path(text, script)
        for spelling in self.computed:
            text = text.replace(spelling, f"${{{ROOT}}}")
        reading = shell.read(text, cwd=cwd, variables=self.variables, ask=_Ask(self.root))
        self.functions.update(name for names in FUNCTION.findall(text) for name in names if name)
        if reading.problem:
            self.leave(f"all of {self._spell_path(script) if script else 'its command'}: {reading.problem}")
        for name, values in reading.assigned.items():
            self._add_variable(name, values, cwd)
        for command in reading.commands:
            self._follow_command(command, command.folders or (cwd,))

    def _add_variable(self, name: str, values: Sequence[str], folder: str) -> None:
        """Cover the folders and files that a variable names for started programs."""
        for value in values:
            if name == "PYTHONPATH":
                for part in filter(None, value.split(":")):
                    self._import_path(part, folder)
                    # Python imports these itself.
                    for module in ("sitecustomize", "usercustomize"):
                        self._import(module, shell.joined(folder, part))
                    self._import_from(shell.joined(folder, part), ("sitecustomize", "usercustomize"))
            elif name == "PATH":
                parts = (shell.joined(folder, part) for part in value.split(":") if part)
                self.bins |= dict.fromkeys(part for part in parts if self._is_inside(part))
            elif name not in ("PWD", "OLDPWD", "HOME"):
                for word in value.split():
                    self._add_read(word, folder)

    def _import_path(self, word: str, folder: str) -> None:
        path = os.path.normpath(shell.joined(folder, word))
        if any(mark in word for mark in shell.MARKS):
            self.leave(f"the modules of `{self._spell_word(word)}`")
        elif self._is_ours(path):
            self.paths[path] = None

    def _follow_command(self, command: shell.Command, folders: Sequence[str]) -> None:
        for folder in folders:
            for word in command.writes:
                self._add_written(word, folder)
            for word in command.reads:
                self._add_read(word, folder)
        if not command.words:
            return
        program, *words = command.words
        for folder in folders:
            self._follow_program(command.program, program, words, folder)
            self._follow_input(command, words, folder)
            if command.program not in MAKES:
                self._follow_operands(command.program, words, folder)

    def _follow_input(self, command: shell.Command, words: Sequence[str], folder: str) -> None:
        """Cover code on an interpreter's stdin."""
        name, stdin = command.program, command.given
        operand = next((word for word in words if word == "-" or not word.startswith("-")), "-")
        if stdin is None or operand != "-":
            return
        code = "".join(letter for letter in stdin if letter not in shell.MARKS)
        if PYTHONS.fullmatch(name):
            self._follow_code([code], folder)
        elif name in ENGINES:
            self._follow_javascript("", code, folder)

    def _follow_program(self, name: str, word: str, words: Sequence[str], folder: str) -> None:
        """Cover what a program is, or runs."""
        if not name:
            self._follow_computed(word, folder)
        elif "/" in word or word.endswith(SCRIPT_ENDS):
            self._follow_script(word, folder)
        elif name in (".", "source") and words:
            self._follow_script(words[0], folder, is_shell=True)
        elif name in MAKES:
            self._follow_make(words, folder)
        elif name in SHELLS or PYTHONS.fullmatch(name) or name in ENGINES:
            self._interpret(name, words, folder)
        elif name in RUNNERS:
            self.leave(f"what `{' '.join((name, *map(_mask_unknown, words[:2])))}` runs")
        elif not STANDARD.fullmatch(name):
            self.programs[name] = None

    def _follow_computed(self, word: str, folder: str) -> None:
        pattern = _make_glob(word)
        if shell.DEEP in word and _make_glob(word.replace(shell.DEEP, "")):
            self._follow_find(word, folder)
        elif pattern:
            self._follow_glob(pattern, folder, runs=True)
        else:
            self.leave(f"what `{self._spell_word(word)}` runs")

    def _interpret(self, name: str, words: Sequence[str], folder: str) -> None:
        """Cover the script or module of an interpreter."""
        is_python = bool(PYTHONS.fullmatch(name))
        if is_python and "-m" in words:
            self._follow_module(words[words.index("-m") + 1 :][:1], folder)
            return
        if any(word in ("-c", "-e", "--eval", "-p") or re.fullmatch(r"-[a-z]*c", word) for word in words):
            if is_python:
                self._follow_code(shell.codes(name, words), folder)
            elif name in ENGINES:
                for code in shell.codes(name, words):
                    self._follow_javascript("", code, folder)
            return
        operand = next((word for word in words if not word.startswith("-") and word not in ("run", "-")), "")
        if operand and not ("," in operand or "=" in operand):
            self._follow_script(operand, folder, is_shell=name in SHELLS)

    def _follow_script(self, word: str, folder: str, *, is_shell: bool = False) -> None:
        """Cover a script that a command starts or sources."""
        if word.startswith("/dev/"):
            return
        if any(mark in word for mark in shell.MARKS):
            self._follow_computed(word, folder)
            return
        self.add_script(shell.joined(folder, word), folder, is_shell=is_shell)

    def add_script(self, path: str, cwd: str, *, is_shell: bool = False) -> None:
        """Cover a script, and what it starts, imports and reads."""
        path = os.path.normpath(path)
        if path in self.files or not self._is_ours(path) or len(self.files) > MOST_FILES:
            return
        if Path(path).is_dir():
            mains = [file for name in MAINS if (file := Path(path, name)).is_file()]
            for main in mains:
                self.add_script(str(main), cwd)
            if not mains:
                self._leave_folder(path)
            return
        self.files[path] = None
        text = _read_text(path)
        kind = "shell" if is_shell else _detect_kind(path, text)
        if kind == "shell":
            self.add_command(text, cwd, path)
        elif not self.imports:
            return
        elif kind == "python":
            self._follow_python(path, text, os.path.dirname(path), cwd)  # noqa: PTH120
        elif kind == "module":
            self._follow_javascript(path, text, cwd)
        elif kind:
            self.leave(f"what {self._spell_path(path)} loads")

    def _follow_code(self, codes: Sequence[str], folder: str) -> None:
        """Cover Python code, which imports from its working folder."""
        for code in codes:
            self._follow_python("", code, folder, folder)

    def _follow_module(self, words: Sequence[str], folder: str) -> None:
        """Cover the module of `python -m` in the folder, with the packages around it."""
        if not words or any(mark in words[0] for mark in shell.MARKS):
            self.leave("a module of Python")
            return
        if not self._import_any(words[0], folder, runs=True):
            self.leave(f"the module {words[0]}")
        self._import_from(folder, ())

    def _follow_python(self, path: str, text: str, start: str, cwd: str) -> None:
        """Cover the imports and the data files of Python code; code in a command has no path."""
        shown = self._spell_path(path) if path else "its code"
        import ast

        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.leave(f"what {shown} imports")
            return
        if "sys.path" in text or "addsitedir" in text:
            self._add_import_folders(tree, start)
        names = self._list_imports(tree, path)
        self._import_from(start, [name.partition(".")[0] for name in names])
        for name in names:
            top = name.partition(".")[0]
            if not self._import_any(name, start) and top not in sys.stdlib_module_names and name == top:
                self.leave(f"the package {top}")
        if re.search(r"\b(?:importlib|__import__|runpy|exec)\b", text):
            self.leave(f"what {shown} imports by name")
        self._follow_literals(path, text, start, cwd)

    def _list_imports(self, tree: ast.AST, path: str) -> list[str]:
        """The names of the modules that a script imports; its own package is covered at once."""
        import ast

        names: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level and path:
                base = Path(path).parents[node.level - 1]
                for name in [node.module] if node.module else [alias.name for alias in node.names]:
                    self._import(name, str(base))
                    self._shadow(str(base), name.partition(".")[0])
            elif isinstance(node, ast.ImportFrom) and node.module:
                names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        return names

    def _add_import_folders(self, tree: ast.AST, start: str) -> None:
        """The folders that a script may add to its search path: those that it names, and above."""
        import ast

        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        above = [start, *(str(parent) for parent in Path(start).parents if self._is_inside(str(parent)))]
        for folder in above:
            for word in ("", *texts):
                if len(word) < 200 and "\0" not in word and Path(folder, word).is_dir():
                    self._import_path(word, folder)

    def _import_any(self, name: str, start: str, *, runs: bool = False) -> bool:
        """Import as `_import` does, in every folder on the search path."""
        is_found = False
        for folder in (start, *self.paths):
            is_found = self._import(name, folder, runs=runs) or is_found
            self._import_from(folder, [name.partition(".")[0]])
        return is_found

    def _import(self, name: str, start: str, *, runs: bool = False) -> bool:
        """Cover the files of a module, if it is in the folder."""
        parts = name.split(".")
        folder = Path(start)
        is_found = False
        for number, part in enumerate(parts):
            is_last = number == len(parts) - 1
            package = folder / part / "__init__.py"
            if number and folder.is_dir():
                self._shadow(str(folder), part)
            for path in (folder / f"{part}.py", package):
                if path.is_file():
                    is_found = True
                    self._follow(str(path), start)
            folder /= part
            main = folder / "__main__.py"
            if is_last and runs and main.is_file():
                is_found = True
                self._follow(str(main), start)
        return is_found

    def _follow(self, path: str, start: str) -> None:
        if path not in self.files and self._is_ours(path):
            self.files[path] = None
            self._follow_python(path, _read_text(path), start, start)

    def _import_from(self, folder: str, modules: Iterable[str]) -> None:
        if self._is_ours(folder):
            self.beside.setdefault(os.path.normpath(folder), set()).update(("__main__", *modules))

    def _shadow(self, folder: str, module: str) -> None:
        """Cover a package's module, which another file of that name would replace."""
        if self._is_ours(folder):
            self.beside.setdefault(os.path.normpath(folder), set()).add(f".{module}")

    def _follow_javascript(self, path: str, text: str, cwd: str) -> None:
        folder = os.path.dirname(path) if path else cwd  # noqa: PTH120
        if path:
            self._add_manifest(folder)
        for name in dict.fromkeys(IMPORT.findall(text)):
            bare = name.removeprefix("node:")
            if name.startswith("."):
                files = list(_resolve_module(os.path.join(folder, name)))  # noqa: PTH118
                for file in files:
                    self.add_script(file, cwd)
                    self._watch_preferred(os.path.normpath(Path(folder, name)), file)
                if not files:
                    self.leave(f"the module {name}")
            elif not BUILT_IN.fullmatch(bare.partition("/")[0]):
                self.leave(f"the package {name}")
        if re.search(r"\b(?:require|import)\s*\(\s*[^\s\"'()]", text):
            self.leave(f"what {self._spell_path(path) if path else 'its code'} imports by name")
        self._follow_literals(path, text, folder, cwd)

    def _add_manifest(self, folder: str) -> None:
        """Cover the nearest `package.json`, which decides how a script is parsed."""
        while self._is_inside(folder) and folder != self.root:
            manifest = f"{folder}/package.json"
            if Path(manifest).is_file():
                self._add_data(manifest)
                return
            # As a pattern, because a plain name means a Python module.
            self.beside.setdefault(folder, set()).add("package.jso?")
            folder = os.path.dirname(folder)  # noqa: PTH120

    def _watch_preferred(self, path: str, resolved: str) -> None:
        """Watch for a new module that would replace the one that a name means."""
        if path.endswith(MODULE_ENDS) or resolved in (path, f"{path}.js"):
            return
        folder, name = os.path.split(path)
        if not any(file != Path(resolved) for file in Path(folder).glob(f"{name}.?s")):
            self.beside.setdefault(folder, set()).add(f"{name}.?s")

    def _leave_folder(self, path: str) -> None:
        """Cover a folder in which a hook may read any file."""
        if self._is_inside(path) and path != self.root:
            self.local[f"the files below {self._spell_path(path)}"] = None

    def _leave_named_folders(self, words: Iterable[str], start: str) -> None:
        """Cover the folders beside a script that it names."""
        for word in words:
            if re.fullmatch(r"[\w-][\w./-]*", word) and start != self.root and Path(start, word).is_dir():
                self._leave_folder(os.path.normpath(Path(start, word)))

    def _follow_literals(self, path: str, text: str, start: str, cwd: str) -> None:
        """Cover the files that a script names: those beside it and those that it opens; in doubt none."""
        shown = self._spell_path(path) if path else "its code"
        writes = bool(WRITES_FILES.search(text))
        opened = set(OPENED.findall(text))
        words = [COMPUTED.sub("", word) for word in LITERAL.findall(text)]
        # A command contains paths; `with_suffix` names a file only by its extension.
        words += [
            part for word in words if " " in word for part in word.split() if part.endswith(SCRIPT_ENDS)
        ]
        if path and "with_suffix" in text:
            words += [Path(path).stem + word for word in words if re.fullmatch(r"\.\w+", word)]
        pairs = [f"{first}/{second}" for first, second in pairwise(words)]
        self._leave_named_folders(words, start)
        above = (
            [str(parent) for parent in Path(start).parents if self._is_inside(str(parent))]
            if ABOVE.search(text)
            else []
        )
        for literal in dict.fromkeys((*words, *pairs)):
            if literal.startswith(("/", "~")) or not set(literal) & set("./"):
                continue
            for folder in dict.fromkeys((start, cwd, *above)):
                file = Path(folder, literal)
                try:
                    is_file = file.is_file() and self._is_ours(os.path.normpath(file))
                except (OSError, ValueError):
                    continue
                file_path = os.path.normpath(file)
                if not is_file or file_path in self.files or file_path == path:
                    continue
                is_own = folder == start and start != self.root
                if writes and not file_path.endswith(SCRIPT_ENDS):
                    self.leave_file(file_path, "the hook may write")
                elif not (is_own or literal in opened):
                    self.leave_file(file_path, f"{shown} names")
                elif file_path.endswith(SCRIPT_ENDS):
                    self.add_script(file_path, cwd)
                else:
                    self._add_data(file_path)
                break

    def _add_data(self, path: str) -> None:
        """Cover a file that the hook reads, unless by its name the hook or ordinary work changes it."""
        name = os.path.basename(path)  # noqa: PTH119
        if ORDINARY.fullmatch(name):
            self.leave_file(path, "changes with ordinary work")
        elif WRITTEN.fullmatch(name):
            self.leave_file(path, "the hook may write")
        else:
            self.data[path] = None

    def _follow_make(self, words: Sequence[str], folder: str) -> None:
        """Cover a makefile and the programs of its recipes."""
        words = [part for word in words for part in _split_option(word)]
        options = dict(pairwise(words))
        folder = os.path.join(folder, options.get("-C", ""))  # noqa: PTH118
        names = [options["-f"]] if "-f" in options else MAKEFILES
        path = next((makefile for name in names if (makefile := Path(folder) / name).is_file()), None)
        if path is None:
            self.leave("what `make` runs")
        else:
            self._follow_makefile(os.path.normpath(path), folder)

    def _follow_makefile(self, path: str, folder: str) -> None:
        if path in self.files or not self._is_ours(path):
            return
        self.files[path] = None
        for line in _read_text(path).splitlines():
            word, _, rest = line.strip().partition(" ")
            if line.startswith("\t"):
                self.add_command(line.strip().lstrip("@-+").replace("$$", "$"), folder)
            elif word in ("include", "-include", "sinclude"):
                for name in rest.split():
                    if set(name) & set("$*?[") or not Path(folder, name).is_file():
                        self.leave(f"what `{word} {name}` stands for")
                    else:
                        self._follow_makefile(os.path.normpath(Path(folder, name)), folder)

    def _follow_operands(self, name: str, words: Sequence[str], folder: str) -> None:
        """Cover the files that a program reads, and note those that it writes."""
        paths = [word for word in words if not word.startswith("-")]
        written: Sequence[str] = paths if name in WRITERS else paths[-1:] if name in LAST_WRITERS else ()
        if name == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
            written = paths
        for word in written:
            self._add_written(word, folder)
        if name in ("cd", "echo", "printf"):
            return
        if name in ASKING:
            for before, word in pairwise(("", *words)):
                self._add_asked(word, folder, may_lack=before in FILE_TESTS)
            return
        for word in words:
            for value in re.split(r"[=,]", word) if re.search(r"[=,]", word) else (word,):
                if value and value not in written and not value.startswith("-"):
                    self._add_read(value, folder)

    def _add_asked(self, word: str, folder: str, *, may_lack: bool) -> None:
        """Cover a file whose existence alone matters; `may_lack`: it may be missing now."""
        path = os.path.normpath(shell.joined(folder, word))
        is_known = any(mark in word for mark in shell.MARKS) or word.startswith("-") or "\n" in word
        if is_known or len(word) > 1000 or not self._is_ours(path):
            return
        with suppress(OSError, ValueError):
            if Path(path).is_file() or (may_lack and not Path(path).exists()):
                self.asked[path] = None

    def _add_written(self, word: str, folder: str) -> None:
        if not any(mark in word for mark in shell.MARKS):
            self.written.add(os.path.normpath(shell.joined(folder, word)))

    def _add_read(self, word: str, folder: str) -> None:
        pattern = _make_glob(word)
        if pattern and pattern != word:
            self._follow_glob(pattern, folder, runs=False)
            return
        if any(mark in word for mark in shell.MARKS) or "\n" in word or len(word) > 1000:
            return
        path = os.path.normpath(shell.joined(folder, word))
        try:
            is_file = Path(path).is_file()
        except (OSError, ValueError):
            return
        if not is_file and word not in (".", "..") and Path(path).is_dir():
            self._leave_folder(path)
        is_script = word.endswith(SCRIPT_ENDS) and (is_file or bool(re.fullmatch(r"[\w./@+~-]+", word)))
        if path in self.files or not self._is_ours(path) or not (is_file or is_script):
            return
        if is_script:
            self.add_script(path, folder)
        else:
            self._add_data(path)

    def _follow_find(self, word: str, folder: str) -> None:
        """Cover the files that `find` would find now."""
        base, _, rest = shell.joined(folder, word).partition(shell.DEEP)
        start, name = Path(base), _make_glob(rest.replace(shell.DEEP, "")).rpartition("/")[2] or "*"
        self.leave(f"new files below {self._spell_path(os.path.normpath(base))}")
        if self._is_ours(os.path.normpath(base)) and start.is_dir():
            for path in sorted(start.rglob(name))[:MOST_FILES]:
                if path.is_file():
                    self.add_script(str(path), folder)

    def _follow_glob(self, pattern: str, folder: str, *, runs: bool) -> None:
        """Cover every file of a pattern, including later additions."""
        full = shell.joined(folder, pattern)
        base = os.path.dirname(full)  # noqa: PTH120
        is_all = os.path.normpath(base) in (self.root, self.home) and not runs
        if (
            any(letter in base for letter in "*?[")
            or not self._is_ours(full)
            or is_all
            or full == f"{self.root}/*"
        ):
            self.leave(f"what `{self._spell_word(pattern)}` stands for")
            return
        for path in sorted(Path(base).glob(os.path.basename(full))) if Path(base).is_dir() else ():  # noqa: PTH119
            if path.is_file():
                if runs or path.name.endswith(SCRIPT_ENDS):
                    self.add_script(str(path), folder)
                else:
                    self._add_data(str(path))
        self.beside.setdefault(os.path.normpath(base), set()).add(os.path.basename(full))  # noqa: PTH119

    def _is_ours(self, path: str) -> bool:
        """Whether a path belongs to the project or its user; programs of the system do not count."""
        starts = [folder for folder in (self.root, self.home, self.package) if folder]
        return any(f"{path}/".startswith(os.path.join(start, "")) for start in starts)  # noqa: PTH118

    def _is_inside(self, path: str) -> bool:
        return f"{path}/".startswith(os.path.join(self.root, ""))  # noqa: PTH118

    def _spell_word(self, word: str) -> str:
        """A partly computed word, equal on every machine."""
        plain = _mask_unknown(word)
        for start, short in ((self.root, ""), (self.home, "~/")):
            plain = short + plain[len(start) + 1 :] if start and plain.startswith(f"{start}/") else plain
        return plain

    def _spell_path(self, path: str) -> str:
        return spell_path(path, self.root, {"HOME": self.home})


def _list_variables(dialect: Dialect, package: str, root: str, home: str) -> dict[str, str]:
    """The values of the dialect's path variables."""
    values = {"PWD": root, "HOME": home}
    for spellings, folder in ((dialect.project_dir, root), (dialect.package_dir, package)):
        for spelling in spellings:
            for name in re.findall(r"\$\{?(\w+)", spelling):
                values[name] = folder
    return values


def _spell_own_path(text: str, path: str) -> str:
    """A script with its own path filled in, where it computes it."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    folder = os.path.dirname(quoted)  # noqa: PTH120
    text = re.sub(r"\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}", folder, text)
    return re.sub(r"\$\{BASH_SOURCE(?:\[0\])?\}|\$BASH_SOURCE\b|\$\{0\}|\$0(?!\w)", quoted, text)


def _detect_kind(path: str, text: str) -> str:
    name = path.lower()
    first = text.partition("\n")[0] if text.startswith("#!") else ""
    words = re.findall(r"[\w.+-]+", first)
    if name.endswith(SHELL_ENDS) or any(word in SHELLS for word in words):
        return "shell"
    if name.endswith(PYTHON_ENDS) or any(re.fullmatch(r"python[\d.]*", word) for word in words):
        return "python"
    if name.endswith(MODULE_ENDS) or any(word in ENGINES for word in words):
        return "module"
    return "other" if name.endswith(OTHER_ENDS) or first else ""


def _read_text(path: str) -> str:
    try:
        file = Path(path)
        if not file.is_file() or file.stat().st_size > LARGEST_SCRIPT:
            return ""
        return file.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _resolve_module(path: str) -> Iterator[str]:
    """The files that an import of JavaScript may mean."""
    path = os.path.normpath(path)
    bare, _ = os.path.splitext(path)  # noqa: PTH122
    # TypeScript imports `./x.js` if the file is `x.ts`.
    ends = ("", *MODULE_ENDS, ".json", *(f"/index{end}" for end in MODULE_ENDS))
    for file in (*(path + end for end in ends), bare + ".ts"):
        if Path(file).is_file():
            yield file
            return


def _split_option(word: str) -> list[str]:
    """An option of `make` and its value, if written as one word."""
    for option, long in (("-C", "--directory="), ("-f", "--file="), ("-f", "--makefile=")):
        if word.startswith(long):
            return [option, word[len(long) :]]
        if word.startswith(option) and len(word) > len(option):
            return [option, word[len(option) :]]
    return [word]


def _make_glob(word: str) -> str:
    """A word with its patterns as written; empty if more is unknown."""
    if any(mark in word for mark in (shell.MANY, shell.PART, shell.DEEP)):
        return ""
    return word.replace(shell.STAR, "*").replace(shell.ONE, "?")


def _mask_unknown(word: str) -> str:
    return "".join("…" if letter in shell.MARKS else letter for letter in word)


def _expand_globs(globs: Iterable[str], root: str) -> Iterator[str]:
    """The files of the project that globs match; a folder means everything below it."""
    for glob in globs:
        if glob.startswith("/") or ".." in glob.split("/"):
            continue
        for path in sorted(Path(root).glob(glob)):
            inside = sorted(path.rglob("*")) if path.is_dir() else [path]
            yield from (str(file) for file in inside if file.is_file())


def _find_ignored(files: Sequence[str], root: str) -> set[str]:
    """The files that git ignores: no other machine has them."""
    start = os.path.join(root, "")  # noqa: PTH118
    index = trust.read_file(os.path.join(root, ".git", "index")) or b""  # noqa: PTH118
    # Tracked files are not ignored: this usually saves a process.
    untracked = [
        path
        for path in files
        if path.startswith(start) and os.fsencode(path.removeprefix(start)) not in index
    ]
    if not untracked or not Path(root, ".git").exists():
        return set()
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-C", root, "check-ignore", "-z", "--stdin"],
            input="\0".join(untracked).encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return set()
    return {name.decode("utf-8", "surrogateescape") for name in done.stdout.split(b"\0") if name}
