import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = "AMP_PROJECT_DIR";
const BEFORE = "tool.call";
const AFTER = "tool.result";
const PROMPT = "agent.start";
const END = "agent.end";

const isAfter = (event) => event.startsWith(AFTER);

const textOf = (value) => {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join("\n");
  return typeof value?.text === "string" ? value.text : textOf(value?.content ?? "");
};

// The project of this file, else the repository of the host's start folder, else that folder.
const rootOf = () => {
  const [, own] = /^(.+)[\\/]\.amp[\\/]plugins$/.exec(dirname(fileURLToPath(import.meta.url))) ?? [];
  if (own) return own;
  let at = process.cwd();
  while (!existsSync(join(at, ".git")) && at !== dirname(at)) at = dirname(at);
  return at === dirname(at) ? process.cwd() : at;
};

const tell = async (ctx, message) => {
  try {
    await ctx.ui.notify(message);
  } catch {
    console.error(message); // a person may not be present
  }
};

export default function (amp) {
  const root = rootOf();
  const listened = new Set(HOOKS.map((hook) => hook.event));
  const held = new Map(); // the context from before a call, for its result
  const waiting = []; // the context from a session's start, for its first request
  let stops = 0; // our prompts in a row since the last prompt of a person
  let own = ""; // the last of them, until it returns to us

  // Which tool runs commands differs by mode and model; the host knows.
  const toolOf = (event) => {
    try {
      return amp.helpers.shellCommandFromToolCall(event) ? "Bash" : event.tool;
    } catch {
      return event.tool;
    }
  };

  const fire = async (name, event, ctx, more = {}) => {
    const found = [];
    const tool = event.tool ? toolOf(event) : "";
    const consents = async (hook, reason) => {
      try {
        const asked = { title: "hook " + hook + " asks", message: reason };
        return name === BEFORE && (await ctx.ui.confirm(asked)) === true;
      } catch {
        return false;
      }
    };
    for (const hook of HOOKS) {
      if (hook.event !== name || !matches(hook, tool, event.input ?? event)) continue;
      const about = { hook: name, ...event, ...(tool && { tool }), cwd: process.cwd(), root, stopActive: stops > 0 };
      const answer = await run(hook, { ...about, ...more }, root, (message) => tell(ctx, message), consents);
      const input = answer.updated_input;
      if (name === BEFORE && input !== null && typeof input === "object" && !Array.isArray(input))
        event.input = input;
      if (answer.updated_result != null && isAfter(name)) {
        const text = answer.updated_result;
        event.output = typeof text === "string" ? text : json(text);
      }
      if (typeof answer.context === "string" && answer.context) found.push(answer.context);
    }
    return found;
  };

  // If nothing can be prevented, an error is only shown.
  const watch = async (name, event, ctx, more) => {
    if (!listened.has(name)) return [];
    try {
      return await fire(name, event, ctx, more);
    } catch (error) {
      await tell(ctx, error.message);
      return [];
    }
  };

  const handlers = {
    "session.start": async (event, ctx) => {
      waiting.push(...(await watch("session.start", event, ctx)));
    },
    [BEFORE]: async (event, ctx) => {
      const seen = { ...event };
      try {
        const found = await fire(BEFORE, seen, ctx);
        if (found.length && held.size >= MOST_HELD) held.delete(held.keys().next().value);
        if (found.length) held.set(event.toolUseID, found);
      } catch (error) {
        return { action: "reject-and-continue", message: error.message };
      }
      return seen.input === event.input ? { action: "allow" } : { action: "modify", input: seen.input };
    },
    [AFTER]: async (event, ctx) => {
      const found = held.get(event.toolUseID) ?? [];
      held.delete(event.toolUseID);
      const seen = { ...event };
      try {
        found.push(...(await fire(event.status === "error" ? AFTER + " (error)" : AFTER, seen, ctx)));
      } catch (error) {
        return { status: "error", error: error.message };
      }
      if (!found.length && seen.output === event.output) return;
      if (event.status === "error") return { status: "error", error: [event.error, ...found].join("\n\n") };
      const output = typeof seen.output === "string" ? seen.output : json(seen.output);
      return { status: event.status, output: [output, ...found].join("\n\n") };
    },
    [PROMPT]: async (event, ctx) => {
      const prompt = textOf(event.message);
      // Our own prompt is no person's, so no hook runs on it.
      const isOwn = own && prompt === own;
      own = "";
      if (!isOwn) stops = 0;
      const found = [...waiting.splice(0), ...(isOwn ? [] : await watch(PROMPT, event, ctx, { prompt }))];
      if (found.length) return { message: { content: found.join("\n\n"), display: false } };
    },
    [END]: async (event, ctx) => {
      const last = (event.messages ?? []).findLast((one) => one?.role === "assistant");
      const more = { finalMessage: textOf(last) };
      if (event.status && event.status !== "done") return void (await watch(END + " (error)", event, ctx, more));
      try {
        await fire(END, event, ctx, more);
        stops = 0;
      } catch (error) {
        if (stops >= MOST_STOPS) {
          stops = 0;
          return void (await tell(ctx, "hooks kept the agent going " + MOST_STOPS + " times in a row"));
        }
        stops += 1;
        own = error.message;
        return { action: "continue", userMessage: error.message };
      }
    },
  };

  const needed = new Set([...listened].map((name) => name.split(" (")[0]));
  if (needed.has(BEFORE)) needed.add(AFTER);
  if (needed.has("session.start") || needed.has(END)) needed.add(PROMPT);
  for (const name of CALLBACKS) if (needed.has(name)) amp.on(name, handlers[name]);
}
