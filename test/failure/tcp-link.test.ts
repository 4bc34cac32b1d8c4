import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openTcpLink, type TcpLink } from "./tcp-link.ts";

const undo: (() => Promise<unknown>)[] = [];
let link: TcpLink;
let heard: string[];

beforeEach(async () => {
  heard = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      heard.push(String(data));
      socket.write(`${data}!`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  undo.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  link = await openTcpLink({ target: () => ({ host: "127.0.0.1", port }) });
  undo.push(() => link.close());
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface Caller {
  readonly socket: Socket;
  answers(): string;
  readonly ended: Promise<string>;
}

function call(): Caller {
  const socket = connect({ host: "127.0.0.1", port: link.port });
  let said = "";
  socket.on("data", (data) => {
    said += String(data);
  });
  const ended = new Promise<string>((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
    socket.once("close", () => resolve("closed"));
  });
  return { socket, answers: () => said, ended };
}

it("passes both directions on, and the end", async () => {
  const { socket, answers, ended } = call();
  socket.write("a");
  await expect.poll(answers).toBe("a!");
  expect(link.open()).toBe(1);
  socket.end();
  expect(await ended).toBe("closed");
  await expect.poll(link.open).toBe(0);
});

it("delays, in order, and what was sent before stays in front when the delay ends", async () => {
  const { socket, answers } = call();
  socket.write("a");
  await expect.poll(answers).toBe("a!");
  link.delay(400);
  const from = performance.now();
  socket.write("b");
  await expect.poll(() => heard.length, { interval: 5 }).toBe(2);
  expect(performance.now() - from).toBeGreaterThan(190);
  link.heal();
  socket.write("c");
  await expect.poll(answers).toMatch(/^a!(?:b!c!|bc!)$/);
});

it.each(["requests", "answers"] as const)(
  "loses %s without telling, and resets what has lost some",
  async (direction) => {
    const [{ socket, answers, ended }, idle] = [call(), call()];
    for (const each of [socket, idle.socket]) each.write("a");
    await expect.poll(() => answers() + idle.answers()).toBe("a!a!");
    link.drop(direction);
    socket.write("b");
    if (direction === "answers") await expect.poll(() => heard).toEqual(["a", "a", "b"]);
    else await sleep(50);
    expect([answers(), heard.length, socket.destroyed]).toEqual(["a!", direction === "answers" ? 3 : 2, false]);
    link.heal();
    expect(await ended).toBe("ECONNRESET");
    idle.socket.write("c");
    await expect.poll(idle.answers).toBe("a!c!");
    idle.socket.destroy();
  },
);

it("refuses, and cuts what is open", async () => {
  const open = call();
  open.socket.write("a");
  await expect.poll(open.answers).toBe("a!");
  link.refuse();
  expect([await open.ended, await call().ended]).toEqual(["ECONNRESET", "ECONNRESET"]);
  link.heal();
  const { socket, answers, ended } = call();
  socket.write("b");
  await expect.poll(answers).toBe("b!");
  link.cut();
  expect(await ended).toBe("ECONNRESET");
});
