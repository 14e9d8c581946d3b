import type { Plugin } from "@opencode-ai/plugin"

// Keep .env out of every prompt.
export const EnvGuard: Plugin = async ({ $ }) => ({
  "tool.execute.before": async (input, output) => {
    if (input.tool === "read" && String(output.args.filePath).endsWith(".env")) throw new Error("no .env")
  },
})
