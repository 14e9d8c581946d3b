/** An agent with one tool, guarded by every hook of its project and its user. */
import { spawnSync } from "node:child_process";
import { connect } from "./hookport.ts";

const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env;
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ type: "function", function: { name: "run_shell", parameters } }];
const hooks = await connect({ root: ".", agent: "my-agent", tools: { run_shell: "shell" } });

async function askModel(messages: any[]): Promise<any> {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${OPENAI_API_KEY}` };
  const body = JSON.stringify({ model: "gpt-5.2", messages, tools });
  const reply = await fetch(`${OPENAI_BASE_URL}/chat/completions`, { method: "POST", headers, body });
  return ((await reply.json()) as any).choices[0].message;
}

async function runTool(tool: string, input: Record<string, any>): Promise<string> {
  const before = await hooks.fire("before_tool_execute", { tool, input });
  // Nobody sits here who could be asked.
  if (before.verdict === "deny" || before.verdict === "ask") return `Denied: ${before.reason}`;
  const done = spawnSync(before.input.command, { shell: true, encoding: "utf8" });
  const fields = { tool, input: before.input, result: done.stdout + done.stderr };
  const after = await hooks.fire("after_tool_execute", fields);
  return [after.result, before.context, after.context].filter(Boolean).join("\n");
}

const messages: any[] = [{ role: "user", content: process.argv[2] }];
let answer = await askModel(messages);
while (answer.tool_calls) {
  messages.push(answer);
  for (const call of answer.tool_calls) {
    const content = await runTool(call.function.name, JSON.parse(call.function.arguments));
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
  answer = await askModel(messages);
}
console.log(answer.content);
hooks.close();
