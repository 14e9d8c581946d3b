# ruff: noqa: E501  (rows are commands and scripts)
"""What an approval of a guard covers: a table of guards, each with the files that would disarm it.

Add a row to `GUARDS`. `ROW` stands for a folder of the row's own, from the project's root; `HOME/` starts a
file of the home. A guard denies with GUARD. Each file of `disarms` is then edited, removed, and replaced by a
link to another file; files of `added` are added. Every time the next call must be denied for that, in a real
dispatch, or, where the row has `said`, the approval must have said that this is not covered. Guards of `KEEPS`
must go on running while what they write, or git ignores, or ordinary work changes, is another.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hookport
from tests import forks

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="hooks here are shell scripts"),
    pytest.mark.xdist_group("covered"),
]

BRIDGE = Path(hookport.__file__).parent / "bridge.py"
TAMPERED = "is not as the user approved it"
SH = "#!/bin/sh\necho GUARD >&2\nexit 2\n"
PY = "#!/usr/bin/env python3\nimport sys\nprint('GUARD', file=sys.stderr)\nsys.exit(2)\n"
JS = "console.error('GUARD'); process.exit(2)\n"
LIB = "check() { echo GUARD >&2; exit 2; }\n"
HELPER = "import sys\ndef check():\n    print('GUARD', file=sys.stderr)\n    sys.exit(2)\n"
IMPORTS = "import helper\nhelper.check()\n"
MODULE = "exports.check = () => { console.error('GUARD'); process.exit(2) }\n"
ESM = "export const check = () => { console.error('GUARD'); process.exit(2) }\n"
# Programs that a machine may lack, each as a script that does the same.
PROGRAMS = {
    "uv": '[ "$1" = run ] && shift; while :; do case $1 in --project) shift 2;; --with) shift 2;; -*) shift;; '
    '*) break;; esac; done; case $1 in python*) exec "$@";; *) exec python3 "$@";; esac',
    "poetry": 'shift; exec "$@"',
    "deno": 'shift; while :; do case $1 in -*) shift;; *) break;; esac; done; exec node "$@"',
    "bun": '[ "$1" = run ] && shift; exec node "$@"',
    "tsx": 'exec node "$@"',
    "npx": '[ "$1" = tsx ] && shift && exec node "$@"; while :; do case $1 in -*) shift;; *) break;; esac; done; '
    'p=$1; shift; exec "./node_modules/.bin/$p" "$@"',
    "npm": 'exec sh -c "$(sed -n \'s/.*\\"guard\\": *\\"\\(.*\\)\\".*/\\1/p\' package.json)"',
    "pwsh": 'while :; do case $1 in -File) shift; break;; -*) shift;; *) break;; esac; done; exec sh "$@"',
    "just": 'exec sh "$(sed -n 2p justfile | tr -d " ")"',
    "go": 'exec sh "$2"',
    "jq": "cat",
}


class Row(NamedTuple):
    """A guard: its command, its files, which of them disarm it, and what else would if it were added."""

    command: str
    files: Mapping[str, str]
    disarms: tuple[str, ...]
    added: Mapping[str, str] = {}
    said: str = ""


def one(command: str, name: str = "ROW/guard.sh", text: str = SH, **more: Any) -> Row:
    """A guard of one file."""
    return Row(command, {name: text}, (name,), **more)


def by(script: str, lib: str = "ROW/lib.sh", text: str = LIB, **more: Any) -> Row:
    """A guard in shell that needs another file."""
    return Row(
        "./ROW/guard.sh",
        {"ROW/guard.sh": f"#!/bin/bash\n{script}\n", lib: text},
        ("ROW/guard.sh", lib),
        **more,
    )


def py(script: str, lib: str = "ROW/helper.py", text: str = HELPER, **more: Any) -> Row:
    """A guard in Python that needs another file."""
    return Row("python3 ROW/guard.py", {"ROW/guard.py": script, lib: text}, ("ROW/guard.py", lib), **more)


def js(command: str, script: str, lib: str, text: str, main: str = "ROW/guard.js", **more: Any) -> Row:
    """A guard in JavaScript that needs another file."""
    return Row(command, {main: script, lib: text}, (main, lib), **more)


GREP = "grep -q DENY {} && {{ echo GUARD >&2; exit 2; }}; exit 0"

FROM_PACKAGE = "import pack.helper\npack.helper.check()\n"
# A file that switches the guard off by being there.
OFF = "[ -f ROW/off ] && exit 0\n. ROW/lib.sh\ncheck"

GUARDS: dict[str, Row] = {
    # What another file would be read instead of, or beside.
    "python-dash-operands": one(
        "python3 - x <<'E'\nimport json, sys\nsys.path[0]\nprint('GUARD', file=sys.stderr); sys.exit(2)\nE",
        added={"json.py": "raise SystemExit(0)\n"},
    )._replace(files={}, disarms=()),
    "python-namespace": py(
        FROM_PACKAGE, "ROW/pack/helper.py", added={"ROW/pack/helper/__init__.py": "def check(): pass\n"}
    ),
    "python-relative": Row(
        "python3 -m tools.python-relative.pack",
        {
            "ROW/pack/__init__.py": "",
            "ROW/pack/__main__.py": "from .helper import check\ncheck()\n",
            "ROW/pack/helper.py": HELPER,
        },
        ("ROW/pack/__main__.py", "ROW/pack/helper.py"),
        {"ROW/pack/helper/__init__.py": "def check(): pass\n"},
    ),
    "python-path-first": Row(
        "PYTHONPATH=ROW/lib python3 ROW/guard.py",
        {"ROW/guard.py": "import json\nfrom helper import check\ncheck()\n", "ROW/lib/helper.py": HELPER},
        ("ROW/guard.py", "ROW/lib/helper.py"),
        {"ROW/lib/json.py": "raise SystemExit(0)\n"},
    ),
    "node-manifest": js(
        "node ROW/guard.js",
        "require('./lib').check()\n",
        "ROW/lib.js",
        MODULE,
        added={"ROW/package.json": '{"type": "module"}'},
    ),
    "node-manifest-there": js(
        "node ROW/guard.js", "require('./lib').check()\n", "ROW/lib.js", MODULE
    )._replace(
        files={"ROW/guard.js": "require('./lib').check()\n", "ROW/lib.js": MODULE, "ROW/package.json": "{}"},
        said="package.json, which changes with ordinary work",
    ),
    "switch-file": by(OFF, said="whether ROW/off exists"),
    # What an outsider tried.
    "path-word": one('PATH="$PWD/ROW:$PATH" guard-it', "ROW/guard-it"),
    "path-export": one('export PATH="$CLAUDE_PROJECT_DIR/ROW/bin:$PATH"; myguard', "ROW/bin/myguard"),
    "folder-operand": by(
        'grep -rq DENY "$1" && { echo GUARD >&2; exit 2; }', "ROW/rules.d/a", "DENY\n"
    )._replace(command="./ROW/guard.sh ROW/rules.d", said="the files below ROW/rules.d"),
    "folder-of-rules": by(
        'grep -rq DENY "${0%/*}/rules" && { echo GUARD >&2; exit 2; }',
        "ROW/rules/a",
        "DENY\n",
        said="the files below ROW/rules",
    ),
    "computed-name": by('exec "${0%/*}/$1.sh"', "ROW/inner.sh", SH, said="what `ROW/….sh` runs")._replace(
        command="./ROW/guard.sh inner"
    ),
    "python-suffix": py(
        "import sys\nfrom pathlib import Path\nif 'DENY' in Path(__file__).with_suffix('.txt').read_text():\n    sys.exit(print('GUARD', file=sys.stderr) or 2)\n",
        "ROW/guard.txt",
        "DENY",
    ),
    "python-f-string": py(
        "import sys, os\nD = os.path.dirname(__file__)\nif 'DENY' in open(f'{D}/deny.txt').read():\n    sys.exit(print('GUARD', file=sys.stderr) or 2)\n",
        "ROW/deny.txt",
        "DENY",
    ),
    "python-rules-folder": py(
        "import sys, os\nD = os.path.join(os.path.dirname(__file__), 'rules')\nif 'DENY' in open(os.path.join(D, os.listdir(D)[0])).read():\n    sys.exit(print('GUARD', file=sys.stderr) or 2)\n",
        "ROW/rules/a",
        "DENY",
        said="the files below ROW/rules",
    ),
    "python-system": py(
        "import os, sys\nsys.exit(os.system('sh ROW/inner.sh') >> 8)\n",
        "ROW/inner.sh",
        SH,
        said="ROW/inner.sh, which ROW/guard.py names",
    ),
    "python-exists": py(
        "import os, sys\nif os.path.exists('ROW/on'):\n    sys.exit(print('GUARD', file=sys.stderr) or 2)\n",
        "ROW/on",
        "",
        said="ROW/on, which ROW/guard.py names",
    ),
    "python-parents": Row(
        "python3 ROW/a/b/guard.py",
        {
            "ROW/a/b/guard.py": "import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parents[2]\nif 'DENY' in (ROOT / 'policy' / 'deny.txt').read_text():\n    sys.exit(print('GUARD', file=sys.stderr) or 2)\n",
            "ROW/policy/deny.txt": "DENY",
        },
        ("ROW/policy/deny.txt",),
        said="ROW/policy/deny.txt, which ROW/a/b/guard.py names",
    ),
    "python-customize": one(
        "PYTHONPATH=ROW/lib python3 ROW/guard.py",
        "ROW/guard.py",
        PY,
        added={"ROW/lib/sitecustomize.py": "import os; os._exit(0)\n"},
    ),
    "make-include": Row(
        "make -s -CROW guard >&2 || exit 2",
        {"ROW/Makefile": "include rules.mk\n", "ROW/rules.mk": "guard:\n\t@echo GUARD; exit 2\n"},
        ("ROW/Makefile", "ROW/rules.mk"),
    ),
    "node-folder": Row("node ROW", {"ROW/index.js": JS}, ("ROW/index.js",)),
    "node-preferred": js(
        "node ROW/guard.js",
        "require('./lib').check()\n",
        "ROW/lib/index.js",
        MODULE,
        added={"ROW/lib.js": "exports.check = () => {}\n"},
    ),
    "node-spawn": js(
        "node ROW/guard.js",
        "process.exit(require('child_process').spawnSync('sh', [__dirname + '/inner.sh'], {stdio: 'inherit'}).status)\n",
        "ROW/inner.sh",
        SH,
    ),
    # The forms of which the file could be edited without a word.
    "cd-and-run": one('cd "$CLAUDE_PROJECT_DIR" && ./ROW/guard', "ROW/guard"),
    "top-level": one('bash "$(git rev-parse --show-toplevel)/ROW/guard.sh"'),
    "variable": one('G="$CLAUDE_PROJECT_DIR/ROW"; bash "$G/guard.sh"'),
    "python-module": Row(
        "cd ROW && python3 -m guards.check",
        {"ROW/guards/__init__.py": "", "ROW/guards/check.py": PY},
        ("ROW/guards/check.py", "ROW/guards/__init__.py"),
    ),
    "glob-loop": one(
        'for f in ROW/*.sh; do sh "$f" || exit 2; done', "ROW/one.sh", added={"ROW/aaa.sh": "kill -9 $PPID\n"}
    ),
    "make": Row(
        "make -s -C ROW guard >&2 || exit 2",
        {"ROW/Makefile": "guard:\n\t@sh ./guard.sh\n", "ROW/guard.sh": SH},
        ("ROW/Makefile", "ROW/guard.sh"),
    ),
    "data": one(GREP.format("ROW/deny.txt"), "ROW/deny.txt", "DENY\n"),
    "sourced": by('. "$(dirname "$0")/lib.sh"\ncheck'),
    "shadow": one(
        "python3 ROW/guard.py",
        "ROW/guard.py",
        f"import json\n{PY}",
        added={"ROW/json.py": "import os; os._exit(0)\n"},
    ),
    # Ways to a script.
    "plain": one("./ROW/guard.sh"),
    "bare": one("ROW/guard.sh"),
    "sh": one("sh ROW/guard.sh"),
    "bash-options": one("bash -eu -o pipefail ROW/guard.sh"),
    "quoted": one('"$CLAUDE_PROJECT_DIR"/ROW/guard.sh'),
    "quoted-all": one('"${CLAUDE_PROJECT_DIR}/ROW/guard.sh"'),
    "default-value": one('sh "${CLAUDE_PROJECT_DIR:-.}/ROW/guard.sh"'),
    "cd-semicolon": one("cd ROW; ./guard.sh"),
    "subshell": one("(cd ROW && ./guard.sh)"),
    "group": one("{ cd ROW && ./guard.sh; }"),
    "pushd": one("bash -c 'pushd ROW >/dev/null && ./guard.sh'"),
    "cd-two": one("cd ROW/.. && cd - >/dev/null; ROW/guard.sh"),
    "env": one("env X=1 ./ROW/guard.sh"),
    "env-i": one('env -i PATH="$PATH" ./ROW/guard.sh'),
    "exec": one("exec ./ROW/guard.sh"),
    "timeout": one("timeout 20 ./ROW/guard.sh"),
    "nice": one("nice -n 5 ./ROW/guard.sh"),
    "command": one("command ./ROW/guard.sh"),
    "nohup": one("nohup ./ROW/guard.sh"),
    "bash-c": one("bash -c './ROW/guard.sh'"),
    "sh-c-exec": one('sh -c "exec ./ROW/guard.sh"'),
    "bash-lc": one('bash -lc "cd ROW && ./guard.sh"'),
    "eval": one('eval "./ROW/guard.sh"'),
    "heredoc": one("bash <<'E'\n./ROW/guard.sh\nE"),
    "herestring": one("bash -c 'bash <<< ./ROW/guard.sh'"),
    "piped-name": one("echo ./ROW/guard.sh | sh"),
    "piped-text": one("cat ROW/guard.sh | sh"),
    "redirected-in": one("sh < ROW/guard.sh"),
    "process": one("bash -c 'bash <(cat ROW/guard.sh)'"),
    "xargs": one("echo ROW/guard.sh | xargs sh || exit 2"),
    "xargs-glob": one("ls ROW/*.sh | xargs -n1 sh || exit 2"),
    "find-exec": one("find ROW -name 'guard*.sh' -exec sh {} + || exit 2"),
    "find-xargs": one("find ROW -name '*.sh' -print0 | xargs -0 -n1 sh || exit 2"),
    "if-there": one("if [ -f ROW/guard.sh ]; then sh ROW/guard.sh; fi"),
    "test-and": one("[ -x ROW/guard.sh ] && ROW/guard.sh"),
    "or-true": one("test -r ROW/guard.sh || exit 0; sh ROW/guard.sh"),
    "variable-program": one("G=ROW/guard.sh; $G"),
    "variable-exported": one("export G=ROW && sh $G/guard.sh"),
    "variable-of-pwd": one('R=$(pwd); "$R/ROW/guard.sh"'),
    "variable-of-backticks": one('R=`git rev-parse --show-toplevel`; "$R"/ROW/guard.sh'),
    "variable-chain": one("A=ROW; B=$A; C=guard; sh $B/$C.sh"),
    "function": one("g() { sh ROW/guard.sh; }; g"),
    "brace": one("sh ROW/{guard,none}.sh 2>/dev/null || sh ROW/guard.sh"),
    "background": one("sh ROW/guard.sh & wait $!"),
    "not": one("! sh ROW/guard.sh && { echo GUARD >&2; exit 2; }"),
    "glob-program": one("sh ROW/gu*.sh"),
    "without-shebang": one("ROW/guard", "ROW/guard", "echo GUARD >&2; exit 2\n"),
    "python-without-end": Row(
        "ROW/guard",
        {"ROW/guard": f"#!/usr/bin/env python3\n{IMPORTS}", "ROW/helper.py": HELPER},
        ("ROW/guard", "ROW/helper.py"),
    ),
    "flock": one("flock ROW sh ROW/guard.sh"),
    "home": one("~/ROW/guard.sh", "HOME/ROW/guard.sh"),
    "home-variable": one('sh "$HOME/ROW/guard.sh"', "HOME/ROW/guard.sh"),
    "powershell": one("pwsh -NoProfile -File ROW/guard.ps1", "ROW/guard.ps1", SH),
    "perl": one("perl ROW/guard.pl", "ROW/guard.pl", 'print STDERR "GUARD\\n"; exit 2;\n'),
    "awk": one("echo x | awk -f ROW/guard.awk >&2", "ROW/guard.awk", '{ print "GUARD"; exit 2 }\n'),
    # What a script in shell needs.
    "bash-source": by('source "${BASH_SOURCE[0]%/*}/lib.sh"\ncheck'),
    "bash-source-cd": by(
        'DIR="$( cd "$( dirname "${BASH_SOURCE[0]}" )" && pwd )"\nsource "$DIR/lib.sh"\ncheck'
    ),
    "readlink": by('HERE=$(dirname "$(readlink -f "$0")")\n. "$HERE/lib.sh"\ncheck'),
    "realpath": by('HERE=$(dirname "$(realpath "$0")")\n"$HERE/inner.sh"', "ROW/inner.sh", SH),
    "cd-own": by('cd "$(dirname "$0")" || exit 1\n. ./lib.sh\ncheck'),
    "cd-own-cut": by('cd "${0%/*}" && . ./lib.sh\ncheck'),
    "script-top-level": by('ROOT=$(git rev-parse --show-toplevel)\n. "$ROOT/ROW/lib.sh"\ncheck'),
    "script-project": by('"$CLAUDE_PROJECT_DIR/ROW/inner.sh"', "ROW/inner.sh", SH),
    "script-from-root": by("exec ./ROW/inner.sh", "ROW/inner.sh", SH),
    "script-python": by('python3 "$(dirname "$0")/inner.py"', "ROW/inner.py", PY),
    "script-node": by('exec node "$(dirname "$0")/inner.js"', "ROW/inner.js", JS),
    "rules": by(
        'for f in "$(dirname "$0")"/rules/*.sh; do . "$f"; done\ncheck',
        "ROW/rules/one.sh",
        added={"ROW/rules/zzz.sh": "check() { exit 0; }\n"},
    ),
    "library-chain": Row(
        "./ROW/guard.sh",
        {
            "ROW/guard.sh": '#!/bin/sh\n. "$(dirname "$0")/a.sh"\ncheck\n',
            "ROW/a.sh": '. "$(dirname "$0")/b.sh"\n',
            "ROW/b.sh": LIB,
        },
        ("ROW/a.sh", "ROW/b.sh"),
    ),
    "script-data": by(GREP.format('"$(dirname "$0")/deny.txt"'), "ROW/deny.txt", "DENY\n"),
    "read-loop": by(
        'while read -r p; do echo "$p" >&2; exit 2; done < "$(dirname "$0")/deny.txt"',
        "ROW/deny.txt",
        "GUARD\n",
    ),
    "cat-data": by(
        'case "$(cat "${0%/*}/deny.txt")" in *DENY*) echo GUARD >&2; exit 2;; esac', "ROW/deny.txt", "DENY\n"
    ),
    "grep-f": by(
        'echo ls | grep -qf "$(dirname "$0")/deny.txt" && { echo GUARD >&2; exit 2; }', "ROW/deny.txt", "ls\n"
    ),
    "option-data": by(
        '[ -s "${2}" ] || exit 0; grep -q DENY "$2" && { echo GUARD >&2; exit 2; }',
        "ROW/rules.toml",
        "DENY\n",
    )._replace(command="./ROW/guard.sh --config ROW/rules.toml"),
    "option-equals": by(
        'grep -q DENY "${1#--config=}" && { echo GUARD >&2; exit 2; }', "ROW/rules.toml", "DENY\n"
    )._replace(command="./ROW/guard.sh --config=ROW/rules.toml"),
    "variable-data": by(
        'grep -q DENY "$RULES" && { echo GUARD >&2; exit 2; }', "ROW/rules.txt", "DENY\n"
    )._replace(command="RULES=ROW/rules.txt ./ROW/guard.sh"),
    "bash-env": by("check", "ROW/env.sh")._replace(command="BASH_ENV=ROW/env.sh bash ROW/guard.sh"),
    "sourced-in-command": one(". ./ROW/lib.sh; check", "ROW/lib.sh", LIB),
    "source-in-bash": one("bash -c 'source ROW/lib.sh && check'", "ROW/lib.sh", LIB),
    # Python.
    "sibling": py(IMPORTS),
    "sibling-from": py("from helper import check\ncheck()\n"),
    "package": Row(
        "python3 ROW/guard.py",
        {
            "ROW/guard.py": "from rules import deny\ndeny.check()\n",
            "ROW/rules/__init__.py": "",
            "ROW/rules/deny.py": HELPER,
        },
        ("ROW/guard.py", "ROW/rules/__init__.py", "ROW/rules/deny.py"),
    ),
    "namespace": Row(
        "python3 ROW/guard.py",
        {"ROW/guard.py": "from rules import deny\ndeny.check()\n", "ROW/rules/deny.py": HELPER},
        ("ROW/rules/deny.py",),
    ),
    "relative": Row(
        "cd ROW && python3 -m pkg",
        {
            "ROW/pkg/__init__.py": "",
            "ROW/pkg/__main__.py": "from .helper import check\ncheck()\n",
            "ROW/pkg/helper.py": HELPER,
        },
        ("ROW/pkg/__main__.py", "ROW/pkg/helper.py"),
    ),
    "late-import": py("def go():\n    import helper\n    helper.check()\ngo()\n"),
    "shadow-package": one(
        "python3 ROW/guard.py",
        "ROW/guard.py",
        f"import re\n{PY}",
        added={"ROW/re/__init__.py": "import os; os._exit(0)\n"},
    ),
    "shadow-dropped": py(
        f"try:\n    import extra\nexcept ImportError:\n    pass\n{IMPORTS}",
        added={"ROW/extra.py": "import os; os._exit(0)\n"},
    ),
    "shadow-module": one(
        "cd ROW && python3 -m guard",
        "ROW/guard.py",
        f"import json\n{PY}",
        added={"ROW/json.py": "import os; os._exit(0)\n"},
    ),
    "shadow-code": py(IMPORTS, added={"ROW/sys.so": "", "ROW/json.py": ""})._replace(
        command="cd ROW && python3 -c 'import helper, json; helper.check()'", disarms=("ROW/helper.py",)
    ),
    "pythonpath": Row(
        "PYTHONPATH=ROW/lib python3 ROW/guard.py",
        {"ROW/guard.py": IMPORTS, "ROW/lib/helper.py": HELPER},
        ("ROW/guard.py", "ROW/lib/helper.py"),
        added={"ROW/lib/json.py": ""},
    ),
    "pythonpath-exported": Row(
        'export PYTHONPATH="$CLAUDE_PROJECT_DIR/ROW/lib"; python3 -c "import helper; helper.check()"',
        {"ROW/lib/helper.py": HELPER},
        ("ROW/lib/helper.py",),
    ),
    "pythonpath-env": Row(
        "env PYTHONPATH=ROW/lib:ROW/none python3 -m helpers.main",
        {"ROW/lib/helpers/main.py": PY},
        ("ROW/lib/helpers/main.py",),
    ),
    "sys-path": Row(
        "python3 ROW/guard.py",
        {
            "ROW/guard.py": "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'lib'))\n"
            + IMPORTS,
            "ROW/lib/helper.py": HELPER,
        },
        ("ROW/guard.py", "ROW/lib/helper.py"),
    ),
    "sys-path-above": Row(
        "python3 ROW/hooks/guard.py",
        {
            "ROW/hooks/guard.py": "import sys\nfrom pathlib import Path\n"
            "sys.path.insert(0, str(Path(__file__).parent.parent / 'shared'))\n" + IMPORTS,
            "ROW/shared/helper.py": HELPER,
        },
        ("ROW/hooks/guard.py", "ROW/shared/helper.py"),
    ),
    "sys-path-in-code": py(IMPORTS)._replace(
        command="python3 -c \"import sys; sys.path.insert(0, 'ROW'); import helper; helper.check()\"",
        disarms=("ROW/helper.py",),
    ),
    "python-data": py(
        "from pathlib import Path\nimport sys\nif 'DENY' in (Path(__file__).parent / 'deny.txt').read_text():\n"
        "    print('GUARD', file=sys.stderr)\n    sys.exit(2)\n",
        "ROW/deny.txt",
        "DENY\n",
    ),
    "python-data-below": py(
        "import os, sys\nif 'DENY' in open(os.path.join(os.path.dirname(__file__), 'rules', 'deny.json')).read():\n"
        "    print('GUARD', file=sys.stderr)\n    sys.exit(2)\n",
        "ROW/rules/deny.json",
        "DENY\n",
    ),
    "python-data-from-root": py(
        "import sys\nif 'DENY' in open('ROW/deny.txt').read():\n    print('GUARD', file=sys.stderr)\n    sys.exit(2)\n",
        "ROW/deny.txt",
        "DENY\n",
    ),
    "python-starts": py(
        "import os, subprocess, sys\nhere = os.path.dirname(os.path.abspath(__file__))\n"
        "sys.exit(subprocess.call(['sh', os.path.join(here, 'inner.sh')]))\n",
        "ROW/inner.sh",
        SH,
    ),
    "by-name": py(
        "import importlib\nimportlib.import_module('help' + 'er').check()\n", said="imports by name"
    ),
    "runpy": py("import runpy\nrunpy.run_path('ROW/inner.py')\n", "ROW/inner.py", PY),
    "python-heredoc": one(
        "python3 - <<'E'\nimport runpy\nrunpy.run_path('ROW/guard.py')\nE", "ROW/guard.py", PY
    ),
    "python-heredoc-import": py(IMPORTS)._replace(
        command="cd ROW && python3 - <<'E'\nimport helper\nhelper.check()\nE", disarms=("ROW/helper.py",)
    ),
    "python-folder": Row(
        "python3 ROW",
        {"ROW/__main__.py": IMPORTS, "ROW/helper.py": HELPER},
        ("ROW/__main__.py", "ROW/helper.py"),
    ),
    "python-unbuffered": one("python3 -u -B ROW/guard.py", "ROW/guard.py", PY),
    "python-option": one("python3 -W ignore ROW/guard.py", "ROW/guard.py", PY),
    "uv": one("uv run ROW/guard.py", "ROW/guard.py", PY),
    "uv-script": one("uv run --script ROW/guard.py", "ROW/guard.py", PY),
    "uv-python": one("uv run --with requests python ROW/guard.py", "ROW/guard.py", PY),
    "uv-project": one("uv run --project ROW ROW/guard.py", "ROW/guard.py", PY),
    "poetry": one("poetry run python ROW/guard.py", "ROW/guard.py", PY),
    # JavaScript.
    "node": one("node ROW/guard.js", "ROW/guard.js", JS),
    "require": js("node ROW/guard.js", "require('./lib').check()\n", "ROW/lib.js", MODULE),
    "require-folder": js("node ROW/guard.js", "require('./lib').check()\n", "ROW/lib/index.js", MODULE),
    "require-json": js(
        "node ROW/guard.js",
        f"if (require('./rules.json').deny) {{ {JS} }}\n",
        "ROW/rules.json",
        '{"deny": true}\n',
    ),
    "import": js(
        "node ROW/guard.mjs",
        "import { check } from './lib.mjs'\ncheck()\n",
        "ROW/lib.mjs",
        ESM,
        "ROW/guard.mjs",
    ),
    "import-late": js(
        "node ROW/guard.mjs", "(await import('./lib.mjs')).check()\n", "ROW/lib.mjs", ESM, "ROW/guard.mjs"
    ),
    "preloaded": js(
        "node -r ./ROW/pre.js ROW/guard.js",
        "check()\n",
        "ROW/pre.js",
        "globalThis.check = () => { " + JS.strip() + " }\n",
    ),
    "import-option": js(
        "node --import ./ROW/pre.mjs ROW/guard.mjs",
        "check()\n",
        "ROW/pre.mjs",
        "globalThis.check = () => { " + JS.strip() + " }\n",
        "ROW/guard.mjs",
    ),
    "node-options": js(
        "NODE_OPTIONS='--require ./ROW/pre.js' node ROW/guard.js",
        "check()\n",
        "ROW/pre.js",
        "globalThis.check = () => { " + JS.strip() + " }\n",
    ),
    "node-code": one("node -e \"require('./ROW/guard.js')\"", "ROW/guard.js", JS),
    "node-data": js(
        "node ROW/guard.js",
        f"const fs = require('fs'), path = require('path')\n"
        f"if (fs.readFileSync(path.join(__dirname, 'deny.txt'), 'utf8')) {{ {JS} }}\n",
        "ROW/deny.txt",
        "DENY\n",
    ),
    "deno": one("deno run --allow-read ROW/guard.mjs", "ROW/guard.mjs", JS),
    "bun": one("bun ROW/guard.mjs", "ROW/guard.mjs", JS),
    "bun-run": one("bun run ROW/guard.mjs", "ROW/guard.mjs", JS),
    "tsx": one("tsx ROW/guard.mjs", "ROW/guard.mjs", JS),
    "npx-tsx": one("npx tsx ROW/guard.mjs", "ROW/guard.mjs", JS),
    # What nobody can follow is said.
    "npx-local": one(
        "cd ROW && npx --no-install guard", "ROW/node_modules/.bin/guard", said="the program guard"
    ),
    "npm-run": Row(
        "cd ROW && npm run guard",
        {"ROW/package.json": '{"scripts": {"guard": "sh ./guard.sh"}}\n', "ROW/guard.sh": SH},
        ("ROW/package.json", "ROW/guard.sh"),
        said="npm run",
    ),
    "just": Row(
        "cd ROW && just guard",
        {"ROW/justfile": "guard:\n  guard.sh\n", "ROW/guard.sh": SH},
        ("ROW/justfile",),
        said="just",
    ),
    "go-run": one("go run ROW/guard.go", "ROW/guard.go"),
    "perl-requires": Row(
        "perl ROW/guard.pl",
        {"ROW/guard.pl": "require './ROW/x.pl';\n", "ROW/x.pl": 'print STDERR "GUARD\\n"; exit 2;\n'},
        ("ROW/guard.pl", "ROW/x.pl"),
        said="what ROW/guard.pl loads",
    ),
    "computed": one('sh "$(printf %s ROW/gu ard.sh)"'),
    "computed-by-program": Row(
        "sh $(sed -n 1p ROW/name)",
        {"ROW/guard.sh": SH, "ROW/name": "ROW/guard.sh\n"},
        ("ROW/guard.sh",),
        said="runs",
    ),
    "printenv": one('sh "$(printenv CLAUDE_PROJECT_DIR)/ROW/guard.sh"', said="runs"),
    "program-on-path": one('PATH="$PWD/ROW:$PATH" guard', "ROW/guard"),
}


class World:
    """One project with a guard for each row, all of them approved at once, and its user's home."""

    def __init__(self, folder: Path, rows: Mapping[str, Row], prefix: str = "tools") -> None:
        self.root, self.home = folder / "project", folder / "home"
        self.prefix = prefix
        self.rows = rows
        programs = folder / "bin"
        for place in (self.root, self.home, programs):
            place.mkdir(parents=True)
        for name, text in PROGRAMS.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        self.env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        subprocess.run(["git", "init", "-q"], cwd=self.root, env=self.env, check=True)
        groups = []
        for name, row in rows.items():
            for path, text in row.files.items():
                self.write(name, path, text)
            handler = {"type": "command", "command": self.said(name, row.command)}
            groups.append({"matcher": f"mcp__guard__{name}", "hooks": [handler]})
        settings = self.root / ".claude/settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))

    def said(self, name: str, text: str) -> str:
        """A text of a row with its folder."""
        return text.replace("ROW", f"{self.prefix}/{name}")

    def path(self, name: str, path: str) -> Path:
        """Where a file of a row is."""
        if path.startswith("HOME/"):
            return self.home / self.said(name, path.removeprefix("HOME/"))
        return self.root / self.said(name, path)

    def write(self, name: str, path: str, text: str) -> Path:
        file = self.path(name, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.said(name, text))
        file.chmod(0o755)
        return file

    def approve(self) -> Any:
        """What `hookport trust` says."""
        done = forks.run(["trust", "--yes", "--json"], self.root, self.env, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def trust(self) -> dict[str, list[str]]:
        """Approve all; what was said not to be covered, by the rows."""
        hooks = {hook["id"]: hook for hook in self.approve()["hooks"]}
        groups = json.loads((self.root / ".claude/settings.json").read_text())["hooks"]["PreToolUse"]
        rows = [group["matcher"].rpartition("__")[2] for group in groups]
        return {
            rows[int(place.partition("PreToolUse[")[2].partition("]")[0])]: hook["not_covered"]
            for place, hook in hooks.items()
        }

    def call(self, name: str) -> str:
        """Why a call that only this row's guard sees is denied; empty where it is not."""
        payload = {
            "session_id": "s",
            "hook_event_name": "PreToolUse",
            "cwd": str(self.root),
            "tool_name": f"mcp__guard__{name}",
            "tool_input": {},
        }
        done = forks.run(["dispatch", "codex", "PreToolUse"], self.root, self.env, json.dumps(payload))
        return done.stderr.strip() if done.returncode == 2 else done.stdout.strip()


def changes(file: Path, outside: Path) -> Iterator[str]:
    """A file changed in every way, one after the other; it is as it was in the end."""
    data, mode = file.read_bytes(), file.stat().st_mode
    file.write_bytes(b"exit 0\n")
    yield "edited"
    file.unlink()
    yield "removed"
    outside.write_bytes(b"exit 0\n")
    file.symlink_to(outside)
    yield "replaced by a link"
    file.unlink()
    file.write_bytes(data)
    file.chmod(mode)


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[World, dict[str, list[str]]]:
    """The guards of the cases that run in this session."""
    cases = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = {case.params.get("name") for case in cases if case is not None}
    rows = {name: row for name, row in GUARDS.items() if name in wanted}
    made = World(tmp_path_factory.mktemp("covered").resolve(), rows)
    return made, made.trust()


@pytest.mark.parametrize("name", GUARDS)
def test_what_disarms_a_guard_is_covered_or_said(
    name: str, world: tuple[World, dict[str, list[str]]]
) -> None:
    place, left = world
    row = GUARDS[name]
    if row.command.startswith("node") and shutil.which("node") is None:
        pytest.skip("node is not installed")
    assert "GUARD" in place.call(name)
    said = place.said(name, row.said)
    if said:
        assert said in f"not covered: {', '.join(left[name])}"
    silent: list[tuple[str, str]] = []
    for path in row.disarms:
        ways = changes(place.path(name, path), place.home / "other")
        silent += [(path, change) for change in ways if TAMPERED not in place.call(name)]
    for path, text in row.added.items():
        before = not place.path(name, path).parent.exists()
        added = place.write(name, path, text)
        if TAMPERED not in place.call(name):
            silent.append((path, "added"))
        added.unlink()
        if before:
            added.parent.rmdir()
    assert said or silent == []
    assert "GUARD" in place.call(name)


# What changes between two calls, by the hook itself or by ordinary work: never a reason to deny.
KEEPS: dict[str, Row] = {
    "log": one("echo x >> ROW/audit; sh ROW/guard.sh"),
    "log-tee": one("echo x | tee -a ROW/audit >/dev/null; sh ROW/guard.sh"),
    "script-log": by('echo x >> "$(dirname "$0")/audit"\n. "$(dirname "$0")/lib.sh"\ncheck'),
    "script-log-read": by(
        'D=$(dirname "$0")\necho x >> "$D/audit"\nwc -l < "$D/audit" >/dev/null\n. "$D/lib.sh"\ncheck'
    ),
    "counter": by(
        'F="${0%/*}/count"; n=$(cat "$F" 2>/dev/null); echo $((n + 1)) > "$F"\n. "${0%/*}/lib.sh"\ncheck'
    ),
    "touch": by('touch "${0%/*}/seen"\n. "${0%/*}/lib.sh"\ncheck'),
    "sed-in-place": by('sed -i s/a/b/ "${0%/*}/notes.txt"\n. "${0%/*}/lib.sh"\ncheck'),
    "copied": by('cp "${0%/*}/lib.sh" "${0%/*}/lib.bak"\n. "${0%/*}/lib.sh"\ncheck'),
    "python-state": py(
        "import json, pathlib\np = pathlib.Path(__file__).parent / 'state.json'\n"
        "p.write_text(json.dumps(1 + json.loads(p.read_text())))\n" + IMPORTS
    ),
    "python-log": py(
        "import os\nopen(os.path.join(os.path.dirname(__file__), 'audit.txt'), 'a').write('x')\n" + IMPORTS
    ),
    "python-cache": py(
        "import sqlite3, os\nc = sqlite3.connect(os.path.join(os.path.dirname(__file__), 'calls.db'))\nc.execute('create table if not exists t (x)')\nc.execute('insert into t values (1)')\nc.commit()\n"
        + IMPORTS
    ),
    "node-state": js(
        "node ROW/guard.js",
        "const fs = require('fs'); fs.appendFileSync(__dirname + '/audit.txt', 'x'); require('./lib').check()\n",
        "ROW/lib.js",
        MODULE,
    ),
    "variable-state": by(
        'python3 -c "import sys; open(sys.argv[1], chr(97)).write(str(1))" "$STATE"\n. "${0%/*}/lib.sh"\ncheck'
    )._replace(command="STATE=ROW/state.txt ./ROW/guard.sh"),
    "manifest": one("grep -q DENY package.json; sh ROW/guard.sh"),
    "tested": one("[ -f ROW/notes.txt ] && sh ROW/guard.sh"),
    "protects": py("PROTECTED = ['package.json', 'src/main.py', 'ROW/notes.txt']\n" + IMPORTS),
    "ignored": one("cat ROW/ignored.txt >/dev/null; sh ROW/guard.sh"),
    "ignored-library": by('[ -f "${0%/*}/ignored.sh" ] && . "${0%/*}/ignored.sh"\n. "${0%/*}/lib.sh"\ncheck'),
    "printed": by('printf "%s" "edit ROW/notes.txt" >/dev/null\n. "${0%/*}/lib.sh"\ncheck'),
}
CHANGED = (
    "state.json",
    "audit",
    "audit.txt",
    "count",
    "seen",
    "notes.txt",
    "lib.bak",
    "state.txt",
    "ignored.txt",
)


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, list[str]]]:
    made = World(tmp_path_factory.mktemp("kept").resolve(), KEEPS)
    (made.root / ".gitignore").write_text("ignored.*\n")
    (made.root / "package.json").write_text("{}")
    (made.root / "src").mkdir()
    (made.root / "src/main.py").write_text("")
    for name in KEEPS:
        for file in CHANGED:
            made.write(name, f"ROW/{file}", "1")
        made.write(name, "ROW/ignored.sh", ":")
    return made, made.trust()


