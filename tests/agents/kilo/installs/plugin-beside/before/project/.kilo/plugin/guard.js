// Keep .env out of every prompt.
export default {
  id: "env-guard",
  server: async () => ({
    "tool.execute.before": async (input, output) => {
      if (input.tool === "read" && String(output.args.filePath).endsWith(".env")) throw new Error("no .env")
    },
  }),
}
