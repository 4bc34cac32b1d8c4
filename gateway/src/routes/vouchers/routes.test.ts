import { Fault } from "@tessera/kit/fault";
import { voucher } from "@tessera/resources/voucher";
import { beforeEach, describe, expect, it } from "vitest";
import { aVoucher } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys } from "../../testing/serve-app.ts";

const vouchers = `${inEvent}/vouchers/`;
const noSuchVoucher = () => new Fault("not_found", "voucher_not_found", "There is no such voucher.");
const form = { "content-type": "application/x-www-form-urlencoded" };

const app = appOfEachTest();

/** Every field, in the documented order. */
const shown = {
  id: 7,
  created: "2023-11-14T22:13:20Z",
  code: "SPEAKER2027",
  max_usages: 3,
  redeemed: 1,
  min_usages: 1,
  valid_until: null,
  block_quota: false,
  allow_ignore_quota: false,
  price_mode: "percent",
  value: "50.00",
  item: 11,
  variation: null,
  quota: null,
  seat: null,
  tag: "speakers",
  comment: "",
  subevent: null,
  show_hidden_items: true,
  all_addons_included: false,
  all_bundles_included: false,
  budget: null,
  budget_used: "5.00",
};

describe("GET vouchers/", () => {
  const answerWith = (count: number, page = 1) =>
    app.peers.when("vouchers", "listVouchers", async () => ({ vouchers: [aVoucher()], count, page }));

  it("[V1.11, V2.1, A5.1] shows a page of vouchers with every field, in their order", async () => {
    answerWith(1);
    const { status, json, text } = await app.send("GET", vouchers);
    expect([status, json]).toEqual([200, { count: 1, next: null, previous: null, results: [shown] }]);
    expect(text).toContain(JSON.stringify(shown));
    expect(Object.keys(shown)).toHaveLength(23);
    expect(Object.keys(shown)).toEqual(expect.arrayContaining(Object.keys(voucher.properties)));
  });

  it("[V2.2, V2.3, V2.4, V2.5, V2.6, A7.1, A7.2, A7.7] passes every filter on as the service reads it", async () => {
    answerWith(1);
    const query =
      "code=%20abcde&max_usages=3&redeemed=0&block_quota=TRUE&allow_ignore_quota=0&price_mode=set&value=12.000&item=1" +
      "&variation=2&quota=3&tag=%20VIP%20&subevent=4&active=1&search=%20Ada%20&comment=x&min_usages=x&valid_until=x&seat=x";
    await app.send("GET", `${vouchers}?${query}`);
    expect(app.peers.requestsOf("listVouchers")).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        page: 1,
        pageSize: 50,
        ordering: [],
        code: "abcde",
        maxUsages: 3,
        redeemed: 0,
        blockQuota: true,
        allowIgnoreQuota: false,
        priceMode: "set",
        value: "12",
        item: 1,
        variation: 2,
        quota: 3,
        tag: "VIP",
        subevent: 4,
        active: true,
        search: "Ada",
      },
    ]);
    await app.send(
      "GET",
      `${vouchers}?code=&max_usages=&block_quota=&price_mode=&value=&item=&tag=&subevent=&active=&search=`,
    );
    await app.send("GET", vouchers);
    const [, empty, none] = app.peers.requestsOf("listVouchers");
    expect(empty).toEqual(none);
    expect(none).toEqual({ organizer: "bigevents", event: "sampleconf", page: 1, pageSize: 50, ordering: [] });
  });

  it("[V2.2] finds vouchers by each price mode", async () => {
    answerWith(1);
    const words = voucher.properties.price_mode["enum"] as string[];
    for (const word of words) await app.send("GET", `${vouchers}?price_mode=${word}`);
    expect(app.peers.requestsOf("listVouchers")).toMatchObject(words.map((priceMode) => ({ priceMode })));
    expect(words).toHaveLength(4);
  });

  it.each([
    ["12", "12"],
    ["12.50", "12.5"],
    ["+1e1", "10"],
    ["-0.05", "-0.05"],
    ["0.00", "0"],
    ["100", "100"],
    ["12345678901234567890", "12345678901234567890"],
  ])("[V2.3] compares value=%s as the number %s", async (sent, value) => {
    answerWith(1);
    await app.send("GET", `${vouchers}?value=${encodeURIComponent(sent)}`);
    expect(app.peers.requestsOf("listVouchers")).toMatchObject([{ value }]);
  });

  it.each([
    ["3", 3],
    [" 3.0 ", 3],
    ["3e2", 300],
    ["0", 0],
    ["1.5", -1],
    ["-1", -1],
    ["12345678901234567890", -1],
  ])("[V13.5] compares counts as numbers: %s", async (sent, count) => {
    answerWith(1);
    const value = encodeURIComponent(sent);
    expect((await app.send("GET", `${vouchers}?max_usages=${value}&redeemed=${value}`)).status).toBe(200);
    expect(app.peers.requestsOf("listVouchers")).toMatchObject([{ maxUsages: count, redeemed: count }]);
  });

  it.each(["many", "NaN", "1e400", "1_000", "0x10"])("[V13.5] takes %s for no number", async (sent) => {
    const { status, json } = await app.send("GET", `${vouchers}?max_usages=${sent}&redeemed=${sent}`);
    expect([status, Object.keys(json as object)]).toEqual([400, ["max_usages", "redeemed"]]);
  });

  it("[V2.5] takes any other word than a boolean for no filter", async () => {
    answerWith(1);
    await app.send("GET", `${vouchers}?active=maybe&block_quota=yes&allow_ignore_quota=2`);
    const none = { active: undefined, blockQuota: undefined, allowIgnoreQuota: undefined };
    expect(app.peers.requestsOf("listVouchers")).toMatchObject([none]);
  });

  it("[V2.7, A6.1, A6.2, A6.3] passes on what to order by", async () => {
    answerWith(1);
    await app.send("GET", `${vouchers}?ordering=-value,tag,code,-max_usages,valid_until,id,-code`);
    await app.send("GET", `${vouchers}?ordering=tag,created,redeemed`);
    expect(app.peers.requestsOf("listVouchers")).toMatchObject([
      { ordering: ["-value", "code", "-max_usages", "valid_until", "id"] },
      { ordering: [] },
    ]);
  });

  it("[V2.8, A7.4, A7.5, A7.9] names every filter that cannot be read", async () => {
    const wrong = {
      ...{ max_usages: "many", redeemed: "x", price_mode: "gift", value: "12,5" },
      ...{ item: "x", variation: "0", quota: "null", subevent: "-1" },
    };
    const { status, json } = await app.send("GET", `${vouchers}?${new URLSearchParams(wrong).toString()}&active=x`);
    expect([status, Object.keys(json as object).sort()]).toEqual([400, Object.keys(wrong).sort()]);
    expect(app.peers.calls).toEqual([]);
  });

  it.each(["NaN", "Infinity", "1e999999999", "1".repeat(41), "0x10", "'"])(
    "[V2.8] value=%s is no number",
    async (value) => {
      const { status, json } = await app.send("GET", `${vouchers}?value=${encodeURIComponent(value)}`);
      expect([status, json]).toEqual([400, { value: [expect.any(String)] }]);
    },
  );

  it("[V2.8, A7.5, A7.9] passes on what the service says of filters", async () => {
    const fields = { item: ["This is no id of this event."], quota: ["This is no id of this event."] };
    app.peers.when("vouchers", "listVouchers", async () => {
      throw new Fault("invalid", "invalid_filter", "unknown ids", { fields });
    });
    expect(await app.send("GET", `${vouchers}?item=98&quota=99`)).toMatchObject({ status: 400, json: fields });
  });
});

