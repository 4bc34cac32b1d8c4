import { sql } from "@tessera/kit/pg/sql";
import { describe, expect, it } from "vitest";
import { eraseAnswers } from "../../store/kept-answers.ts";
import { aList } from "../../testing/fake-peers.ts";
import { lists, repeatingGateway, withKey } from "../../testing/repeating-gateway.ts";
import { devices, keys } from "../../testing/serve-app.ts";

const gateway = repeatingGateway();
const { behind } = gateway;

describe("idempotency_query", () => {
  const ask = (key: string, as: string = keys.all) =>
    gateway.app.send("GET", `/api/v1/idempotency_query?key=${encodeURIComponent(key)}`, { key: as });

  it("[A10.14, A10.15] answers as the request was answered, and 404 for a key that the caller has not used", async () => {
    const first = await gateway.app.send("POST", lists, withKey("k"));
    const asked = await ask("k");
    expect([asked.status, asked.text, asked.headers["content-type"]]).toEqual([
      201,
      first.text,
      first.headers["content-type"],
    ]);
    expect((await ask("other")).status).toBe(404);
    expect((await ask("k", keys.reader)).status).toBe(404);
    expect((await ask("")).status).toBe(404);
  });

  it("[A10.15] answers 409 while the request is at work, and is open to every device and closed to the operator", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    await gateway.db.run(sql`update kept_answer set status = null, leased_until = now() + interval '10 seconds'`);
    expect((await ask("k")).status).toBe(409);
    expect((await ask("k", devices.kiosk)).status).toBe(404);
    expect((await ask("k", keys.operator)).status).toBe(403);
  });

  it("[A10.11, A10.15] answers 404 when no process is at work any more, and 409 again while a repetition is", async () => {
    const unkept = { detail: expect.stringContaining("Send it again") };
    behind("unavailable");
    await gateway.app.send("POST", lists, withKey("k"));
    expect([(await ask("k")).status, (await ask("k")).json]).toEqual([404, unkept]);
    behind();
    await gateway.app.send("POST", lists, withKey("died"));
    await gateway.db.run(sql`update kept_answer set status = null, leased_until = now() - interval '1 second'`);
    expect([(await ask("died")).status, (await ask("died")).json]).toEqual([404, unkept]);
    let meanwhile: number | undefined;
    gateway.app.peers.when("checkinLists", "createCheckinList", async () => {
      meanwhile = (await ask("died")).status;
      return { list: aList() };
    });
    expect((await gateway.app.send("POST", lists, withKey("died"))).status).toBe(201);
    expect([meanwhile, (await ask("died")).status]).toEqual([409, 201]);
  });

  it("[A10.15] says after an erasure that the request was processed", async () => {
    await gateway.app.send("POST", lists, withKey("k"));
    await eraseAnswers(gateway.db, { organizer: "bigevents", event: "sampleconf" });
    const erased = { detail: expect.stringContaining("the request was processed") };
    expect([(await ask("k")).status, (await ask("k")).json]).toEqual([404, erased]);
    expect((await gateway.app.send("POST", lists, withKey("k"))).status).toBe(201);
    expect((await ask("k")).status).toBe(201);
  });
});
