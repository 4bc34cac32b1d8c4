import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { services } from "@tessera/cli/services";
import { watchCertificates } from "@tessera/engines/grpc/certificates";
import { grpcTransport } from "@tessera/engines/grpc/client";
import { type Client, connect } from "@tessera/kit/rpc";
import { createLog } from "@tessera/kit/telemetry/log";
import { VoucherShop } from "@tessera/protos/services";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFirstPort } from "./find-ports.ts";
import { apiKey, eventPath, groundwork, ofEvent, orderData, positionData } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const as = `Token ${apiKey}`;
const quiet = createLog({ service: "shop", destination: { write: () => {} } });
const place = { organizer: "bigevents", event: "sampleconf" };

let platform: TestPlatform;
let authority: TestAuthority;
let directory: string;
let address: string;

async function certified(name: string, names: readonly string[]) {
  const issued = await authority.issue({ names });
  return writeCertificate(join(directory, name), { ...issued, authority: authority.certificate });
}

/** Calls as a server with a certificate of this name. */
async function callAs<T>(name: string, call: (shop: Client<VoucherShop>) => Promise<T>): Promise<T> {
  const certificates = watchCertificates({ files: await certified(name, [name]), names: [name], log: quiet });
  const transport = grpcTransport({ address, log: quiet, tls: { certificates, name: "voucher" } });
  try {
    return await call(connect(VoucherShop, transport));
  } finally {
    await transport.close();
    certificates.close();
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-shops-"));
  authority = await createAuthority();
  const firstPort = await findFirstPort();
  const names = Object.keys(services);
  address = `127.0.0.1:${firstPort + names.indexOf("voucher")}`;
  const { certificate, key, authority: trusted } = await certified("all", names);
  const tls = { GRPC_TLS_CERT: certificate, GRPC_TLS_KEY: key, GRPC_TLS_CA: trusted };
  const environment = { ...tls, GRPC_PORT: String(firstPort) };
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
    await callAs("shop", async (shop) => {
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
    const check = (name: string) => callAs(name, (shop) => shop.checkVouchers({ ...place, asks }));
    expect((await check("shop")).answers).toHaveLength(1);
    await expect(check("gateway")).rejects.toMatchObject({ code: "peer_refuses" });
  });
});
