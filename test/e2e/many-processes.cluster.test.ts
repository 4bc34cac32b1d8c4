import { kafkaBus } from "@tessera/engines/kafka/kafka";
import type { Bus } from "@tessera/kit/bus/bus";
import { openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { recordFeed } from "@tessera/protos/topics";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, stopSharedPlatform, type TestPlatform } from "./test-platform.ts";
import "./gate.e2e.test.ts";
import "./repeated-requests.e2e.test.ts";

/*
 * The imported suites are about what crosses Kafka, Redis, files and several replicas most; every-suite.processes.test.ts
 * has all.
 */
afterAll(stopSharedPlatform);

const organizer = "feeders";
const { apiKey, eventPath, groundwork, ofEvent } = samplesOf(organizer);
const quiet = createLog({ service: "shop", destination: { write: () => {} } });

/** The last suite, because it leaves parked records. */
describe("the feed of records", () => {
  let platform: TestPlatform;
  let bus: Bus;
  const token = `Token ${apiKey}`;

  beforeAll(async () => {
    platform = await startTestPlatform();
    const { brokers = "", topicPrefix = "" } = platform.kafka ?? {};
    bus = kafkaBus({ brokers: [brokers], clientId: "shop", topicPrefix, log: quiet });
  });
  afterAll(async () => {
    await bus.close();
    await platform.stop();
  });

  /** Publishes as a shop does: records in JSON, keyed by organizer and event, and no headers. */
  const feed = (records: readonly { organizer: string; event?: string }[]) =>
    bus.publish(
      recordFeed.name,
      records.map((record) => ({
        key: `${record.organizer}/${record.event ?? ""}`,
        // Formatted over several lines: a message is one record, however it is formatted.
        value: Buffer.from(JSON.stringify(record, null, 2)),
        headers: {},
      })),
    );
  const order = (code: string, id: number, data: object = {}) =>
    ofEvent("order", orderData({ code, positions: [positionData({ id, secret: `secret-${id}` })], ...data }));
  const find = async (id: number) => {
    const { body } = await platform.request("GET", `${eventPath}/checkinlists/1/positions/?search=secret-${id}`, {
      as: token,
    });
    return body.results as { id: number; secret: string }[];
  };
  const parked = async () => {
    const db = openDatabase({
      url: platform.databaseUrl,
      schema: "gateway",
      role: roleOf("gateway"),
      applicationName: "test",
      log: quiet,
    });
    try {
      return await db.many<{ cause: string; key: string }>(sql`
        select dead_letter.cause, dead_letter.key from dead_letter order by dead_letter.id`);
    } finally {
      await db.close();
    }
  };

  it("[R1.21] imports everything from any partition: organizer, event, products, orders, lists", async () => {
    await feed([...groundwork(), order("FED01", 501), ofEvent("checkin_list", listData())] as never);
    const arrived = () =>
      platform.request("GET", `${eventPath}/checkinlists/1/positions/`, { as: token }).then(({ status, body }) => ({
        status,
        secrets: (body.results as { secret: string }[] | undefined)?.map(({ secret }) => secret),
      }));
    await expect.poll(arrived).toEqual({ status: 200, secrets: ["secret-501"] });
    expect(await parked()).toEqual([]);
  });

  it("[R1.22] applies changes and removals in the order of sending", async () => {
    await feed([
      order("FED02", 502),
      order("FED02", 502, { positions: [positionData({ id: 502, secret: "secret-502-new" })] }),
      order("FED03", 503),
      { ...ofEvent("order", { code: "FED03" }), deleted: true },
      order("FED04", 504),
    ] as never);
    await expect.poll(() => find(504)).toHaveLength(1);
    expect((await find(502)).map(({ secret }) => secret)).toEqual(["secret-502-new"]);
    expect(await find(503)).toEqual([]);
  });

  it("[R1.23, R10.5] parks wrong records with the reason, and applies the next ones", async () => {
    await bus.publish(recordFeed.name, [
      { key: `${organizer}/sampleconf`, value: Buffer.from([0xff, 0xfe, 0x00]), headers: {} },
      { key: `${organizer}/sampleconf`, value: null, headers: {} },
    ]);
    await feed([
      ofEvent("order", orderData({ code: "WRONG", status: "x", positions: [positionData({ id: 505, item: 999 })] })),
      order("FED06", 506),
    ] as never);
    await expect.poll(() => find(506)).toHaveLength(1);
    // Each was retried first.
    await expect.poll(parked).toHaveLength(3);
    const causes = (await parked()).map(({ cause }) => cause);
    expect(causes.filter((cause) => cause.startsWith("order: "))).toHaveLength(1);
    expect(causes.join()).not.toContain("secret-505");
  });

  it("[R1.25] does not undo a later record of an order by one that had to wait", async () => {
    const unknownItem = orderData({
      code: "FED08",
      positions: [positionData({ id: 508, secret: "secret-508-old", item: 77 })],
    });
    await feed([ofEvent("order", unknownItem), order("FED08", 508), ofEvent("item", itemData({ id: 77 }))] as never);
    await expect.poll(parked).toHaveLength(4);
    // The dead letter is visible here before the order is visible in REST.
    const secrets = async () => (await find(508)).map(({ secret }) => secret);
    await expect.poll(secrets).toEqual(["secret-508"]);
  });

  it("[R1.26] has no second effect when a record is sent again", async () => {
    const before = await platform.request("GET", `${eventPath}/checkinlists/1/status/`, { as: token });
    await feed([order("FED04", 504), order("FED04", 504), order("FED07", 507)] as never);
    await expect.poll(() => find(507)).toHaveLength(1);
    const after = await platform.request("GET", `${eventPath}/checkinlists/1/status/`, { as: token });
    expect(after.body.position_count).toBe(before.body.position_count + 1);
  });
});
