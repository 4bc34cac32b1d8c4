import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { aList } from "../testing/fake-peers.ts";
import { inEvent, keys, type ServedApp, serveApp } from "../testing/serve-app.ts";

const lists = `${inEvent}/checkinlists/`;
const redeem = `${lists}1/positions/x/redeem/`;
const json = { "content-type": "application/json" };
const kib = 1024;

let app: ServedApp;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

async function start(options: Parameters<typeof serveApp>[0] = {}): Promise<void> {
  app = await serveApp(options);
  // An invalid body is answered with 404 if its object does not exist.
  app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
  app.peers.when("credentials", "listCredentials", async () => ({ credentials: [], count: 0, page: 1 }));
}

/** Announces a body, and sends none of it. */
function announce(path: string, length: number): void {
  const socket = connect(app.port, "127.0.0.1");
  sockets.push(socket);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  );
}

it.each([
  ["a scan", "POST", redeem, 64 * kib],
  ["a refused scan", "POST", `${lists}1/failed_checkins/`, 64 * kib],
  ["a list", "POST", lists, 256 * kib],
  ["a change of a list", "PATCH", `${lists}1/`, 256 * kib],
])("[A4.28, S4.2] the body of %s has a limit of its own, which is documented", async (_name, method, path, most) => {
  await start();
  const send = (bytes: number) => app.send(method, path, { headers: json, body: "{".padEnd(bytes) });
  expect((await send(most)).status).toBe(400);
  expect((await send(most + 1)).status).toBe(413);
  const document = (await app.send("GET", "/api/v1/openapi.json", { key: null })).json as {
    paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
  };
  const limits = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ responses }) => responses["413"]?.description),
  );
  expect(limits).toContain(`The body has more than ${most} bytes.`);
});

it("[S4.15] bodies together take so much memory, half of it for one organizer; scans wait for none of them", async () => {
  await start({ maxMs: 20_000, bodies: { total: 2048 * kib, waitMs: 300 } });
  // One organizer has used up its half, and waits for itself.
  for (const length of [250, 250, 250, 250]) announce(lists, length * kib);
  await expect.poll(() => sockets.every((socket) => !socket.connecting)).toBe(true);
  const send = (bytes: number, key: string) => app.send("POST", lists, { headers: json, key, body: "{".padEnd(bytes) });
  const refused = await send(100 * kib, keys.all);
  expect([refused.status, Number(refused.headers["retry-after"])]).toEqual([503, 5]);
  // Another party has its own half, and small bodies need none.
  const other = { headers: json, key: keys.operator, body: "{".padEnd(250 * kib) };
  expect((await app.send("POST", "/api/v1/organizers/bigevents/apikeys/", other)).status).toBe(400);
  expect((await app.send("POST", redeem, { headers: json, body: "{".padEnd(64 * kib) })).status).toBe(400);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(async () => (await send(250 * kib, keys.all)).status).toBe(400);
});

it("[S4.27] a body that is too large is dropped no faster than others can be served beside it", async () => {
  await start();
  const began = performance.now();
  expect((await app.send("POST", lists, { headers: json, body: "{".padEnd(4000 * kib) })).status).toBe(413);
  expect(performance.now() - began).toBeGreaterThan(14 * 5);
});

it.each([0, 1, 100, 5000, 50_000])(
  "[S4.16] a refused body of %i bytes more than are dropped leaves no connection that is dead",
  async (more) => {
    await start();
    const socket = connect(app.port, "127.0.0.1");
    sockets.push(socket);
    const answers: string[] = [];
    socket.on("data", (chunk: Buffer) => void answers.push(chunk.toString()));
    const ended = once(socket, "close").then(() => "ended");
    const head = `Host: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: application/json`;
    socket.write(`POST ${lists} HTTP/1.1\r\n${head}\r\nContent-Length: ${4096 * kib + more}\r\n\r\n`);
    socket.write("{".padEnd(4096 * kib + more));
    await expect.poll(() => answers.join("")).toMatch(/^HTTP\/1\.1 413 /);
    socket.write(`GET /api/v1/openapi.json HTTP/1.1\r\n${head}\r\n\r\n`);
    const isAnswered = () => / 200 /.test(answers.join(""));
    const answered = new Promise((resolve) => void socket.on("data", () => isAnswered() && resolve("answered")));
    expect(await Promise.race([ended, answered])).toBe(
      /Connection: close/i.test(answers.join("")) ? "ended" : "answered",
    );
  },
);

