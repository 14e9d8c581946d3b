#!/bin/sh
# The interchange format: the decision as JSON.
case $(cat) in *"rm -rf"*)
  echo '{"decision": "deny", "reason": "delete files one by one"}'
  ;;
esac
