const ROOT = __VARIABLE__;
const FOLDERS = __FOLDERS__; // of a project, where plugins are
const BEFORE = "tool.execute.before";
const AFTER = "tool.execute.after";
const PROMPT = "chat.message";
const SYSTEM_PROMPT = "experimental.chat.system.transform";
const IDLE = "event.session.idle";

const isAfter = (event) => event === AFTER;

const replace = (output, result) => {
  const text = typeof result === "string" ? result : json(result);
  if (Array.isArray(output?.content)) output.content = [{ type: "text", text }];
  else if (output) output.output = text;
};

const add = (output, context) => {
  if (Array.isArray(output?.parts)) {
    const part = output.parts.find((one) => one.type === "text");
    if (part) part.text += "\n\n" + context;
  } else if (Array.isArray(output?.system)) output.system.push(context);
  else if (Array.isArray(output?.context)) output.context.push(context);
  else if (Array.isArray(output?.content)) output.content.push({ type: "text", text: context });
  else if (typeof output?.output === "string") output.output += "\n\n" + context;
};

// The project of this file, or else the host's.
const rootOf = (host) => {
  const [, own, folder] = /^(.+)[\\/]([^\\/]+)[\\/]plugins?$/.exec(import.meta.dirname ?? "") ?? [];
  if (own && FOLDERS.includes(folder) && own !== (process.env.HOME ?? process.env.USERPROFILE)) return own;
  // Outside a repository the host's project is the root of the disk.
  return host.worktree && host.worktree !== "/" ? host.worktree : host.directory;
};

export const HookportPlugin = async (host) => {
  const root = rootOf(host);
  const listened = new Set(HOOKS.map((hook) => hook.event));
  const children = new Set();
  const contexts = new Map(); // of a session, for its requests
  const held = new Map(); // of a call, for its result
  const turns = new Map(); // of a session: the agent, and our prompts in a row since the last prompt of a person

  const show = async (message) => {
    try {
      await host.client?.tui?.showToast?.({ body: { message, variant: "info" } });
    } catch {} // a person may not be present
  };

  const fire = async (event, tool, input, output, stop_active = false) => {
    const found = [];
    for (const hook of HOOKS) {
      const subject = output?.args ?? input?.args ?? { input, output };
      if (hook.event !== event || !matches(hook, tool, subject)) continue;
      const payload = { hook: event, input, output, directory: host.directory, worktree: root, stop_active };
      const answer = await run(hook, payload, root, show);
      if (answer.updated_input && output?.args) rewrite(output.args, answer.updated_input);
      if (event === AFTER && answer.updated_result != null) replace(output, answer.updated_result);
      if (typeof answer.context === "string" && answer.context) {
        found.push(answer.context);
        add(output, answer.context);
      }
    }
    return found;
  };

  // An agent that may not stop yet gets the reason as its next prompt, unless a person sent one meanwhile.
  const goOn = async (session, turn, reason) => {
    if (turns.get(session) !== turn) return;
    const { agent, count = 0 } = turn ?? {};
    turns.set(session, count < MOST_STOPS ? { agent, count: count + 1, reason } : { agent });
    if (count >= MOST_STOPS) throw new Error("hooks kept the agent going " + count + " times in a row");
    // Without the agent's name the host would use its default agent, which may do more.
    const body = { agent, parts: [{ type: "text", text: reason }] };
    const sent = await host.client.session.promptAsync({ path: { id: session }, body });
    if (sent?.error) throw new Error("the session refused a prompt: " + json(sent.error));
  };

  const idle = async (input, session) => {
    const turn = turns.get(session);
    try {
      await fire(IDLE, "", input, {}, !!turn?.count);
    } catch (error) {
      await goOn(session, turn, error.message);
      return;
    }
    if (turn) turn.count = 0;
  };

  // Events on the bus get no answer; context of a session's start waits for its first request.
  const watch = (event, input, session) => {
    if (!listened.has(event)) return;
    const heard = event === IDLE ? idle(input, session) : fire(event, "", input, {});
    const found = heard.catch((error) => (console.error(error.message), []));
    if (session && event.startsWith("event.session.created")) contexts.set(session, found);
  };

  const hooks = {};
  for (const event of CALLBACKS.filter((event) => listened.has(event)))
    hooks[event] = async (input, output) => {
      const found = await fire(event, input?.tool ?? "", input, output);
      if (event !== BEFORE || !found.length) return;
      if (held.size >= MOST_HELD) held.delete(held.keys().next().value);
      held.set(input?.callID, found);
    };
  if (listened.has(BEFORE)) {
    const own = hooks[AFTER];
    hooks[AFTER] = async (input, output) => {
      const found = held.get(input?.callID) ?? [];
      held.delete(input?.callID);
      if (own) await own(input, output);
      for (const context of found) add(output, context);
    };
  }
  if (listened.has(IDLE)) {
    const own = hooks[PROMPT];
    hooks[PROMPT] = async (input, output) => {
      const turn = turns.get(input?.sessionID);
      const text = output?.parts?.find((one) => one.type === "text")?.text;
      if (turn?.reason && turn.reason === text) {
        // Our own prompt is no person's, so no hook runs on it.
        turn.reason = "";
        return;
      }
      turns.set(input?.sessionID, { agent: output?.message?.agent });
      if (own) await own(input, output);
    };
  }
  if ([...listened].some((event) => event.startsWith("event."))) {
    const own = hooks[SYSTEM_PROMPT];
    hooks.event = async ({ event }) => {
      const { info, sessionID = info?.id, reply } = event.properties ?? {};
      if (event.type === "session.created" && info?.parentID) children.add(sessionID);
      const child = children.has(sessionID) && ["session.created", "session.idle"].includes(event.type);
      watch("event." + event.type + (child ? " (child)" : ""), { event }, sessionID);
      if (event.type === "permission.replied" && reply === "reject")
        watch("event.permission.replied (reject)", { event });
    };
    hooks[SYSTEM_PROMPT] = async (input, output) => {
      for (const context of (await contexts.get(input?.sessionID)) ?? []) add(output, context);
      if (own) await own(input, output);
    };
  }
  return hooks;
};
