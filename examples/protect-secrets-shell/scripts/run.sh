#!/bin/sh
# Denies calls that name a file with secrets. All of it is done by jq, which reads JSON as JSON.
# It fails closed: without jq, or on a payload that is none, it denies.

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
  # Quotes and backslashes hide a name from those who look for it, not from the shell.
  def words: gsub("[\"\u0027\\\\]"; "") | splits("[^\\w./~-]+");
  .tool_input
  | first((.path, .file_path | strings), (.command | strings | words) | select(is_secret)) // empty
') || deny 'protect-secrets could not read the call, so it is denied'

[ -z "$secret" ] || deny "$secret may hold secrets. Ask the user for what you need from it."
