#!/bin/sh
# Denies calls that name a file with secrets. jq does all the work, because it parses JSON as JSON.
# It fails closed: without jq, or on an unreadable payload, it denies.

deny() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || deny 'protect-secrets needs jq, which is not installed. Try: apt install jq'

secret=$(jq -r '
  def is_secret:
    test("(^|/)(\\.env(\\.[^/]*)?|\\.netrc|\\.pgpass|\\.pypirc|\\.git-credentials|credentials(\\.[^/]*)?
      |secrets?\\.(json|toml|ya?ml)|id_(rsa|dsa|ecdsa|ed25519)|[^/]*\\.(pem|key|p12|pfx|jks|kdbx|tfstate))$
      |(^|/)\\.(ssh|gnupg)(/|$)"; "ix")
    and (test("\\.(example|sample|template|dist|pub)$"; "i") | not);
  # Quotes and backslashes hide a name from a search, not from the shell.
  def words: gsub("[\"\u0027\\\\]"; "") | splits("[^\\w./~-]+");
  .tool_input
  | first((.path, .file_path | strings), (.command | strings | words) | select(is_secret)) // empty
') || deny 'protect-secrets could not read the call, so it is denied'

[ -z "$secret" ] || deny "$secret may hold secrets. Ask the user for what you need from it."
