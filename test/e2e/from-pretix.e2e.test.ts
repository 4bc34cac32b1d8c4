import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fillStub, inEvent, stubEvent, stubOrder, stubOrganizer } from "@tessera/cli/from-pretix/testing/stub-event";
import { type StubPretix, startStubPretix, stubToken } from "@tessera/cli/from-pretix/testing/stub-pretix";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, ofOrganizer } = samplesOf("movers");
const count = 700;
const orders = inEvent("orders/");
const codeOf = (index: number) => (100_000 + index).toString(36).toUpperCase();

const stubSeat = {
  ...{ id: 4, subevent: null, zone_name: "Stalls", row_name: "1", row_label: null, seat_number: "7", seat_label: null },
  ...{ seat_guid: "Stalls-1-7", product: 1, blocked: false, orderposition: null, cartposition: null, voucher: 3 },
};

/** A page as pretix shows it to a token that may view vouchers. */
const recordedVouchers = [
  {
    id: 1,
    created: "2026-01-01T08:30:00.123456Z",
    code: "6K6K-SPEAKERS 2027",
    max_usages: 10,
    redeemed: 3,
    min_usages: 2,
    valid_until: "2027-11-30T22:59:59Z",
    block_quota: true,
    allow_ignore_quota: false,
    price_mode: "percent",
    value: "33.33",
    item: 1,
    variation: null,
    quota: null,
    tag: "speakers",
    comment: "Everyone on stage",
    subevent: null,
    show_hidden_items: false,
    seat: null,
    all_addons_included: true,
    all_bundles_included: false,
    budget: "100.00",
    budget_used: "20.00",
  },
  {
    id: 2,
    created: "2026-01-01T08:30:00Z",
    code: "ABC",
    max_usages: 0,
    redeemed: 0,
    min_usages: 1,
    valid_until: null,
    block_quota: false,
    allow_ignore_quota: true,
    price_mode: "set",
    value: "0.00",
    item: null,
    variation: null,
    quota: 1,
    tag: "",
    comment: "",
    subevent: null,
    show_hidden_items: true,
    seat: null,
    all_addons_included: false,
    all_bundles_included: true,
    budget: null,
    budget_used: "0.00",
  },
  {
    id: 3,
    created: "2026-01-01T08:30:00Z",
    code: "A SEAT OF ITS OWN",
    max_usages: 1,
    redeemed: 0,
    min_usages: 1,
    valid_until: null,
    block_quota: false,
    allow_ignore_quota: false,
    price_mode: "subtract",
    value: "-5.00",
    item: 1,
    variation: null,
    quota: null,
    tag: "waiting-list",
    comment: "Waiting list entry from guest@example.org",
    subevent: null,
    show_hidden_items: true,
    seat: "Stalls-1-7",
    all_addons_included: false,
    all_bundles_included: false,
    budget: "0.00",
    budget_used: "0.00",
  },
];

