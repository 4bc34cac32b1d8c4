import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { createLog } from "@tessera/kit/log";
import { afterEach, expect, it } from "vitest";
import { type HttpServer, httpServer } from "./http-server.ts";

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

it("a server that nobody is connected to stops at once", async () => {
  const { server } = await start();
  const before = performance.now();
  await server.drain();
  await server.stop();
  expect(performance.now() - before).toBeLessThan(300);
});
