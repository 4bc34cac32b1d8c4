import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at } from "../../http/route.ts";
import { type FakePeers, fakePeers } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { inEvent, keys, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { answerFileRoutes } from "./routes.ts";

const address = `${inEvent}/orderpositions/42/answer/7/`;
const mebibyte = 1024 * 1024;

let app: ServedApp;
let peers: FakePeers;
/** Answers all requests for files. */
let open: () => void;

async function serve({ bytes, waitMs, longestMs }: { bytes: number; waitMs: number; longestMs: number }) {
  peers = fakePeers();
  const gate = Promise.withResolvers<void>();
  open = gate.resolve;
  peers.when("answerFiles", "getAnswerFile", async () => {
    await gate.promise;
    return { name: "a.png", contentType: "image/png", content: Buffer.alloc(bytes, 1) };
  });
  const { get } = answerFileRoutes(peers.clients, { waitMs, longestMs });
  app = await serveApp({
    routes: (all) => all.map((route) => (route.name === get.name ? at("GET", route.path, get) : route)),
  });
}

beforeEach(() => serve({ bytes: mebibyte, waitMs: 5000, longestMs: 60_000 }));

afterEach(async () => {
  open();
  requireDocumented(app);
  await app.close();
});

const asked = () => peers.requestsOf("getAnswerFile").length;
const download = async () => (await app.send("GET", address)).status;

/** A client that sends a request, and reads nothing. */
function askWithoutReading(): Socket {
  const socket = connect(app.port, "127.0.0.1", () =>
    socket.write(`GET ${address} HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${keys.all}\r\n\r\n`),
  );
  socket.pause();
  return socket.on("error", () => {});
}

describe("downloads of one organizer", () => {
  it("[S4.11] are fetched a few at a time, and all of them in the end", async () => {
    const downloads = Array.from({ length: 20 }, download);
    await expect.poll(asked).toBe(4);
    expect(await app.send("GET", `${inEvent}/nothing/`)).toMatchObject({ status: 404 });
    expect(asked()).toBe(4);
    open();
    expect(await Promise.all(downloads)).toEqual(downloads.map(() => 200));
  });

  it("[S4.11] that wait for too long are refused for now", async () => {
    await app.close();
    await serve({ bytes: 10, waitMs: 50, longestMs: 60_000 });
    const first = Array.from({ length: 4 }, download);
    await expect.poll(asked).toBe(4);
    const late = await app.send("GET", address);
    expect([late.status, late.headers["retry-after"], late.json]).toEqual([
      503,
      "5",
      { detail: expect.stringContaining("Too many files are being downloaded at once") },
    ]);
    open();
    expect(await Promise.all(first)).toEqual([200, 200, 200, 200]);
    expect(await download()).toBe(200);
  });

  it.each([
    { reason: "clients disconnect", longestMs: 60_000, leave: true },
    { reason: "clients take nothing for too long", longestMs: 2500, leave: false },
  ])("[S4.11] leave their places to others when their $reason", async ({ longestMs, leave }) => {
    await app.close();
    await serve({ bytes: 10 * mebibyte, waitMs: 10_000, longestMs });
    open();
    const sockets = Array.from({ length: 4 }, askWithoutReading);
    await expect.poll(asked).toBe(4);
    const next = download();
    await app.send("GET", `${inEvent}/nothing/`);
    expect(asked()).toBe(4);
    if (leave) for (const socket of sockets) socket.destroy();
    expect(await next).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});
