import { topics } from "@tessera/protos/topics";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { expect, it } from "vitest";
import { sql } from "../pg/sql.ts";
import { moveSegments } from "./move-segments.ts";

it("[D10.1] sends a message to every partition with personal data, and to no others", async () => {
  const database = await createFactDatabase();
  try {
    const db = database.open("reader");
    const { voucherChanged, shredRequested, eventChanged } = topics;
    const job = moveSegments({
      db,
      bus: { partitions: async () => 2 },
      owns: [voucherChanged, shredRequested, eventChanged],
    });
    await job.run(new AbortController().signal);
    const sent = await db.many(sql`
      select outbox.topic, outbox.partition, outbox.payload from outbox where outbox.marker is not null order by outbox.partition`);
    expect(sent).toEqual([0, 1].map((partition) => ({ topic: voucherChanged.name, partition, payload: null })));
  } finally {
    await database.drop();
  }
});
