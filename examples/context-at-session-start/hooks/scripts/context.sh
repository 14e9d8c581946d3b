#!/bin/sh
# Gives the agent, when a session starts, what it would ask for first: the rules in context.md and the state of git.
# Text that a session-start hook prints is context. It needs only git, and prints less without it.

cat >/dev/null # the payload is not needed, but its sender waits until it is read

here=$(cd "$(dirname "$0")/.." && pwd)
if [ -r "$here/context.md" ]; then
  echo 'Rules of this project:'
  head -c 4000 "$here/context.md"
fi

git() { command git --no-optional-locks --no-pager "$@" 2>/dev/null; }
if branch=$(git branch --show-current); then
  printf '\nYou are on branch %s. ' "${branch:-(none)}"
  changed=$(git status --porcelain | head -n 20)
  if [ -n "$changed" ]; then
    printf 'These files have changes that are not committed:\n%s\n' "$changed"
  else
    echo 'Nothing is uncommitted.'
  fi
  if commits=$(git log --oneline -n 5) && [ -n "$commits" ]; then
    printf 'The last commits:\n%s\n' "$commits"
  fi
fi
exit 0
