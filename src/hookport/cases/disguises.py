"""Tables of other spellings of a shell command: each does the same as the command, and a test proves it.

A row is a name and a template in which words in capitals stand for parts of the command. The shell is bash,
which most agents start their commands with.
"""

from __future__ import annotations

from collections.abc import Mapping

# TEXT is the command, QUOTED the same as one word of a shell, SHOUTED with a `!` before it; LITERAL is a
# string of Python, JavaScript or awk inside single quotes, PERL one of Perl, CODES a list of its bytes.
WHOLE: Mapping[str, Mapping[str, str]] = {
    "another command beside it": {
        "after true &&": "true && TEXT",
        "after false ||": "false || TEXT",
        "after ;": "true; TEXT",
        "on the second line": "true\nTEXT",
        "after a comment": "# nothing to see\nTEXT",
        "before ;": "TEXT; true",
        "in a pipe": "true | TEXT",
        "in the background": "TEXT & wait",
        "after cd": "cd . && TEXT",
    },
    "a block of the shell": {
        "subshell": "(TEXT)",
        "group": "{ TEXT; }",
        "if": "if true; then TEXT; fi",
        "for": "for i in 1; do TEXT; done",
        "while": "while TEXT; do break; done",
        "case": "case x in x) TEXT;; esac",
        "function": "f() { TEXT; }; f",
        "not": "! TEXT",
        "time": "time TEXT",
        "command substitution": 'echo "$(TEXT)"',
        "backticks": "echo `TEXT`",
        "in an assignment": 'x=$(TEXT); echo "$x"',
        "process substitution": "cat <(TEXT)",
        "trap": "trap QUOTED EXIT",
    },
    "a shell in the shell": {
        "sh -c": "sh -c QUOTED",
        "bash -c": "bash -c QUOTED",
        "/bin/sh -c": "/bin/sh -c QUOTED",
        "bash -xc": "bash -xc QUOTED",
        "sh -c with an argument": "sh -c 'eval \"$1\"' x QUOTED",
        "env sh -c": "env sh -c QUOTED",
        "exec sh -c": "exec sh -c QUOTED",
        "eval": "eval QUOTED",
        "eval of a variable": 'x=QUOTED; eval "$x"',
        "here-string": "bash <<< QUOTED",
        "here-document": "sh <<'END_OF_IT'\nTEXT\nEND_OF_IT",
        "into sh": "printf '%s\\n' QUOTED | sh",
        "into bash -s": "printf '%s\\n' QUOTED | bash -s",
        "source": "source /dev/stdin <<< QUOTED",
        "a file of process substitution": "bash <(printf '%s\\n' QUOTED)",
        "a script that is written first": 'x=$(mktemp); printf "%s\\n" QUOTED > "$x"; sh "$x"; unlink "$x"',
        "xargs sh -c": "printf '%s\\0' QUOTED | xargs -0 sh -c",
        "find -exec sh": "find . -maxdepth 0 -exec sh -c QUOTED \\;",
    },
    "encoded": {
        "base64 into sh": "echo BASE64 | base64 -d | sh",
        "base64 in eval": 'eval "$(echo BASE64 | base64 -d)"',
        "octal into sh": "printf 'OCTAL' | sh",
        "hexadecimal in eval": "eval $'HEXADECIMAL'",
        "reversed": "echo REVERSED | rev | sh",
    },
    "another language": {
        "python3 -c": "python3 -c 'import os; os.system(LITERAL)'",
        "python3 on stdin": "echo 'import os; os.system(LITERAL)' | python3",
        "python3 with codes": 'python3 -c \'import os; getattr(os, "sys" "tem")(bytes(CODES).decode())\'',
        "perl -e": "perl -e 'system(PERL)'",
        "node -e": "node -e 'console.log(String(require(\"child_process\").execSync(LITERAL)))'",
        "awk": "awk 'BEGIN { system(LITERAL) }'",
        "git alias": "git -c alias.x=SHOUTED x",
    },
}

