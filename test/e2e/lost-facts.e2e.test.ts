import { identifier, sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { afterEach, expect, it } from "vitest";
import { openAsAdministrator, readParked } from "../failure/fact-ledger.ts";
import { type Ended, runCommand } from "./command.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const organizers = { lost: samplesOf("losers"), parked: samplesOf("parkers") };
const { apiKey, deviceKey, eventPath, groundwork, ofEvent } = organizers.lost;
const token = `Token ${apiKey}`;
const device = `Device ${deviceKey}`;

/** A person's order of one ticket. */
function orderOf(number: number, of = ofEvent) {
  const position = positionData({
    id: 2000 + number,
    secret: `secret-of-${number}`,
    attendee_name: `Visitor ${number}`,
    checkins: number === 1 ? [{ id: 77, list: 1, datetime: "2027-12-01T10:00:00Z", type: "entry" }] : [],
  });
  return of("order", orderData({ code: `LOST${number}`, positions: [position] }));
}

/** Runs `tessera topics` as an operator does. */
function topicsCommand(databaseUrl: string, ...args: string[]): Promise<Ended> {
  return runCommand(["topics", ...args], { DATABASE_URL: databaseUrl }).ended;
}

async function redeem(platform: TestPlatform, number: number): Promise<string> {
  const path = `${eventPath}/checkinlists/1/positions/secret-of-${number}/redeem/`;
  const { body } = await platform.request("POST", path, { as: device, body: {} });
  return body.reason ?? body.status;
}

/** The event and its list as REST shows them. */
async function look(platform: TestPlatform) {
  const get = async (path: string) => (await platform.request("GET", `${eventPath}${path}`, { as: token })).body;
  return {
    status: await get("/checkinlists/1/status/"),
    positions: await get("/checkinlists/1/positions/?page_size=100"),
  };
}

it("copies that were emptied or missed a removal are complete after a rebuild", async () => {
  const platform = await startTestPlatform();
  undo.push(() => platform.stop());
  const db = openAsAdministrator(platform.databaseUrl);
  undo.push(() => db.close());
  const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
  await platform.import([
    ...groundwork(),
    ofEvent("checkin_list", listData()),
    ...numbers.map((number) => orderOf(number)),
  ]);
  for (const number of [2, 3, 4]) expect(await redeem(platform, number)).toBe("ok");
  const before = await look(platform);
  expect(before.positions.count).toBe(30);

  const schemas = { checkin: ["event", "item", "category", "position"], gateway: ["event", "credential"] };
  for (const [schema, tables] of Object.entries(schemas))
    for (const table of tables) await db.run(sql`delete from ${identifier(schema)}.${identifier(table)}`);
  await db.run(sql`delete from checkin.count_delta where count_delta.list = 0`);
  // The caches of the gateways are emptied, too.
  await db.run(sql`notify tessera_gateway_access`);
  await expect
    .poll(async () => (await platform.request("GET", `${eventPath}/checkinlists/1/`, { as: token })).status)
    .toBe(401);

  const rebuilt = await topicsCommand(platform.databaseUrl, "rebuild", "--all");
  // Other organizers are rebuilt, too. Scans that came with records were made elsewhere.
  const { positions, events, scans, uses } = await db.one<Record<string, number>>(sql`
    select (select count(*) from boxoffice.position) as positions, (select count(*) from boxoffice.event) as events,
           (select count(*) from checkin.scan where scan.imported_id is null) as scans,
           (select count(*) from boxoffice.position where position.voucher is not null) as uses`);
  expect(rebuilt.stdout + rebuilt.stderr).toContain(
    `boxoffice.position-changed.v1: ${positions} published; arrived at checkin\n`,
  );
  expect(rebuilt.stdout).toContain(`boxoffice.voucher-use-changed.v1: ${uses} published; arrived at voucher\n`);
  expect(rebuilt.stdout).toContain(
    `boxoffice.event-changed.v1: ${events} published; arrived at checkin and gateway and layout-and-render and offline-sales and shredder and voucher\n`,
  );
  expect(rebuilt.stdout).toContain(`checkin.scan-decided.v1: ${scans} published; no service reads it\n`);
  expect(rebuilt.code).toBe(0);
  expect(await look(platform)).toEqual(before);
  expect(await redeem(platform, 2)).toBe("already_redeemed");

  // As if the removal had been published, and the topic lost.
  await db.run(sql`delete from boxoffice.position where organizer = 'losers' and id in (2002, 2009)`);
  await db.run(sql`delete from boxoffice."order" where code in ('LOST2', 'LOST9')`);
  expect((await look(platform)).positions.count).toBe(30);
  const swept = await topicsCommand(platform.databaseUrl, "rebuild", topics.positionChanged.name);
  expect(swept).toMatchObject({
    code: 0,
    stdout: `${topics.positionChanged.name}: ${Number(positions) - 2} published; arrived at checkin\n`,
  });
  const after = await look(platform);
  expect(after.positions.count).toBe(28);
  expect(after.status).toMatchObject({
    position_count: before.status.position_count - 2,
    checkin_count: before.status.checkin_count - 1,
  });
  expect(await redeem(platform, 2)).toBe("invalid");
  expect([await redeem(platform, 3), await redeem(platform, 1), await redeem(platform, 5)]).toEqual([
    "already_redeemed",
    "already_redeemed",
    "ok",
  ]);
});

it("parked facts are listed without their contents, and replayed when their consumer works again", async () => {
  const platform = await startTestPlatform();
  undo.push(() => platform.stop());
  platform.expectErrors("fact parked: no retry could apply it");
  const { databaseUrl } = platform;
  const db = openAsAdministrator(databaseUrl);
  undo.push(() => db.close());
  const { groundwork, ofEvent } = organizers.parked;
  const send = async (records: readonly unknown[]) =>
    expect(await platform.import(records)).toMatchObject({ rejected: 0 });
  await send([...groundwork(), ofEvent("checkin_list", listData())]);
  await db.run(sql`alter table checkin.position rename column secret to hidden`);
  await send([1, 2, 3].map((number) => orderOf(number, ofEvent)));
  await expect.poll(async () => (await readParked(db)).length).toBe(3);

  const [unwanted] = await db.many<{ id: number }>(
    sql`select id from checkin.dead_letter where key = 'parkers/sampleconf/2003'`,
  );
  const discarded = await topicsCommand(databaseUrl, "discard", "--service", "checkin", "--id", `${unwanted?.id},0`);
  expect(discarded.code).toBe(1);
  expect(discarded.stdout).toContain("1 of 2 deleted.\n");
  expect(discarded.stdout).toContain("parkers/sampleconf/2003");

  const listed = await topicsCommand(databaseUrl, "parked");
  expect(listed.code).toBe(0);
  expect(listed.stdout).toContain("checkin: 2 parked\n");
  expect(listed.stdout).toContain("parkers/sampleconf/2001");
  expect(listed.stdout).toContain("42703");
  expect(listed.stdout).not.toMatch(/Visitor|secret-of/);

  const inVain = await topicsCommand(databaseUrl, "replay", "--service", "checkin");
  expect(inVain.code).toBe(1);
  expect(inVain.stdout).toContain("0 of 2 replayed.\ncheckin: 2 stay parked\n");
  expect(inVain.stdout).toContain("replayed without success once");

  await db.run(sql`alter table checkin.position rename column hidden to secret`);
  const [first] = await db.many<{ id: number }>(sql`select id from checkin.dead_letter order by id`);
  const one = await topicsCommand(databaseUrl, "replay", "--service", "checkin", "--id", String(first?.id));
  expect(one).toMatchObject({ code: 0, stdout: "1 of 1 replayed.\n" });
  const rest = await topicsCommand(databaseUrl, "replay", "--topic", topics.positionChanged.name);
  expect(rest).toMatchObject({ code: 0, stdout: "1 of 1 replayed.\n" });
  expect(
    await db.one(sql`select count(*) as count from checkin.position where position.organizer = 'parkers'`),
  ).toEqual({ count: 2 });
  expect((await topicsCommand(databaseUrl, "parked")).stdout).toBe("Nothing is parked.\n");
  for (const verb of ["parked", "replay"]) {
    const misspelt = await topicsCommand(databaseUrl, verb, "--topic", "tessera.boxoffice.item-changed.v1");
    expect(misspelt).toMatchObject({ code: 1, stdout: "" });
    expect(misspelt.stderr).toContain("there is no topic tessera.boxoffice.item-changed.v1; the topics are boxoffice.");
  }
});
