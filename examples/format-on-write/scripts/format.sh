#!/bin/sh
# Formats the file that was just written, with the project's formatter for its type.
# It never fails the edit: if the formatter is missing or fails, the file stays unchanged. Needs jq.

command -v jq >/dev/null || exit 0
event=$(cat)
file=$(printf %s "$event" | jq -r '.tool_input.file_path // empty' 2>/dev/null)
folder=$(printf %s "$event" | jq -r '.cwd // empty' 2>/dev/null)
cd "${folder:-.}" 2>/dev/null || exit 0

# Only an existing file in this project, not a link to another place.
[ -f "$file" ] && [ ! -L "$file" ] || exit 0
place=$(cd "$(dirname -- "$file")" && pwd -P) || exit 0
case $place/ in "$(pwd -P)"/*) ;; *) exit 0 ;; esac
file=$place/$(basename -- "$file")

format_json() {
  python3 -m json.tool --no-ensure-ascii --indent=2 "$1" "$1"
}

# format_with COMMAND ...: runs the first that is installed, the project's own first.
format_with() {
  for each; do
    program=${each%% *}
    [ ! -x "node_modules/.bin/$program" ] || each=node_modules/.bin/$each
    [ ! -x ".venv/bin/$program" ] || each=.venv/bin/$each
    command -v "${each%% *}" >/dev/null || continue
    before=$(cksum <"$file")
    # shellcheck disable=SC2086  # a command and its options
    said=$($each "$file" 2>&1 </dev/null) || printf '%s left %s as it is: %s\n' "$program" "$file" "$said" >&2
    [ "$before" = "$(cksum <"$file")" ] || printf '%s formatted %s\n' "$program" "$file" >&2
    return
  done
}

case $file in
  */node_modules/* | */vendor/* | *.min.* | *lock.json | *lock.yaml) ;;
  *.py) format_with 'ruff format --quiet' 'black --quiet' ;;
  *.json) format_with 'prettier --write --log-level=warn' format_json ;;
  *.js | *.jsx | *.ts | *.tsx | *.css | *.html | *.md | *.yaml | *.yml) format_with 'prettier --write --log-level=warn' ;;
  *.go) format_with 'gofmt -w' ;;
  *.rs) format_with 'rustfmt --quiet' ;;
  *.sh) format_with 'shfmt -w' ;;
esac
exit 0
