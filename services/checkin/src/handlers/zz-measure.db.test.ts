import { appendFileSync } from "node:fs";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase } from "@tessera/testkit/database";
import { expect, it } from "vitest";
import { listDefaults } from "../domain/list.ts";
import { planSearch } from "../domain/search-text.ts";
import { conditionsOn, everyPosition } from "../store/position-filter.ts";
import { eventFact, itemFact, place, positionFact } from "../testing/facts.ts";
import { startCheckin } from "../testing/start-checkin.ts";

it("measure", async () => {
  const database = await createTestDatabase([{ schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) }]);
  const checkin = await startCheckin(database.open("checkin"));
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true })]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(topics.positionChanged, [positionFact(1)]);
  await checkin.db.run(sql`
    insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status, valid_if_pending,
                          require_approval, canceled, blocked, counted_as, order_placed_at, search_text, state, addon_to, attendee_name)
    select position.organizer, position.event, made.id, 1, made.id, 'O' || made.id, case when made.id % 5000 = 0 then 11 else 10 + made.id % 1000 end, md5(made.id::text), 'paid', false,
           false, false, false, 'paid', position.order_placed_at, chr(10) || chr((97 + made.id % 26)::int) || md5(made.id::text) || ' z' || md5('x' || made.id), position.state,
           case when made.id % 3 = 0 then made.id - 1 end, 'n' || made.id
      from position cross join generate_series(2, 100000) as made (id) where position.id = 1`);
  for (const search of ["z", "abc"]) {
    const filter = { ...place, list: { ...listDefaults, name: "x", id: 1 }, ignoreStatus: true, id: undefined, ...everyPosition, search: planSearch(search) };
    const rows = await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`);
      return tx.many<Record<string, string>>(sql`explain (analyze, buffers off, timing on) select count(*) from position as ticket where ${conditionsOn(filter)}`);
    });
    appendFileSync("/tmp/explain.txt", `${search}\n${rows.map((row) => row["QUERY PLAN"]).join("\n")}\n\n`);
  }
  await database.drop();
  expect(1).toBe(1);
}, 120_000);
