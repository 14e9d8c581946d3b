#!/usr/bin/env bash
# Denies a recursive delete, the way most hooks for Claude Code are written: jq on stdin, JSON on stdout.
command=$(jq -r '.tool_input.command // empty')
if [[ $command =~ rm[[:space:]]+-[a-zA-Z]*r ]]; then
  jq -n '{
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: "recursive deletes need a human"
    }
  }'
fi
