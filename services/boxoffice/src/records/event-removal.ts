import { eventKey } from "@tessera/events/entity-key";
import { endErasures } from "@tessera/events/personal-data/erasures";
import { defineWork, enqueueWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { instant, rowsAs } from "@tessera/kit/pg/table";
import { entityKey, topics } from "@tessera/protos/topics";
import type { Scope } from "../domain/scope.ts";
import { type Deleted, deleteNext, type EventTable } from "../store/event-contents.ts";
import * as events from "../store/events.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { hasExchanged } from "../store/media.ts";
import { drawRevision } from "../store/positions.ts";
import { unlinkExchanged } from "./unlink-exchanged.ts";

/** Deletes everything in a removed event, and the event last. */
export const eventRemoval = defineWork("remove-event", {
  payload: json<Scope>(),
  result: nothing,
  leaseMs: 30_000,
  tries: untilDone,
  keepMs: 0,
  atOnce: 1,
});

/** Something of an event that is removed as a whole. */
interface Content {
  readonly table: EventTable;
  readonly topic?: { readonly name: string };
}

/** The entities of an event, in the order of their removal, and the topics of their facts. First media lose their tickets. */
const contents: readonly ("exchanged" | Content)[] = [
  "exchanged",
  { table: "position", topic: topics.positionChanged },
  { table: "order" },
  { table: "sale" },
  { table: "sold_ticket" },
  { table: "revoked_secret", topic: topics.revokedSecretChanged },
  { table: "blocked_secret", topic: topics.blockedSecretChanged },
  { table: "seat" },
  { table: "question", topic: topics.questionChanged },
  { table: "voucher_claim" },
  { table: "former_use" },
  { table: "held_claim" },
  { table: "capacity_hold" },
  { table: "quota", topic: topics.quotaChanged },
  { table: "item", topic: topics.itemChanged },
  { table: "category", topic: topics.categoryChanged },
  { table: "tax_rule" },
  { table: "subevent", topic: topics.subeventChanged },
  { table: "document_change" },
];

/** Few enough that the locks of event and organizer are held for a fraction of a second. */
const rowsAtATime = 1000;

/** Of documents of media, which may be large. */
const mediaAtATime = 100;

/** Hides the event from all requests; background work deletes its contents. */
export async function beginRemoval(tx: Tx, { organizer, event }: Scope): Promise<void> {
  const removed = await events.markRemoved(tx, { organizer, event });
  if (removed === undefined) return;
  await tx.retract(topics.eventChanged, [entityKey(organizer, event, "")]);
  const id = `${organizer}/${event}/${removed.revision}`;
  await enqueueWork(tx, eventRemoval, [{ id, owner: organizer, payload: { organizer, event } }]);
}

/** The progress of a removal. Earlier tables need no second look: a removed event gets nothing new. */
export interface RemovalPlace {
  readonly part: number;
  /** The last key that was deleted. */
  readonly after?: string;
}

/**
 * Deletes the next rows of a removed event. Undefined: none is left, or the event is not removed. It may be restarted
 * from the beginning at any time, and run concurrently.
 */
export async function removeNext(
  tx: Tx,
  scope: Scope,
  { place: { part, after }, limit = rowsAtATime }: { readonly place: RemovalPlace; readonly limit?: number },
): Promise<RemovalPlace | undefined> {
  const next = contents[part];
  // Media belong to the organizer, whose other events wait for this lock.
  const changesMedia = next === "exchanged" && (await hasExchanged(tx, scope));
  await takeLocks(tx, locksOf(changesMedia ? [scope, { organizer: scope.organizer, event: "" }] : [scope]));
  if (!(await events.isRemoved(tx, scope))) return undefined;
  if (next === undefined) {
    await endErasures(tx, rowsAs("gone", { ...eventKey, at: instant.orNull }, [{ ...scope, at: null }]));
    await events.deleteRemoved(tx, scope);
    return undefined;
  }
  if (next === "exchanged") {
    if (changesMedia) await unlinkExchanged(tx, scope, { limit: Math.min(limit, mediaAtATime) });
    return { part: changesMedia ? part : part + 1 };
  }
  const deleted = await deleteNext(tx, next.table, { scope, after, limit });
  const toKey = ({ key }: Deleted) => entityKey(scope.organizer, scope.event, key);
  if (next.topic !== undefined && deleted.length > 0)
    await tx.retract(next.topic, deleted.map(toKey), { deletedAt: await drawRevision(tx) });
  await tx.retract(topics.voucherUseChanged, deleted.filter(({ namesVoucher }) => namesVoucher).map(toKey));
  const last = deleted.at(-1)?.key;
  return deleted.length < limit || last === undefined ? { part: part + 1 } : { part, after: last };
}

/** Deletes removed events of organizers until a deadline; false: rows are left. */
export async function removeUntil(db: Db, organizers: readonly string[], isOver: () => boolean): Promise<boolean> {
  for (const scope of await events.findRemoved(db, organizers)) {
    for (let place: RemovalPlace | undefined = { part: 0 }; place !== undefined; ) {
      if (isOver()) return false;
      const from: RemovalPlace = place;
      place = await db.transaction((tx) => removeNext(tx, scope, { place: from }));
    }
  }
  return true;
}
