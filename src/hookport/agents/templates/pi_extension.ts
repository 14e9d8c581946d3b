import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BEFORE = "tool_call";
const AFTER = "tool_result";
const PROMPT = "input";
const START = "before_agent_start";
const END = "agent_end";

const isAfter = (event) => event.startsWith(AFTER);

const part = (text) => ({ type: "text", text });

const textOf = (message) => {
  if (typeof message?.content === "string") return message.content;
  const parts = (message?.content ?? []).filter((one) => one?.type === "text");
  return parts.map((one) => one.text).join("\n");
};

// The project of this file, else the repository of the host's start folder, else that folder.
const rootOf = (ctx) => {
  const [, own] = FOLDER.exec(dirname(fileURLToPath(import.meta.url))) ?? [];
  if (own) return own;
  let at = ctx.cwd;
  while (!existsSync(join(at, ".git")) && at !== dirname(at)) at = dirname(at);
  return at === dirname(at) ? ctx.cwd : at;
};

const tell = (ctx, message, kind) => {
  try {
    if (ctx.hasUI) ctx.ui.notify(message, kind);
    else console.error(message);
  } catch {} // a person may not be present
};

const sessionOf = (ctx) => {
  try {
    return { sessionId: ctx.sessionManager.getSessionId(), sessionFile: ctx.sessionManager.getSessionFile() };
  } catch {
    return {};
  }
};

export default function (pi) {
  const listened = new Set(HOOKS.map((hook) => hook.event));
  const held = new Map(); // the context from before a call, for its result
  const waiting = []; // the context from before a prompt, for its request
  let stops = 0; // our prompts in a row since the last prompt of a person
  let own = ""; // the last of them, until it returns to us

  const fire = async (name, event, ctx, more = {}) => {
    const found = [];
    const root = rootOf(ctx);
    const consents = async (hook, reason) =>
      name === BEFORE && ctx.hasUI && (await ctx.ui.confirm("hook " + hook + " asks", reason)) === true;
    for (const hook of HOOKS) {
      const subject = event.toolName ? event.input : event;
      if (hook.event !== name || !matches(hook, event.toolName ?? "", subject)) continue;
      const about = { cwd: ctx.cwd, root, ...sessionOf(ctx), stopActive: false, ...more };
      const show = (message) => tell(ctx, message, "info");
      const answer = await run(hook, { hook: name, ...event, ...about }, root, show, consents);
      if (answer.updated_input && name === BEFORE) change(event, answer.updated_input);
      if (answer.updated_result != null && isAfter(name)) {
        const text = answer.updated_result;
        event.content = [part(typeof text === "string" ? text : json(text))];
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
      tell(ctx, error.message, "warning");
      return [];
    }
  };

  // An agent that may not stop yet gets the reason as its next prompt. It is queued separately, after the
  // extensions got it, and the host checks the queue as soon as we are done.
  const goOn = async (ctx, reason) => {
    if (stops >= MOST_STOPS) {
      tell(ctx, "hooks kept the agent going " + stops + " times in a row", "warning");
      stops = 0;
      return;
    }
    stops += 1;
    own = reason;
    try {
      pi.sendUserMessage(reason, { deliverAs: "followUp" });
      for (let n = 0; n < 100 && !ctx.hasPendingMessages?.(); n++) await pause(20);
    } catch {
      console.error("the agent stopped although a hook kept it going: " + reason); // as `pi -p` of 0.73.1 does
    }
  };

  const handlers = {
    [BEFORE]: async (event, ctx) => {
      const seen = { ...event };
      try {
        const found = await fire(BEFORE, seen, ctx);
        if (found.length && held.size >= MOST_HELD) held.delete(held.keys().next().value);
        if (found.length) held.set(event.toolCallId, found);
        return changed(seen, event);
      } catch (error) {
        return { block: true, reason: error.message };
      }
    },
    [AFTER]: async (event, ctx) => {
      const found = held.get(event.toolCallId) ?? [];
      held.delete(event.toolCallId);
      const seen = { ...event };
      try {
        found.push(...(await fire(event.isError ? AFTER + " (error)" : AFTER, seen, ctx)));
      } catch (error) {
        return { content: [part(error.message)], isError: true };
      }
      if (found.length || seen.content !== event.content)
        return { content: [...(seen.content ?? []), ...found.map(part)] };
    },
    [PROMPT]: async (event, ctx) => {
      if (event.source === "extension" && event.text === own) {
        // Our own prompt is no person's, so no hook runs on it.
        own = "";
        return;
      }
      stops = 0;
      let found;
      try {
        found = await fire(PROMPT, event, ctx);
      } catch (error) {
        tell(ctx, error.message, "error");
        return HANDLED;
      }
      if (!found.length) return;
      // A prompt while the agent works starts no request of its own.
      if (event.streamingBehavior) return transform(event, [event.text, ...found].join("\n\n"));
      waiting.push(...found);
    },
    [START]: async (event, ctx) => {
      // Where it comes again for our own prompt, that is no person's.
      const isOwn = STOP !== END && event.prompt === own && own;
      const found = [...waiting.splice(0), ...(isOwn ? [] : await watch(START, event, ctx))];
      if (found.length)
        return { message: { customType: "hookport", content: found.join("\n\n"), display: false } };
    },
    session_start: async (event, ctx) => {
      waiting.push(...(await watch("session_start", event, ctx)));
    },
    session_before_compact: async (event, ctx) => {
      try {
        await fire("session_before_compact", event, ctx);
      } catch (error) {
        tell(ctx, error.message, "warning");
        return { cancel: true };
      }
    },
    message_end: async (event, ctx) => {
      if (event.message?.role === "assistant") await watch("message_end (assistant)", event, ctx);
      await watch("message_end", event, ctx);
    },
    [END]: async (event, ctx) => {
      const last = (event.messages ?? []).findLast((one) => one.role === "assistant");
      const more = { finalMessage: textOf(last), errorMessage: last?.errorMessage, stopActive: stops > 0 };
      const [how] = ["error", "aborted"].filter((one) => last?.stopReason === one);
      if (how) {
        await watch(END + " (" + how + ")", event, ctx, more);
        return;
      }
      if (STOP !== END) return;
      try {
        await fire(END, event, ctx, more);
        stops = 0;
      } catch (error) {
        await goOn(ctx, error.message);
      }
    },
  };
  // A host that asks before it stops is answered, and gives the reason to the model itself.
  if (STOP !== END)
    handlers[STOP] = async (event, ctx) => {
      if (!event.stop_hook_active) stops = 0;
      const more = { finalMessage: textOf(event.last_assistant_message), stopActive: stops > 0 };
      try {
        await fire(STOP, event, ctx, more);
      } catch (error) {
        if (stops < MOST_STOPS) {
          stops += 1;
          own = error.message;
          return { decision: "block", reason: error.message };
        }
        tell(ctx, "hooks kept the agent going " + stops + " times in a row", "warning");
      }
      stops = 0;
    };

  const needed = new Set([...listened].map((name) => name.split(" (")[0]));
  if (needed.has(BEFORE)) needed.add(AFTER);
  if (needed.has(PROMPT) || needed.has("session_start")) needed.add(START);
  if (needed.has(END)) needed.add(PROMPT);
  for (const name of CALLBACKS) {
    const only = async (event, ctx) => void (await watch(name, event, ctx));
    if (needed.has(name)) pi.on(name, handlers[name] ?? only);
  }
}