@pytest.mark.parametrize("name", KEEPS)
def test_what_a_hook_or_ordinary_work_changes_denies_nothing(
    name: str, working: tuple[World, dict[str, list[str]]]
) -> None:
    place, _ = working
    said = [place.call(name) for _ in range(2)]
    for file in CHANGED:
        path = place.path(name, f"ROW/{file}")
        path.write_text(f"{path.read_text()}2")
    place.write(name, "ROW/ignored.sh", "X=1")
    place.write(name, "ROW/new.txt", "new")
    for file in ("package.json", "src/main.py"):
        (place.root / file).write_text(json.dumps({"name": name}))
    assert {TAMPERED in one for one in (*said, place.call(name))} == {False}
    assert "GUARD" in said[0]


def test_what_is_left_out_is_said_of_files_that_may_matter(
    working: tuple[World, dict[str, list[str]]],
) -> None:
    _, left = working
    assert {name: left[name] for name in ("manifest", "tested", "ignored", "log", "python-state")} == {
        "manifest": ["package.json, which changes with ordinary work"],
        "tested": ["whether tools/tested/notes.txt exists"],
        "ignored": ["tools/ignored/ignored.txt, which git ignores"],
        "log": [],
        "python-state": ["tools/python-state/state.json, which the hook may write"],
    }


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_the_lock_is_the_same_on_every_machine(tmp_path: Path, step: int) -> None:
    rows = dict([*GUARDS.items()][::step])
    places = [World(tmp_path.resolve() / name, rows) for name in ("one", "two/deeper")]
    for place in places:
        place.trust()
    first, second = ((place.root / "hookport.lock").read_bytes() for place in places)
    assert first == second
    assert str(tmp_path).encode() not in first


