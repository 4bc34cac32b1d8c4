import { fault } from "../faults.ts";
import type { Tx } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { declareLock, takeLocks } from "../pg/locks.ts";
import { sql } from "../pg/sql.ts";
import type { Delivery } from "./bus.ts";
import { header } from "./headers.ts";

const sweepLock = declareLock("tessera sweep");

/** Removes what a consumer still holds with a revision below `before`; returns how many entities that were. */
export type Sweep = (tx: Tx, options: { readonly before: number }) => Promise<number>;

/** How many entities a sweep has removed; undefined where none was due. */
export type Swept = number | undefined;

/**
 * Records that a consumer has passed markers; with the last partition's marker of a rebuild it sweeps its copy.
 *
 * Whoever passes such a marker takes a lock first, so of two that pass the last ones at the same time the second sees
 * the first. Where facts of the rebuild are parked, entities that exist would be taken for lost ones: then the marker
 * is refused, parked like any fact that cannot act, and acts when it is replayed behind them.
 */
export async function passMarkers(
  tx: Tx,
  { consumer, sweep }: { consumer: string; sweep: Sweep | undefined },
  markers: readonly Delivery[],
): Promise<Swept> {
  const sweeps = sweep === undefined ? [] : markers.filter(({ headers }) => headers[header.sweepBelow] !== undefined);
  if (sweeps.length > 0) await takeLocks(tx, { alone: [sweepLock(consumer)] });
  await tx.run(sql`
    insert into passed_marker (consumer, marker, topic, partition)
    select ${consumer}, passed.marker, passed.topic, passed.partition
      from unnest(${markers.map((message) => message.headers[header.marker])}::uuid[],
                  ${markers.map((message) => message.topic)}::text[],
                  ${markers.map((message) => message.partition)}::integer[]) as passed (marker, topic, partition)
        on conflict (consumer, marker, topic, partition) do nothing`);
  let swept: Swept;
  for (const message of new Map(sweeps.map((each) => [each.headers[header.marker], each])).values()) {
    if (!(await isPassedEverywhere(tx, consumer, message))) continue;
    await refuseUnlessWhole(tx, consumer, message);
    swept = (swept ?? 0) + ((await sweep?.(tx, { before: numberIn(message, header.sweepBelow) })) ?? 0);
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

async function refuseUnlessWhole(tx: Tx, consumer: string, message: Delivery): Promise<void> {
  const { parked } = await tx.one<{ parked: boolean }>(sql`
    select exists (
      select from dead_letter
       where dead_letter.consumer = ${consumer}
         and dead_letter.fact_at >= ${toTimestamp(numberIn(message, header.sweepSince))}::timestamptz
         and not dead_letter.overtaken
         and not dead_letter.headers ? ${header.marker}) as parked`);
  if (parked) {
    throw fault(
      "facts_parked",
      "facts of this rebuild are parked: replay them, and this one with them, before the copy is swept",
    );
  }
}

function numberIn(message: Delivery, name: string): number {
  const value = Number(message.headers[name]);
  if (!Number.isSafeInteger(value)) throw new Error(`a marker on ${message.topic} has no ${name}`);
  return value;
}
