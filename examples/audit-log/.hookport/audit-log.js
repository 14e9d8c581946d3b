#!/usr/bin/env node
// Logs one line of JSON for each action of an agent: time, tool and target. It decides nothing.
// Only FIELDS are logged, no file contents and no outputs. Secrets are removed from them.
"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const FIELDS = ["command", "path", "url", "query", "pattern"];
const LONGEST = 500;
const SECRETS = [
  [/-----BEGIN [^-]*PRIVATE KEY-----[^]*?(-----END [^-]*-----|$)/g, "[key]"],
  [/\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|glpat-[\w-]{16,})/g, "[token]"],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, "[token]"],
  [/(:\/\/)[^\s/@]+@/g, "$1[user]@"],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, "$1 [token]"],
  [/((?:api[_-]?key|token|secret|passw(?:or)?d|pwd|credential)\w*["']?\s*[=:\s]\s*)("[^"]*"|'[^']*'|[^\s&"';|]+)/gi, "$1[secret]"],
];

function redacted(text) {
  const clean = SECRETS.reduce((said, [pattern, instead]) => said.replace(pattern, instead), text);
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean;
}

function line(event) {
  const input = event.tool_input ?? {};
  const said = FIELDS.filter((name) => typeof input[name] === "string").map((name) => [name, redacted(input[name])]);
  return {
    time: new Date().toISOString(),
    session: event.session_id,
    folder: event.cwd,
    event: event.event,
    tool: event.tool_name,
    ...Object.fromEntries(said),
    failed: event.tool_error ? true : undefined,
  };
}

function file() {
  if (process.env.AUDIT_LOG) return process.env.AUDIT_LOG;
  const state = process.env.XDG_STATE_HOME || path.join(os.homedir(), ".local", "state");
  return path.join(state, "agent-audit", `${new Date().toISOString().slice(0, 10)}.jsonl`);
}

try {
  const text = `${JSON.stringify(line(JSON.parse(fs.readFileSync(0, "utf8"))))}\n`;
  if (file() === "-") {
    process.stderr.write(text);
  } else {
    fs.mkdirSync(path.dirname(file()), { recursive: true, mode: 0o700 });
    // One short append, so that lines of agents that run in parallel stay whole.
    fs.appendFileSync(file(), text, { mode: 0o600 });
  }
} catch (error) {
  console.error(`audit-log could not write its line: ${error.message}`);
  process.exitCode = 1;
}
