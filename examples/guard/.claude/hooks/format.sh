#!/usr/bin/env bash
# Formats what was just written.
cat >/dev/null
npx --no-install prettier --write . >/dev/null 2>&1 || true