describe("GET vouchers/{id}/", () => {
  it("[V1.11, A9.1, A9.2] shows a voucher", async () => {
    app.peers.when("vouchers", "getVoucher", async () => ({
      voucher: aVoucher({ validUntil: 1_700_000_000_000_001, seat: "A-1", priceMode: "none", budget: "9.50" }),
    }));
    expect(await app.send("GET", `${vouchers}7/`, { key: devices.full })).toMatchObject({
      status: 200,
      json: { ...shown, valid_until: "2023-11-14T22:13:20.000001Z", seat: "A-1", price_mode: "none", budget: "9.50" },
    });
    expect(app.peers.requestsOf("getVoucher")).toEqual([{ organizer: "bigevents", event: "sampleconf", id: 7 }]);
  });

  it("[V1.12] shows a voucher that came in as a record with what could not be sent", async () => {
    app.peers.when("vouchers", "getVoucher", async () => ({ voucher: aVoucher({ code: "X", tag: "x".repeat(300) }) }));
    expect(await app.send("GET", `${vouchers}7/`)).toMatchObject({ status: 200, json: { code: "X" } });
  });

  it("[A4.8] is 404 for a voucher that is not there and for what is no id", async () => {
    app.peers.when("vouchers", "getVoucher", async () => {
      throw noSuchVoucher();
    });
    expect(await app.send("GET", `${vouchers}7/`)).toMatchObject({
      status: 404,
      json: { detail: "There is no such voucher." },
    });
    expect((await app.send("GET", `${vouchers}SPEAKER2027/`)).status).toBe(404);
    expect(app.peers.requestsOf("getVoucher")).toHaveLength(1);
  });
});

