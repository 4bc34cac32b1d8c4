import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { Fault } from "@tessera/kit/fault";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at } from "../../http/route.ts";
import { type FakePeers, fakePeers } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { backgroundRoutes } from "./routes.ts";

const name = "0123456789".repeat(4);
const folder = "/pub/bigevents/sampleconf/ticketlayouts/";
const address = `${folder}${name}.pdf`;
const content = "%PDF-1.7 not quite";
const fileKey = `backgrounds/${name}.pdf`;
const sha256 = "ab".repeat(32);

let directory: string;
let app: ServedApp;
let peers: FakePeers;

async function start(limits?: Parameters<typeof backgroundRoutes>[1], bytes = Buffer.from(content)) {
  const files = diskFiles({ directory });
  await files.put(fileKey, bytes, { contentType: "application/pdf" });
  peers = fakePeers();
  const { get: route } = backgroundRoutes({ layouts: peers.clients.layouts, files }, limits);
  app = await serveApp({
    routes: (all) => all.map((each) => (each.name === route.name ? at("GET", each.path, route) : each)),
  });
  peers.when("layouts", "findBackground", async ({ organizer, event, background }) => {
    if (`${organizer}/${event}/${background}` !== `bigevents/sampleconf/${name}`)
      throw new Fault("not_found", "background_not_found", "There is no such background.");
    return { fileKey, size: bytes.length, sha256 };
  });
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-backgrounds-"));
  await start();
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

const get = (headers: Record<string, string> = {}, path = address) => app.send("GET", path, { key: null, headers });

describe("[L6.1] a background", () => {
  it("is read without credentials, kept by caches, and never run as a page", async () => {
    const { status, text, headers } = await get();
    expect([status, text]).toEqual([200, content]);
    expect(headers).toMatchObject({
      "content-type": "application/pdf",
      "content-length": String(content.length),
      "cache-control": "public, max-age=3600",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      etag: `"${sha256}"`,
    });
  });

  it("has a head", async () => {
    const { status, text, headers } = await app.send("HEAD", address, { key: null });
    expect([status, text, headers["content-length"], headers["content-type"]]).toEqual([
      ...[200, "", String(content.length), "application/pdf"],
    ]);
  });

  it("is not sent to those who have it", async () => {
    for (const tags of [`"${sha256}"`, `W/"${sha256}"`, `"x", "${sha256}"`, "*"]) {
      const { status, text, headers } = await get({ "if-none-match": tags });
      expect([status, text, headers["etag"]]).toEqual([304, "", `"${sha256}"`]);
    }
    expect((await get({ "if-none-match": '"x"' })).status).toBe(200);
  });

  it("is sent in parts", async () => {
    for (const [range, part] of [
      ["bytes=0-3", "%PDF"],
      ["bytes=9-", "not quite"],
      ["bytes=-5", "quite"],
    ] as const) {
      const { status, text, headers } = await get({ range });
      expect([status, text, headers["content-length"]]).toEqual([206, part, String(part.length)]);
      expect(headers["content-range"]).toMatch(new RegExp(`^bytes \\d+-\\d+/${content.length}$`));
    }
    const behind = await get({ range: "bytes=500-" });
    expect([behind.status, behind.headers["content-range"]]).toEqual([416, `bytes */${content.length}`]);
    expect((await get({ range: "bytes=0-3", "if-range": '"old"' })).text).toBe(content);
    expect((await get({ range: "bytes=0-3", "if-range": `"${sha256}"` })).text).toBe("%PDF");
  });
});

describe("[L6.2] what is no background", () => {
  it.each([
    `${folder}${"f".repeat(40)}.pdf`,
    `${folder}${name}`,
    `${folder}${name}.PDF`,
    `${folder}x${name}.pdf`,
    `${folder}..%2F..%2Fuploads%2Fx.pdf`,
    `/pub/bigevents/other/ticketlayouts/${name}.pdf`,
    `/pub/somebody/sampleconf/ticketlayouts/${name}.pdf`,
  ])("is not found: %s", async (path) => {
    const { status, headers } = await get({}, path);
    expect([status, headers["cache-control"]]).toEqual([404, "private, no-store"]);
  });

  it("is not found when its file is gone already", async () => {
    await diskFiles({ directory }).remove([fileKey]);
    expect(await get()).toMatchObject({ status: 404, headers: { "cache-control": "private, no-store" } });
  });

  it("takes no other method", async () => {
    for (const method of ["POST", "PUT", "DELETE"])
      expect((await app.send(method, address, { key: null })).status).toBe(405);
  });
});

describe("[L6.3] backgrounds of one organizer", () => {
  // Larger than the socket buffers, so that the answer waits for its reader.
  const large = Buffer.alloc(24 * 1024 * 1024, "a");

  /** A client that sends a request, and reads nothing. */
  const askWithoutReading = (): Socket => {
    const socket = connect(app.port, "127.0.0.1", () => socket.write(`GET ${address} HTTP/1.1\r\nHost: a\r\n\r\n`));
    socket.pause();
    return socket.on("error", () => {});
  };
  const asked = () => peers.requestsOf("findBackground").length;

  it("are sent a few at a time; who waits too long is refused for now", async () => {
    await app.close();
    await start({ total: 4, each: 2, waitMs: 50, longestMs: 60_000 }, large);
    const sockets = Array.from({ length: 2 }, askWithoutReading);
    await expect.poll(asked).toBe(2);
    await expect.poll(async () => (await get()).status).toBe(503);
    expect((await get()).headers["retry-after"]).toBe("5");
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await get()).status).toBe(200);
  });

  it("leave their places when their clients take nothing for too long", async () => {
    await app.close();
    await start({ total: 4, each: 2, waitMs: 60_000, longestMs: 2000 }, large);
    const sockets = Array.from({ length: 2 }, askWithoutReading);
    await expect.poll(asked).toBe(2);
    // A busy machine may not read the file within that time itself.
    await expect.poll(async () => (await get()).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});
