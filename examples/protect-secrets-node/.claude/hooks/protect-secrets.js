#!/usr/bin/env node
// Denies calls that read or change a file with secrets, or name one in a shell command.
// It fails closed: it denies an unreadable payload.
"use strict";

const fs = require("node:fs");

const SECRET = new RegExp(
  [
    "(^|/)(\\.env(\\.[^/]*)?|\\.netrc|\\.pgpass|\\.pypirc|\\.git-credentials|credentials(\\.[^/]*)?",
    "secrets?\\.(json|toml|ya?ml)|id_(rsa|dsa|ecdsa|ed25519)|[^/]*\\.(pem|key|p12|pfx|jks|kdbx|tfstate))$",
    "(^|/)\\.(ssh|gnupg)(/|$)",
  ].join("|"),
  "i",
);
const HARMLESS = /\.(example|sample|template|dist|pub)$/i;

const isSecret = (path) => SECRET.test(path) && !HARMLESS.test(path);

// Every path in a call, and for a link its target too.
function named(call) {
  const paths = [call.file_path, call.path].filter((path) => typeof path === "string");
  const targets = paths.filter(fs.existsSync).map((path) => fs.realpathSync(path));
  // Quotes and backslashes hide a name from a search, not from the shell.
  const words = String(call.command ?? "").replace(/["'\\]/g, "").split(/[^\w./~-]+/);
  return [...paths, ...targets, ...words];
}

try {
  const { tool_input: call } = JSON.parse(fs.readFileSync(0, "utf8"));
  if (typeof call !== "object" || call === null) throw new TypeError("there is no tool_input");
  const found = named(call).find(isSecret);
  if (found) {
    const permissionDecisionReason = `${found} may hold secrets. Ask the user for what you need from it.`;
    const answer = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason };
    console.log(JSON.stringify({ hookSpecificOutput: answer }));
  }
} catch (error) {
  console.error(`protect-secrets could not read the call, so it is denied: ${error.message}`);
  process.exitCode = 2;
}
