#!/bin/sh
# An open plugin: the reason on stderr, exit code 2.
case $(cat) in *"curl "*)
  echo "downloads are reviewed first" >&2
  exit 2
  ;;
esac
