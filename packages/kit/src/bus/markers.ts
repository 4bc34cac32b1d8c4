import { randomUUID } from "node:crypto";
import {
  FactsServiceService,
  type MarkedPartition,
  type MarkFactsResponse,
} from "@tessera/protos/gen/platform/v1/facts";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { type Implementation, implement } from "../rpc.ts";
import { consumerName } from "./accept-facts.ts";
import type { Bus } from "./bus.ts";

/** Implements FactsService for a service: other services ask whether its consumers have read all facts up to a moment. */
export function factsService(options: {
  db: Db;
  bus: Bus;
  group: string;
  owns: readonly string[];
  consumes: readonly string[];
}): Implementation {
  const { db, bus, group } = options;
  return implement(FactsServiceService, {
    markFacts: () => markTopics({ db, bus }, options.owns),
    async caughtUp({ marker, partitions }) {
      return { caughtUp: await hasPassed(db, { group, consumes: options.consumes, marker, partitions }) };
    },
  });
}

/** Publishes a marker to every partition of some topics of a service. */
export async function markTopics(
  { db, bus }: { readonly db: Db; readonly bus: Pick<Bus, "partitions"> },
  topics: readonly string[],
): Promise<MarkFactsResponse> {
  const marker = randomUUID();
  const partitions: MarkedPartition[] = [];
  for (const topic of topics) {
    const count = await bus.partitions(topic);
    for (let partition = 0; partition < count; partition += 1) partitions.push({ topic, partition });
  }
  if (partitions.length > 0) {
    await db.run(sql`
      insert into outbox (topic, key, partition, marker)
      select marked.topic, '', marked.partition, ${marker}
        from unnest(${partitions.map((at) => at.topic)}::text[], ${partitions.map((at) => at.partition)}::integer[]) as marked (topic, partition)`);
  }
  return { marker, partitions };
}

/** Whether the consumers of a group have passed the marker on every listed partition that they read. */
export async function hasPassed(
  db: Db,
  options: { group: string; consumes: readonly string[]; marker: string; partitions: readonly MarkedPartition[] },
): Promise<boolean> {
  const read = options.partitions.filter((at) => options.consumes.includes(at.topic));
  const { passed } = await db.one<{ passed: number }>(sql`
    select count(*) as passed
      from passed_marker
     where passed_marker.marker = ${options.marker}
       and passed_marker.consumer = any(${options.consumes.map((topic) => consumerName(options.group, topic))}::text[])`);
  return passed >= read.length;
}
