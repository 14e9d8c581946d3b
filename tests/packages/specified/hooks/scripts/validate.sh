#!/usr/bin/env bash
# Refuses to write where the system keeps its own files.
path=$(sed -n 's/.*"file_path": *"\([^"]*\)".*/\1/p')
case "$path" in
  /etc/* | /usr/* | /boot/*)
    echo "blocked: $path is a protected path" >&2
    echo '{"hookSpecificOutput": {"hookEventName": "pre-tool-use", "permissionDecision": "deny", "permissionDecisionReason": "'"$path"' is a protected path"}}'
    exit 2
    ;;
esac
