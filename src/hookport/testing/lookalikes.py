"""Harmless commands and paths that resemble what a guard stops: a guard that stops them too is in the way.

Each mentions the action in a text, searches for it, asks about the program, or does something similar without
harm. A test runs them where the action would leave a trace.
"""

from __future__ import annotations

from collections.abc import Mapping

# As in `disguises`: QUOTED is the whole command as one word of a shell, NAME its program, LITERAL a string of
# Python or JavaScript inside single quotes. DESCRIBED and GREPPED are QUOTED within a sentence and an option.
MENTIONED: Mapping[str, str] = {
    "message of a commit": "git commit --allow-empty -m QUOTED",
    "sentence of a commit": "git commit --allow-empty -m DESCRIBED",
    "echo": "echo QUOTED",
    "echo of a sentence": "echo DESCRIBED",
    "printf": "printf '%s\\n' QUOTED",
    "variable": "x=QUOTED; echo ${#x}",
    "comment": "ls # TEXT",
    "grep": "grep -rnF -- QUOTED .",
    "grep of a pipe": "git log --oneline | grep -F -- QUOTED",
    "git grep": "git grep -nF -e QUOTED",
    "git log --grep": "git log --fixed-strings GREPPED",
    "git log -S": "git log --oneline -S QUOTED",
    "title of an issue": "gh issue create --title DESCRIBED --body x",
    "text of a pull request": "gh pr create --title x --body DESCRIBED",
    "line of a document": "echo DESCRIBED >> notes.md",
    "document": "cat > notes.md <<'END_OF_IT'\nNever run this: TEXT\nEND_OF_IT",
    "print of Python": "python3 -c 'print(LITERAL)'",
    "value of Node": "node -p 'LITERAL.length'",
}
ASKED: Mapping[str, str] = {
    "man": "man NAME",
    "which": "which NAME",
    "command -v": "command -v NAME",
    "type": "type NAME",
    "where it is": "whereis NAME",
    "--help": "NAME --help",
    "--version": "NAME --version",
    "apropos": "apropos NAME",
    "history": "history | grep NAME",
    "processes": "ps aux | grep NAME",
    "grep of the program": "grep -rn NAME docs",
    "file with its name": "ls NAME-notes.md",
    "branch with its name": "git checkout -b fix-NAME",
    "script with its name": "cat NAME.md",
}
# Everyday commands similar to an action, by a pattern of the command.
NEAR: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"\brm\b",
        (
            "docker run --rm -it alpine ls",
            "docker compose run --rm web true",
            "npm rm left-pad",
            "git rm --cached notes.md",
            "git remote rm upstream",
            "rmdir empty",
            "ls -rf",
            "cp -rf a b",
            "grep -rf patterns.txt docs",
            "npm run build -- --rm",
            "git log -- rm.c",
            "tar -rf archive.tar notes.md",
            "./confirm -rf",
            "alembic upgrade head",
        ),
    ),
    (
        r"\bgit push\b",
        (
            "git push",
            "git push origin feature/force-main",
            "git push -u origin fix-force",
            "git push --dry-run --force origin main",
            "git push --follow-tags origin release",
            "git fetch --force origin",
            "git pull --ff-only origin main",
            "git log --oneline origin/main",
            "git stash push -m force",
            "git diff main -- force.py",
            "git add -f dist/main.js",
            "git tag -f nightly",
            "npm install --force",
            "git push --help",
        ),
    ),
    (
        r"\bgit (?:reset|checkout|restore|clean|branch|commit)\b",
        (
            "git reset --soft HEAD~1",
            "git reset HEAD notes.md",
            "git checkout -b hard-reset",
            "git clean -n",
            "git clean --dry-run -d",
            "git branch -d merged",
            "git branch --list",
            "git commit --verbose -m x",
            "git restore --staged notes.md",
            "git status",
        ),
    ),
    (
        r"\b(?:curl|wget)\b",
        (
            "curl -s https://example.com/data.json | jq .",
            "curl -sO https://example.com/data.json",
            "curl -I https://example.com",
            "curl -s https://example.com/install.sh | shasum",
            "curl -s https://example.com/install.sh -o install.sh",
            "curl -s https://example.com | grep sh",
            "curl -s https://example.com/push.sh | head",
            "curl -d name=x https://localhost:8080/items",
            "wget https://example.com/data.tar.gz",
            "wget -q --spider https://example.com",
            "brew install curl",
            "ssh-keygen -l -f key.pub",
        ),
    ),
    (
        r"\bchmod\b",
        (
            "chmod +x scripts/build.sh",
            "chmod 755 scripts/build.sh",
            "chmod 644 notes.md",
            "chmod -R u+rwX build",
            "stat -c %a notes.md",
            "ls -l 777.txt",
            "grep -rn 'chmod 777' docs",
        ),
    ),
    (
        r"\bdd\b",
        ("dd --help", "git add .", "npm add left-pad", "date +%y%m%dd", "ls dd.log", "yarn add dd-trace"),
    ),
    (
        r"\.env\b",
        (
            "cat .env.example",
            "cp .env.example .env.test",
            "git check-ignore .env",
            "test -f .env",
            "ls -la",
            "cat src/environment.ts",
            "echo .env >> .gitignore",
            "grep -rn process.env src",
            "node -p process.env.HOME",
            "env",
        ),
    ),
)
# Paths similar to a guarded one, from its name; at the root, because its own folder may be guarded too.
BESIDE_PATH: Mapping[str, str] = {
    "an example of it": "NAME.example",
    "a sample of it": "NAME.sample",
    "a page about it": "docs/NAME.md",
    "a test of it": "tests/test_STEM.py",
    "a source with its name": "src/STEM_loader.ts",
    "another file": "README.md",
}
