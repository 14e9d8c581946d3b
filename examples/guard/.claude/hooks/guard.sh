#!/usr/bin/env bash
# Denies a recursive delete: Claude Code hands over the tool call as JSON on stdin.
payload=$(cat)
if grep -Eq '"command": *"[^"]*rm +-[a-z]*r' <<<"$payload"; then
  echo "recursive deletes need a human" >&2
  exit 2
fi
