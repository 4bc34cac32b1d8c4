import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { inEvent, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { admitted } from "../../testing/serve-crowd.ts";

describe("a forced scan with answers that no store could hold", () => {
  let app: ServedApp;
  let scans: Scan[];

  beforeEach(async () => {
    app = await serveApp();
    scans = [];
    app.peers.when("scans", "redeem", async ({ scan }) => {
      if (scan !== undefined) scans.push(scan);
      return { outcome: admitted };
    });
  });
  afterEach(async () => {
    requireDocumented(app);
    await app.close();
  });

  const redeem = (answers: string) =>
    app.send("POST", `${inEvent}/checkinlists/7/positions/abc/redeem/`, {
      headers: { "content-type": "application/json" },
      body: `{"force":true,"nonce":"offline-1","answers":${answers}}`,
    });

  it.each(['"a\\u0000b"', '"\\ud83d"', '["\\u0000"]', '{"\\ud83d":"\\u0000"}'])(
    "[C5.3, C5.8] is decided with %s as it was sent",
    async (value) => {
      expect((await redeem(`{"1":${value},"2":"x"}`)).status).toBe(201);
      expect(scans[0]?.answers.map(({ question, value: written }) => [question, JSON.parse(written)])).toEqual([
        [1, JSON.parse(value)],
        [2, "x"],
      ]);
    },
  );

  it.each(["1e999", "-1e999", "[1e999]", '{"a":[1,{"b":-1e999}]}'])(
    "[C5.3, C5.8] is decided without %s, which would take an answer back",
    async (value) => {
      expect((await redeem(`{"1":${value},"2":"x"}`)).status).toBe(201);
      expect(scans[0]?.answers).toEqual([{ question: 2, value: '"x"' }]);
    },
  );

  it("[C5.26] is decided, whatever question they name", async () => {
    expect((await redeem('{"99":"\\ud83d","\\u0000":"\\u0000","x":1e999}')).status).toBe(201);
    expect(scans[0]?.answers).toEqual([{ question: 99, value: '"\\ud83d"' }]);
  });
});