it("[S4.16] a body in crumbs is refused before it has cost much", async () => {
  await start();
  const socket = connect(app.port, "127.0.0.1");
  sockets.push(socket);
  socket.write(
    `POST ${lists} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  socket.write("1\r\n{\r\n".repeat(100_000));
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 .*too many small pieces/s);
});

it("a body that comes in many pieces is put together again", async () => {
  await start();
  const socket = connect(app.port, "127.0.0.1").setNoDelay();
  sockets.push(socket);
  const body = Buffer.from(JSON.stringify({ name: "y".repeat(60), unknown: "x".repeat(30_000), include_pending: "x" }));
  socket.write(
    `POST ${lists} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + 1 + (at % 97));
    socket.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]));
    at += piece.length;
  }
  socket.write("0\r\n\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  // The whole body was read: only its last field is wrong.
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 .*\{"include_pending":\[/s);
});

const form = { "content-type": "application/x-www-form-urlencoded" };
const multipart = (fields: number) => ({
  headers: { "content-type": "multipart/form-data; boundary=b" },
  body: `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(fields)}--b--\r\n`,
});

it.each([
  ["urlencoded", (fields: number) => ({ headers: form, body: Array(fields).fill("a=x").join("&") })],
  ["multipart", multipart],
])("[S4.16] a %s form has at most a thousand fields", async (_name, make) => {
  await start();
  const few = await app.send("POST", lists, make(1000));
  expect([few.status, few.json]).toEqual([400, { name: expect.anything() }]);
  const many = await app.send("POST", lists, make(1001));
  expect([many.status, many.json]).toEqual([400, { detail: expect.stringContaining("1000 fields") }]);
});

it("[S4.16] a percent-encoded form has at most 256 KiB, also where JSON may be longer", async () => {
  await start();
  const send = (characters: number) =>
    app.send("POST", `${inEvent}/vouchers/`, { headers: form, body: `comment=${"+".repeat(characters)}` });
  expect((await send(257 * kib)).status).toBe(413);
  expect((await send(255 * kib)).status).not.toBe(413);
});

it("[S4.15] of one organizer one large body is parsed at a time, and small ones do not wait for it", async () => {
  await start();
  const held: (() => void)[] = [];
  app.peers.when("checkinLists", "createCheckinList", async () => {
    await new Promise<void>((resolve) => void held.push(resolve));
    return { list: aList() };
  });
  const create = (bytes: number) =>
    app.send("POST", lists, { headers: json, body: JSON.stringify({ name: "x", all_products: true }).padEnd(bytes) });
  const large = [create(100 * kib), create(100 * kib)];
  await expect.poll(() => held.length).toBe(1);
  const small = create(kib);
  await expect.poll(() => held.length).toBe(2);
  for (const release of held.splice(0)) release();
  expect((await small).status).toBe(201);
  await expect.poll(() => held.length).toBe(1);
  for (const release of held.splice(0)) release();
  expect((await Promise.all(large)).map(({ status }) => status)).toEqual([201, 201]);
});

it("[S4.15] a connection that is lost with two large bodies leaves the turn to the next one", async () => {
  await start({ bodies: { waitMs: 500 } });
  const lost = Promise.withResolvers<void>();
  let begun = 0;
  app.peers.when("checkinLists", "createCheckinList", async () => {
    begun += 1;
    await lost.promise;
    return { list: aList() };
  });
  const body = JSON.stringify({ name: "x", all_products: true }).padEnd(100 * kib);
  const request = `POST ${lists} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const socket = connect(app.port, "127.0.0.1");
  sockets.push(socket);
  socket.write(request + request);
  await expect.poll(() => begun).toBe(1);
  // Until the second body is read, and waits for the first.
  await sleep(200);
  socket.destroy();
  await sleep(100);
  lost.resolve();
  expect((await app.send("POST", lists, { headers: json, body })).status).toBe(201);
});