@pytest.mark.parametrize("covers", [["rules/**", "!rules/notes.txt"], {"guard": "rules", "other": ["x"]}])
def test_settings_name_more_files(tmp_path: Path, covers: Any) -> None:
    place = World(tmp_path.resolve(), {"guard": one("ROW/guard.sh")})
    for name, text in (("deny.sh", SH), ("notes.txt", "")):
        (place.root / "rules").mkdir(exist_ok=True)
        (place.root / "rules" / name).write_text(text)
    hooks = [
        {
            "name": "guard",
            "event": "before_tool_execute",
            "blocking": True,
            "handler": {"type": "command", "command": "sh tools/guard/guard.sh"},
        }
    ]
    (place.root / ".claude/settings.json").unlink()
    (place.root / ".hookport").mkdir()
    (place.root / ".hookport/hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    config = place.root / ".hookport/config.json"
    config.write_text(json.dumps({"covers": covers}))
    place.approve()
    assert place.call("guard") == "GUARD"
    (place.root / "rules/notes.txt").write_text("other")
    is_covered = isinstance(covers, dict)
    assert (TAMPERED in place.call("guard")) == is_covered
    (place.root / "rules/notes.txt").write_text("")
    assert place.call("guard") == "GUARD"
    (place.root / "rules/deny.sh").write_text("exit 0")
    assert TAMPERED in place.call("guard")
    # To take the globs away does not take the files away that were approved.
    config.write_text("{}")
    assert TAMPERED in place.call("guard")
