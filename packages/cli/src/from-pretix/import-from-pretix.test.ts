import { readdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "@tessera/kit/fault";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakePlatform, fakePlatform, prepareImport, type TestImport } from "./testing/run-import.ts";
import { fillStub, inEvent, stubEvent, stubOrder, stubOrganizer } from "./testing/stub-event.ts";
import { type StubPretix, startStubPretix, stubToken } from "./testing/stub-pretix.ts";

const orders = inEvent("orders/");

describe("an import from a pretix", () => {
  let stub: StubPretix;
  let platform: FakePlatform;
  let imports: TestImport;

  beforeEach(async () => {
    stub = await startStubPretix();
    fillStub(stub);
    platform = fakePlatform();
    imports = await prepareImport(stub, platform);
  });
  afterEach(async () => {
    await stub.stop();
    await imports.remove();
  });

  const orderAt = (code: string, minute: number, overrides = {}) => {
    const moment = `2027-12-01T10:${String(minute).padStart(2, "0")}:00Z`;
    return stubOrder(code, { datetime: moment, last_modified: moment, ...overrides });
  };
  const sentCodes = () => platform.of("order").map(({ code }) => code);

  it("[R1.10, R1.17, R10.4] sends everything, what is referred to first, and says what it did", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1), orderAt("BBB", 2), orderAt("CCC", 3)]);
    stub.lists.set(inEvent("vouchers/"), [{ id: 7, code: "SECRETVOUCHER", redeemed: 1, comment: "Zwiebel" }]);
    stub.lists.set(inEvent("revokedsecrets/"), [{ id: 1, secret: "gone", created: "2027-12-02T10:00:00Z" }]);
    stub.lists.set(inEvent("blockedsecrets/"), [
      { id: 1, secret: "held", blocked: true, updated: "2027-12-02T10:00:00Z" },
    ]);
    stub.lists.set(`${stubOrganizer}/reusablemedia/`, [{ id: 9, type: "barcode", identifier: "band" }]);
    const before = Date.now();
    const { summary, rejected, settled } = await imports.run();

    expect(platform.records.map(({ kind }) => kind)).toEqual([
      "organizer",
      "sales_channel",
      "event",
      "event_settings",
      "tax_rule",
      "category",
      "item",
      "quota",
      "checkin_list",
      "order",
      "order",
      "order",
      "voucher",
      "revoked_secret",
      "blocked_secret",
      "reusable_medium",
    ]);
    const place = { organizer: stubOrganizer, event: stubEvent };
    expect(platform.records.at(6)).toMatchObject({ kind: "item", ...place, data: { id: 1 } });
    expect(platform.records.at(-1)).not.toHaveProperty("event");
    expect(platform.of("event_settings")).toEqual([{ locale: "en", ticket_download: true }]);
    expect(platform.of("order")[1]).toEqual(orderAt("BBB", 2));
    const asOf = Date.parse(String(platform.of("voucher")[0]?.["as_of"]));
    // The header has whole seconds.
    expect(asOf).toBeGreaterThan(before - 1000);
    expect(asOf).toBeLessThanOrEqual(Date.now());

    expect({ rejected, settled }).toEqual({ rejected: 0, settled: true });
    expect(summary).toMatch(/order +3 +3 +0/);
    const firstPage = stub.requests.find(({ path }) => path === orders);
    expect(Object.fromEntries(firstPage?.query ?? [])).toMatchObject({
      include_canceled_positions: "true",
      include_canceled_fees: "true",
      ordering: "datetime",
      testmode: "false",
    });
    expect(firstPage?.query.has("modified_since")).toBe(false);
    expect(stub.requests.every(({ headers }) => headers.authorization === `Token ${stubToken}`)).toBe(true);

    const state = await imports.readState();
    for (const text of [stubToken, "Quillfeather", "example.org/order", "SECRETVOUCHER", "gone", "held", "band"]) {
      expect(state).not.toContain(text);
      expect(summary).not.toContain(text);
    }
    expect(await readdir(dirname(imports.stateFile))).toHaveLength(1);
  });

  it("[R1.12] reads only what has changed the second time", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1), orderAt("BBB", 2), orderAt("CCC", 3)]);
    const revoked = { id: 1, secret: "gone", created: "2027-12-02T10:00:00Z" };
    stub.lists.set(inEvent("revokedsecrets/"), [revoked]);
    stub.now = "2027-12-05T12:00:00.000000Z";
    await imports.run();
    platform.forget();
    stub.requests.length = 0;

    stub.lists.set(orders, [
      orderAt("AAA", 1),
      orderAt("BBB", 2, { last_modified: "2027-12-05T12:30:00Z" }),
      orderAt("CCC", 3),
    ]);
    stub.lists.set(inEvent("revokedsecrets/"), [revoked, { id: 2, secret: "too", created: "2027-12-06T10:00:00Z" }]);
    stub.modified.set(inEvent("quotas/"), "Tue, 07 Jan 2020 10:00:00 GMT");
    const { summary } = await imports.run();
    expect(sentCodes()).toEqual(["BBB"]);
    // A minute earlier, for transactions that ended after the page was made.
    expect(stub.asked("modified_since")).toContain(`${orders} modified_since=2027-12-05T11:59:00Z`);
    expect(stub.asked("created_since")).toContain(`${inEvent("revokedsecrets/")} created_since=2027-12-02T09:59:00Z`);
    expect(platform.of("revoked_secret")).toHaveLength(2);
    expect(platform.of("quota")).toHaveLength(1);
    expect(platform.of("item")).toEqual([]);
    expect(summary).toContain("Unchanged since the last run and not read again: 4 lists.");

    platform.forget();
    await imports.run({ full: true });
    expect(sentCodes()).toEqual(["AAA", "BBB", "CCC"]);
    expect(platform.of("item")).toHaveLength(1);
  });

  it("[R1.14] remembers nothing of one platform for another", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1)]);
    await imports.run();
    platform.forget();
    await imports.run({ platform: "http://other.example.org" });
    expect(sentCodes()).toEqual(["AAA"]);
  });

  it("[R1.13] goes on where a run was cut off, and loses no order that changed meanwhile", async () => {
    stub.lists.set(
      orders,
      ["AAA", "BBB", "CCC", "DDD", "EEE"].map((code, index) => orderAt(code, index)),
    );
    stub.now = "2027-12-05T12:00:00Z";
    // The organizer, what precedes the orders, the first orders, and then the failure.
    platform.onBatch = (number) => {
      if (number === 4) throw new Fault("invalid", "cut", "cut off");
    };
    expect(await imports.fail({ recordsAtOnce: 6 })).toMatchObject({ code: "cut" });
    platform.onBatch = undefined;
    const stored = sentCodes();
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.length).toBeLessThan(5);

    platform.forget();
    stub.requests.length = 0;
    stub.now = "2027-12-05T13:00:00Z";
    const changed = { last_modified: "2027-12-05T12:30:00Z", email: "new@example.org" };
    stub.lists.set(orders, [
      orderAt("AAA", 0, changed),
      ...["BBB", "CCC", "DDD", "EEE"].map((code, index) => orderAt(code, index + 1)),
    ]);
    await imports.run();
    const [asked] = stub.requests.filter(({ path }) => path === orders);
    expect(asked?.query.get("created_since")).toMatch(/^2027-12-01T10:0[1-3]:00Z$/);
    expect(sentCodes()).not.toContain("AAA");
    expect(new Set([...stored, ...sentCodes()]).size).toBe(5);

    // The next run starts at the time of the first one, so it sees changes in between.
    platform.forget();
    await imports.run();
    expect(platform.of("order")).toMatchObject([{ code: "AAA", email: "new@example.org" }]);
  });

  it("[R1.14] remembers nothing that the platform has not acknowledged", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1)]);
    let states: string[] | undefined;
    platform.onBatch = async () => {
      states = await readdir(dirname(imports.stateFile)).catch(() => []);
      throw new Fault("invalid", "cut", "cut off");
    };
    await imports.fail();
    expect(states).toEqual([]);
    await expect(imports.readState()).rejects.toThrow("ENOENT");
  });

  it("sends a batch again to a platform that comes back", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1)]);
    let away = 2;
    platform.onBatch = (number) => {
      if (number === 1 || away === 0) return;
      away -= 1;
      throw new Fault("unavailable", "no_platform", "away");
    };
    await imports.run();
    expect(sentCodes()).toEqual(["AAA"]);
    expect(away).toBe(0);
  });

  it("says at once that a platform is not there, before it reads much", async () => {
    let asked = 0;
    platform.onBatch = () => {
      asked += 1;
      throw new Fault("unavailable", "no_platform", "away");
    };
    expect(await imports.fail()).toMatchObject({ code: "no_platform" });
    expect(asked).toBe(1);
    expect(stub.requests).toHaveLength(1);
  });

  it("keeps what it has read when the pretix goes away", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1), orderAt("BBB", 2), orderAt("CCC", 3)]);
    stub.interfere = ({ query }, response) => {
      if (query.get("page") === "2") response.socket?.destroy();
      return query.get("page") === "2";
    };
    expect(await imports.fail()).toMatchObject({ code: "no_pretix" });
    expect(sentCodes()).toEqual(["AAA", "BBB"]);
    expect(await imports.readState()).toContain('"reached": "2027-12-01T10:02:00Z"');
  });

  it("[R10.6] prints no control characters that a shop sends", async () => {
    stub.lists.set(inEvent("items/"), [{ id: "\u001b[2J\u202eevil" }]);
    platform.reject = ({ kind }) => (kind === "item" ? "is wrong" : undefined);
    expect((await imports.run()).summary).toContain("sampleconf \ufffd[2J\ufffdevil");
  });

  it("[R1.15] tries rejected records again the next time, and tells what they are", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1), orderAt("BBB", 2)]);
    for (const path of ["AAA", "BBB"]) stub.objects.set(`${orders}${path}/`, orderAt(path, 1));
    platform.reject = ({ kind, data }) => (kind === "item" || data["code"] === "BBB" ? "is wrong" : undefined);
    const first = await imports.run();
    expect(first.rejected).toBe(2);
    expect(first.summary).toContain("order: item: is wrong (1×: sampleconf BBB)");

    for (const [accepts, codes] of [
      [false, ["BBB"]],
      [true, ["BBB"]],
      [true, []],
    ] as const) {
      platform.forget();
      if (accepts) platform.reject = () => undefined;
      stub.lists.set(orders, []);
      const { rejected } = await imports.run();
      expect(sentCodes()).toEqual(codes);
      expect(rejected).toBe(accepts ? 0 : 2);
    }
    expect(platform.of("item")).toEqual([]);
  });

  it("[R1.16] asks for what changed since a given moment, and moves its marks only where nothing is left out", async () => {
    stub.lists.set(orders, [orderAt("AAA", 1), orderAt("BBB", 20)]);
    await imports.run({ since: "2027-12-01T10:10:00Z" });
    expect(sentCodes()).toEqual(["BBB"]);
    platform.forget();
    await imports.run();
    expect(sentCodes()).toEqual(["AAA", "BBB"]);
    platform.forget();
    stub.requests.length = 0;
    await imports.run({ since: "2027-12-01T12:10:00+02:00" });
    expect(sentCodes()).toEqual(["BBB"]);
    expect(stub.requests.some(({ headers }) => "if-modified-since" in headers)).toBe(false);
    expect(await imports.fail({ since: "yesterday" })).toMatchObject({ code: "bad_since" });
  });

  it("[R1.11, R1.20] reads every event that the token sees, page by page, or those that are named", async () => {
    const slugs = ["one", "two", "three"];
    stub.lists.set(
      `${stubOrganizer}/events/`,
      slugs.map((slug) => ({ slug })),
    );
    for (const slug of slugs) {
      const own = `${stubOrganizer}/events/${slug}/`;
      stub.objects.set(own, { ...stub.objects.get(inEvent("")), slug });
      for (const [path, list] of [...stub.lists])
        if (path.startsWith(inEvent(""))) stub.lists.set(path.replace(inEvent(""), own), list);
    }
    await imports.run();
    expect(platform.of("event").map(({ slug }) => slug)).toEqual(slugs);
    // Without the right to see settings an import goes on, and says so.
    expect((await imports.run({ events: ["two"] })).summary).toMatch(
      /two: settings\/, for which the token needs .*event.settings/,
    );
  });

  it("keeps a state file whole that it cannot read", async () => {
    await imports.run();
    await writeFile(imports.stateFile, "{");
    expect(await imports.fail()).toMatchObject({ code: "state_file_unusable" });
    expect(await imports.readState()).toBe("{");
  });

  it.each(["../secret", "a/b", ""])("[S7.5] refuses %j as the name of an event", async (slug) => {
    expect(await imports.fail({ events: [slug] })).toMatchObject({ code: "bad_slug" });
    expect(stub.requests).toEqual([]);
  });
});
