import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchCertificates } from "@tessera/engines/grpc/certificates";
import { grpcTransport } from "@tessera/engines/grpc/client";
import { type Client, connect } from "@tessera/kit/rpc";
import { createLog } from "@tessera/kit/telemetry/log";
import { VoucherShop } from "@tessera/protos/services";
import { formatInstant } from "@tessera/values";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommands, sources } from "./follow-page.ts";
import { commandBlocks, putIn, readPage, shows } from "./read-page.ts";
import { kindOverSockets } from "./run-platform.ts";
import { eventData, itemData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("sellers");
const as = `Token ${apiKey}`;
const others = samplesOf("demo");
const quiet = createLog({ service: "shop", destination: { write: () => {} } });
const place = { organizer: "sellers", event: "sampleconf" };

let platform: TestPlatform;
let outside: NonNullable<TestPlatform["outside"]>;
let directory: string;

/** Calls as a server with a certificate of this name. */
async function callAs<T>(name: string, call: (shop: Client<VoucherShop>) => Promise<T>): Promise<T> {
  const certificates = watchCertificates({ files: await outside.certify(name), names: [name], log: quiet });
  const transport = grpcTransport({
    address: outside.addressOf("voucher"),
    log: quiet,
    tls: { certificates, name: "voucher" },
  });
  try {
    return await call(connect(VoucherShop, transport));
  } finally {
    await transport.close();
    certificates.close();
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-shops-"));
  platform = await startTestPlatform({ kind: kindOverSockets });
  if (platform.outside === undefined) throw new Error("its calls cross no sockets");
  outside = platform.outside;
  const theirs = others.groundwork();
  const answer = await platform.import([...groundwork(), ...theirs]);
  expect(answer).toMatchObject({ rejected: 0, settled: true });
  platform.keepOutOfLogs(apiKey, others.apiKey, "SUMMER25");
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

  it("[V7.10] is known by its certificate; of the services only the gateway may ask", async () => {
    const check = (name: string) => callAs(name, (shop) => shop.checkVouchers({ ...place, asks }));
    for (const name of ["shop", "gateway"]) expect((await check(name)).answers).toHaveLength(1);
    await expect(check("checkin")).rejects.toMatchObject({ code: "peer_refuses" });
  });
});

const post = (action: string, body: object, { key = apiKey, path = eventPath } = {}) =>
  platform.request("POST", `${path}/vouchers/${action}/`, { as: `Token ${key}`, body });

describe("a shop by REST", () => {
  it("[V15.1] confirms what it has reserved by gRPC, and asks again for what it has reserved by REST", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const uses = [{ code: "SUMMER25", item: 1 }];
    const reserved = await post("reserve", { reservation: one, uses, lifetime: 60 });
    expect(reserved).toMatchObject({ status: 200, body: { status: "reserved", answers: [{ refusal: null }] } });
    expect((await post("reserve", { reservation: one, uses, lifetime: 60 })).body).toEqual(reserved.body);
    await callAs("shop", async (shop) => {
      const again = await shop.reserveVouchers({ ...place, reservation: one, uses, lifetimeMs: 60_000 });
      expect(formatInstant(again.expiresAt ?? 0)).toBe(reserved.body.expires);
      await shop.reserveVouchers({ ...place, reservation: other, uses, lifetimeMs: 60_000 });
    });
    expect((await post("confirm", { reservation: other, positions: [601] })).body).toEqual({ status: "confirmed" });
    expect((await post("confirm", { reservation: other, positions: [601] })).body).toEqual({ status: "confirmed" });
    expect((await post("release", { reservation: one })).status).toBe(204);
    expect((await voucher()).redeemed).toBe(1);
    const wrong = await Promise.all([
      post("release", { reservation: other }),
      post("confirm", { reservation: other, positions: [602] }),
      post("confirm", { reservation: one, positions: [602] }),
      post("reserve", { reservation: other, uses: [...uses, ...uses], lifetime: 60 }),
      post("confirm", { reservation: randomUUID(), positions: [602] }),
    ]);
    expect(wrong.map(({ status }) => status)).toEqual([409, 409, 409, 409, 404]);
    const taken = randomUUID();
    await post("reserve", { reservation: taken, uses, lifetime: 60 });
    expect(await post("confirm", { reservation: taken, positions: [601] })).toMatchObject({
      status: 400,
      body: { positions: ["Sold with another reservation: 601."] },
    });
    expect((await post("release", { reservation: taken })).status).toBe(204);
  });

  it("[V15.5] gets the last use once, also if another shop asks for it by gRPC at the same moment", async () => {
    const body = { code: "LAST-ONE", max_usages: 5 };
    expect((await platform.request("POST", `${eventPath}/vouchers/`, { as, body })).status).toBe(201);
    const uses = [{ code: "LAST-ONE", item: 1 }];
    const byRest = async () =>
      (await post("reserve", { reservation: randomUUID(), uses, lifetime: 60 })).body.status === "reserved";
    const granted = await callAs("shop", async (shop) => {
      const byGrpc = async () => {
        const asked = { ...place, reservation: randomUUID(), uses, lifetimeMs: 60_000 };
        return (await shop.reserveVouchers(asked)).expiresAt !== undefined;
      };
      return Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? byRest() : byGrpc())));
    });
    expect(granted.filter(Boolean)).toHaveLength(5);
    expect((await post("check", { asks: uses })).body.answers).toMatchObject([{ refusal: { reason: "reserved" } }]);
  });

  it("[S5.4, V7.9] sees nothing of another organizer, and holds nothing of it", async () => {
    const uses = [{ code: "SUMMER25", item: 1 }];
    for (const action of ["check", "reserve", "confirm", "release"])
      expect((await post(action, {}, { key: others.apiKey })).status, action).toBe(403);
    const reservation = randomUUID();
    expect((await post("reserve", { reservation, uses, lifetime: 60 })).body.status).toBe("reserved");
    const theirs = { key: others.apiKey, path: others.eventPath };
    expect((await post("check", { asks: uses }, theirs)).body.answers).toMatchObject([
      { refusal: { reason: "unknown_code" } },
    ]);
    expect((await post("confirm", { reservation, positions: [1] }, theirs)).status).toBe(404);
    expect((await post("release", { reservation }, theirs)).status).toBe(204);
    const hostile = { ...place, reservation, positions: [701] };
    expect((await post("confirm", hostile, theirs)).status).toBe(409);
    expect((await post("confirm", { reservation, positions: [701] })).body).toEqual({ status: "confirmed" });
  });
});