describe("POST vouchers/", () => {
  beforeEach(() => {
    app.peers.when("vouchers", "createVouchers", async ({ vouchers: asked }) => ({
      vouchers: asked.map(({ fields }) => ({ ...aVoucher(fields), redeemed: 0, budgetUsed: "0.00" })),
    }));
  });

  it("[V3.1, V3.2, A4.12, A9.26] needs no field: what is left out has its default, and is not named as sent", async () => {
    for (const options of [{ body: {} }, {}, { headers: { "content-type": "text/plain" }, body: "" }]) {
      const { status, json } = await app.send("POST", vouchers, options);
      expect(status).toBe(201);
      expect(json).toMatchObject({ max_usages: 1, min_usages: 1, price_mode: "none", show_hidden_items: true });
    }
    const fields = {
      ...{ code: "", maxUsages: 1, minUsages: 1, validUntil: undefined, blockQuota: false, allowIgnoreQuota: false },
      ...{ priceMode: "none", value: undefined, item: undefined, variation: undefined, quota: undefined },
      ...{ seat: undefined, tag: "", comment: "", subevent: undefined, showHiddenItems: true },
      ...{ allAddonsIncluded: false, allBundlesIncluded: false, budget: undefined },
    };
    expect(app.peers.requestsOf("createVouchers")).toEqual(
      Array(3).fill({ organizer: "bigevents", event: "sampleconf", vouchers: [{ fields, sent: [] }] }),
    );
  });

  it("[V3.1] names the fields that were sent, null among them, in the order of the fields", async () => {
    const body = { quota: null, tag: "VIP", max_usages: 0, code: "ABCDE", min_usages: 1, redeemed: 4 };
    await app.send("POST", vouchers, { body });
    expect(app.peers.requestsOf("createVouchers")).toMatchObject([
      {
        vouchers: [
          {
            fields: { code: "ABCDE", maxUsages: 0, tag: "VIP" },
            sent: ["code", "max_usages", "min_usages", "quota", "tag"],
          },
        ],
      },
    ]);
  });

  it("[V3.3, A8.2] names every field that cannot be read, and no service is asked about the others", async () => {
    const wrong = { code: "x", max_usages: -1, price_mode: "gift", value: "x", comment: null };
    const { status, json } = await app.send("POST", vouchers, { body: { ...wrong, item: 99 } });
    expect([status, Object.keys(json as object).sort()]).toEqual([400, Object.keys(wrong).sort()]);
    expect(app.peers.calls).toEqual([]);
  });

  it("[V3.3, A8.3] passes on what the service says of fields and of several together", async () => {
    for (const fields of [
      { item: ["This is no id of this event."] },
      { non_field_errors: ["The quota has no room for this."] },
    ]) {
      app.peers.when("vouchers", "createVouchers", async () => {
        throw new Fault("invalid", "invalid_voucher", "not valid", { fields });
      });
      expect(await app.send("POST", vouchers, { body: {} })).toMatchObject({ status: 400, json: fields });
    }
  });

  it("[V3.4] names a field of the one voucher without its place", async () => {
    app.peers.when("vouchers", "createVouchers", async () => {
      throw new Fault("invalid", "invalid_vouchers", "not valid", { fields: { "0.code": ["It is taken."] } });
    });
    expect(await app.send("POST", vouchers, { body: {} })).toMatchObject({
      status: 400,
      json: { code: ["It is taken."] },
    });
  });

  it("[A8.6] says how long to wait when the quota is locked", async () => {
    app.peers.when("vouchers", "createVouchers", async () => {
      throw new Fault("conflict", "locked", "another change is under way");
    });
    const { status, headers, json } = await app.send("POST", vouchers, { body: {} });
    expect([status, headers["retry-after"], Object.keys(json as object)]).toEqual([409, "5", ["detail"]]);
  });

  it("[A4.10, A4.16] reads a form: a box that is missing was not ticked, and counts as sent", async () => {
    const { status } = await app.send("POST", vouchers, { headers: form, body: "code=ABCDE&block_quota=on&value=" });
    expect(status).toBe(201);
    expect(app.peers.requestsOf("createVouchers")).toMatchObject([
      {
        vouchers: [
          {
            fields: { code: "ABCDE", blockQuota: true, showHiddenItems: false, value: undefined, maxUsages: 1 },
            sent: [
              ...["code", "block_quota", "allow_ignore_quota", "value"],
              ...["show_hidden_items", "all_addons_included", "all_bundles_included"],
            ],
          },
        ],
      },
    ]);
  });

  it("[A2.18] shows the voucher to a key that may write and not read", async () => {
    const body = { code: "ABCDE" };
    expect(await app.send("POST", vouchers, { key: keys.voucherWriter, body })).toMatchObject({
      status: 201,
      json: { code: "ABCDE" },
    });
  });
});

