import { setImmediate as turnOfLoop } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import { beforeEach, describe, expect, it } from "vitest";
import { checkBody, parseBody } from "../../body/parse-body.ts";
import { writeList } from "../../http/write-list.ts";
import { aVoucher } from "../../testing/fake-peers.ts";
import { appOfEachTest, inEvent, keys } from "../../testing/serve-app.ts";
import { presentVoucher } from "./present.ts";
import { batchBody } from "./schema.ts";

const vouchers = `${inEvent}/vouchers/`;
const batch = `${vouchers}batch_create/`;
const json = { "content-type": "application/json" };

/** Every field, as a client may send it. */
const whole = (index: number) => ({
  code: `SPEAKER-${index}`,
  max_usages: "5",
  min_usages: 1,
  valid_until: "2027-06-01T10:00:00+02:00",
  block_quota: true,
  allow_ignore_quota: "false",
  price_mode: "percent",
  value: "25.50",
  item: index + 1,
  variation: null,
  quota: "",
  seat: null,
  tag: "speakers 2027",
  comment: `Guest of “the committee” ${index}`,
  subevent: 3,
  show_hidden_items: true,
  all_addons_included: false,
  all_bundles_included: 0,
  budget: 100,
});

const many = Array.from({ length: 10_000 }, (_, index) => whole(index));

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("vouchers", "createVouchers", async ({ vouchers: asked }) => ({
    vouchers: asked.map(({ fields }, index) => aVoucher(fields, index + 1)),
  }));
});

