import { fault } from "../faults.ts";
import type { Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { declareLock, takeLocks } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import type { Delivery } from "./bus.ts";
import { header } from "./headers.ts";

/** The key of the markers that end a rebuild. */
export const rebuildKey = "rebuild";

const sweepLock = declareLock("tessera sweep");

/**
 * Deletes the consumer's copies with a revision below `before`; returns the number of entities. The rebuild that left them out
 * began at `since`, in microseconds since 1970: by then they were deleted.
 */
export type Sweep = (tx: Tx, options: { readonly before: number; readonly since: number }) => Promise<number>;

/** The number of entities that a sweep deleted; undefined: there was no sweep. */
export type Swept = number | undefined;

/**
 * Records that a consumer has passed markers. With the last partition's marker of a rebuild it sweeps the copy.
 *
 * A lock serializes transactions that pass markers of a rebuild, so the last one sees all others. When facts of the
 * rebuild are dead letters, a sweep would delete existing entities. Then the marker fails and becomes a dead letter too;
 * its replay after them sweeps the copy.
 */
export async function passMarkers(
  tx: Tx,
  { consumer, sweep }: { consumer: string; sweep: Sweep | undefined },
  markers: readonly Delivery[],
): Promise<Swept> {
  const sweeps = sweep === undefined ? [] : markers.filter(({ headers }) => headers[header.sweepBelow] !== undefined);
  if (sweeps.length > 0) await takeLocks(tx, { alone: [sweepLock(consumer)] });
  await tx.run(sql`
    insert into passed_marker (consumer, marker, topic, partition, is_of_rebuild)
    select ${consumer}, passed.marker, passed.topic, passed.partition, passed.is_of_rebuild
      from unnest(${markers.map((message) => message.headers[header.marker])}::uuid[],
                  ${markers.map((message) => message.topic)}::text[],
                  ${markers.map((message) => message.partition)}::integer[],
                  ${markers.map((message) => message.key === rebuildKey)}::boolean[]) as passed (marker, topic, partition, is_of_rebuild)
        on conflict (consumer, marker, topic, partition) do nothing`);
  let swept: Swept;
  for (const message of new Map(sweeps.map((each) => [each.headers[header.marker], each])).values()) {
    if (!(await isPassedEverywhere(tx, consumer, message))) continue;
    await requireComplete(tx, consumer, message);
    const left = { before: numberIn(message, header.sweepBelow), since: numberIn(message, header.sweepSince) };
    swept = (swept ?? 0) + ((await sweep?.(tx, left)) ?? 0);
  }
  return swept;
}

async function isPassedEverywhere(tx: Tx, consumer: string, message: Delivery): Promise<boolean> {
  const { passed } = await tx.one<{ passed: number }>(sql`
    select count(*) as passed
      from passed_marker
     where passed_marker.consumer = ${consumer}
       and passed_marker.marker = ${message.headers[header.marker]}
       and passed_marker.topic = ${message.topic}`);
  return passed >= numberIn(message, header.sweepPartitions);
}

async function requireComplete(tx: Tx, consumer: string, message: Delivery): Promise<void> {
  const { incomplete } = await tx.one<{ incomplete: boolean }>(sql`
    select exists (
      select from dead_letter
       where dead_letter.consumer = ${consumer}
         and dead_letter.fact_at >= ${toTimestamp(numberIn(message, header.sweepSince))}::timestamptz
         and not dead_letter.overtaken
         and not dead_letter.headers ? ${header.marker}) as incomplete`);
  if (incomplete) {
    throw fault(
      "facts_parked",
      "facts of this rebuild are parked: replay them together with this one, before the copy is swept",
    );
  }
}

function numberIn(message: Delivery, name: string): number {
  const value = Number(message.headers[name]);
  if (!Number.isSafeInteger(value)) throw new Error(`a marker on ${message.topic} has no ${name}`);
  return value;
}
