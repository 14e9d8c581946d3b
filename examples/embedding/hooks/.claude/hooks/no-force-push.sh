#!/bin/sh
# Claude Code: the reason on stderr, exit code 2.
case $(cat) in *"git push --force"*)
  echo "force pushes need a human" >&2
  exit 2
  ;;
esac
