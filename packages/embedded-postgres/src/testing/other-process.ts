import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isReachable, runsAsRoot, unprivileged } from "../account.ts";
import type { EmbeddedOptions } from "../start.ts";

/** Only a Node that reads TypeScript can run the other process; the workspace brings one. */
export const node = process.features.typescript
  ? process.execPath
  : fileURLToPath(new URL("../../../../node_modules/.bin/node", import.meta.url));

/** Whether these tests can also be an ordinary user: as root, unless the project is closed to others. */
export const ordinary =
  runsAsRoot() && (await isReachable(node, unprivileged)) && (await isReachable(import.meta.filename, unprivileged));

type Outcome = { url: string } | { code: string; message: string };

/** Starts another process that starts the server and then waits to be killed. */
export function startElsewhere(options: EmbeddedOptions, account: { uid?: number; gid?: number } = {}) {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL("../start.ts", import.meta.url).href)};
    process.once("SIGHUP", () => process.exit(1));
    try {
      const server = await startEmbeddedPostgres(JSON.parse(process.argv[1]));
      console.log(JSON.stringify({ url: server.url }));
      process.once("SIGTERM", () => server.stop());
    } catch ({ code, message, stack }) {
      console.log(JSON.stringify({ code, message: code === undefined ? stack : message }));
    }
    setInterval(() => {}, 1000);`;
  const child = spawn(
    node,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      program,
      JSON.stringify({ durable: false, ...options }),
    ],
    { ...account, cwd: "/", detached: true, stdio: ["ignore", "pipe", "inherit"] },
  );
  const outcome = once(createInterface({ input: child.stdout }), "line").then(
    ([line]) => JSON.parse(String(line)) as Outcome,
  );
  return { child, outcome };
}

/** The address of the server, once it is there. */
export async function urlOf(outcome: Promise<Outcome>): Promise<string> {
  const result = await outcome;
  if (!("url" in result)) throw new Error(result.message);
  return result.url;
}

export async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** As a terminal does. */
export async function signalGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined) throw new Error("the process was not started");
  const ended = once(child, "exit");
  process.kill(-child.pid, signal);
  await ended;
}
