import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { services } from "@tessera/cli/services";
import { callAsShop } from "@tessera/cli/vouchers/call-as-shop";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { findFirstPort } from "./find-ports.ts";
import { apiKey, eventPath, groundwork, ofEvent, orderData, positionData } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const as = `Token ${apiKey}`;
const place = { organizer: "bigevents", event: "sampleconf" };

let platform: TestPlatform;
let authority: TestAuthority;
let directory: string;
let address: string;
/** Where another service is. */
let firstAddress: string;
/** The settings of a shop. */
let asShop: Record<string, string>;

async function certified(name: string, names: readonly string[]): Promise<Record<string, string>> {
  const issued = await authority.issue({ names });
  const files = await writeCertificate(join(directory, name), { ...issued, authority: authority.certificate });
  return { GRPC_TLS_CERT: files.certificate, GRPC_TLS_KEY: files.key, GRPC_TLS_CA: files.authority };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-shops-"));
  authority = await createAuthority();
  asShop = await certified("shop", ["shop"]);
  const firstPort = await findFirstPort();
  const names = Object.keys(services);
  firstAddress = `127.0.0.1:${firstPort}`;
  address = `127.0.0.1:${firstPort + names.indexOf("voucher")}`;
  const environment = { ...(await certified("all", names)), GRPC_PORT: String(firstPort) };
  platform = await startTestPlatform({ kind: "grpc", environment });
  const answer = await platform.import(groundwork());
  expect(answer).toMatchObject({ rejected: 0, settled: true });
  platform.keepOutOfLogs(apiKey, "SUMMER25");
  const body = { code: "SUMMER25", max_usages: 3, price_mode: "percent", value: "25.00", budget: "10.00" };
  expect((await platform.request("POST", `${eventPath}/vouchers/`, { as, body })).status).toBe(201);
});
afterAll(async () => {
  await platform?.stop();
  await rm(directory, { recursive: true, force: true });
});

const voucher = async () =>
  (await platform.request("GET", `${eventPath}/vouchers/?code=SUMMER25`, { as })).body.results[0];
const asks = [{ code: "summer25", item: 1 }];

describe("a shop, over sockets", () => {
  it("checks, reserves and confirms; the record of the order takes its use over", async () => {
    const { id } = await voucher();
    const reservation = randomUUID();
    await callAsShop({ address, environment: asShop }, async (shop) => {
      const { answers } = await shop.checkVouchers({ ...place, asks });
      expect(answers).toMatchObject([{ outcome: { value: { priceBefore: "23.00", price: "17.25", usesLeft: 3 } } }]);
      const held = await shop.reserveVouchers({ ...place, reservation, uses: asks, lifetimeMs: 60_000 });
      expect(held.expiresAt).toBeGreaterThan(Date.now() * 1000);
      expect(await voucher()).toMatchObject({ redeemed: 0, budget_used: "0.00" });
      expect((await platform.request("DELETE", `${eventPath}/vouchers/${id}/`, { as })).status).toBe(403);
      await shop.confirmReservation({ ...place, reservation, positions: [501] });
    });
    expect(await voucher()).toMatchObject({ redeemed: 1, budget_used: "5.75" });
    const sold = (changes: object = {}) =>
      ofEvent(
        "order",
        orderData({
          code: "SHOPS",
          positions: [
            positionData({ id: 501, secret: "shop-ticket-1", voucher: id, voucher_budget_use: "5.75", ...changes }),
          ],
        }),
      );
    expect(await platform.import([sold()])).toMatchObject({ rejected: 0, settled: true });
    expect(await voucher()).toMatchObject({ redeemed: 1, budget_used: "5.75" });
    expect(await platform.import([sold({ canceled: true })])).toMatchObject({ rejected: 0, settled: true });
    expect(await voucher()).toMatchObject({ redeemed: 0, budget_used: "0.00" });
  });

  it("[V7.10] is known by its certificate; no other may ask, not even a service of the platform", async () => {
    const check = async (environment: Record<string, string>) =>
      callAsShop({ address, environment }, (shop) => shop.checkVouchers({ ...place, asks }));
    expect((await check(asShop)).answers).toHaveLength(1);
    const renamed = { ...(await certified("gateway", ["gateway"])), SHOP_TLS_NAME: "gateway" };
    await expect(check(renamed)).rejects.toMatchObject({ code: "voucher_unreachable" });
    await expect(check(await certified("gateway", ["gateway"]))).rejects.toThrow("does not have the DNS name shop");
  });
});

describe("tessera voucher check", () => {
  const check = (...args: string[]) =>
    runCommand(["voucher", "check", ...args], { ...asShop, VOUCHER_ADDRESS: address }).ended;
  const inEvent = ["--organizer", "bigevents", "--event", "sampleconf", "--item", "1"];

  it("prints the price and what is left, or the refusal", async () => {
    const [offer, refusal, asJson, mistake, oddPrice] = await Promise.all([
      check("summer25", ...inEvent),
      check("winter25", ...inEvent),
      check("summer25", ...inEvent, "--price", "10", "--json"),
      check("summer25", ...inEvent.slice(0, 4), "--item", "one"),
      check("summer25", ...inEvent, "--price", "10,00"),
    ]);
    expect(offer).toMatchObject({
      code: 0,
      stdout: "summer25 changes the price from 23.00 to 17.25.\nUses left: 3.\nBudget left: 10.00.\n",
    });
    expect(refusal).toMatchObject({
      code: 0,
      stdout: "winter25 cannot be used. This event has no voucher with this code.\n",
    });
    expect(JSON.parse(asJson?.stdout ?? "")).toMatchObject({
      offer: { price_before: "10.00", price: "7.50", discount: "2.50", uses_left: 3, budget_left: "10.00" },
    });
    expect(mistake).toMatchObject({ code: 1, stderr: "tessera: --item takes the number of an id\n" });
    expect(oddPrice).toMatchObject({
      code: 1,
      stderr: "tessera: price: A price is a decimal from 0 with up to two places.\n",
    });
  });

  it("says so where voucher cannot be reached, or another service is", async () => {
    const other = await check("summer25", ...inEvent, "--address", firstAddress);
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ is not voucher, but another service.*\n$/),
    });
    const ended = await runCommand(["voucher", "check", "summer25", ...inEvent, "--address", "127.0.0.1:1"]).ended;
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining("voucher cannot be reached at 127.0.0.1:1"),
    ]);
  });
});
