import { Fault } from "@tessera/kit/fault";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { aLayout, aList, aVoucher } from "../testing/fake-peers.ts";
import { inEvent, type ServedApp, serveApp } from "../testing/serve-app.ts";

let app: ServedApp;
beforeEach(async () => {
  app = await serveApp();
  app.peers.when("vouchers", "getVoucher", async () => ({ voucher: aVoucher({}) }));
  app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
  app.peers.when("layouts", "getLayout", async () => ({ layout: aLayout() }));
});
afterEach(() => app.close());

const vouchers = `${inEvent}/vouchers/`;
const lists = `${inEvent}/checkinlists/`;
const batches = `${inEvent}/offlinesalesbatches/`;

/** Makes the service that a body is for find these fields wrong. */
function refuse(...fields: string[]): void {
  const found = (names: readonly string[]) =>
    Promise.reject(
      new Fault("invalid", "invalid", "not valid", {
        fields: Object.fromEntries(names.map((name) => [name, ["found"]])),
      }),
    );
  app.peers.when("vouchers", "createVouchers", () =>
    found(fields.map((name) => (/^\d/.test(name) || name === "non_field_errors" ? name : `0.${name}`))),
  );
  app.peers.when("vouchers", "updateVoucher", () => found(fields));
  app.peers.when("checkinLists", "createCheckinList", () => found(fields));
  app.peers.when("checkinLists", "updateCheckinList", () => found(fields));
  app.peers.when("offlineSales", "createBatch", () => found(fields));
  app.peers.when("layouts", "setAssignments", () => found(fields));
  app.peers.when("rendering", "startBatch", () => found(fields));
}

const unread = [expect.not.stringMatching("found")];
const found = ["found"];

