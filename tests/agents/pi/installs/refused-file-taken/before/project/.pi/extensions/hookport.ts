import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

// Keep .env out of every prompt.
export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event) => {
    if (event.toolName === "read" && String(event.input.path).endsWith(".env")) return { block: true, reason: "no .env" };
  });
}
