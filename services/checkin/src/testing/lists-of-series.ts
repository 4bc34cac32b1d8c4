import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { eventFact, itemFact, minute, noon, place, subeventFact } from "./facts.ts";
import { type RunningCheckin, startCheckin } from "./start-checkin.ts";

/** A request for all lists. */
export const everything = { ...place, page: 1, pageSize: 50, ordering: [], withCounts: true };

/** Starts check-in for a test file. Each test begins with a series of three dates and a single event, without lists. */
export function listsOfSeries() {
  let database: TestDatabase;
  let checkin: RunningCheckin;

  beforeAll(async () => {
    database = await createTestDatabase([
      { schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) },
    ]);
    checkin = await startCheckin(database.open("checkin"));
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await checkin.reset();
    await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true }), eventFact({ event: "single" })]);
    await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
    await checkin.deliver(topics.subeventChanged, [
      subeventFact(1, { dateFrom: noon, dateTo: noon + 60 * minute }),
      subeventFact(2, { dateFrom: noon + 120 * minute }),
      subeventFact(3, { dateFrom: noon - 120 * minute }),
      { ...subeventFact(9), event: "single" },
    ]);
  });

  return {
    get checkin() {
      return checkin;
    },
    /** The names of the lists that are found. */
    names: async (changes = {}) =>
      (await checkin.lists.listCheckinLists({ ...everything, ...changes })).lists.map(({ fields }) => fields?.name),
  };
}
