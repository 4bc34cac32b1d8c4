import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { inEvent, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { admitted } from "../../testing/serve-crowd.ts";

describe("a scan with an upload", () => {
  const upload = "8d0f5b0a-2f1d-4c8f-9d57-0c1f8e1d2b3c";
  let app: ServedApp;
  let outcome: ScanOutcome;
  let dropped: unknown[];
  let isDatabaseAway: boolean;

  beforeEach(async () => {
    [outcome, dropped, isDatabaseAway] = [admitted, [], false];
    app = await serveApp({
      findUploads: async (ids) =>
        ids.map((id) => ({ upload: id, name: "a.png", contentType: "image/png", size: 1, sha256: "ab" })),
      expireDropped: async (ids, place) => {
        if (isDatabaseAway) throw new Error("the database is away");
        dropped.push([ids, place]);
      },
    });
    app.peers.when("scans", "redeem", async () => ({ outcome }));
  });
  afterEach(async () => {
    requireDocumented(app);
    await app.close();
  });

  const redeem = (answers: object) =>
    app.send("POST", `${inEvent}/checkinlists/7/positions/abc/redeem/`, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ answers }),
    });

  it("[D3.12] has it expire once it is admitted, if answers of its event are erased", async () => {
    expect((await redeem({ "1": `file:${upload}`, "2": "x" })).status).toBe(201);
    expect(dropped).toEqual([[[upload], { organizer: "bigevents", event: "sampleconf" }]]);
  });

  it("[D3.12] leaves it where it may be sent again", async () => {
    outcome = { ...admitted, outcome: { $case: "incomplete", value: { questions: [] } } };
    expect((await redeem({ "1": `file:${upload}` })).status).toBe(400);
    expect(dropped).toEqual([]);
  });

  it("[D3.12] is admitted also where that fails", async () => {
    isDatabaseAway = true;
    expect((await redeem({ "1": `file:${upload}` })).status).toBe(201);
  });

  it("[D3.12] asks for nothing without an upload", async () => {
    expect((await redeem({ "1": "x" })).status).toBe(201);
    expect(dropped).toEqual([]);
  });
});