describe("POST vouchers/batch_create/", () => {
  it("[V3.8, V3.2] creates vouchers in one request, each with the fields that were sent", async () => {
    const {
      status,
      json: created,
      headers,
    } = await app.send("POST", batch, {
      key: keys.voucherWriter,
      body: [{ code: "FIRST", value: 5 }, {}, { tag: "x", redeemed: 4 }],
    });
    expect([status, headers["content-type"]]).toEqual([201, "application/json; charset=utf-8"]);
    expect(created).toMatchObject([
      { id: 1, code: "FIRST", value: "5.00", max_usages: 1 },
      { id: 2, code: "", value: null },
      { id: 3, tag: "x" },
    ]);
    expect(app.peers.requestsOf("createVouchers")).toMatchObject([
      {
        organizer: "bigevents",
        event: "sampleconf",
        vouchers: [
          { fields: { code: "FIRST" }, sent: ["code", "value"] },
          { fields: { code: "", maxUsages: 1, showHiddenItems: true }, sent: [] },
          { sent: ["tag"] },
        ],
      },
    ]);
  });

  it("[V3.9] takes an empty list, and asks for nothing", async () => {
    expect(await app.send("POST", batch, { body: [] })).toMatchObject({ status: 201, text: "[]" });
    expect(app.peers.calls).toEqual([]);
  });

  it("[V3.9] takes 10 000 vouchers, and not one more", async () => {
    const { status, json: created } = await app.send("POST", batch, { body: many });
    expect(status).toBe(201);
    expect(created).toHaveLength(10_000);
    expect((created as unknown[]).at(-1)).toMatchObject({ id: 10_000, code: "SPEAKER-9999", budget: "100.00" });
    for (const body of [[...many, {}], Array(10_001).fill({}), Array(10_001).fill(0)]) {
      expect(await app.send("POST", batch, { body })).toMatchObject({
        status: 400,
        json: { non_field_errors: ["At most 10000 elements are allowed at once."] },
      });
    }
    expect(app.peers.calls).toHaveLength(1);
    app.seen.length = 0;
  });

  it("[V3.9, A4.28] takes vouchers of 1 MiB and a list of 10 MiB", async () => {
    const large = (size: number) => ({ unknown: "x".repeat(size - '{"unknown":""}'.length) });
    const body = Array.from({ length: 9 }, () => large(1024 * 1024));
    expect((await app.send("POST", batch, { body })).status).toBe(201);
    expect((await app.send("POST", batch, { body: [large(1024 * 1024 + 1)] })).status).toBe(413);
    expect((await app.send("POST", batch, { body: [...body, ...body] })).status).toBe(413);
    expect((await app.send("POST", vouchers, { body: large(1024 * 1024) })).status).toBe(201);
    expect((await app.send("POST", vouchers, { body: large(1024 * 1024 + 1) })).status).toBe(413);
  });

  it("[V3.10, V3.12, A1.16] names every wrong field of every voucher, in its place", async () => {
    const body = [{ code: "x", tag: null }, {}, 5, { value: "x" }, { code: "GOOD1" }, null];
    const { status, json: problem } = await app.send("POST", batch, { body });
    expect([status, problem]).toEqual([
      400,
      [
        { code: [expect.any(String)], tag: [expect.any(String)] },
        {},
        { non_field_errors: ["Invalid data. Expected a dictionary, but got int."] },
        { value: [expect.any(String)] },
        {},
        { non_field_errors: ["Invalid data. Expected a dictionary, but got NoneType."] },
      ],
    ]);
    expect(app.peers.calls).toEqual([]);
  });

  it("[V3.10] names the wrong fields of ten thousand vouchers", async () => {
    const body = many.map(() => ({ code: "x", tag: null }));
    const { status, json: problem } = await app.send("POST", batch, { body });
    expect([status, (problem as object[]).length]).toEqual([400, 10_000]);
    expect(new Set((problem as object[]).map((each) => Object.keys(each).join()))).toEqual(new Set(["code,tag"]));
    app.seen.length = 0;
  });

  it("[V3.10, V3.11] puts what the service says in its place", async () => {
    const refuse = (fields: Record<string, string[]>) =>
      app.peers.when("vouchers", "createVouchers", async () => {
        throw new Fault("invalid", "invalid_vouchers", "not valid", { fields });
      });
    refuse({ "2.code": ["It is taken."], "1.non_field_errors": ["The quota has no room."] });
    expect(await app.send("POST", batch, { body: [{}, {}, {}] })).toMatchObject({
      status: 400,
      json: [{}, { non_field_errors: ["The quota has no room."] }, { code: ["It is taken."] }],
    });
    refuse({ "0.item": ["This is no id of this event."], non_field_errors: ["and 41 more"] });
    expect(await app.send("POST", batch, { body: [{}, {}] })).toMatchObject({
      status: 400,
      json: [{ item: ["This is no id of this event."], non_field_errors: ["and 41 more"] }, {}],
    });
    refuse({ non_field_errors: ["not now"] });
    expect(await app.send("POST", batch, { body: [{}] })).toMatchObject({
      status: 400,
      json: { non_field_errors: ["not now"] },
    });
  });

  it.each([
    [new Fault("conflict", "locked", "another change is under way"), 409, "5"],
    [new Fault("timeout", "deadline_exceeded", "too slow"), 503, "1"],
  ])("[A8.6] %s", async (fault, status, retryAfter) => {
    app.peers.when("vouchers", "createVouchers", async () => {
      throw fault;
    });
    const answer = await app.send("POST", batch, { body: [{}] });
    expect([answer.status, answer.headers["retry-after"], answer.json]).toEqual([
      status,
      retryAfter,
      { detail: fault.message },
    ]);
  });

  it.each([
    ["{}", 'Expected a list of items but got type "dict".'],
    ["", 'Expected a list of items but got type "dict".'],
    ["7", 'Expected a list of items but got type "int".'],
    ["null", "No data provided."],
  ])("[V3.12] says that %j is no list", async (body, problem) => {
    expect(await app.send("POST", batch, { headers: json, body })).toMatchObject({
      status: 400,
      json: { non_field_errors: [problem] },
    });
  });

  it.each(["[{}", "[{},]", "[{}] x", "[{'code': 1}]", "", "\ufeff["])(
    "is 400 for what is no JSON: %j",
    async (body) => {
      const { status } = await app.send("POST", batch, { headers: json, body });
      expect(status).toBe(400);
      expect(app.peers.calls).toEqual([]);
    },
  );

  it("[V3.8, A4.11] reads no forms, and nothing compressed", async () => {
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"]) {
      const { status } = await app.send("POST", batch, { headers: { "content-type": type }, body: "code=ABCDE" });
      expect([type, status]).toEqual([type, 415]);
    }
    const { json: described } = await app.send("OPTIONS", batch);
    expect(described).toMatchObject({
      parses: ["application/json"],
      actions: { POST: { code: { type: "string", required: false } } },
    });
  });

  it("[A4.6, A4.7, A2.16] has no other method", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const { status, headers } = await app.send(method, batch, method.startsWith("P") ? { body: {} } : {});
      expect([method, status, headers.allow]).toEqual([method, 405, "POST, OPTIONS"]);
    }
    expect((await app.send("GET", batch, { key: keys.voucherWriter })).status).toBe(405);
    expect((await app.send("GET", batch, { key: keys.voucherReader })).status).toBe(403);
  });
});

describe("[V3.13] a long batch", () => {
  const bytes = Buffer.from(JSON.stringify(many));
  const headers = { type: "application/json", encoding: "" };

  /** How many turns of the event loop other work had. */
  async function countTurns(work: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    let isOver = false;
    const others = (async () => {
      for (; !isOver; turns += 1) await turnOfLoop();
    })();
    await work();
    isOver = true;
    await others;
    return turns;
  }

  it("is read in slices", async () => {
    expect(await countTurns(() => parseBody(bytes, headers, batchBody))).toBeGreaterThan(2);
    const parsed = await parseBody(bytes, headers, batchBody);
    expect(await countTurns(() => checkBody(parsed, batchBody))).toBeGreaterThan(2);
  });

  it("is answered in slices", async () => {
    const created = many.map(({ code }, index) => aVoucher({ code }, index + 1));
    expect(await countTurns(() => writeList(created, presentVoucher))).toBeGreaterThan(2);
  });
});
