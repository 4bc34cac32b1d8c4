import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { createLog } from "@tessera/kit/log";
import { afterEach, expect, it } from "vitest";
import { type HttpServer, httpServer } from "./server.ts";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A server that says goodbye as the application does, and a client with one connection. */
async function start(): Promise<{ server: HttpServer; ask(): Promise<IncomingMessage> }> {
  const server = httpServer({ host: "127.0.0.1", port: 0, log: quiet });
  server.answerWith((_request, response) => {
    if (server.stopping.aborted) response.setHeader("Connection", "close");
    response.end("answer");
  });
  await server.start();
  const port = server.port();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  undo.push(
    () => server.stop(),
    () => agent.destroy(),
  );
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ port, host: "127.0.0.1", agent }, (response) => {
        response.resume().once("end", () => resolve(response));
      })
        .once("error", reject)
        .end();
    });
  return { server, ask };
}

it("a request that was on its way when the server stops is answered, on a connection that ends with it", async () => {
  const { server, ask } = await start();
  expect((await ask()).headers.connection).toBe("keep-alive");
  const draining = server.drain();
  expect((await ask()).headers.connection).toBe("close");
  await draining;
  await expect(ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

it("connections that nothing comes on are closed soon", async () => {
  const { server, ask } = await start();
  await ask();
  const silent = connect(server.port(), "127.0.0.1");
  undo.push(() => silent.destroy());
  const closed = new Promise((resolve) => silent.once("close", resolve));
  await new Promise<void>((resolve) => silent.once("connect", resolve));
  const before = performance.now();
  await server.drain();
  await server.stop();
  await closed;
  expect(performance.now() - before).toBeLessThan(3000);
});

it("a server without connections stops at once", async () => {
  const { server } = await start();
  const before = performance.now();
  await server.drain();
  await server.stop();
  expect(performance.now() - before).toBeLessThan(300);
});

/** A connection on which a test writes what it likes. */
async function open(server: HttpServer): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
  const socket = connect(server.port(), "127.0.0.1");
  undo.push(() => socket.destroy());
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  // From the next tick on the connection is established, accepted or not.
  await new Promise((resolve) => process.nextTick(resolve));
  return { socket, received: () => Buffer.concat(pieces).toString(), closed };
}

it("a client that connects just before the server stops is answered", async () => {
  const { server } = await start();
  const { socket, received, closed } = await open(server);
  const draining = server.drain();
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await closed;
  expect(received()).toMatch(/Connection: close\r\n(?:.*\r\n)*\r\nanswer$/);
  await draining;
});

it("a request of which only the beginning has arrived when the server stops is answered", async () => {
  const { server } = await start();
  const { socket, received, closed } = await open(server);
  socket.write("GET / HTTP/1.1\r\nHo");
  await server.drain();
  const stopping = server.stop();
  socket.write("st: a\r\n\r\n");
  await closed;
  expect(received()).toMatch(/answer$/);
  await stopping;
});

it("an answer that was begun before the server stops is sent to its end, and the connection ends with it", async () => {
  const server = httpServer({ host: "127.0.0.1", port: 0, log: quiet });
  let finish = () => {};
  server.answerWith((_request, response) => {
    response.write("begun, ");
    finish = () => response.end("and ended");
  });
  await server.start();
  undo.push(() => server.stop());
  const { socket, received, closed } = await open(server);
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect.poll(received).toContain("begun");
  await server.drain();
  const before = performance.now();
  const stopping = server.stop();
  finish();
  await Promise.all([closed, stopping]);
  expect(received()).toContain("and ended");
  expect(performance.now() - before).toBeLessThan(3000);
});
