import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, sample } from "../testing/records.ts";
import { findTickets } from "./find-tickets.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);
const checkins = [{ id: 5, list: 1, datetime: "2026-01-01T10:00:00.123456Z" }];
const sold = (code: string, ids: readonly number[], rest: object = {}) =>
  sample.order({
    code,
    positions: ids.map((id, index) => position({ id, positionid: index + 1, secret: `secret ${id}`, ...rest })),
  });

beforeEach(async () => {
  await emptyTables(db);
  const elsewhere = { organizer: "other" };
  const tenants = [{ event: "second" }, { ...elsewhere, event: "fest" }];
  await office.apply(...festival, { ...sample.organizer({ slug: "other" }), ...elsewhere });
  for (const tenant of tenants) {
    const records = [sample.event({ slug: tenant.event }), sample.item(), sold("THEIR", [1, 5])];
    expect(await office.apply(...records.map((each) => ({ ...each, ...tenant })))).toEqual({});
  }
  await office.apply(sold("FIRST", [1, 2], { checkins }), sold("OTHER", [3]), sold("LAST", [4]));
});

const wanted = (secret: string, place: object = {}) => ({ organizer: "org", event: "fest", secret, ...place });
async function find(...tickets: ReturnType<typeof wanted>[]) {
  const { facts } = await findTickets({ tickets }, { db });
  return facts.map((fact) => topics.positionChanged.decode(fact));
}
const found = async (...tickets: ReturnType<typeof wanted>[]) =>
  (await find(...tickets)).map(
    ({ organizer, event, position: ticket }) =>
      `${organizer}/${event} ${ticket?.order?.code} ${ticket?.id} ${ticket?.secret}`,
  );

describe("tickets by their secrets", () => {
  it("are all positions of their orders, as facts have told of them", async () => {
    const told = (await takeFacts(db)).filter(
      ({ topic, key }) => topic === "position-changed" && ["org/fest/1", "org/fest/2"].includes(key),
    );
    expect(told).toHaveLength(2);
    expect(await find(wanted("secret 2"))).toEqual(told.map(({ value }) => value));
  });

  it("are found together, each order once, and what is not there is left out", async () => {
    expect(await found(wanted("secret 1"), wanted("secret 2"), wanted("secret 4"), wanted("secret 99"))).toEqual([
      "org/fest FIRST 1 secret 1",
      "org/fest FIRST 2 secret 2",
      "org/fest LAST 4 secret 4",
    ]);
    expect(await find()).toEqual([]);
  });

  it("are those of the event, and of no other with the same secrets and codes", async () => {
    expect(await found(wanted("secret 1", { organizer: "other" }))).toEqual([
      "other/fest THEIR 1 secret 1",
      "other/fest THEIR 5 secret 5",
    ]);
    expect(await found(wanted("secret 5"))).toEqual([]);
    expect(await found(wanted("secret 1", { event: "third" }))).toEqual([]);
  });

  it.each([
    ["a slash in the organizer", { organizer: "org/fest", event: "secret 1", secret: "" }],
    ["a slash in the event", { event: "fest/secret 1", secret: "" }],
    ["an event in the secret", { organizer: "org", event: "", secret: "fest/secret 1" }],
    ["a null character", { secret: "secret 1\0" }],
    ["another letter case", { secret: "SECRET 1" }],
  ])("are not found by %s", async (_name, place) => {
    expect(await found(wanted("secret 1", place))).toEqual([]);
  });

  it("may be long, hold slashes and any script, and are told from those that begin alike", async () => {
    const secrets = ["🎟".repeat(500), `${"🎟".repeat(499)}x`, "a/b/fest/c"];
    await office.apply(...secrets.map((secret, index) => sold(`LONG${index}`, [10 + index], { secret })));
    for (const [index, secret] of secrets.entries()) {
      expect(await found(wanted(secret))).toEqual([`org/fest LONG${index} ${10 + index} ${secret}`]);
    }
  });

  it("are 256 at most in one call", async () => {
    const many = Array.from({ length: 257 }, (_, index) => wanted(`secret ${index}`));
    await expect(find(...many)).rejects.toMatchObject({ kind: "invalid", code: "too_many_tickets" });
    expect(await found(...many.slice(1))).toHaveLength(4);
  });

  it("lead to their rows by an index, however large the event is", async () => {
    await db.run(sql`
      insert into position (organizer, event, id, order_code, positionid, item, secret, canceled, state, revision)
      select 'org', 'fest', 1000 + number, 'BULK', number, 1, 'bulk ' || number, false, ''::bytea, 1
        from generate_series(1, 3000) as number`);
    const plan = await db.many<{ "QUERY PLAN": string }>(sql`
      explain select from position
       where (position.organizer || '/' || position.event || '/' || position.secret) = ${"org/fest/bulk 77"}
       limit ${100}`);
    expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("position_by_secret");
    expect(await found(wanted("secret 3"))).toEqual(["org/fest OTHER 3 secret 3"]);
  });
});