describe("changing a voucher", () => {
  beforeEach(() => {
    app.peers.when("vouchers", "updateVoucher", async ({ id }) => {
      if (id !== 7) throw noSuchVoucher();
      return { voucher: aVoucher() };
    });
    app.peers.when("vouchers", "getVoucher", async ({ id }) => {
      if (id !== 7) throw noSuchVoucher();
      return { voucher: aVoucher() };
    });
    app.peers.when("vouchers", "deleteVoucher", async ({ id }) => {
      if (id !== 7) throw noSuchVoucher();
      return {};
    });
  });

  it("[V3.5, A4.20] PATCH changes what was sent", async () => {
    const { status, json } = await app.send("PATCH", `${vouchers}7/`, {
      body: { item: null, quota: 3, price_mode: "set", redeemed: 9, id: 9 },
    });
    expect([status, json]).toEqual([200, shown]);
    expect(app.peers.requestsOf("updateVoucher")).toMatchObject([
      {
        id: 7,
        updateMask: ["price_mode", "item", "quota"],
        fields: { item: undefined, quota: 3, priceMode: "set" },
      },
    ]);
  });

  it("[V3.6, A4.21] PUT returns what was left out to its default, and keeps the code", async () => {
    const names = Object.keys(voucher.properties);
    const { status } = await app.send("PUT", `${vouchers}7/`, { body: { tag: "new" } });
    expect(status).toBe(200);
    await app.send("PUT", `${vouchers}7/`, { body: { code: "NEWCODE" } });
    const [kept, changed] = app.peers.requestsOf("updateVoucher") as { updateMask: string[]; fields: object }[];
    expect(kept?.updateMask).toEqual(names.filter((name) => name !== "code"));
    expect(kept?.fields).toMatchObject({
      ...{ tag: "new", maxUsages: 1, minUsages: 1, priceMode: "none", value: undefined, item: undefined },
      ...{ showHiddenItems: true, budget: undefined },
    });
    expect(changed?.updateMask).toEqual(names);
    expect(changed?.fields).toMatchObject({ code: "NEWCODE", tag: "" });
  });

  it("[A1.15] a missing voucher counts before a wrong body", async () => {
    const headers = { "content-type": "application/json" };
    for (const method of ["PUT", "PATCH"]) {
      for (const body of [{ code: "" }, "{", { block_quota: "maybe" }]) {
        expect((await app.send(method, `${vouchers}8/`, { headers, body })).status).toBe(404);
        expect((await app.send(method, `${vouchers}x/`, { headers, body })).status).toBe(404);
        expect((await app.send(method, `${vouchers}7/`, { headers, body })).status).toBe(400);
      }
      expect((await app.send(method, `${vouchers}8/`, { headers, body: {} })).status).toBe(404);
    }
  });

  it("[V3.7, A4.29] DELETE is 204, and 404 for what is not there", async () => {
    expect(await app.send("DELETE", `${vouchers}7/`)).toMatchObject({ status: 204, text: "" });
    expect((await app.send("DELETE", `${vouchers}8/`)).status).toBe(404);
  });

  it("[V3.7] DELETE of a voucher that was used is 403, and says why", async () => {
    app.peers.when("vouchers", "deleteVoucher", async () => {
      throw new Fault("forbidden", "voucher_used", "The voucher was used, so it cannot be deleted.");
    });
    expect(await app.send("DELETE", `${vouchers}7/`)).toMatchObject({
      status: 403,
      json: { detail: "The voucher was used, so it cannot be deleted." },
    });
  });
});

