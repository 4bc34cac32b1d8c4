import { UpcomingState } from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";

const root = "/api/v1/organizers/bigevents/retention/";
const id = "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1";
const at = Date.parse("2026-05-01T12:00:00Z") * 1000;
const retention = { days: 90, shredders: ["order_emails"], changedAt: at };
const shown = { days: 90, shredders: ["order_emails"], changed: "2026-05-01T12:00:00Z" };

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("retention", "findRetention", async () => ({ retention }));
  app.peers.when("retention", "setRetention", async () => ({ retention }));
  app.peers.when("retention", "endRetention", async () => ({}));
  app.peers.when("retention", "listUpcoming", async () => ({ erasures: [], count: 0, page: 1 }));
  app.peers.when("retention", "listErased", async () => ({ erasures: [], count: 0, page: 1 }));
});

describe("the setting", () => {
  it("[D9.1] is shown, and off without one", async () => {
    expect(await app.send("GET", root)).toMatchObject({ status: 200, json: shown });
    app.peers.when("retention", "findRetention", async () => ({ retention: undefined }));
    expect((await app.send("GET", root)).json).toEqual({ days: null, shredders: [], changed: null });
    expect(app.peers.requestsOf("findRetention")[0]).toEqual({ organizer: "bigevents" });
  });

  it("[D9.1] is set, and switched off", async () => {
    expect(await app.send("PUT", root, { body: { days: 0, shredders: ["order_emails"] } })).toMatchObject({
      status: 200,
      json: shown,
    });
    expect(app.peers.requestsOf("setRetention")).toEqual([
      { organizer: "bigevents", days: 0, shredders: ["order_emails"], instance: publicBase },
    ]);
    expect(await app.send("DELETE", root)).toMatchObject({ status: 204, text: "" });
    expect(app.peers.requestsOf("endRetention")).toEqual([{ organizer: "bigevents" }]);
  });

  it.each([
    [{}, ["days", "shredders"]],
    [{ days: null, shredders: null }, ["days", "shredders"]],
    [{ days: -1, shredders: [] }, ["days", "shredders"]],
    [{ days: 3651, shredders: ["zz"] }, ["days", "shredders"]],
    [{ days: 1.5, shredders: "order_emails" }, ["days", "shredders"]],
    [{ days: 3650, shredders: [7] }, ["shredders"]],
    [{ days: "x", shredders: ["invoices"] }, ["days"]],
  ])("[D9.1] is refused as %j, by its fields", async (body, fields) => {
    const { status, json } = await app.send("PUT", root, { body });
    expect([status, Object.keys(json as object).sort()]).toEqual([400, fields]);
    expect(app.peers.requestsOf("setRetention")).toEqual([]);
  });
});

it("[D9.2] erasures that are announced are listed with their states", async () => {
  const erasure = { event: "sampleconf", dueAt: at, shredders: ["order_emails"] };
  const states = [
    UpcomingState.BLOCKED,
    UpcomingState.DUE,
    UpcomingState.ANNOUNCED,
    UpcomingState.EXPORTING,
    UpcomingState.ERASING,
  ];
  app.peers.when("retention", "listUpcoming", async () => ({
    erasures: states.map((state) => ({
      ...erasure,
      state,
      reason: state === UpcomingState.BLOCKED ? "It is online." : undefined,
    })),
    count: 60,
    page: 1,
  }));
  const { status, json } = await app.send("GET", `${root}upcoming/?page_size=7`);
  const one = { event: "sampleconf", due: "2026-05-01T12:00:00Z", shredders: ["order_emails"] };
  expect([status, json]).toEqual([
    200,
    {
      ...{ count: 60, next: `${publicBase}${root}upcoming/?page=2&page_size=7`, previous: null },
      results: [
        { ...one, state: "blocked", reason: "It is online." },
        ...["due", "announced", "exporting", "erasing"].map((state) => ({ ...one, state, reason: null })),
      ],
    },
  ]);
  expect(app.peers.requestsOf("listUpcoming")).toEqual([{ organizer: "bigevents", page: 1, pageSize: 7 }]);
});

it("[D9.10] erasures that were made are listed with the addresses of their certificates", async () => {
  const erasure = { event: "sampleconf", case: id, shredders: ["order_emails"], erasedAt: at };
  app.peers.when("retention", "listErased", async () => ({ erasures: [erasure], count: 1, page: 1 }));
  expect((await app.send("GET", `${root}erased/`)).json).toMatchObject({
    count: 1,
    results: [
      {
        ...{ event: "sampleconf", case: id, shredders: ["order_emails"], erased: "2026-05-01T12:00:00Z" },
        certificate: `${publicBase}${inEvent}/shredders/certificate/${id}/`,
      },
    ],
  });
});

it("[D9.11] is for API keys that may change the orders of all events alone", async () => {
  for (const key of [
    ...[keys.none, keys.reader, keys.gate, keys.settings, keys.otherEvent, keys.otherOrganizer, keys.operator],
    ...[devices.full, devices.scan, devices.kiosk],
  ]) {
    for (const path of [root, `${root}upcoming/`, `${root}erased/`])
      expect((await app.send("GET", path, { key })).status, key).toBe(403);
    expect((await app.send("PUT", root, { key, body: {} })).status, key).toBe(403);
    expect((await app.send("DELETE", root, { key })).status, key).toBe(403);
  }
  expect((await app.send("GET", root, { key: null })).status).toBe(401);
  expect((await app.send("GET", root.replace("bigevents", "nobody"))).status).toBe(403);
  expect(app.peers.calls).toEqual([]);
  expect((await app.send("GET", root)).status).toBe(200);
});