describe("a body with fields that cannot be read", () => {
  it.each([
    ["POST", vouchers, { item: 99, max_usages: -1 }, "item"],
    ["PUT", `${vouchers}7/`, { item: 99, max_usages: -1 }, "item"],
    ["PATCH", `${vouchers}7/`, { quota: 99, max_usages: -1 }, "quota"],
    ["POST", lists, { name: "", limit_products: [99] }, "limit_products"],
    ["PUT", `${lists}7/`, { name: "", limit_products: [99] }, "limit_products"],
    ["PATCH", `${lists}7/`, { name: "", subevent: 99 }, "subevent"],
    ["POST", batches, { layout: 3, item: 99, sales_channel: "web", amount: 0 }, "item"],
  ])("[A8.2] is told at once what else is wrong with it: %s %s %j", async (method, path, body, field) => {
    refuse(field);
    const { status, json } = await app.send(method, path, { body });
    const wrong = Object.keys(body).find((name) => ["max_usages", "name", "amount"].includes(name)) ?? "";
    expect([status, json]).toEqual([400, { [wrong]: unread, [field]: found }]);
    expect(app.peers.calls.filter((call) => !call.method.startsWith("get"))).toEqual([]);
  });

  it("[A8.2] is not told of a field that was left out, or of what stands for a wrong one", async () => {
    refuse("item", "variation.0", "max_usages");
    const body = { item: "x", variation: [1], max_usages: -1, tag: "speakers" };
    const { json } = await app.send("POST", vouchers, { body });
    expect(json).toEqual({ item: unread, variation: unread, max_usages: unread });
    expect(app.peers.examinations).toMatchObject([{ vouchers: [{ fields: { tag: "speakers" }, sent: ["tag"] }] }]);
  });

  it.each([
    ["is away", new Fault("unavailable", "peer_unavailable", "not now")],
    ["has a bug", new Error("unexpected")],
    ["finds no such event", new Fault("not_found", "event_not_found", "no event")],
  ])("[A8.2] is told of them though the service %s", async (_name, error) => {
    app.peers.when("vouchers", "createVouchers", () => Promise.reject(error));
    const { status, json } = await app.send("POST", vouchers, { body: { item: 99, max_usages: -1 } });
    expect([status, json]).toEqual([400, { max_usages: unread }]);
  });

  it("[V3.10] is a list: each element is told of its own", async () => {
    refuse("0.item", "2.quota", "4.max_usages");
    const body = [{ item: 99 }, {}, { quota: 99, tag: null }, 5, { max_usages: -1 }];
    const { status, json } = await app.send("POST", `${vouchers}batch_create/`, { body });
    expect([status, json]).toEqual([
      400,
      [
        { item: found },
        {},
        { tag: unread, quota: found },
        { non_field_errors: ["Invalid data. Expected a dictionary, but got int."] },
        { max_usages: unread },
      ],
    ]);
    expect(app.peers.calls).toEqual([]);
  });

  it("[V3.10] is a list: what contradicts itself is told of elements that can be read alone", async () => {
    refuse("0.non_field_errors", "1.non_field_errors");
    const body = [{ block_quota: true }, { block_quota: true, max_usages: -1 }];
    const { json } = await app.send("POST", `${vouchers}batch_create/`, { body });
    expect(json).toEqual([{ non_field_errors: found }, { max_usages: unread }]);
  });

  it("[V3.11] is a list: it is told that the service has found more than it says", async () => {
    refuse("0.item", "1.item", "1.non_field_errors", "non_field_errors");
    const body = [{ item: 99, tag: null }, { item: 99, tag: null }, { tag: null }];
    const { json } = await app.send("POST", `${vouchers}batch_create/`, { body });
    expect(json).toEqual([
      { tag: unread, item: found },
      { tag: unread, item: found, non_field_errors: found },
      { tag: unread },
    ]);
  });

  it("[L4.2] is a list whose elements have required fields", async () => {
    refuse("0.item", "2.item");
    const body = [{ item: 99, sales_channel: "web" }, {}, 5];
    const { json } = await app.send("PUT", `${inEvent}/ticketlayouts/7/assignments/`, { body });
    expect(json).toEqual([{ item: found }, { item: unread }, { non_field_errors: unread }]);
  });

  it("[L41.1, L41.2] has a list whose elements are told of in their places", async () => {
    refuse("0.override_layout", "1.orderposition", "2.orderposition");
    const body = {
      parts: [{ orderposition: 1, override_layout: 9 }, { orderposition: "x" }, { orderposition: 4 }, {}],
    };
    const { json } = await app.send("POST", `${inEvent}/ticketpdfrenderer/render_batch/`, { body });
    expect(json).toEqual({
      parts: [
        { override_layout: found },
        { orderposition: unread },
        { orderposition: found },
        { orderposition: unread },
      ],
    });
  });
});

describe("a query with filters that cannot be read", () => {
  it.each([
    [`${vouchers}?item=99&price_mode=gift&page=7`, "price_mode"],
    [`${batches}?item=99&layout=x`, "layout"],
    [`${lists}7/positions/?item=99&has_checkin=1&subevent=x`, "subevent"],
  ])("[A7.9] is told at once which ids the event does not have: %s", async (path, wrong) => {
    const refused = async () => {
      throw new Fault("invalid", "invalid_filter", "unknown ids", { fields: { item: found } });
    };
    app.peers.when("vouchers", "listVouchers", refused);
    app.peers.when("offlineSales", "listBatches", refused);
    app.peers.when("listedPositions", "listPositions", refused);
    const { status, json } = await app.send("GET", path);
    expect([status, json]).toEqual([400, { item: found, [wrong]: unread }]);
  });

  it("[A7.9] is told what cannot be read, also where the service says nothing of the ids", async () => {
    app.peers.when("vouchers", "listVouchers", async () => {
      throw new Fault("unavailable", "database_unavailable", "no database");
    });
    const { status, json } = await app.send("GET", `${vouchers}?item=99&price_mode=gift`);
    expect([status, json]).toEqual([400, { price_mode: unread }]);
    await app.send("GET", `${vouchers}?tag=press&price_mode=gift`);
    expect(app.peers.requestsOf("listVouchers")).toMatchObject([{ item: 99, page: 1, pageSize: 1 }]);
  });
});
