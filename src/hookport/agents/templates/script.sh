#!/bin/sh
# __MARK__
# __TITLE__
# hooks: __DATA__

# All answers are JSON on stdout; the host ignores the exit code.
hp_before=__BEFORE__
hp_after=__AFTER__
hp_event=__EVENT__
hp_limit=__LIMIT__
hp_strict=__STRICT__

set -f
hp_here=$(CDPATH='' cd -- "$(dirname -- "$0")" 2>/dev/null && pwd)
case $hp_here in
*/.*/hooks) __ROOT__=${hp_here%/*/*} ;;
*) __ROOT__=${HOME-} ;;
esac
[ "$__ROOT__" != "${HOME-}" ] || __ROOT__=$PWD
__ROOT__=${__ROOT__:-/}
export __ROOT__

# The text on stdin as a JSON string.
hp_json() {
  LC_ALL=C awk '
    BEGIN {
      for (n = 1; n < 32; n++) code[sprintf("%c", n)] = sprintf("\\u%04x", n)
      code["\""] = "\\\""
      code["\\"] = "\\\\"
      printf "\""
    }
    {
      if (NR > 1) printf "\\n"
      size = length($0)
      for (at = 1; at <= size; at++) {
        c = substr($0, at, 1)
        printf "%s", (c in code) ? code[c] : c
      }
    }
    END { printf "\"" }'
}

# Stops the run and gives the reason: hp_deny REASON, or hp_stop_run JSON-STRING.
hp_stop_run() {
  printf '%s%s%s\n' "$hp_before" "$1" "$hp_after"
  exit 0
}
hp_deny() {
  hp_stop_run "$(printf '%s' "$1" | hp_json)"
}

# Every text after a key, one per line, written as in the payload. A quote inside a text is escaped
# there, so no text can look like a key.
hp_texts() {
  LC_ALL=C tr '\000-\037' '[ *]' <"$hp_dir/in" | LC_ALL=C awk -v key="\"$1\"" '
    {
      rest = $0
      while ((at = index(rest, key)) > 0) {
        rest = substr(rest, at + length(key))
        if (!match(rest, /^ *: *"/)) continue
        rest = substr(rest, RLENGTH + 1)
        text = ""
        while ((end = index(rest, "\"")) > 0) {
          text = text substr(rest, 1, end - 1)
          rest = substr(rest, end + 1)
          n = 0
          while (n < length(text) && substr(text, length(text) - n, 1) == "\\") n++
          if (n % 2 == 0) break
          text = text "\""
        }
        print text
      }
    }'
}

# The known keys of the one JSON object in the file, as lines of key, tab, JSON; nothing for any other file.
hp_keys() {
  LC_ALL=C tr '\000-\037' '[ *]' <"$1" | LC_ALL=C awk '
    function blank() { while (substr(shape, p, 1) == " ") p++ }
    function string(  s, t) {
      if (substr(shape, p, 1) != "\"") { bad = 1; return "" }
      p++
      s = t = texts[++used]
      gsub(/\\u[0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f][0-9A-Fa-f]|\\["\\\/bfnrt]/, "", t)
      if (index(t, "\\")) bad = 1
      return "\"" s "\""
    }
    function value(  c, out, last, next_) {
      blank()
      c = substr(shape, p, 1)
      if (c == "\"") return string()
      if (c != "{" && c != "[") {
        out = substr(shape, p, 400)
        if (!match(out, /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)/)) {
          bad = 1
          return ""
        }
        out = substr(shape, p, RLENGTH)
        p += RLENGTH
        return out
      }
      last = c == "{" ? "}" : "]"
      out = c
      p++
      depth++
      blank()
      if (substr(shape, p, 1) == last) { p++; depth--; return out last }
      while (!bad) {
        if (c == "{") {
          blank()
          key[depth] = string()
          blank()
          if (substr(shape, p, 1) != ":") bad = 1
          p++
          out = out key[depth] ":"
        }
        item = value()
        if (depth == 1 && c == "{") top[key[1]] = item
        out = out item
        blank()
        next_ = substr(shape, p, 1)
        p++
        if (next_ == last) { depth--; return out last }
        if (next_ != ",") bad = 1
        out = out ","
      }
      return ""
    }
    { all = all $0 }
    END {
      count = split(all, part, "\"")
      for (i = 1; i <= count; i++) {
        if (!inside) {
          shape = shape part[i]
          if (i < count) { shape = shape "\""; inside = 1; texts[++made] = "" }
          continue
        }
        texts[made] = texts[made] part[i]
        n = 0
        while (n < length(part[i]) && substr(part[i], length(part[i]) - n, 1) == "\\") n++
        if (n % 2) texts[made] = texts[made] "\""
        else inside = i == count
      }
      p = 1
      blank()
      if (inside || substr(shape, p, 1) != "{") exit
      value()
      blank()
      if (bad || p <= length(shape)) exit
      if (top["\"cancel\""] == "true") print "cancel\ttrue"
      split("errorMessage contextModification context", names, " ")
      for (i = 1; i <= 3; i++) {
        item = top["\"" names[i] "\""]
        if (substr(item, 1, 1) == "\"" && length(item) > 2) print names[i] "\t" item
      }
      item = top["\"overrideInput\""]
      if (item != "" && item != "null") print "overrideInput\t" item
    }'
}

hp_now() {
  hp_clock=$(date +%s 2>/dev/null)
  case $hp_clock in '' | *[!0-9]*) hp_clock=0 ;; esac
}

# Whether the payload is about one of these tools. A payload without a tool is about all of them.
hp_applies() {
  [ "$hp_reach" = all ] && return 0
  [ -s "$hp_dir/tools" ] || return 0
  while IFS= read -r hp_tool; do
    for hp_word do
      case $hp_word in
      *'*') case $hp_tool in "${hp_word%?}"*) return 0 ;; esac ;;
      *) [ "x$hp_tool" = "x$hp_word" ] && return 0 ;;
      esac
    done
    if [ "$hp_reach" = others ]; then
      case $hp_tool in
      __BUILTIN__) ;;
      *) return 0 ;;
      esac
    fi
  done <"$hp_dir/tools"
  return 1
}

# Kills a process, its group if it leads one, and all its descendants.
hp_kill() {
  hp_tree=$(ps -A -o pid= -o ppid= 2>/dev/null | awk -v top="$1" '
    { parent[$1] = $2 }
    END {
      for (pid in parent) {
        up = pid
        for (n = 0; n < 99 && up != top && (up in parent); n++) up = parent[up]
        if (up == top && pid != top) print pid
      }
    }')
  kill -9 -- "-$1" 2>/dev/null
  kill -9 "$1" $hp_tree 2>/dev/null
}

# hook SECONDS blocks|watches open|late|closed all|some|others NAME COMMAND TOOL...
hook() {
  hp_seconds=$1 hp_blocks=$2 hp_fails=$3 hp_reach=$4 hp_name=$5 hp_command=$6
  shift 6
  if [ -z "$hp_dir" ]; then
    [ "$hp_blocks $hp_fails" != 'blocks closed' ] || hp_deny "hook $hp_name did not start: no temporary files"
    return 0
  fi
  hp_applies "$@" || return 0
  if [ "$hp_limit" -gt 0 ]; then
    hp_now
    hp_left=$((hp_start + hp_limit - hp_clock))
    [ "$hp_left" -ge "$hp_seconds" ] || hp_seconds=$hp_left
  fi
  rm -f "$hp_dir/late"
  : >"$hp_dir/out"
  : >"$hp_dir/err"
  if [ "$hp_seconds" -lt 1 ]; then
    : >"$hp_dir/late"
    hp_code=137
  else
    hp_run
  fi
  hp_cancel='' hp_reason='' hp_text='' hp_input=''
  if [ -s "$hp_dir/out" ]; then
    hp_keys "$hp_dir/out" >"$hp_dir/keys"
    while IFS='	' read -r hp_key hp_item; do
      case $hp_key in
      cancel) hp_cancel=1 ;;
      errorMessage) hp_reason=$hp_item ;;
      contextModification) hp_text=$hp_item ;;
      context) hp_text=${hp_text:-$hp_item} ;;
      overrideInput) hp_input=$hp_item ;;
      esac
    done <"$hp_dir/keys"
  fi
  if [ "$hp_blocks" = blocks ]; then
    if [ -e "$hp_dir/late" ] && [ "$hp_code" -gt 128 ]; then
      [ "$hp_fails" = open ] || hp_deny "hook $hp_name did not answer in time"
      return 0
    fi
    if [ -n "$hp_cancel" ]; then
      [ -z "$hp_reason$hp_text" ] || hp_stop_run "${hp_reason:-$hp_text}"
      hp_deny "blocked by hook $hp_name"
    fi
    if [ "$hp_code" -eq 2 ]; then
      hp_reason=$(dd bs=8192 count=1 <"$hp_dir/err" 2>/dev/null | LC_ALL=C tr -d '\000')
      case $hp_reason in
      *[![:space:]]*) hp_deny "$hp_reason" ;;
      *) hp_deny "blocked by hook $hp_name" ;;
      esac
    fi
    if [ "$hp_code" -ne 0 ] && [ "$hp_fails" = closed ]; then
      hp_deny "hook $hp_name failed with exit code $hp_code"
    fi
  fi
  if [ -n "$hp_input" ] && [ "$hp_event" = PreToolUse ]; then
    [ -z "$hp_is_strict" ] || hp_deny "hook $hp_name changes the tool's input, and this host would ignore it"
    hp_override=$hp_input
  fi
  if [ -n "$hp_text" ]; then
    hp_text=${hp_text#?}
    hp_context=${hp_context:+$hp_context'\n\n'}${hp_text%?}
  fi
}

# Runs the command with the payload on stdin, in its own group if setsid exists. The clock is a pipe
# that sleep keeps open, so that both watchers are our own children and one signal surely ends each. The
# command may be hookport, which must answer before the clock ends it.
hp_run() {
  HOOKPORT_WITHIN=$hp_seconds $hp_setsid sh -c " $hp_command" <"$hp_dir/in" >"$hp_dir/out" 2>"$hp_dir/err" &
  hp_child=$!
  sleep "$hp_seconds" </dev/null >"$hp_dir/clock" 2>/dev/null &
  hp_sleep=$!
  (
    read -r hp_tick <"$hp_dir/clock"
    : >"$hp_dir/late"
    hp_kill "$hp_child"
  ) </dev/null >/dev/null 2>&1 &
  hp_watch=$!
  wait "$hp_child" 2>/dev/null
  hp_code=$?
  hp_child=''
  [ -e "$hp_dir/late" ] || kill -9 "$hp_watch" 2>/dev/null
  kill -9 "$hp_sleep" 2>/dev/null
  wait "$hp_watch" "$hp_sleep" 2>/dev/null
}

hp_now
hp_start=$hp_clock
hp_child='' hp_context='' hp_override='' hp_is_strict='' hp_try=0
hp_setsid=$(command -v setsid 2>/dev/null) && hp_setsid=setsid
hp_mask=$(umask)
umask 077
hp_dir=${TMPDIR:-/tmp}/hookport.$$
until mkdir "$hp_dir.$hp_try" 2>/dev/null; do
  hp_try=$((hp_try + 1))
  [ "$hp_try" -lt 20 ] || break
done
hp_dir=$hp_dir.$hp_try
[ "$hp_try" -lt 20 ] && mkfifo "$hp_dir/clock" || hp_dir=''
umask "$hp_mask"
if [ -n "$hp_dir" ]; then
  trap 'rm -rf "$hp_dir"' EXIT
  trap '[ -z "$hp_child" ] || hp_kill "$hp_child"; exit 1' HUP INT TERM
  cat >"$hp_dir/in"
  hp_texts toolName >"$hp_dir/tools"
  hp_texts hookName >"$hp_dir/event"
  hp_host=''
  IFS= read -r hp_host <"$hp_dir/event"
  # One runtime names the event in snake case; the stricter runtime, and any unknown one, does not.
  case $hp_host in '' | *[!a-z_]*) hp_is_strict=1 hp_limit=$hp_strict ;; esac
fi

__CALLS__

hp_answer=''
[ -z "$hp_context" ] || hp_answer="\"contextModification\": \"$hp_context\""
[ -z "$hp_override" ] || hp_answer="${hp_answer:+$hp_answer, }\"overrideInput\": $hp_override"
[ -z "$hp_answer" ] || printf '{%s}\n' "$hp_answer"
exit 0
