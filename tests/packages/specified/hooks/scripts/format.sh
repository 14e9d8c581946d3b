#!/usr/bin/env bash
# Takes the blanks off the ends of the lines of a file that was written.
cat > /dev/null
if [ -f "$1" ]; then
  sed -i.bak 's/[ \t]*$//' "$1" && rm -f "$1.bak"
fi
