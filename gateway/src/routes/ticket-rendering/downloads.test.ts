import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DownloadLimits, downloadTurns, largestRendered, storedDownloads } from "../../http/downloads.ts";
import { at, type Route } from "../../http/route.ts";
import { type FakePeers, fakePeers } from "../../testing/fake-peers.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { inEvent, inTheirEvent, keys, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { layoutDraftRoutes } from "../layout-drafts/routes.ts";
import { offlineSalesRoutes } from "../offline-sales/routes.ts";
import { ticketRenderingRoutes } from "./routes.ts";

const ids = "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1/1c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f2/";
const rendered = (place: string) => `${place}/ticketpdfrenderer/download/${ids}`;
const ofBatch = `${inEvent}/offlinesalesbatches/7/download/${ids}`;
const ticket = (place: string) => `${place}/orderpositions/42/download/pdf/`;
/** Larger than the socket buffers, so that the answer waits for its reader. */
const large = Buffer.alloc(10 * 1024 * 1024, "x");

let directory: string;
let app: ServedApp;
let peers: FakePeers;
let sockets: Socket[];

/** Two concurrent downloads of an organizer, and four in all. */
async function start({ longestMs = 60_000 }: Partial<DownloadLimits> = {}) {
  const files = diskFiles({ directory });
  await files.put("renders/x.pdf", large, { contentType: "application/pdf" });
  peers = fakePeers();
  const limits = { total: 4, each: 2, waitMs: 200, longestMs };
  const replyStored = storedDownloads(files, limits);
  const takeTurn = downloadTurns({ ...limits, total: 4 * largestRendered, each: 2 * largestRendered });
  const { rendering, offlineSales } = peers.clients;
  const tickets = ticketRenderingRoutes({ rendering, replyStored, takeTurn });
  const drafts = layoutDraftRoutes({ rendering, takeTurn, findUploads: async () => [] });
  const batches = offlineSalesRoutes({ offlineSales, replyStored });
  const ours = [
    at("GET", "", tickets.download),
    at("GET", "", tickets.ticket),
    at("GET", "", batches.download),
    at("POST", "", drafts.preview),
  ];
  const ourOwn = (route: Route) => ({ ...(ours.find(({ name }) => name === route.name) ?? route), path: route.path });
  app = await serveApp({ routes: (all) => all.map(ourOwn) });
  const file = { message: "", fileKey: "renders/x.pdf", size: large.length, leftOut: [] };
  peers.when("rendering", "findBatch", async () => ({ ...file, state: JobState.SUCCEEDED, warnings: [] }));
  peers.when("offlineSales", "findRendering", async () => ({ ...file, state: JobState.SUCCEEDED, warnings: 0 }));
  peers.when("rendering", "previewLayout", async () => ({ content: large, warnings: [] }));
  peers.when("rendering", "renderTicket", async () => ({ pdf: large, order: "A", positionid: 1, warnings: 0 }));
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-renders-"));
  sockets = [];
  await start();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  requireDocumented(app);
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

/** A client that sends a request, and reads only the beginning of the answer. */
async function askWithoutReading(path: string): Promise<Socket> {
  const socket = connect(app.port, "127.0.0.1", () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${keys.all}\r\n\r\n`),
  );
  sockets.push(socket.on("error", () => {}));
  await new Promise((resolve) => socket.once("readable", resolve));
  return socket;
}
const statusOf = async (path: string, key?: string) =>
  (await app.send("GET", path, key === undefined ? {} : { key })).status;
const busy = {
  status: 503,
  headers: { "retry-after": "5" },
  json: { detail: expect.stringContaining("Too many files are being downloaded at once") },
};

describe("[L58.1] files of jobs", () => {
  it("are sent to an organizer a few at a time; another one gets its own meanwhile", async () => {
    await askWithoutReading(rendered(inEvent));
    await askWithoutReading(ofBatch);
    expect(await app.send("GET", rendered(inEvent))).toMatchObject(busy);
    expect(await app.send("GET", ofBatch)).toMatchObject(busy);
    expect(await statusOf(rendered(inTheirEvent), keys.otherOrganizer)).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => statusOf(ofBatch)).toBe(200);
  });

  it("leave their places to others when their clients take nothing for too long", async () => {
    await app.close();
    await start({ longestMs: 300 });
    await Promise.all([askWithoutReading(ofBatch), askWithoutReading(ofBatch)]);
    await expect.poll(() => statusOf(ofBatch)).toBe(200);
  });
});

describe("[L58.2] single tickets and previews", () => {
  it("are in memory for an organizer a few at a time; another one gets its own meanwhile", async () => {
    await askWithoutReading(ticket(inEvent));
    await askWithoutReading(ticket(inEvent));
    expect(await app.send("GET", ticket(inEvent))).toMatchObject(busy);
    expect(await app.send("POST", `${inEvent}/ticketlayouts/preview/`, { body: {} })).toMatchObject(busy);
    expect(peers.requestsOf("previewLayout")).toEqual([]);
    expect(await statusOf(ticket(inTheirEvent), keys.otherOrganizer)).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => statusOf(ticket(inEvent))).toBe(200);
  });
});