describe("docs/vouchers-for-shops.md", () => {
  it("shows what its commands print", async () => {
    const event = "conference";
    const records = [
      others.ofEvent("event", eventData({ slug: event }), event),
      others.ofEvent("item", itemData({ default_price: "249.00", category: null, tax_rule: null }), event),
      others.ofEvent("voucher", { id: 2, code: "TENPERCENT", price_mode: "percent", value: "10.00" }, event),
    ];
    expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
    const page = await readPage("vouchers-for-shops.md");
    const blocks = commandBlocks(page);
    const script = putIn(blocks.map(({ commands }, index) => `${commands}\necho "@@${index}@@"`).join("\n"), {
      "http://localhost:8000": platform.baseUrl,
      "Token …": `Token ${others.apiKey}`,
    });
    const outputs = (await runCommands(script, { cwd: directory })).split(/@@\d+@@\n/);
    const told = blocks.map(({ commands, printed }, index) => ({ commands, printed, output: outputs[index] ?? "" }));
    expect(told.filter(({ printed, output }) => printed !== undefined && !shows(output, printed))).toEqual([]);
    expect(told.filter(({ printed }) => printed !== undefined)).toHaveLength(4);
  });

  it("has a client in Node that works, with the certificate of a shop", async () => {
    const page = await readPage("vouchers-for-shops.md");
    const [client = "", secured = ""] = Array.from(page.matchAll(/```js\n([^`]*)```/g), ([, code = ""]) => code);
    const { certificate, key, authority: trusted } = await outside.certify("shop");
    const insecure = /const shop = .*createInsecure.*\n/.exec(client)?.[0] ?? "";
    const program = putIn(putIn(client, { [insecure]: secured }), {
      "protos/ticketing": join(sources, "protos/ticketing"),
      "tickets.example.org:50057": outside.addressOf("voucher"),
      "ca.pem": trusted,
      "shop.key": key,
      "shop.pem": certificate,
    });
    const file = join(directory, "shop.cjs");
    await writeFile(file, program);
    const environment = { NODE_PATH: join(sources, "node_modules/.pnpm/node_modules") };
    const printed = await runCommands(`node ${file}`, { cwd: directory, environment });
    expect(JSON.parse(printed)).toMatchObject({ answers: [{ offer: { voucher: 2, price: "224.10" } }] });
  });
});
