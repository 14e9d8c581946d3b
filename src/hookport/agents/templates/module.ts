// __MARK__
// __TITLE__ loads every file in this folder.

import { spawn } from "node:child_process";
import { Readable } from "node:stream";
// __IMPORTS__

const HOOKS = __HOOKS__;
const CALLBACKS = __CALLBACKS__;

const SYSTEM = { win32: "windows", darwin: "osx" }[process.platform] ?? "linux";
const LONGEST = 2147483647; // milliseconds; a longer timer fires at once
const LARGEST = 32 << 20; // characters of an answer, which may contain the whole input of a call
const LONGEST_REASON = 4000; // characters of a reason for the model
const MOST_STOPS = 8; // times in a row that hooks keep an agent from stopping
const MOST_HELD = 100; // calls without a result yet; a tool that threw never sends one

// A pattern that this engine cannot parse, or may read differently, matches everything: a
// guard then runs too often, never too seldom.
const pattern = (text) => {
  const flags = /^\(\?([ims]+)\)/.exec(text);
  if (/\\(?:[^dDwWsSbBtnrfvxu\W\d]|[xu]\{)|\[\[:/.test(text)) return /(?:)/;
  try {
    return flags ? new RegExp(text.slice(flags[0].length), flags[1]) : new RegExp(text);
  } catch {
    return /(?:)/;
  }
};

const texts = (value, depth = 0) => {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object" || depth > 20) return [];
  return Object.values(value).flatMap((item) => texts(item, depth + 1));
};

const json = (value) => {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    const open = [];
    return JSON.stringify(value, function (key, item) {
      if (typeof item === "bigint") return String(item);
      if (item === null || typeof item !== "object") return item;
      while (open.length && open[open.length - 1] !== this) open.pop();
      if (open.includes(item)) return undefined;
      open.push(item);
      return item;
    });
  }
};

const matches = (hook, tool, subject) =>
  (!hook.match || pattern(hook.match).test(tool)) &&
  (!hook.content || [json(subject), ...texts(subject)].some((text) => pattern(hook.content).test(text)));

const argv = (hook) => {
  const command = hook[SYSTEM] ?? hook.command;
  if (SYSTEM === "windows") return ["powershell", "-NoProfile", "-Command", command];
  return ["/bin/sh", "-c", " " + command];
};

const folder = (hook, env, root) => {
  const named = (hook.cwd ?? "").replace(/^~(?=\/|$)/, "$$HOME");
  const path = named.replace(/\$\{?(\w+)\}?/g, (_, name) => env[name] ?? "");
  return /^(?:\/|[A-Za-z]:[\\/])/.test(path) ? path : path ? root + "/" + path : root;
};

const start = ([program, ...args], options, input, isQuiet) => {
  const pipe = isQuiet ? "ignore" : "pipe";
  const detached = SYSTEM !== "windows";
  const stdio = ["pipe", pipe, pipe];
  const child = spawn(program, args, { ...options, detached, stdio, windowsHide: true });
  const exited = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  child.stdin.on("error", () => {}); // the command need not read it
  child.stdin.end(input);
  return {
    pid: child.pid,
    exited,
    get exitCode() {
      return child.exitCode;
    },
    kill: (signal) => child.kill(signal),
    unref: () => child.unref(),
    stdout: isQuiet ? null : Readable.toWeb(child.stdout),
    stderr: isQuiet ? null : Readable.toWeb(child.stderr),
  };
};

const collect = (stream) => {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const found = { text: "", isCut: false, stop: () => reader.cancel().catch(() => {}) };
  found.done = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (found.text.length < LARGEST) found.text += decoder.decode(part.value, { stream: true });
      else found.isCut = true;
  })().catch(() => {});
  return found;
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The command leads its own process group, so that its children end with it.
const kill = (child) => {
  try {
    process.kill(SYSTEM === "windows" ? child.pid : -child.pid, "SIGKILL");
  } catch {
    child.kill(9);
  }
};

const short = (text) => {
  if (text.length <= LONGEST_REASON) return text;
  return text.slice(0, LONGEST_REASON) + "\n\u2026 [" + text.length + " characters in all]";
};

// Runs one hook. A hook that may block denies with exit code 2, or with {"decision": "deny"} or "ask" on
// stdout, or with an unreadable object there, which may have been a deny; and by failing or
// timing out only if its settings say so. Anything else is no decision. After a tool nothing can be
// blocked, so the output of every hook counts there. If a person can be asked, `consents` is
// whether that person allows the action; `show` shows that person a message, even if it is denied.
const run = async (hook, payload, root, show = () => {}, consents = async () => false) => {
  const name = hook.name || hook.command;
  const closed = hook.blocking && hook.on_failure === "block";
  const strict = closed || (hook.blocking && hook.timeout_action === "block");
  const limit = Math.min(hook.timeout_ms ?? 30000, LONGEST);
  const unstarted = (error) => {
    if (closed) throw new Error("hook " + name + " did not start: " + error.message);
    return {};
  };
  let child;
  try {
    const env = { ...process.env, [ROOT]: root, ...(hook.env ?? {}) };
    child = start(argv(hook), { cwd: folder(hook, env, root), env }, json(payload), hook.async);
  } catch (error) {
    return unstarted(error);
  }
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, limit, true)));
  const ended = child.exited.then(() => false, (error) => error);
  if (hook.async) {
    timer.unref?.();
    child.unref?.();
    Promise.race([ended, late]).then((isLate) => (isLate === true ? kill(child) : clearTimeout(timer)));
    return {};
  }
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  const isLate = await Promise.race([ended, late]);
  clearTimeout(timer);
  if (isLate === true) kill(child);
  // Its background processes may keep the pipes open; its own output has arrived by now.
  await Promise.race([Promise.all([out.done, err.done]), pause(isLate ? 0 : 500)]);
  out.stop();
  err.stop();
  if (isLate instanceof Error) return unstarted(isLate);
  if (isLate) {
    if (strict) throw new Error("hook " + name + " did not answer in time");
    return {};
  }
  const code = child.exitCode;
  if (code === 2 && hook.blocking) throw new Error(short(err.text.trim()) || "blocked by hook " + name);
  if (code !== 0) {
    const how = code === null ? "a signal" : "exit code " + code;
    if (closed) throw new Error("hook " + name + " failed with " + how);
    return {};
  }
  let answer;
  try {
    answer = JSON.parse(out.text);
  } catch {
    if (hook.blocking && (out.isCut || (out.text.trimStart().startsWith("{") && !isAfter(payload.hook))))
      throw new Error("the answer of hook " + name + " cannot be read, so it counts as a deny");
    return {};
  }
  if (answer === null || typeof answer !== "object") return {};
  if (answer.system_message) show(short(String(answer.system_message)));
  const counts = hook.blocking || isAfter(payload.hook);
  const reason = short(String(answer.reason || "blocked by hook " + name));
  if (counts && answer.decision === "deny") throw new Error(reason);
  if (counts && answer.decision === "ask" && !(await consents(name, reason))) throw new Error(reason);
  return answer;
};

// The host keeps its own reference to the arguments, so this changes their keys, not the object.
const rewrite = (args, input) => {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return;
  for (const key of Object.keys(args)) if (!(key in input)) delete args[key];
  Object.assign(args, input);
};
