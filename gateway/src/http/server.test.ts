import { Agent, type IncomingMessage, type RequestListener, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics, type Metrics } from "@tessera/kit/telemetry/metrics";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type HttpServer, type HttpServerOptions, httpServer } from "./server.ts";

const quiet = createLog({ service: "test", destination: { write: () => {} } });

const undo: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const step of undo.splice(0).reverse()) await step();
});

/** A server that stops from now on gives requests in progress as much time as they take. */
const holdTime = () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

const serve = (options: Partial<HttpServerOptions> = {}) =>
  httpServer({ host: "127.0.0.1", port: 0, log: quiet, metrics: createMetrics(), ...options });

/** A server that announces its shutdown as the application does, and a client with one connection. */
async function start(): Promise<{ server: HttpServer; metrics: Metrics; ask(): Promise<IncomingMessage> }> {
  const metrics = createMetrics();
  const server = serve({ metrics });
  server.answerWith((_request, response) => {
    if (server.isLeaving()) response.setHeader("Connection", "close");
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
  return { server, metrics, ask };
}

it("a request that was on its way when the server stops is answered, on a connection that ends with it", async () => {
  const { server, ask } = await start();
  expect((await ask()).headers.connection).toBe("keep-alive");
  const draining = server.drain();
  expect((await ask()).headers.connection).toBe("close");
  await draining;
  await expect(ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

/** This many clients send requests, each on a connection of its own, with pauses. */
const crowd = 60;

it("clients that ask again and again leave a server before it stops, and none of their requests is reset", async () => {
  const [leaving, staying] = [await start(), await start()];
  let target = leaving.server;
  let [isOver, answered] = [false, 0];
  const connections = async () =>
    Number(/^tessera_http_connections (\d+)$/m.exec(await leaving.metrics.exposition())?.[1]);
  const errors: unknown[] = [];
  const clients = Array.from({ length: crowd }, async (_, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // A balancer routes new connections elsewhere; open ones stay.
    agent.createConnection = () => connect(target.port(), "127.0.0.1");
    while (!isOver) {
      await new Promise<void>((resolve) => {
        request({ host: "127.0.0.1", agent }, (response) => response.resume().once("end", resolve))
          .once("error", (error) => resolve(void errors.push(error)))
          .end();
      });
      answered += 1;
      await sleep(index * 3);
    }
    agent.destroy();
  });
  await expect.poll(() => answered).toBeGreaterThan(5 * crowd);
  await expect.poll(connections).toBe(crowd);
  target = staying.server;
  leaving.server.leave();
  // Each has sent one more request, and was told to leave.
  await expect.poll(connections).toBe(0);
  holdTime();
  await leaving.server.drain();
  await leaving.server.stop();
  const until = answered + crowd;
  await expect.poll(() => answered).toBeGreaterThan(until);
  isOver = true;
  await Promise.all(clients);
  expect(errors).toEqual([]);
});

it("connections that nothing comes on are closed, and not waited for", async () => {
  const { server, ask } = await start();
  await ask();
  const silent = connect(server.port(), "127.0.0.1");
  undo.push(() => silent.destroy());
  const closed = new Promise((resolve) => silent.once("close", resolve));
  await new Promise<void>((resolve) => silent.once("connect", resolve));
  holdTime();
  await server.drain();
  await server.stop();
  await closed;
  expect(silent.destroyed).toBe(true);
});

it("a server without connections stops at once, and one with an idle connection later", async () => {
  const [idle, empty] = [await start(), await start()];
  await idle.ask();
  holdTime();
  const stopped: string[] = [];
  const stop = async (name: string, server: HttpServer) => {
    await server.drain();
    await server.stop();
    stopped.push(name);
  };
  await Promise.all([stop("idle", idle.server), stop("empty", empty.server)]);
  expect(stopped).toEqual(["empty", "idle"]);
});

/** A raw connection for arbitrary bytes. */
async function open(
  server: Pick<HttpServer, "port">,
): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
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
  const server = serve();
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
  holdTime();
  const stopping = server.stop();
  finish();
  await Promise.all([closed, stopping]);
  expect(received()).toContain("and ended");
});

/** A server with the given limits, and how often each of them closed a connection. */
async function startWith(
  answer: RequestListener,
  options: Partial<HttpServerOptions> = {},
): Promise<{ server: HttpServer; metrics: Metrics; closedFor(reason: string): Promise<number> }> {
  const metrics = createMetrics();
  const server = serve({ metrics, ...options });
  server.answerWith(answer);
  await server.start();
  undo.push(() => server.stop());
  return {
    server,
    metrics,
    async closedFor(reason) {
      const line = new RegExp(`^tessera_http_connections_closed_total\\{reason="${reason}"\\} (\\d+)$`, "m");
      return Number(line.exec(await metrics.exposition())?.[1] ?? 0);
    },
  };
}

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("a client that sends requests ahead", () => {
  it("[S4.12] is answered up to a limit, and cut off beyond it", async () => {
    let begun = 0;
    const { server, closedFor } = await startWith((_request, response) => {
      begun += 1;
      setTimeout(() => response.end("answer"), 20);
    });
    const few = await open(server);
    few.socket.write(get.repeat(8));
    await expect.poll(() => few.received().match(/answer/g)).toHaveLength(8);
    begun = 0;
    const many = await open(server);
    many.socket.write(get.repeat(1400));
    await many.closed;
    expect([begun, many.received().match(/answer/g)?.length, await closedFor("pipelining")]).toEqual([8, 8, 1]);
    few.socket.write(get);
    await expect.poll(() => few.received().match(/answer/g)).toHaveLength(9);
  });

  it("and leaves lets go of all of them, also of those behind the one that is being answered", async () => {
    let closed = 0;
    const { server } = await startWith((_request, response) => response.once("close", () => (closed += 1)));
    const { socket } = await open(server);
    socket.write(get.repeat(3), () => setTimeout(() => socket.destroy(), 50));
    await expect.poll(() => closed).toBe(3);
  });
});

describe("more connections than allowed", () => {
  it("[S4.13] cost the connection that has been idle for the longest time", async () => {
    const lines: string[] = [];
    const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
    const { server, closedFor } = await startWith((_request, response) => response.end("answer"), {
      mostConnections: 3,
      log,
    });
    const [oldest, used, idle] = [await open(server), await open(server), await open(server)];
    oldest.socket.write(get);
    used.socket.write(get);
    await expect.poll(used.received).toContain("answer");
    oldest.socket.write(get);
    await expect.poll(() => oldest.received().match(/answer/g)).toHaveLength(2);
    const latest = await open(server);
    latest.socket.write(get);
    await idle.closed;
    await expect.poll(latest.received).toContain("answer");
    const another = await open(server);
    another.socket.write(get);
    await used.closed;
    await expect.poll(another.received).toContain("answer");
    oldest.socket.write(get);
    await expect.poll(() => oldest.received().match(/answer/g)).toHaveLength(3);
    expect(await closedFor("room")).toBe(2);
    expect(lines.filter((line) => line.includes("more clients are connected"))).toHaveLength(1);
  });

  it("[S4.13] are refused while all others are being answered", async () => {
    const waiting: (() => void)[] = [];
    const { server, closedFor } = await startWith((_request, response) => waiting.push(() => response.end("answer")), {
      mostConnections: 2,
    });
    const busy = [await open(server), await open(server)];
    for (const { socket } of busy) socket.write(get);
    await expect.poll(() => waiting).toHaveLength(2);
    const latest = await open(server);
    await latest.closed;
    expect(await closedFor("refused")).toBe(1);
    for (const end of waiting) end();
    for (const { received } of busy) await expect.poll(received).toContain("answer");
  });
});

describe("a client that does not read", () => {
  it("[S4.14] is cut off, and one that reads slowly is not, nor one that waits for its answer", async () => {
    const large = Buffer.alloc(16 * 1024 * 1024);
    let answerPatient = () => {};
    const { server, closedFor } = await startWith(
      ({ url }, response) => {
        if (url === "/slow") answerPatient = () => response.end("slow");
        else response.end(large);
      },
      // Many times the pauses of the slow reader, which a busy machine makes longer.
      { stalledMs: 2000 },
    );
    const gone = connect(server.port(), "127.0.0.1").pause();
    gone.on("error", () => {});
    undo.push(() => gone.destroy());
    gone.write(get);
    const slow = await open(server);
    let read = 0;
    slow.socket.on("data", (piece: Buffer) => {
      read += piece.length;
      if (read % 7 !== 0 || read > large.length) return;
      slow.socket.pause();
      setTimeout(() => slow.socket.resume(), 80);
    });
    slow.socket.write(get);
    const patient = await open(server);
    patient.socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    await expect.poll(() => closedFor("stalled")).toBe(1);
    answerPatient();
    await expect.poll(patient.received).toContain("slow");
    await expect.poll(() => read).toBeGreaterThan(large.length);
  });
});

describe("a request that cannot be read", () => {
  it.each([
    ["nonsense", "nonsense\r\n\r\n", 400],
    ["a head that is too long", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["an unknown expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nContent-Length: 1\r\n\r\n", 417],
    ["a broken body", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400],
    [
      "a chunk with a long extension",
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${"x".repeat(20_000)}\r\n`,
      413,
    ],
  ])("[S8.1] is refused like others: %s", async (_name, sent, status) => {
    const { server } = await startWith((request) => void request.resume());
    const { socket, received, closed } = await open(server);
    socket.write(sent);
    await closed;
    const [head = "", body = ""] = received().split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/^x-content-type-options: nosniff\r?$/im);
    expect(head).toMatch(/^connection: close\r?$/im);
    expect(JSON.parse(body)).toEqual({ detail: expect.any(String) });
  });

  it("is not answered where another answer would be taken for it", async () => {
    const { server } = await startWith((_request, response) => void response.write("begun"));
    const { socket, received, closed } = await open(server);
    socket.write(get);
    await expect.poll(received).toContain("begun");
    socket.write("nonsense\r\n\r\n");
    await closed;
    expect(received()).not.toContain(" 400 ");
  });
});