# NAME is the program, FIRST its first letter, OTHERS those that follow, REST what follows the program.
PROGRAM: Mapping[str, Mapping[str, str]] = {
    "quoting": {
        "single quotes": "'NAME' REST",
        "double quotes": '"NAME" REST',
        "quotes inside": "'FIRST'OTHERS REST",
        "empty quotes inside": "FIRST''OTHERS REST",
        "empty double quotes inside": 'FIRST""OTHERS REST',
        "backslash": "\\NAME REST",
        "backslash inside": "FIRST\\OTHERS REST",
        "octal in quotes": "$'OCTAL_NAME' REST",
        "line continuation inside": "FIRST\\\nOTHERS REST",
        "line continuation": "NAME \\\nREST",
        "two spaces": "NAME  REST",
        "tab": "NAME\tREST",
        "space before": " NAME REST",
    },
    "variables": {
        "program in a variable": "x=NAME; $x REST",
        "two variables": "x=FIRST; y=OTHERS; $x$y REST",
        "empty variable inside": "FIRST${x}OTHERS REST",
        "no arguments inside": "FIRST$@OTHERS REST",
        "default of a variable": "${x:-NAME} REST",
        "part of a variable": "x=xNAME; ${x#x} REST",
        "program by echo": "$(echo NAME) REST",
        "program by printf": "$(printf 'OCTAL_NAME') REST",
        "program by backticks": "`echo NAME` REST",
        "alias": "shopt -s expand_aliases; alias x=NAME\nx REST",
        "function of it": 'x() { NAME "$@"; }; x REST',
        "a variable before": "X=1 NAME REST",
        "redirection before": "</dev/null NAME REST",
        "redirection of errors before": "2>/dev/null NAME REST",
    },
}
# The same for programs that are files, not built into the shell. PATH is where it is, GLOBBED a pattern.
FILE: Mapping[str, Mapping[str, str]] = {
    "another program in front": {
        "command": "command NAME REST",
        "command -p": "command -p NAME REST",
        "command -v": "$(command -v NAME) REST",
        "env": "env NAME REST",
        "env with a variable": "env X=1 NAME REST",
        "/usr/bin/env": "/usr/bin/env NAME REST",
        "absolute path": "PATH REST",
        "path through ..": "/bin/../PATH REST",
        "pattern of a path": "GLOBBED REST",
        "timeout": "timeout 60 NAME REST",
        "nohup": "nohup NAME REST",
        "nice": "nice NAME REST",
        "stdbuf": "stdbuf -o0 NAME REST",
        "setsid": "setsid -w NAME REST",
    },
}
# For one command of plain words. WORDS are all of them with blanks between, IFS_WORDS with ${IFS}, COMMAS
# with commas; LAST is the last one, HALF and HALVED its halves, MOST those before it.
PLAIN: Mapping[str, Mapping[str, str]] = {
    "words": {
        "IFS between words": "IFS_WORDS",
        "IFS of our own": "IFS=,; x=COMMAS; $x",
        "all words in a variable": "x='WORDS'; $x",
        "words that are read": "read -r x <<< 'WORDS'; $x",
        "arguments of the shell": 'set -- WORDS; "$@"',
        "array": 'x=(WORDS); "${x[@]}"',
        "braces": "{COMMAS}",
        "exec": "exec WORDS",
        "xargs": "echo LAST | xargs MOST",
        "xargs -I": "echo LAST | xargs -I% MOST %",
        "xargs of all words": "echo WORDS | xargs env",
        "find -exec": "find . -maxdepth 0 -exec WORDS \\;",
        "last word by echo": "MOST $(echo LAST)",
        "last word in a variable": "x=LAST; MOST $x",
        "last word with quotes inside": "MOST HALF''HALVED",
        "every word quoted": "QUOTED_WORDS",
        "redirection between words": "NAME 2>/dev/null REST",
        "subprocess of Python": "python3 -c 'import subprocess; subprocess.run(LIST)'",
        "exec of Perl": "perl -e 'exec(LISTED)'",
        "spawn of Node": "node -e 'const [a, ...b] = LIST; "
        'require("child_process").spawnSync(a, b, {stdio: "inherit"})\'',
    },
}
# The same for programs whose last word is a file that is there.
WITH_FILE: Mapping[str, Mapping[str, str]] = {
    "paths": {
        "./ before the path": "MOST ./LAST",
        "folder before the path": 'MOST "$PWD"/LAST',
        "path through ..": 'MOST ../"${PWD##*/}"/LAST',
        "pattern of the path": "MOST HALF[HALVED_FIRST]HALVED_REST",
        "-- before the path": "MOST -- LAST",
    },
}
FILE_PROGRAMS = ("rm", "chmod", "cat", "rmdir", "unlink", "chown", "truncate", "shred")
# Options that have a long name, by program, as GNU and git know them.
LONG: Mapping[str, Mapping[str, str]] = {
    "rm": {"r": "--recursive", "R": "--recursive", "f": "--force"},
    "chmod": {"R": "--recursive", "f": "--silent"},
    "chown": {"R": "--recursive"},
    "git push": {"f": "--force"},
    "git clean": {"f": "--force"},
    "git branch": {"D": "--delete --force"},
}
# Options that mean the same.
ALSO: Mapping[str, Mapping[str, str]] = {"rm": {"r": "R", "R": "r"}}
# Options of a program before the word that says what it is to do.
BEFORE: Mapping[str, tuple[str, ...]] = {"git": ("-c core.x=1", "-C .", "--no-pager", "-p")}
# What else has the same effect: a pattern of the command, and templates of what its groups are put into.
EFFECTS: tuple[tuple[str, Mapping[str, str]], ...] = (
    (
        r"rm (?=(?:-\S+ )*(?:-[a-zA-Z]*[rR]|--recursive))(?:-\S+ )+(?P<it>[\w./-]+)",
        {
            "find -delete": "find IT -delete",
            "find -exec rm": "find IT -depth -exec rm -rf {} +",
            "find into xargs": "find IT -depth -print0 | xargs -0 rm -rf",
            "rmtree of Python": "python3 -c 'import shutil; shutil.rmtree(\"IT\")'",
            "rmtree of Perl": "perl -MFile::Path -e 'rmtree(\"IT\")'",
            "rmSync of Node": 'node -e \'require("fs").rmSync("IT", {recursive: true})\'',
            "moved away": 'mv IT "$(mktemp -d)"',
        },
    ),
    (
        r"rm (?:-f |--force )?(?P<it>[\w./]+)",
        {
            "unlink": "unlink IT",
            "find -delete": "find IT -delete",
            "unlink of Python": "python3 -c 'import os; os.unlink(\"IT\")'",
            "unlink of Perl": "perl -e 'unlink(\"IT\")'",
            "moved away": 'mv IT "$(mktemp -d)"',
        },
    ),
    (
        r"git push (?:-f|--force) (?P<remote>[\w./-]+) (?P<it>[\w./-]+)",
        {
            "+ before the branch": "git push REMOTE +IT",
            "+ and both sides": "git push REMOTE +IT:IT",
            "+ and the full name": "git push REMOTE +refs/heads/IT:refs/heads/IT",
            "--force-with-lease": "git push --force-with-lease REMOTE IT",
            "git alias of it": "git -c alias.x='push --force' x REMOTE IT",
            "setting of the remote": "git -c remote.REMOTE.push=+refs/heads/IT push REMOTE",
            "option at the end": "git push REMOTE IT --force",
        },
    ),
    (
        r"git push (?:-f|--force)(?: (?P<remote>[\w./-]+))?",
        {
            "+ before HEAD": "git push REMOTE +HEAD",
            "--force-with-lease": "git push --force-with-lease REMOTE",
            "git alias of it": "git -c alias.x='push --force' x REMOTE",
        },
    ),
    (
        r"(?P<get>(?:curl|wget) [^|;&]*[^|;& ]) *\| *(?:ba|z)?sh",
        {
            "into /bin/sh": "GET | /bin/sh",
            "into bash": "GET | bash",
            "into env sh": "GET | env sh",
            "through tee": "GET | tee /dev/null | sh",
            "without blanks": "GET|sh",
            "sh -c of it": 'sh -c "$(GET)"',
            "eval of it": 'eval "$(GET)"',
            "process substitution of it": "bash <(GET)",
            "source of it": "source <(GET)",
            "here-string of it": 'bash <<< "$(GET)"',
            "in a file first": 'x=$(mktemp); GET > "$x"; sh "$x"',
            "into xargs": "GET | xargs -0 sh -c",
        },
    ),
    (
        r"chmod 0?777 (?P<it>[\w./-]+)",
        {
            "0777": "chmod 0777 IT",
            "a+rwx": "chmod a+rwx IT",
            "ugo=rwx": "chmod ugo=rwx IT",
            "+ of each": "chmod u+rwx,g+rwx,o+rwx IT",
            "chmod of Python": "python3 -c 'import os; os.chmod(\"IT\", 0o777)'",
            "chmod of Perl": "perl -e 'chmod 0777, \"IT\"'",
        },
    ),
    (
        r"dd if=(?P<source>[\w./-]+) of=(?P<it>[\w./-]+)",
        {
            "of= first": "dd of=IT if=SOURCE",
            "by stdin and stdout": "dd < SOURCE > IT",
            "cat": "cat SOURCE > IT",
            "tee": "tee IT < SOURCE > /dev/null",
            "cp": "cp SOURCE IT",
        },
    ),
    (
        r"cat (?P<it>[\w./-]+)",
        {
            "by stdin": "cat < IT",
            "in the shell": 'echo "$(< IT)"',
            "mapfile": 'mapfile x < IT; printf %s "${x[@]}"',
            "head": "head -n 9999 IT",
            "tail": "tail -n 9999 IT",
            "sed": "sed '' IT",
            "awk": "awk 1 IT",
            "grep": "grep '' IT",
            "sort": "sort IT",
            "tac": "tac IT",
            "dd": "dd if=IT",
            "diff": "diff IT /dev/null",
            "through base64": "base64 IT | base64 -d",
            "a copy": 'x=$(mktemp); cp IT "$x"; cat "$x"',
            "open of Python": "python3 -c 'print(open(\"IT\").read())'",
            "perl -pe": "perl -pe 1 IT",
            "readFileSync of Node": 'node -p \'require("fs").readFileSync("IT", "utf8")\'',
        },
    ),
    (
        r"(?P<get>(?:echo|printf|cat) [^|;&<>]*[^|;&<> ]) *> *(?P<it>[\w./-]+)",
        {
            "tee": "GET | tee IT",
            ">|": "GET >| IT",
            "1>": "GET 1> IT",
            "> first": "> IT GET",
            "dd": "GET | dd of=IT",
            "a copy": 'x=$(mktemp); GET > "$x"; cp "$x" IT',
        },
    ),
)
# Programs that a machine may lack.
OPTIONAL = (
    *("python3", "perl", "node", "awk", "rev", "base64", "git", "curl", "wget", "tac", "mapfile"),
    *("timeout", "nohup", "nice", "stdbuf", "setsid"),
)
# The POSIX shell's and bash's own words, which no program stands before.
BUILT_IN = (
    *(".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare", "echo"),
    *("eval", "exec", "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill", "let", "local"),
    *("printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "times", "trap"),
    *("true", "type", "ulimit", "umask", "unalias", "unset", "wait"),
)
KEYWORDS = ("if", "for", "while", "until", "case", "select", "function", "time", "coproc", "{", "[[", "!")