describe("who may use vouchers", () => {
  const send = async (key: string) => {
    const answers = await Promise.all(
      (
        [
          ["GET", vouchers],
          ["GET", `${vouchers}7/`],
          ["OPTIONS", vouchers],
          ["POST", vouchers],
          ["POST", `${vouchers}batch_create/`],
          ["PUT", `${vouchers}7/`],
          ["PATCH", `${vouchers}7/`],
          ["DELETE", `${vouchers}7/`],
        ] as const
      ).map(([method, path]) => app.send(method, path, { key, ...(method.startsWith("P") ? { body: "{" } : {}) })),
    );
    return answers.map(({ status }) => (status === 403 ? "no" : "yes"));
  };
  const readers = ["yes", "yes", "yes", "no", "no", "no", "no", "no"];
  const writers = readers.map((each) => (each === "yes" ? "no" : "yes"));

  it("[A2.9, A2.10, A2.13, A2.18, A2.19] is decided by the rights to vouchers alone", async () => {
    app.peers.when("vouchers", "listVouchers", async () => ({ vouchers: [], count: 0, page: 1 }));
    app.peers.when("vouchers", "getVoucher", async () => ({ voucher: aVoucher() }));
    app.peers.when("vouchers", "deleteVoucher", async () => ({}));
    expect(await send(keys.voucherReader)).toEqual(readers);
    expect(await send(keys.voucherWriter)).toEqual(writers);
    expect(await send(devices.full)).toEqual(readers);
    for (const key of [devices.scan, devices.kiosk, keys.reader, keys.gate, keys.settings, keys.none])
      expect(new Set(await send(key))).toEqual(new Set(["no"]));
  });
});
