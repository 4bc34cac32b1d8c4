import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireDocumented } from "../testing/require-documented.ts";
import { devices, heardAt, keys, type ServedApp, serveApp } from "../testing/serve-app.ts";

const feed = "/api/v1/organizers/bigevents/sync/";

let app: ServedApp;
beforeEach(async () => {
  app = await serveApp();
  app.peers.when("sync", "readChanges", async () => ({
    lines: Buffer.alloc(0),
    cursor: "c",
    isComplete: true,
    isTooOld: false,
  }));
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

const said = (queue: string, battery: string) => ({ "x-queue-length": queue, "x-battery-level": battery });
const nothing = { queue: null, battery: null };

describe("a request of a device", () => {
  it("[F5.1, F5.2] is noted, with what its headers say last", async () => {
    await app.send("GET", "/api/v1/device/info", { key: devices.full, headers: said("12", "81") });
    await app.send("GET", feed, { key: devices.full, headers: said("9", "") });
    expect(app.contacts.take()).toMatchObject([{ organizer: "bigevents", seenAt: heardAt, queue: 9, battery: 81 }]);
    expect(app.contacts.take()).toEqual([]);
  });

  it.each(["-1", "1.5", "x", "9".repeat(20)])("[F5.2] is served whatever its headers say: %s", async (text) => {
    const headers = said(text, text === "1.5" ? "101" : text);
    await app.send("GET", feed, { key: devices.full, headers });
    expect(app.contacts.take()).toMatchObject([nothing]);
  });

  it("[F5.1] that was refused as revoked is not noted, nor are those of API keys", async () => {
    await app.send("GET", feed, { key: devices.revoked });
    await app.send("GET", feed, { key: keys.all, headers: said("1", "1") });
    expect(app.contacts.take()).toEqual([]);
  });

  it("[F5.3] that read the feed to its end is noted as in step", async () => {
    await app.send("GET", feed, { key: devices.full });
    expect(app.contacts.take()).toMatchObject([{ syncedAt: heardAt, seenAt: heardAt }]);
  });
});
