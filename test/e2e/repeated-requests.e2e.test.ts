import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAsAdministrator } from "../failure/fact-ledger.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const organizer = "repeaters";
const { apiKey, eventPath, groundwork, ofEvent } = samplesOf(organizer);

describe("a request that comes again", () => {
  let platform: TestPlatform;
  let db: Db;

  beforeAll(async () => {
    platform = await startTestPlatform();
    db = openAsAdministrator(platform.databaseUrl);
    const order = orderData({ positions: [positionData({ secret: "a-secret-that-is-scanned-again" })] });
    await platform.import([...groundwork(), ofEvent("order", order), ofEvent("checkin_list", listData())]);
  });

  afterAll(async () => {
    await db.close();
    await platform.stop();
  });

  const send = (method: string, path: string, key: string, body?: unknown) =>
    platform.request(method, `${eventPath}${path}`, {
      as: `Token ${apiKey}`,
      headers: { "x-idempotency-key": key },
      ...(body === undefined ? {} : { body }),
    });

  /** Leaves the key like a process that died a minute ago, between the effect and its answer. */
  const forgetAnswer = (key: string) =>
    db.run(sql`
      update gateway.kept_answer
         set status = null, headers = null, body = null, leased_until = now() - interval '1 second'
       where key = ${key}`);

  const listsNamed = async (name: string) => {
    const { body } = await platform.request("GET", `${eventPath}/checkinlists/`, { as: `Token ${apiKey}` });
    return body.results.filter((list: { name: string }) => list.name === name).length;
  };

  it("[A10.2, A10.11] creates one list, at any gateway and after the death of a process", async () => {
    const first = await send("POST", "/checkinlists/", "create", { name: "Once" });
    expect(first.status).toBe(201);
    expect((await send("POST", "/checkinlists/", "create", { name: "Once" })).body).toEqual(first.body);
    await forgetAnswer("create");
    const afterDeath = await send("POST", "/checkinlists/", "create", { name: "Once" });
    expect([afterDeath.status, afterDeath.body]).toEqual([201, first.body]);
    expect(await listsNamed("Once")).toBe(1);
  });

  it("deletes a list once, and repeats the answer", async () => {
    const { body } = await send("POST", "/checkinlists/", "to delete", { name: "Twice" });
    for (const prepare of [undefined, undefined, forgetAnswer]) {
      await prepare?.("delete");
      expect((await send("DELETE", `/checkinlists/${body.id}/`, "delete")).status).toBe(204);
    }
    const unknown = await send("DELETE", `/checkinlists/${body.id}/`, "delete anew");
    expect(unknown.status).toBe(404);
  });

  it("[A10.16] admits once, and repeats the admission of the same scan", async () => {
    const path = "/checkinlists/1/positions/a-secret-that-is-scanned-again/redeem/";
    expect((await send("POST", path, "scan", {})).status).toBe(201);
    await forgetAnswer("scan");
    expect((await send("POST", path, "scan", {})).status).toBe(201);
    const other = await send("POST", path, "another scan", {});
    expect(other.body).toMatchObject({ status: "error", reason: "already_redeemed" });
    const { scans } = await db.one<{ scans: number }>(
      sql`select count(*) as scans from checkin.scan where scan.organizer = ${organizer} and scan.successful`,
    );
    expect(scans).toBe(1);
  });

  it("[A10.10] gets one answer for many simultaneous repetitions", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send("POST", "/checkinlists/", "at once", { name: "At once" })),
    );
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(await listsNamed("At once")).toBe(1);
    await expect
      .poll(async () => (await send("POST", "/checkinlists/", "at once", { name: "At once" })).status)
      .toBe(201);
  });
});
