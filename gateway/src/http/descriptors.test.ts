import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { connectionsWithin, mostOpenFiles } from "./descriptors.ts";

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

it("a part of the files that a process may open is not for clients", () => {
  expect([65_536, 1024, 400, 2].map(connectionsWithin)).toEqual([65_024, 512, 200, 1]);
  expect(mostOpenFiles()).toBeGreaterThan(0);
});

/** Starts a process that may open few files, with a server for clients and another port. */
async function startSmallProcess(mostFiles: number): Promise<{ clients: number; other: number }> {
  const program = fileURLToPath(new URL("../testing/small-process.ts", import.meta.url));
  const command = `ulimit -n ${mostFiles}; exec "$0" --conditions=source "$1"`;
  const child = spawn("sh", ["-c", command, process.execPath, program], { stdio: ["ignore", "pipe", "inherit"] });
  undo.push(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return JSON.parse(line.toString()) as { clients: number; other: number };
}

const statusOf = (port: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    get({ port, host: "127.0.0.1", agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("timeout", () => reject(new Error("no answer")))
      .once("error", reject);
  });

it("[S4.13] however many clients are connected, the operations port answers, and so does REST", async () => {
  const { clients, other } = await startSmallProcess(200);
  const sockets: Socket[] = Array.from({ length: 300 }, () => connect(clients, "127.0.0.1").on("error", () => {}));
  undo.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  expect(await statusOf(other)).toBe(200);
  expect(await statusOf(clients)).toBe(200);
});
