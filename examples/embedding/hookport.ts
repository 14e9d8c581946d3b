/** A client of `hookport serve-stdio`: one process answers every event, several at once. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export type Outcome = {
  verdict: "none" | "allow" | "ask" | "deny";
  reason: string;
  input: Record<string, any>;
  context: string;
  message: string;
  result: any;
  carry_on: boolean;
};

export async function connect(params: object) {
  const server = spawn("hookport", ["serve-stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (reply: any) => void>();
  let last = 0;
  createInterface({ input: server.stdout }).on("line", (line) => {
    const reply = JSON.parse(line);
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  let ended = "";
  const fail = (why: string) => {
    ended ||= why;
    waiting.forEach((settle) => settle({ error: { message: ended } }));
    waiting.clear();
  };
  server.on("error", (error) => fail(error.message));
  server.stdin.on("error", (error) => fail(error.message));
  server.on("close", () => fail("hookport serve-stdio has ended"));
  const call = (method: string, params: object) =>
    new Promise<any>((resolve, reject) => {
      if (ended) return reject(new Error(ended));
      const id = ++last;
      waiting.set(id, (reply) => (reply.error ? reject(new Error(reply.error.message)) : resolve(reply.result)));
      server.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    });
  await call("initialize", { version: 1, ...params });
  return {
    fire: (event: string, fields: object): Promise<Outcome> => call("fire", { event, ...fields }),
    close: () => server.stdin.end(),
  };
}