describe("tessera import --from-pretix", () => {
  let platform: TestPlatform;
  let stub: StubPretix;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-from-pretix-"));
    stub = await startStubPretix({ pageSize: 50 });
    fillStub(stub);
    stub.lists.set(
      orders,
      Array.from({ length: count }, (_, index) =>
        stubOrder(codeOf(index), { datetime: new Date(Date.UTC(2027, 10, 1, 0, index)).toISOString() }),
      ),
    );
    platform = await startTestPlatform();
    platform.keepOutOfLogs(stubToken, apiKey, "Quillfeather", "buyer@example.org", `ticket-${codeOf(7).toLowerCase()}`);
  });
  afterAll(async () => {
    await platform.stop();
    await stub.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const stateFile = () => join(directory, "state.json");
  const start = (state = stateFile()) =>
    runCommand(
      ["import", "--from-pretix", stub.url, "--organizer", stubOrganizer, "--event", stubEvent, "--state", state],
      { BASE_URL: platform.baseUrl, TESSERA_OPERATOR_KEY: platform.operatorKey, PRETIX_TOKEN: stubToken },
    );
  const list = `/api/v1/organizers/${stubOrganizer}/events/${stubEvent}/checkinlists/1/`;
  const read = async (path: string) =>
    (await platform.request("GET", `${list}${path}`, { as: `Token ${apiKey}` })).body;
  const orderQueries = () => stub.requests.filter(({ path }) => path === orders).map(({ query }) => query);

  it("[R1.10, R1.12, R1.13, R10.4] continues after kill -9, its tickets are admitted, and a second run changes nothing", async () => {
    stub.interfere = ({ path, query }) => path === orders && query.get("page") === "13";
    const killed = start();
    await expect.poll(() => readFile(stateFile(), "utf8").catch(() => "")).toContain('"reached"');
    killed.process.kill("SIGKILL");
    await killed.ended;
    stub.interfere = undefined;
    stub.requests.length = 0;

    expect(await start().ended).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.not.stringContaining("Rejected"),
    });
    const [resumed] = orderQueries();
    expect(Date.parse(resumed?.get("created_since") ?? "")).toBeGreaterThan(Date.UTC(2027, 10, 1, 0, 100));
    expect(resumed?.get("modified_since")).toBeNull();

    await platform.import([
      ofOrganizer("api_key", { token: apiKey, name: "tests", permissions: ["*"], all_events: true }, stubOrganizer),
    ]);
    expect(await read("status/")).toMatchObject({ position_count: count, checkin_count: 0 });
    const redeem = () =>
      platform.request("POST", `${list}positions/ticket-${codeOf(7).toLowerCase()}/redeem/`, {
        as: `Token ${apiKey}`,
        body: {},
      });
    expect((await redeem()).body).toMatchObject({ status: "ok", position: { order: codeOf(7) } });

    const before = await read("positions/?page_size=20&ordering=positionid");
    const again = await start().ended;
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).not.toMatch(/^ +(?:order|item) /m);
    expect(orderQueries().at(-1)?.get("modified_since")).toBe("2027-12-10T11:59:00Z");
    expect(await read("positions/?page_size=20&ordering=positionid")).toEqual(before);
    expect(await read("status/")).toMatchObject({ position_count: count, checkin_count: 1 });
    expect((await redeem()).body).toMatchObject({ status: "error", reason: "already_redeemed" });
    for (const text of [stubToken, "Quillfeather"])
      expect(again.stdout + (await readFile(stateFile(), "utf8"))).not.toContain(text);
  });

  it("[R1.7, R2.17] imports doubtful data with status 0, names it, and its tickets are admitted", async () => {
    stub.lists.set(inEvent("taxrules/"), [
      { id: 1, name: { en: "VAT" }, rate: "19.0000", price_includes_tax: true },
      { id: 2, name: { en: "Sales tax" }, rate: "8.875", price_includes_tax: true },
    ]);
    const question = { question: { en: "How many?" }, type: "N", items: [1], options: [], ask_during_checkin: true };
    stub.lists.set(inEvent("questions/"), [
      { ...question, id: 1, valid_number_min: "1.000000", valid_number_max: "0.000000" },
      { ...question, id: 2, dependency_question: 1, dependency_values: ["1"] },
    ]);
    stub.lists.set(inEvent("quotas/"), [
      { id: 1, name: "All", size: 100, items: [], variations: [77], subevent: null },
    ]);
    for (const path of ["taxrules/", "questions/", "quotas/"])
      stub.modified.set(inEvent(path), "Mon, 10 Jan 2028 10:00:00 GMT");
    const order = stubOrder("DOUBTFUL", { last_modified: "2027-12-10T12:00:00Z" });
    const [position] = order["positions"] as object[];
    const answers = [
      { question: 1, answer: "5" },
      { question: 2, answer: "5" },
    ].map((each) => ({ ...each, options: [] }));
    const sold = { ...position, tax_rate: "8.875", tax_rule: 2, country: "Germany", answers };
    stub.lists.set(orders, [
      { ...order, fees: [{ fee_type: "x", value: "1.00", tax_rate: "9.975" }], positions: [sold] },
    ]);
    const { code, stdout } = await start().ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Accepted with warnings.*order: positions\.0\.country/s)]);
    const redeemed = await platform.request("POST", `${list}positions/ticket-doubtful/redeem/`, {
      as: `Token ${apiKey}`,
      body: {},
    });
    expect(redeemed).toMatchObject({ status: 201, body: { position: { tax_rate: "8.875", order: "DOUBTFUL" } } });
  });

  it("[R1.10, R1.27, V1.12, V6.6] takes over vouchers with all their fields, uses and seats", async () => {
    const vouchers = `/api/v1/organizers/${stubOrganizer}/events/${stubEvent}/vouchers/`;
    const readVouchers = async () => (await platform.request("GET", vouchers, { as: `Token ${apiKey}` })).body;
    stub.lists.set(inEvent("seats/"), [stubSeat]);
    stub.lists.set(inEvent("vouchers/"), recordedVouchers);
    const state = join(directory, "vouchers.json");
    const now = () => new Date().toISOString();
    stub.now = now();
    const early = { datetime: "2026-01-02T10:00:00Z", last_modified: now() };
    const order = stubOrder("VOUCHER1", early);
    const [position] = order["positions"] as object[];
    const used = { ...order, positions: [{ ...position, voucher: 1, voucher_budget_use: "2.50" }] };
    stub.lists.set(orders, [used]);
    expect(await start(state).ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining("Rejected") });
    expect(await readVouchers()).toMatchObject({ count: recordedVouchers.length, results: recordedVouchers });
    // What changes in the shop afterwards moves the uses that its next page has, and does not count twice.
    stub.lists.set(orders, [{ ...used, status: "c", last_modified: now() }]);
    const later = recordedVouchers.map((each) =>
      each.id === 1 ? { ...each, redeemed: 2, budget_used: "17.50" } : each,
    );
    // More than are applied at once, so that some are applied before the last record is read.
    const others = Array.from({ length: 600 }, (_, index) => ({ id: 10 + index, code: `OTHER-${index}` }));
    stub.lists.set(inEvent("vouchers/"), [...later, ...others]);
    // A page of vouchers tells its moment in whole seconds: this is the one after the change.
    await sleep(1000);
    for (let run = 0; run < 2; run += 1) {
      expect(await start(state).ended).toMatchObject({ code: 0 });
      expect((await readVouchers()).results.slice(0, later.length)).toMatchObject(later);
    }
  });

  it("reports missing options before it sends a request", async () => {
    stub.requests.length = 0;
    const { code, stderr } = await runCommand(["import", "--from-pretix", stub.url, "--organizer", "x"]).ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("PRETIX_TOKEN") });
    expect(stub.requests).toEqual([]);
  });
});
