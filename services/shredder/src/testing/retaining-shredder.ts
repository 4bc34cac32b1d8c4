import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { mortalDatabase, startLife } from "@tessera/testkit/mortal-database";
import { parseInstant } from "@tessera/values";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { mine, place, type RunningShredder, startShredder } from "./start-shredder.ts";

export const { organizer, event } = place;
/** Long ago. */
export const long = parseInstant("2020-01-01T00:00:00Z") ?? 0;
export const kinds = ["attendee_info", "order_emails"];
export const instance = "https://tickets.example";

/** Starts a shredder for the tests of a file, with what tests of retention need. Nothing is stored when a test begins. */
export function retainingShredder() {
  let database: TestDatabase;
  let db: Db;
  let service: RunningShredder;
  const life = startLife();

  beforeAll(async () => {
    database = await createTestDatabase([
      { schema: "shredder", migrations: new URL("../../migrations/", import.meta.url) },
    ]);
    db = database.open("shredder");
    service = await startShredder(mortalDatabase(db, life));
  });
  afterAll(async () => {
    await service.close();
    await database.drop();
  });
  beforeEach(() => {
    life.begin();
    return service.reset();
  });

  const sweep = () => service.runJob("apply-retention");

  /** Lets so many days pass. */
  const pass = (days: number) =>
    db.run(sql`
      update announced_erasure
         set announced_at = announced_at - make_interval(days => ${days}),
             due_at = due_at - make_interval(days => ${days}), next_at = next_at - make_interval(days => ${days})`);

  return {
    get db() {
      return db;
    },
    /** Of the process of the service. */
    life,
    get service(): RunningShredder {
      return service;
    },
    set: (changes: { days?: number; shredders?: string[]; organizer?: string } = {}) =>
      service.retention.setRetention({ organizer, days: 90, shredders: kinds, instance, ...changes }),
    sweep,
    /** Sweeps once, and does the work that this has begun. */
    async turn(): Promise<void> {
      await sweep();
      await service.work();
    },
    pass,
    /** Has all events read again with the next sweep. */
    readAgain: () => db.run(sql`update retention set round_at = now()`),
    /** Announces what is there, and lets a week pass. */
    async untilDue(): Promise<void> {
      await sweep();
      await pass(7);
    },
    async upcoming(of: string = organizer) {
      const { erasures } = await service.retention.listUpcoming({ organizer: of, page: 1, pageSize: 50 });
      return erasures.map((each) => [
        each.event,
        each.state.replace("UPCOMING_STATE_", "").toLowerCase(),
        ...(each.reason === undefined ? [] : [each.reason]),
      ]);
    },
    async erased(of: string = organizer) {
      const { erasures } = await service.retention.listErased({ organizer: of, page: 1, pageSize: 50 });
      return erasures.map((each) => each.event);
    },
    count: () =>
      db.one(sql`
        select (select count(*) from export) as exports, (select count(*) from shred_case) as cases,
               (select count(*) from shred_case where shred_case.requested_at is not null) as requested`),
    /** Erases the event as a person does. */
    async erase(shredders: readonly string[]): Promise<void> {
      const exported = await service.export(shredders);
      await service.shredders.startShred({ ...mine, ...exported });
      await service.work();
    },
  };
}
